"""What the parts of a diagnosis, its documents and the flags of the compiler cost, in instructions: scripts/cost-table."""

import argparse
import gzip
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import counting
import goals

SOURCE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(SOURCE)
PAGE = os.path.join(SOURCE, 'README.md')

# (Title, file below testdata): one as platforms store them, and 10 MB in both formats.
TRACES = (
    ('44 KB XSpace', 'traces/sequential_interleave_tf2.21.xplane.pb'),
    ('10 MB XSpace', 'bench/base.xplane.pb.gz'),
    ('10 MB JSON', 'bench/base.trace.json.gz'),
)

# The functions below which the instructions of a part are, each called by nothing that is in another part.
PARTS = (
    ('loading libraries', ('dl_main',)),
    ('reading', ('doctor::read_trace(',)),
    ('tree of iterators', ('doctor::build_tree(',)),
    ('measuring', ('doctor::measure(',)),
    ('verdict', ('doctor::judge(',)),
    ('gains of the findings', ('doctor::predict_gains(', 'doctor::rank_changes(')),
    ('text', ('doctor::render_text(',)),
)

REPLAYS, MOST_OF_REPLAYS = 'replays of the pipeline: share of the instructions of a diagnosis, XSpace', 0.07

# (Title, arguments with it, arguments without it).
DIAGNOSE = ('diagnose', '--threads', '1')
FEATURES = (
    ('the sandbox', DIAGNOSE, (*DIAGNOSE, '--no-sandbox')),
    ('all evidence (`-v`)', (*DIAGNOSE, '-v'), DIAGNOSE),
    ('JSON in place of text', (*DIAGNOSE, '--format', 'json'), DIAGNOSE),
    ('SARIF in place of text', (*DIAGNOSE, '--format', 'sarif'), DIAGNOSE),
    ('a page for a browser in place of text', (*DIAGNOSE, '--format', 'html'), DIAGNOSE),
    ('every fix by its gain (`whatif`)', ('whatif', '--threads', '1'), DIAGNOSE),
    ('a second thread', ('diagnose', '--threads', '2'), DIAGNOSE),
)

# (Title, what CMake is told).
ALL_FLAGS = 'all of hardening'
FLAGS = (
    (ALL_FLAGS, '-DDOCTOR_HARDENING=OFF'),
    *(('`%s`' % flag, '-DDOCTOR_HARDENING_WITHOUT=%s' % flag)
      for flag in ('-D_GLIBCXX_ASSERTIONS', '-D_FORTIFY_SOURCE=2', '-fstack-protector-strong', '-fstack-clash-protection',
                   '-fcf-protection')),
)

_INCLUSIVE = re.compile(r'\s*([\d,]+) \(\s*[\d.]+%\)\s+(?:.*?:)?(\S.*?) \[')


@dataclass(frozen=True)
class Table:
    """Rows of (title, cell for each column)."""
    name: str
    titles: tuple
    rows: tuple

    def text(self):
        lines = ['| %s |' % ' | '.join(self.titles), '|---|%s' % ('---:|' * (len(self.titles) - 1))]
        lines += ['| %s |' % ' | '.join((title, *cells)) for title, cells in self.rows]
        return '\n'.join(lines)


def inclusive_counts(annotated):
    """(function with its arguments, instructions in it and below it), from what callgrind_annotate prints."""
    found = (_INCLUSIVE.match(line) for line in annotated.splitlines())
    return [(match[2].replace('[abi:cxx11]', ''), int(match[1].replace(',', ''))) for match in found if match]


def part_of(counts, functions):
    """The instructions below some functions. A recursive one is counted once, by its largest line."""
    return sum(max((number for name, number in counts if name.startswith(function)), default=0) for function in functions)


def count_parts(tool, trace):
    """(All, of each part), of a diagnosis as text."""
    whole, annotated = counting.profile([tool, *DIAGNOSE, trace], '--inclusive=yes')
    counts = inclusive_counts(annotated)
    return whole, [part_of(counts, functions) for _, functions in PARTS]


def judge_replays(tool, trace, size):
    """The goal of what the model takes, which is the same whatever the file."""
    goal = goals.Goal(REPLAYS, known_miss='ending replays early lost 5 to 25 gains of 1,945 that hold')
    if not counting.is_possible():
        return goals.not_run(goal, 'valgrind is missing')
    whole, annotated = counting.profile([tool, *DIAGNOSE, trace], '--inclusive=yes')
    replays = part_of(inclusive_counts(annotated), ('doctor::replay(',))
    if replays == 0:
        return goals.not_run(goal, 'the program has no symbol of a replay')
    return goals.judgement(goal, size, replays / whole, '%.3f', None, MOST_OF_REPLAYS)


