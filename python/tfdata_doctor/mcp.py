"""python -m tfdata_doctor.mcp: the commands as tools for agents, by the Model Context Protocol.

It speaks on standard input and output; a message is a line of JSON-RPC 2.0. The tools read the files that they are
asked about and change nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Optional, TextIO

from ._commands import diagnose, explain, query, whatif
from ._program import DoctorError, run_program

#: Revisions that do not differ in what is used here; the last is offered to a client that asks for another.
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18")
#: Of an answer: an agent reads no more at once.
MOST_CHARACTERS = 60_000

INSTRUCTIONS = (
    "Reads TensorFlow profiler traces (XSpace, Chrome trace JSON, TF1 timelines, TensorBoard log directories) and says "
    "whether a job waits for its tf.data input pipeline, which transformation is to blame, and what to change. Begin "
    "with diagnose; explain says why a rule fired; whatif predicts what a change gains; query answers the rest."
)

_PATHS = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
    "description": "a trace file, a run directory or a log directory; or several files, the hosts of one run",
}


@dataclass(frozen=True)
class Tool:
    """A command; `call` gives the text of the answer and what a program may want of it."""

    description: str
    properties: Mapping[str, Any]
    required: tuple[str, ...]
    call: Callable[..., tuple[str, Optional[dict[str, Any]]]]

    def listed(self, name: str) -> dict[str, Any]:
        """As tools/list shows it."""
        schema = {
            "type": "object",
            "properties": self.properties,
            "required": self.required,
            "additionalProperties": False,
        }
        hints = {"readOnlyHint": True, "openWorldHint": False}
        return {"name": name, "description": self.description, "inputSchema": schema, "annotations": hints}


def _diagnose(paths: list[str]) -> tuple[str, dict[str, Any]]:
    report = diagnose(paths, verbose=True)
    return str(report), {key: report.raw[key] for key in ("verdict", "findings", "not_evaluated")}


def _whatif(paths: list[str], fix: Optional[list[str]] = None, plan: bool = False) -> tuple[str, dict[str, Any]]:
    predicted = whatif(paths, fix=fix, plan=plan)
    return str(predicted), {key: predicted.raw[key] for key in ("pipelines", "asked")}


def _query(sql: Optional[str] = None, paths: Optional[list[str]] = None) -> tuple[str, Optional[dict[str, Any]]]:
    if sql is None or paths is None:
        return run_program(["query", "--schema"])[1], None
    rows = list(query(sql, paths))
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows) or "no rows", None


_FIX = "KIND[:ITERATOR][,p=N|auto], such as parallel_map:Map,p=8; all are made together. Without it, every known fix"
TOOLS = {
    "diagnose": Tool(
        "Say what holds the input pipeline back: verdict, culprit, findings with evidence and advice.",
        {"paths": _PATHS},
        ("paths",),
        _diagnose,
    ),
    "whatif": Tool(
        "Predict, from a model of the pipeline, how many steps a second the job would make after fixes.",
        {
            "paths": _PATHS,
            "fix": {"type": "array", "items": {"type": "string"}, "description": _FIX},
            "plan": {"type": "boolean", "description": "list the fixes after which the model hardly waits"},
        },
        ("paths",),
        _whatif,
    ),
    "explain": Tool(
        "The page of a rule; with paths, why it fired on that trace or what kept it from firing.",
        {"rule": {"type": "string", "description": "such as sequential-map"}, "paths": {**_PATHS, "minItems": 0}},
        ("rule",),
        lambda rule, paths=(): (explain(rule, paths), None),
    ),
    "query": Tool(
        "Ask in SQL (SQLite, one statement that reads) about events, iterators, calls and findings. Without arguments: "
        "the tables and their columns.",
        {"sql": {"type": "string"}, "paths": _PATHS},
        (),
        _query,
    ),
}


class _RpcError(Exception):
    """An error of the protocol, with its code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def _call_tool(parameters: Mapping[str, Any]) -> dict[str, Any]:
    tool = TOOLS.get(parameters.get("name", ""))
    arguments = parameters.get("arguments") or {}
    if tool is None:
        raise _RpcError(-32602, f"no tool {parameters.get('name')}; there are {', '.join(TOOLS)}")
    wrong = [name for name in arguments if name not in tool.properties]
    missing = [name for name in tool.required if name not in arguments]
    if wrong or missing:
        raise _RpcError(-32602, f"unknown arguments: {wrong}; missing: {missing}")
    try:
        text, structured = tool.call(**arguments)
    except (DoctorError, TypeError) as error:
        # The agent is to read it and try something else.
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS] + f"\n... {len(text) - MOST_CHARACTERS} more characters: ask for less"
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": False}
    if structured is not None:
        result["structuredContent"] = structured
    return result


def _initialize(parameters: Mapping[str, Any]) -> dict[str, Any]:
    asked = parameters.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in REVISIONS else REVISIONS[-1],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "tfdata-doctor", "version": run_program(["--version"])[1].split()[-1]},
        "instructions": INSTRUCTIONS,
    }


_METHODS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "initialize": _initialize,
    "ping": lambda _: {},
    "tools/list": lambda _: {"tools": [tool.listed(name) for name, tool in TOOLS.items()]},
    "tools/call": _call_tool,
}


def answer(line: str) -> Optional[dict[str, Any]]:
    """The answer to a message; None to a notification, which gets none."""
    identity = None
    try:
        try:
            message = json.loads(line)
        except ValueError as error:
            raise _RpcError(-32700, f"not JSON: {error}") from None
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            raise _RpcError(-32600, "not a request of JSON-RPC 2.0")
        if "id" not in message:
            return None
        identity = message["id"]
        method = _METHODS.get(message["method"])
        if method is None:
            raise _RpcError(-32601, f"no method {message['method']}")
        return {"jsonrpc": "2.0", "id": identity, "result": method(message.get("params") or {})}
    except _RpcError as error:
        return {"jsonrpc": "2.0", "id": identity, "error": {"code": error.code, "message": str(error)}}
    except DoctorError as error:
        return {"jsonrpc": "2.0", "id": identity, "error": {"code": -32603, "message": str(error)}}


def serve(lines: TextIO, out: TextIO) -> None:
    """Answers messages until their end."""
    for line in lines:
        response = answer(line) if line.strip() else None
        if response is not None:
            print(json.dumps(response), file=out, flush=True)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
