"""E-mail as sent (RFC 5322 and MIME): head, body, attachments as parts.

Written for what arrives, not for what the standards ask: unknown charsets, broken encodings and missing boundaries
give the text there is.
"""

import email
import re
from dataclasses import dataclass, field
from email.errors import MessageError
from email.message import Message
from typing import TypeAlias

from corebrain.documents.charset import decode_text, marked_encoding, wide_encoding
from corebrain.documents.convert.mail_text import decode_declared, decode_words, mail_markdown, one_line
from corebrain.documents.types import ConvertedDocument, Part, RawDocument
from corebrain.errors import Damaged, Refusal

NAME = "email"
VERSION = 1

MAX_DEPTH = 50
_HEADER_CHARACTERS = 20_000
_ENCRYPTED = "*The body of this message is encrypted.*"
_SEALED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_Mail: TypeAlias = "Message[str, str]"


@dataclass(slots=True)
class _Found:
    """What the walk has collected."""

    bodies: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    encrypted: bool = False
    origin: str | None = None


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """The message; its title is the subject.

    Raises:
        Damaged: No header and no body can be made out, or parts are nested beyond sense.
    """
    data = raw.read()
    try:
        mail = _parse(data)
        found = _Found(origin=raw.origin)
        _walk(mail, found, 0)
    except (RecursionError, MessageError) as error:
        raise Damaged("the parts of the message are nested beyond sense") from error
    subject = one_line(_header(mail, "Subject"))
    head = [(name, _header(mail, name)) for name in ("From", "To", "Cc", "Date")]
    if not subject and not any(value for _, value in head) and not found.bodies and not found.parts:
        raise Damaged("no header and no body of a message")
    attachments = (part.name for part in found.parts)
    return ConvertedDocument(
        markdown=mail_markdown([("Subject", subject), *head], "\n\n".join(found.bodies), attachments),
        title=subject or None,
        format=format,
        language=None,
        converter=NAME,
        pages=None,
        size=len(data),
        parts=tuple(found.parts),
        metadata={"encrypted": True} if found.encrypted else {},
    )


def _parse(data: bytes) -> _Mail:
    if marked_encoding(data) or wide_encoding(data):
        return email.message_from_bytes(decode_text(data).lstrip("\ufeff").encode())
    return email.message_from_bytes(data)


def _walk(part: _Mail, found: _Found, depth: int) -> None:
    kind = part.get_content_type()
    if depth > MAX_DEPTH:
        raise RecursionError
    if kind in _SEALED and part.get_param("smime-type") != "signed-data":
        found.encrypted = True
        found.bodies.append(_ENCRYPTED)
    elif kind == "multipart/alternative" and not _is_attached(part):
        _alternative(part, found, depth)
    elif kind == "message/rfc822":
        found.parts.extend(_enclosed(child) for child in _children(part))
    elif part.is_multipart():
        for child in _children(part):
            _walk(child, found, depth + 1)
    elif kind in {"text/plain", "text/html"} and not _is_attached(part):
        body = _body(part, kind, found.origin)
        found.bodies += [body] if body.strip() else []
    elif kind not in _SIGNATURES and not _is_decoration(part, kind):
        found.parts.append(_attachment(part, kind, len(found.parts)))


def _alternative(part: _Mail, found: _Found, depth: int) -> None:
    """Of several forms of one text the plain one, else the last that holds text; what they enclose is kept."""
    choices: list[_Found] = []
    for child in _children(part):
        choice = _Found(origin=found.origin)
        _walk(child, choice, depth + 1)
        plain = child.get_content_type() == "text/plain"
        choices = [choice, *choices] if plain else [*choices, choice]
        found.parts.extend(choice.parts)
        found.encrypted |= choice.encrypted
    found.bodies += next((choice.bodies for choice in choices if choice.bodies), [])


def _children(part: _Mail) -> list[_Mail]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _is_attached(part: _Mail) -> bool:
    return part.get_content_disposition() == "attachment" or (part.get_filename() is not None)


def _is_decoration(part: _Mail, kind: str) -> bool:
    """Logos and the like: pictures that the body shows by their content id."""
    return kind.startswith("image/") and part["Content-ID"] is not None and not _says_attachment(part)


def _says_attachment(part: _Mail) -> bool:
    return part.get_content_disposition() == "attachment"


def _body(part: _Mail, kind: str, origin: str | None) -> str:
    data = _payload(part)
    declared = part.get_content_charset()
    if kind == "text/plain":
        return decode_declared(data, declared).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    from corebrain.documents.convert import html  # noqa: PLC0415 - most messages have plain text

    try:
        mime = f"text/html; charset={declared}" if declared else "text/html"
        return html.convert(RawDocument(data, None, mime, origin), "html").markdown.strip()
    except Refusal:
        return ""


def _payload(part: _Mail) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _attachment(part: _Mail, kind: str, index: int) -> Part:
    name = one_line(decode_words(part.get_filename() or "")) or f"attachment-{index + 1}"
    return Part(_last(name), kind, _payload(part))


def _enclosed(mail: _Mail) -> Part:
    """A forwarded message, as its own source."""
    name = one_line(_header(mail, "Subject")) or "message"
    try:
        data = mail.as_bytes()
    except (UnicodeError, LookupError, ValueError):
        data = mail.as_string().encode("utf-8", "replace")
    return Part(f"{_last(name)[:120]}.eml", "message/rfc822", data)


def _last(name: str) -> str:
    """A bare file name: no folders, no control characters."""
    return re.sub(r"[\x00-\x1f\x7f]", "", re.split(r"[/\\]", name)[-1]) or "attachment"


def _header(mail: _Mail, name: str) -> str:
    """A header as it came, its first occurrence, decoded."""
    values = (str(value) for key, value in mail.raw_items() if key.lower() == name.lower())
    return one_line(decode_words(next(values, "")[:_HEADER_CHARACTERS]))
