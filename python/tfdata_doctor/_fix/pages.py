"""What a search found, as text, JSON and Markdown; `html` has the page."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Callable
from typing import Any, Optional

from .forecast import Prediction
from .html import html
from .outcome import Outcome, Trial
from .plan import NotTried
from .words import (
    HEADS,
    cells_of,
    facts_of,
    headline,
    not_tried_words,
    said_how_it_did,
    said_of_data,
    said_of_left_out,
    said_of_ready,
)

SCHEMA = "tfdata-doctor.fix/1"
_WIDTH = 110


def _table(rows: list[tuple[str, ...]], indent: str = "  ") -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [(indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths))).rstrip() for row in rows]


def _short(text: str, most: int = _WIDTH) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def text(outcome: Outcome) -> str:
    """For a terminal; the patch comes last."""
    lines = [headline(outcome)]
    if outcome.trials:
        lines += _table([(*HEADS[:-1], ""), *map(cells_of, outcome.trials)])
    if said := said_of_data(outcome):
        lines.append(f"  data: {said}")
    if outcome.limit:
        lines.append(f"  limits now: {outcome.limit}")
    if said := said_of_ready(outcome):
        lines.append(f"  at most: {said}")
    lines.append(f"  ended after {outcome.seconds / 60:.1f} min: {outcome.stopped}")
    if said := said_how_it_did(outcome):
        lines.append(f"  model: {said}")
    if said := said_of_left_out(outcome):
        lines.append(f"  left out in these runs: {said}")
    lines += [_short(f"  not tried: {not_tried_words(left)}", 2 * _WIDTH) for left in outcome.not_tried]
    if outcome.applied:
        lines.append("  written: " + ", ".join(os.path.relpath(path) for path in outcome.applied))
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
    bars = [f"{name:6} {'█' * max(1, round(40 * rate / most))} {rate:.4g} steps/s" for name, rate in rows]
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
