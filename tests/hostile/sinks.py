"""What each document may hold, whatever the names in a trace are. Readers of the standard library judge, not ours."""

from __future__ import annotations

import csv
import functools
import html.parser
import io
import json
import pathlib
import re
import sys
import unicodedata
import xml.etree.ElementTree
from collections.abc import Iterator
from re import Pattern
from typing import Any, Callable, Optional

ROOT = pathlib.Path(__file__).resolve().parents[2]
JUNIT_ELEMENTS = {"testsuites", "testsuite", "testcase", "failure", "error", "skipped", "system-out"}
MARKDOWN_ELEMENTS = {"details", "summary", "code", "pre", "h3", "br"}
# The colours of our text; a name may bring none.
COLOURS = re.compile(r"\x1b\[(?:0|1|2|1;3[123])m")
# Cells of a spreadsheet that begin so are formulas, unless they are numbers.
FORMULA = re.compile(r"[=+@\t\r-]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
ANNOTATION = re.compile(r"::(notice|warning|error) [^\r\n]*?::")
METRIC = re.compile(r'[a-z_:]+(\{([a-z_]+="([^"\\\n]|\\.)*",?)*\})? [-+.\w]+')
# Ignorable, but not of a category that says so: joiners, fillers, selectors of Mongolian.
MORE_INVISIBLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
# Of the category of formats, but seen: signs that enclose the digits after them, and one of Kaithi.
SEEN_FORMATS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"


# Where the links of pages lead: to their own parts, and to what rules follow (lib/diagnose/finding.h).
OUR_LINKS = ("#", "./", "file:///", "data:,", "https://www.tensorflow.org/guide/")


class Fault(Exception):
    """A document holds what it must not hold."""


def expect(holds: bool, what: str) -> None:
    if not holds:
        raise Fault(what[:400])


@functools.cache
def unsafe_characters() -> Pattern[str]:
    """Controls, what turns text around, what nobody sees, separators of lines; but not the end of a line."""
    wrong = ("Cc", "Cf", "Zl", "Zp", "Cs")
    found = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in wrong and chr(code) not in SEEN_FORMATS and chr(code) != "\n"
    ]
    return re.compile("[" + re.escape("".join(found) + MORE_INVISIBLE) + "]")


def decoded(document: bytes) -> str:
    try:
        return document.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Fault(f"not UTF-8: {error}") from error


def check_text(document: bytes) -> str:
    text = decoded(document)
    found = unsafe_characters().search(text)
    if found is not None:
        around = text[max(0, found.start() - 30) : found.end() + 30]
        raise Fault(f"U+{ord(found.group()):04X} in {around!r}")
    return text


def check_coloured(document: bytes) -> None:
    check_text(COLOURS.sub("", decoded(document)).encode())


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    page = dict(pairs)
    expect(len(page) == len(pairs), f"a key twice in {[key for key, _ in pairs]}")
    return page


def refuse_constant(name: str) -> None:
    raise Fault(f"{name} is not JSON")


def parsed(text: str) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=without_duplicates, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Fault(f"not JSON: {error}: {text[:100]!r}") from error
    if "\\ud" in text.lower():
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise Fault(f"half of a pair of surrogates: {error}") from error
    return value


def check_json(document: bytes) -> None:
    value = parsed(decoded(document))
    expect(isinstance(value, dict) and "schema" in value, "no object with a schema")


def check_chrome(document: bytes) -> None:
    expect(isinstance(parsed(decoded(document)).get("traceEvents"), list), "no traceEvents")


def check_sarif(document: bytes) -> None:
    page = parsed(decoded(document))
    expect(page["version"] == "2.1.0" and len(page["runs"]) == 1, "no SARIF 2.1.0 of one run")
    rules = page["runs"][0]["tool"]["driver"]["rules"]
    for result in page["runs"][0]["results"]:
        expect(rules[result["ruleIndex"]]["id"] == result["ruleId"], "ruleIndex leads elsewhere")
        message = result["message"]["text"]
        check_text(message.encode())
        expect(not re.search(r"(?<!\\)\]\(", message), f"a link in {message!r}")


def check_gitlab(document: bytes) -> None:
    issues = parsed(decoded(document))
    expect(isinstance(issues, list), "no list")
    for issue in issues:
        check_text(issue["description"].encode())
    expect(len({issue["fingerprint"] for issue in issues}) == len(issues), "a fingerprint twice")


def lines_of(document: bytes) -> Iterator[bytes]:
    """Lines of NDJSON; the last one has an end, too."""
    expect(not document or document.endswith(b"\n"), "the last line has no end")
    return iter(document.split(b"\n")[:-1])


def check_ndjson(document: bytes) -> None:
    for line in lines_of(document):
        expect(isinstance(parsed(decoded(line)), dict), f"no object: {line[:100]!r}")


