"""The files of a page as parts of its document: read at once, for their addresses die within the hour."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

from connectors.contract import Blob
from connectors.errors import ConnectorError, DocumentError, DocumentGone, Unavailable
from connectors.notion.signed import Attachment

if TYPE_CHECKING:
    from connectors.http.client import Client

Wanted: TypeAlias = Literal["none", "files", "all"]
"""No attachments; PDFs and other files; images too."""

_KINDS: dict[Wanted, frozenset[str]] = {
    "none": frozenset(),
    "files": frozenset({"pdf", "file"}),
    "all": frozenset({"pdf", "file", "image"}),
}

MOST = 100
"""Files of one page that are read."""


def read_attachments(http: "Client", files: Iterable[Attachment], wanted: Wanted, max_bytes: int) -> tuple[Blob, ...]:
    """Return the wanted files as parts, each once, in their order.

    A file that is over *max_bytes* or cannot be read is left out: it must not cost the page. The pipeline deletes the
    private copies.

    Raises:
        Unavailable: The place where Notion keeps files is out of reach.
    """
    kept: dict[str, Attachment] = {}
    for file in files:
        if file.kind in _KINDS[wanted]:
            kept.setdefault(file.url.partition("?")[0], file)
    parts = []
    for file in [*kept.values()][:MOST]:
        part = _read(http, file, max_bytes)
        if part is not None:
            parts.append(part)
    return tuple(parts)


def _read(http: "Client", file: Attachment, max_bytes: int) -> Blob | None:
    try:
        reply = http.download(file.url, max_bytes=max_bytes)
    except DocumentError:
        return None
    if reply.file is None:
        error: ConnectorError = reply.error(f"the file {file.name}")
        if isinstance(error, Unavailable) and not isinstance(error, DocumentGone):
            raise error
        return None
    media_type = "" if reply.media_type == "application/octet-stream" else reply.media_type
    return Blob(reply.file, media_type=media_type, filename=file.name)
