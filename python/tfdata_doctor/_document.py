"""What the documents of the program have in common."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    D = TypeVar("D", bound="Document")


class Document:
    """What the documents have in common: `raw` is the JSON, `text` the page for a person, which `str()` returns."""

    raw: dict[str, Any]
    text: str

    @classmethod
    def of(cls: type[D], raw: dict[str, Any], text: str) -> D:
        """The document with this JSON and this page."""
        document: D = cls.from_json(raw)  # type: ignore[attr-defined]
        # The objects are frozen, and neither is a field of theirs.
        document.__dict__.update(raw=raw, text=text)
        return document

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.text.partition(chr(10))[0]}>"

    def _repr_html_(self) -> str:
        from ._page import text_page

        return text_page(self.text)


class ReportDocument(Document):
    """A document with a verdict."""

    verdict: Any

    @property
    def is_input_bound(self) -> bool:
        """Whether the job waits for its input."""
        return bool(self.verdict.status == "input_bound")

    def _repr_html_(self) -> str:
        from ._page import report_page

        return report_page(self.raw, self.text)
