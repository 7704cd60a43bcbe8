"""What a search found, as text, JSON and Markdown; `html` has the page."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import textwrap
from collections.abc import Callable
from typing import Any, Optional

from tfdata_doctor._words import rate

from .forecast import Prediction
from .html import html
from .outcome import Outcome, Trial
from .plan import NotTried
from .words import HEADS, cells_of, facts_of, headline, rows_of, trial_rows

SCHEMA = "tfdata-doctor.fix/1"
#: Columns: lines that are longer are hard to read.
_WIDEST = 100
_LABEL = 12
_MOST_LINES = 3


def _row(name: str, words: str, width: int) -> list[str]:
    """A labelled row, wrapped; what is very long, as an error of the script, is cut."""
    room = max(20, width - _LABEL)
    lines = textwrap.wrap(words, room, break_long_words=False, max_lines=_MOST_LINES, placeholder=" ...") or [""]
    return [f"  {name:{_LABEL - 2}}{lines[0]}".rstrip(), *(" " * _LABEL + line for line in lines[1:])]


def text(outcome: Outcome) -> str:
    """For a terminal; the patch comes last."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    lines = [*textwrap.wrap(headline(outcome), width, subsequent_indent="  "), ""]
    for trial in outcome.trials:
        for name, words in trial_rows(trial):
            lines += _row(name, words, width)
    for name, words in rows_of(outcome):
        lines += _row(name, words, width)
    if outcome.applied:
        lines += _row("Written", ", ".join(os.path.relpath(path) for path in outcome.applied), width)
    if outcome.patch:
        lines += ["", outcome.patch.rstrip("\n")]
    return "\n".join(lines) + "\n"


def _prediction_json(predicted: Optional[Prediction]) -> Optional[dict[str, Any]]:
    return None if predicted is None else predicted.document()


def _trial_json(trial: Trial) -> dict[str, Any]:
    return {
        "change": trial.words,
        "fixes": list(trial.fixes),
        "file": trial.file,
        "line": trial.line,
        "predicted": _prediction_json(trial.predicted),
        "told": _prediction_json(trial.told),
        "measured": None if trial.measured is None else dataclasses.asdict(trial.measured),
        "base_steps_per_s": list(trial.base),
        "changed_steps_per_s": list(trial.changed),
        "as_predicted": trial.is_as_predicted,
        "kept": trial.is_kept,
        "reason": trial.reason or None,
        "data": trial.data or None,
    }


def _not_tried_json(left: NotTried) -> dict[str, Any]:
    return {
        "change": left.words,
        "reason": left.reason,
        "file": left.file or None,
        "line": left.line or None,
        "predicted": _prediction_json(left.predicted),
    }


def to_json(outcome: Outcome) -> dict[str, Any]:
    """The document `tfdata-doctor.fix/1`."""
    return {
        "schema": SCHEMA,
        "command": outcome.command,
        "before_steps_per_s": outcome.before,
        "after_steps_per_s": outcome.after,
        "ready_steps_per_s": outcome.ready,
        "gain": None if outcome.total is None else dataclasses.asdict(outcome.total),
        "trials": [_trial_json(trial) for trial in outcome.trials],
        "not_tried": [_not_tried_json(left) for left in outcome.not_tried],
        "limit": outcome.limit or None,
        "stopped": outcome.stopped,
        "seconds": outcome.seconds,
        "left_out": outcome.left_out,
        "applied": outcome.applied,
        "patch": outcome.patch,
    }


def _json(outcome: Outcome) -> str:
    return json.dumps(to_json(outcome), indent=2) + "\n"


def _cell(words: str) -> str:
    """Of a table of Markdown."""
    return re.sub(r"([\\|<>\[\]`*_])", r"\\\1", words).replace("\n", " ")


def _fence(content: str) -> str:
    """Longer than any in the content."""
    return "`" * max(3, 1 + max((len(found) for found in re.findall(r"`+", content)), default=0))


def _picture(outcome: Outcome) -> list[str]:
    """Before and after as bars of characters, which every viewer shows."""
    if outcome.before is None or outcome.after is None:
        return []
    most = max(outcome.before, outcome.after)
    rows = [("before", outcome.before), ("after", outcome.after)]
    bars = [f"{name:6} {'█' * max(1, round(40 * speed / most))} {rate(speed)} steps/s" for name, speed in rows]
    return ["```", *bars, "```", ""]


def markdown(outcome: Outcome) -> str:
    """For a comment on a pull request: the picture, the table, the patch."""
    lines = [f"**{_cell(headline(outcome))}**", "", *_picture(outcome)]
    if outcome.trials:
        lines += ["| " + " | ".join(HEADS) + " |", "|---" * len(HEADS) + "|"]
        lines += ["| " + " | ".join(map(_cell, cells_of(trial))) + " |" for trial in outcome.trials]
        lines.append("")
    lines += [f"- {_cell(fact)}" for fact in facts_of(outcome)]
    if outcome.patch:
        fence = _fence(outcome.patch)
        lines += ["", "<details open><summary>The patch, for <code>git apply</code></summary>", ""]
        lines += [f"{fence}diff", outcome.patch.rstrip("\n"), fence, "", "</details>"]
    return "\n".join(lines) + "\n"


#: By the names that --format takes.
FORMATS: dict[str, Callable[[Outcome], str]] = {"text": text, "json": _json, "markdown": markdown, "html": html}
