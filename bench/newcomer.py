"""What a newcomer waits for: scripts/quickstart in a fresh clone, without a compiler cache."""

import os
import subprocess
import tempfile

import goals
from measuring import Measurement, NotRun, measure

MOST_SECONDS = 200
TEXT = 'scripts/quickstart of a fresh clone on 2 processors, no compiler cache: wall'


def measure_quickstart(launcher, root, build, say):
    """Once: it takes minutes. A Measurement, or NotRun."""
    say('scripts/quickstart in a fresh clone')
    with tempfile.TemporaryDirectory(dir=build) as folder:
        clone = os.path.join(folder, 'tfdata-doctor')
        subprocess.run(['git', 'clone', '--quiet', root, clone], check=True)
        return measure(launcher, ['/usr/bin/env', 'CCACHE_DISABLE=1', 'CMAKE_BUILD_PARALLEL_LEVEL=2',
                                  os.path.join(clone, 'scripts', 'quickstart')], (0,))


def judge(taken):
    """`taken` is what measure_quickstart() returns, None where it was left out."""
    if isinstance(taken, Measurement):
        goal = goals.Goal(TEXT, known_miss='%.0f s of CPU time; without any optimisation 85 %% of it' % taken.cpu)
        return goals.judgement(goal, '', taken.wall, '%.0f s', None, MOST_SECONDS)
    return goals.not_run(goals.Goal(TEXT), taken.reason if isinstance(taken, NotRun) else 'was left out')
