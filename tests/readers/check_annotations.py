"""Reads back what `convert --annotate` adds to a Chrome trace, with a parser of its own.

Every track is named, nothing on a track overlaps in part, each arrow has one beginning and one end, forward in time and
both inside slices, and all times are those of the recorded events. The file has the same diagnosis as the trace, and
without its annotations it is what `convert` alone writes. Faults that are planted must be found. Exits with 1 if
anything differs.
"""

import collections
import copy
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LABEL = 'made by tfdata-doctor, not recorded'
TRACES = (
    'testdata/traces/seed_example1.xplane.pb',
    'testdata/traces/guide_prefetch.xplane.pb',
    'testdata/traces/parallel_map_all_cores_tf2.21.xplane.pb',
    'testdata/traces/keras_image_directory_tf2.21.xprof.trace.json.gz',
    'testdata/traces/no_tf_data_tf2.4.xplane.pb',
    'testdata/outputs/hostile.trace.json',
    'testdata/lines/lines_of_code_tf2.21/vm.xplane.pb.gz',
    'testdata/field/gpu_multi_worker.xplane.pb.gz',
)


def annotation_pids(document):
    return {event['pid'] for event in document['traceEvents']
            if event.get('name') == 'process_labels' and event.get('args', {}).get('labels') == LABEL}


def picoseconds(event, key):
    return round(event[key] * 1e6)


def overlap_faults(track, slices):
    """A slice may lie in another or after it, but not begin in it and end after it."""
    faults = []
    open_ends = []
    for start, end in sorted(slices, key=lambda span: (span[0], -span[1])):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:
            faults.append(f'track {track}: slices overlap in part at {start} ps')
        open_ends.append(end)
    return faults


def arrow_faults(arrows, slices):
    faults = []

    def is_inside(event):
        time = picoseconds(event, 'ts')
        return any(start <= time <= end for start, end in slices[event['pid'], event['tid']])

    for key, ends in arrows.items():
        phases = [event['ph'] for event in ends]
        if phases != ['s', 'f']:
            faults.append(f'arrow {key} has {phases}')
            continue
        if ends[1]['ts'] < ends[0]['ts']:
            faults.append(f'arrow {key} goes back in time')
        faults += [f'arrow {key}: its {event["ph"]} lies in no slice' for event in ends if not is_inside(event)]
    return faults


def faults_of(document):
    """What is wrong with the annotations of a document."""
    pids = annotation_pids(document)
    names = {}
    slices = collections.defaultdict(list)
    arrows = collections.defaultdict(list)
    faults = []
    for event in document['traceEvents']:
        if event['pid'] not in pids:
            continue
        track = (event['pid'], event.get('tid'))
        if event['ph'] == 'M':
            if event['name'] == 'thread_name':
                names[track] = event['args']['name']
        elif event['ph'] == 'X':
            slices[track].append((picoseconds(event, 'ts'), picoseconds(event, 'ts') + picoseconds(event, 'dur')))
        elif event['ph'] in 'sf':
            arrows[event['cat'], event['name'], event['id']].append(event)
        elif event['ph'] not in 'iC':
            faults.append(f'unknown phase {event["ph"]}')
        if event['ph'] != 'M' and event['ts'] < 0:
            faults.append(f'{event["name"]} lies before the document begins')
        if event['ph'] in 'Xi' and not names.get(track):
            faults.append(f'track {track} has no name')
    for track, spans in slices.items():
        faults += overlap_faults(track, spans)
    return faults + arrow_faults(arrows, slices)


def planted(document):
    """(what is wrong, the document with it) for one fault of each kind."""
    pids = annotation_pids(document)

    def changed(find, change):
        other = copy.deepcopy(document)
        found = [event for event in other['traceEvents'] if event['pid'] in pids and find(event)]
        change(other['traceEvents'], found)
        return other

    yield 'a track without name', changed(lambda event: event.get('name') == 'thread_name',
                                          lambda events, found: events.remove(found[0]))
    yield 'slices that overlap in part', changed(
        lambda event: event['ph'] == 'X' and event['name'] == 'waits for input',
        lambda events, found: found[0].update(dur=found[1]['ts'] - found[0]['ts'] + found[1]['dur'] / 2))
    yield 'an arrow without end', changed(lambda event: event['ph'] == 'f',
                                          lambda events, found: events.remove(found[0]))
    yield 'an arrow back in time', changed(lambda event: event['ph'] == 'f',
                                           lambda events, found: found[0].update(ts=0))
    yield 'an arrow from nowhere', changed(lambda event: event['ph'] == 's',
                                           lambda events, found: found[0].update(tid=found[0]['tid'] + 1000))


class Tool:
    def __init__(self, path, folder):
        self.path = path
        self.folder = folder

    def run(self, *arguments):
        done = subprocess.run([self.path, *arguments], cwd=ROOT, capture_output=True, check=False)
        if done.returncode not in (0, 1, 3):
            raise RuntimeError(f'{arguments}: exit status {done.returncode}: {done.stderr.decode(errors="replace")}')
        return done

    def convert(self, trace, *arguments):
        """The document, where it was written, and what was said on standard error."""
        path = os.path.join(self.folder, f'{len(os.listdir(self.folder))}.json')
        done = self.run('convert', *arguments, trace, '-o', path)
        with open(path, encoding='utf-8') as file:
            return json.load(file), path, done.stderr

    def report(self, trace):
        """The report without what it says of the file, whose name is the host's where the trace has none."""
        text = self.run('diagnose', '--format', 'json', '--fail-on', 'never', trace).stdout.decode()
        report = json.loads(text.replace(json.dumps(trace), '"FILE"').replace(os.path.basename(trace), 'FILE'))
        del report['trace']['files']
        return report


def without_annotations(document):
    pids = annotation_pids(document)
    return [event for event in document['traceEvents'] if event['pid'] not in pids]


def check_trace(tool, trace):
    faults = []
    plain, plain_path, plain_words = tool.convert(trace)
    annotated, path, words = tool.convert(trace, '--annotate')
    if without_annotations(annotated) != plain['traceEvents']:
        faults.append('recorded events differ from those without --annotate')
    if words != plain_words:
        faults.append(f'{words!r} on standard error, without --annotate {plain_words!r}')
    faults += faults_of(annotated)
    if tool.report(path) != tool.report(plain_path):
        faults.append('its diagnosis differs from that of the file without annotations')
    again, _, losses = tool.convert(path)
    if losses or len(again['traceEvents']) != len(plain['traceEvents']):
        faults.append(f'converted again it has other events: {losses!r}')
    return faults, annotated


def main():
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(os.path.abspath(sys.argv[1]), folder)
        planted_into = None
        for trace in TRACES:
            faults, annotated = check_trace(tool, trace)
            failures += [f'{trace}: {fault}' for fault in faults[:5]]
            if any(event['ph'] == 's' for event in annotated['traceEvents']):
                planted_into = planted_into or annotated
        if planted_into is None:
            failures.append('no trace has an arrow')
        else:
            failures += [f'{what} is not found' for what, document in planted(planted_into) if not faults_of(document)]
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
