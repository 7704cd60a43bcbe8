"""Does the work of a command grow with its input, or faster? Each shape is measured twice, then twice as large.

Work is instructions, counted by valgrind: CPU time grows by more than the work where the larger input leaves a cache, and
by what else the machine does.
"""

import os
from dataclasses import dataclass

import counting
from measuring import NotRun, measure
from shapes import SHAPES, Shape, get_next_calls, write

# Twice the input may take so much more: sorting and maps take a little more than in proportion.
MOST_GROWTH = 2.2
# Of memory a little more: tables double when they are full, and the larger input may just have filled one.
MOST_GROWTH_OF_MEMORY = 2.5
# Less is not what the shape costs.
LEAST_INSTRUCTIONS = 5_000_000
LEAST_MB = 4.0

DIAGNOSE = 'diagnose'
DOCUMENTS = ('json', 'sarif', 'junit', 'gitlab', 'github', 'markdown', 'prometheus')
PAGES = ('overview', 'input', 'tree', 'calls', 'autotune', 'hosts', 'steps', 'ops', 'kernels', 'memory')
QUERIES = {
    'query events': 'SELECT count(*), max(duration_us) FROM events',
    'query iterators': 'SELECT count(*) FROM iterators',
    'query calls': 'SELECT count(*) FROM calls',
    'query segments': 'SELECT count(*) FROM segments',
}

# What is run on a trace, by name: the arguments before its path.
COMMANDS = {
    DIAGNOSE: ['--format', 'json', '-o', '/dev/null'],
    'every document': [part for name in DOCUMENTS for part in ('-o', name + '=/dev/null')] + ['-v'],
    **{'show ' + page: ['show', page, '-o', '/dev/null'] for page in PAGES},
    'show calls, all': ['show', 'calls', '--format', 'json', '--top', '0', '-o', '/dev/null'],
    'explain': ['explain', 'input-bound', '-o', '/dev/null'],
    'whatif': ['whatif', '-o', '/dev/null'],
    **{name: ['query', '-o', '/dev/null', sql] for name, sql in QUERIES.items()},
    'convert to Chrome': ['convert', '--format', 'chrome', '-o', '/dev/null'],
    'convert to NDJSON': ['convert', '--format', 'ndjson', '-o', '/dev/null'],
    'convert to CSV': ['convert', '--format', 'csv', '-o', '/dev/null'],
    'batch': ['batch', '--jobs', '1'],
}


def arguments(command, path):
    threads = [] if command == 'batch' else ['--threads', '1']
    return COMMANDS[command] + threads + [path]


@dataclass(frozen=True)
class Cost:
    """What one run took."""
    instructions: int
    peak_mb: float


@dataclass(frozen=True)
class Growth:
    """What a command took for a shape at its two sizes, and by how much twice the input took more."""
    name: str
    count: int
    input_mb: tuple
    results: tuple  # of Cost or NotRun
    command: str = DIAGNOSE
    start: Cost = None  # of the command for a trace with next to nothing in it

    @property
    def is_measured(self):
        return all(isinstance(result, Cost) for result in self.results)

    def factor(self, quantity, least):
        """Of what is above the start; None where that is too little to tell."""
        one, two = (getattr(result, quantity) - getattr(self.start, quantity) for result in self.results)
        return two / one if one >= least else None

    @property
    def factors(self):
        """Of instructions and of memory, None where the trace is too small to tell."""
        if not self.is_measured:
            return None, None
        return self.factor('instructions', LEAST_INSTRUCTIONS), self.factor('peak_mb', LEAST_MB)

    @property
    def is_linear(self):
        limits = (MOST_GROWTH, MOST_GROWTH_OF_MEMORY)
        return self.is_measured and all(factor is None or factor <= limit
                                        for factor, limit in zip(self.factors, limits))


class Grower:
    """Writes the shapes into `folder` and runs `tool` on them."""

    GOOD_STATUSES = (0, 1, 3)

    def __init__(self, folder, launcher, tool):
        self.folder, self.launcher, self.tool = folder, launcher, tool
        os.makedirs(folder, exist_ok=True)

    def measure(self, shape, counts, commands):
        """{command: the results for each count}, and the sizes of the traces in MB."""
        paths = [os.path.join(self.folder, '%s-%d.%s' % (shape.name.replace(' ', '-'), count, shape.suffix))
                 for count in counts]
        try:
            for count, path in zip(counts, paths):
                write(shape, count, path)
            sizes = tuple(os.path.getsize(path) / 1e6 for path in paths)
            return sizes, {command: tuple(self.cost(command, path) for path in paths) for command in commands}
        finally:
            for path in paths:
                if os.path.exists(path):
                    os.remove(path)

    def cost(self, command, path):
        run = [self.tool] + arguments(command, path)
        measured = measure(self.launcher, run, self.GOOD_STATUSES)
        if isinstance(measured, NotRun):
            return measured
        try:
            return Cost(counting.count_instructions(run, good_statuses=self.GOOD_STATUSES), measured.peak_mb)
        except counting.CommandFailed as failed:
            return NotRun(str(failed), is_failure=True)


def wanted(only):
    """(shape, its commands) for all of which "SHAPE/COMMAND" matches."""
    chosen = [(shape, [command for command in COMMANDS if only.search('%s/%s' % (shape.name, command))])
              for shape in SHAPES]
    return [(shape, commands) for shape, commands in chosen if commands]


def measure_growth(grower, chosen, say):
    """The Growth of each shape for each of its commands; NotRun where a command cannot even start."""
    all_commands = {command for _, commands in chosen for command in commands}
    starts = grower.measure(Shape('start', get_next_calls, 1), [1], all_commands)[1]
    for (start,) in starts.values():
        if isinstance(start, NotRun):
            return start
    grown = []
    for shape, commands in chosen:
        say('shape: ' + shape.name)
        sizes, results = grower.measure(shape, [shape.count, 2 * shape.count], commands)
        grown += [Growth(shape.name, shape.count, sizes, results[command], command, starts[command][0])
                  for command in commands]
    return grown
