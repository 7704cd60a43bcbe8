"""Holds the jobs of docs/ci to what docs/ci.md promises of them (scripts/check-readers).

Jobs that run code of others have no token that can write, nothing comes from an index that does not have it, each command
has the options that it is given, and what compares and what comments is run. Exits with 1 if anything differs.
"""

import argparse
import glob
import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

import yaml

from check_action import ROOT, Mismatch, expect_equal, held, load, write_program

WORKFLOWS = ('github', 'github-gate', 'github-fix', 'github-wheel', 'github-report')
#: Those that `python -m tfdata_doctor` has besides the program's.
PYTHON_COMMANDS = ('record', 'fix')
#: All that a job with a token that can write runs.
TRUSTED_PROGRAMS = {'gh', 'echo', 'printf', 'exit', '[['}


def read(name):
    with open(os.path.join(ROOT, name), encoding='utf-8') as file:
        return file.read()


def check_pins(steps):
    """Actions of others are named by commit: who can move a tag of theirs could run anything with our tokens."""
    for uses in [step['uses'] for step in steps if 'uses' in step]:
        is_ours = uses.startswith(('./', 'OWNER/'))
        expect_equal(is_ours or bool(re.search(r'@[0-9a-f]{40}$', uses)), True, f'{uses} is pinned')


def check_action_inputs(steps):
    """What the step that uses the action gives it."""
    action = load('action.yml')
    ours = [step for step in steps if re.search(r'/\.?tfdata-doctor(@|$)', step.get('uses', ''))]
    expect_equal(len(ours), 1, 'steps that use the action')
    expect_equal(set(ours[0]['with']) - set(action['inputs']), set(), 'unknown inputs')
    required = {name for name, value in action['inputs'].items() if value.get('required')}
    expect_equal(required - set(ours[0]['with']), set(), 'missing inputs')
    check_pins(action['runs']['steps'])


def programs_of(script):
    """The first words of the commands of a script of bash."""
    script = re.sub(r"\\\n|'[^']*'|(?<!\S)#.*", ' ', script)
    parts = re.split(r'\n|;|\||\$\(|&&|\b(?:if|then|else|fi)\b', script)
    commands = [re.sub(r'^\s*\w+=', '', part).split() for part in parts]
    return {words[0] for words in commands if words}


def check_trusted(where, job):
    """A job with a token: code of nobody else is there, and what it was given is not run."""
    expect_equal('uses' in job, False, f'{where}: a workflow that is handed a token')
    for step in job['steps']:
        action = step.get('uses', '').split('@')[0]
        expect_equal(action in ('', 'actions/download-artifact', 'github/codeql-action/upload-sarif'), True,
                     f'{where}: {action} in a job with a token')
        script = step.get('run', '')
        expect_equal('${{' in script, False, f'{where}: an expression in a script')
        expect_equal(programs_of(script) - TRUSTED_PROGRAMS, set(), f'{where}: programs in a job with a token')


def check_untrusted(where, job):
    """A job without one: it leaves no credentials on the disk either."""
    for step in job.get('steps', []):
        if step.get('uses', '').startswith('actions/checkout@'):
            kept = step.get('with', {}).get('persist-credentials', True)
            expect_equal(kept, False, f'{where}: credentials that are kept')


def check_rights(name):
    workflow = load(f'docs/ci/{name}.yml')
    text = read(f'docs/ci/{name}.yml')
    expect_equal(workflow.get('permissions'), {}, f'{name}: what a job may do that does not say so')
    # Both would give the code of a pull request more than it may have.
    expect_equal([word for word in ('pull_request_target', 'secrets.', 'secrets:') if word in text], [], name)
    for job_name, job in workflow['jobs'].items():
        where = f'{name}: {job_name}'
        writes = [what for what, how in job.get('permissions', {}).items() if how != 'read']
        has_token = bool(writes) or 'github.token' in yaml.safe_dump(job)
        (check_trusted if has_token else check_untrusted)(where, job)
        if 'uses' in job:
            expect_equal(os.path.basename(job['uses']) in os.listdir(os.path.join(ROOT, 'docs/ci')), True, job['uses'])
    expect_equal('workflow_run' in text, name == 'github-report', f'{name}: runs with the rights of the default branch')


def check_gitlab():
    jobs = load('docs/ci/gitlab.yml')
    for name, job in jobs.items():
        foreign = [line for line in job['script'] if re.search(r'\bpython3? ', line)]
        for line in foreign:
            expect_equal(line.startswith('env -i PATH="$PATH" HOME="$HOME" '), True, f'{name}: {line}')
        if foreign:
            expect_equal(any('git remote remove origin' in line for line in job['before_script']), True, name)
            expect_equal('cache' in job, False, f'{name}: a cache that code of others can change')
        for report in job['artifacts'].get('reports', {}).values():
            expect_equal(f'={report}' in ' '.join(job['script']), True, f'{report} is written')


