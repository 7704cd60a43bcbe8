"""What programs take, counted by valgrind: instructions and cache misses do not depend on how busy the machine is.

Usage: counting.py instructions|misses COMMAND...

Prints the instructions of the command and of all processes that it starts, those of SHA-256 left out: valgrind's processor
has none for it, so they would be half of a trace in `batch`. Or the lines of 64 bytes that a last-level cache of 2 MB had
to fetch. Ends with 1, and what the command said, where it failed.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

# Whatever chooses its code by processor is told to take what every x86-64 of the last ten years has.
PINNED = {
    'LC_ALL': 'C',
    'SIMDJSON_FORCE_IMPLEMENTATION': 'westmere',
    'GLIBC_TUNABLES': 'glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM,-FMA,'
                      '-FMA4,-BMI2,-LZCNT,-MOVBE,-RTM',
}
# Of a diagnosis: 1 says that something was found, 3 that there is no verdict.
GOOD_STATUSES = (0, 1, 3)
SHA_256 = '::add_block'
# valgrind enforces no limits: one that is there already is one that the program does not try out.
DATA_LIMIT = 8_000_000 * 1024
CACHE = '--LL=2097152,16,64'
_COLLECTED = re.compile(r'Collected : (\d+)')
_MISSES = re.compile(r'LL misses: +([\d,]+)')


class CommandFailed(Exception):
    """Its status, and what it said."""


def is_possible():
    return shutil.which('valgrind') is not None


def count_instructions(command, folder=None, good_statuses=GOOD_STATUSES, cwd=None):
    """Of the command and the processes that it starts. Into `folder` callgrind writes a file for each of them."""
    file = os.path.join(os.path.abspath(folder), '%p') if folder else '/dev/null'
    said = _run(['--tool=callgrind', '--trace-children=yes', '--callgrind-out-file=' + file], command, good_statuses, cwd)
    return sum(int(number) for number in _COLLECTED.findall(said))


def count_without_sha(command, good_statuses=GOOD_STATUSES, cwd=None):
    """The same without SHA-256."""
    with tempfile.TemporaryDirectory() as folder:
        counted = count_instructions(command, folder, good_statuses, cwd)
        lines = [line for file in os.scandir(folder) for line in annotate(file.path).splitlines() if SHA_256 in line]
    return counted - sum(int(line.split()[0].replace(',', '')) for line in lines)


def profile(command, *options, good_statuses=GOOD_STATUSES):
    """(Instructions, what callgrind_annotate prints of the process in which most of them are)."""
    with tempfile.TemporaryDirectory() as folder:
        counted = count_instructions(command, folder, good_statuses)
        largest = max(os.scandir(folder), key=lambda file: file.stat().st_size)
        return counted, annotate(largest.path, *options)


def annotate(file, *options):
    """All functions that callgrind saw, without the lines of their sources, which name what they call, too."""
    return subprocess.run(['callgrind_annotate', '--threshold=100', '--auto=no', *options, file], capture_output=True,
                          text=True, errors='replace', check=True).stdout


def count_misses(command, good_statuses=GOOD_STATUSES):
    """Of the first process."""
    said = _run(['--tool=cachegrind', '--cache-sim=yes', CACHE, '--cachegrind-out-file=/dev/null'], command, good_statuses)
    return int(_MISSES.search(said)[1].replace(',', ''))


def _run(tool, command, good_statuses, cwd=None):
    """What valgrind said."""
    ended = subprocess.run([shutil.which('valgrind'), *tool, *command], cwd=cwd, env=PINNED, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors='replace', check=False,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (DATA_LIMIT, DATA_LIMIT)))
    if ended.returncode not in good_statuses:
        raise CommandFailed('%s ended with %d:\n%s' % (' '.join(command), ended.returncode, ended.stderr))
    return ended.stderr


COUNTERS = {'instructions': count_without_sha, 'misses': count_misses}

if __name__ == '__main__':
    if len(sys.argv) < 3 or sys.argv[1] not in COUNTERS:
        sys.exit(__doc__)
    try:
        print(COUNTERS[sys.argv[1]](sys.argv[2:]))
    except CommandFailed as failed:
        sys.exit(str(failed))
