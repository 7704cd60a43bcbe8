"""Tests of scripts/record with a stand-in for TensorFlow, whose traces are lists of what happened."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'scripts', 'record')

TENSORFLOW = '''
import os
happened = []

class Trace:
    def __init__(self, name, step_num, _r):
        happened.append('%s %d %d' % (name, step_num, _r))
    def __enter__(self):
        pass
    def __exit__(self, *_):
        happened.append('end')

def start(directory):
    happened.append('start')
    global folder
    folder = os.path.join(directory, 'plugins', 'profile', '2026_11_22')

def stop():
    os.makedirs(folder)
    with open(os.path.join(folder, 'host.xplane.pb'), 'w') as trace:
        trace.write(', '.join(happened))

class profiler:
    experimental = __import__('types').SimpleNamespace(Trace=Trace, start=start, stop=stop)
'''

PIPELINE = '''
import sys, tensorflow
def make_dataset():
    tensorflow.happened.append('make ' + ' '.join(sys.argv[1:]))
    while True:
        tensorflow.happened.append('element')
        yield 1
'''

IDEAL_PIPELINE = '''
import tensorflow
class Dataset:
    is_ideal = False
    def take(self, count):
        return self.after('take %d' % count)
    def cache(self):
        return self.after('cache')
    def repeat(self):
        self.is_ideal = True
        return self.after('repeat')
    def after(self, name):
        tensorflow.happened.append(name)
        return self
    def __iter__(self):
        while True:
            if self.is_ideal:
                tensorflow.happened.append('element')
            yield 1
def make_dataset():
    return Dataset()
'''

# {body} runs in the process of the second recording only.
SECOND_TIME = '''
import os, signal, sys
def make_dataset():
    mark = __file__ + '.was_here'
    if os.path.exists(mark):
        {body}
    open(mark, 'w').close()
    return iter(range(1000))
'''


class RecordTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write('modules/tensorflow.py', TENSORFLOW)
        self.write('input.py', PIPELINE)
        self.write('old.py', PIPELINE)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'w') as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def record(self, *words, modules='modules'):
        environment = {**os.environ, 'PYTHONPATH': self.path(modules), 'PYTHONDONTWRITEBYTECODE': '1'}
        return subprocess.run([sys.executable, RECORD, *words], cwd=self.folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def files(self, directory):
        return sorted(os.path.relpath(os.path.join(at, name), self.path(directory))
                      for at, _, names in os.walk(self.path(directory)) for name in names)

    def assert_no_scratch(self):
        self.assertEqual([name for at, folders, _ in os.walk(self.folder) for name in folders
                          if name.startswith('.')], [])

    def test_warms_up_then_records_steps(self):
        done = self.record('input.py', '--runs', '2', '--steps', '2', '--warmup', '1', '--out', 'out', '--', '--a', 'b')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, 'out/run_000\nout/run_001\n', ''))
        traces = ['run_000/host.xplane.pb', 'run_001/host.xplane.pb']
        self.assertEqual([name for name in self.files('out') if name.endswith('.pb')], traces)
        self.assertEqual(len(self.files('out')), 6)
        for name in traces:
            self.assertEqual(self.read('out/' + name), 'make --a b, element, start, train 0 1, element, end, '
                                                       'train 1 1, element, end')
        self.assert_no_scratch()

    def test_a_module_of_the_users_is_theirs_whatever_the_package_calls_its_own(self):
        self.write('report.py', 'NAME = "theirs"')
        self.write('input.py', 'import report, sys, tensorflow\ndef make_dataset():\n'
                   '    tensorflow.happened.append(report.NAME + " %d" % any(p.endswith("python") for p in sys.path))\n'
                   '    return iter(range(99))\n')
        done = self.record('input.py', '--runs', '1', '--steps', '1', '--warmup', '0', '--out', 'out')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(self.read('out/run_000/host.xplane.pb'), 'theirs 0, start, train 0 1, end')

    def test_the_package_has_it_as_a_command(self):
        environment = {**os.environ, 'PYTHONDONTWRITEBYTECODE': '1', 'PYTHONPATH': os.pathsep.join(
            [os.path.join(os.path.dirname(RECORD), '..', 'python'), self.path('modules')])}
        done = subprocess.run([sys.executable, '-m', 'tfdata_doctor', 'record', 'input.py', '--runs', '1', '--out', 'out'],
                              cwd=self.folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, 'out/run_000\n', ''))
        done = subprocess.run([sys.executable, '-m', 'tfdata_doctor', 'record'], cwd=self.folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)
        self.assertIn('python -m tfdata_doctor record: error: give PIPELINE.py, or both', done.stderr)

    def test_the_ideal_is_one_element_from_memory(self):
        self.write('input.py', IDEAL_PIPELINE)
        done = self.record('input.py', '--ideal', '--runs', '2', '--steps', '2', '--warmup', '0', '--out', 'out/')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(done.stdout.splitlines(),
                         ['out/run_000', 'out_ideal/run_000', 'out_ideal/run_001', 'out/run_001',
                          'tfdata-doctor whatif --ideal out_ideal out/run_000'])
        self.assertEqual(self.read('out/run_000/host.xplane.pb'), 'start, train 0 1, end, train 1 1, end')
        # The input is let go of before the recording begins, even where no steps to warm up are wanted.
        self.assertEqual(self.read('out_ideal/run_000/host.xplane.pb'),
                         'take 1, cache, repeat, element, element, '
                         'start, train 0 1, element, end, train 1 1, element, end')
        again = self.record('input.py', '--ideal', '--runs', '1', '--out', 'out', '--append')
        self.assertEqual(again.stdout.splitlines()[-1], 'tfdata-doctor whatif --ideal out_ideal out/run_002')
        self.assert_no_scratch()

    def test_the_ideal_of_two_versions_is_of_the_base(self):
        self.write('old.py', IDEAL_PIPELINE)
        done = self.record('--base', 'old.py', '--candidate', 'input.py', '--ideal', '--runs', '1', '--out', 'my out')
        self.assertEqual(done.stdout.splitlines(),
                         ['my out/base/run_000', 'my out/candidate/run_000', 'my out/ideal/run_000',
                          "tfdata-doctor compare --ideal 'my out/ideal' 'my out/base' -- 'my out/candidate'"])

    def test_what_has_no_ideal(self):
        done = self.record('input.py', '--ideal', '--runs', '1', '--out', 'out')
        self.assertEqual((done.returncode, done.stdout), (1, 'out/run_000\n'))
        self.assertIn('make_dataset() of input.py returns a generator; --ideal needs a tf.data.Dataset', done.stderr)

    def test_adds_only_when_told_to(self):
        self.record('input.py', '--runs', '1', '--out', 'out')
        refused = self.record('input.py', '--runs', '1', '--out', 'out')
        self.assertEqual((refused.returncode, refused.stdout), (2, ''))
        self.assertIn('out holds 1 recordings already; add to them with --append', refused.stderr)
        self.assertEqual(self.record('input.py', '--runs', '1', '--out', 'out', '--append').stdout, 'out/run_001\n')

    def test_does_not_mix_with_other_files(self):
        self.write('out/notes.txt', '')
        done = self.record('input.py', '--out', 'out', '--append')
        self.assertEqual(done.returncode, 2)
        self.assertIn('out holds something that is not a recording: notes.txt', done.stderr)

    def test_takes_turns(self):
        done = self.record('--base', 'old.py', '--candidate', 'input.py', '--runs', '2', '--out', 'out')
        self.assertEqual(done.stdout.split(), ['out/base/run_000', 'out/candidate/run_000',
                                               'out/candidate/run_001', 'out/base/run_001'])

    def test_each_version_has_its_own_modules(self):
        for version in ('old', 'new'):
            self.write(version + '/.git', '')
            self.write(version + '/src/input.py', 'import tensorflow, src.part\n'
                       'def make_dataset():\n    tensorflow.happened.append(src.part.NAME)\n'
                       '    return iter(range(9))\n')
            self.write(version + '/src/part.py', 'NAME = "of %s"\n' % version)
        self.record('--base', 'old/src/input.py', '--candidate', 'new/src/input.py', '--out', 'out', '--runs', '1',
                    '--steps', '1', '--warmup', '0')
        for version, side in (('old', 'base'), ('new', 'candidate')):
            self.assertEqual(self.read('out/%s/run_000/host.xplane.pb' % side),
                             'of %s, start, train 0 1, end' % version)

    def test_a_failure_is_told_and_loses_no_other_recording(self):
        self.write('input.py', SECOND_TIME.format(body='os.remove(mark); sys.exit("no data today")'))
        done = self.record('input.py', '--runs', '3', '--out', 'out')
        self.assertEqual((done.returncode, done.stdout), (1, 'out/run_000\nout/run_002\n'))
        self.assertEqual(done.stderr, 'out/run_001: recording failed with status 1:\n  no data today\n')
        self.assert_no_scratch()

    def test_an_interruption_leaves_whole_recordings(self):
        body = 'open(mark, "w").write(str(os.getpid())); os.kill(os.getppid(), signal.SIGINT); signal.pause()'
        self.write('input.py', SECOND_TIME.format(body=body))
        done = self.record('input.py', '--out', 'out')
        self.assertEqual((done.returncode, done.stdout), (130, 'out/run_000\n'))
        self.assertEqual(done.stderr, 'scripts/record: interrupted; whole recordings were kept\n')
        self.assertEqual(self.files('out'), ['run_000/host.xplane.pb', 'run_000/memory.csv', 'run_000/recording.json'])
        self.assert_no_scratch()
        with self.assertRaises(ProcessLookupError):
            os.kill(int(self.read('input.py.was_here')), signal.SIGKILL)

    def test_a_dataset_that_ends_early(self):
        self.write('input.py', 'def make_dataset():\n    return iter(range(7))\n')
        done = self.record('input.py', '--runs', '1', '--steps', '5', '--warmup', '3', '--out', 'out')
        self.assertEqual(done.returncode, 2)
        self.assertIn('the dataset ended after 7 of 8 steps; add .repeat()', done.stderr)
        self.assertFalse(os.path.exists(self.path('out')))

    def test_what_the_user_forgot(self):
        self.write('modules_without/none.py', '')
        self.write('other.py', 'import tensorflow\n')
        cases = [(['none.py'], 2, 'none.py: no such file'),
                 (['other.py', '--runs', '1'], 1, 'other.py has no function make_dataset()'),
                 ([], 2, 'give PIPELINE.py, or both'),
                 (['--base', 'old.py'], 2, 'give PIPELINE.py, or both'),
                 (['input.py', '--base', 'old.py', '--candidate', 'input.py'], 2, 'give PIPELINE.py, or both'),
                 (['input.py', '--runs', '0'], 2, '0 is not positive')]
        for words, status, message in cases:
            with self.subTest(words=words):
                done = self.record(*words)
                self.assertEqual(done.returncode, status)
                self.assertIn(message, done.stderr)

    def test_without_tensorflow(self):
        # Not even one that is installed.
        self.write('hidden/sitecustomize.py', 'import importlib.util\nfind = importlib.util.find_spec\n'
                   'importlib.util.find_spec = lambda name: None if name == "tensorflow" else find(name)\n')
        done = self.record('input.py', modules='hidden')
        self.assertEqual(done.returncode, 2)
        self.assertIn('has no TensorFlow; install it with: python3 -m pip install tensorflow-cpu', done.stderr)


# A shell starts what it runs in the background deaf to interruptions, and so are those that this starts in turn.
signal.signal(signal.SIGINT, signal.default_int_handler)

if __name__ == '__main__':
    unittest.main()
