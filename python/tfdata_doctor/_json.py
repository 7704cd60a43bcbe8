"""JSON documents of the program as dataclasses."""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Mapping
from typing import Any, TypeVar, Union

T = TypeVar("T")

#: Keys that cannot be names of fields.
_RENAMED = {"is_async": "async"}


def key_of(field: str) -> str:
    """The key of the document that a field holds."""
    return _RENAMED.get(field, field)


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
    document lacks keeps the default of its field.
    """
    hints = _hints(typing.cast(Any, kind))
    values = {name: _value(hint, document[key_of(name)]) for name, hint in hints.items() if key_of(name) in document}
    return kind(**values)
