"""Reads the documents that tfdata-doctor writes for CI back with readers that are not ours (scripts/check-readers).

Every trace of testdata/traces, testdata/formats and testdata/outputs is diagnosed once, into all formats; what the
readers find is compared with the JSON report. Exits with 1 if anything differs.
"""

import argparse
import collections
import copy
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import jsonschema
import junitparser
import markdown_it

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.dirname(os.path.abspath(__file__))
FORMATS = ('json', 'sarif', 'junit', 'gitlab', 'github', 'markdown')
HOSTILE = 'testdata/outputs/hostile.trace.json'
OUR_ELEMENTS = {'h3', 'p', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'code', 'pre', 'details', 'summary', 'ul', 'li'}
LEVEL_OF_GITLAB = {'info': 'note', 'major': 'warning', 'critical': 'error'}
LEVEL_OF_COMMAND = {'notice': 'note', 'warning': 'warning', 'error': 'error'}
# SARIF2005 asks for a web page of the tool: there is none.
ACCEPTED_BY_US = {'SARIF2005'}


class Mismatch(Exception):
    """A reader found something else than the report says."""


def expect(condition, what):
    if not condition:
        raise Mismatch(what)


def expect_equal(found, expected, what):
    expect(found == expected, f'{what}: found {found!r}, expected {expected!r}')


def schema(name):
    with open(os.path.join(HERE, name), encoding='utf-8') as file:
        return json.load(file)


def traces():
    found = []
    for folder in ('testdata/traces', 'testdata/formats', 'testdata/outputs'):
        for directory, _, names in sorted(os.walk(os.path.join(ROOT, folder))):
            found += [os.path.relpath(os.path.join(directory, name), ROOT) for name in sorted(names)
                      if re.search(r'\.(pb|json|json\.gz|pb\.gz)$', name) and 'expected' not in name]
    return found


def write_documents(command, folder):
    """The text of each format, all of one run."""
    command = [*command, '-o', os.path.join(folder, 'text')]
    for name in FORMATS:
        command += ['--output', f'{name}={os.path.join(folder, name)}']
    environment = {key: value for key, value in os.environ.items() if key != 'GITHUB_STEP_SUMMARY'}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    expect(run.returncode in (0, 1, 3), f'exit status {run.returncode}: {run.stderr.decode(errors="replace")}')
    documents = {'code': run.returncode}
    for name in FORMATS:
        with open(os.path.join(folder, name), encoding='utf-8', newline='') as file:
            documents[name] = file.read()
    documents['report'] = json.loads(documents['json'])
    return documents


def visible(text):
    """Foreign text as a page shows it: control characters and marks of direction spelt out."""
    def spell(match):
        code = ord(match.group())
        return f'\\x{code:02x}' if code < 0x100 else f'\\u{code:04x}'
    return re.sub('[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]', spell, text)


def severities(report):
    return sorted((finding['rule'], finding['severity']) for finding in report['findings'])


def check_sarif(document, report):
    page = json.loads(document)
    jsonschema.validate(page, schema('github-sarif.schema.json'))
    expect_equal(len(page['runs']), 1, 'runs')
    run = page['runs'][0]
    rules = run['tool']['driver']['rules']
    results = run['results']
    for result in results:
        expect(result['ruleIndex'] < len(rules), 'ruleIndex is out of range')
        expect_equal(rules[result['ruleIndex']]['id'], result['ruleId'], 'rule at ruleIndex')
        expect(not re.search(r'(?<!\\)\]\(', result['message']['text']), 'a link in a message')
    fingerprints = [result['partialFingerprints']['primaryLocationLineHash'] for result in results]
    expect_equal(len(set(fingerprints)), len(fingerprints), 'distinct fingerprints')
    expect_equal(len({rule['id'] for rule in rules}), len(rules), 'distinct rules')
    expect_equal(sorted((result['ruleId'], result['level']) for result in results), severities(report), 'results')
    names = sorted(place['fullyQualifiedName'] for result in results
                   for place in result['locations'][0].get('logicalLocations', []))
    expect_equal(names, sorted(visible(finding['subject']) for finding in report['findings'] if finding['subject']),
                 'names')


