"""Makes an iterator once that a loop makes for every step."""

from __future__ import annotations

import ast
from typing import NamedTuple, Optional, Union

from .source import Refused, Source, Splice
from .syntax import bound_names, nodes_with_parents, scopes_of

Loop = Union[ast.For, ast.While]


class _Remade(NamedTuple):
    """iter(dataset) in a loop."""

    call: ast.Call
    dataset: ast.expr
    loop: Loop
    parents: tuple[ast.AST, ...]


def _loop_around(node: ast.AST, parents: tuple[ast.AST, ...]) -> Optional[Loop]:
    """The loop whose body runs a node again and again; not one that contains the function around it."""
    inner = node
    for parent in parents:
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return None
        if isinstance(parent, (ast.For, ast.While)) and inner in parent.body:
            return parent
        inner = parent
    return None


def _remade_in(source: Source) -> list[_Remade]:
    """Every next(iter(dataset)) in a loop."""
    found = []
    for node, parents in nodes_with_parents(source):
        is_iter = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "iter"
        if not is_iter or not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            continue
        outer = parents[0]
        is_next = isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id == "next"
        loop = _loop_around(node, parents)
        if is_next and loop is not None:
            found.append(_Remade(node, node.args[0], loop, parents))
    return found


def remade_lines(source: Source) -> list[int]:
    """The lines of loops that make an iterator for every step."""
    return sorted(remade.call.lineno for remade in _remade_in(source))


def hoisted_iterator(source: Source, line: int) -> list[Splice]:
    """The iterator of the next(iter(dataset)) of `line` made before its loop, of a dataset that repeats.

    Raises Refused.
    """
    found = [remade for remade in _remade_in(source) if remade.call.lineno == line]
    if len(found) != 1:
        raise Refused(f"line {line} does not call next(iter(dataset)) once in a loop")
    (remade,) = found
    if not isinstance(remade.dataset, ast.Name):
        raise Refused("the dataset that iter() is called of has no name")
    name = remade.dataset.id
    changed = {
        node.id
        for node in ast.walk(remade.loop)
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del))
    }
    if name in changed:
        raise Refused(f"the loop gives {name} another value")
    begin = source.begin(remade.loop)
    indent = source.text[source.line_start(begin) : begin]
    if indent.strip():
        raise Refused("the loop is not at the begin of its line")
    taken: set[str] = set()
    for scope in scopes_of(remade.parents):
        taken |= bound_names(scope)
    iterator = f"{name}_iterator"
    while iterator in taken:
        iterator += "_"
    before = f"{iterator} = iter({name}.repeat())".encode() + source.line_end + indent
    return [
        Splice(begin, b"", before),
        Splice(source.begin(remade.call), source.code(remade.call), iterator.encode("utf-8")),
    ]
