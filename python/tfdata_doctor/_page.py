"""What a notebook shows: HTML without scripts that can be read on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ._words import percent

# A badge brings its own ground: white on these has a contrast of 5 and more, whatever the notebook's colours are.
_BADGES = {"input_bound": "#b3261e", "healthy": "#1b6e2e"}
_OTHER_BADGE = "#5f4b00"
# Bars are seen on white and on the darkest notebook: a contrast of 3 and more to both.
_BARS = {"sets_pace": "#e8590c", "training": "#2f9e44", "other": "#868e96"}
_CELL = 'style="text-align:left;vertical-align:top;padding:2px 12px 2px 0"'


def text_page(text: str) -> str:
    """A page for a terminal."""
    return f'<pre style="white-space:pre-wrap">{escape(text)}</pre>'


def _row(cells: Sequence[str], kind: str) -> str:
    return "<tr>" + "".join(f"<{kind} {_CELL}>{cell}</{kind}>" for cell in cells) + "</tr>"


def table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are HTML; the names of its columns are text."""
    body = "".join(_row(row, "td") for row in rows)
    return f"<table><thead>{_row([escape(name) for name in names], 'th')}</thead><tbody>{body}</tbody></table>"


def _time(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds:.3g} us"


def _bar(row: Mapping[str, Any], scale: float) -> str:
    """A bar that begins where the work of the same thread before it ends."""
    colour = _BARS["sets_pace" if row["role"] == "sets_pace" else "other" if row["long_name"] else "training"]
    left, width = 100 * row["before_us"] / scale, max(0.3, 100 * row["time_us"] / scale)
    return (
        f'<svg role="img" aria-label="{escape(row["name"])}: {_time(row["time_us"])}" width="320" height="14">'
        f'<rect x="{left:.2f}%" width="{width:.2f}%" height="14" fill="{colour}"/></svg>'
    )


def _pace(pace: Mapping[str, Any] | None) -> str:
    """What sets the pace: a bar for each stage, the time that it needs for a step."""
    if not pace:
        return ""
    scale = max([pace["step_us"], *(bar["before_us"] + bar["time_us"] for bar in pace["bars"])])
    roles = {"sets_pace": "sets the pace", "next_limit": "limits next"}
    rows = [
        [escape(bar["name"]), _bar(bar, scale), _time(bar["time_us"]), roles.get(bar["role"], "")]
        for bar in pace["bars"]
    ]
    after = f"; with fix 1: {_time(pace['step_after_us'])}" if pace["step_after_us"] else ""
    title = f"What sets the pace: the time that each stage needs for one step. A step now: {_time(pace['step_us'])}"
    return f"<p>{title}{after}</p>" + table(["", "", "", ""], rows)


def _changes(report: Mapping[str, Any]) -> str:
    """The changes of the report in its order; those that may bring nothing say so."""
    rows = []
    number = 0
    for unproven, key in ((False, "changes"), (True, "unproven_changes")):
        for change in report.get(key, []):
            if change["suppressed"]:
                continue
            is_alternative = change["instead_of"] is not None
            number += 0 if is_alternative else 1
            name = "or" if is_alternative else f"fix {number}"
            code = f'<pre style="margin:0">{escape(change["code"])}</pre>' if change["code"] else ""
            gain = change["gain"]["words"] if change["gain"] else ""
            caution = "This may bring nothing: the trace shows no end of an epoch." if unproven else ""
            about = escape(change["text"]) + code
            rows.append([f"<b>{name}</b>", about, escape(f"{gain} {caution}".strip())])
    return table(["", "change", "what it brings"], rows) if rows else ""


def _iterators(pipeline: Mapping[str, Any]) -> str:
    """The tree, with the part of the GetNext calls that each iterator holds."""
    total = pipeline["get_next"]["total_us"]
    culprit = (pipeline["culprit"] or {}).get("long_name")
    rows = []
    for iterator in pipeline["iterators"]:
        share = iterator["critical_us"] / total if total > 0 else 0.0
        name = escape(iterator["name"] or iterator["short_name"])
        name = f"<b>{name}</b>" if iterator["long_name"] == culprit else name
        indent = f'<span style="padding-left:{iterator["depth"]}em">{name}</span>'
        source = iterator.get("source")
        where = escape(f"{source['file']}:{source['line']}") if source else escape(iterator["user_name"] or "")
        bar = f'<meter min="0" max="1" value="{share:.3f}" title="{share:.1%}"></meter> {percent(share)}'
        rows.append([indent, where, f"{iterator['calls']:,}", _time(iterator["self_us"]), bar])
    return table(["iterator", "", "calls", "self time", "share of the wait"], rows)


def report_page(report: Mapping[str, Any], text: str) -> str:
    """A diagnosis: verdict, rates, what sets the pace, changes, and the worst pipeline and the text to unfold."""
    verdict = report["verdict"]
    colour = _BADGES.get(verdict["status"], _OTHER_BADGE)
    title = escape(verdict["title"])
    badge = f'<b style="background:{colour};color:#fff;padding:2px 8px;border-radius:3px">{title}</b>'
    parts = [
        f'<p style="border-left:4px solid {colour};padding-left:8px">{badge} {escape(verdict["summary"])}</p>',
        f"<p>Unsure: {escape(verdict['doubt'])}</p>" if verdict["doubt"] else "",
        f"<p>{escape(verdict['speed'])}</p>" if verdict["speed"] else "",
        _pace(report.get("pace")),
        _changes(report),
    ]
    if report["pipelines"]:
        parts.append(f"<details><summary>The pipeline</summary>{_iterators(report['pipelines'][0])}</details>")
    parts.append(f"<details><summary>As text</summary>{text_page(text)}</details>")
    return f'<div class="tfdata-doctor">{"".join(parts)}</div>'