def check_junit(document, report, code):
    text = document.encode()
    expect_equal(re.findall(b'[\x00-\x08\x0b-\x1f]', text), [], 'control characters')
    suites = junitparser.JUnitXml.fromstring(text)
    cases = [case for suite in suites for case in suite]
    kinds = collections.Counter(type(result).__name__ for case in cases for result in case.result)
    failing = [finding for finding in report['findings'] if finding['severity'] != 'note']
    expect_equal(kinds['Failure'], len(failing), 'failures')
    expect_equal(kinds['Error'], 1 if code == 3 else 0, 'errors')
    found_rules = {finding['rule'] for finding in report['findings']}
    skipped = {entry['rule'] for entry in report['not_evaluated']} - found_rules
    expect_equal(kinds['Skipped'], len(skipped), 'skipped')
    expect_equal((suites.tests, suites.failures, suites.errors), (len(cases), kinds['Failure'], kinds['Error']), 'counts')
    with_place = [case for case in cases if case._elem.get('file')]
    expect_equal(len(with_place), len(report['findings']), 'test cases of problems')
    expect_equal(len({(case.classname, case.name) for case in cases}), len(cases), 'distinct test cases')
    for finding in report['findings']:
        wanted = finding['rule'] + (f" in {visible(finding['subject'])}" if finding['subject'] else '')
        wanted = wanted.replace('\ufffe', '\ufffd')  # XML has no such character
        expect(any(case.name == wanted for case in with_place), f'no test case {wanted!r}')
    elements = {element.tag for element in xml.etree.ElementTree.fromstring(text).iter()}
    expect(elements <= {'testsuites', 'properties', 'property', 'testsuite', 'testcase', 'failure', 'error', 'skipped',
                        'system-out'},
           f'elements {elements}')


def check_gitlab(document, report):
    issues = json.loads(document)
    jsonschema.validate(issues, schema('gitlab-code-quality.schema.json'))
    expect_equal(sorted((issue['check_name'], LEVEL_OF_GITLAB[issue['severity']]) for issue in issues),
                 severities(report), 'issues')
    expect_equal(len({issue['fingerprint'] for issue in issues}), len(issues), 'distinct fingerprints')


def check_github(document, report):
    """The runner takes lines that begin with '::' after blanks, and '##[' anywhere in others."""
    lines = [line for line in re.split('[\r\n]+', document) if line]
    for line in lines:
        expect(re.match(r'::(notice|warning|error) [^\r\n]*?::', line), f'no annotation: {line!r}')
    annotations = [re.match(r'::(\w+) file=([^,]+),line=(\d+),title=([a-z-]+)', line) for line in lines[1:]]
    expect_equal(sorted((match[4], LEVEL_OF_COMMAND[match[1]]) for match in annotations), severities(report),
                 'annotations')


class Page(html.parser.HTMLParser):
    """Elements, attributes and text of HTML."""

    def __init__(self, text):
        super().__init__()
        self.elements = collections.Counter()
        self.attributes = set()
        self.words = ''
        self.cells = []
        self.is_in_cell = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements[tag] += 1
        self.attributes |= {(tag, name) for name, _ in attrs}
        if tag == 'td':
            self.cells.append('')
            self.is_in_cell = True

    def handle_endtag(self, tag):
        self.is_in_cell = self.is_in_cell and tag != 'td'

    def handle_data(self, data):
        self.words += data
        if self.is_in_cell:
            self.cells[-1] += data

    def handle_comment(self, data):
        self.elements['<!-- -->'] += 1


def html_of(document):
    parser = markdown_it.MarkdownIt('commonmark', {'html': True}).enable(['table', 'strikethrough'])
    return Page(parser.render(document))


