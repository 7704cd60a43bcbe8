"""What DuckDB makes of events and rows, beside the answers of `query`. Usage: check_warehouse.py BINARY"""

import glob
import json
import os
import subprocess
import sys
import tempfile

import duckdb

TRACES = os.path.join('testdata', 'traces')
CASES = {
    'steps of a TF1 job': sorted(glob.glob(os.path.join(TRACES, 'tf1_steps', 'timeline_*.json'))),
    'an XSpace': [os.path.join(TRACES, 'seed_example1.xplane.pb')],
    'a Chrome trace': [os.path.join(TRACES, 'fused_map_and_batch_tf2.4.trace.json.gz')],
}
TOP = """
    SELECT long_name, count(*) AS events, sum(duration_us) AS total_us, avg(duration_us) AS average_us,
           min(duration_us) AS min_us, max(duration_us) AS max_us
    FROM events WHERE long_name LIKE 'Iterator::%' GROUP BY long_name ORDER BY total_us DESC, long_name LIMIT 20"""


def run(*command, cwd=None):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=cwd).stdout


def load(binary, folder, of):
    connection = duckdb.connect()
    connection.execute("SET file_search_path = '%s'" % folder)
    connection.execute(run(binary, 'schema', '--for', 'duckdb', '--of', of))
    return connection


def is_near(left, right):
    if isinstance(left, str):
        return left == right
    return abs(left - right) <= 1e-9 * max(1, abs(left))


def check_events(binary, name, traces):
    assert traces, name
    with tempfile.TemporaryDirectory() as folder:
        run(binary, 'convert', *traces, '-o', os.path.join(folder, 'events.ndjson'))
        theirs = load(binary, folder, 'events').execute(TOP).fetchall()
    ours = [tuple(row.values()) for row in json.loads(run(binary, 'query', TOP, *traces, '--format', 'json'))['rows']]
    assert ours, name
    assert len(ours) == len(theirs), (name, len(ours), len(theirs))
    for our, their in zip(ours, theirs):
        assert all(map(is_near, our, their)), (name, our, their)
    print('%s: the same %d rows' % (name, len(ours)))


def check_rows(binary):
    traces = sorted(trace for traces in CASES.values() for trace in traces)
    sql = 'SELECT path, verdict, culprit, input_lost_us FROM traces ORDER BY path'
    with tempfile.TemporaryDirectory() as folder:
        results = os.path.join(folder, 'results.ndjson')
        run(binary, 'batch', *traces, '--exit-zero', '-o', results)
        theirs = load(binary, folder, 'rows').execute(sql).fetchall()
        ours = json.loads(run(binary, 'query', sql, results, '--format', 'json'))['rows']
    assert theirs and [tuple(row.values()) for row in ours] == theirs, (ours, theirs)
    print('rows of batch: the same %d rows' % len(theirs))


def main():
    binary = os.path.abspath(sys.argv[1])
    for name, traces in CASES.items():
        check_events(binary, name, traces)
    check_rows(binary)


if __name__ == '__main__':
    main()
