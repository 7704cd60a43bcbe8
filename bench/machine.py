"""What the numbers were measured on."""

import datetime
import os
import platform
import re
import subprocess

import pypi

DEBIAN_PACKAGES = ('libisal-dev', 'libprotobuf-dev', 'libsimdjson-dev', 'nlohmann-json3-dev', 'python3-pandas',
                   'rapidjson-dev')


def first_line(command):
    """Of what a command prints; '' if it fails or is not there."""
    try:
        process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError:
        return ''
    return process.stdout.strip().split('\n')[0] if process.returncode == 0 else ''


def value_in(path, pattern):
    try:
        with open(path, encoding='utf-8') as file:
            found = re.search(pattern, file.read(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1) if found else 'unknown'


def describe(build, with_pypi, load_at_start):
    """Rows of (what, value), at the end of a run."""
    compiler = value_in(os.path.join(build, 'CMakeCache.txt'), r'^CMAKE_CXX_COMPILER:\w+=(.*)$')
    memory_kb = value_in('/proc/meminfo', r'^MemTotal:\s+(\d+)')
    memory = '%.0f GB' % (int(memory_kb) * 1024 / 1e9) if memory_kb.isdigit() else memory_kb
    packages = {name: first_line(['dpkg-query', '--show', '--showformat=${Version}', name]) for name in DEBIAN_PACKAGES}
    if with_pypi:
        packages.update(pypi.PACKAGES)
    return [
        ('CPU', '%s, %d cores' % (value_in('/proc/cpuinfo', r'^model name\s*:\s*(.*)$'), len(os.sched_getaffinity(0)))),
        ('memory', memory),
        ('system', '%s, Linux %s' % (value_in('/etc/os-release', r'^PRETTY_NAME="(.*)"$'), platform.release())),
        ('compiler', first_line([compiler, '--version']) or 'unknown'),
        ('libraries', ', '.join('%s %s' % item for item in packages.items() if item[1])),
        ('Python', platform.python_version()),
        ('commit', first_line(['git', 'describe', '--always', '--dirty']) or 'unknown'),
        ('date', datetime.date.today().isoformat()),
        ('load average', '%.1f at the start, %.1f at the end' % (load_at_start, os.getloadavg()[0])),
    ]
