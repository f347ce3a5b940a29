"""Styles of an OpenDocument: which are bold, which are titles, code or hidden, which lists are numbered (ODF 1.3)."""

from dataclasses import dataclass, field

from corebrain.documents.convert.ooxml import Element

_URN = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE, TEXT, TABLE, DRAW = (f"{{{_URN}{name}:1.0}}" for name in ("office", "text", "table", "drawing"))
STYLE, PRESENTATION, META = (f"{{{_URN}{name}:1.0}}" for name in ("style", "presentation", "meta"))
FO, SVG = (f"{{{_URN}{name}-compatible:1.0}}" for name in ("xsl-fo", "svg"))
XLINK, DC = "{http://www.w3.org/1999/xlink}", "{http://purl.org/dc/elements/1.1/}"

_MAX_PARENTS = 20
_CODE = ("Preformatted", "Source_20_Code", "Code")


@dataclass(frozen=True, slots=True)
class _Style:
    parent: str
    mark: str
    hidden: bool


@dataclass(slots=True)
class OdfStyles:
    """The styles of `content.xml` and `styles.xml` together; a name that is not there has no effect."""

    _styles: dict[str, _Style] = field(default_factory=dict)
    _numbered: set[tuple[str, int]] = field(default_factory=set)

    def read(self, root: Element) -> None:
        """Add the styles of one part."""
        for node in root.iter(STYLE + "style"):
            self._styles.setdefault(node.get(STYLE + "name", ""), _style(node))
        for node in root.iter(TEXT + "list-style"):
            name = node.get(STYLE + "name", "")
            for level in node.iterchildren(TEXT + "list-level-style-number"):
                if level.get(STYLE + "num-format"):
                    self._numbered.add((name, whole(level.get(TEXT + "level"), 1)))

    def mark(self, name: str | None) -> str:
        """The emphasis of a span: `**`, `*`, `***` or nothing."""
        style = self._styles.get(name or "")
        return style.mark if style else ""

    def is_hidden(self, name: str | None) -> bool:
        """Whether a slide of that style is not shown."""
        style = self._styles.get(name or "")
        return style is not None and style.hidden

    def is_numbered(self, name: str | None, level: int) -> bool:
        """Whether a list of that style counts at a level, from 1."""
        return (name or "", level) in self._numbered

    def is_title(self, name: str | None) -> bool:
        """Whether a paragraph of that style is the document's title."""
        return "Title" in self._line(name)

    def is_code(self, name: str | None) -> bool:
        """Whether a paragraph of that style is program text."""
        return any(each.startswith(_CODE) for each in self._line(name))

    def is_quote(self, name: str | None) -> bool:
        """Whether a paragraph of that style is quoted."""
        return any(each.startswith(("Quotation", "Quote", "Block_20_Text")) for each in self._line(name))

    def _line(self, name: str | None) -> list[str]:
        """A style's name and those of its parents."""
        found: list[str] = []
        while name and len(found) < _MAX_PARENTS:
            found.append(name)
            style = self._styles.get(name)
            name = style.parent if style else ""
        return found


def _style(node: Element) -> _Style:
    text, page = node.find(STYLE + "text-properties"), node.find(STYLE + "drawing-page-properties")
    bold = text is not None and text.get(FO + "font-weight") == "bold"
    slanted = text is not None and text.get(FO + "font-style") in {"italic", "oblique"}
    hidden = page is not None and page.get(PRESENTATION + "visibility") == "hidden"
    return _Style(node.get(STYLE + "parent-style-name", ""), "**" * bold + "*" * slanted, hidden)


def whole(value: str | None, default: int) -> int:
    """A number that a file gives as text."""
    try:
        return int(value) if value else default
    except ValueError:
        return default
