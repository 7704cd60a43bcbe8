"""Runs action.yml as a runner of GitHub Actions does, for each exit status (scripts/check-readers).

A small runner: it fills inputs into the environment of the steps and runs their scripts with bash. Exits with 1 if
anything differs.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Mismatch(Exception):
    """Something else happened than should have."""


def held(name, promise, check):
    """Runs a check of a file, prints what it finds or else what holds, and returns the exit status."""
    try:
        check()
    except Mismatch as error:
        print(f'{name}: {error}', file=sys.stderr)
        return 1
    print(f'{name}{promise}')
    return 0


def expect_equal(found, expected, what):
    if found != expected:
        raise Mismatch(f'{what}: found {found!r}, expected {expected!r}')


def load(name):
    with open(os.path.join(ROOT, name), encoding='utf-8') as file:
        return yaml.safe_load(file)


def filled_in(text, values):
    """The text with its expressions replaced; only those over inputs and outputs of steps are known."""
    return re.sub(r'\$\{\{ ([a-z.-]+) \}\}', lambda match: values[match[1]], text)


def is_wanted(step, values):
    """Whether the condition of a step holds, of the one kind that action.yml has."""
    condition = re.fullmatch(r"([a-z.-]+) != ''", step.get('if', ''))
    expect_equal('if' in step, condition is not None, 'a condition that is understood')
    return condition is None or values[condition[1]] != ''


def run_step(step, values, folder, environment):
    """Status and standard output of a step; its outputs are added to the values."""
    if '${{' in step['run']:
        raise Mismatch('an expression in a script: what it holds would be run')
    outputs = os.path.join(folder, 'GITHUB_OUTPUT')
    with open(outputs, 'w', encoding='utf-8'):
        pass
    environment = environment | {'GITHUB_OUTPUT': outputs, 'GITHUB_ACTION_PATH': ROOT, 'GITHUB_ACTIONS': 'true'}
    environment |= {name: filled_in(value, values) for name, value in step['env'].items()}
    run = subprocess.run(['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', step['run']], cwd=folder,
                         env=environment, capture_output=True, text=True, check=False)
    with open(outputs, encoding='utf-8') as file:
        for line in file:
            name, value = line.rstrip('\n').split('=', 1)
            values[f"steps.{step['id']}.outputs.{name}"] = value
    return run.returncode, run.stdout


def run_action(action, given, folder, environment=None):
    """Status, outputs, standard output and summary of the action. Caches are taken for empty, but for what is there."""
    summary = os.path.join(folder, 'GITHUB_STEP_SUMMARY')
    with open(summary, 'w', encoding='utf-8'):
        pass
    environment = (environment or dict(os.environ)) | {'GITHUB_STEP_SUMMARY': summary}
    values = collections.defaultdict(str)
    values |= {f'inputs.{name}': value.get('default', '') for name, value in action['inputs'].items()}
    values |= {f'inputs.{name}': value for name, value in given.items()}
    expect_equal(action['runs']['using'], 'composite', 'kind of action')
    status, printed = 0, ''
    for step in action['runs']['steps']:
        if status != 0 or not is_wanted(step, values):
            continue
        if 'uses' in step:
            expect_equal(bool(re.fullmatch(r'actions/cache/(restore|save)@[0-9a-f]{40}', step['uses'])), True, step['uses'])
            printed += step['uses']
            continue
        status, more = run_step(step, values, folder, environment)
        printed += more
    outputs = {name: filled_in(output['value'], values) for name, output in action['outputs'].items()}
    with open(summary, encoding='utf-8') as file:
        return status, outputs, printed, file.read()


def check_statuses(action, binary):
    cases = [(0, 'healthy_tf2.4.trace.json.gz'), (1, 'seed_example1.xplane.pb'), (3, 'no_tf_data_tf2.4.xplane.pb'),
             (2, 'no_such_trace'), (2, '$(touch planted)"; touch planted; "')]
    for expected, name in cases:
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(ROOT, 'testdata/traces', name)
            given = {'traces': f'\n{trace}\r\n', 'binary': binary, 'source-file': 'src/input.py:7',
                     'args': '--threads\n1\n'}
            status, outputs, printed, summary = run_action(action, given, folder)
            expect_equal(status, expected, name)
            expect_equal(outputs['status'], str(expected), f'output for {name}')
            expect_equal(os.path.exists(os.path.join(folder, 'planted')), False, f'planted by {name}')
            expect_equal('### ' in summary, expected != 2, f'summary for {name}')
            if expected == 2:
                continue
            with open(os.path.join(folder, 'tfdata-doctor.sarif'), encoding='utf-8') as file:
                results = json.load(file)['runs'][0]['results']
            expect_equal(len(results), printed.count('::warning file=') + printed.count('::notice file='), 'annotations')
            for result in results:
                uri = result['locations'][0]['physicalLocation']['artifactLocation']['uri']
                expect_equal(uri, 'src/input.py', 'location')


def check_comparison(action, binary):
    folder_of = {side: os.path.join(ROOT, 'testdata/compare/slower-decode', side) for side in ('base', 'candidate')}
    for expected, base, candidate in ((1, 'base', 'candidate'), (0, 'candidate', 'base')):
        with tempfile.TemporaryDirectory() as folder:
            given = {'traces': folder_of[candidate], 'base': folder_of[base] + '\n', 'binary': binary}
            status, _, printed, summary = run_action(action, given, folder)
            expect_equal(status, expected, f'comparison with {base}')
            expect_equal(printed.count('::error file='), expected, 'annotations')
            expect_equal('DecodePng' in summary, True, 'the summary names the op')
            baseline = os.path.join(folder, 'stored.json')
            subprocess.run([binary, 'baseline', 'add', baseline, folder_of[base]], check=True, capture_output=True)
            given = {'traces': folder_of[candidate], 'baseline': baseline, 'binary': binary}
            expect_equal(run_action(action, given, folder)[0], expected, 'comparison with a baseline')


def write_wheel(folder, binary):
    """A wheel whose program starts the one that is tested."""
    name = 'tfdata_doctor-9.0'
    files = {f'{name}.data/scripts/tfdata-doctor': f'#!/bin/sh\nexec "{binary}" "$@"\n',
             f'{name}.dist-info/METADATA': 'Metadata-Version: 2.1\nName: tfdata-doctor\nVersion: 9.0\n',
             f'{name}.dist-info/WHEEL': 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n'}
    files[f'{name}.dist-info/RECORD'] = ''.join(f'{file},,\n' for file in [*files, f'{name}.dist-info/RECORD'])
    path = os.path.join(folder, f'{name}-py3-none-any.whl')
    with zipfile.ZipFile(path, 'w') as wheel:
        for file, text in files.items():
            entry = zipfile.ZipInfo(file)
            entry.external_attr = 0o100755 << 16  # a regular file that can be run
            wheel.writestr(entry, text)
    return path


def check_installation(action, binary):
    """A package is installed once; one that cannot be installed ends the action."""
    with tempfile.TemporaryDirectory() as folder:
        given = {'traces': os.path.join(ROOT, 'testdata/traces/healthy_tf2.4.trace.json.gz'),
                 'package': write_wheel(folder, binary)}
        environment = os.environ | {'RUNNER_TOOL_CACHE': os.path.join(folder, 'tools')}
        status, outputs, printed, _ = run_action(action, given, folder, environment)
        expect_equal((status, outputs['status'], printed.count('cache/save@')), (0, '0', 1), 'with a wheel')
        # As where the cache had it: no pip.
        status, _, printed, _ = run_action(action, given, folder, environment)
        expect_equal((status, printed.count('cache/save@')), (0, 0), 'with a wheel that is installed')
        given['package'] = os.path.join(folder, 'missing.whl')
        status, _, printed, _ = run_action(action, given, folder, environment)
        expect_equal((status, printed.count('::error::')), (2, 1), 'with a wheel that is not there')


def write_program(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(folder, exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(f'#!/bin/bash\n{text}\n')
    os.chmod(path, 0o755)


def check_build(action, binary):
    """Without a package the program is built once from the source of the action, and no index is asked."""
    with tempfile.TemporaryDirectory() as folder:
        tools = os.path.join(folder, 'stand-ins')
        write_program(tools, 'python3', 'echo asked >> "$ASKED"; exit 1')
        write_program(tools, 'dpkg-query', 'printf installed')
        write_program(tools, 'apt-get', 'exit 1')
        write_program(tools, 'cmake', 'if [[ $1 == --build ]]; then ln -s "$BUILT" "$2/tfdata-doctor"; fi')
        asked = os.path.join(folder, 'asked')
        environment = {'PATH': f'{tools}:/usr/bin:/bin', 'RUNNER_TOOL_CACHE': os.path.join(folder, 'tools'),
                       'ASKED': asked, 'BUILT': binary}
        given = {'traces': os.path.join(ROOT, 'testdata/traces/seed_example1.xplane.pb')}
        # A finding ends the job, and the next one finds the program in the cache all the same.
        status, _, printed, _ = run_action(action, given, folder, environment)
        expect_equal((status, printed.count('cache/save@')), (1, 1), 'with a program that is built')
        write_program(tools, 'cmake', 'exit 1')
        status, _, printed, _ = run_action(action, given, folder, environment)
        expect_equal((status, printed.count('cache/save@')), (1, 0), 'with a program that was built before')
        environment['RUNNER_TOOL_CACHE'] = os.path.join(folder, 'empty')
        expect_equal(run_action(action, given, folder, environment)[0], 2, 'with a program that cannot be built')
        expect_equal(os.path.exists(asked), False, 'pip is asked')


def check_all(binary):
    action = load('action.yml')
    for check in (check_statuses, check_comparison, check_installation, check_build):
        check(action, binary)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', metavar='BINARY')
    options = parser.parse_args()
    return held('action.yml', ' ends with 0, 1, 2 and 3 where it should',
                lambda: check_all(os.path.abspath(options.binary)))


if __name__ == '__main__':
    sys.exit(main())
