"""Holds docs/schemas against every JSON document that tfdata-doctor writes about the traces of testdata.

A document may have no key that its schema lacks, and no schema may have a key that no document has, but for those of
UNSEEN. Needs nothing but Python; with --jsonschema the library of that name judges the schemas and documents, too.
Exits with 1 if anything differs.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import written_documents

ROOT = written_documents.ROOT
FOLDER = os.path.join(ROOT, 'docs', 'schemas')
ANNOTATIONS = {'$schema', '$id', '$defs', 'title', 'description', 'format'}

# Keys that no document about a trace of testdata has.
UNSEEN = {
    'tfdata-doctor.autotune/1': {'history_limit_bytes'},  # none is that large
    'tfdata-doctor.baseline/1': {'runs.iterators.user_name'},
    # None is of a device without streams, or input-bound beside a device that was not recorded: tests/tpu_test.cpp.
    'tfdata-doctor.ops/1': {'op.bytes_accessed', 'op.flops', 'op.framework_op', 'op.source'},
    'tfdata-doctor.overview/1': {
        'op.bytes_accessed', 'op.flops', 'op.framework_op', 'op.source', 'overview.breakdown_ms.copy_wait'
    },
    'tfdata-doctor.report/2': {
        'device_activity.copy_wait_us', 'device_activity.infeed_us', 'device_activity.outfeed_us',
        'pipeline.confidence.device', 'trace.source_lines_faults'
    },
    'tfdata-doctor.steps/1': {'rows.copy_wait_us'},
    # None has two pipelines on the thread of one loop: tests/timeline_test.cpp.
    'tfdata-doctor.timeline/1': {
        'pipelines.windows.other_calls', 'pipelines.windows.other_calls.duration_us',
        'pipelines.windows.other_calls.pipeline', 'pipelines.windows.other_calls.start_us'
    },
    'tfdata-doctor.tree/2': {'pipeline.confidence.device'},
}


def is_of_type(name, value):
    if name == 'number':
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == 'integer':
        return is_of_type('number', value) and value == int(value)
    return isinstance(value, {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'null': type(None)}[name])

# Documents of earlier versions, which are read and no longer written.
ONLY_READ = {'tfdata-doctor.row/1'}


class Validator:
    """JSON Schema as far as docs/schemas uses it. Unlike the standard's, an object may have no key that is not named,
    unless the schema says what others are like."""

    def __init__(self, schema):
        self.root = schema
        self.seen = []  # the schemas of keys that documents had

    def faults(self, value):
        return self._check(self.root, value, '')

    def unseen(self):
        """Paths of keys that no document had: 'finding.message'."""
        seen = {id(schema) for schema in self.seen}
        paths = []

        def walk(schema, path):
            if not isinstance(schema, dict):
                return
            for key, part in schema.get('properties', {}).items():
                inner = f'{path}.{key}' if path else key
                if id(part) not in seen:
                    paths.append(inner)
                walk(part, inner)
            for part in [schema.get('items'), schema.get('additionalProperties'), *schema.get('anyOf', [])]:
                walk(part, path)

        for name, definition in [('', self.root), *self.root.get('$defs', {}).items()]:
            walk(definition, name)
        return paths

    def _check(self, schema, value, path):
        if schema is False:
            return [f'{path}: may not be there']
        faults = []
        for keyword, rule in schema.items():
            if keyword not in ANNOTATIONS:
                faults += getattr(self, '_' + keyword.lstrip('$'))(rule, value, path, schema)
        return faults

    def _ref(self, rule, value, path, _):
        return self._check(self.root['$defs'][re.fullmatch(r'#/\$defs/(\w+)', rule)[1]], value, path)

    def _anyOf(self, rule, value, path, _):  # pylint: disable=invalid-name
        before = len(self.seen)
        attempts = []
        for alternative in rule:
            attempts.append(self._check(alternative, value, path))
            if not attempts[-1]:
                return []
            del self.seen[before:]
        return min(attempts, key=len)

    def _type(self, rule, value, path, _):
        names = rule if isinstance(rule, list) else [rule]
        fits = any(is_of_type(name, value) for name in names)
        return [] if fits else [f'{path}: {value!r} is not of type {" or ".join(names)}']

    def _const(self, rule, value, path, _):
        return [] if value == rule else [f'{path}: {value!r} is not {rule!r}']

    def _enum(self, rule, value, path, _):
        return [] if value in rule else [f'{path}: {value!r} is not one of {rule}']

    def _required(self, rule, value, path, _):
        missing = [key for key in rule if key not in value] if isinstance(value, dict) else []
        return [f'{path}: has no key {key!r}' for key in missing]

    def _properties(self, rule, value, path, schema):
        if not isinstance(value, dict):
            return []
        faults = []
        for key, part in value.items():
            if key in rule:
                self.seen.append(rule[key])
                faults += self._check(rule[key], part, f'{path}.{key}')
            elif 'additionalProperties' not in schema:
                faults.append(f'{path}: the schema has no key {key!r}')
        return faults

    def _additionalProperties(self, rule, value, path, schema):  # pylint: disable=invalid-name
        others = set(value) - set(schema.get('properties', {})) if isinstance(value, dict) else set()
        return [fault for key in sorted(others) for fault in self._check(rule, value[key], f'{path}.{key}')]

    def _prefixItems(self, rule, value, path, _):  # pylint: disable=invalid-name
        if not isinstance(value, list):
            return []
        return [fault for index, part in enumerate(rule[:len(value)])
                for fault in self._check(part, value[index], f'{path}[{index}]')]

    def _items(self, rule, value, path, schema):
        if not isinstance(value, list):
            return []
        first = len(schema.get('prefixItems', []))
        return [fault for index, part in enumerate(value[first:], first)
                for fault in self._check(rule, part, f'{path}[{index}]')]


def read_schemas():
    """'tfdata-doctor.report/2' -> its schema."""
    schemas = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, '*.json'))):
        with open(path, encoding='utf-8') as file:
            schema = json.load(file)
        schemas[schema['title']] = schema
    return schemas


def documents_of_the_source():
    """The names of all documents that the code writes."""
    names = set()
    for folder in ('lib', 'apps'):
        for path in glob.glob(os.path.join(ROOT, folder, '**', '*.*'), recursive=True):
            with open(path, encoding='utf-8') as file:
                names.update(re.findall(r'"(tfdata-doctor\.[a-z]+/\d+)"', file.read()))
    return names


def check_keys(schemas):
    """That the report and its pages name the keys of documents by the constants that are generated from the schemas
    (text/document_keys.h), where a misspelt one does not compile."""
    text = ''.join(json.dumps(schema) for schema in schemas.values())
    keys = set(re.findall(r'"([a-z][a-z0-9_]*)": {', text))
    reads = r'(?:text_of|number_of|known_number|is_true|list_of|find_value|time_of)'
    spelt = re.compile(r'(?<!thresholds)\["(\w+)"\]|\b' + reads + r'\((?:[^()"]|\([^()"]*\))*, "(\w+)"[,)]|'
                       r'\bpage\.add(?:_array)?\("(\w+)"')
    faults = []
    for path in sorted(glob.glob(os.path.join(ROOT, 'lib', 'report', '**', '*.cpp'), recursive=True)):
        if os.path.basename(path) in ('sarif.cpp', 'code_hosts.cpp'):  # the documents of others
            continue
        with open(path, encoding='utf-8') as file:
            found = [next(filter(None, groups)) for groups in spelt.findall(file.read())]
        found = [key for key in found if key not in ('allocators_left_out', 'stretches_left_out')]  # of a page's copy alone
        faults += [f'{os.path.relpath(path, ROOT)}: "{key}" in place of key::{key}' if key in keys else
                   f'{os.path.relpath(path, ROOT)}: no schema has the key "{key}"' for key in found]
    return faults


def check_files(schemas, tool):
    """That each file is what its name says, and that what several schemas define is the same in all of them."""
    faults = []
    definitions = {}
    for title, schema in schemas.items():
        name, version = re.fullmatch(r'tfdata-doctor\.([a-z]+)/(\d+)', title).groups()
        expected = {'$id': f'urn:tfdata-doctor:{name}:{version}', '$schema': 'https://json-schema.org/draft/2020-12/schema'}
        faults += [f'{title}: {key} is not {value}' for key, value in expected.items() if schema.get(key) != value]
        path = os.path.join(FOLDER, f'{name}-{version}.json')
        with open(path, 'rb') as file:
            printed = subprocess.run([tool, 'schema', name], capture_output=True, check=False).stdout
            if printed != file.read():
                faults.append(f"{title}: 'tfdata-doctor schema {name}' does not print {os.path.relpath(path, ROOT)}")
        for key, definition in schema.get('$defs', {}).items():
            if definitions.setdefault(key, definition) != definition:
                faults.append(f'{title}: defines {key!r} otherwise than another schema')
    faults += [f'{title}: has no schema in docs/schemas' for title in documents_of_the_source() - set(schemas) - ONLY_READ]
    faults += [f'{title}: nothing writes it' for title in set(schemas) - documents_of_the_source()]
    return faults


def check_documents(schemas, documents):
    """That every document fits its schema, and that every key of a schema is in a document or in UNSEEN."""
    validators = {title: Validator(schema) for title, schema in schemas.items()}
    faults = []
    for line, document in documents:
        validator = validators.get(document['schema'])
        found = validator.faults(document) if validator else ['has no schema']
        faults += [f'{" ".join(line)}: {document["schema"]}{fault}' for fault in found[:3]]
    for title, validator in validators.items():
        unseen = set(validator.unseen())
        accepted = UNSEEN.get(title, set())
        faults += [f'{title}: no document has {path!r}; remove it, or add a trace' for path in sorted(unseen - accepted)]
        faults += [f'{title}: {path!r} is in UNSEEN, but a document has it' for path in sorted(accepted - unseen)]
    return faults


def check_with_library(schemas, documents):
    """The same with a validator that is not ours, which lets objects have more keys."""
    import jsonschema  # pylint: disable=import-outside-toplevel

    reader = jsonschema.Draft202012Validator
    for schema in schemas.values():
        reader.check_schema(schema)
    readers = {title: reader(schema) for title, schema in schemas.items()}
    # It takes seconds for a large document, so it gets some of each kind.
    counts = dict.fromkeys(schemas, 0)
    faults = []
    for line, document in documents:
        counts[document['schema']] += 1
        if counts[document['schema']] <= 3:
            found = readers[document['schema']].iter_errors(document)
            faults += [f'{" ".join(line)}: {fault.json_path}: {fault.message}' for fault in found]
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--jsonschema', action='store_true', help='let the library jsonschema judge, too')
    parser.add_argument('tool', help='the program tfdata-doctor')
    arguments = parser.parse_args()
    tool = os.path.abspath(arguments.tool)
    schemas = read_schemas()
    with tempfile.TemporaryDirectory() as folder:
        documents = list(written_documents.documents(tool, folder))
    faults = check_keys(schemas) + check_files(schemas, tool) + check_documents(schemas, documents)
    if arguments.jsonschema:
        faults += check_with_library(schemas, documents)
    # One cause makes many: the first few say what it is.
    for fault in faults[:40]:
        print(fault)
    print(f'{len(schemas)} schemas, {len(documents)} documents, {len(faults)} faults')
    return 1 if faults or not documents else 0


if __name__ == '__main__':
    sys.exit(main())
