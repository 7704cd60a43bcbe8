#!/usr/bin/env python3
"""Diagnoses stored traces on Spark: one row for each, as a DataFrame.

Usage: spark-submit spark.py [--tool PATH] [--parquet] TRACES ROWS

TRACES is any path that Hadoop reads (hdfs://, s3a://, file:/), globs included; a directory is read with all below it.
ROWS is the directory that the rows are written to, as NDJSON or Parquet. The tool must be on every worker.
"""

import argparse
import io
import subprocess
import tarfile
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import SparkSession

# The columns of tfdata-doctor.row/2, see docs/batch.md.
SCHEMA = """
schema STRING,
path STRING,
bytes BIGINT,
sha256 STRING,
format STRING,
host STRING,
recorded_at TIMESTAMP,
events BIGINT,
complete BOOLEAN,
window_us DOUBLE,
verdict STRING,
confidence DOUBLE,
input_share DOUBLE,
input_lost_us DOUBLE,
signature STRING,
culprit STRING,
culprit_kind STRING,
culprit_dataset STRING,
culprit_share DOUBLE,
limiting_resource STRING,
function_ops ARRAY<STRUCT<op: STRING, self_us: DOUBLE, share: DOUBLE>>,
get_next_count BIGINT,
get_next_p50_us DOUBLE,
get_next_p95_us DOUBLE,
get_next_max_us DOUBLE,
findings ARRAY<STRUCT<rule: STRING, severity: STRING, subject: STRING>>,
tool_version STRING,
error STRING,
best_fix STRING,
best_gain DOUBLE,
best_gain_low DOUBLE,
best_condition STRING,
culprit_source STRING,
sandbox STRING,
step_p50_us DOUBLE
"""
TIME = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'"


def diagnose(tool):
    command = [tool, "batch", "--tar", "-", "--jobs", "1", "--exit-zero", "--quiet"]

    def rows_of(traces):
        """One process for a partition, which gets its traces as a tar archive as they are read."""
        # A broken trace is a row like any other; a tool that fails is a task that Spark tries again.
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process, \
                ThreadPoolExecutor(1) as reader:
            rows = reader.submit(process.stdout.read)
            with process.stdin, tarfile.open(fileobj=process.stdin, mode="w|") as archive:
                for path, content in traces:
                    member = tarfile.TarInfo(path)
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
        if process.returncode != 0:
            raise RuntimeError(f"{tool} failed with {process.returncode}")
        return rows.result().decode().splitlines()

    return rows_of


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="tfdata-doctor", help="the program, as the workers find it")
    parser.add_argument("--parquet", action="store_true", help="write Parquet instead of NDJSON")
    parser.add_argument("traces")
    parser.add_argument("rows")
    options = parser.parse_args()

    spark = (
        SparkSession.builder.appName("tfdata-doctor")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.hadoop.mapreduce.input.fileinputformat.input.dir.recursive", "true")
        .getOrCreate()
    )
    # Not the source "binaryFile" of DataFrames: it passes empty files over, and they are traces that need a row.
    lines = spark.sparkContext.binaryFiles(options.traces).mapPartitions(diagnose(options.tool))
    rows = spark.read.schema(SCHEMA).option("mode", "FAILFAST").option("timestampFormat", TIME).json(lines)
    if options.parquet:
        rows.write.parquet(options.rows)
    else:
        # Every column in every line, as the tool writes them.
        rows.write.option("ignoreNullFields", "false").option("timestampFormat", TIME).json(options.rows)
    spark.stop()


if __name__ == "__main__":
    main()
