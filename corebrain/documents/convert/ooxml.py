"""The zip package under DOCX, PPTX and XLSX: guarded reading of its XML parts (ECMA-376 part 2).

Every part is inflated under a cap, none may hold a DTD, nothing outside the package is opened, no macro is looked at.
"""

import io
import posixpath
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from lxml import etree

from corebrain.documents.types import Json
from corebrain.errors import Damaged, Encrypted, TooLarge

Element: TypeAlias = etree._Element  # noqa: SLF001 - lxml's public element type has no other name

MAX_ENTRIES = 20_000
MAX_PART_BYTES = 96 * 1024 * 1024
"""One XML part unpacked; its tree takes about eight times that."""
MAX_TOTAL_BYTES = 512 * 1024 * 1024
"""All XML parts unpacked."""
MAX_RATIO = 200
"""Unpacked to packed bytes of a part over `RATIO_FREE_BYTES`; real documents reach 40."""
RATIO_FREE_BYTES = 8 * 1024 * 1024
_HUGE_BYTES = 8 * 1024 * 1024  # libxml2 caps a text node at 10 MB and depth at 256 unless told otherwise

_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_REL_PREFIXES = ("{http://schemas.openxmlformats.org/officeDocument/2006/relationships}",)
_STRICT = re.compile(
    rb"http://purl\.oclc\.org/ooxml/(officeDocument|wordprocessingml|drawingml|presentationml|spreadsheetml)/"
)
# ECMA-376 strict namespaces differ from the transitional ones only in this head and the year.
_STRICT_HEADS = {
    b"officeDocument": b"http://schemas.openxmlformats.org/officeDocument/2006/",
    b"wordprocessingml": b"http://schemas.openxmlformats.org/wordprocessingml/2006/",
    b"drawingml": b"http://schemas.openxmlformats.org/drawingml/2006/",
    b"presentationml": b"http://schemas.openxmlformats.org/presentationml/2006/",
    b"spreadsheetml": b"http://schemas.openxmlformats.org/spreadsheetml/2006/",
}
_DEFAULT_TITLES = frozenset({"powerpoint presentation", "powerpoint-präsentation", "présentation powerpoint",
                             "word document", "untitled", "title"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Relation:
    """Where a part points: `kind` is the last word of its type, `target` a part name or an outside URL."""

    kind: str
    target: str
    external: bool


class OoxmlPackage:
    """A checked package. Reading a part again parses it again.

    Args:
        data: The file's bytes, or where they are.

    Raises:
        Damaged: Not a whole zip, or not one of the Office kind.
        Encrypted: A password protects it.
        TooLarge: It unpacks to more than the limits of this module.
    """

    def __init__(self, data: bytes | Path) -> None:
        head = data.open("rb").read(8) if isinstance(data, Path) else data[:8]
        if head == _OLE_MAGIC:
            raise Encrypted("the file is protected with a password")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data) if isinstance(data, bytes) else data)
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error) as error:
            raise Damaged("the file is not a whole zip package") from error
        self.size = len(data) if isinstance(data, bytes) else data.stat().st_size
        check_zip(self._zip)
        self._spent = 0
        self._relations: dict[str, dict[str, Relation]] = {}
        self._lower = {name.lower(): name for name in self._zip.namelist()}

    def names(self) -> list[str]:
        """The parts' names as stored."""
        return self._zip.namelist()

    def main(self) -> str:
        """Name of the part everything hangs on.

        Raises:
            Damaged: There is none.
        """
        for relation in self.relations("").values():
            if relation.kind == "officeDocument":
                return relation.target
        raise Damaged("the package names no main part")

    def read(self, name: str) -> bytes | None:
        """A part unpacked, None when there is none of that name (case does not count, ECMA-376-2 6.2.2.3)."""
        stored = self._lower.get(name.lower())
        if stored is None:
            return None
        try:
            with self._zip.open(stored) as stream:
                data = stream.read(MAX_PART_BYTES + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, ValueError) as error:
            raise Damaged(f"part {name} cannot be unpacked") from error
        except RuntimeError as error:  # what zipfile raises for an encrypted entry
            raise Encrypted("the file is protected with a password") from error
        self._spent += len(data)
        if len(data) > MAX_PART_BYTES or self._spent > MAX_TOTAL_BYTES:
            raise TooLarge(f"part {name} unpacks to more than {MAX_PART_BYTES >> 20} MiB")
        return data

    def part(self, name: str) -> Element | None:
        """A part's root element, None when it is missing or holds no element."""
        data = self.read(name)
        return parse_xml(data, name) if data is not None else None

    def relations(self, name: str) -> dict[str, Relation]:
        """What a part points to, by id; empty for a part without relations."""
        known = self._relations.get(name)
        if known is not None:
            return known
        folder, file = posixpath.split(name)
        root = self.part(posixpath.join(folder, "_rels", f"{file}.rels"))
        found: dict[str, Relation] = {}
        for node in root if root is not None else ():
            target, key = node.get("Target"), node.get("Id")
            if not target or not key:
                continue
            external = node.get("TargetMode") == "External"
            if not external:
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            found[key] = Relation((node.get("Type") or "").rsplit("/", 1)[-1], target, external)
        self._relations[name] = found
        return found

    def properties(self) -> tuple[str | None, str | None, dict[str, Json]]:
        """Title, language and the rest of the core properties (ECMA-376-2 11): author, subject, keywords."""
        target = next((each.target for each in self.relations("").values() if each.kind == "core-properties"), None)
        root = self.part(target) if target else None
        values: dict[str, str] = {}
        for node in root if root is not None else ():
            if isinstance(node.tag, str) and (node.text or "").strip():
                values[node.tag.rpartition("}")[2]] = " ".join(node.text.split())
        title = values.get("title")
        if title and title.lower() in _DEFAULT_TITLES:
            title = None
        shown: dict[str, Json] = {
            key: values[name][:1000]
            for name, key in (("creator", "author"), ("subject", "subject"), ("keywords", "keywords"))
            if name in values
        }
        if any(name.lower().endswith("vbaproject.bin") for name in self._zip.namelist()):
            shown["has_macros"] = True
        return title, values.get("language"), shown


