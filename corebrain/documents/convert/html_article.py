"""The article of a page: the element that holds what the page is about, and what to leave out of it."""

from typing import NamedTuple

from selectolax.lexbor import LexborNode

from corebrain.documents.convert.html_blocks import HEADINGS, Block, measured
from corebrain.documents.convert.html_content import (
    CHROME,
    FEW_LINKS,
    MOST_LEVELS,
    STRANGE,
    best,
    is_called_foreign,
    is_list_of_links,
    mark,
    widened,
)
from corebrain.documents.convert.html_names import may_lead, part

LEAST_LEAD = 60
"""Characters of a paragraph that leads into the article."""
LONGEST_LEAD = 1500
"""Characters of what leads into it, in all."""
LEAST_PROSE = 200
"""Characters of prose that are enough where names leave less than a quarter of a page; with fewer they are wrong."""

_NO_LEADS = CHROME | {"ul", "ol", "table", "figure", "h1"}


class Article(NamedTuple):
    """What to write of a page.

    Attributes:
        root: The element that holds the article.
        left_out: `mem_id` of the nodes in it that are no part of it.
    """

    root: LexborNode
    left_out: frozenset[int]


def article(body: LexborNode, skipped: frozenset[int]) -> Article | None:
    """Find the article of a page; `None` when no part of it stands out.

    Args:
        body: The body of the page.
        skipped: `mem_id` of the nodes that are hidden.
    """
    blocks = measured(body, skipped)
    mark(blocks)
    if blocks[0].clean < min(LEAST_PROSE, blocks[0].prose // 4):
        mark(blocks, by_name=False)
    found = best(blocks)
    if found is None:
        return None
    root, left_out = _with_siblings(widened(found), found.score)
    pruned = set(left_out)
    _prune(root, root.text or 1, pruned, by_name=True)
    if _prose_left(root, pruned) * 4 < _prose_left(root, left_out):
        pruned = set(left_out)
        _prune(root, root.text or 1, pruned, by_name=False)
    left_out = pruned
    root = _with_lead(root, left_out)
    _drop_last_headings(root, left_out)
    return Article(root.node, frozenset(left_out))


def _with_siblings(chosen: Block, score: float) -> tuple[Block, set[int]]:
    """Take in the neighbours that belong to it; returns what holds them all, and what else is in there."""
    above = chosen.up
    if above is None or chosen.tag == "body":
        return chosen, set()
    taken = [place for place, each in enumerate(above.blocks) if each is chosen or _belongs(each, chosen, score)]
    if len(taken) == 1:
        return chosen, set()
    own = set(taken)
    between = range(taken[0], taken[-1])
    left_out = set()
    for place, each in enumerate(above.blocks):
        is_text = place in between and not each.is_out and each.density <= FEW_LINKS
        if place not in own and not is_text:
            left_out.add(each.node.mem_id)
    return above, left_out


def _belongs(block: Block, chosen: Block, score: float) -> bool:
    if block.is_out or block.density > FEW_LINKS or part(block.name) in STRANGE:
        return False
    is_text = block.tag == "p" and (block.plain > 80 or chosen.tag == "p")
    return is_text or chosen.tag == "p" or block.score >= max(10.0, score / 5)


def _prune(block: Block, total: int, left_out: set[int], *, by_name: bool) -> None:
    """Leave out what is in the article and no part of it."""
    for inner in block.blocks:
        if inner.node.mem_id in left_out:
            continue
        share = inner.text / total
        is_foreign = is_called_foreign(inner, share, by_name=by_name) or is_list_of_links(inner, share)
        if is_foreign and inner.tag not in HEADINGS and inner.tag != "pre":
            left_out.add(inner.node.mem_id)
        else:
            _prune(inner, total, left_out, by_name=by_name)


def _prose_left(block: Block, left_out: set[int]) -> int:
    inner = sum(_prose_left(each, left_out) for each in block.blocks if each.node.mem_id not in left_out)
    return inner + (block.plain if block.is_paragraph else 0)


def _with_lead(root: Block, left_out: set[int]) -> Block:
    """Take in the paragraphs before the article, as far out as its `article`, `main` or body."""
    found, inner = root, root
    for _ in range(MOST_LEVELS):
        above = inner.up
        if above is None or above.tag == "html":
            break
        if any(_leads(each) for each in _before(inner)):
            found = above
        inner = above
        if above.tag in {"article", "main", "body"}:
            break
    inner = root
    while inner is not found and inner.up is not None:
        is_before = True
        for each in inner.up.blocks:
            if each is inner:
                is_before = False
            elif is_before and _leads(each):
                _trim(each, left_out)
            else:
                left_out.add(each.node.mem_id)
        inner = inner.up
    return found


def _before(block: Block) -> list[Block]:
    around = block.up.blocks if block.up is not None else []
    return around[: around.index(block)]


def _leads(block: Block) -> bool:
    if block.tag in _NO_LEADS or block.density > FEW_LINKS or block.text > LONGEST_LEAD:
        return False
    if not may_lead(block.name):
        return False
    return block.plain >= LEAST_LEAD or any(_leads(inner) for inner in block.blocks)


def _trim(block: Block, left_out: set[int]) -> None:
    if block.plain >= LEAST_LEAD:
        return
    for inner in block.blocks:
        if _leads(inner):
            _trim(inner, left_out)
        else:
            left_out.add(inner.node.mem_id)


def _drop_last_headings(block: Block, left_out: set[int]) -> bool:
    """Leave out the headings that nothing follows any more; returns whether something was met that stays."""
    for inner in reversed(block.blocks):
        if inner.node.mem_id in left_out:
            continue
        if inner.tag in HEADINGS:
            left_out.add(inner.node.mem_id)
        elif _drop_last_headings(inner, left_out):
            return True
    return block.own > 0