def scripts_of(name):
    """What the jobs of a file run, a script each."""
    document = load(name)
    if 'jobs' not in document:
        return [line for job in document.values() for line in job.get('before_script', []) + job['script']]
    steps = itertools.chain(*(job.get('steps', []) for job in document['jobs'].values()))
    return [step['run'] for step in steps if 'run' in step]


def check_packages():
    """A name that no index has may be anybody's tomorrow."""
    names = ['README.md', 'action.yml', 'scripts/ci-action']
    for pattern in ('docs/**/*.md', 'docs/*.ipynb', 'docs/ci/*', 'python/**/*.py', 'packaging/*'):
        names += glob.glob(pattern, root_dir=ROOT, recursive=True)
    for name in names:
        for installed in re.findall(r'\b(?:pip|pipx) (?:install|download) ([^\n`;&)]*)', read(name)):
            words = re.split(r'[\s"\']+', re.sub(r'\s#.*', '', installed))
            ours = [word for word in words if re.match(r'tfdata[-_.]doctor([=<>~!\[@]|$)', word)]
            expect_equal(ours, [], f'{name}: installs what is not published')
    for name in ('github-gate', 'github-fix'):
        scripts = scripts_of(f'docs/ci/{name}.yml')
        expect_equal(any(re.search(r'pip install .*dist/\*\.whl', script) for script in scripts), True, name)
    for name, job in load('docs/ci/gitlab.yml').items():
        if 'tfdata-doctor-wheel' in job.get('needs', []):
            expect_equal('pip install' in job['before_script'][0] and 'wheel/*.whl' in job['before_script'][0], True, name)


def commands_of(script):
    """The calls of the program and the package: (words of the call, words after it)."""
    words = shlex.split(re.sub(r'\\\n', ' ', script), comments=True)
    for at, word in enumerate(words):
        rest = list(itertools.takewhile(lambda word: word not in ('|', '&&', '>', ';'), words[at + 1:]))
        if word == 'tfdata-doctor':
            yield ['tfdata-doctor'], rest
        elif word == 'tfdata_doctor' and words[at - 1] == '-m':
            yield [sys.executable, '-m', 'tfdata_doctor'], rest


def check_options(binary):
    """Each option of a command is one that its help has."""
    blocks = re.findall(r'^```sh\n(.*?)^```', read('docs/ci.md'), re.MULTILINE | re.DOTALL)
    scripts = list(itertools.chain(*(re.sub(r'\\\n', ' ', block).splitlines() for block in blocks)))
    for name in [f'{workflow}.yml' for workflow in WORKFLOWS] + ['gitlab.yml']:
        scripts += scripts_of(f'docs/ci/{name}')
    environment = os.environ | {'PYTHONPATH': os.path.join(ROOT, 'python'), 'TFDATA_DOCTOR': binary}
    count = 0
    for call, words in itertools.chain(*map(commands_of, scripts)):
        command = words[:1] if words[0] in (*PYTHON_COMMANDS, 'compare', 'baseline') else ['diagnose']
        if command == ['fix']:  # what follows the script is the script's
            words = list(itertools.takewhile(lambda word: not word.endswith('.py'), words))
        program = [binary] if call == ['tfdata-doctor'] else call
        done = subprocess.run(program + command + ['--help'], env=environment, capture_output=True, text=True, check=True)
        for option in [word.split('=')[0] for word in words if re.match(r'--\w', word)]:
            is_known = re.search(rf'(?<![\w-]){option}(?![\w-])', done.stdout) is not None
            expect_equal(is_known, True, f"{option} of {' '.join(call + command)}")
            count += 1
    expect_equal(count > 20, True, 'options that were looked for')


def run_script(script, folder, environment):
    return subprocess.run(['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', script], cwd=folder,
                          env=environment, capture_output=True, text=True, check=False)


