"""How a message reads as markdown, wherever it came from: a small head, the body, the names of what is attached."""

from collections.abc import Iterable
from email.errors import MessageError
from email.header import decode_header

from corebrain.documents.charset import decode_text
from corebrain.errors import Damaged


def mail_markdown(head: Iterable[tuple[str, str]], body: str, attachments: Iterable[str]) -> str:
    """One message.

    Args:
        head: Header names and their decoded values, in the order shown; empty values are left out.
        body: Markdown or plain text.
        attachments: File names.
    """
    names = ", ".join(name for name in attachments if name)
    lines = [f"{name}: {one_line(value)}" for name, value in (*head, ("Attachments", names)) if value.strip()]
    return "\n\n".join(block for block in ("  \n".join(lines), body.strip()) if block) + "\n"


def one_line(text: str) -> str:
    """Text without line breaks, runs of blanks made one."""
    return " ".join(text.split())


def decode_words(value: str) -> str:
    """A header value with its encoded words (RFC 2047) decoded, in whatever charset they claim or have."""
    try:
        chunks = decode_header(value)
    except (MessageError, ValueError):
        return value
    texts = [chunk if isinstance(chunk, str) else decode_declared(chunk, charset) for chunk, charset in chunks]
    return decode_declared("".join(texts).encode("utf-8", "surrogateescape"), "utf-8")


def decode_declared(data: bytes, declared: str | None) -> str:
    """Text in the declared charset; when the bytes are not in it, in the one they are in. Never fails."""
    try:
        return data.decode(declared or "ascii")
    except (UnicodeError, LookupError):
        pass
    try:
        return decode_text(data)
    except Damaged:
        return data.decode("utf-8", "replace")
