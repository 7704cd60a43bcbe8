"""Captures from TensorFlow's own profiler server, of the version that this Python has."""

import glob
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

TOOL = os.environ['DOCTOR_TOOL']

JOB = '''
import sys, time
import tensorflow as tf

def slow(x):
    return tf.py_function(lambda value: (time.sleep(0.005), value)[1], [x], tf.int64)

tf.profiler.experimental.server.start(int(sys.argv[1]))
print('up', flush=True)
if sys.argv[2] == 'idle':
    sys.stdin.read()
for _ in tf.data.Dataset.range(1_000_000_000).map(slow).batch(4):
    pass
'''


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Job:
    """A process that trains, or does nothing, and can be traced."""

    def __init__(self, what: str) -> None:
        self.address = f'localhost:{free_port()}'
        self.process = subprocess.Popen(
            [sys.executable, '-c', JOB, self.address.split(':')[1], what],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def __enter__(self) -> 'Job':
        assert self.process.stdout.readline() == 'up\n'
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def capture(address: str, folder: str, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run([TOOL, 'capture', address, '-o', folder, *options], capture_output=True, text=True,
                          check=False)


class CaptureTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def traces(self) -> list:
        return glob.glob(os.path.join(self.folder, 'plugins', 'profile', '*', '*.xplane.pb'))

    def test_a_job_that_waits_for_its_input(self) -> None:
        with Job('busy') as job:
            ended = capture(job.address, self.folder, '--duration', '5s', '--format', 'json', '--retries', '3')
        self.assertEqual(ended.returncode, 1, ended.stderr)
        report = json.loads(ended.stdout)
        self.assertEqual(report['verdict']['status'], 'input_bound')
        self.assertIn('Map', report['verdict']['culprit']['long_name'])
        self.assertEqual(len(self.traces()), 1)
        self.assertEqual(report['trace']['files'][0]['path'], self.traces()[0])

    def test_a_job_that_does_nothing(self) -> None:
        with Job('idle') as job:
            ended = capture(job.address, self.folder, '--duration', '100ms')
        self.assertEqual(ended.returncode, 2)
        self.assertIn('nothing ran during the capture', ended.stderr)
        self.assertEqual(self.traces(), [])

    def start_endless_capture(self, address: str) -> subprocess.Popen:
        """Returns once it is running: another one says so. Of two that begin together, either may be the first."""
        until = time.monotonic() + 120
        probes = os.path.join(self.folder, 'probes')  # one that comes first gets a trace
        while time.monotonic() < until:
            running = subprocess.Popen([TOOL, 'capture', address, '-o', self.folder, '--duration', '24h'],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            while running.poll() is None and time.monotonic() < until:
                if 'another capture is running' in capture(address, probes, '--duration', '1ms').stderr:
                    return running
            running.kill()
            running.communicate()
        raise AssertionError('the capture did not begin')

    def test_one_capture_at_a_time_and_an_interrupted_one_lets_the_next_begin(self) -> None:
        with Job('busy') as job:
            first = self.start_endless_capture(job.address)
            first.send_signal(signal.SIGINT)
            first.communicate()
            second = capture(job.address, self.folder, '--duration', '1s', '--retries', '10')
        self.assertEqual(first.returncode, -signal.SIGINT)
        self.assertIn(second.returncode, (1, 3), second.stderr)  # a slow machine makes few steps
        self.assertEqual(len(self.traces()), 1)

    def test_a_job_that_ends_meanwhile(self) -> None:
        with Job('idle') as job:
            running = self.start_endless_capture(job.address)
            job.process.kill()
            errors = running.communicate()[1]
        self.assertEqual(running.returncode, 2)
        self.assertIn('the connection ended without an answer', errors)
        self.assertEqual(self.traces(), [])


if __name__ == '__main__':
    unittest.main()
