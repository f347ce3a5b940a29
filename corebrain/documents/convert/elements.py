"""A brain's documents as unstructured's elements, for people whose own chunking takes those.

```python
from corebrain.documents.convert.elements import to_elements
from unstructured.chunking.title import chunk_by_title

chunks = chunk_by_title(to_elements(brain_document(None, raw)), max_characters=1_000)
```

Needs the extra `unstructured`; nothing is partitioned again, so no model, no program and no network is used.
"""

import html
import importlib
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from corebrain.errors import Unsupported
from corebrain.model.meta import MemoryMeta

if TYPE_CHECKING:
    from unstructured.documents.elements import Element, Text

_TELEMETRY = "unstructured.telemetry"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_ITEM = re.compile(r"( *)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)")
_RULE = re.compile(r" {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$")
_HEAD_RULE = re.compile(r"\|[\s:|-]+\|?$")
_CELLS = re.compile(r"(?<!\\)\|")
_STEP = 4  # blanks that our converters indent an inner item by


class Held(Protocol):
    """What has a text with what is known of it: a `BrainDocument`, a stored `Document`, a hit of a search."""

    @property
    def text(self) -> str: ...
    @property
    def meta(self) -> MemoryMeta: ...


def to_elements(document: Held) -> "list[Element]":
    """The blocks of a document's markdown as elements, in order.

    Headings are `Title` (`category_depth` from 0), items `ListItem`, tables `Table` with `text_as_html`, fenced blocks
    `CodeSnippet`, all else `NarrativeText`. Each carries file name, folder, url and language where they are known, and
    the page when the document has page marks.

    Raises:
        Unsupported: unstructured is not installed.
    """
    elements = _library()
    kinds: dict[str, type[Text]] = {
        "title": elements.Title, "item": elements.ListItem, "table": elements.Table, "code": elements.CodeSnippet,
        "text": elements.NarrativeText,
    }  # fmt: skip
    meta = document.meta
    name = (meta.file_path or "").rpartition("/")[2]
    pages = document.text.split("\f")
    found: list[Element] = []
    for number, page in enumerate(pages, 1):
        for kind, text, depth in _blocks(page):
            metadata = elements.ElementMetadata(
                filename=name or None,
                file_directory=meta.folder,
                url=meta.url,
                languages=[meta.language] if meta.language else None,
                page_number=number if len(pages) > 1 else None,
            )
            if kind in {"title", "item"}:
                metadata.category_depth = depth
            if kind == "table":
                metadata.text_as_html = _html(text)
            shown = " ".join(" ".join(row) for row in _rows(text)) if kind == "table" else text
            found.append(kinds[kind](shown, metadata=metadata))
    return found


def _library() -> ModuleType:
    """Load the elements of unstructured. Its first import would call home: a stand-in takes that call."""
    stand_in = ModuleType(_TELEMETRY)
    stand_in.__dict__["init_telemetry"] = lambda: None
    fresh = "unstructured" not in sys.modules
    if fresh:
        sys.modules[_TELEMETRY] = stand_in
    try:
        return importlib.import_module("unstructured.documents.elements")
    except ImportError:
        raise Unsupported('elements need unstructured: pip install "corebrain[unstructured]"') from None
    finally:
        if fresh:
            del sys.modules[_TELEMETRY]


def _blocks(text: str) -> Iterator[tuple[str, str, int]]:
    """Kind, text and depth of each block of a markdown text."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        end = at + 1
        if fence := _FENCE.match(line):
            while end < len(lines) and not lines[end].lstrip().startswith(fence[1]):
                end += 1
            yield "code", "\n".join(lines[at + 1 : end]), 0
            end += 1
        elif heading := _HEADING.match(line):
            yield "title", heading[2].strip(), len(heading[1]) - 1
        elif line.startswith("|"):
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            yield "table", "\n".join(lines[at:end]), 0
        elif line.strip() and not _RULE.match(line):
            item = _ITEM.match(line)
            while end < len(lines) and _goes_on(lines[end]):
                end += 1
            words = " ".join(" ".join([item[2] if item else line, *lines[at + 1 : end]]).split())
            if words:
                yield ("item", words, len(item[1]) // _STEP) if item else ("text", words, 0)
        at = end


def _goes_on(line: str) -> bool:
    """Whether a line belongs to the paragraph or item above it."""
    starts = _ITEM.match(line) or _HEADING.match(line) or _FENCE.match(line)
    return bool(line.strip()) and not starts and not line.startswith("|")


def _rows(table: str) -> list[list[str]]:
    lines = [line for line in table.split("\n") if not _HEAD_RULE.match(line)]
    return [
        [cell.strip().replace("\\|", "|") for cell in _CELLS.split(line.strip().removeprefix("|").removesuffix("|"))]
        for line in lines
    ]


def _html(table: str) -> str:
    rows = ("".join(f"<td>{html.escape(cell, quote=False)}</td>" for cell in row) for row in _rows(table))
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
