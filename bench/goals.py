"""The goals, as data, and how a run is judged by them."""

import math
from dataclasses import dataclass

from measuring import Measurement, ratio
from programs import RECORDINGS_OF_A_SIDE, SIZES

MET, NOT_MET, NOT_RUN = 'met', 'NOT MET', 'not run'

JSON, GZIP, XSPACE = 'aggregate-json', 'aggregate-json-gz', 'aggregate-xspace'
DIAGNOSES = {'JSON': 'diagnose-json', 'JSON.gz': 'diagnose-json-gz', 'XSpace': 'diagnose-xspace'}
GPU_DIAGNOSES = {'GPU XSpace of JAX': 'diagnose-gpu', 'GPU XSpace of TensorFlow': 'diagnose-tf-gpu'}
AGGREGATES = {'JSON': JSON, 'JSON.gz': GZIP, 'XSpace': XSPACE}
#: What tells how fast a machine is: a program that nobody changes, and its CPU seconds for 1 GB on the machine of
#: 2026-11-27, on which the goals in seconds were met.
YARDSTICK, YARDSTICK_SECONDS = (JSON, 'nlohmann SAX'), 5.3
#: The same diagnosis by one process, and by two at once: what a second processor gives.
ONE_PROGRAM, TWO_PROGRAMS = ('at once', 'one'), ('at once', 'two')
TOOL, TWO_THREADS = 'tfdata-doctor', 'tfdata-doctor, 2 threads'
EIGHT_THREADS, SIXTEEN_THREADS = 'tfdata-doctor, 8 threads', 'tfdata-doctor, 16 threads'


@dataclass(frozen=True)
class Ratio:
    """`of` over `to`, two (task, program), in CPU seconds unless `quantity` says otherwise."""
    text: str
    of: tuple
    to: tuple
    at_least: float = None
    at_most: float = None
    quantity: str = 'cpu'
    size: str = ''  # the largest at which both were measured, if left out
    per_mb: bool = False  # of the input of each
    known_miss: str = ''  # why it is not met, where that is known
    times: int = 1  # so often what `to` does

    def judge(self, results, inputs_mb):
        for size in [self.size] if self.size else reversed(SIZES):
            of, to = results.get((*self.of, size)), results.get((*self.to, size))
            if isinstance(of, Measurement) and isinstance(to, Measurement):
                value = ratio(of, to, self.quantity) / self.times
                if self.per_mb:
                    value *= inputs_mb[(self.to[0], size)] / inputs_mb[(self.of[0], size)]
                known_miss = self.known_miss or (slower_at_once(results, self.at_most) if is_of_wall(self) else '')
                return judgement(Goal(self.text, known_miss), size, value, '%.3g x', self.at_least, self.at_most)
        return missing(self, results, [self.of, self.to])


@dataclass(frozen=True)
class Seconds:
    """CPU seconds of one program at one size: of a machine, and judged on the one of bench/results.md alone."""
    text: str
    of: tuple
    size: str
    at_most: float

    def judge(self, results, inputs_mb):
        del inputs_mb
        of = results.get((*self.of, self.size))
        if not isinstance(of, Measurement):
            return missing(self, results, [self.of])
        return judgement(Goal(self.text, slower_machine(results)), self.size, of.cpu, '%.3g s', None, self.at_most)


@dataclass(frozen=True)
class Memory:
    """Peak memory of one program: at most `base_mb` and `share` of the uncompressed input."""
    text: str
    of: tuple
    base_mb: float
    share: float = 0.0

    def judge(self, results, inputs_mb):
        for size in reversed(SIZES):
            of = results.get((*self.of, size))
            if isinstance(of, Measurement):
                limit = self.base_mb + self.share * inputs_mb[(self.of[0], size)]
                return judgement(self, size, of.peak_mb, '%.0f MB', None, limit)
        return missing(self, results, [self.of])


@dataclass(frozen=True)
class Growth:
    """CPU time grows with the power 1 +- `within` of the input's size. Not from 10 MB on: there the start of the program
    still weighs, so that a lower power would be no gain."""
    text: str
    of: tuple
    within: float
    sizes: tuple = ('100mb', '1gb')

    def judge(self, results, inputs_mb):
        value = exponent(self.of, self.sizes, results, inputs_mb)
        if value is None:
            return missing(self, results, [self.of])
        slower = 'slower than the input grows: the machine was faster with the larger one' if value < 1 else ''
        return judgement(Goal(self.text, slower), ' to '.join(self.sizes), value, '%.2f', 1 - self.within, 1 + self.within)


@dataclass(frozen=True)
class Judgement:
    text: str
    status: str
    size: str = ''
    value: str = ''
    limit: str = ''
    reason: str = ''


