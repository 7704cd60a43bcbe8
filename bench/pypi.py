"""A Python environment with the baselines that come from PyPI."""

import os
import subprocess
import sys

from measuring import NotRun

# Pinned, so that the numbers of two runs are about the same programs.
PACKAGES = {'duckdb': '2.0.0', 'xprof': '2.24.2'}


def prepare(folder, say):
    """The environment's Python, made if need be, or NotRun with the reason."""
    python = os.path.join(folder, 'bin', 'python')
    if has_packages(python):
        return python
    base = os.environ.get('TFDATA_DOCTOR_BENCH_PYTHON', sys.executable)
    pins = ['%s==%s' % pin for pin in PACKAGES.items()]
    say('installing %s for %s' % (' '.join(pins), os.path.basename(base)))
    for command in ([base, '-m', 'venv', '--clear', folder],
                    [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', *pins]):
        try:
            process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        except OSError as error:
            return NotRun('%s: %s' % (os.path.basename(command[0]), error.strerror))
        if process.returncode != 0:
            lines = (process.stderr or process.stdout).strip().split('\n')
            return NotRun('python %s failed: %s' % (' '.join(command[1:3]), lines[-1]))
    return python


def has_packages(python):
    versions = '; '.join("assert version('%s') == '%s'" % pin for pin in PACKAGES.items())
    command = [python, '-c', 'from importlib.metadata import version; ' + versions]
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
