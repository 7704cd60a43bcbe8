"""What a notebook shows: HTML without scripts, with styles of its own that follow the notebook's colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_COLOURS = {"input_bound": "#c62828", "healthy": "#2e7d32"}
_OTHER = "#8d6e00"
_WORDS = {
    "input_bound": "Input-bound",
    "healthy": "Not input-bound",
    "no_input_pipeline": "No input pipeline",
    "inconclusive": "Inconclusive",
}
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


def _gain(advice: Mapping[str, Any]) -> str:
    gain = advice.get("gain")
    return f"x{gain['factor']:.3g} ({gain['low']:.3g} to {gain['high']:.3g})" if gain else ""


def _change(advice: Mapping[str, Any]) -> str:
    code = advice.get("code")
    return f"<code>{escape(code)}</code>" if code else escape(advice["text"])


def _findings(findings: list[Mapping[str, Any]]) -> str:
    rows = []
    for finding in findings:
        advice = finding["advice"] or [None]
        for index, item in enumerate(advice):
            about = [escape(finding["severity"]), f"<b>{escape(finding['rule'])}</b>", escape(finding["message"])]
            change = [_change(item), _gain(item)] if item else ["", ""]
            rows.append([*(about if index == 0 else ["", "", ""]), *change])
    return table(["", "rule", "what it found", "change", "gain"], rows) if rows else ""


def _iterators(pipeline: Mapping[str, Any]) -> str:
    """The tree, with the part of the GetNext calls that each iterator holds."""
    total = pipeline["get_next"]["total_us"]
    culprit = (pipeline["culprit"] or {}).get("long_name")
    rows = []
    for iterator in pipeline["iterators"]:
        share = iterator["critical_us"] / total if total > 0 else 0.0
        name = escape(iterator["short_name"])
        name = f"<b>{name}</b>" if iterator["long_name"] == culprit else name
        indent = f'<span style="padding-left:{iterator["depth"]}em">{name}</span>'
        source = iterator.get("source")
        where = escape(f"{source['file']}:{source['line']}") if source else escape(iterator["user_name"] or "")
        bar = f'<meter min="0" max="1" value="{share:.3f}" title="{share:.1%}"></meter> {share:.1%}'
        rows.append([indent, where, f"{iterator['calls']:,}", f"{iterator['self_us'] / 1000:,.1f} ms", bar])
    return table(["iterator", "", "calls", "self time", "share of the wait"], rows)


def report_page(report: Mapping[str, Any], text: str) -> str:
    """A diagnosis: verdict, findings, the worst pipeline, and the page for a terminal to unfold."""
    verdict = report["verdict"]
    colour = _COLOURS.get(verdict["status"], _OTHER)
    word = escape(_WORDS.get(verdict["status"], verdict["status"]))
    parts = [
        f'<p style="border-left:4px solid {colour};padding-left:8px"><b style="color:{colour}">{word}</b> '
        f"{escape(verdict['summary'])}</p>",
        _findings([finding for finding in report["findings"] if "suppressed" not in finding]),
    ]
    if report["pipelines"]:
        parts.append(_iterators(report["pipelines"][0]))
    parts.append(f"<details><summary>As text</summary>{text_page(text)}</details>")
    return f'<div class="tfdata-doctor">{"".join(parts)}</div>'
