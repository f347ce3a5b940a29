"""Jupyter notebooks (nbformat 3 and 4): prose as it is, code and its printed output in fences."""

import json
import re
from typing import cast

from corebrain.documents.charset import decode_text
from corebrain.documents.types import ConvertedDocument, Json, RawDocument
from corebrain.errors import Damaged, Empty

NAME = "notebook"
VERSION = 1

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OUTPUT_CHARACTERS = 20_000
_Map = dict[str, Json]


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """The cells in order; of an output only its text, at most 20,000 characters of each.

    Raises:
        Damaged: Not JSON, or not a notebook.
        Empty: No cell holds text.
    """
    data = raw.read()
    try:
        notebook = json.loads(decode_text(data))
    except (ValueError, RecursionError) as error:
        raise Damaged("not a whole notebook: its JSON cannot be read") from error
    if not isinstance(notebook, dict):
        raise Damaged("not a notebook: its JSON is no object")
    language = _language(notebook)
    blocks = [block for cell in _cells(notebook) for block in _cell_blocks(cell, language)]
    if not blocks:
        raise Empty("no cell of the notebook holds text")
    title = _map(notebook.get("metadata")).get("title")
    return ConvertedDocument(
        markdown="\n\n".join(blocks) + "\n",
        title=title if isinstance(title, str) and title.strip() else None,
        format=format,
        language=language or None,
        converter=NAME,
        pages=None,
        size=len(data),
        metadata={"cells": len(_cells(notebook))},
    )


def _map(value: Json) -> _Map:
    return value if isinstance(value, dict) else {}


def _maps(value: Json) -> list[_Map]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _joined(value: Json) -> str:
    """A notebook keeps text as one string or as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _cells(notebook: _Map) -> list[_Map]:
    sheets = _maps(notebook.get("worksheets"))  # nbformat 3
    return _maps(notebook.get("cells")) or [cell for sheet in sheets for cell in _maps(sheet.get("cells"))]


def _language(notebook: _Map) -> str:
    metadata = _map(notebook.get("metadata"))
    for place, key in (("language_info", "name"), ("kernelspec", "language")):
        name = _map(metadata.get(place)).get(key)
        if isinstance(name, str) and re.fullmatch(r"[\w+#.-]{1,40}", name):
            return name.lower()
    return ""


def _cell_blocks(cell: _Map, language: str) -> list[str]:
    source = _joined(cell.get("source") or cell.get("input")).strip("\r\n")
    kind = cell.get("cell_type")
    if kind == "heading":  # nbformat 3
        return ["#" * min(6, max(1, cast("int", cell.get("level", 1)))) + " " + source] if source.strip() else []
    if kind != "code":
        return [source] if source.strip() else []
    blocks = [_fenced(source, language)] if source.strip() else []
    return blocks + [block for output in _maps(cell.get("outputs")) if (block := _output(output))]


def _output(output: _Map) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        return _fenced(_joined(output.get("text")))
    if kind in {"error", "pyerr"}:
        return _fenced(f"{output.get('ename')}: {output.get('evalue')}")
    data = _map(output.get("data")) or output  # nbformat 3 has the text beside the type
    markdown = _joined(data.get("text/markdown")).strip()
    return markdown or _fenced(_joined(data.get("text/plain") or data.get("text")))


def _fenced(text: str, language: str = "") -> str:
    clean = _ANSI.sub("", text).strip("\r\n")[: _OUTPUT_CHARACTERS if not language else None]
    if not clean.strip():
        return ""
    longest = max((len(run) for run in re.findall(r"`{3,}", clean)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{clean}\n{fence}"
