"""Whether the programs did the same work, and whether ours gives the same answer however it is asked."""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass

from counting import GOOD_STATUSES
from measuring import Measurement

# What floors and XProf print is not about the events.
COMPARED = ('events', 'names', 'threads', 'out_of_order', 'duration_ps', 'self_ps', 'durations_checksum',
            'self_checksum', 'stats_checksum')


@dataclass(frozen=True)
class Check:
    """`is_good` is None where there was nothing to check."""
    text: str
    is_good: bool
    detail: str


def summary_of(result):
    lines = result.output.strip().split('\n') if isinstance(result, Measurement) else ['']
    return json.loads(lines[-1]) if lines[-1] else {}


def differences(summaries):
    """What programs say differently about one input. `summaries` is {program: summary}; only what two programs both
    say is compared."""
    found = []
    said = {}
    for program, summary in summaries.items():
        for key in COMPARED:
            if key not in summary:
                continue
            first, value = said.setdefault(key, (program, summary[key]))
            if value != summary[key]:
                found.append('%s: %s by %s, %s by %s' % (key, value, first, summary[key], program))
    return found


def same_work(tasks, sizes, results):
    """One check for all inputs: a benchmark that compares different work is worthless."""
    found = []
    compared = 0
    for task in tasks:
        for size in sizes:
            summaries = {program.name: summary_of(results.get((task.name, program.name, size)))
                         for program in task.programs}
            compared += sum('events' in summary for summary in summaries.values())
            found += ['%s %s: %s' % (task.name, size, difference) for difference in differences(summaries)]
    detail = '; '.join(found) or '%d results, by sums and checksums of their tables' % compared
    return Check('all programs found the same in the same input', not found if compared else None, detail)


def answer(report):
    """Verdict, culprit and rules of a JSON report: what must not depend on the length of the run."""
    verdict = report['verdict']
    culprit = verdict.get('bottleneck') or {}
    rules = sorted({finding['rule'] for finding in report['findings']})
    return verdict['status'], culprit.get('long_name'), tuple(rules)


def report_of(commands, file, threads=None):
    """The JSON report as bytes. Throws if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'report.json')
        options = ['--threads', str(threads)] if threads else []
        process = subprocess.run(commands.tool('diagnose', '--format', 'json', '-o', path, *options, file),
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if process.returncode not in GOOD_STATUSES:
            raise RuntimeError('tfdata-doctor failed: ' + process.stderr.strip())
        with open(path, 'rb') as report:
            return report.read()


def same_answers(commands, inputs, made):
    """Whether repeating a run changes what is said about it. `made` are the inputs, each a size and a suffix."""
    found = []
    expected = {suffix: answer(json.loads(report_of(commands, inputs.base(suffix)))) for _, suffix in made}
    for size, suffix in made:
        got = answer(json.loads(report_of(commands, inputs.path(size, suffix))))
        if got != expected[suffix]:
            found.append('%s.%s: %s instead of %s' % (size, suffix, got, expected[suffix]))
    detail = '; '.join(found) or ', '.join('%s.%s' % one for one in made)
    return Check('verdict, culprit and rules are those of the base trace', not found if made else None, detail)


def same_reports(commands, inputs, made):
    """Whether the number of threads changes a byte of the report."""
    text = 'the JSON reports of 1 and 2 threads are the same bytes'
    if not commands.has_threads:
        return Check(text, None, 'the tool has no option --threads')
    found = ['%s.%s' % one for one in made
             if report_of(commands, inputs.path(*one), 1) != report_of(commands, inputs.path(*one), 2)]
    detail = ', '.join(found) or ', '.join('%s.%s' % one for one in made)
    return Check(text, not found if made else None, detail)
