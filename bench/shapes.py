"""Traces of one shape each: very many of one thing, which a trace of a real job has few of."""

import json
from dataclasses import dataclass
from typing import Callable

from xspace_writer import XSpaceWriter


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


def many_cycles(writer, count):
    """Of two iterators each."""
    for index in range(count):
        own = 2 * index + 1
        writer.iterator('Iterator::Map', own, own + 1, 200 * index, 90)
        writer.iterator('Iterator::Batch', own + 1, own, 200 * index + 100, 90)


def long_names(writer, count):
    writer.element(1, 0)
    for index in range(64):
        writer.span('Op%d' % index + 'x' * count, 200 + 100 * index, 50, thread=2)


def many_names(writer, count):
    writer.element(1, 0)
    for index in range(count):
        writer.span('Op%d:Type%d' % (index, index), 200 + 100 * index, 50, thread=2)


def arguments_of_an_event(writer, count):
    writer.element(1, 0)
    writer.span('MatMul:MatMul', 200, 50, thread=2, **{'argument%d' % index: index for index in range(count)})


def ids_made_anew(writer, count):
    """Every call is of an iterator with a new id below the one root."""
    writer.get_next(0, 100 * count + 10)
    writer.iterator('Iterator::Root', 1, 0, 1, 100 * count + 8)
    for index in range(count):
        writer.iterator('Iterator::Root::FlatMap', 2 + index, 1, 100 * index + 3, 90)


def marked_steps(writer, count):
    for index in range(count):
        start = 200 * index
        writer.span('train', start, 190, group_id=str(index), step_num=str(index), _r='1')
        writer.element(1, start + 10)


def open_closures(writer, count):
    """Work that is queued on one thread and runs on another, each under an id of its own."""
    writer.element(1, 0)
    for index in range(count):
        start = 200 + 100 * index
        writer.span('Schedule', start, 10, thread=2, _pt='1', _p=str(index))
        writer.span('Run', start + 20, 50, thread=3, _ct='1', _c=str(index))


def devices(writer, count):
    writer.element(1, 0)
    for index in range(count):
        writer.line({'ph': 'M', 'pid': 2 + index, 'name': 'process_name', 'args': {'name': '/device:GPU:%d' % index}})
        writer.span('kernel', 100 * index, 50, process=2 + index)


def hosts_of_processes(writer, count):
    writer.element(1, 0)
    for index in range(count):
        writer.line({'ph': 'M', 'pid': 2 + index, 'name': 'process_name', 'args': {'name': 'h%d /host:CPU' % index}})
        writer.span('MatMul:MatMul', 100 * index, 50, process=2 + index)


def kernels(writer, count):
    writer.element(1, 0)
    writer.line({'ph': 'M', 'pid': 2, 'name': 'process_name', 'args': {'name': '/device:GPU:0'}})
    for index in range(count):
        writer.span('kernel%d' % index, 100 * index, 50, process=2, correlation_id=str(index),
                    tf_op='op%d:Type%d' % (index, index))


def allocations(writer, count):
    writer.element(1, 0)
    for index in range(count):
        writer.span('MemoryAllocation', 100 * index, 0, thread=2, allocator_name='GPU_0_bfc', allocation_bytes='256',
                    requested_bytes='256', addr=str(4096 * index), bytes_allocated=str(256 * index),
                    bytes_available='1000000', peak_bytes_in_use=str(256 * index), tf_op='op%d' % index)


def xspace_lines(writer, count):
    for index in range(count):
        writer.line(*writer.element(1, 100 * index))


def xspace_empty_lines(writer, count):
    writer.line(*writer.element(1, 0))
    for _ in range(count):
        writer.line()


def xspace_names(writer, count):
    writer.line(*writer.element(1, 0))
    writer.line(*(writer.event('Op%d:Type%d' % (index, index), 200 + 100 * index, 50) for index in range(count)))


def xspace_chain(writer, count):
    writer.line(*(writer.event('Iterator::Map%d' % index, 100 * index, 90, index + 1, index) for index in range(count)))


@dataclass(frozen=True)
class Shape:
    """`write` writes a trace with `count` of what the shape has many of, and then with twice as many."""
    name: str
    write: Callable
    count: int
    is_xspace: bool = False

    @property
    def suffix(self):
        return 'xplane.pb' if self.is_xspace else 'trace.json'


# So many that a diagnosis takes about a tenth of a second: what grows faster than its input shows there.
SHAPES = [
    Shape('pipelines', pipelines, 2_500),
    Shape('iterators side by side', iterators_side_by_side, 5_000),
    Shape('chained iterators', chained_iterators, 5_000),
    Shape('cycle of iterators', cycles, 5_000),
    Shape('parts of a name', parts_of_a_name, 125_000),
    Shape('nested calls', nested_calls, 2_500),
    Shape('threads', threads, 2_500),
    Shape('threads without iterators', lanes_without_iterators, 5_000),
    Shape('processes', processes, 2_500),
    Shape('equal spans', equal_spans, 12_500),
    Shape('GetNext calls', get_next_calls, 12_500),
    Shape('iterators made anew', epochs, 2_500),
    Shape('ids made anew', ids_made_anew, 5_000),
    Shape('many cycles', many_cycles, 2_500),
    Shape('marked steps', marked_steps, 2_500),
    Shape('queued closures', open_closures, 2_500),
    Shape('long names', long_names, 12_500),
    Shape('names of ops', many_names, 5_000),
    # An event of more than 512 KB is begun again with a larger window: both sizes lie beyond that step.
    Shape('arguments of an event', arguments_of_an_event, 25_000),
    Shape('devices', devices, 2_500),
    Shape('processes with hosts', hosts_of_processes, 2_500),
    Shape('kernels', kernels, 5_000),
    Shape('allocations', allocations, 5_000),
    Shape('lines of an XSpace', xspace_lines, 2_500, is_xspace=True),
    Shape('empty lines of an XSpace', xspace_empty_lines, 62_500, is_xspace=True),
    Shape('names of an XSpace', xspace_names, 5_000, is_xspace=True),
    Shape('chain in an XSpace', xspace_chain, 5_000, is_xspace=True),
]


def write(shape, count, path):
    """A trace of the shape."""
    with open(path, 'wb' if shape.is_xspace else 'w', **({} if shape.is_xspace else {'encoding': 'ascii'})) as file:
        writer = XSpaceWriter(file) if shape.is_xspace else Writer(file)
        shape.write(writer, count)
        writer.finish()