@dataclass(frozen=True)
class Goal:
    """One that is measured by itself."""
    text: str
    known_miss: str = ''  # why it is not met, where that is known


# Set on 2026-11-21 from what a prototype and the alternatives reached on a machine with 2 cores. Ratios are of CPU
# seconds measured side by side in one run, so that a busy machine does not decide. MB are 10^6 bytes.
GOALS = (
    Ratio('JSON aggregate: RapidJSON SAX / ours', (JSON, 'RapidJSON SAX'), (JSON, 'ours'), at_least=1.5),
    Ratio('JSON aggregate: json + pandas / ours', (JSON, 'json + pandas'), (JSON, 'ours'), at_least=20),
    Ratio('JSON aggregate: ours / floor', (JSON, 'ours'), (JSON, 'floor'), at_most=7),
    Ratio('JSON.gz aggregate: ours / floor', (GZIP, 'ours'), (GZIP, 'floor'), at_most=3.5),
    Ratio('JSON.gz diagnosis: wall of 2 threads / 1 thread', ('diagnose-json-gz', TWO_THREADS),
          ('diagnose-json-gz', TOOL), at_most=0.6, quantity='wall'),
    Ratio('JSON diagnosis: wall of 2 threads / 1 thread', ('diagnose-json', TWO_THREADS), ('diagnose-json', TOOL),
          at_most=1 / 1.8, quantity='wall'),
    Ratio('XSpace aggregate: protobuf Arena / ours', (XSPACE, 'protobuf Arena'), (XSPACE, 'ours'), at_least=5),
    Ratio('XSpace aggregate: ours / floor', (XSPACE, 'ours'), (XSPACE, 'floor'), at_most=12),
    Ratio('XSpace diagnosis: wall of 2 threads / 1 thread', ('diagnose-xspace', TWO_THREADS), ('diagnose-xspace', TOOL),
          at_most=1 / 1.8, quantity='wall'),
    Ratio('XSpace diagnosis: wall of 1 thread / 8 threads', ('diagnose-xspace', TOOL), ('diagnose-xspace', EIGHT_THREADS),
          at_least=3, quantity='wall', size='1gb'),
    Ratio('XSpace diagnosis: wall of 16 threads / 8 threads', ('diagnose-xspace', SIXTEEN_THREADS),
          ('diagnose-xspace', EIGHT_THREADS), at_most=1.05, quantity='wall', size='1gb'),
    Seconds('XSpace diagnosis: CPU', ('diagnose-xspace', TOOL), '1gb', 1.4),
    Seconds('JSON diagnosis: CPU', ('diagnose-json', TOOL), '1gb', 1.15),
    *(Ratio('XSpace diagnosis: XProf / tfdata-doctor', ('diagnose-xspace', 'XProf'), ('diagnose-xspace', TOOL),
            at_least=at_least, size=size, known_miss='half of a diagnosis is reading, see "load + aggregate"')
      for size, at_least in (('10mb', 22), ('100mb', 40))),
    *(goal for kind, task in GPU_DIAGNOSES.items() for goal in (
        Ratio("%s diagnosis: CPU per MB / the base's" % kind, (task, TOOL), ('diagnose-xspace', TOOL), at_most=2,
              per_mb=True),
        *(Ratio('%s diagnosis: %s / tfdata-doctor' % (kind, peer), (task, peer), (task, TOOL), at_least=at_least,
                known_miss='%s takes about a third of what it takes for a MB without GPUs, a diagnosis as long' % peer)
          for peer, at_least in (('XProf', 15), ('XProf nightly', 15), ('xprof-rs', 5))),
        Memory('%s diagnosis: peak memory' % kind, (task, TOOL), 48, 0.18))),
    Ratio('query count(*) / diagnosis, XSpace', ('commands', 'query count(*)'), ('commands', TOOL), at_most=1.5, size='1gb'),
    *(Ratio('%s / diagnosis, XSpace' % name, ('commands', name), ('commands', TOOL), at_most=at_most, size='100mb')
      for name, at_most in (('query count(*)', 1.2), ('query group by', 3), ('convert csv', 3),
                            ('convert ndjson', 3), ('convert chrome', 3), ('html', 3), ('whatif', 2), ('show ops', 1.5),
                            ('show steps', 1.5), ('show calls', 3))),
    # What replays take is the same whatever the file, so that a small one shows it.
    Ratio('whatif / diagnosis, XSpace', ('commands', 'whatif'), ('commands', TOOL), at_most=2, size='10mb'),
    Ratio('compare of %d + %d / diagnoses, XSpace' % (RECORDINGS_OF_A_SIDE, RECORDINGS_OF_A_SIDE), ('commands', 'compare'),
          ('commands', TOOL), at_most=1.1, size='10mb', times=2 * RECORDINGS_OF_A_SIDE),
    *(Ratio('XSpace diagnosis: peak memory, tfdata-doctor / XProf', ('diagnose-xspace', TOOL),
            ('diagnose-xspace', 'XProf'), at_most=1 / 20, quantity='peak_mb', size=size,
            known_miss='a twentieth is what the program takes before it reads a trace') for size in ('10mb', '100mb')),
    *(Memory('%s aggregate: peak memory' % kind, (task, 'ours'), 64) for kind, task in AGGREGATES.items()),
    *(Memory('%s diagnosis: peak memory' % kind, (task, TOOL), 48, 0.18) for kind, task in DIAGNOSES.items()),
    *(Growth('%s aggregate: exponent of growth' % kind, (task, 'ours'), 0.1) for kind, task in AGGREGATES.items()),
    *(Growth('%s diagnosis: exponent of growth' % kind, (task, TOOL), 0.1) for kind, task in DIAGNOSES.items()),
)


