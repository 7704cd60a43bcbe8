"""The page of a search: one file, nothing from elsewhere, without scripts. It looks like the program's own pages."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from html import escape

from tfdata_doctor._page import table, text_page
from tfdata_doctor._words import rate

from .outcome import Outcome
from .words import HEADS, cells_of, facts_of, headline

#: Colours as in lib/report/html/page.css.
_STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --text: #1b1f24; --line: #818993; --soft: #f3f5f7; --bar: #57606a;
  --runs: #1a7f37; --hot: #c2410c }
@media (prefers-color-scheme: dark) { :root { --page: #0d1117; --text: #e6edf3; --line: #6e7681; --soft: #161b22;
  --bar: #9da7b3; --runs: #56d364; --hot: #ff8c5a } }
* { box-sizing: border-box }
html { background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif }
body { margin: 0 auto; max-width: 66rem; padding: 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem } h2 { font-size: 1.25rem; margin: 2rem 0 .25rem }
code, pre { font: .875em/1.45 ui-monospace, monospace }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line) }
pre, .wide { overflow-x: auto } .wide { overflow-wrap: normal }
pre { background: var(--soft); padding: .5rem .75rem; border-left: 3px solid var(--line) }
.add { color: var(--runs) } .del { color: var(--hot) }
svg { display: block; width: 100% } svg text { fill: var(--text); font-size: 14px }
.before { fill: var(--bar) } .after { fill: var(--runs) }
"""
_ROW_HEIGHT = 46


def _picture(outcome: Outcome) -> str:
    """Steps per second before and after, as bars."""
    if outcome.before is None or outcome.after is None:
        return ""
    most = max(outcome.before, outcome.after)
    parts = []
    for row, (name, speed) in enumerate((("before", outcome.before), ("after", outcome.after))):
        y = _ROW_HEIGHT * row
        parts.append(
            f'<text x="0" y="{y + 15}">{name}: {rate(speed)} steps/s</text>'
            f'<rect class="{name}" x="0" y="{y + 20}" width="{max(0.5, 100 * speed / most):.1f}%" height="18"/>'
        )
    label = f"{rate(outcome.before)} steps per second before, {rate(outcome.after)} after"
    return f'<svg role="img" aria-label="{label}" height="{2 * _ROW_HEIGHT}">{"".join(parts)}</svg>'


def _region(name: str, content: str, tag: str = "div") -> str:
    """What may be wider than the page, so that keys can move it."""
    return f'<{tag} class="wide" role="region" aria-label="{name}" tabindex="0">{content}</{tag}>'


def _row(cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _table(outcome: Outcome) -> str:
    if not outcome.trials:
        return ""
    heads = "".join(f'<th scope="col">{head}</th>' for head in HEADS)
    rows = "".join(_row(cells_of(trial)) for trial in outcome.trials)
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<h2>What was tried</h2>\n{_region('changes', table)}"


def _patch(patch: str) -> str:
    if not patch:
        return ""
    shown = []
    for line in patch.encode("utf-8", "surrogateescape").decode("utf-8", "replace").split("\n"):
        kind = {"+": "add", "-": "del"}.get(line[:1], "")
        shown.append(f'<span class="{kind}">{escape(line)}</span>' if kind else escape(line))
    return "<h2>The patch</h2>\n" + _region("patch", "\n".join(shown), "pre")


def _head(title: str) -> str:
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    return (
        f'<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" '
        'content="light dark"><meta name="referrer" content="no-referrer"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
    )


def html(outcome: Outcome) -> str:
    """The document."""
    facts = "".join(f"<li>{escape(fact)}</li>" for fact in facts_of(outcome))
    parts = [
        f"<h1>{escape(headline(outcome))}</h1>",
        f"<p><code>{escape(outcome.command)}</code></p>",
        _picture(outcome),
        _table(outcome),
        f"<ul>{facts}</ul>",
        _patch(outcome.patch),
    ]
    body = "\n".join(part for part in parts if part)
    return (
        f'<!DOCTYPE html>\n<html lang="en">{_head(f"Fixes of {outcome.command}")}\n'
        f"<body><main>\n{body}\n</main></body></html>\n"
    )


def cell(outcome: Outcome) -> str:
    """What a notebook shows: a part of its page, without styles for all of it."""
    rows = [[escape(words) for words in cells_of(trial)] for trial in outcome.trials]
    facts = "".join(f"<li>{escape(fact)}</li>" for fact in facts_of(outcome))
    patch = text_page(outcome.patch.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    parts = [
        f"<p><b>{escape(headline(outcome))}</b></p>",
        table(HEADS, rows) if rows else "",
        f"<ul>{facts}</ul>",
        patch if outcome.patch else "",
    ]
    return f'<div class="tfdata-doctor">{"".join(parts)}</div>'
