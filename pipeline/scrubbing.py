"""Redacts documents between their conversion and the engine, as `[brain] scrub` asks."""

from collections.abc import Sequence
from typing import Literal

from corebrain.layout import BrainDocument
from corebrain.safety import VERSION, Policy, SafetyReport, scrub_text

Scrub = Literal["off", "secrets", "all"]


class Scrubbing:
    """Scrubs title, text and url of documents; names of files and folders stay, as does what the state keeps of them.

    Args:
        level: `secrets` redacts credentials, `all` personal numbers too.
    """

    def __init__(self, level: Literal["secrets", "all"]) -> None:
        self._policy = Policy(pii=level == "all")
        self.version = f"{level}/{VERSION}"

    @classmethod
    def at(cls, level: Scrub) -> "Scrubbing | None":
        """Return the scrub of that level, `None` for `off`."""
        return None if level == "off" else cls(level)

    def all(self, documents: Sequence[BrainDocument]) -> tuple[list[BrainDocument], int]:
        """Return *documents* redacted, and how many redactions that took."""
        report = SafetyReport()
        scrubbed = []
        for document in documents:
            text = scrub_text(document.text, self._policy)
            title = scrub_text(document.title or "", self._policy)
            url = scrub_text(document.meta.url or "", self._policy)
            found = text.report + title.report + url.report
            report += found
            scrubbed.append(
                document.model_copy(
                    update={
                        "text": text.value,
                        "title": title.value or None,
                        "meta": document.meta.model_copy(update={"url": url.value or None}),
                    }
                )
                if found.changed()
                else document
            )
        return scrubbed, report.blocked_secret_hits + report.text_redactions + report.pii_redactions

    def title(self, title: str | None) -> str | None:
        """Return a title as it may be kept."""
        return scrub_text(title, self._policy).value if title else title
