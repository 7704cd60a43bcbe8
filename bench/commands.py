"""Turns the table of programs into commands of this machine."""

import os
import subprocess

from measuring import NotRun
from programs import SIZES


def works(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


class Commands:
    """`build` is the folder of preset bench, `source` that of the scripts; `pypi` the Pythons with packages from PyPI by
    the names of pypi.PACKAGES, or a NotRun that says why there is none; `pythons` those that may have pandas."""

    def __init__(self, build, source, pypi, pythons):
        self.places = {'bench': os.path.join(build, 'bench'), 'tool': os.path.join(build, 'tfdata-doctor'),
                       'source': source}
        self.launcher = os.path.join(self.places['bench'], 'measure_command')
        self.pythons = dict(pypi)
        self.candidates = pythons
        help_text = subprocess.run([self.places['tool'], 'diagnose', '--help'], capture_output=True, text=True,
                                   check=True).stdout
        self.has_threads = '--threads' in help_text

    def tool(self, *arguments):
        return [self.places['tool'], *arguments]

    def command(self, program, file, size, input_bytes):
        """The command as a list, or NotRun."""
        reason = why_not(program, size, input_bytes)
        if reason:
            return NotRun(reason)
        places = dict(self.places, file=file)
        if program.python():
            python = self.python(program)
            if isinstance(python, NotRun):
                return python
            places[program.python()] = python
        command = [part.format(**places) for part in program.command]
        if not os.path.exists(command[0]):
            return NotRun('%s is not built' % os.path.basename(command[0]))
        return self.without_threads(command)

    def without_threads(self, command):
        """For a tool that has no such option yet."""
        if '--threads' not in command or self.has_threads:
            return command
        at = command.index('--threads')
        if command[at + 1] != '1':
            return NotRun('the tool has no option --threads')
        return command[:at] + command[at + 2:]

    def python(self, program):
        if program.python() in self.pythons:
            return self.pythons[program.python()]
        if program.package not in self.pythons:
            found = (python for python in self.candidates if works([python, '-c', 'import ' + program.package]))
            self.pythons[program.package] = next(found, NotRun('no Python here has %s' % program.package))
        return self.pythons[program.package]


def why_not(program, size, input_bytes):
    """Why a program is not given an input of this size here; '' if it is."""
    sizes = list(SIZES)
    if sizes.index(size) > sizes.index(program.largest):
        return 'run up to %s only' % program.largest
    if sizes.index(size) < sizes.index(program.smallest):
        return 'run from %s on' % program.smallest
    if program.processors > len(os.sched_getaffinity(0)):
        return 'needs %d processors' % program.processors
    needed = program.memory_factor * input_bytes
    if needed > available_memory():
        return 'needs about %.0f GB of free memory' % (needed / 1e9)
    return ''


def available_memory():
    """Bytes that can be used without swapping."""
    with open('/proc/meminfo', encoding='ascii') as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith('MemAvailable:'))
