#!/usr/bin/env python3
"""Diagnoses the traces of an object store by one process, without a copy on disk: a row of NDJSON for each.

Usage: objects.py [--tool PATH] [--at-once N] PATTERN > rows.ndjson

PATTERN is of any file system that fsspec has a package for (s3://, gs://, az://, hf://, local); ** means any number of
folders. N objects are fetched at a time (default: 32), since each takes a store tens of milliseconds to find.
"""

import argparse
import io
import itertools
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor

import fsspec


def fetched(store, paths, at_once):
    """Paths and contents in order, so many of them ahead of the one that is taken."""
    with ThreadPoolExecutor(at_once) as pool:
        ahead = [(path, pool.submit(store.cat_file, path)) for path in itertools.islice(paths, at_once)]
        while ahead:
            path, content = ahead.pop(0)
            yield store.unstrip_protocol(path), content.result()
            ahead += [(path, pool.submit(store.cat_file, path)) for path in itertools.islice(paths, 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="tfdata-doctor")
    parser.add_argument("--at-once", type=int, default=32)
    parser.add_argument("pattern")
    options = parser.parse_args()

    store, pattern = fsspec.core.url_to_fs(options.pattern)
    found = store.glob(pattern, detail=True)
    files = iter(path for path, facts in found.items() if facts["type"] == "file")
    with subprocess.Popen([options.tool, "batch", "--tar", "-"], stdin=subprocess.PIPE) as process:
        with process.stdin, tarfile.open(fileobj=process.stdin, mode="w|") as archive:
            for path, content in fetched(store, files, options.at_once):
                member = tarfile.TarInfo(path)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
