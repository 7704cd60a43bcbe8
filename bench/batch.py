"""How many stored traces `batch` takes a second and core, and what each of them costs."""

import glob
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

import goals
from growth import COLLECTED, NO_LIMITS
from measuring import Measurement, NotRun, measure

# As a platform has them by the hundred thousand.
TRACE = 'sequential_interleave_tf2.21.xplane.pb'
USUAL_TRACES = 2_000
TRACES_OF_A_FOLDER = 1_000
GOOD_STATUSES = (0,)

LEAST_TRACES_A_SECOND = 2_000
MOST_INSTRUCTIONS = 4_000_000
RATE, INSTRUCTIONS = 'batch: traces of 44 KB a CPU second', 'batch: instructions a trace, beside SHA-256'


@dataclass(frozen=True)
class Batch:
    """A run over `traces` copies of the trace with `jobs` processes at once: a Measurement, or NotRun."""
    traces: int
    jobs: int
    taken: object

    @property
    def rate(self):
        """Traces a second of CPU time, which is what a core does that has nothing else to do."""
        return self.traces / self.taken.cpu


def write_copies(trace, count, folder):
    """Each a file of its own: `batch` takes one that is named twice for one."""
    for first in range(0, count, TRACES_OF_A_FOLDER):
        part = os.path.join(folder, '%06d' % first)
        os.mkdir(part)
        for number in range(first, min(first + TRACES_OF_A_FOLDER, count)):
            shutil.copyfile(trace, os.path.join(part, '%06d.xplane.pb' % number))


def run(launcher, tool, folder, traces, jobs):
    """NotRun also where there is not a row for each trace."""
    command = [tool, 'batch', '--exit-zero', '--jobs', str(jobs), folder]
    taken = measure(launcher, command, GOOD_STATUSES)
    rows = taken.output.count('\n') if isinstance(taken, Measurement) else traces
    if rows != traces:
        return Batch(traces, jobs, NotRun('%d rows of %d traces' % (rows, traces), is_failure=True))
    return Batch(traces, jobs, taken)


def count_instructions(tool, traces, folder):
    """Without those of SHA-256, see profiles.py."""
    with tempfile.TemporaryDirectory() as counts:
        counted = ['valgrind', '--tool=callgrind', '--trace-children=yes', '--callgrind-out-file=%s/%%p' % counts]
        process = subprocess.run([*NO_LIMITS, *counted, tool, 'batch', '--exit-zero', '--jobs', '1', *traces], cwd=folder,
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
        total = sum(int(count) for count in COLLECTED.findall(process.stderr))
        for file in glob.glob(counts + '/*'):
            # Without the lines of the sources, which name what they call, too.
            annotated = subprocess.run(['callgrind_annotate', '--threshold=100', '--auto=no', file], capture_output=True,
                                       text=True, check=True).stdout
            total -= sum(int(line.split()[0].replace(',', '')) for line in annotated.splitlines() if '::add_block' in line)
    return total


def instructions_of_a_trace(tool, trace):
    """What each of ten more takes; None where valgrind is not there."""
    if shutil.which('valgrind') is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        write_copies(trace, 12, folder)
        traces = sorted(glob.glob(folder + '/*/*'))
        return (count_instructions(tool, traces, folder) - count_instructions(tool, traces[:2], folder)) / 10


def measure_batches(launcher, tool, trace, traces, build, say):
    """One process, and one for each core."""
    say('batch: %d traces' % traces)
    with tempfile.TemporaryDirectory(dir=build) as folder:
        write_copies(trace, traces, folder)
        return [run(launcher, tool, folder, traces, jobs) for jobs in dict.fromkeys((1, os.cpu_count()))]


@dataclass(frozen=True)
class Goal:
    text: str


def judge(batches, instructions):
    """Of the run with one process, which nothing of ours disturbs."""
    judgements = []
    if batches and isinstance(batches[0].taken, Measurement):
        size = '%d traces' % batches[0].traces
        judgements.append(goals.judgement(Goal(RATE), size, batches[0].rate, '%.0f', LEAST_TRACES_A_SECOND, None))
    elif batches:
        judgements.append(goals.not_run(Goal(RATE), batches[0].taken.reason))
    if instructions is not None:
        judgements.append(goals.judgement(Goal(INSTRUCTIONS), '12 traces', instructions, '%.0f', None, MOST_INSTRUCTIONS))
    return judgements
