"""Naughty strings, ours and a list: as names of all that is in a trace, of files, in rows and on command lines."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

from cases import Case, Cases, Settings
from runs import Run, run
from traces import Event, Process, Thread, call, chrome_trace, waiting_pipeline, xspace

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAIN_TRACE = ROOT / "testdata" / "traces" / "guide_naive.xplane.pb"
STRINGS_A_TRACE = 25
LONGEST_FILE_NAME = 200
OURS = [
    *(f"a{control}b" for control in "\x00\x01\x07\x08\t\n\x0b\x0c\r\x1b\x7f\x80\x85\x9b\x9f"),
    "\x1b[5mblinks", "\x1b]0;title\x07", "\x1b]8;;https://evil.example\x07a link\x1b]8;;\x07", "\x9b5m", "\r\x1b[2K",
    *(f"a{mark}b" for mark in "\u00ad\u034f\u061c\u115f\u1160\u17b4\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029"),
    *(f"a{mark}b" for mark in "\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2066\u2067\u2068\u2069\u206a\u3164\ufeff"),
    *(f"a{mark}b" for mark in "\uffa0\ufff9\ufffa\ufffb\ufffd\ufffe\uffff\U0001bca0\U0001d173\U000e0001\U000e0061"),
    "\ud800", "\udfff", "a\ud800b", "\udc00\ud800", "\U0010ffff",
    "::set-output name=x::y", "::stop-commands::t", "  ::error::e", "a\n::error::planted", "a\r::error::planted",
    "%0A::error::planted", "##[error]e", "a ##[group]b", "##vso[task.setvariable variable=a]b",
    "##teamcity[message text='a']", "::add-mask::a", "::", "#", "##[",
    "=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(1+1)", "\t=1", "\r=1", "=HYPERLINK(\"https://evil.example\")", "'=1",
    "<script>alert(1)</script>", "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "]]>", "-->",
    "<!-- a", "<![CDATA[a]]>", "</pre></code></details>", "\" onload=\"alert(1)", "' onload='alert(1)",
    "&lt;&amp;&#60;", "&", "<", ">", "<!DOCTYPE a [<!ENTITY b \"c\">]>", "javascript:alert(1)",
    "{{7*7}}", "${7*7}", "{0} {1}", "%s%n%p",
    "[a](https://evil.example)", "![a](b)", "https://evil.example", "www.evil.example", "@octocat", "#1", "GH-1", "!1",
    "`a`", "```", "``a", "|a|b|", "a\\|b", "# a", "- a", "1. a", "***", "---", "===", "$x$", "~~a~~", "    a",
    "\"", "'", "\\", "\\\"", "\"\"", ",", ";", "a,b\nc", "{\"a\":1}", "[", "{", "\\u0000", "\\", "\n", "\r\n", " ", "",
    "::", "Iterator::", "Iterator::::", "Iterator::Root::Root", "Iterator::Root[0]::Map[1]", "Iterator::Batch#a=b,c=d#",
    "../../../etc/passwd", "/dev/null", "C:\\a", "-", "--help", "-o", "a'b", "$(id)", "`id`", "; id", "$HOME",
    "a" * 100_000, "\u00e9" * 5_000, "\x1b" * 2_000, "::a" * 2_000, "<" * 2_000,
]  # fmt: skip
PROBLEM_FORMATS = ("json", "html", "sarif", "junit", "gitlab", "markdown")
PAGES = ("overview", "input", "tree", "calls", "timeline", "autotune", "hosts", "steps", "ops", "kernels", "memory")
PAGES_WITHOUT_CSV = ("overview", "tree")
TABLES = ("events", "iterators", "calls", "findings", "traces", "steps", "segments", "files")


# --- In traces


def trace_of(strings: Sequence[str]) -> list[Process]:
    """Each string as the name of a process, thread, iterator, data set, op and kernel, and as key and value."""
    host, device, others = Process("/host:CPU"), Process("/device:GPU:0"), []
    for index, string in enumerate(strings):
        args = {"dataset_name": string, "autotune": string, string or "empty": string}
        events = waiting_pipeline([string, "Map"], 100 * index + 1, 6, args)
        events += [call(string, 100 * index + 50, 0, 1, 5, {"dataset_name": string})]
        events += [Event(string, step * 10_000 + 5, 8_000, {"long_name": string, "tf_op": string}) for step in range(3)]
        host.threads.append(Thread(string, events))
        kernel = {"tf_op": string, "hlo_op": string, "name": string, "kernel_details": string, "group_id": "1"}
        device.threads.append(Thread(f"Stream #{index}({string})", [Event(string, 9_000, 900, kernel)]))
        others.append(Process(string, [Thread(string, [Event(string, index, 1, {string: string})])]))
    return [host, device, *others]


def runs_of_problems(program: str, trace: str, folder: pathlib.Path, *before: str) -> Iterator[Run]:
    """`diagnose` or `compare` in every format that reports problems, in one run, then in a job's log."""
    written = tuple((name, folder / f"{before[0]}.{name}") for name in PROBLEM_FORMATS)
    options = [word for name, path in written for word in ("--output", f"{name}={path}")]
    yield run(program, *before, trace, "-v", "-o", "-", *options, outputs=written)
    yield run(program, *before, trace, "--color", "always", "-v", document="coloured")
    yield run(program, *before, trace, "--format", "github", document="github")
    yield run(program, *before, trace, "--format", "github", document="github", job=True)
    for name in ("text", "json", "markdown"):
        yield run(program, *before, trace, "--format", name, "-v", document=name, job=True)


