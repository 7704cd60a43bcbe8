"""How many stored traces `batch` takes a second and core, and what each of them costs."""

import glob
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass

import counting
import goals
from measuring import Measurement, NotRun, measure_alternating, ratio

# As a platform has them by the hundred thousand.
TRACE = 'sequential_interleave_tf2.21.xplane.pb'
USUAL_TRACES = 2_000
TRACES_OF_A_FOLDER = 1_000
GOOD_STATUSES = (0,)

#: One process for a partition's traces, against one for each.
LEAST_TIMES_FASTER = 8
TRACES_ONE_BY_ONE = 100
LEAST_TRACES_A_SECOND = 2_000
MOST_INSTRUCTIONS = 4_000_000
FEED = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'feed_batch.py')
TIMES_FASTER = 'batch: a process for each trace / batch --tar -, CPU a trace'
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


def checked(taken, traces):
    """NotRun also where there is not a row for each trace."""
    rows = taken.output.count('\n') if isinstance(taken, Measurement) else traces
    return taken if rows == traces else NotRun('%d rows of %d traces' % (rows, traces), is_failure=True)


def instructions_of_a_trace(tool, trace):
    """What each of ten more takes beside SHA-256; None where valgrind is not there."""
    if not counting.is_possible():
        return None
    with tempfile.TemporaryDirectory() as folder:
        write_copies(trace, 12, folder)
        traces = sorted(glob.glob(folder + '/*/*'))
        few, many = (counting.count_without_sha([tool, 'batch', '--exit-zero', '--jobs', '1', *some], cwd=folder)
                     for some in (traces[:2], traces))
        return (many - few) / (len(traces) - 2)


def measure_batches(launcher, tool, trace, traces, runs, build, say):
    """One process, and one for each core, in turns: the first run may meet copies that are still being written."""
    say('batch: %d traces' % traces)
    with tempfile.TemporaryDirectory(dir=build) as folder:
        write_copies(trace, traces, folder)
        commands = {jobs: ([tool, 'batch', '--exit-zero', '--jobs', str(jobs), folder], GOOD_STATUSES)
                    for jobs in (1, os.cpu_count())}
        taken = measure_alternating(launcher, commands, runs)
        return [Batch(traces, jobs, checked(result, traces)) for jobs, result in taken.items()]


def measure_feeding(launcher, tool, trace, runs, say):
    """A trace's CPU seconds in a process of its own, and in one that gets 1,000 of them as an archive: Measurements of the
    whole, or NotRun."""
    say('batch: 1,000 traces from an archive, and one by one')
    commands = {name: ([sys.executable, FEED, name, tool, trace, str(traces)], GOOD_STATUSES)
                for name, traces in (('each', TRACES_ONE_BY_ONE), ('tar', TRACES_OF_A_FOLDER))}
    return measure_alternating(launcher, commands, runs)


def judge_feeding(taken):
    reasons = [one.reason for one in taken.values() if isinstance(one, NotRun)]
    if reasons or not taken:
        return goals.not_run(goals.Goal(TIMES_FASTER), (reasons or ['was left out'])[0])
    times = ratio(taken['each'], taken['tar'], 'cpu') * TRACES_OF_A_FOLDER / TRACES_ONE_BY_ONE
    goal = goals.Goal(TIMES_FASTER, known_miss='what is left of a trace is its diagnosis, and the checksum of its content')
    return goals.judgement(goal, '44 KB', times, '%.3g x', LEAST_TIMES_FASTER, None)


def judge(batches, instructions, slower_machine):
    """Of the run with one process, which nothing of ours disturbs. `slower_machine`: goals.slower_machine()."""
    judgements = []
    if batches and isinstance(batches[0].taken, Measurement):
        size = '%d traces' % batches[0].traces
        judgements.append(goals.judgement(goals.Goal(RATE, slower_machine), size, batches[0].rate, '%.0f',
                                          LEAST_TRACES_A_SECOND, None))
    elif batches:
        judgements.append(goals.not_run(goals.Goal(RATE), batches[0].taken.reason))
    if instructions is not None:
        goal = goals.Goal(INSTRUCTIONS, known_miss='a third of them replays the pipeline after each change')
        judgements.append(goals.judgement(goal, '12 traces', instructions, '%.0f', None, MOST_INSTRUCTIONS))
    return judgements