def millions(number):
    return '%.1f M' % (number / 1e6)


def change(number, base):
    return '%+.1f %%' % (100 * (number / base - 1))


def part_table(tool, traces):
    counted = [count_parts(tool, path) for _, path in traces]
    missing = [title for number, (title, _) in enumerate(PARTS) if not any(parts[number] for _, parts in counted)]
    if missing:
        sys.exit('scripts/cost-table: no function of %s was found: it has another name, or no symbol' % missing[0])
    rows = [('whole', tuple(millions(whole) for whole, _ in counted))]
    rows += [(title, tuple('%.1f %%' % (100 * parts[number] / whole) for whole, parts in counted))
             for number, (title, _) in enumerate(PARTS)]
    rows.append(('the rest: command line, sandbox, rules',
                 tuple('%.1f %%' % (100 * (1 - sum(parts) / whole)) for whole, parts in counted)))
    return Table('parts', ('part', *(title for title, _ in traces)), tuple(rows))


def feature_table(tool, traces):
    known = {}

    def counted(arguments, path):
        key = (arguments, path)
        if key not in known:
            known[key] = counting.count_instructions([tool, *arguments, path])
        return known[key]

    rows = tuple((title, tuple(change(counted(having, path), counted(lacking, path)) for _, path in traces))
                 for title, having, lacking in FEATURES)
    return Table('features', ('feature', *(title for title, _ in traces)), rows)


def build(name, setting):
    folder = os.path.join(ROOT, 'build', 'costs', name)
    for command in (['cmake', '--preset', 'release', '-B', folder, '-DBUILD_TESTING=OFF', *([setting] if setting else [])],
                    ['cmake', '--build', folder, '--target', 'tfdata-doctor']):
        ended = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            sys.exit('%s%s\nscripts/cost-table: %s failed' % (ended.stdout, ended.stderr, ' '.join(command)))
    return os.path.join(folder, 'tfdata-doctor')


def flag_table(traces):
    """What leaving each flag out saves of a diagnosis."""
    base = build('all', None)
    shipped = [counting.count_instructions([base, *DIAGNOSE, path]) for _, path in traces]
    rows = [('as shipped', tuple(millions(number) for number in shipped))]
    for number, (title, setting) in enumerate(FLAGS):
        tool = build('without-%d' % number, setting)
        rows.append(('without ' + title, tuple(change(counting.count_instructions([tool, *DIAGNOSE, path]), whole)
                                               for (_, path), whole in zip(traces, shipped))))
    return Table('flags', ('flags', *(title for title, _ in traces)), tuple(rows))


def with_table(page, table):
    """The page with the table between its marks."""
    begin, end = '<!-- costs of %s -->' % table.name, '<!-- end of costs of %s -->' % table.name
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError('%s has no place for the costs of %s' % (PAGE, table.name))
    return '%s%s\n%s\n%s%s' % (before, begin, table.text(), end, after)


def unpacked(folder):
    """The traces, those that are compressed written to the folder: what is counted is not gzip."""
    traces = []
    for title, name in TRACES:
        path = os.path.join(ROOT, 'testdata', name)
        if name.endswith('.gz'):
            plain = os.path.join(folder, os.path.basename(name).removesuffix('.gz'))
            with gzip.open(path) as packed, open(plain, 'wb') as file:
                file.write(packed.read())
            path = plain
        traces.append((title, path))
    return traces


def main():
    parser = argparse.ArgumentParser(prog='scripts/cost-table')
    parser.add_argument('--tool', default=os.path.join(ROOT, 'build', 'dev', 'tfdata-doctor'))
    parser.add_argument('--flags', action='store_true')
    parser.add_argument('--accept', action='store_true')
    options = parser.parse_args()
    if not os.path.exists(options.tool):
        sys.exit('scripts/cost-table: there is no %s: cmake --preset dev && cmake --build --preset dev' % options.tool)
    with tempfile.TemporaryDirectory() as folder:
        traces = unpacked(folder)
        try:
            tables = [part_table(options.tool, traces), feature_table(options.tool, traces)]
            tables += [flag_table(traces)] if options.flags else []
        except counting.CommandFailed as failed:
            sys.exit('scripts/cost-table: %s' % failed)
    print('\n\n'.join(table.text() for table in tables))
    if options.accept:
        with open(PAGE, encoding='utf-8') as file:
            page = file.read()
        for table in tables:
            page = with_table(page, table)
        with open(PAGE, 'w', encoding='utf-8') as file:
            file.write(page)


if __name__ == '__main__':
    main()
