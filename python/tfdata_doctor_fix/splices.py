"""Pieces of a program's text that take the place of others: arguments, values, calls after a call."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterable
from typing import Optional, Union

from .source import Refused, Source, Splice
from .syntax import Call


def insert(at: int, text: str) -> Splice:
    """The text at a place, nothing of what is there taken away."""
    return Splice(at, b"", text.encode("utf-8"))


def _replace(source: Source, node: Union[ast.expr, ast.stmt], text: str) -> Splice:
    return Splice(source.begin(node), source.code(node), text.encode("utf-8"))


def keyword(call: ast.Call, name: str) -> Optional[ast.keyword]:
    """The argument that is given by this name."""
    return next((keyword for keyword in call.keywords if keyword.arg == name), None)


def has_stars(call: ast.Call) -> bool:
    """Whether arguments are unpacked into the call: then nobody knows which it has."""
    return any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def parentheses(source: Source, call: ast.Call) -> tuple[int, int]:
    """Where the arguments of a call begin and end: after "(", before ")"."""
    end = source.end(call) - 1
    begins = [at for at, _, _, text in source.tokens if text == "(" and source.end(call.func) <= at < end]
    return begins[0] + 1, end


def with_argument(source: Source, call: ast.Call, argument: str) -> Splice:
    """One more argument, at the end, in the way in which the others stand there."""
    begin, end = parentheses(source, call)
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not values:
        return insert(begin, argument)
    # Of a generator expression without parentheses, the node ends with the call's own.
    last = min(max(source.end(value) for value in values), end)
    rest = [entry for entry in source.tokens if last <= entry[0] < end]
    comma = next((entry for entry in rest if entry[3] == ","), None)
    closed = [entry for entry in rest if entry[3] == ")"]
    if comma is None:
        return insert(closed[-1][1] if closed else last, f", {argument}")
    is_own_line = any(entry[2] in (tokenize.NL, tokenize.NEWLINE) for entry in rest if entry[0] >= comma[1])
    if not is_own_line:
        return insert(comma[1], f" {argument},")
    # After a comment that may stand there, in a line of its own.
    after = next(entry for entry in rest if entry[0] >= comma[1] and entry[2] in (tokenize.NL, tokenize.NEWLINE))
    indent = source.indent(last).decode()
    return insert(after[0], f"{source.line_end.decode()}{indent}{argument},")


def with_value(source: Source, call: ast.Call, name: str, value: str, position: Optional[int] = None) -> Splice:
    """An argument with this value, whether it was there or not. Raises Refused."""
    if has_stars(call):
        raise Refused(f"its arguments are given by * or **, so {name} may be among them")
    given = keyword(call, name)
    argument = given.value if given is not None else None
    if argument is None and position is not None and len(call.args) > position:
        argument = call.args[position]
    if argument is None:
        return with_argument(source, call, f"{name}={value}")
    is_autotune = value == "-1" or value.endswith("AUTOTUNE")
    if source.code(argument).decode() == value or (is_autotune and _is_autotune(argument)):
        raise Refused(f"{name} is {value} already")
    return _replace(source, argument, value)


def _is_autotune(value: ast.expr) -> bool:
    name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
    return name == "AUTOTUNE" or (
        isinstance(value, ast.UnaryOp)
        and isinstance(value.op, ast.USub)
        and isinstance(value.operand, ast.Constant)
        and value.operand.value == 1
    )


def is_in_brackets(source: Source, at: int) -> bool:
    """Whether a line may end at a byte without a backslash."""
    depth = 0
    for start, _, kind, text in source.tokens:
        if start >= at:
            break
        if kind == tokenize.OP:
            depth += (text in "([{") - (text in ")]}")
    return depth > 0


def after_call(source: Source, call: Call, text: str) -> Splice:
    """One more call of a method in the chain, right after this one."""
    return after(source, call.node, call.func, text)


def after(source: Source, node: ast.expr, func: Optional[ast.Attribute], text: str) -> Splice:
    """Likewise after an expression whose last call is of `func`; on a line of its own where the chain has one each."""
    end = source.end(node)
    if func is None:
        return insert(end, text)
    dot = max(start for start, _, _, word in source.tokens if word == "." and start < source.end(func))
    is_first = not source.text[source.line_start(dot) : dot].strip()
    if not is_first or not is_in_brackets(source, dot):
        return insert(end, text)
    # A line of its own, after a comment that the line may have.
    rest = [entry for entry in source.tokens if entry[0] >= end][:2]
    if rest and rest[0][2] == tokenize.COMMENT:
        end = rest[0][1]
    return insert(end, f"{source.line_end.decode()}{source.indent(dot).decode()}{text}")


def merged(splices: Iterable[Splice]) -> list[Splice]:
    """In order; what is inserted at one place is inserted in turn. Raises Refused where two change the same text."""
    result: list[Splice] = []
    for splice in sorted(splices, key=lambda splice: splice.at):
        before = result[-1] if result else None
        if before is not None and splice.at < before.at + len(before.removed):
            raise Refused("it changes the same text as another change")
        if before is not None and splice.at == before.at and not splice.removed and not before.removed:
            result[-1] = Splice(splice.at, b"", before.inserted + splice.inserted)
        else:
            result.append(splice)
    return result
