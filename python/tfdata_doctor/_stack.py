"""The calls on the stack: which of them are the user's, and which of her calls makes a dataset."""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
import threading
from dataclasses import dataclass
from types import FrameType
from typing import Any

from ._libraries import OWN_FOLDERS, Libraries

_MOST_FRAMES = 20


# What stands between the user's call and the function that she called: decorators of TensorFlow and Keras, and
# Dataset.apply(), whose function makes the dataset.
_WRAPPERS = frozenset({"apply", "error_handler", "inner", "new_func", "wrapped", "wrapper"})

# What Keras makes a dataset for: the adapter that does, and what the user handed to fit.
_ADAPTERS = {"PyDatasetAdapter": "PyDataset", "KerasSequenceAdapter": "Sequence"}


@dataclass(frozen=True)
class Call:
    """A frame of the stack, whoever wrote it; what AutoGraph generated is shown as what it was made of."""

    frame: FrameType
    file: str
    line: int
    function: str
    is_library: bool
    is_generated: bool


class Stack:
    """Knows the user's files from those of libraries, and AutoGraph's from both."""

    def __init__(self, tf_stack: Any) -> None:
        self._tf_stack = tf_stack
        self._libraries = Libraries()

    def calls(self, frame: FrameType | None) -> list[Call]:
        """Innermost first."""
        calls = []
        generated: dict[tuple[str, int], tuple[str, int, str]] | None = None
        while frame is not None:
            file, line, function = frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
            is_generated = os.path.basename(file).startswith("__autograph_generated_file")
            if is_generated:
                if generated is None:
                    generated = self._origins_of_generated()
                # A frame whose origin is not known counts as one of a library: the call around it is the user's.
                file, line, function = generated.get((file, line), ("<frozen autograph>", line, function))
            calls.append(Call(frame, file, line, function, not self._libraries.user_path(file), is_generated))
            frame = frame.f_back
        return calls

    def _origins_of_generated(self) -> dict[tuple[str, int], tuple[str, int, str]]:
        try:
            # As TensorFlow itself finds the lines for its error messages.
            mapper = self._tf_stack._source_mapper_stacks[threading.get_ident()][-1]
            return dict(mapper.get_effective_source_map())
        except (AttributeError, IndexError, KeyError, TypeError):
            return {}


def method_of(calls: list[Call], dataset: Any) -> tuple[str, bool | None]:
    """What the user called, and whether she gave it num_parallel_calls; `calls` begins with that call's frame.

    Of a dataset that Keras made for a class of the user's it is that kind of class: "PyDataset".
    """
    for call in calls:
        adapted = _ADAPTERS.get(type(call.frame.f_locals.get("self")).__name__)
        if adapted is not None:
            return adapted, None
    for call in calls:
        name = call.function
        if name in _WRAPPERS or (name.startswith("_") and name != "__init__") or name.startswith("<"):
            continue
        # Our own Model.fit counts steps around the one that the user called.
        if os.sep + "autograph" + os.sep in call.file or call.file.startswith(OWN_FOLDERS):
            continue
        arguments = call.frame.f_locals
        if name == "__init__":
            name = type(arguments.get("self", dataset)).__name__
        given = arguments["num_parallel_calls"] is not None if "num_parallel_calls" in arguments else None
        return public_name(name), given
    return public_name(type(dataset).__name__), None


def public_name(kind: str) -> str:
    """TFRecordDataset for TFRecordDatasetV2, make_csv_dataset for make_csv_dataset_v2."""
    return re.sub(r"(V|_v)\d+$", "", kind.lstrip("_"))


def cell_of(file: str) -> str:
    """Label of the cell of a notebook that the code stands in: In[5]; empty for all else."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    describe = getattr(getattr(shell, "compile", None), "format_code_name", None)
    described = describe(file) if describe is not None else None
    if isinstance(described, tuple) and len(described) == 2 and str(described[1]).startswith("In"):
        return str(described[1]).replace(" ", "")
    return ""


def own_calls(calls: list[Call]) -> list[Call]:
    """The user's, innermost first; a lambda that AutoGraph made several functions of is one call."""
    own: list[Call] = []
    for call in calls:
        is_again = own and call.is_generated and (call.file, call.line) == (own[-1].file, own[-1].line)
        if not call.is_library and not is_again and len(own) < _MOST_FRAMES:
            own.append(call)
    return own


def line_of_call(file: str, line: int, method: str) -> int:
    """The line where the lambda or statement around `line` calls `method`; `line` itself if that is not clear.

    AutoGraph makes one line of a lambda, however many the user's has.
    """
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return line
    scopes = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Lambda, ast.stmt)) and node.lineno <= line <= (node.end_lineno or 0):
            scopes.append((isinstance(node, ast.stmt), (node.end_lineno or 0) - node.lineno, node))
    # The smallest one that calls it, and a lambda rather than the statement that it is part of.
    for _, _, scope in sorted(scopes, key=lambda entry: entry[:2]):
        lines = {
            call.func.end_lineno for call in ast.walk(scope) if isinstance(call, ast.Call) and _is_call_of(call, method)
        }
        if lines:
            return lines.pop() or line if len(lines) == 1 else line
    return line


def _is_call_of(call: ast.Call, method: str) -> bool:
    return (call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")) == method
