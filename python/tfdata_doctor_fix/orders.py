"""Takes what is about order, shuffle() and repeat(), away from where it stands before some maps."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Optional

from .source import Refused, Source, Splice
from .syntax import Call

_ORDERS = ("shuffle", "repeat")


def _links(node: ast.expr, methods: Sequence[str]) -> tuple[list[ast.Call], ast.expr]:
    """Calls of these methods at the end of a chain, the last first, and what comes before them."""
    found = []
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
        found.append(node)
        node = node.func.value
    return found, node


def _dot(source: Source, link: ast.Call) -> int:
    """Where a link of a chain begins."""
    return max(start for start, _, _, text in source.tokens if text == "." and start < source.end(link.func))


def moved_order(source: Source, call: Call) -> tuple[Splice, str]:
    """What takes away the shuffle() and the repeat() before a map, and the maps before it, and the text of those.

    They may be in the same chain, or in the statement before it that gives the dataset the same name. Raises Refused.
    """
    _, before = _links(call.node, ("map",))
    moved, _ = _links(before, _ORDERS)
    if moved:
        return _cut(source, moved)
    statement = _statement_before(call, before)
    if statement is None:
        raise Refused("the shuffle or the repeat() before it is neither in its chain nor in the statement before")
    moved, rest = _links(statement.value, _ORDERS)
    if not moved:
        raise Refused("the statement before it is neither a shuffle nor a repeat()")
    if not isinstance(rest, ast.Name):
        return _cut(source, moved)
    links = source.text[_dot(source, moved[-1]) : source.end(moved[0])].decode()
    return _without_line(source, statement), links


def _cut(source: Source, moved: Sequence[ast.Call]) -> tuple[Splice, str]:
    """Takes links out of their chain; where they have lines of their own, the lines too."""
    at, last = _dot(source, moved[-1]), source.end(moved[0])
    links = source.text[at:last].decode()
    line, line_end = source.line_start(at), source.line_end
    if not source.text[line:at].strip() and source.text[last : last + len(line_end)] == line_end:
        at, last = line, last + len(line_end)
    return Splice(at, source.text[at:last], b""), links


def _name_of(statement: object) -> str:
    """What a statement gives a value, if that is one name."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return ""


def _statement_before(call: Call, dataset: ast.expr) -> Optional[ast.Assign]:
    """The statement before that of a call, if it made the dataset that the call's chain begins with."""
    at = next((number for number, node in enumerate(call.parents) if isinstance(node, ast.stmt)), None)
    if at is None or not isinstance(dataset, ast.Name):
        return None
    for body in (getattr(call.parents[at + 1], name, []) for name in ("body", "orelse", "finalbody")):
        number = body.index(call.parents[at]) if isinstance(body, list) and call.parents[at] in body else 0
        if number > 0 and _name_of(body[number - 1]) == dataset.id:
            before: ast.Assign = body[number - 1]
            _, rest = _links(before.value, _ORDERS)
            is_own = not isinstance(rest, ast.Name) or rest.id == dataset.id
            return before if is_own else None
    return None


def _without_line(source: Source, statement: ast.stmt) -> Splice:
    """Takes away the lines of a statement. Raises Refused where something else is in them."""
    begin, end = source.begin(statement), source.end(statement)
    line = source.line_start(begin)
    if source.text[line:begin].strip() or source.text[end : end + len(source.line_end)] != source.line_end:
        raise Refused("the shuffle or the repeat() before it is not alone in its line")
    last = end + len(source.line_end)
    return Splice(line, source.text[line:last], b"")
