"""The page of a search: one file, nothing from elsewhere, readable without scripts."""

from __future__ import annotations

from html import escape

from .outcome import Outcome
from .words import headline, measured_words, predicted_words, result_words, said_how_it_did, said_of_ready

_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8884 }
pre { overflow-x: auto; padding: .8rem; border: 1px solid #8884 } .wide { overflow-x: auto }
.add { color: #1a7f37 } .del { color: #cf222e }
rect.before { fill: #8c959f } rect.after { fill: #2da44e } text { fill: currentColor }
@media (prefers-color-scheme: dark) { .add { color: #3fb950 } .del { color: #ff7b72 } }
"""
_BAR = 420


def _picture(outcome: Outcome) -> str:
    """Steps per second before and after, as bars."""
    if outcome.before is None or outcome.after is None:
        return ""
    most = max(outcome.before, outcome.after)
    parts = []
    for row, (name, rate) in enumerate((("before", outcome.before), ("after", outcome.after))):
        y, width = 8 + 34 * row, max(2.0, _BAR * rate / most)
        parts.append(
            f'<text x="0" y="{y + 17}">{name}</text>'
            f'<rect class="{name}" x="64" y="{y}" width="{width:.0f}" height="24"/>'
            f'<text x="{72 + width:.0f}" y="{y + 17}">{rate:.4g} steps/s</text>'
        )
    label = f"{outcome.before:.4g} steps per second before, {outcome.after:.4g} after"
    return f'<svg role="img" aria-label="{label}" viewBox="0 0 640 76" width="100%">{"".join(parts)}</svg>'


def _patch(patch: str) -> str:
    shown = []
    for line in patch.encode("utf-8", "surrogateescape").decode("utf-8", "replace").splitlines():
        kind = {"+": "add", "-": "del"}.get(line[:1], "")
        shown.append(f'<span class="{kind}">{escape(line)}</span>' if kind else escape(line))
    return "<h2>The patch</h2>\n<pre>" + "\n".join(shown) + "</pre>"


def html(outcome: Outcome) -> str:
    """The document."""
    heads = "".join(f"<th>{head}</th>" for head in ("change", "line", "predicted", "measured", "result"))
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
        for cells in (
            (
                trial.words,
                trial.where,
                predicted_words(trial.predicted),
                measured_words(trial),
                result_words(trial),
            )
            for trial in outcome.trials
        )
    )
    facts = [f"What limits now: {outcome.limit}" if outcome.limit else "", said_how_it_did(outcome)]
    facts += [f"At most: {said}" for said in [said_of_ready(outcome)] if said]
    facts += [f"Not tried: {left.words}: {left.reason}" for left in outcome.not_tried]
    listed = "".join(f"<li>{escape(fact)}</li>" for fact in [*facts, f"Ended: {outcome.stopped}"] if fact)
    table = f'<div class="wide"><table><tr>{heads}</tr>{rows}</table></div>' if rows else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Fixes of {escape(outcome.command)}</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>{escape(headline(outcome))}</h1>\n<p><code>{escape(outcome.command)}</code></p>\n{_picture(outcome)}\n"
        f"{table}\n<ul>{listed}</ul>\n{_patch(outcome.patch) if outcome.patch else ''}\n</body></html>\n"
    )
