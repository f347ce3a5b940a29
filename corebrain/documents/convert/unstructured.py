"""The long tail through unstructured: MSG by itself; ODT, RTF, RST, ORG with pandoc; DOC, PPT with LibreOffice.

Runs in a worker of its own. Its tokenizer is replaced before anything of it is imported, so nothing is downloaded; the
worker's environment turns its telemetry and its notice off.
"""

import importlib
import io
import sys
from collections.abc import Iterable
from typing import Protocol, cast

from corebrain.documents.convert import plain_tokenizer
from corebrain.documents.convert.mail_text import decode_words, mail_markdown, one_line
from corebrain.documents.types import ConvertedDocument, Part, RawDocument
from corebrain.errors import Damaged, Empty, Refusal

sys.modules.setdefault("unstructured.nlp.tokenize", plain_tokenizer)

from unstructured.documents.elements import (  # noqa: E402 - after the stand-in
    CodeSnippet,
    Element,
    ListItem,
    PageBreak,
    Table,
    Title,
)

NAME = "unstructured"
VERSION = 2


class _Partition(Protocol):
    def __call__(self, *, file: io.BytesIO, **options: object) -> list[Element]: ...


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """The file's elements as markdown.

    Raises:
        Damaged: unstructured, pandoc or LibreOffice cannot read it.
        Empty: It holds no text.
    """
    data = raw.read()
    if format == "msg":
        return _message(data)
    markdown = elements_markdown(_elements(format, data))
    if not markdown.strip():
        raise Empty("unstructured finds no text in it")
    return ConvertedDocument(
        markdown=markdown,
        title=None,
        format=format,
        language=None,
        converter=NAME,
        pages=None,
        size=len(data),
    )


def elements_markdown(elements: Iterable[Element], *, headings: bool = True) -> str:
    """Elements as markdown: titles by their depth, list items, tables, a form feed between pages.

    Args:
        elements: As a partitioner returns them.
        headings: Whether titles become headings; in a message they are guesses.
    """
    written = ""
    previous = ""
    for element in elements:
        kind, text = _block(element, headings=headings)
        if kind == "page":
            written += "\f" if written else ""
        elif text:
            gap = "" if not written or previous == "page" else "\n" if kind == previous == "item" else "\n\n"
            written += gap + text
        else:
            continue
        previous = kind
    return written


def _block(element: Element, *, headings: bool) -> tuple[str, str]:
    """What kind of block an element is, and its markdown."""
    text = (element.text or "").strip()
    if isinstance(element, PageBreak):
        return "page", ""
    if isinstance(element, Table):
        return "table", _table(element.metadata.text_as_html) or text
    if isinstance(element, CodeSnippet) and text:
        return "code", f"```\n{text}\n```"
    if isinstance(element, ListItem) and text:
        return "item", "- " + one_line(text)
    if isinstance(element, Title) and text and headings:
        return "heading", "#" * min(6, 1 + (element.metadata.category_depth or 0)) + " " + one_line(text)
    return "text", text


def _table(html: str | None) -> str:
    from corebrain.documents.convert.html import html_document  # noqa: PLC0415 - few documents have tables

    return html_document(html, None)[0].strip() if html else ""


def _elements(format: str, data: bytes, **options: object) -> list[Element]:  # noqa: A002 - the contract's word
    partition = importlib.import_module(f"unstructured.partition.{format}")
    call = cast("_Partition", getattr(partition, f"partition_{format}"))
    try:
        return call(file=io.BytesIO(data), **options)
    except (ImportError, MemoryError, Refusal):
        raise
    except Exception as error:
        # The border to a library that raises whatever its own parsers raise.
        raise Damaged(f"unstructured cannot read it ({type(error).__name__})") from error


def _message(data: bytes) -> ConvertedDocument:
    """An Outlook message: the body by unstructured, head and attachments by the reader under it."""
    from oxmsg import Message  # noqa: PLC0415 - only messages need it

    body = elements_markdown(_elements("msg", data, process_attachments=False), headings=False)
    message = Message.load(io.BytesIO(data))
    headers = {name.lower(): decode_words(value) for name, value in message.message_headers.items()}
    parts = tuple(
        Part(
            one_line(item.file_name or f"attachment-{index + 1}"), item.mime_type or "application/octet-stream", content
        )
        for index, item in enumerate(message.attachments)
        if (content := item.file_bytes)
    )
    sent = message.sent_date
    receivers = ", ".join(f"{person.name} <{person.email_address}>" for person in message.recipients)
    head = [
        ("Subject", message.subject or ""),
        ("From", headers.get("from") or message.sender or ""),
        ("To", headers.get("to") or receivers),
        ("Cc", headers.get("cc", "")),
        ("Date", headers.get("date") or (sent.isoformat() if sent else "")),
    ]
    return ConvertedDocument(
        markdown=mail_markdown(head, body, [part.name for part in parts]),
        title=one_line(message.subject or "") or None,
        format="msg",
        language=None,
        converter=NAME,
        pages=None,
        size=len(data),
        parts=parts,
    )
