"""What the Python package takes beside the program, for a small trace, and until its help is there."""

import os
import sys

import goals
from batch import TRACE
from measuring import Measurement, NotRun, measure_alternating

RUNS = 15  # each takes hundredths of a second
MOST_TIMES_THE_PROGRAM = 3
MOST_HELP_SECONDS = 0.04
DIAGNOSE, HELP = 'Python: diagnose() of 44 KB beyond Python / the program', 'python -m tfdata_doctor --help beyond Python'
BARE, PACKAGE_DIAGNOSE, PROGRAM_DIAGNOSE, PACKAGE_HELP = 'python', 'diagnose()', 'tfdata-doctor', '--help'


def commands(tool, root, build):
    """Compiled modules are kept, as they are where the package is installed."""
    trace = os.path.join(root, 'testdata', 'traces', TRACE)
    python = ['/usr/bin/env', '-u', 'PYTHONDONTWRITEBYTECODE', 'PYTHONPATH=' + os.path.join(root, 'python'),
              'PYTHONPYCACHEPREFIX=' + os.path.join(build, 'pycache'), 'TFDATA_DOCTOR=' + tool,
              next(filter(os.path.exists, ['/usr/bin/python3', sys.executable]))]
    documents = ['--format=json', '--output=text=/dev/null']
    return {BARE: ([*python, '-c', 'pass'], (0,)),
            PACKAGE_DIAGNOSE: ([*python, '-c', 'import tfdata_doctor; tfdata_doctor.diagnose(%r)' % trace], (0,)),
            PROGRAM_DIAGNOSE: ([tool, 'diagnose', '--color=never', *documents, trace], (0, 1)),
            PACKAGE_HELP: ([*python, '-m', 'tfdata_doctor', '--help'], (0,))}


def measure_package(launcher, tool, root, build, say):
    """{program: Measurement or NotRun}."""
    say('python: diagnose() and --help')
    return measure_alternating(launcher, commands(tool, root, build), RUNS)


def judge(taken):
    """`taken` is what measure_package() returns; empty where it was left out."""
    reasons = [result.reason for result in taken.values() if isinstance(result, NotRun)]
    if not taken or reasons:
        return [goals.not_run(goals.Goal(text), (reasons or ['was left out'])[0]) for text in (DIAGNOSE, HELP)]
    cpu = {name: result.cpu for name, result in taken.items() if isinstance(result, Measurement)}
    times = (cpu[PACKAGE_DIAGNOSE] - cpu[BARE]) / cpu[PROGRAM_DIAGNOSE]
    diagnose = goals.Goal(DIAGNOSE, known_miss='most of it is the import of json, by -X importtime')
    return [goals.judgement(diagnose, '44 KB', times, '%.3g x', None, MOST_TIMES_THE_PROGRAM),
            goals.judgement(goals.Goal(HELP), '', cpu[PACKAGE_HELP] - cpu[BARE], '%.3g s', None, MOST_HELP_SECONDS)]
