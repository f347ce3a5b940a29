"""The values between a file and its markdown (spec 07 section 1)."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document as its source gave it.

    Attributes:
        data: The bytes, or a file that holds them and does not change during the conversion.
        filename: Name or path, when there is one; its last component decides the format of textual content.
        mime: The media type the source declared; parameters are allowed.
        origin: The URL it came from; relative links are made absolute against it.
        password: What opens it, when it is encrypted and the password is known.
    """

    data: bytes | Path
    filename: str | None = None
    mime: str | None = None
    origin: str | None = None
    password: str | None = field(default=None, repr=False)

    def read(self) -> bytes:
        """The bytes, from the file when `data` names one."""
        return self.data if isinstance(self.data, bytes) else self.data.read_bytes()

    def head(self, count: int) -> bytes:
        """The first `count` bytes."""
        if isinstance(self.data, bytes):
            return self.data[:count]
        with self.data.open("rb") as file:
            return file.read(count)

    def size(self) -> int:
        """How many bytes; a file is not read for it."""
        return len(self.data) if isinstance(self.data, bytes) else self.data.stat().st_size


@dataclass(frozen=True, slots=True)
class Part:
    """An attachment, raw: a document of its own.

    Attributes:
        name: File name as the parent gives it; may repeat within one parent.
        media_type: Declared type, `application/octet-stream` when none was.
        data: The decoded bytes.
    """

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ConvertedDocument:
    """Markdown and what the file said about itself.

    Attributes:
        markdown: Never blank; the pages of a paged format are joined by a form feed (U+000C).
        title: The document's own title, when it has one.
        format: A name of `corebrain.documents.registry.FORMATS`.
        language: As the document declares it, or the name of the programming language.
        converter: Who converted it, as `<name>` or `<name>:<library>`.
        pages: Number of pages, when the format has pages.
        size: Bytes of the source.
        tags: The author's own, in the document's order.
        parts: Attachments, in the document's order.
        metadata: What else is worth showing; never hashed.
    """

    markdown: str
    title: str | None
    format: str
    language: str | None
    converter: str
    pages: int | None
    size: int
    tags: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    metadata: dict[str, Json] = field(default_factory=dict)


class DocumentConverter(Protocol):
    """Something that turns files of some formats into markdown."""

    name: str
    version: int

    def supports(self, format: str) -> bool:  # noqa: A002 - the contract's word
        """Whether `convert` may be called for this format."""
        ...

    def convert(self, raw: RawDocument) -> ConvertedDocument:
        """Markdown of `raw`.

        Raises:
            Refusal: The document cannot be converted; the subclass says why, `.advice` what to do.
        """
        ...