def runs_of_pages(program: str, trace: str) -> Iterator[Run]:
    for page in PAGES:
        yield run(program, "show", page, trace)
        yield run(program, "show", page, trace, "--color", "always", document="coloured")
        yield run(program, "show", page, trace, "--format", "json", document="json")
        yield run(program, "show", page, trace, "--format", "html", document="html")
        if page not in PAGES_WITHOUT_CSV:
            yield run(program, "show", page, trace, "--format", "csv", document="csv")
            yield run(program, "show", page, trace, "--format", "csv", document="csv", job=True)
    for name in ("text", "json", "html", "csv", "markdown"):
        yield run(program, "whatif", trace, "--format", name, document=name)
    for rule in ("input-bound", "slow-transformation", "missing-prefetch"):
        yield run(program, "explain", rule, trace)
        yield run(program, "explain", rule, trace, "--format", "json", document="json")


def runs_of_events(program: str, trace: str) -> Iterator[Run]:
    for job in (False, True):
        for name in ("chrome", "ndjson", "csv"):
            yield run(program, "convert", trace, "--format", name, document=name, job=job)
    yield run(program, "convert", trace, "--annotate", "--format", "chrome", document="chrome")
    for table in TABLES:
        for name, document in (("text", "text"), ("csv", "csv"), ("json", "json"), ("markdown", "table")):
            yield run(program, "query", f"SELECT * FROM {table}", trace, "--format", name, document=document)
    for name in ("text", "csv"):
        yield run(program, "query", "SELECT * FROM events", trace, "--format", name, document=name, job=True)


def runs_over(program: str, trace: str, folder: pathlib.Path) -> Iterator[Run]:
    yield from runs_of_problems(program, trace, folder, "diagnose")
    yield from runs_of_problems(program, trace, folder, "compare", str(PLAIN_TRACE), "--")
    yield run(program, "diagnose", trace, "--format", "prometheus", document="prometheus")
    yield from runs_of_pages(program, trace)
    yield from runs_of_events(program, trace)
    yield run(program, "batch", trace, document="ndjson")
    yield run(program, "batch", trace, document="ndjson", job=True)


def case_of_trace(program: str, index: int, strings: Sequence[str]) -> Iterator[Case]:
    for ending, write in ((".trace.json", chrome_trace), (".xplane.pb", xspace)):

        def make(folder: pathlib.Path, ending: str = ending, write: Any = write) -> list[Run]:
            trace = folder / f"strings{ending}"
            trace.write_bytes(write(trace_of(strings)))
            return list(runs_over(program, str(trace), folder))

        yield Case(f"names-{index}{ending}", make)


# --- As names of files


def is_file_name(string: str) -> bool:
    name = os.fsencode(string) if max(string, default="") < "\ud800" else b""
    return (
        bool(name) and len(name) <= LONGEST_FILE_NAME and not set(string) & {"/", "\x00"} and string not in (".", "..")
    )


