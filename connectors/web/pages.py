"""From a reply to a page: what it is, what it says of itself, and the blob of its document. No network."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from hashlib import sha256
from urllib.parse import unquote

from connectors.contract import Blob
from connectors.http import Response
from connectors.web.addresses import Address
from connectors.web.robots import Directives, directives
from corebrain.documents.formats import FORMAT_OF_EXTENSION, FORMAT_OF_MIME, IMAGES
from corebrain.documents.html_links import PageHead, read_head, visible_text
from corebrain.errors import CorebrainError

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_VAGUE = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream", "application/force-download"})
"""Types that servers give to what they do not know; a name's extension says more."""
_OLD_OFFICE = frozenset({"application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"})
_NEVER = frozenset({"zip", "code", "unknown"}) | IMAGES
_SEPARATORS = (
    "|\u00b7\u2022\u2013\u2014-:\u00bb\u203a~/("  # bar, dots, dashes, quotes: what stands before a site's name
)
_PERMALINKS = " #\u00b6\u00a7\u200b\uf0c1"  # what generators put behind a heading to link to it
_WORD_BREAKS = re.compile(r"[-_+\s]+")
_MOST_CRUMBS = 12


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was read.

    Attributes:
        address: Where it answered.
        answer: The reply.
        head: What it says of itself; empty for what is not HTML.
        asks: What it asks of robots.
        is_drawn: Whether a browser made it from what was answered.
    """

    address: Address
    answer: Response
    head: PageHead
    asks: Directives
    is_drawn: bool = False

    @property
    def token(self) -> str:
        """Fingerprint of its bytes; of its text when it was drawn, for scripts leave marks of the moment."""
        told = visible_text(self.answer.content, "text/html").encode() if self.is_drawn else self.answer.content
        return sha256(told).hexdigest()[:32]

    @property
    def modified(self) -> datetime | None:
        """When it last changed, as it says itself or by its header."""
        return self.head.modified or _http_date(self.answer.headers.get("last-modified", ""))

    def blob(self, profile: str = "") -> Blob:
        """Return its document.

        Args:
            profile: How a web page is to be converted, as a parameter of its media type; empty is the usual way.
        """
        answer = self.answer
        name = filename(self.address, answer)
        declared = answer.headers.get("content-type", "")
        vague = answer.media_type in _VAGUE and _format(name) is not None
        if profile and is_html(answer):
            declared, vague = f"{declared or 'text/html'}; profile={profile}", False
        return Blob(
            data=answer.content,
            media_type="" if vague else declared,
            filename=name,
            token=self.token,
            title=plain_title(self.head),
            url=self.address.url,
            modified=self.modified,
            language="" if self.head.language else _language(answer.headers.get("content-language", "")),
            path=self.head.crumbs or url_crumbs(self.address),
        )


def read_page(address: Address, answer: Response, agent: str) -> Page:
    """Read what a reply says of itself; a page too large or too odd to look into says nothing, and leads nowhere."""
    head = PageHead()
    if is_html(answer):
        try:
            head = read_head(answer.content, answer.headers.get("content-type"))
        except CorebrainError:  # its converter refuses it with the same error, which is then told
            head = PageHead()
    return Page(address, answer, head, directives(agent, answer.headers.get("x-robots-tag", ""), head.robots))


def is_html(answer: Response) -> bool:
    """Whether a reply is a web page, by its type, or by its beginning when it has none; never when it holds a NUL."""
    if answer.media_type in _HTML:
        return b"\0" not in answer.content[:1024] or answer.content.startswith((b"\xff\xfe", b"\xfe\xff"))
    start = answer.content[:512].lstrip().lower()
    return answer.media_type in _VAGUE - {"text/plain"} and start.startswith((b"<!doctype html", b"<html"))


def is_document(address: Address, answer: Response) -> bool:
    """Whether a reply is of a kind that becomes a document: pages, text, PDFs, Office files and their like."""
    kind = answer.media_type
    if kind in _HTML or kind in _OLD_OFFICE or is_html(answer):
        return True
    found = _format(filename(address, answer)) if kind in _VAGUE else FORMAT_OF_MIME.get(kind)
    if found is None and kind == "text/plain":
        return True
    return found is not None and found not in _NEVER


def filename(address: Address, answer: Response) -> str:
    """Return the name of a file: as the reply says, else the last part of its address when it has an extension."""
    message = Message()
    message["content-disposition"] = answer.headers.get("content-disposition", "")
    name = message.get_filename() or ""
    last = unquote(address.path.rpartition("/")[2])
    chosen = name.replace("\\", "/").rpartition("/")[2] or (last if "." in last else "")
    return "".join(each for each in chosen if each.isprintable())[:200]


def plain_title(head: PageHead) -> str:
    """Return the title without the site's name after it; empty leaves it to the document.

    A `<title>` that begins with the page's own name (its `og:title` or first heading) and goes on after a separator is
    that name.
    """
    for name in (head.name, head.heading.rstrip(_PERMALINKS)):
        rest = head.title[len(name) :].strip()
        if name and head.title.startswith(name) and rest[:1] and rest[0] in _SEPARATORS:
            return name
    return ""


def url_crumbs(address: Address) -> tuple[str, ...]:
    """Return the folders of an address as words: the breadcrumb of a page that gives none."""
    folders = [unquote(part) for part in address.path.split("/")[1:-1]]
    if address.path.endswith("/") and folders:
        folders.pop()  # the page itself
    words = (_WORD_BREAKS.sub(" ", unicodedata.normalize("NFC", part)).strip() for part in folders)
    return tuple(word[:100] for word in words if word.isprintable() and word)[:_MOST_CRUMBS]


def _format(name: str) -> str | None:
    return FORMAT_OF_EXTENSION.get(name.rpartition(".")[2].lower()) if "." in name else None


def _language(header: str) -> str:
    first = header.partition(",")[0].strip()
    return first if re.fullmatch(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*", first) else ""


def _http_date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