def check_csv(document: bytes) -> None:
    text = check_text(document)
    fields = None
    csv.field_size_limit(max(len(document), 1))
    try:
        for row in csv.reader(io.StringIO(text, newline=""), strict=True):
            fields = len(row) if fields is None else fields
            expect(len(row) == fields, f"{len(row)} fields instead of {fields}: {row}")
            for cell in row:
                is_formula = FORMULA.match(cell) is not None and NUMBER.fullmatch(cell) is None
                expect(not is_formula, f"a formula: {cell!r}")
    except csv.Error as error:
        raise Fault(f"not CSV: {error}") from error


def check_junit(document: bytes) -> None:
    check_text(document)
    try:
        root = xml.etree.ElementTree.fromstring(document)
    except xml.etree.ElementTree.ParseError as error:
        raise Fault(f"not XML: {error}") from error
    elements = {element.tag for element in root.iter()}
    expect(elements <= JUNIT_ELEMENTS, f"elements {elements - JUNIT_ELEMENTS}")


@functools.cache
def html_elements() -> frozenset[str]:
    header = (ROOT / "tests" / "html_elements.h").read_text(encoding="utf-8")
    return frozenset(re.findall(r'"(\w+)"', header[header.index("kHtmlElements") :]))


class HtmlPage(html.parser.HTMLParser):
    """Finds what a page may not hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Optional[str]]]) -> None:
        expect(tag in html_elements(), f"element {tag}")
        self.scripts += tag == "script" and ("type", "application/json") not in attrs
        for name, value in attrs:
            expect(not name.startswith("on") and name not in ("src", "style", "srcset"), f"attribute {name} of {tag}")
            is_link = name in ("href", "action", "xlink:href") and value is not None
            is_ours = value is not None and value.startswith(OUR_LINKS)
            expect(not is_link or is_ours, f"a link to {value!r}")

    def handle_comment(self, data: str) -> None:
        raise Fault(f"a comment: {data!r}")


def check_html(document: bytes) -> None:
    page = HtmlPage(check_text(document))
    expect(page.scripts <= 1, f"{page.scripts} scripts")


def check_markdown(document: bytes) -> None:
    """Outside of code: no element but ours, no link, nobody and no issue mentioned."""
    text = check_text(document)
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"(?<!\\)`[^`\n]*`", "", text)
    for element in re.findall(r"(?<!\\)</?([a-zA-Z!?][^\s/>]*)", text):
        expect(element in MARKDOWN_ELEMENTS, f"element {element}")
    text = re.sub(r"<code>.*?</code>", "", text)
    for pattern in (r"(?<!\\)\]\(", r"(?<![\w@])@\w", r"(?<!&)#\d", "://", r"www\."):
        found = re.search(pattern, text)
        expect(found is None, f"{pattern} in {text[max(0, found.start() - 40) : found.end() + 40]!r}" if found else "")


def check_table(document: bytes) -> None:
    """Rows of Markdown: as check_markdown(), and every row has as many cells as the first."""
    check_markdown(document)
    cells = {line.count("|") for line in decoded(document).splitlines() if line.startswith("|")}
    expect(len(cells) <= 1, f"rows of {sorted(cells)} bars")


def check_github(document: bytes) -> None:
    for line in filter(None, re.split("[\r\n]+", check_text(document))):
        expect(ANNOTATION.match(line) is not None, f"no annotation: {line!r}")


def check_prometheus(document: bytes) -> None:
    for line in check_text(document).splitlines():
        expect(line.startswith("# ") or METRIC.fullmatch(line) is not None, f"no metric: {line!r}")


def check_log(document: bytes) -> None:
    """What a runner would take for a command, in the log of a job."""
    for line in filter(None, re.split(b"[\r\n]+", document)):
        expect(not line.lstrip(b" \t").startswith(b"::"), f"a command: {line[:200]!r}")
        expect(re.search(rb"##[a-z]*\[", line) is None, f"a command: {line[:200]!r}")


CHECKS: dict[str, Callable[[bytes], object]] = {
    "text": check_text,
    "coloured": check_coloured,
    "json": check_json,
    "chrome": check_chrome,
    "sarif": check_sarif,
    "gitlab": check_gitlab,
    "ndjson": check_ndjson,
    "csv": check_csv,
    "junit": check_junit,
    "html": check_html,
    "markdown": check_markdown,
    "table": check_table,
    "github": check_github,
    "prometheus": check_prometheus,
}


def check_document(kind: str, document: bytes) -> None:
    """Raises Fault. A document without a byte is none of its kind, except where there may be nothing to say."""
    may_be_empty = kind in ("text", "coloured", "ndjson", "csv", "github")
    expect(bool(document) or may_be_empty, "nothing was printed")
    CHECKS[kind](document)
