"""Runs commands through measure_command and keeps the least that each took."""

import json
import statistics
import subprocess
from dataclasses import dataclass, replace


#: The exit status of a baseline that does not take this input.
UNABLE = 77


@dataclass(frozen=True)
class Measurement:
    """What a command took: seconds, MB of 10^6 bytes."""
    user: float
    system: float
    wall: float
    peak_mb: float
    output: str = ''
    runs: tuple = ()  #: (CPU, wall) of each, in the order of the turns; empty where nobody needs them

    @property
    def cpu(self):
        return self.user + self.system


@dataclass(frozen=True)
class NotRun:
    """Why there is no measurement. A failure is an error of the run, anything else was to be expected."""
    reason: str
    is_failure: bool = False


def least(one, other):
    """CPU time, wall time and memory each from the run that had the least of it: noise only ever adds."""
    if one is None:
        return other
    cpu = min(one, other, key=lambda measurement: measurement.cpu)
    return replace(cpu, wall=min(one.wall, other.wall), peak_mb=min(one.peak_mb, other.peak_mb),
                   runs=one.runs + other.runs)


def ratio(of, to, quantity):
    """How many times the `quantity` of `to`: of CPU and wall time the median over the turns, because a machine that is
    twice as fast for some seconds would give the least to one of them alone. Both begin with the same turns."""
    column = {'cpu': 0, 'wall': 1}.get(quantity)
    if column is None or not of.runs or not to.runs:
        return getattr(of, quantity) / getattr(to, quantity)
    return statistics.median(a[column] / b[column] for a, b in zip(of.runs, to.runs))


def measure(launcher, command, good_statuses):
    """Runs `command` once. A Measurement, or NotRun if it failed."""
    process = subprocess.run([launcher, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             errors='replace', check=False)
    lines = [line for line in process.stderr.split('\n') if line]
    if process.returncode != 0:
        return NotRun('failed: ' + lines[-1], is_failure=True)
    taken = json.loads(lines[-1])
    if taken['signal'] != 0:
        return NotRun('failed: ended by signal %d' % taken['signal'], is_failure=True)
    said = lines[-2] if len(lines) > 1 else ''
    if taken['exit_status'] == UNABLE:
        return NotRun(said)
    if taken['exit_status'] not in good_statuses:
        return NotRun('failed with status %d: %s' % (taken['exit_status'], said), is_failure=True)
    return Measurement(taken['user_s'], taken['system_s'], taken['wall_s'], taken['peak_kb'] * 1024 / 1e6,
                       process.stdout, ((taken['user_s'] + taken['system_s'], taken['wall_s']),))


def measure_alternating(launcher, commands, runs):
    """Runs every command `runs` times, in turns, so that a busy spell of the machine meets them all.

    `commands` is {key: (command, good statuses)}; the result is {key: Measurement or NotRun}.
    """
    results = dict.fromkeys(commands)
    for _ in range(runs):
        for key, (command, good_statuses) in commands.items():
            if isinstance(results[key], NotRun):
                continue
            result = measure(launcher, command, good_statuses)
            results[key] = result if isinstance(result, NotRun) else least(results[key], result)
    return results