def check_markdown(document, report):
    expect(len(document.encode()) <= 60_000, 'longer than a comment may be')
    page = html_of(document)
    expect(set(page.elements) <= OUR_ELEMENTS, f'elements {sorted(set(page.elements) - OUR_ELEMENTS)}')
    expect(page.attributes <= {('code', 'class')}, f'attributes {page.attributes}')
    count = len(report['findings'])
    expect_equal(page.elements['h3'], 1, 'headings')
    expect_equal(page.elements['tr'], count + 1 if count else 0, 'rows')
    expect_equal(page.elements['td'], 4 * count, 'cells')
    # Where a name began a new cell, the message would be pushed out of the table.
    for index, finding in enumerate(report['findings']):
        severity, rule, where, what = (cell.replace('\u2060', '') for cell in page.cells[4 * index : 4 * index + 4])
        expect_equal((severity, rule), (finding['severity'], finding['rule']), 'row')
        expect(where.startswith(visible(finding['subject'])[:100] or 'the run'), f'{where!r} in place of the subject')
        expect(what.startswith(visible(finding['message'])[:100]), f'{what!r} in place of the message')
    expect_equal(page.elements['details'], count, 'foldable sections')
    for pattern in (r'@\w', r'(?<!&)#\d', '://', r'www\.'):
        outside_code = re.sub(r'`[^`\n]*`|<code>.*?</code>', '', document)
        expect(not re.search(pattern, outside_code), f'{pattern} outside of code')
    for finding in report['findings']:
        expect(visible(finding['subject'])[:100] in page.words, f"{finding['subject']!r} is not on the page")
        expect(finding['rule'] in page.words, f"{finding['rule']} is not on the page")


def check_controls():
    """That the readers see the harm that raw names would do."""
    with open(os.path.join(ROOT, HOSTILE), encoding='utf-8') as file:
        name = next(event['args']['long_name'] for event in json.load(file)['traceEvents']
                    if 'img' in event.get('args', {}).get('long_name', ''))
    raw = html_of('where: ' + name)
    expect({'img', 'script', 'a', 'em'} <= set(raw.elements), f'the raw name is harmless in Markdown: {raw.elements}')
    try:
        junitparser.JUnitXml.fromstring(f'<testsuites><testsuite><testcase name="{name}"/></testsuite></testsuites>'.encode())
    except Exception:  # pylint: disable=broad-except
        return
    raise Mismatch('the raw name is harmless in XML')


def multitool_complaints(multitool, files):
    """Rule ids of the validator's errors and warnings. Its exit status says nothing."""
    run = subprocess.run([multitool, 'validate', '--rule-kind', 'Sarif;Gh', *files], capture_output=True, text=True,
                         check=False)
    expect(f'{len(files)} files scanned' in run.stdout, f'the validator did not work: {run.stdout}{run.stderr}')
    return [line for line in run.stdout.splitlines()
            if (match := re.search(r': (?:error|warning) ([A-Za-z]+\d+)', line)) and match[1] not in ACCEPTED_BY_US]


