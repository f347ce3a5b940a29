"""PPTX to markdown, straight from the parts with lxml (ECMA-376): a section a slide, its notes at its end."""

from collections.abc import Iterator

from corebrain.documents.convert.ooxml import Element, OoxmlPackage, relation_id
from corebrain.documents.convert.pptx_shapes import SlideReader
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Damaged, Empty

NAME = "pptx"
VERSION = 1
MAX_SLIDES = 5_000

_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """Markdown of a presentation: `## Slide 3: its title`, then its text, tables, chart data and notes.

    Raises:
        Empty: No slide holds text.
        Damaged: It is not a whole presentation.
        Encrypted: A password protects it.
        TooLarge: It unpacks to more than the limits of `ooxml`.
    """
    package = OoxmlPackage(raw.data)
    sections: list[str] = []
    spoken, count, titles = False, 0, []
    for count, (name, slide) in enumerate(_slides(package), 1):
        reader = SlideReader(package, package.relations(name))
        title, blocks = reader.read(slide)
        blocks += _notes(package, name)
        spoken = spoken or bool(title or blocks)
        titles.append(title)
        hidden = " (hidden)" if slide.get("show") in {"0", "false"} else ""
        sections.append("\n\n".join([f"## Slide {count}{': ' if title else ''}{title}{hidden}", *blocks]))
    if not spoken:
        raise Empty("no slide holds text")
    own_title, language, metadata = package.properties()
    return ConvertedDocument(
        markdown="\n\n".join(sections),
        title=own_title or next((each for each in titles if each), None),
        format=format,
        language=language,
        converter=f"{NAME}:lxml",
        pages=None,
        size=package.size,
        metadata={**metadata, "slides": count},
    )


def _slides(package: OoxmlPackage) -> Iterator[tuple[str, Element]]:
    """The slides' part names and roots in the order they are shown."""
    main = package.main()
    root, relations = package.part(main), package.relations(main)
    if root is None:
        raise Damaged("the presentation part is missing or broken")
    for node in list(root.iterfind(f"{_P}sldIdLst/{_P}sldId"))[:MAX_SLIDES]:
        relation = relations.get(relation_id(node) or "")
        slide = package.part(relation.target) if relation and not relation.external else None
        if relation is not None and slide is not None:
            yield relation.target, slide


def _notes(package: OoxmlPackage, name: str) -> list[str]:
    target = next((each.target for each in package.relations(name).values() if each.kind == "notesSlide"), None)
    root = package.part(target) if target else None
    if root is None or target is None:
        return []
    text = SlideReader(package, package.relations(target)).notes(root)
    return [f"**Notes:** {text}"] if text else []
