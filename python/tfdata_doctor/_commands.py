"""The commands of the program as functions. Each runs the program: what crashes there, this process survives."""

from __future__ import annotations

import json
import os
import sys

from ._program import PAGE, option_arguments, path_arguments, run_program, run_with_page
from .report import Comparison, Report, WhatIf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    import pandas

    from ._document import Document
    from ._program import Paths, Setting

    D = TypeVar("D", bound=Document)

#: Options that choose what is printed and where: that is the functions' business.
_RESERVED = frozenset({"color", "exit_zero", "format", "help", "list_runs", "output", "quiet", "timings"})


def _options(command: str, settings: Mapping[str, Setting]) -> list[str]:
    reserved = sorted(_RESERVED.intersection(settings))
    if reserved:
        raise TypeError(f"{reserved[0]} is not a setting of {command}()")
    return option_arguments(settings)


def _document(kind: type[D], command: str, arguments: Sequence[str]) -> D:
    """The JSON and the text of a command."""
    _, raw = run_program([command, "--format=json", *arguments])
    _, text = run_program([command, "--format=text", "--color=never", *arguments])
    return kind.of(json.loads(raw), text)


def terminal_report(paths: Paths) -> str:
    """The report as the program prints it on this process' standard output.

    Where that is a terminal, it has the terminal's width and colours.
    """
    import shutil

    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    wants_color = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    environment = {"COLUMNS": str(shutil.get_terminal_size().columns)} if is_terminal else {}
    color = "always" if wants_color else "never"
    return run_program(["diagnose", f"--color={color}", "--", *path_arguments(paths)], environment)[1]


def diagnose(paths: Paths, **settings: Setting) -> Report:
    """Says what holds the input pipeline back.

    `paths` is what the command line takes: a trace file, the directory of a run, a log directory, or the hosts of one
    run. `settings` are options of `tfdata-doctor diagnose` by their names: `host="worker-1"`, `threads=1`,
    `set={"input-bound.min_share": 0.2}`, `suppress=["slow-source"]`. `str()` of the report is what the command prints.

    Raises DoctorError with the program's message, as where a file cannot be read. A trace that shows too little is not
    an error: the verdict's status says so.
    """
    options = _options("diagnose", settings)
    # Both documents in one reading of the trace.
    outputs = ["--color=never", "--format=json", f"--output=text={PAGE}"]
    raw, text = run_with_page(["diagnose", *outputs, *options, "--", *path_arguments(paths)])
    return Report.of(json.loads(raw), text)


def whatif(paths: Paths, **settings: Setting) -> WhatIf:
    """Predicts what fixes would gain: each that is known, or with `fix=["parallel_map:Map,p=8"]` those together.

    `settings` are options of `tfdata-doctor whatif`: `plan=True`, `cores=16`, `ideal="traces_ideal"`. Raises
    DoctorError.
    """
    return _document(WhatIf, "whatif", [*_options("whatif", settings), "--", *path_arguments(paths)])


def compare(base: Paths, candidate: Paths, **settings: Setting) -> Comparison:
    """Says whether the candidate's recordings are slower than those of the base, and where.

    `settings` are options of `tfdata-doctor compare`: `judge=["step"]`, `weak=True`. Raises DoctorError.
    """
    sides = [*path_arguments(base), "--", *path_arguments(candidate)]
    return _document(Comparison, "compare", [*_options("compare", settings), *sides])


class Rows(list["dict[str, Any]"]):
    """The rows of a query, a dict each; `columns` are their names in order."""

    def __init__(self, rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> None:
        super().__init__(rows)
        self.columns = list(columns)

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame. Needs pandas."""
        import pandas

        return pandas.DataFrame(list(self), columns=self.columns)

    def _repr_html_(self) -> str:
        from html import escape

        from ._page import table

        return table(self.columns, [[escape(str(row[column])) for column in self.columns] for row in self])


def query(sql: str, paths: Paths, **settings: Setting) -> Rows:
    """The rows that an SQL statement selects from the tables of the traces (docs/query.md). Raises DoctorError."""
    _, raw = run_program(["query", "--format=json", *_options("query", settings), "--", sql, *path_arguments(paths)])
    document = json.loads(raw)
    return Rows(document["rows"], document["columns"])


def explain(rule: str, paths: Paths = ()) -> str:
    """The page of a rule; with traces, why it fired on them or did not. Raises DoctorError."""
    return run_program(["explain", "--color=never", "--", rule, *path_arguments(paths)])[1]
