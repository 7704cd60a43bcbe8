#!/usr/bin/env python3
"""Diagnoses stored traces with Apache Beam, on any of its runners: one row of NDJSON for each.

Usage: beam.py --traces PATTERN --rows PREFIX [--tool PATH] [options of the runner]

PATTERN and PREFIX are paths of any file system that Beam supports (gs://, s3://, hdfs://, local); ** in a pattern means
any number of directories. The tool must be on every worker, in its container image for instance.
"""

import argparse
import subprocess
import tarfile
from concurrent.futures import ThreadPoolExecutor

import apache_beam as beam
from apache_beam.io import fileio
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.options.pipeline_options import PipelineOptions


def rows_of(traces, tool):
    """The rows of some traces by one process, which gets them as a tar archive: their bytes as they are stored. The tool
    recognises gzip by content, and `bytes` and `sha256` are those of the file."""
    command = [tool, "batch", "--tar", "-", "--jobs", "1", "--exit-zero", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process, ThreadPoolExecutor(1) as reader:
        rows = reader.submit(process.stdout.read)
        with process.stdin, tarfile.open(fileobj=process.stdin, mode="w|") as archive:
            for trace in traces:
                member = tarfile.TarInfo(trace.metadata.path)
                member.size = trace.metadata.size_in_bytes
                with trace.open(compression_type=CompressionTypes.UNCOMPRESSED) as content:
                    archive.addfile(member, content)
    if process.returncode != 0:  # not a broken trace, which is a row like any other: Beam tries again
        raise RuntimeError(f"{tool} failed with {process.returncode}")
    return rows.result().decode().splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", required=True)
    parser.add_argument("--rows", required=True)
    parser.add_argument("--tool", default="tfdata-doctor", help="the program, as the workers find it")
    options, of_runner = parser.parse_known_args()

    with beam.Pipeline(options=PipelineOptions(of_runner)) as pipeline:
        (
            pipeline
            | fileio.MatchFiles(options.traces)
            | beam.Reshuffle()
            | fileio.ReadMatches()
            | beam.BatchElements(min_batch_size=100, max_batch_size=1000)
            | beam.FlatMap(rows_of, tool=options.tool)
            | beam.io.WriteToText(options.rows, file_name_suffix=".ndjson")
        )


if __name__ == "__main__":
    main()