def case_of_files(program: str, index: int, strings: Sequence[str]) -> Case:
    def make(folder: pathlib.Path) -> list[Run]:
        traces, log = folder / "traces", folder / "log"
        traces.mkdir()
        for string in filter(is_file_name, strings):
            shutil.copy(PLAIN_TRACE, traces / f"{string}.xplane.pb")
            run_folder = log / "plugins" / "profile" / string
            run_folder.mkdir(parents=True)
            shutil.copy(PLAIN_TRACE, run_folder / "host.xplane.pb")
        runs = list(runs_of_problems(program, str(traces), folder, "diagnose"))
        runs += [
            run(program, "batch", str(traces), document="ndjson"),
            run(program, "batch", str(traces), document="ndjson", job=True),
            run(program, "show", "hosts", str(traces)),
            run(program, "show", "hosts", str(traces), "--format", "csv", document="csv"),
            run(program, "show", "hosts", str(traces), "--format", "html", document="html"),
            run(program, "query", "SELECT * FROM files", str(traces), "--format", "csv", document="csv"),
            run(program, "query", "SELECT * FROM files", str(traces), "--format", "markdown", document="table"),
            run(program, "--list-runs", str(log)),
            run(program, "--list-runs", str(log), "--format", "json", document="json"),
            run(program, "compare", str(log), "--", str(traces), "-v"),
        ]
        for trace in sorted(traces.iterdir()):
            written = folder / "written" / str(len(runs))
            written.mkdir(parents=True)
            runs += list(runs_of_problems(program, str(trace), written, "diagnose"))[::2]
        return runs

    return Case(f"files-{index}", make)


# --- In rows, and on command lines


def with_text(
    value: Any, string: str, fixed: Sequence[str] = ("schema", "verdict", "format", "rule", "severity")
) -> Any:
    """The value with the string in place of every text that a trace decides."""
    if isinstance(value, dict):
        return {key: part if key in fixed else with_text(part, string) for key, part in value.items()}
    if isinstance(value, list):
        return [with_text(part, string) for part in value]
    return string if isinstance(value, str) else value


@functools.cache
def row_of(program: str) -> Any:
    """A row with findings, a culprit and a fix."""
    command = [program, "batch", "--quiet", str(ROOT / "testdata" / "outputs" / "hostile.trace.json")]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)


def case_of_rows(program: str, index: int, strings: Sequence[str]) -> Case:
    def make(folder: pathlib.Path) -> list[Run]:
        row = row_of(program)
        rows = folder / "rows.ndjson"
        rows.write_text("".join(json.dumps(with_text(row, string)) + "\n" for string in strings), encoding="utf-8")
        runs = []
        for name in ("text", "json", "html", "csv", "markdown"):
            runs.append(run(program, "fleet", "--top", "0", str(rows), "--format", name, document=name))
            runs.append(run(program, "fleet", "--top", "0", str(rows), "--format", name, document=name, job=True))
        for name, document in (("text", "text"), ("csv", "csv"), ("json", "json"), ("markdown", "table")):
            for table in ("traces", "findings", "files"):
                runs.append(
                    run(program, "query", f"SELECT * FROM {table}", str(rows), "--format", name, document=document)
                )
        return runs

    return Case(f"rows-{index}", make)


def case_of_words(program: str, index: int, strings: Sequence[str]) -> Case:
    def make(_: pathlib.Path) -> list[Run]:
        # Nothing else can be given to a program, and it is not to open what is not the test's.
        words = [string for string in strings if "\x00" not in string and len(string) < 1000]
        words = [string.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape") for string in words]
        runs = []
        for word in words:
            runs.append(run(program, "diagnose", f"./none{word.replace('/', '_')}", job=True))
            runs.append(run(program, "explain", word, job=True))
            runs.append(run(program, "query", word, str(PLAIN_TRACE)))
            runs.append(run(program, str(PLAIN_TRACE), "--set", f"{word}=1"))
            runs.append(
                run(program, str(PLAIN_TRACE), "--suppress", f"input-bound:{word}", "--max-input-share", f"{word}=1")
            )
        return runs

    return Case(f"words-{index}", make)


def cases(settings: Settings) -> Cases:
    strings = list(OURS)
    if settings.naughty_strings is not None:
        strings += json.loads(settings.naughty_strings.read_text(encoding="utf-8"))
    strings = list(dict.fromkeys(strings))
    for index, begin in enumerate(range(0, len(strings), STRINGS_A_TRACE)):
        some = strings[begin : begin + STRINGS_A_TRACE]
        yield from case_of_trace(settings.program, index, some)
        yield case_of_files(settings.program, index, some)
        yield case_of_rows(settings.program, index, some)
        yield case_of_words(settings.program, index, some)
