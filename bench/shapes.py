"""Traces of one shape each, twice as large the second time: does the cost of a diagnosis grow with the input, or faster?"""

import json
import os
from dataclasses import dataclass
from typing import Callable

from measuring import Measurement, NotRun, measure_alternating

# Twice the input may take so much more CPU time and memory: the least of several runs differs by some percent, and
# sorting and maps take a little more than in proportion.
MOST_GROWTH = 2.2
# Shorter differences are noise.
LEAST_CPU_S = 0.02
LEAST_MB = 4.0


class Writer:
    """Writes Chrome JSON as TensorFlow does: times in microseconds, ids as text."""

    def __init__(self, file):
        self.file = file
        self.threads = set()
        file.write('{"displayTimeUnit":"ns","traceEvents":[')
        self.line({'ph': 'M', 'pid': 1, 'name': 'process_name', 'args': {'name': '/host:CPU'}})

    def line(self, event):
        self.file.write(json.dumps(event, separators=(',', ':')) + ',')

    def thread(self, thread, process=1):
        if (process, thread) not in self.threads:
            self.threads.add((process, thread))
            self.line({'ph': 'M', 'pid': process, 'tid': thread, 'name': 'thread_name', 'args': {'name': 'python'}})

    def span(self, name, start, duration, thread=1, process=1, **args):
        self.thread(thread, process)
        event = {'ph': 'X', 'pid': process, 'tid': thread, 'ts': start, 'dur': duration, 'name': name}
        self.line(dict(event, args=args) if args else event)

    def iterator(self, long_name, own, parent, start, duration, thread=1, process=1):
        args = {'long_name': long_name, 'id': str(own)}
        if parent:
            args['parent_id'] = str(parent)
        self.span('Iterator::' + long_name.rsplit('::', 1)[-1], start, duration, thread, process, **args)

    def get_next(self, start, duration, thread=1, process=1):
        self.span('IteratorGetNextOp::DoCompute', start, duration, thread, process)

    def element(self, first_id, start, below='Map', thread=1, process=1):
        """A GetNext call of a pipeline Root > below, 90 us long."""
        self.get_next(start, 90, thread, process)
        self.iterator('Iterator::Root', first_id, 0, start + 1, 88, thread, process)
        self.iterator('Iterator::Root::' + below, first_id + 1, first_id, start + 2, 86, thread, process)

    def finish(self):
        self.file.write('{}]}')


def pipelines(writer, count):
    for index in range(count):
        writer.element(10 * index + 1, 200 * index, 'Map%d' % index)
        writer.element(10 * index + 1, 200 * index + 100, 'Map%d' % index)


def iterators_side_by_side(writer, count):
    writer.get_next(0, 100 * count + 10)
    writer.iterator('Iterator::Root', 1, 0, 1, 100 * count + 8)
    writer.iterator('Iterator::Root::Zip', 2, 1, 2, 100 * count + 6)
    for index in range(count):
        writer.iterator('Iterator::Root::Zip[%d]::Map' % index, 3 + index, 2, 100 * index + 3, 90)


def chained_iterators(writer, count):
    for index in range(count):
        writer.iterator('Iterator::Map%d' % index, index + 1, index, 100 * index, 90, thread=1 + index % 8)


def parts_of_a_name(writer, count):
    writer.element(1, 0)
    writer.iterator('Iterator' + '::Map' * count, 3, 0, 200, 90)


def nested_calls(writer, count):
    for index in range(count):
        writer.iterator('Iterator::Map%d' % index, index + 1, index, index, 4 * count - 2 * index)


def threads(writer, count):
    for index in range(count):
        writer.element(1, 100 * index, thread=1 + index)


def lanes_without_iterators(writer, count):
    writer.element(1, 0)
    for index in range(count):
        writer.span('MatMul:MatMul', 100 * index, 50, thread=2 + index)


def processes(writer, count):
    for index in range(count):
        writer.element(1, 100 * index, process=1 + index)


