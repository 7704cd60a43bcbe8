"""The dataclasses of documents against docs/schemas, member by member: names, types, what may be missing or null."""

import dataclasses
import json
import typing
import unittest

from tfdata_doctor import _json
from tfdata_doctor.report import Comparison, Report, WhatIf

from . import support

SCHEMAS = support.ROOT / "docs" / "schemas"
TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "null": type(None)}


class Walk:
    """Goes through a class and its schema together, and collects where they differ."""

    def __init__(self, schema):
        self.definitions = schema.get("$defs", {})
        self.faults = []
        self.seen = set()

    def choices(self, schema):
        """The alternatives of a schema, without references."""
        if "$ref" in schema:
            return self.choices(self.definitions[schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema:
            return [choice for part in schema["anyOf"] for choice in self.choices(part)]
        kinds = schema.get("type", [])
        return [{**schema, "type": kind} for kind in ([kinds] if isinstance(kinds, str) else kinds)]

    def objects(self, kind, schema, where):
        if (kind, where) in self.seen:
            return
        self.seen.add((kind, where))
        members = schema["properties"]
        fields = {_json.key_of(field.name): field for field in dataclasses.fields(kind)}
        hints = _json._hints(kind)
        for key in sorted(members.keys() - fields.keys()):
            self.faults.append(f"{where}.{key}: {kind.__name__} has no such field")
        for key in sorted(fields.keys() - members.keys()):
            self.faults.append(f"{where}.{key}: the schema has no such key")
        for key in members.keys() & fields.keys():
            field = fields[key]
            has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
            if not has_default and key not in schema.get("required", []):
                self.faults.append(f"{where}.{key}: may be missing")
            self.values(hints[field.name], members[key], f"{where}.{key}", has_default)

    def values(self, hint, schema, where, has_default):
        choices = self.choices(schema)
        hints = typing.get_args(hint) if typing.get_origin(hint) is typing.Union else [hint]
        expected = set()
        for choice in choices:
            kind = choice["type"]
            if kind == "object":
                classes = [one for one in hints if dataclasses.is_dataclass(one)]
                if "properties" in choice and classes:
                    self.objects(classes[0], choice, where)
                    expected.add(classes[0])
                else:
                    expected.update(one for one in hints if typing.get_origin(one) is dict)
            elif kind == "array":
                lists = [one for one in hints if typing.get_origin(one) is list]
                for one in lists:
                    self.values(typing.get_args(one)[0], choice["items"], f"{where}[]", False)
                expected.update(lists)
            else:
                expected.add(TYPES[kind])
        found = set(hints)
        if has_default:  # None means a key that is not there
            found.discard(type(None))
            expected.discard(type(None))
        if found != expected or not expected:
            self.faults.append(f"{where}: {hint}, the schema says {[choice['type'] for choice in choices]}")


class SchemasTest(unittest.TestCase):
    maxDiff = None

    def test_classes_have_what_schemas_have(self):
        for kind, file in ((Report, "report-2.json"), (WhatIf, "whatif-1.json"), (Comparison, "comparison-1.json")):
            with self.subTest(file):
                schema = json.loads((SCHEMAS / file).read_text())
                walk = Walk(schema)
                walk.objects(kind, schema, kind.__name__)
                self.assertEqual(walk.faults, [])


if __name__ == "__main__":
    unittest.main()
