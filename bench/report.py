"""Renders a run as Markdown."""

import goals
import growth
from measuring import Measurement, NotRun
from programs import SIZES

INTRODUCTION = """# Performance

Written by `scripts/bench --output bench/results.md`; [README.md](README.md) says what is measured and
how. CPU is user and system time, the least of several runs in which the programs take turns; wall and memory are the
least likewise. MB and GB are powers of ten, of uncompressed input. The floor is what reading costs at least: every byte
once, and the structure found. "CPU / ours" says how many times the CPU time of ours a program takes.
"""


def cell(text):
    """Foreign text in a table."""
    return str(text).replace('|', '\\|').replace('\n', ' ')


def table(header, rows):
    """A Markdown table; columns whose title ends with a space are of numbers."""
    lines = [[title.strip() for title in header]] + [[cell(value) for value in row] for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    widths = [max(width, 3) for width in widths]

    def render(line):
        padded = [value.rjust(width) if title.endswith(' ') else value.ljust(width)
                  for value, width, title in zip(line, widths, header)]
        return '| %s |' % ' | '.join(padded)

    rule = ['-' * (width - 1) + ':' if title.endswith(' ') else '-' * width for width, title in zip(widths, header)]
    return '\n'.join([render(lines[0]), '| %s |' % ' | '.join(rule), *map(render, lines[1:])]) + '\n'


def seconds(value):
    """Three digits, but no more than the clock has."""
    return '%.3f' % value if value < 10 else '%.1f' % value


def ratio(result, reference):
    if not isinstance(reference, Measurement) or reference.cpu <= 0:
        return ''
    value = result.cpu / reference.cpu
    return '%.2f' % value if value < 10 else '%.1f' % value


def result_row(task, program, size, results, inputs_mb):
    result = results[(task.name, program.name, size)]
    if not isinstance(result, Measurement):
        return [size, program.name, '', '', '', '', '', '', '', 'not run: ' + result.reason]
    floor = next((other for other in task.programs if other.role == 'floor'), program)
    ours = next((other for other in task.programs if other.role == 'ours'), program)
    throughput = inputs_mb[(task.name, size)] / 1e3 / result.cpu if result.cpu > 0 else 0
    return [size, program.name, seconds(result.cpu), seconds(result.system), seconds(result.wall),
            '%.0f' % result.peak_mb, '%.2f' % throughput, ratio(result, results.get((task.name, ours.name, size))),
            ratio(result, results.get((task.name, floor.name, size))), program.note]


RESULT_HEADER = ('input', 'program', 'CPU s ', 'of it system ', 'wall s ', 'peak MB ', 'GB/CPU s ', 'CPU / ours ',
                 'CPU / floor ', 'note')


def result_section(task, sizes, results, inputs_mb):
    rows = [result_row(task, program, size, results, inputs_mb) for size in sizes for program in task.programs
            if (task.name, program.name, size) in results]
    return '## %s\n\n%s' % (task.title, table(RESULT_HEADER, rows)) if rows else ''


def goal_section(judgements):
    rows = [[judged.text, judged.size, judged.value, judged.limit,
             judged.status + (': ' + judged.reason if judged.reason else '')] for judged in judgements]
    counts = ', '.join('%d %s' % (sum(judged.status == status for judged in judgements), status)
                       for status in (goals.MET, goals.NOT_MET, goals.NOT_RUN))
    return '## Goals\n\n%s\n%s.\n' % (table(('what', 'input', 'measured ', 'goal ', 'status'), rows), counts)


def growth_section(tasks, results, inputs_mb):
    steps = [pair for pair in (('10mb', '100mb'), ('100mb', '1gb'), ('10mb', '1gb')) if set(pair) <= set(SIZES)]
    rows = []
    for task in tasks:
        for program in task.programs:
            powers = [goals.exponent((task.name, program.name), step, results, inputs_mb) for step in steps]
            if any(power is not None for power in powers):
                rows.append([task.title, program.name] + ['' if power is None else '%.2f' % power for power in powers])
    header = ['task', 'program'] + ['%s to %s ' % step for step in steps]
    text = 'CPU time grows with this power of the size; the start of a program weighs on the small inputs.'
    return '## Growth\n\n%s\n\n%s' % (text, table(header, rows)) if rows else ''


def factor(value):
    return '' if value is None else '%.2f' % value


def shape_row(rows):
    """Of all commands for one shape: what the first costs, and the largest factors with the commands that have them."""
    first = rows[0]
    failed = ['%s %s' % (one.command, result.reason) for one in rows for result in one.results
              if isinstance(result, NotRun)]
    if failed:
        return [first.name, '%d' % first.count, '', '', '', '', '', failed[0]]
    small, large = first.results
    above = ', '.join(one.command for one in rows if not one.is_linear)
    worst = [max((one.factors[index] for one in rows if one.factors[index] is not None), default=None)
             for index in range(2)]
    return [first.name, '%d' % first.count, '%.1f' % first.input_mb[0],
            '%.0f, %.0f' % (small.instructions / 1e6, large.instructions / 1e6),
            '%.0f, %.0f' % (small.peak_mb, large.peak_mb),
            factor(worst[0]), factor(worst[1]), goals.NOT_MET + ': ' + above if above else goals.MET]


def shape_section(growths):
    commands = list(dict.fromkeys(one.command for one in growths))
    text = ('Traces of one shape each, with so many of it and with twice as many, through %s: instructions and peak memory '
            'of the first, and for the command in which they grow most by how much, above its start. Empty where that is '
            'too little to tell. The goal is at most %.1f, of memory %.1f.' %
            (', '.join(commands), growth.MOST_GROWTH, growth.MOST_GROWTH_OF_MEMORY))
    header = ('shape', 'count ', 'input MB ', '10^6 instr. ', 'peak MB ', 'instr., x ', 'memory, x ', 'status')
    by_shape = {}
    for one in growths:
        by_shape.setdefault(one.name, []).append(one)
    return '## Shapes\n\n%s\n\n%s' % (text, table(header, [shape_row(rows) for rows in by_shape.values()]))


def batch_section(batches):
    rows = []
    for one in batches:
        if isinstance(one.taken, Measurement):
            rows.append([one.traces, one.jobs, seconds(one.taken.cpu), seconds(one.taken.wall), '%.0f' % one.taken.peak_mb,
                         '%.0f' % one.rate, '%.0f' % (one.traces / one.taken.wall), ''])
        else:
            rows.append([one.traces, one.jobs, '', '', '', '', '', 'not run: ' + one.taken.reason])
    header = ('traces ', 'jobs ', 'CPU s ', 'wall s ', 'peak MB ', 'traces / CPU s ', 'traces / s ', 'note')
    text = '`batch` over copies of a trace of 44 KB, each a file of its own; the memory is that of the largest process.'
    return '## Batch\n\n%s\n\n%s' % (text, table(header, rows)) if rows else ''


def check_section(checks):
    words = {True: 'good', False: 'FAILED', None: 'not run'}
    return '## Checks\n\n' + table(('what', 'result', 'detail'),
                                   [[check.text, words[check.is_good], check.detail] for check in checks])


def machine_section(machine):
    return '## Machine\n\n' + table(('what', 'value'), machine)


def profile_section(profiled):
    rows = [[one.task, one.program, ', '.join('%s %.0f %%' % (name, percent) for percent, name in one.functions)]
            for one in profiled]
    text = 'Where the instructions go of what misses a goal, by callgrind over the smallest input: own ones of each function.'
    return '## Profiles\n\n%s\n\n%s' % (text, table(('task', 'program', 'functions'), rows)) if rows else ''


def document(tasks, sizes, results, inputs_mb, judgements, checks, machine, grown=None, profiled=(), batches=()):
    sections = [INTRODUCTION, goal_section(judgements), profile_section(profiled), check_section(checks),
                *(result_section(task, sizes, results, inputs_mb) for task in tasks),
                batch_section(batches), growth_section(tasks, results, inputs_mb), shape_section(grown) if grown else '',
                machine_section(machine)]
    return '\n'.join(section for section in sections if section)
