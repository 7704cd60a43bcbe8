"""Every JSON document that tfdata-doctor writes about the traces of testdata, for check_schemas.py."""

import glob
import importlib
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = ('pace', 'overview', 'input', 'tree', 'calls', 'timeline', 'autotune', 'hosts', 'steps', 'ops', 'kernels',
         'memory')
EXAMPLE = 'testdata/traces/seed_example1.xplane.pb'
STEADY = 'testdata/traces/sequential_interleave_tf2.21.xplane.pb'
BUSY = 'testdata/traces/sequential_map_tf2.4.trace.json.gz'
LINES = 'testdata/lines/lines_of_code_tf2.21/vm.xplane.pb.gz'
COMPARED = 'testdata/compare/slower-decode'
PARALLEL_BY_TF = 'testdata/compare/batch_and_map_swapped_default/base.xplane.pb'


def traces():
    """All trace files, and folders whose files are one run."""
    found = ['testdata/traces/tf1_steps']
    for folder in ('traces', 'lines', 'formats', 'outputs', 'field', 'rules'):
        for name in glob.glob(os.path.join(ROOT, 'testdata', folder, '**'), recursive=True):
            is_trace = re.search(r'\.(xplane\.pb|json)(\.gz)?$', name) and 'expected' not in name
            if is_trace and not re.search('kernel_stats|dataset-lines|recording|tf1_steps', name):
                found.append(os.path.relpath(name, ROOT))
    return sorted(found)


# With memory.csv beside it.
WITH_MEMORY = 'testdata/rules/memory-grows/flags/kept_elements_tf2.21.xplane.pb.gz'


def hosts_of_a_run():
    """The traces that a case of a rule about several hosts joins."""
    case = os.path.join(ROOT, 'testdata', 'rules', 'straggling-host', 'flags')
    with open(os.path.join(case, 'trace'), encoding='utf-8') as file:
        return [os.path.relpath(os.path.join(case, line), ROOT) for line in file.read().split()]


def commands():
    """The command lines that need no file of their own, without --format json."""
    for trace in traces():
        yield ['diagnose', trace]
        yield from (['show', page, trace] for page in PAGES)
        yield ['whatif', trace]
        yield ['checklist', trace]
    for trace in (EXAMPLE, STEADY, BUSY):
        yield ['whatif', '--plan', trace]
        yield ['whatif', '--fix', 'parallel_map', '--fix', 'prefetch', trace]
        yield ['whatif', '--ideal', EXAMPLE, trace]
        yield ['diagnose', '--max-input-share', '0.1', '--max-get-next-p95', '*::Nothing=100', '--forbid-rule',
               'input-bound', '--suppress', 'input-bound', trace]
    yield ['diagnose', *hosts_of_a_run()]
    yield ['diagnose', '--host', 'vm', *hosts_of_a_run()]
    yield from (['show', page, *hosts_of_a_run()] for page in PAGES)
    yield ['show', 'hosts', '--by-step', STEADY]
    yield ['show', 'memory', WITH_MEMORY]
    yield ['show', 'ops', '--by', 'type', '--with-idle', STEADY]
    yield from (['show', page, '--top', '1', trace] for page, trace in
                (('ops', STEADY), ('steps', STEADY), ('kernels', 'testdata/field/gpu_multi_worker.xplane.pb.gz')))
    for change in sorted(os.listdir(os.path.join(ROOT, 'testdata', 'compare'))):
        side = f'testdata/compare/{change}/base'
        if change not in ('README.md', 'slower-decode'):
            yield ['compare', f'{side}.xplane.pb', '--', f'testdata/compare/{change}/candidate.xplane.pb']
    yield ['compare', '--ideal', EXAMPLE, f'{COMPARED}/base', '--', f'{COMPARED}/candidate']
    yield ['compare', EXAMPLE, '--', LINES]
    yield ['compare', '--judge', 'step', f'{COMPARED}/candidate', '--', f'{COMPARED}/base']
    for rule in sorted(os.listdir(os.path.join(ROOT, 'testdata', 'rules'))):
        yield ['explain', rule]
        yield ['explain', rule, STEADY]
        yield ['explain', rule, 'testdata/field/gpu_multi_worker.xplane.pb.gz']
    yield ['rules']
    yield ['config', 'show']
    yield ['fleet', 'testdata/fleet/january.ndjson', 'testdata/fleet/february.ndjson']
    yield ['fleet', 'testdata/fleet/over_time.ndjson.gz']
    yield ['fleet', '--price', '2.5', '--top', '0', 'testdata/fleet/january.ndjson', 'testdata/fleet/february.ndjson']
    yield ['query', "select *, x'00ff' as bytes, 1 as host, 2 as host from traces", STEADY]


