"""What the styles of a DOCX make of a paragraph: heading, title, list or code (ECMA-376 part 1 section 17.7)."""

import re
from dataclasses import dataclass, replace

from corebrain.documents.convert.ooxml import Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
VAL = W + "val"

_HEADING = re.compile(r"heading\s*(\d)$")
_CODE_NAMES = frozenset({
    "source code", "html preformatted", "code", "code block", "preformatted text", "verbatim", "macro text",
    "plain code", "codeblock",
})  # fmt: skip
_MAX_BASES = 12


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """What a style decides.

    Attributes:
        level: 1 to 9 for a heading, 0 for the document's title, None for text.
        number_id: The list it puts a paragraph in, None for none.
        number_level: Level in that list, from 0.
        code: Whether it is for program text.
    """

    level: int | None = None
    number_id: str | None = None
    number_level: int = 0
    code: bool = False


PLAIN = ParagraphStyle()


class Styles:
    """The paragraph styles of a document by id, what they are based on included."""

    def __init__(self, root: Element | None) -> None:
        self._own: dict[str, ParagraphStyle] = {}
        self._bases: dict[str, str] = {}
        self._resolved: dict[str, ParagraphStyle] = {}
        for node in root.iterchildren(W + "style") if root is not None else ():
            key = node.get(W + "styleId")
            if not key or node.get(W + "type", "paragraph") != "paragraph":
                continue
            base = node.find(W + "basedOn")
            if base is not None and base.get(VAL):
                self._bases[key] = base.get(VAL)
            self._own[key] = _own_style(node)

    def of(self, key: str | None) -> ParagraphStyle:
        """What the style `key` decides; a plain style for one that is not defined."""
        if not key:
            return PLAIN
        known = self._resolved.get(key)
        if known is None:
            known = self._resolved[key] = self._resolve(key)
        return known

    def _resolve(self, key: str) -> ParagraphStyle:
        style, base = self._own.get(key, PLAIN), self._bases.get(key)
        for _ in range(_MAX_BASES):
            if base is None:
                break
            under = self._own.get(base, PLAIN)
            style = replace(
                style,
                level=under.level if style.level is None else style.level,
                number_id=under.number_id if style.number_id is None else style.number_id,
                number_level=style.number_level or under.number_level,
                code=style.code or under.code,
            )
            base = self._bases.get(base)
        return style


def whole(text: str | None, default: int = 0) -> int:
    """`text` as a number, `default` when it is none."""
    try:
        return int(text) if text else default
    except ValueError:
        return default


def _own_style(node: Element) -> ParagraphStyle:
    name_node = node.find(W + "name")
    name = (name_node.get(VAL) or "").strip().lower() if name_node is not None else ""
    match = _HEADING.match(name)
    level = int(match[1]) if match else 0 if name == "title" else None
    properties = node.find(W + "pPr")
    number_id: str | None = None
    number_level: int | None = 0
    if properties is not None:
        outline = properties.find(W + "outlineLvl")
        if level is None and outline is not None and whole(outline.get(VAL), 9) < 9:
            level = whole(outline.get(VAL)) + 1
        number_id, number_level = numbering_of(properties)
    return ParagraphStyle(level, number_id, number_level or 0, name in _CODE_NAMES)


def numbering_of(properties: Element) -> tuple[str | None, int | None]:
    """List id and level a `w:pPr` names itself; an id of `0` takes the paragraph out of any list."""
    node = properties.find(W + "numPr")
    if node is None:
        return None, None
    identity, level = node.find(W + "numId"), node.find(W + "ilvl")
    return (
        identity.get(VAL) if identity is not None else None,
        whole(level.get(VAL)) if level is not None else None,
    )