def equal_spans(writer, count):
    for index in range(count):
        writer.iterator('Iterator::Root', 1, 0, 100, 50, thread=1 + index % 64)


def get_next_calls(writer, count):
    for index in range(count):
        writer.element(1, 100 * index)


def epochs(writer, count):
    """`next(iter(dataset))` in a loop; every second iterator has the ids of one before."""
    for index in range(count):
        start = 200 * index
        writer.span('MakeIterator::RootDataset', start, 50)
        writer.element(1 if index % 2 else 10 * index + 1, start + 60)


def cycles(writer, count):
    for index in range(count):
        writer.iterator('Iterator::Map%d' % index, index + 1, (index + 1) % count + 1, 100 * index, 90)


@dataclass(frozen=True)
class Shape:
    """`write` writes a trace with `count` of what the shape has many of, and then with twice as many."""
    name: str
    write: Callable
    count: int


SHAPES = [
    Shape('pipelines', pipelines, 20_000),
    Shape('iterators side by side', iterators_side_by_side, 40_000),
    Shape('chained iterators', chained_iterators, 40_000),
    Shape('cycle of iterators', cycles, 40_000),
    Shape('parts of a name', parts_of_a_name, 1_000_000),
    Shape('nested calls', nested_calls, 20_000),
    Shape('threads', threads, 20_000),
    Shape('threads without iterators', lanes_without_iterators, 40_000),
    Shape('processes', processes, 20_000),
    Shape('equal spans', equal_spans, 100_000),
    Shape('GetNext calls', get_next_calls, 100_000),
    Shape('iterators made anew', epochs, 20_000),
]


@dataclass(frozen=True)
class Growth:
    """What a shape took at its two sizes, and by how much twice the input took more."""
    name: str
    count: int
    input_mb: tuple
    results: tuple  # of Measurement or NotRun

    @property
    def is_measured(self):
        return all(isinstance(result, Measurement) for result in self.results)

    def factor(self, quantity, start, least):
        """Of what is above that of a trace with next to nothing in it; None where that is too little to tell."""
        one, two = (getattr(result, quantity) - start for result in self.results)
        return two / one if one >= least else None

    def factors(self, start):
        """CPU time and memory, None where the trace is too small to tell."""
        if not self.is_measured:
            return None, None
        return self.factor('cpu', start.cpu, LEAST_CPU_S), self.factor('peak_mb', start.peak_mb, LEAST_MB)

    def is_linear(self, start):
        return self.is_measured and all(factor is None or factor <= MOST_GROWTH for factor in self.factors(start))


def write(shape, count, path):
    """Nothing stays of a trace whose writing was interrupted."""
    partial = path + '.part'
    with open(partial, 'w', encoding='ascii') as file:
        writer = Writer(file)
        shape.write(writer, count)
        writer.finish()
    os.replace(partial, path)


def measure_shapes(shapes, folder, launcher, tool, runs, say):
    """The start-up (a trace of one call) and the Growth of each shape."""
    os.makedirs(folder, exist_ok=True)
    good = (0, 1, 3)

    def measured(shape, counts):
        paths = {count: os.path.join(folder, '%s-%d.trace.json' % (shape.name.replace(' ', '-'), count))
                 for count in counts}
        for count, path in paths.items():
            write(shape, count, path)
        commands = {count: ([tool, '--format', 'json', '--threads', '1', '-o', '/dev/null', path], good)
                    for count, path in paths.items()}
        results = measure_alternating(launcher, commands, runs)
        sizes = tuple(os.path.getsize(path) / 1e6 for path in paths.values())
        for path in paths.values():
            os.remove(path)
        return sizes, tuple(results[count] for count in counts)

    start = measured(Shape('start', get_next_calls, 1), [1])[1][0]
    if isinstance(start, NotRun):
        return start, []
    grown = []
    for shape in shapes:
        say('shape: ' + shape.name)
        sizes, results = measured(shape, [shape.count, 2 * shape.count])
        grown.append(Growth(shape.name, shape.count, sizes, results))
    return start, grown
