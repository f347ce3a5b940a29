"""DOCX to markdown, straight from the parts with lxml (ECMA-376): what Word shows with all changes accepted."""

from corebrain.documents.convert.docx_body import Body
from corebrain.documents.convert.docx_numbering import Numbering
from corebrain.documents.convert.docx_styles import Styles, W
from corebrain.documents.convert.ooxml import Element, OoxmlPackage, Relation
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Damaged, Empty

NAME = "docx"
VERSION = 1
COMMENTS = "comments"


def convert(raw: RawDocument, format: str, wanted: str = "") -> ConvertedDocument:  # noqa: A002 - the contract's word
    """Markdown of a Word document.

    Headings come from styles, list numbers are counted as Word counts them, tracked changes are taken as accepted,
    notes stand at the end as `[^1]: ...`, a text box once, after its anchor. Comments are left out, or notes with their
    author's name when `wanted` is `comments`.

    Raises:
        Empty: Nothing in it is text.
        Damaged: It is not a whole Word document.
        Encrypted: A password protects it.
        TooLarge: It unpacks to more than the limits of `ooxml`.
    """
    package = OoxmlPackage(raw.data)
    main = package.main()
    root = package.part(main)
    if root is None:
        raise Damaged("the document part is missing or broken")
    blocks = _document_blocks(package, main, root, comments=wanted == COMMENTS)
    if not blocks:
        raise Empty("the document holds no text")
    title, language, metadata = package.properties()
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


def _document_blocks(package: OoxmlPackage, main: str, root: Element, *, comments: bool) -> list[str]:
    relations = package.relations(main)
    styles = Styles(_part(package, relations, "styles"))
    numbering = Numbering(lambda: _part(package, relations, "numbering"))
    notes: dict[str, int] = {}
    body = root.find(W + "body")
    blocks = Body(package, relations, styles, numbering, notes, comments=comments).blocks(
        body if body is not None else root
    )
    for kind in ("footnote", "endnote", "comment"):
        wanted = {key: number for key, number in notes.items() if key.startswith(kind)}
        target = next((each.target for each in relations.values() if each.kind == f"{kind}s"), None)
        part = package.part(target) if wanted and target else None
        if part is None or target is None:
            continue
        reader = Body(package, package.relations(target), styles, numbering, {})
        for node in part:
            number = wanted.get(f"{kind}:{node.get(W + 'id')}")
            text = " ".join(" ".join(reader.blocks(node)).split()) if number else ""
            author = f"{node.get(W + 'author', 'Comment')}: " if kind == "comment" else ""
            blocks.extend([f"[^{number}]: {author}{text}"] if text else [])
    return blocks


def _part(package: OoxmlPackage, relations: dict[str, Relation], kind: str) -> Element | None:
    target = next((each.target for each in relations.values() if each.kind == kind and not each.external), None)
    return package.part(target) if target else None
