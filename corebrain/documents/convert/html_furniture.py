"""What stands around the content of a web page: menus, bars, boxes of links, comments. Doubtful parts stay."""

from selectolax.lexbor import LexborNode

from corebrain.documents.convert import html_content
from corebrain.documents.convert.html_blocks import Block, measured
from corebrain.documents.convert.html_names import part

LEAST_PROSE = 200
"""Characters of prose without which a page has no content to tell from the rest."""
MUCH_PROSE = 1000
"""Characters of prose beside which lists of links are not what a page is about."""


def furniture(body: LexborNode, skipped: frozenset[int]) -> frozenset[int]:
    """Return the `mem_id` of the nodes around the content of a page.

    Args:
        body: The body of the page.
        skipped: `mem_id` of the nodes that are hidden.
    """
    blocks = measured(body, skipped)
    html_content.mark(blocks)
    if blocks[0].clean < LEAST_PROSE:
        return frozenset()
    left_out: set[int] = set()
    best, main = html_content.best(blocks), _landmark(blocks)
    inner = html_content.widened(best) if best is not None else blocks[0]
    is_in_main = False
    _tidy(inner, left_out)
    while inner.up is not None:
        is_in_main = is_in_main or inner is main
        for beside in inner.up.blocks:
            if beside is not inner and is_in_main:
                left_out.add(beside.node.mem_id)
            elif beside is not inner:
                _clear(beside, inner.up, left_out, links_too=blocks[0].clean >= MUCH_PROSE)
        inner = inner.up
    return frozenset(left_out)


def _tidy(block: Block, left_out: set[int]) -> None:
    """Leave out what stands within the content and is none by its element, or is called what is never content."""
    for inner in block.blocks:
        if inner.is_out and (inner.tag in html_content.CHROME or part(inner.name) in {"comments", "furniture"}):
            left_out.add(inner.node.mem_id)
        else:
            _tidy(inner, left_out)


def _clear(block: Block, around: Block, left_out: set[int], *, links_too: bool) -> None:
    """Leave out what stands beside the content and is called, or built, like furniture."""
    share = block.text / (around.text or 1)
    if (
        block.is_out
        or html_content.is_called_foreign(block, share)
        or (links_too and html_content.is_list_of_links(block, share))
    ):
        left_out.add(block.node.mem_id)
        return
    for inner in block.blocks:
        _clear(inner, block, left_out, links_too=links_too)


def _landmark(blocks: list[Block]) -> Block | None:
    """Return the page's `main`, when it has one that holds most of it."""
    found = [block for block in blocks if block.tag == "main" or block.node.attributes.get("role") == "main"]
    return found[0] if len(found) == 1 and found[0].clean * 2 > blocks[0].clean else None