def check_multitool(multitool, documents, folder):
    def stored(name, text):
        path = os.path.join(folder, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    files = [stored(f'{index}.sarif', document['sarif']) for index, document in enumerate(documents)]
    complaints = multitool_complaints(multitool, files)
    expect(not complaints, 'the multitool complains:\n' + '\n'.join(complaints))
    broken = json.loads(next(document['sarif'] for document in documents if json.loads(document['sarif'])['runs'][0]['results']))
    broken = copy.deepcopy(broken)
    broken['runs'][0]['results'][0]['locations'][0]['physicalLocation']['artifactLocation']['uri'] = 'gs://bucket/a.pb'
    expect(multitool_complaints(multitool, [stored('broken.sarif', json.dumps(broken))]),
           'the multitool accepts a gs:// address')


def check_trace(binary, trace):
    with tempfile.TemporaryDirectory() as folder:
        documents = write_documents([binary, 'diagnose', trace], folder)
    report = documents['report']
    check_sarif(documents['sarif'], report)
    check_junit(documents['junit'], report, documents['code'])
    check_gitlab(documents['gitlab'], report)
    check_github(documents['github'], report)
    check_markdown(documents['markdown'], report)
    return documents


def check_comparison(binary, base, candidate):
    """The documents of a comparison: its regressions fail, what else is sure to have changed is a note."""
    with tempfile.TemporaryDirectory() as folder:
        documents = write_documents([binary, 'compare', base, '--', candidate], folder)
    report = documents['report']
    changes = [change for change in report['structure'] if change['certain']]
    rows = [row for row in report['times'] + report['pipelines'] if row['regression']]
    failing = len(rows) + sum(change['regression'] for change in changes)
    levels = ['error'] * failing + ['note'] * (len(changes) + len(rows) - failing)
    results = json.loads(documents['sarif'])['runs'][0]['results']
    jsonschema.validate(json.loads(documents['sarif']), schema('github-sarif.schema.json'))
    expect_equal([result['level'] for result in results], levels, 'results')
    fingerprints = {result['partialFingerprints']['primaryLocationLineHash'] for result in results}
    expect_equal(len(fingerprints), len(results), 'distinct fingerprints')
    cases = [case for suite in junitparser.JUnitXml.fromstring(documents['junit'].encode()) for case in suite]
    kinds = collections.Counter(type(result).__name__ for case in cases for result in case.result)
    expect_equal(kinds['Failure'], failing, 'failures')
    issues = json.loads(documents['gitlab'])
    jsonschema.validate(issues, schema('gitlab-code-quality.schema.json'))
    expect_equal(sorted(LEVEL_OF_GITLAB[issue['severity']] for issue in issues), sorted(levels), 'issues')
    lines = [line for line in re.split('[\r\n]+', documents['github']) if line]
    annotations = [re.match(r'::(\w+) file=([^,]+),line=(\d+),title=([a-z-]+)', line) for line in lines[1:]]
    expect_equal([LEVEL_OF_COMMAND[match[1]] for match in annotations], levels, 'annotations')
    page = html_of(documents['markdown'])
    expect(set(page.elements) <= OUR_ELEMENTS, f'elements {sorted(set(page.elements) - OUR_ELEMENTS)}')
    expect(report['outcome'].upper().replace('_', ' ') in page.words, 'the outcome is not on the page')
    words = page.words.replace('\u2060', '')
    for change in changes:
        expect(visible(change['message'])[:100] in words, f"{change['message']!r} is not on the page")
    return documents


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--multitool', metavar='PROGRAM', help="the executable of npm's @microsoft/sarif-multitool")
    parser.add_argument('binary', metavar='BINARY')
    options = parser.parse_args()
    binary = os.path.abspath(options.binary)
    documents = []
    names = traces()
    try:
        check_controls()
        for name in names:
            documents.append(check_trace(binary, name))
        decode = 'testdata/compare/slower-decode'
        comparisons = [check_comparison(binary, *sides) for sides in (
            (f'{decode}/base', f'{decode}/candidate'), (f'{decode}/candidate', f'{decode}/base'),
            ('testdata/traces/seed_example1.xplane.pb', HOSTILE), (HOSTILE, 'testdata/traces/seed_example1.xplane.pb'))]
        if options.multitool:
            with tempfile.TemporaryDirectory() as folder:
                check_multitool(os.path.abspath(options.multitool), documents + comparisons, folder)
    except (Mismatch, jsonschema.ValidationError) as error:
        name = names[len(documents)] if len(documents) < len(names) else 'comparisons, or all documents'
        print(f'{name}: {error}', file=sys.stderr)
        return 1
    codes = collections.Counter(document['code'] for document in documents)
    findings = sum(len(document['report']['findings']) for document in documents)
    print(f'{len(documents)} traces, {len(comparisons)} comparisons, {findings} problems read back from {len(FORMATS) - 1} formats; exit statuses '
          + ', '.join(f'{code}: {codes[code]}' for code in sorted(codes)))
    return 0 if findings > 0 else 1


if __name__ == '__main__':
    sys.exit(main())
