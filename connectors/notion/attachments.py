"""The files of a page as parts of its document: read at once, for their addresses die within the hour."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

from connectors.contract import Blob
from connectors.errors import DocumentError, DocumentRefused, Unavailable
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


def read_attachments(
    http: "Client",
    files: Iterable[Attachment],
    wanted: Wanted,
    max_bytes: int,
    left_out: Callable[[str, str], None],
) -> tuple[Blob, ...]:
    """Return the wanted files as parts, each once, in their order. The pipeline deletes the private copies.

    A file that is over *max_bytes* or cannot be read, and what is beyond `MOST` files, is left out, for it must not
    cost the page: its name and the reason go to *left_out*.

    Raises:
        Unavailable: The place where Notion keeps files is out of reach.
    """
    kept: dict[str, Attachment] = {}
    for file in files:
        if file.kind in _KINDS[wanted]:
            kept.setdefault(file.url.partition("?")[0], file)
    parts = []
    for file in [*kept.values()][:MOST]:
        try:
            parts.append(_read(http, file, max_bytes))
        except DocumentError as error:
            left_out(file.name, error.message)
    if len(kept) > MOST:
        left_out(f"{len(kept) - MOST} files", f"a page's first {MOST} are read")
    return tuple(parts)


def _read(http: "Client", file: Attachment, max_bytes: int) -> Blob:
    reply = http.download(file.url, max_bytes=max_bytes)
    if reply.file is None:
        error = reply.error(f"the file {file.name}")
        if isinstance(error, Unavailable | DocumentError):
            raise error
        raise DocumentRefused(error.message, "open the page in Notion and look whether the file is there")
    media_type = "" if reply.media_type == "application/octet-stream" else reply.media_type
    return Blob(reply.file, media_type=media_type, filename=file.name)
