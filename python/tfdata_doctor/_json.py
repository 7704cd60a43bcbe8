"""JSON objects of the program as classes: what a dataclass is, without code that is compiled when it is imported.

A dataclass compiles its methods, fifty of them in 30 ms: several times what the program takes for a small trace.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Callable, ClassVar, TypeVar

    from typing_extensions import dataclass_transform

    T = TypeVar("T", bound="JsonObject")
else:

    def dataclass_transform(**_):
        """Nothing: it is for type checkers."""
        return lambda kind: kind


#: Fields whose keys cannot be names of fields.
RENAMED = {"is_async": "async"}


def key_of(name: str) -> str:
    """The key of the document that a field holds."""
    return RENAMED.get(name, name)


class _Made:
    """The default of a field that each object has its own of."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def field(*, default_factory: Callable[[], Any]) -> Any:
    """A default, as of dataclasses.field()."""
    return _Made(default_factory)


class _DataclassFields:
    """Makes the functions of the module dataclasses work, which look for what this makes when they are first used."""

    def __get__(self, _: Any, kind: type[JsonObject]) -> dict[str, Any]:
        import dataclasses

        def default_of(name: str) -> dict[str, Any]:
            default = vars(kind).get(name, dataclasses.MISSING)
            return {"default_factory": default.make} if isinstance(default, _Made) else {"default": default}

        hints = kind.__annotations__
        fields = [(name, hints[name], dataclasses.field(**default_of(name))) for name in kind.__match_args__]
        made: dict[str, Any] = vars(dataclasses.make_dataclass(kind.__name__, fields))["__dataclass_fields__"]
        kind.__dataclass_fields__ = made
        return made


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class JsonObject:
    """An object of a document with the fields that its class declares: a frozen dataclass to all who use it."""

    __match_args__: ClassVar[tuple[str, ...]] = ()
    _inner_kinds: ClassVar[dict[str, type[JsonObject]]]
    __dataclass_fields__: ClassVar[Any] = _DataclassFields()

    def __init_subclass__(cls) -> None:
        cls.__match_args__ = tuple(cls.__annotations__)  # type: ignore[misc]

    @classmethod
    def _inner(cls) -> dict[str, type[JsonObject]]:
        """Of the fields that are an object, or a list of them: their class, which the annotation names."""
        if "_inner_kinds" not in vars(cls):
            names = vars(sys.modules[cls.__module__])
            hints = ((name, hint.removesuffix(" | None")) for name, hint in cls.__annotations__.items())
            inner = ((name, names.get(hint.removeprefix("list[").removesuffix("]"))) for name, hint in hints)
            cls._inner_kinds = {name: found for name, found in inner if isinstance(found, type)}
        return cls._inner_kinds

    def __init__(self, *values: Any, **named: Any) -> None:
        names = self.__match_args__
        given = dict(zip(names, values), **named)
        if len(given) != len(values) + len(named) or not set(given) <= set(names):
            raise TypeError(f"{type(self).__name__}() takes each of these once: {', '.join(names)}")
        missing = [name for name in names if name not in given and name not in vars(type(self))]
        if missing:
            raise TypeError(f"{type(self).__name__}() needs {', '.join(missing)}")
        self.__dict__.update((name, given[name] if name in given else self._default(name)) for name in names)

    @classmethod
    def _default(cls, name: str) -> Any:
        """Of a field; None where it has none."""
        default = vars(cls).get(name)
        return default.make() if isinstance(default, _Made) else default

    @classmethod
    def from_json(cls: type[T], document: Mapping[str, Any]) -> T:
        """The object that a JSON object describes.

        Keys that the class does not have are passed over: later versions of the program may add some. A key that the
        document lacks, as one of an earlier version may, keeps the default of its field, or is None.
        """
        made = cls.__new__(cls)
        values = made.__dict__
        for name in cls.__match_args__:
            key = RENAMED.get(name, name)
            values[name] = document[key] if key in document else cls._default(name)
        for name, kind in cls._inner().items():
            value = values[name]
            if isinstance(value, list):
                values[name] = [kind.from_json(item) for item in value]
            elif value is not None:
                values[name] = kind.from_json(value)
        return made

    def _values(self) -> tuple[Any, ...]:
        return tuple([self.__dict__[name] for name in self.__match_args__])

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.__match_args__)
        return f"{type(self).__qualname__}({values})"

    def __setattr__(self, name: str, value: Any) -> None:
        self._refuse(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        self._refuse(f"cannot delete field {name!r}")

    @staticmethod
    def _refuse(message: str) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(message)
