"""JSON documents of the program as dataclasses."""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Mapping
from typing import Any, TypeVar, Union

T = TypeVar("T")

#: Fields whose keys cannot be names of fields.
RENAMED = {"is_async": "async"}


def key_of(field: str) -> str:
    """The key of the document that a field holds."""
    return RENAMED.get(field, field)


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    """The types of the fields of a dataclass."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _value(hint: Any, value: Any) -> Any:
    origin = typing.get_origin(hint)
    if value is None:
        return None
    if origin is Union:
        inner = [choice for choice in typing.get_args(hint) if choice is not type(None)]
        return _value(inner[0], value) if len(inner) == 1 else value
    if origin is list:
        (item,) = typing.get_args(hint)
        return [_value(item, element) for element in value]
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return from_json(hint, value)
    return value


def from_json(kind: type[T], document: Mapping[str, Any]) -> T:
    """An object of a dataclass from a JSON object.

    Keys that the class does not have are passed over: later versions of the program may add some. A key that the
    document lacks, as one of an earlier version may, keeps the default of its field, or is None.
    """
    hints = _hints(typing.cast(Any, kind))
    values: dict[str, Any] = {
        one.name: None
        for one in dataclasses.fields(typing.cast(Any, kind))
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    }
    for name, hint in hints.items():
        if key_of(name) in document:
            values[name] = _value(hint, document[key_of(name)])
    return kind(**values)
