"""ODT and ODP to markdown, straight from the parts with lxml (OpenDocument 1.3): no program is needed."""

from corebrain.documents.convert.odf_styles import DC, DRAW, META, OFFICE, PRESENTATION, OdfStyles
from corebrain.documents.convert.odf_text import OdfReader
from corebrain.documents.convert.ooxml import Element, OoxmlPackage
from corebrain.documents.types import ConvertedDocument, Json, RawDocument
from corebrain.errors import Damaged, Empty, Encrypted

NAME = "odf"
VERSION = 1
MAX_SLIDES = 5_000

_ENCRYPTION = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}encryption-data"


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """Markdown of a text or a presentation.

    Changes are taken as accepted, comments are left out, notes stand at the end as `[^1]: ...`; a slide is a section
    `## Slide 3: its title`, its notes at its end.

    Raises:
        Empty: Nothing in it is text.
        Damaged: It is not a whole OpenDocument.
        Encrypted: A password protects it.
        TooLarge: It unpacks to more than the limits of `ooxml`.
    """
    package = OoxmlPackage(raw.data)
    manifest = package.part("META-INF/manifest.xml")
    if manifest is not None and next(manifest.iter(_ENCRYPTION), None) is not None:
        raise Encrypted("the document is protected with a password")
    content = package.part("content.xml")
    body = content.find(OFFICE + "body") if content is not None else None
    if content is None or body is None:
        raise Damaged("the content part is missing or broken")
    styles = OdfStyles()
    for root in (content, package.part("styles.xml")):
        if root is not None:
            styles.read(root)
    reader = OdfReader(styles)
    slides = body.find(OFFICE + "presentation")
    text = body.find(OFFICE + "text")
    blocks = (
        _slides(slides, reader, styles) if slides is not None else reader.blocks(text if text is not None else body)
    )
    blocks += [f"[^{number}]: {note}" for number, note in enumerate(reader.notes, 1)]
    if not blocks:
        raise Empty("the document holds no text")
    title, language, metadata = _properties(package)
    return ConvertedDocument(
        markdown="\n\n".join(blocks),
        title=title,
        format=format,
        language=language,
        converter=f"{NAME}:lxml",
        pages=None,
        size=package.size,
        metadata=metadata,
    )


def _slides(root: Element, reader: OdfReader, styles: OdfStyles) -> list[str]:
    sections: list[str] = []
    spoken = False
    for count, page in enumerate(list(root.iterchildren(DRAW + "page"))[:MAX_SLIDES], 1):
        title, blocks = _slide(page, reader)
        hidden = " (hidden)" if styles.is_hidden(page.get(DRAW + "style-name")) else ""
        sections += [f"## Slide {count}{': ' if title else ''}{title}{hidden}", *blocks]
        spoken = spoken or bool(title or blocks)
    return sections if spoken else []


def _slide(page: Element, reader: OdfReader) -> tuple[str, list[str]]:
    """A slide's title, and its other blocks with the speaker's notes last."""
    title, blocks = "", []
    for shape in page:
        if shape.tag == PRESENTATION + "notes":
            continue
        found = reader.blocks(shape)
        if shape.get(PRESENTATION + "class") == "title" and not title:
            title = " ".join(" ".join(found).split()).lstrip("# ")
        else:
            blocks += found
    notes = page.find(PRESENTATION + "notes")
    said = [
        " ".join(block.split())
        for frame in (notes if notes is not None else ())
        if frame.get(PRESENTATION + "class") == "notes"
        for block in reader.blocks(frame)
    ]
    return title, [*blocks, *([f"**Notes:** {' '.join(said)}"] if said else [])]


def _properties(package: OoxmlPackage) -> tuple[str | None, str | None, dict[str, Json]]:
    """Title, language and the rest of `meta.xml`: author, subject, keywords."""
    root = package.part("meta.xml")
    values: dict[str, list[str]] = {}
    for node in root.iter() if root is not None else ():
        if isinstance(node.tag, str) and node.tag.startswith((DC, META)) and (node.text or "").strip():
            values.setdefault(node.tag.rpartition("}")[2], []).append(" ".join(str(node.text).split()))
    author = values.get("initial-creator") or values.get("creator") or []
    named = {"author": author, "subject": values.get("subject", []), "keywords": values.get("keyword", [])}
    shown: dict[str, Json] = {key: ", ".join(found)[:1000] for key, found in named.items() if found}
    return next(iter(values.get("title", [])), None), next(iter(values.get("language", [])), None), shown
