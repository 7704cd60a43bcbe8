"""Diagnoses copies of a trace as an engine does: feed_batch.py each|tar TOOL TRACE COUNT.

`each` starts a process for every copy, `tar` one that gets them as an archive.
"""

import io
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor

OPTIONS = ['--jobs', '1', '--exit-zero', '--quiet']


def rows_of_each(tool, content, count):
    rows = b''
    for number in range(count):
        command = [tool, 'batch', '-', '--name', '%d.xplane.pb' % number, *OPTIONS]
        rows += subprocess.run(command, input=content, stdout=subprocess.PIPE, check=True).stdout
    return rows


def rows_of_archive(tool, content, count):
    command = [tool, 'batch', '--tar', '-', *OPTIONS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process, \
            ThreadPoolExecutor(1) as reader:
        rows = reader.submit(process.stdout.read)
        with process.stdin, tarfile.open(fileobj=process.stdin, mode='w|') as archive:
            for number in range(count):
                member = tarfile.TarInfo('%d.xplane.pb' % number)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return rows.result()


def main():
    way, tool, trace, count = sys.argv[1:]
    with open(trace, 'rb') as file:
        content = file.read()
    rows = (rows_of_archive if way == 'tar' else rows_of_each)(tool, content, int(count))
    if rows.count(b'\n') != int(count):
        sys.exit('%d rows of %s traces' % (rows.count(b'\n'), count))


if __name__ == '__main__':
    main()
