"""ZIP: a list of what it holds; what can be read becomes documents below it.

Nothing is unpacked to disk. Names are made harmless, sizes are checked against what the archive claims before and while
it is inflated, and members that share bytes (the way small files become terabytes) are refused.
"""

import io
import re
import struct
import unicodedata
import zipfile
import zlib
from dataclasses import dataclass, field

from corebrain.documents.escape import escape_tags
from corebrain.documents.sniff import sniff
from corebrain.documents.types import ConvertedDocument, Json, Part, RawDocument
from corebrain.errors import Damaged, Empty, Encrypted, TooLarge

NAME = "zip"
VERSION = 1

MAX_MEMBERS = 10_000
MAX_MEMBER_BYTES = 32 * 1024 * 1024
MAX_TOTAL_BYTES = 64 * 1024 * 1024
"""All members that are unpacked; those after it are only listed."""
MAX_RATIO = 200
"""Unpacked to packed bytes of the whole, once it is over `RATIO_FREE_BYTES`; text reaches 40."""
RATIO_FREE_BYTES = 8 * 1024 * 1024

_READ_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, ValueError, struct.error)
_LITTER = re.compile(r"(?:^|/)(?:__MACOSX|\.git|\.svn|\.hg|node_modules)/|(?:^|/)(?:\.DS_Store|Thumbs\.db)$")
_DRIVE = re.compile(r"^[A-Za-z]:")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(slots=True)
class _Found:
    left: int
    lines: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    locked: int = 0


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """The names and sizes of its files; those whose format is known are `parts`, their folders in their names.

    Raises:
        Empty: It holds no files.
        Encrypted: All its files are under a password.
        TooLarge: It holds more files, or unpacks to more, than any archive of documents does.
        Damaged: It cannot be read as an archive.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(raw.data) if isinstance(raw.data, bytes) else raw.data) as archive:
            members = [
                entry for entry in archive.infolist() if not entry.is_dir() and not _LITTER.search(entry.filename)
            ]
            _check(members, raw.size())
            found = _Found(MAX_TOTAL_BYTES)
            for entry in members:
                _read(archive, entry, raw.password, found)
    except _READ_ERRORS as error:
        raise Damaged("the archive cannot be read") from error
    if not members:
        raise Empty("the archive holds no files")
    if found.locked == len(members):
        raise Encrypted("the archive is protected with a password")
    metadata: dict[str, Json] = {"files": len(members)}
    return ConvertedDocument(
        markdown="\n".join(found.lines),
        title=None,
        format=format,
        language=None,
        converter=NAME,
        pages=None,
        size=raw.size(),
        parts=tuple(found.parts),
        metadata=metadata,
    )


def safe_name(name: str) -> str:
    """A member's name as a relative path: no drive, no root, no `..`, no sign that is not seen; NFC, `/` between."""
    plain = _UNSEEN.sub("", unicodedata.normalize("NFC", name)).replace("\\", "/")
    steps = [step.strip() for step in _DRIVE.sub("", plain).split("/")]
    return "/".join(step for step in steps if step not in {"", ".", ".."}) or "file"


def _check(members: list[zipfile.ZipInfo], size: int) -> None:
    if len(members) > MAX_MEMBERS:
        raise TooLarge(f"the archive holds more than {MAX_MEMBERS:,} files", advice="unpack it and add the folder")
    packed = sum(entry.compress_size for entry in members)
    unpacked = sum(entry.file_size for entry in members)
    if packed > size:
        raise Damaged("files of the archive lie over each other")
    if unpacked > RATIO_FREE_BYTES and unpacked > MAX_RATIO * max(packed, 1):
        raise TooLarge(f"the archive unpacks to {unpacked >> 20} MiB, out of all proportion")


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, password: str | None, found: _Found) -> None:
    """List a member and take it along when its format is known."""
    name = safe_name(entry.filename)
    note = ""
    if entry.flag_bits & 1 and password is None:
        note = ", encrypted"
        found.locked += 1
    elif entry.file_size > min(MAX_MEMBER_BYTES, found.left):
        note = ", left out for its size"
    else:
        data = _inflated(archive, entry, password)
        found.left -= len(data or b"")
        if data is None:
            note = ", damaged"
        elif data and sniff(data, name) != "unknown":
            found.parts.append(Part(name, "application/octet-stream", data))
    found.lines.append(f"- {escape_tags(name)} ({entry.file_size:,} bytes{note})")


def _inflated(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, password: str | None) -> bytes | None:
    """A member's bytes; `None` when they are not what the archive says, or the password is another one."""
    try:
        with archive.open(entry, pwd=password.encode() if password else None) as stream:
            return stream.read(entry.file_size + 1)
    except (*_READ_ERRORS, RuntimeError):  # zipfile's word for a wrong password
        return None
