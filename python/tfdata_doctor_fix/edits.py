"""The changes of a source that fixes are, a function each. All of them refuse what they cannot do safely."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Optional, Union

from .iterators import hoisted_iterator
from .orders import moved_order
from .source import Refused, Source, Splice
from .splices import (
    after,
    after_call,
    has_stars,
    insert,
    is_in_brackets,
    keyword,
    merged,
    parentheses,
    with_argument,
    with_value,
)
from .syntax import Call, autotune_at, find_call, find_function_call, nodes_with_parents

#: Arguments by position that mean the number of calls; None: only by name.
_POSITION_OF_CALLS = {"map": 1, "interleave": 3, "batch": 2}
#: Maps of the elements that are not random in the dataset itself: AUTOTUNE may be given as a number to each.
_TAKES_CALLS = frozenset({"map", "interleave", "batch", "padded_batch"})

#: What is left of a predicate that a parallel map calls.
_READS_MAP = "lambda element, is_kept: is_kept"


@dataclass(frozen=True)
class Place:
    """A call that made a dataset: of several of one method in a line, number `index` of `of`."""

    line: int
    method: str
    index: int = 0
    of: int = 1


@dataclass(frozen=True)
class Edit:
    """What is done to a place. `kind` is a key of EDITS; `number`: of calls, threads or elements, None for AUTOTUNE."""

    kind: str
    place: Place
    number: Optional[int] = None
    cycle_length: Optional[int] = None


def _calls(call: Call, edit: Edit) -> str:
    return str(edit.number) if edit.number is not None else autotune_at(call.parents, edit.place.line)


def _find(source: Source, place: Place) -> Call:
    return find_call(source, place.line, place.method, place.index, place.of)


def _parallel(source: Source, edit: Edit) -> list[Splice]:
    call = _find(source, edit.place)
    if edit.place.method not in _TAKES_CALLS:
        raise Refused(f".{edit.place.method}() takes no num_parallel_calls")
    position = _POSITION_OF_CALLS.get(edit.place.method)
    return [with_value(source, call.node, "num_parallel_calls", _calls(call, edit), position)]


def _interleave(source: Source, edit: Edit) -> list[Splice]:
    """Sequential interleave or flat_map: several files are read at once."""
    call = _find(source, edit.place)
    splices = []
    if edit.place.method == "flat_map":
        name = source.end(call.func)
        splices.append(Splice(name - len("flat_map"), b"flat_map", b"interleave"))
    elif edit.place.method != "interleave":
        raise Refused(f".{edit.place.method}() is neither interleave nor flat_map")
    calls = _calls(call, edit)
    if edit.cycle_length is not None:
        says_cycle = keyword(call.node, "cycle_length") is not None
        says_calls = keyword(call.node, "num_parallel_calls") is not None
        if says_cycle and edit.number is not None:
            splices.append(with_value(source, call.node, "cycle_length", str(edit.cycle_length)))
        elif not (says_cycle or says_calls or len(call.node.args) > 1 or has_stars(call.node)):
            # TF's own choice is as many datasets as cores for a sequential interleave, but a third for a parallel one.
            arguments = f"cycle_length={edit.cycle_length}, num_parallel_calls={calls}"
            return [*splices, with_argument(source, call.node, arguments)]
    return [*splices, with_value(source, call.node, "num_parallel_calls", calls, 3)]


def _prefetch(source: Source, edit: Edit) -> list[Splice]:
    size = None if edit.number is None else str(edit.number)
    return _one_more(source, edit.place, lambda autotune: f".prefetch({size or autotune})")


def _prefetch_below(source: Source, edit: Edit) -> list[Splice]:
    call = _find(source, edit.place)
    return [_before(source, call, f".prefetch({autotune_at(call.parents, edit.place.line)})")]


def _cache(source: Source, edit: Edit) -> list[Splice]:
    return _one_more(source, edit.place, lambda _: ".cache()")


def _cache_shuffle(source: Source, edit: Edit) -> list[Splice]:
    """A cache, and a shuffle of all that it keeps: how many elements these are is known once somebody has counted."""
    return _one_more(source, edit.place, lambda _: f".cache().shuffle({edit.number or 1})")


def _cache_below(source: Source, edit: Edit) -> list[Splice]:
    """What is about order and stands before some maps goes after them, with a cache between."""
    call = _find(source, edit.place)
    removed, links = moved_order(source, call)
    return [removed, after_call(source, call, f".cache(){links}")]


def _one_more(source: Source, place: Place, text: Callable[[str], str]) -> list[Splice]:
    """A call after the one that made the dataset, which may also be a function or a class."""
    try:
        call = _find(source, place)
    except Refused as refused:
        try:
            node = find_function_call(source, place.line, place.method)
        except Refused:
            raise refused from None
        return [after(source, node, None, text(autotune_at((source.tree,), place.line)))]
    return [after_call(source, call, text(autotune_at(call.parents, place.line)))]


def call_at(source: Source, place: Place) -> tuple[ast.Call, tuple[ast.AST, ...]]:
    """The call that made a dataset, of a method or of a helper, and what contains it. Raises Refused."""
    try:
        found = _find(source, place)
    except Refused:
        node = find_function_call(source, place.line, place.method)
        return node, next(parents for one, parents in nodes_with_parents(source) if one is node)
    return found.node, found.parents


def lines_of_call(source: Source, place: Place) -> range:
    """The lines of the call that made a dataset, and the next one, where a longer chain may go on. Raises Refused."""
    node, _ = call_at(source, place)
    return range(node.lineno, (node.end_lineno or node.lineno) + 2)


def _before(source: Source, call: Call, text: str) -> Splice:
    """One more call of a method in the chain, right before this one."""
    receiver = call.receiver
    func = receiver.func if isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Attribute) else None
    dot = max(start for start, _, _, word in source.tokens if word == "." and start < source.end(call.func))
    # The receiver may stand in parentheses, which are not part of the node.
    closed = [end for start, end, _, word in source.tokens if word == ")" and source.end(receiver) <= start < dot]
    if closed:
        return insert(closed[-1], text)
    own_line = not source.text[source.line_start(dot) : dot].strip()
    if own_line and func is None and is_in_brackets(source, dot):
        return insert(dot, f"{text}{source.line_end.decode()}{source.indent(dot).decode()}")
    return after(source, receiver, func, text)


def _link(source: Source, call: Call) -> tuple[int, int]:
    """Where ".map(f)" begins and ends, in a chain."""
    dot = max(start for start, _, _, word in source.tokens if word == "." and start < source.end(call.func))
    return dot, source.end(call.node)


def _swap_with_receiver(source: Source, edit: Edit) -> list[Splice]:
    """The transformation before the one that it follows."""
    call = _find(source, edit.place)
    before = call.receiver
    if not isinstance(before, ast.Call) or not isinstance(before.func, ast.Attribute):
        raise Refused(f"what .{edit.place.method}() follows is not in the same chain")
    if any(source.code(argument).decode() == _READS_MAP for argument in call.node.args):
        raise Refused("it reads what the map before it says")
    first = _link(source, Call(before, before.func, call.parents))
    second = _link(source, call)
    texts = [source.text[begin:end] for begin, end in (first, second)]
    return [Splice(first[0], texts[0], texts[1]), Splice(second[0], texts[1], texts[0])]


def _swap_with_next(source: Source, edit: Edit) -> list[Splice]:
    """The transformation after the one that follows it."""
    call = _find(source, edit.place)
    above = call.parents[1] if len(call.parents) > 1 else None
    is_chain = isinstance(call.parents[0], ast.Attribute) and isinstance(above, ast.Call)
    if not is_chain or not isinstance(above, ast.Call) or above.func is not call.parents[0]:
        raise Refused(f"what follows .{edit.place.method}() is not in the same chain")
    assert isinstance(above.func, ast.Attribute)
    place = Place(above.func.end_lineno or 0, above.func.attr)
    return _swap_with_receiver(source, Edit(edit.kind, place))


def _parameters_of(source: Source, predicate: ast.expr) -> int:
    """How many arguments a function takes, which the file must show."""
    function: Optional[Union[ast.Lambda, ast.FunctionDef]] = None
    if isinstance(predicate, ast.Lambda):
        function = predicate
    elif isinstance(predicate, ast.Name):
        functions = [node for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef)]
        named = [node for node in functions if node.name == predicate.id]
        function = named[0] if len(named) == 1 else None
    if function is None:
        raise Refused("the file does not show how many arguments the predicate takes")
    spec = function.args
    if spec.vararg or spec.kwonlyargs or spec.kwarg or spec.defaults:
        raise Refused("the predicate takes arguments with defaults or *")
    return len(spec.posonlyargs) + len(spec.args)


def _parallel_filter(source: Source, edit: Edit) -> list[Splice]:
    """The predicate in a parallel map, then a filter that only looks at what it said."""
    call = _find(source, edit.place)
    if edit.place.method != "filter" or len(call.node.args) != 1 or call.node.keywords:
        raise Refused(f".{edit.place.method}() is not a filter with nothing but its predicate")
    predicate = call.node.args[0]
    count = _parameters_of(source, predicate)
    code = source.code(predicate).decode()
    if "\n" in code or "\r" in code or "#" in code:
        raise Refused("the predicate is a lambda of several lines")
    called = f"({code})" if isinstance(predicate, ast.Lambda) else code
    given = ("element", "element") if count == 1 else ("*element", "*element")
    _, end = parentheses(source, call.node)
    name = source.end(call.func) - len("filter")
    pair = f"map(lambda {given[0]}: (element, {called}({given[1]})), num_parallel_calls={_calls(call, edit)})"
    rest = f".filter({_READS_MAP}).map(lambda element, is_kept: element)"
    return [Splice(name, source.text[name : end + 1], (pair + rest).encode("utf-8"))]


def _buffer(source: Source, edit: Edit) -> list[Splice]:
    call = _find(source, edit.place)
    if edit.place.method != "prefetch":
        raise Refused(f".{edit.place.method}() has no buffer that can be set")
    return [with_value(source, call.node, "buffer_size", _calls(call, edit), 0)]


def _unordered(source: Source, edit: Edit) -> list[Splice]:
    call = _find(source, edit.place)
    if edit.place.method not in _TAKES_CALLS:
        raise Refused(f".{edit.place.method}() has no order of its own")
    return [with_value(source, call.node, "deterministic", "False")]


def _thread_pool(source: Source, edit: Edit) -> list[Splice]:
    """Options of the dataset that a statement gives a name, in statements of their own after it."""
    call = _find(source, edit.place)
    statement = next(node for node in call.parents if isinstance(node, ast.stmt))
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        raise Refused("its statement gives the dataset no name to set options of")
    target = statement.targets[0]
    end = source.end(statement)
    rest = source.text[end:].split(b"\n", 1)[0].strip()
    if not isinstance(target, ast.Name) or (rest and not rest.startswith(b"#")):
        raise Refused("its statement is not the only one of its line")
    autotune = autotune_at(call.parents, edit.place.line)
    if not autotune.endswith(".AUTOTUNE"):
        raise Refused("the file has no name for tf.data there")
    begin = source.begin(statement)
    indent = source.text[source.line_start(begin) : begin].decode()
    if indent.strip():
        raise Refused("its statement is not the only one of its line")
    options = f"{target.id}_options"
    lines = [
        f"{options} = {autotune.removesuffix('.AUTOTUNE')}.Options()",
        f"{options}.threading.private_threadpool_size = {edit.number}",
        f"{target.id} = {target.id}.with_options({options})",
    ]
    line_end = re.compile(rb"\r\n|\r|\n").search(source.text, end)
    at = line_end.start() if line_end else len(source.text)
    return [insert(at, "".join(f"{source.line_end.decode()}{indent}{line}" for line in lines))]


def _iterate_once(source: Source, edit: Edit) -> list[Splice]:
    return hoisted_iterator(source, edit.place.line)


#: How each kind of fix changes a source.
EDITS: dict[str, Callable[[Source, Edit], list[Splice]]] = {
    "parallel_map": _parallel,
    "parallel_batch": _parallel,
    "parallel_interleave": _interleave,
    "prefetch": _prefetch,
    "prefetch_below": _prefetch_below,
    "cache": _cache,
    "cache_below": _cache_below,
    "cache_shuffle": _cache_shuffle,
    "filter_first": _swap_with_receiver,
    "skip_first": _swap_with_receiver,
    "map_after": _swap_with_next,
    "parallel_filter": _parallel_filter,
    "iterate_once": _iterate_once,
    "threadpool": _thread_pool,
    "buffer": _buffer,
    "unordered": _unordered,
}


def splices_of(source: Source, edit: Edit) -> list[Splice]:
    """The changes of one edit. Raises Refused."""
    if edit.kind not in EDITS:
        raise Refused("no change of the source does this by itself")
    return EDITS[edit.kind](source, edit)


def edited(source: Source, edits: Sequence[Edit]) -> tuple[Source, list[Splice]]:
    """The source with all of these, whose places are those of `source`. Raises Refused."""
    splices = merged(splice for edit in edits for splice in splices_of(source, edit))
    return source.changed(splices), splices
