"""Where a program calls a transformation, and what its TensorFlow is called there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple, Optional, Union

from .source import Refused, Source

#: What gives a scope to names.
Scope = Union[ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef]
_SCOPES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Call(NamedTuple):
    """A call of a method, `node.func` is the attribute."""

    node: ast.Call
    func: ast.Attribute
    #: What contains it, innermost first.
    parents: tuple[ast.AST, ...]

    @property
    def receiver(self) -> ast.expr:
        """The dataset that the method is called of."""
        return self.func.value


def _walk(node: ast.AST, parents: tuple[ast.AST, ...] = ()) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    stack = [(node, parents)]
    while stack:
        node, parents = stack.pop()
        yield node, parents
        inner = (node, *parents)
        stack += [(child, inner) for child in ast.iter_child_nodes(node)]


def nodes_with_parents(source: Source) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """Every node of the file, and what contains it, innermost first."""
    return _walk(source.tree)


def _calls_of(source: Source, method: str) -> list[Call]:
    """In the order in which Python makes the calls of one chain: the receiver's come first."""
    calls = [
        Call(node, node.func, parents)
        for node, parents in nodes_with_parents(source)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method
    ]
    return sorted(calls, key=lambda call: source.end(call.func))


def _is_chain(calls: list[Call]) -> bool:
    """Whether each is part of the chain that the next one continues."""
    for before, after in zip(calls, calls[1:]):
        inner: ast.expr = after.receiver
        while inner is not before.node:
            if isinstance(inner, ast.Call):
                inner = inner.func
            elif isinstance(inner, ast.Attribute):
                inner = inner.value
            else:
                return False
    return True


def find_call(source: Source, line: int, method: str, index: int = 0, of: int = 1) -> Call:
    """The call of `method` that Python reports for `line`; where there are several, number `index` of `of`.

    Python 3.11 and later report the line of the method's name, earlier ones that where the chain begins. Raises Refused
    where it is not clear which call is meant.
    """
    calls = _calls_of(source, method)
    found = [call for call in calls if call.func.end_lineno == line]
    if not found:
        found = [call for call in calls if call.node.lineno <= line <= (call.node.end_lineno or 0)]
    if not found:
        raise Refused(f"line {line} has no .{method}() that can be changed")
    if len(found) == 1:
        return found[0]
    # A function that a line calls several times makes its whole chain each time.
    if of % len(found) == 0 and _is_chain(found):
        return found[index % len(found)]
    raise Refused(f"line {line} makes several datasets with .{method}()")


def find_function_call(source: Source, line: int, name: str) -> ast.Call:
    """The call of a function or class of this name that Python reports for `line`. Raises Refused."""
    found = []
    for node, _ in nodes_with_parents(source):
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or 0):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == name:
                found.append(node)
    if len(found) == 1:
        return found[0]
    if found:
        raise Refused(f"line {line} makes several datasets with {name}()")
    raise Refused(f"line {line} has no {name}() that can be changed")


def scopes_of(parents: tuple[ast.AST, ...]) -> list[Scope]:
    """The scopes whose names a place sees, innermost first. A method does not see the names of its class."""
    scopes = [node for node in parents if isinstance(node, _SCOPES)]
    return [scope for number, scope in enumerate(scopes) if number == 0 or not isinstance(scope, ast.ClassDef)]


def _own_nodes(scope: Scope) -> Iterator[ast.AST]:
    """The nodes of a scope without those of the scopes in it."""
    stack = list(ast.iter_child_nodes(scope))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _SCOPES):
            stack += ast.iter_child_nodes(node)


def _parameters(scope: Scope) -> set[str]:
    if not isinstance(scope, _FUNCTIONS):
        return set()
    spec = scope.args
    named = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]
    return {argument.arg for argument in named if argument is not None}


def bound_names(scope: Scope) -> set[str]:
    """Names that a scope gives a value, imports apart."""
    names = _parameters(scope)
    for node in _own_nodes(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
    return names


def _tensorflow_data(node: ast.AST) -> dict[str, str]:
    """What an import statement lets a program say: the name that it binds, and the expression for tf.data."""
    found = {}
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name in ("tensorflow", "tensorflow.compat.v2") and alias.asname:
                found[alias.asname] = f"{alias.asname}.data"
            elif alias.name == "tensorflow.data" and alias.asname:
                found[alias.asname] = alias.asname
            elif alias.name.split(".")[0] == "tensorflow" and not alias.asname:
                found["tensorflow"] = "tensorflow.data"
    elif isinstance(node, ast.ImportFrom) and node.level == 0:
        for alias in node.names:
            name = alias.asname or alias.name
            if node.module == "tensorflow" and alias.name == "data":
                found[name] = name
            elif node.module in ("tensorflow", "tensorflow.compat") and alias.name == "v2":
                found[name] = f"{name}.data"
    return found


def _autotune_names(node: ast.AST) -> list[str]:
    """Names that a statement makes AUTOTUNE: an import, or AUTOTUNE = tf.data.AUTOTUNE."""
    if isinstance(node, ast.ImportFrom) and node.module in ("tensorflow.data", "tensorflow.data.experimental"):
        return [alias.asname or alias.name for alias in node.names if alias.name == "AUTOTUNE"]
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) and node.value.attr == "AUTOTUNE":
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def _is_guarded(scope: Scope, statement: ast.AST) -> bool:
    """Whether an import is only there for type checkers."""
    for node in _own_nodes(scope):
        if isinstance(node, ast.If):
            test = node.test.attr if isinstance(node.test, ast.Attribute) else getattr(node.test, "id", "")
            if test == "TYPE_CHECKING" and any(inner is statement for inner in ast.walk(node)):
                return True
    return False


def _said(parents: tuple[ast.AST, ...], line: int, of_constant: bool) -> Optional[str]:
    """How a place can say tf.data.AUTOTUNE: by a name that has the value, or through the module."""
    shadowed: set[str] = set()
    is_called_later = False
    for scope in scopes_of(parents):
        expressions: dict[str, str] = {}
        names: set[str] = set()
        for node in _own_nodes(scope):
            # What stands below has not been executed, but for what a function finds around it.
            is_before = is_called_later or getattr(node, "lineno", 0) < line
            if not is_before or not isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign)):
                continue
            if _is_guarded(scope, node):
                continue
            if of_constant:
                found = _autotune_names(node)
                names.update(found)
                expressions.update({name: name for name in found})
            else:
                expressions.update({name: f"{said}.AUTOTUNE" for name, said in _tensorflow_data(node).items()})
        bound = bound_names(scope) - names
        for name, expression in sorted(expressions.items(), key=lambda entry: (len(entry[1]), entry)):
            if name not in shadowed | bound:
                return expression
        shadowed |= bound | names
        is_called_later = is_called_later or isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef))
    return None


def autotune_at(parents: tuple[ast.AST, ...], line: int) -> str:
    """The expression for tf.data.AUTOTUNE where these contain it; its value where TensorFlow has no name there."""
    return _said(parents, line, True) or _said(parents, line, False) or "-1"
