"""Baseline: Python's json and pandas, as in a notebook. Usage: aggregate_pandas.py FILE"""

import json
import sys
import zlib

import pandas


def self_times(threads, names, starts, durations):
    """Self time by name and by thread: duration without the parts that nested events cover. Lists in file order."""
    by_name = {}
    by_thread = {}
    open_events = {}
    for thread, name, start, duration in zip(threads, names, starts, durations):
        events = open_events.setdefault(thread, [])
        while events and events[-1][1] <= start:
            events.pop()
        end = start + duration
        own = duration
        if events:
            outer, outer_end = events[-1]
            covered = min(end, outer_end) - start
            by_name[outer] -= covered
            own -= covered
        by_name[name] = by_name.get(name, 0) + duration
        by_thread[thread] = by_thread.get(thread, 0) + own
        events.append((name, end))
    return by_name, by_thread


def picoseconds(microseconds):
    return (microseconds * 1e6 + 0.5).astype('int64')


def checksum(lines):
    return zlib.crc32(''.join(lines).encode())


def main(path):
    with open(path, encoding='utf-8') as file:
        document = json.load(file)
    rows = [(event['pid'], event['tid'], event['name'], event['ts'], event['dur'])
            for event in document['traceEvents'] if event.get('ph') == 'X']
    events = pandas.DataFrame(rows, columns=['process', 'thread', 'name', 'start', 'duration'])
    events['start'] = picoseconds(events['start'])
    events['duration'] = picoseconds(events['duration'])

    totals = events.groupby('name')['duration'].agg(['count', 'sum', 'min', 'max']).sort_index()
    by_name, by_thread = self_times(list(zip(events['process'].tolist(), events['thread'].tolist())),
                                    events['name'].tolist(), events['start'].tolist(), events['duration'].tolist())
    out_of_order = events.groupby(['process', 'thread'])['start'].diff() < 0
    print(json.dumps({
        'events': len(events),
        'names': len(totals),
        'threads': len(by_thread),
        'out_of_order': int(out_of_order.sum()),
        'duration_ps': int(events['duration'].sum()),
        'self_ps': sum(by_name.values()),
        'durations_checksum': checksum('%s\t%d\t%d\t%d\t%d\n' % row for row in totals.itertuples()),
        'self_checksum': checksum(['%s\t%d\n' % item for item in sorted(by_name.items())] +
                                  ['%d\t%d\t%d\n' % (*key, own) for key, own in sorted(by_thread.items())]),
    }))


if __name__ == '__main__':
    main(sys.argv[1])