def lines_of_programs():
    """What the Python package writes for the program to read: stored ones, and one with all that it can say."""
    for sidecar in glob.glob(os.path.join(ROOT, 'testdata', '**', 'recording.json'), recursive=True):
        with open(sidecar, encoding='utf-8') as file:
            yield [sidecar], json.load(file)
    for sidecar in glob.glob(os.path.join(ROOT, 'testdata', '**', 'dataset-lines.json'), recursive=True):
        with open(sidecar, encoding='utf-8') as file:
            yield [os.path.relpath(sidecar, ROOT)], json.load(file)
    sys.path.insert(0, os.path.join(ROOT, 'python'))
    lines = importlib.import_module('tfdata_doctor.lines')
    frame = lines.Frame('/home/me/input.py', 33, 'make_dataset', 'dataset = tf.data.experimental.CsvDataset(files)')
    made = lines.DatasetLine('map', False, (frame,))
    page = lines.SourceLines({'decode': made}, [('CsvDataset', frame)], 'no names for datasets', '2.6.0').to_json()
    yield ['SourceLines.to_json()'], json.loads(json.dumps(page))


def facts_of_a_recording():
    """What the Python package writes beside a trace, with all that it can say."""
    sys.path.insert(0, os.path.join(ROOT, 'python'))
    facts = importlib.import_module('tfdata_doctor._machine').MachineWatch().facts()
    return {**facts, 'tensorflow': '2.21.0', 'other_load': {'before': 0.5, 'during': 1.0, 'after': 0.0},
            'steps_per_s': {'before': 12.0, 'during': 10.0}}


def history_of_versions(baseline):
    """A baseline of sixteen versions, of which the last eight take three times as long for a step."""
    versions = []
    for number in range(16):
        run = json.loads(json.dumps(baseline['runs'][0]))
        run.update(id='%016x' % number, label='v%d' % number)
        run['recording']['recorded_ns'] = 1_763_596_800_000_000_000 + number * 86_400_000_000_000
        for pipeline in run['pipelines']:
            pipeline['step']['median_ps'] *= 3 if number >= 8 else 1
        versions.append(run)
    return {**baseline, 'runs': versions}


def documents(tool, folder):
    """(the command line, the document) of each; lines of NDJSON are documents, too. `folder` is for files."""
    def run(arguments):
        done = subprocess.run([tool, *arguments], cwd=ROOT, capture_output=True, check=False)
        if done.returncode not in (0, 1, 3):
            raise RuntimeError(f'{arguments}: exit status {done.returncode}: {done.stderr.decode(errors="replace")}')
        return done.stdout

    for arguments in commands():
        dashes = arguments.index('--') if '--' in arguments else len(arguments)
        line = [*arguments[:dashes], '--format', 'json', *arguments[dashes:]]
        yield line, json.loads(run(line))

    line = ['batch', '-q', 'testdata/traces', 'testdata/lines', 'testdata/outputs', 'testdata/fuzz/xspace']
    done = subprocess.run([tool, *line], cwd=ROOT, capture_output=True, check=False)
    yield from ((line, json.loads(row)) for row in done.stdout.splitlines())
    rows = os.path.join(folder, 'rows.ndjson')
    with open(rows, 'wb') as file:
        file.write(done.stdout)
    line = ['fleet', '--price', '2.5', '--group-by', 'culprit', '--format', 'json', rows]
    yield line, json.loads(run(line))

    recorded = os.path.join(folder, 'recorded')
    os.mkdir(recorded)
    os.symlink(os.path.join(ROOT, STEADY), os.path.join(recorded, 'host.xplane.pb'))
    yield ['recording.json'], facts_of_a_recording()
    with open(os.path.join(recorded, 'recording.json'), 'w', encoding='utf-8') as file:
        json.dump(facts_of_a_recording(), file)
    baseline = os.path.join(folder, 'baseline.json')
    run(['baseline', 'add', baseline, COMPARED, EXAMPLE, LINES, PARALLEL_BY_TF,
         'testdata/traces/cut_off_tf2.4.xplane.pb', recorded])
    with open(baseline, encoding='utf-8') as file:
        stored = json.load(file)
    yield ['baseline', 'add'], stored
    history = os.path.join(folder, 'history.json')
    with open(history, 'w', encoding='utf-8') as file:
        json.dump(history_of_versions(stored), file)
    for path in (baseline, history):
        yield ['baseline', 'log'], json.loads(run(['baseline', 'log', path, '--format', 'json']))
    yield ['baseline', 'show'], json.loads(run(['baseline', 'show', baseline, '--format', 'json']))

    settings = os.path.join(folder, 'settings.toml')
    with open(settings, 'w', encoding='utf-8') as file:
        file.write('fail-on = "never"\n')
    for line in (['diagnose', '--config', settings, '--format', 'json', EXAMPLE],
                 ['compare', '--config', settings, '--format', 'json', EXAMPLE, '--', EXAMPLE]):
        yield line, json.loads(run(line))

    run_folder = os.path.join(folder, 'logs', 'plugins', 'profile', 'first')
    os.makedirs(run_folder)
    os.symlink(os.path.join(ROOT, EXAMPLE), os.path.join(run_folder, 'host.xplane.pb'))
    line = ['--list-runs', '--format', 'json', os.path.join(folder, 'logs')]
    yield line, json.loads(run(line))

    yield from lines_of_programs()
