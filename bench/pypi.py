"""Python environments with the baselines that come from PyPI."""

import os
import subprocess
import sys

from measuring import NotRun

# Pinned, so that the numbers of two runs are about the same programs. XProf and its nightly are one module.
PACKAGES = {'pypi': {'duckdb': '2.0.0', 'xprof': '2.24.2', 'xprof-rs': '0.1.3'},
            'nightly': {'xprof-nightly': '2.25.0a20261027'}}


def prepare(folder, packages, say):
    """The Python of the environment with these packages, made if need be, or NotRun with the reason."""
    python = os.path.join(folder, 'bin', 'python')
    if has_packages(python, packages):
        return python
    base = os.environ.get('TFDATA_DOCTOR_BENCH_PYTHON', sys.executable)
    pins = ['%s==%s' % pin for pin in packages.items()]
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


def has_packages(python, packages):
    versions = '; '.join("assert version('%s') == '%s'" % pin for pin in packages.items())
    command = [python, '-c', 'from importlib.metadata import version; ' + versions]
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
