"""Where the content of a page is: furniture marked, and the element found that holds what the page is about.

The way of reader views (scores that paragraphs give to what holds them, after Arc90's Readability of 2009), with a turn
of our own: the element is widened while that adds prose, because pages are built of many small boxes.
"""

from corebrain.documents.convert.html_blocks import HEADINGS, Block
from corebrain.documents.convert.html_names import is_surely_body, part

MOST_LEVELS = 5
"""Elements above a paragraph that it speaks for."""
WIDER = 1.3
"""Times as much prose an element must hold to be taken instead of the one inside it."""
MOST_LINKS = 0.5
"""Share of links from which a list, table or box is navigation."""
FEW_LINKS = 0.3
"""Share of links up to which a box is text."""
FURNITURE_PROSE = 3000
"""Characters of prose that no furniture around a page has, whatever it is called."""
ASIDE_PROSE = 500
"""Characters of prose that no furniture within an article has."""

CHROME = frozenset({"nav", "footer", "aside", "form", "search", "dialog", "menu"})
"""Elements that stand around content by their meaning."""
BOXES = frozenset({"div", "section", "ul", "ol", "table", "header", "dl", "article"})
"""Elements that mean nothing, or hold lists: what is in them decides."""
STRANGE = frozenset({"comments", "furniture", "aside"})
"""Names of parts that are not the content."""

_TEXTS = frozenset({"p", "pre", "li", "td", "dd", "figcaption"})
_PARTS_OF_TEXT = frozenset({"li", "td", "tr", "ul", "ol", "table", "blockquote", "p", "pre"})
_CELLS = frozenset({"td", "tr", "tbody", "thead"})
_PAGE = frozenset({"body", "html", "article", "main"})


def mark(blocks: list[Block], *, by_name: bool = True) -> None:
    """Tell furniture from the rest, and give every other block its clean prose and its score.

    Args:
        blocks: All blocks of a page, the body first, in its order.
        by_name: Whether names are believed.
    """
    total = blocks[0].prose
    for block in blocks:
        block.clean, block.score = 0, 0.0
        block.is_out = (block.up is not None and block.up.is_out) or _is_furniture(block, total, by_name=by_name)
    for block in reversed(blocks):
        if block.is_out:
            continue
        if block.is_paragraph:
            _speak(block)
            if block.own_links * 2 < block.own:
                block.clean += block.plain
        if block.up is not None and not (block.tag in BOXES and block.density > MOST_LINKS):
            block.up.clean += block.clean


def best(blocks: list[Block]) -> Block | None:
    """Return the block that holds the article together, of marked ones; `None` when no paragraph spoke for any."""
    found, most = None, 0.0
    for block in blocks:
        if block.is_out or not block.score:
            continue
        block.score *= (1 - block.density) * (1.2 if block.tag in {"article", "main"} else 1.0)
        block.score *= (1.3 if is_surely_body(block.name) else 1.0) * (0.8 if block.tag in _PARTS_OF_TEXT else 1.0)
        if block.score > most:
            found, most = block, block.score
    return found


def widened(block: Block) -> Block:
    """Return the block around *block* that holds the rest of the prose."""
    chosen, above = block, block.up
    while above is not None and above.tag != "html":
        if block.clean and above.clean >= chosen.clean * WIDER:
            chosen = above
        above = above.up
    return chosen


def is_called_foreign(block: Block, share: float, *, by_name: bool = True) -> bool:
    """Whether a block is no part of what is around it, by its element and its name.

    Args:
        block: The block.
        share: Its share of the text of what is around it; the larger it is, the less names are believed.
        by_name: Whether they are believed at all.
    """
    if block.tag in CHROME:
        return share < 0.5
    told = part(block.name) if by_name and block.tag not in _CELLS and block.tag not in HEADINGS else ""
    if told == "comments":
        return share < 0.85
    if block.prose >= ASIDE_PROSE and block.density <= FEW_LINKS:
        return False
    return (told == "furniture" and share < 0.5) or (told == "aside" and share < 0.4 and block.tag != "p")


def is_list_of_links(block: Block, share: float) -> bool:
    """Whether a block leads elsewhere and says little itself."""
    says_more = block.prose > 100 and block.density < 0.6
    is_dense = block.density > MOST_LINKS and block.links > 20 and not says_more
    return block.tag in BOXES and share < 0.4 and is_dense


def _is_furniture(block: Block, total: int, *, by_name: bool) -> bool:
    if block.tag in CHROME:
        return block.prose * 2 < total
    if not by_name or block.tag in _PAGE or block.tag in HEADINGS or not block.name:
        return False
    told = part(block.name)
    is_small = block.prose * 2 < total and (block.prose < FURNITURE_PROSE or block.density > FEW_LINKS)
    return told == "comments" or (told in STRANGE and is_small)


def _speak(block: Block) -> None:
    """Let a paragraph speak for the elements around it, less for those further out."""
    points = (1 + block.commas + min(block.plain / 100, 3)) * (0.5 if block.tag in {"li", "dt", "th"} else 1.0)
    above = block.up if block.tag in _TEXTS else block
    share = 1.0
    for level in range(MOST_LEVELS):
        if above is None:
            return
        above.score += points * share
        above, share = above.up, share * (0.5 if level == 0 else 0.66)
