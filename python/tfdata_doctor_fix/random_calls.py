"""Whether the function of a map is random, as far as its file shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .edits import Place
from .source import Refused, Source
from .syntax import find_call

#: Functions that are looked into from one to the next.
_MOST_DEPTH = 4


def _functions(source: Source) -> dict[str, ast.AST]:
    named: dict[str, ast.AST] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            named[node.name] = node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    named.setdefault(target.id, node.value)
    return named


def _words(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr


def _is_random(word: str) -> bool:
    # random.uniform, random_flip_left_right, RandomRotation; a stateless op gives the same for the same seed.
    return "random" in word.lower() and not _is_stateless(word)


def _is_stateless(word: str) -> bool:
    return word.lower().startswith("stateless")


def random_name(source: Source, place: Place) -> str:
    """What makes the function of a map random: a name in it, or in the functions of the file that it uses."""
    return next((word for word in _words_of(source, place) if _is_random(word)), "")


def is_stateless(source: Source, place: Place) -> bool:
    """Whether all that is random in the function of a map, as far as the file shows, is a function of its seed."""
    words = list(_words_of(source, place))
    return any(map(_is_stateless, words)) and not any(map(_is_random, words))


def _words_of(source: Source, place: Place) -> Iterator[str]:
    """The names in the function of a map, and in those of the file that it uses."""
    try:
        call = find_call(source, place.line, place.method, place.index, place.of).node
    except Refused:
        return
    named = _functions(source)
    seen: set[str] = set()
    front: list[ast.AST] = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "map_func")]
    for _ in range(_MOST_DEPTH):
        words = [word for node in front for word in _words(node)]
        yield from words
        front = [named[word] for word in words if word in named and word not in seen]
        seen.update(words)
