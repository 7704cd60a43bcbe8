#!/usr/bin/env bash
#SBATCH --job-name=tfdata-doctor
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#
# Usage: sbatch --array=1-N slurm.sh LIST ROWS N
#
# Diagnoses the traces that the file LIST names, one a line, on a Slurm cluster: task i of the array takes the share i/N
# and writes ROWS.i.ndjson. A task that is requeued continues after what it has written; one that failed can be submitted
# again by itself (--array=17), since N is not taken from the array. Nodes must see LIST, the traces and ROWS under the
# same paths. TFDATA_DOCTOR names the program, if it is not on the path.
set -euo pipefail

list=$1 rows=$2 count=$3
exec "${TFDATA_DOCTOR:-tfdata-doctor}" batch --files-from "$list" --shard "$SLURM_ARRAY_TASK_ID/$count" \
  --jobs "${SLURM_CPUS_PER_TASK:-1}" -o "$rows.$SLURM_ARRAY_TASK_ID.ndjson" --resume --exit-zero --quiet