def slower_machine(results):
    """Why a goal in seconds may be missed; empty where the machine is as fast as the one that the goals are of, or where
    nothing tells."""
    yardstick = results.get((*YARDSTICK, '1gb'))
    if not isinstance(yardstick, Measurement) or yardstick.cpu <= YARDSTICK_SECONDS:
        return ''
    return 'a slower machine: %s takes %.3g s on it, %.3g s on the one that the goal is of' % (
        YARDSTICK[1], yardstick.cpu, YARDSTICK_SECONDS)


def slower_at_once(results, at_most):
    """Why two threads may miss `at_most` of the wall time of one: where two programs at once slow each other down, work
    that is shared evenly does, too. Empty where that is not why, or where it was not measured."""
    one, two = (results.get((*program, '')) for program in (ONE_PROGRAM, TWO_PROGRAMS))
    if at_most is None or not isinstance(one, Measurement) or not isinstance(two, Measurement):
        return ''
    times = ratio(two, one, 'wall')
    return 'two programs at once take %.3g x as long each on this machine' % times if times / 2 > at_most else ''


def judgement(goal, size, value, unit, at_least, at_most):
    is_met = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
    limits = []
    if at_least is not None:
        limits.append('>= ' + unit % at_least)
    if at_most is not None:
        limits.append('<= ' + unit % at_most)
    return Judgement(goal.text, MET if is_met else NOT_MET, size, unit % value, ', '.join(limits),
                     '' if is_met else getattr(goal, 'known_miss', ''))


def missing(goal, results, needed):
    """Not run, for the reason that the first missing measurement has."""
    for task, program in needed:
        found = [results[(task, program, size)] for size in reversed(SIZES) if (task, program, size) in results]
        reasons = [result for result in found if not isinstance(result, Measurement)]
        if not found:
            return not_run(goal, '%s was left out' % program)
        if reasons:
            return not_run(goal, '%s: %s' % (program, reasons[0].reason))
    return not_run(goal, 'not measured at the sizes that it needs')


def not_run(goal, reason):
    return Judgement(goal.text, NOT_RUN, size=getattr(goal, 'size', ''), reason=reason)


def exponent(of, sizes, results, inputs_mb):
    """The power of the size with which the CPU time of a (task, program) grows; None if it was not measured."""
    small, large = (results.get((*of, size)) for size in sizes)
    if not isinstance(small, Measurement) or not isinstance(large, Measurement) or small.cpu <= 0:
        return None
    ratio = inputs_mb[(of[0], sizes[1])] / inputs_mb[(of[0], sizes[0])]
    return math.log(large.cpu / small.cpu) / math.log(ratio)


def judge_all(results, inputs_mb, with_wall):
    """`with_wall`: also the goals of wall time, which only mean something on a machine that does nothing else."""
    return [goal.judge(results, inputs_mb) if with_wall or not is_of_wall(goal) else
            not_run(goal, 'wall time, which is not judged with --quick') for goal in GOALS]


def missed_in_time(results, inputs_mb, with_wall):
    """The (task, program, size) on which the goals rest that are missed for no known reason: what takes too long, and
    what it is compared with."""
    missed = set()
    for goal, judged in zip(GOALS, judge_all(results, inputs_mb, with_wall)):
        if judged.status != NOT_MET or getattr(goal, 'known_miss', ''):
            continue
        if isinstance(goal, Growth):
            missed.update((*goal.of, size) for size in goal.sizes)
        elif isinstance(goal, Ratio) and goal.quantity != 'peak_mb':
            missed.update((*program, judged.size) for program in (goal.of, goal.to))
    return missed


def is_of_wall(goal):
    return isinstance(goal, Ratio) and goal.quantity == 'wall'