def check_zip(archive: zipfile.ZipFile) -> None:
    """Refuse a zip that would unpack to more than a document can need.

    Raises:
        TooLarge: Too many entries, or XML out of proportion.
        Damaged: An entry's sizes cannot be true.
    """
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise TooLarge(f"the package has {len(entries)} entries, over the limit of {MAX_ENTRIES}")
    total = 0
    for entry in entries:
        if not entry.filename.lower().endswith((".xml", ".rels", ".vml")):
            continue  # pictures and embedded files are never unpacked
        total += entry.file_size
        if entry.file_size > RATIO_FREE_BYTES and entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
            raise TooLarge(f"part {entry.filename} unpacks to {entry.file_size >> 20} MiB, out of all proportion")
        if entry.compress_size > entry.file_size * 1.1 + 1024:
            raise Damaged(f"part {entry.filename} declares a size that cannot be true")
    if total > MAX_TOTAL_BYTES:
        raise TooLarge(f"the package unpacks to {total >> 20} MiB, over the limit of {MAX_TOTAL_BYTES >> 20} MiB")


def parse_xml(data: bytes, name: str) -> Element | None:
    """The root of an XML part; what is broken in it is skipped, None when nothing is left.

    Raises:
        Damaged: It holds a DTD, which no Office program writes and which can hide bombs and outside files.
    """
    if b"\x00" in data[:4]:  # UTF-16, with or without its mark
        data = _as_utf8(data)
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise Damaged(f"part {name} holds a document type definition, which is refused")
    if b"purl.oclc.org/ooxml/" in data:
        data = _STRICT.sub(lambda match: _STRICT_HEADS[match[1]], data)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=len(data) > _HUGE_BYTES
    )
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return None


def _as_utf8(data: bytes) -> bytes:
    """A UTF-16 part as UTF-8, its declaration removed, so that the checks see what the parser sees."""
    encoding = "utf-16-be" if data[:2] == b"\xfe\xff" or data[:1] == b"\x00" else "utf-16-le"
    text = data.decode(encoding, "replace").lstrip("\ufeff")
    return re.sub(r"^\s*<\?xml[^>]*\?>", "", text).encode()


def relation_id(node: Element, name: str = "id") -> str | None:
    """The `r:id` (or `r:embed`, `r:link` …) of an element."""
    for prefix in _REL_PREFIXES:
        value = node.get(prefix + name)
        if value is not None:
            return str(value)
    return None