def check_comparisons(binary):
    """The commands that compare, on recordings as the ones before them make them."""
    steps = {step.get('name'): step for step in load('docs/ci/github-gate.yml')['jobs']['gate']['steps']}
    gitlab = load('docs/ci/gitlab.yml')['input-pipeline-gate']
    kept = next(step for step in steps.values() if step.get('with', {}).get('name') == 'input-pipeline')
    for record, compare, written in (
            (steps['Record']['run'], steps['Compare']['run'], kept['with']['path'].split()),
            (gitlab['script'][0], gitlab['script'][1],
             gitlab['artifacts']['paths'] + list(gitlab['artifacts']['reports'].values()))):
        expect_equal('--out traces' in record, True, 'where the recordings go')
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(ROOT, 'testdata/compare/slower-decode'), os.path.join(folder, 'traces'))
            os.symlink(binary, os.path.join(folder, 'tfdata-doctor'))
            done = run_script(compare, folder, os.environ | {'PATH': f"{folder}:{os.environ['PATH']}"})
            expect_equal(done.returncode, 1, 'the gate')
            is_annotated = '--format github' in compare
            expect_equal(done.stdout.count('::error file='), 1 if is_annotated else 0, 'annotations')
            for name in written:
                expect_equal(os.path.exists(os.path.join(folder, name)), True, f'{name} is written')
            ElementTree.parse(os.path.join(folder, 'compare.svg'))


def report(folder, answer, conclusion, comment):
    """What `gh` is told to comment by the steps of github-report.yml: its arguments, and the text; none if nothing."""
    job = load('docs/ci/github-report.yml')['jobs']['report']
    write_program(os.path.join(folder, 'bin'), 'gh', '''if [[ $1 == api ]]; then printf '%s\\n' "$ANSWER"; exit; fi
printf '%s\\n' "$@" > told; cat "${@: -1}" > text''')
    os.makedirs(os.path.join(folder, 'given'))
    comment(os.path.join(folder, 'given/comment.md'))
    outputs = os.path.join(folder, 'outputs')
    environment = os.environ | {'PATH': f"{folder}/bin:{os.environ['PATH']}", 'ANSWER': answer, 'GITHUB_OUTPUT': outputs,
                                'GH_REPO': 'us/repository', 'HEAD': 'them:"; touch planted; "$(touch planted)',
                                'HEAD_COMMIT': 'a1', 'CONCLUSION': conclusion, 'RUN': 'https://host/runs/7'}
    number = ''
    for step in [step for step in job['steps'] if 'run' in step]:
        is_asked = step.get('if', '').startswith("steps.pull-request.outputs.number != '' && ")
        expect_equal(is_asked, 'NUMBER' in step.get('env', {}), 'a condition that is understood')
        if is_asked and not number:
            continue
        done = run_script(step['run'], folder, environment | {'NUMBER': number})
        if done.returncode != 0:
            return None, None
        if os.path.exists(outputs):
            number = re.fullmatch('number=(.*)\n', read(outputs))[1]
    expect_equal(os.path.exists(os.path.join(folder, 'planted')), False, 'a command of the pull request was run')
    if not os.path.exists(os.path.join(folder, 'told')):
        return None, None
    return read(os.path.join(folder, 'told')).split('\n')[:-1], read(os.path.join(folder, 'text'))


def check_report():
    """Whatever the pull request brings is text that is posted where GitHub says that it belongs."""
    text = 'one line $(touch planted) `touch planted`\n'

    def write(path):
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    posted = ['pr', 'comment', '17', '--body-file', 'given/comment.md']
    for answer, conclusion, comment, told, body in (
            ('17', 'success', write, posted, text),
            ('17', 'failure', write, posted, f'{text}\n[What the job kept](https://host/runs/7)\n'),
            ('', 'failure', write, None, None),
            ('17; touch planted', 'success', write, None, None),
            ('--repo=others/repository', 'success', write, None, None),
            ('17', 'success', lambda path: os.symlink('/proc/self/environ', path), None, None)):
        with tempfile.TemporaryDirectory() as folder:
            expect_equal(report(folder, answer, conclusion, comment), (told, body), f'{answer!r} after {conclusion}')


def check_hooks():
    hooks = {hook['id'] for hook in load('.pre-commit-hooks.yaml')}
    for repository in load('docs/ci/pre-commit.yaml')['repos']:
        expect_equal({hook['id'] for hook in repository['hooks']} - hooks, set(), 'unknown hooks')


def check_all(binary):
    for name in WORKFLOWS:
        check_rights(name)
        jobs = load(f'docs/ci/{name}.yml')['jobs']
        steps = [step for job in jobs.values() for step in job.get('steps', [])]
        check_pins(steps)
        if name == 'github':
            check_action_inputs(steps)
    listed = {f'docs/ci/{name}.yml' for name in (*WORKFLOWS, 'gitlab')}
    expect_equal(set(glob.glob('docs/ci/*.yml', root_dir=ROOT)), listed, 'the files of docs/ci')
    check_gitlab()
    check_packages()
    check_hooks()
    check_report()
    check_options(binary)
    check_comparisons(binary)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', metavar='BINARY')
    binary = os.path.abspath(parser.parse_args().binary)
    return held('docs/ci', ': no job that runs foreign code can write, and all commands run', lambda: check_all(binary))


if __name__ == '__main__':
    sys.exit(main())
