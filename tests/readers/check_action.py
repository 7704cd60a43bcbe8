"""Runs action.yml as a runner of GitHub Actions does, for each exit status (scripts/check-readers).

A small runner: it fills inputs into the environment of the steps and runs their scripts with bash. Checks the examples
of docs/ci against action.yml and .pre-commit-hooks.yaml, too. Exits with 1 if anything differs.
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
from xml.etree import ElementTree

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Mismatch(Exception):
    """Something else happened than should have."""


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
            expect_equal(re.sub(r'@[0-9a-f]{40}$', '', step['uses']), 'actions/cache', 'an action, by its commit')
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
        expect_equal((status, outputs['status'], printed.count('::group::Install')), (0, '0', 1), 'with a wheel')
        # As where the cache had it: no pip.
        status, _, printed, _ = run_action(action, given, folder, environment)
        expect_equal((status, printed.count('::group::Install')), (0, 0), 'with a wheel that is installed')
        given['package'] = os.path.join(folder, 'missing.whl')
        status, _, printed, _ = run_action(action, given, folder, environment)
        expect_equal((status, printed.count('::error::')), (2, 1), 'with a wheel that is not there')


def check_steps(action, steps):
    ours = [step for step in steps if re.search(r'/\.?tfdata-doctor(@|$)', step.get('uses', ''))]
    expect_equal(len(ours), 1, 'steps that use the action')
    unknown = set(ours[0]['with']) - set(action['inputs'])
    expect_equal(unknown, set(), 'unknown inputs')
    required = {name for name, value in action['inputs'].items() if value.get('required')}
    expect_equal(required - set(ours[0]['with']), set(), 'missing inputs')


def check_pins(steps):
    """Actions of others are named by commit: who can move a tag of theirs could run anything with our tokens."""
    for uses in [step['uses'] for step in steps if 'uses' in step]:
        is_ours = uses.startswith(('./', 'OWNER/'))
        expect_equal(is_ours or bool(re.search(r'@[0-9a-f]{40}$', uses)), True, f'{uses} is pinned')


def check_tokens(name, jobs):
    """A job that runs code of a pull request has no token that can write, and leaves none on the disk."""
    for job_name, job in jobs.items():
        checkouts = [step for step in job['steps'] if step.get('uses', '').startswith('actions/checkout@')]
        for step in checkouts:
            kept = step.get('with', {}).get('persist-credentials', True)
            expect_equal(kept, False, f'{name}.yml: the credentials that {job_name} keeps')
        writes = [what for what, how in job['permissions'].items() if how == 'write']
        expect_equal(writes if checkouts else [], [], f'{name}.yml: what {job_name} may write')


def check_gate(binary):
    """The command that the workflow compares with, on recordings as the one before makes them."""
    steps = {step.get('name'): step for step in load('docs/ci/github-gate.yml')['jobs']['gate']['steps']}
    expect_equal('--out traces' in steps['Record']['run'], True, 'where the recordings go')
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(ROOT, 'testdata/compare/slower-decode'), os.path.join(folder, 'traces'))
        os.symlink(binary, os.path.join(folder, 'tfdata-doctor'))
        environment = os.environ | {'PATH': f"{folder}:{os.environ['PATH']}"}
        done = subprocess.run(['bash', '-eo', 'pipefail', '-c', steps['Compare']['run']], cwd=folder, env=environment,
                              capture_output=True, text=True, check=False)
        expect_equal((done.returncode, done.stdout.count('::error file=')), (1, 1), 'the gate')
        for name in ('doctor.sarif', 'comment.md', 'compare.svg', 'compare.html'):
            expect_equal(os.path.getsize(os.path.join(folder, name)) > 0, True, f'{name} is written')
        ElementTree.parse(os.path.join(folder, 'compare.svg'))


def check_examples(action):
    with open(os.path.join(ROOT, 'docs/ci.md'), encoding='utf-8') as page, \
         open(os.path.join(ROOT, 'docs/ci/github-gate.yml'), encoding='utf-8') as workflow:
        expect_equal(f'```yaml\n{workflow.read()}```\n' in page.read(), True, 'docs/ci.md shows github-gate.yml')
    for name in ('github', 'github-gate', 'github-fix'):
        jobs = load(f'docs/ci/{name}.yml')['jobs']
        check_tokens(name, jobs)
        steps = [step for job in jobs.values() for step in job['steps']]
        check_pins(steps)
        if name == 'github':
            check_steps(action, steps)
    check_pins(action['runs']['steps'])
    hooks = {hook['id'] for hook in load('.pre-commit-hooks.yaml')}
    for repository in load('docs/ci/pre-commit.yaml')['repos']:
        expect_equal({hook['id'] for hook in repository['hooks']} - hooks, set(), 'unknown hooks')
    for job in load('docs/ci/gitlab.yml').values():
        installs = re.search(r'pip install .*\btfdata-doctor\b', ' '.join(job['before_script']))
        expect_equal(installs is not None, True, 'the program is installed')
        for report in job['artifacts']['reports'].values():
            expect_equal(f'={report}' in ' '.join(job['script']), True, f'{report} is written')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', metavar='BINARY')
    options = parser.parse_args()
    action = load('action.yml')
    try:
        check_statuses(action, os.path.abspath(options.binary))
        check_comparison(action, os.path.abspath(options.binary))
        check_installation(action, os.path.abspath(options.binary))
        check_examples(action)
        check_gate(os.path.abspath(options.binary))
    except Mismatch as error:
        print(f'action.yml: {error}', file=sys.stderr)
        return 1
    print('action.yml ends with 0, 1, 2 and 3 where it should')
    return 0


if __name__ == '__main__':
    sys.exit(main())
