"""The block elements of a page, measured: how much they say, and how much of that is links."""

from selectolax.lexbor import LexborNode

from corebrain.documents.convert.html_inline import InlineWriter

MAX_DEPTH = 150
"""Nesting that is measured; what lies deeper counts for nothing."""
PARAGRAPH_CHARS = 25
"""Characters outside links from which a block's own text is a paragraph."""

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = HEADINGS | {
    "p", "div", "section", "article", "main", "header", "figure", "figcaption", "address", "fieldset", "details",
    "summary", "body", "html", "center", "hgroup", "form", "legend", "nav", "footer", "aside", "li", "dd", "dt", "td",
    "th", "tr", "tbody", "thead", "tfoot", "caption", "search", "dialog", "ul", "ol", "menu", "dir", "dl", "pre",
    "listing", "xmp", "blockquote", "table",
}  # fmt: skip
_SILENT = InlineWriter.DROPPED | {"input", "label"}
_COMMAS = ",，、،"  # noqa: RUF001 - of other scripts


class Block:
    """One block element.

    Args:
        node: Its element.
        up: The block around it.

    Attributes:
        blocks: The blocks directly in it.
        own: Characters of its text outside inner blocks.
        own_links: Those of them that are links.
        commas: Commas in its own text.
        text: Characters of all its text.
        links: Those of them that are links.
        prose: Characters outside links of the paragraphs in it, its own text included.
        clean: `prose`, without what is furniture; set by `html_content`.
        score: How much it looks like what holds an article together; set by `html_content`.
        is_out: Whether it is furniture; set by `html_content`.
    """

    __slots__ = (
        "_name", "blocks", "clean", "commas", "is_out", "links", "node", "own", "own_links", "prose", "score", "tag",
        "text", "up",
    )  # fmt: skip

    def __init__(self, node: LexborNode, up: "Block | None") -> None:
        self.node = node
        self.tag = node.tag or ""
        self.up = up
        self.blocks: list[Block] = []
        self.own = self.own_links = self.commas = self.text = self.links = self.prose = self.clean = 0
        self.score = 0.0
        self.is_out = False
        self._name: str | None = None

    @property
    def name(self) -> str:
        """Its classes, its role, and its id unless that only repeats its heading."""
        if self._name is None:
            attributes = self.node.attributes
            classes, named = attributes.get("class") or "", attributes.get("id") or ""
            if named.count("-") > 2 or (
                self.tag in {"section", "div"} and classes in {"", "section"} and self._is_headed
            ):
                named = ""  # the words of its heading, as generators of documentation make them
            self._name = " ".join(each for each in (classes, named, attributes.get("role")) if each)
        return self._name

    @property
    def _is_headed(self) -> bool:
        return bool(self.blocks) and self.blocks[0].tag in HEADINGS

    @property
    def plain(self) -> int:
        """Characters of its own text that are no links."""
        return self.own - self.own_links

    @property
    def density(self) -> float:
        """Share of its text that is links."""
        return self.links / self.text if self.text else 0.0

    @property
    def is_paragraph(self) -> bool:
        """Whether its own text says something."""
        return self.plain >= PARAGRAPH_CHARS and self.tag not in HEADINGS


def measured(root: LexborNode, skipped: frozenset[int]) -> list[Block]:
    """Return the blocks below *root*, itself first, in the order of the page, with all their counts.

    Args:
        root: The body of a page.
        skipped: `mem_id` of the nodes that count for nothing.
    """
    found = [Block(root, None)]
    _collect(found[0], root, found, skipped, (0, False))
    for block in reversed(found):
        block.text += block.own
        block.links += block.own_links
        if block.is_paragraph:
            block.prose += block.plain
        if block.up is not None:
            block.up.text += block.text
            block.up.links += block.links
            block.up.prose += block.prose
    return found


def _collect(
    block: Block, node: LexborNode, found: list[Block], skipped: frozenset[int], place: tuple[int, bool]
) -> None:
    depth, in_link = place
    child = node.child
    while child is not None:
        tag = child.tag or ""
        if tag == "-text":
            _count(block, (child.text_content or "").strip(), in_link=in_link)
        elif not tag or tag in _SILENT or tag[0] in "-!_" or child.mem_id in skipped or depth > MAX_DEPTH:
            pass
        elif tag in _BLOCKS:
            inner = Block(child, block)
            block.blocks.append(inner)
            found.append(inner)
            _collect(inner, child, found, skipped, (depth + 1, in_link))
        elif child.child is not None:
            _collect(block, child, found, skipped, (depth + 1, in_link or tag == "a"))
        child = child.next


def _count(block: Block, text: str, *, in_link: bool) -> None:
    if text:
        block.own += len(text)
        block.commas += sum(map(text.count, _COMMAS)) if len(text) > PARAGRAPH_CHARS else 0
        if in_link:
            block.own_links += len(text)
