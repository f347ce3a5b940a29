"""The content of web pages told from what stands around it: sure furniture goes by default, all else on request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from corebrain.documents.convert import html
from corebrain.documents.convert.html_article import article
from corebrain.documents.convert.html_blocks import measured
from corebrain.documents.convert.html_names import part
from corebrain.documents.types import RawDocument

WEB = "https://blog.example/post"
LINES = (
    "The lease of a source is taken before anything is read, and a second run ends at once, saying who holds it.",
    "Every batch is written down before it is stored, so that a crash in between is replayed, not repeated, next time.",
    "What a listing did not show is never taken for gone, because a folder that is not mounted shows nothing either.",
)
PROSE = "".join(f"<p>{line}</p>" for line in LINES)
MENU = "".join(f'<li><a href="/{number}">Another page of this site, number {number}</a></li>' for number in range(12))


def page(body: str, head: str = "") -> str:
    return f"<html><head><title>Post</title>{head}</head><body>{body}</body></html>"


def whole(body: str, origin: str | None = WEB) -> str:
    return html.convert(RawDocument(page(body).encode(), origin=origin, mime="text/html"), "html").markdown


def alone(body: str) -> str:
    mime = "text/html; charset=utf-8; profile=article"
    return html.convert(RawDocument(page(body).encode(), origin=WEB, mime=mime), "html").markdown


FURNITURE = {
    "menu without a nav": f'<div class="topbar"><ul>{MENU}</ul></div>',
    "sidebar": '<div class="sidebar-right"><h3>About</h3><p>We write of sources and leases, every week.</p></div>',
    "cookie bar": '<div id="onetrust-consent-sdk"><p>We use cookies, as all do, to find out who reads us.</p></div>',
    "newsletter": '<section class="newsletter-box"><p>Leave an address here, and we write to it.</p></section>',
    "comments": '<div id="comments"><p>I could not agree more, this is what I always said, and nobody heard.</p></div>',
    "related": f'<div class="related-posts"><h3>More</h3><ul>{MENU}</ul></div>',
}


@pytest.mark.parametrize("extra", FURNITURE.values(), ids=FURNITURE)
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_furniture_around_the_content_of_a_web_page_is_left_out(extra: str, before: bool) -> None:
    body = (
        f'<div class="page">{extra if before else ""}<div class="text">{PROSE * 4}</div>{"" if before else extra}</div>'
    )
    plain = "\n\n".join(LINES * 4)
    assert whole(body) == plain
    assert alone(body) == plain


def test_file_from_a_disk_is_kept_as_it_is() -> None:
    body = f"{FURNITURE['sidebar']}{PROSE * 4}"
    assert "every week" in whole(body, origin=None)
    assert "every week" not in whole(body)


def test_page_outside_its_main_element_is_left_out_when_that_holds_the_most() -> None:
    strange = "<div><p>Something else, that no name tells from the content, and that is long enough.</p></div>"
    assert "Something else" not in whole(f"{strange}<main>{PROSE * 2}</main>")
    assert "Something else" in whole(f"{strange}<div>{PROSE * 2}</div>")
    assert "The lease" in whole(f"<main><p>Short.</p></main>{PROSE * 2}")


def test_doubtful_parts_of_the_content_go_from_the_article_alone() -> None:
    doubtful = '<div class="price-table"><p>The plan for teams costs ten a month, and twelve with support.</p></div>'
    body = f"<div>{PROSE * 2}{doubtful}{PROSE * 2}</div>"
    assert "costs ten" in whole(body)
    assert "costs ten" not in alone(body)


def test_index_page_of_nothing_but_links_is_kept() -> None:
    assert whole(f'<div class="index"><ul>{MENU}</ul></div>').count("Another page") == 12
    assert alone(f'<div class="index"><ul>{MENU}</ul></div>').count("Another page") == 12


def test_lists_of_links_within_the_main_element_stay_by_default() -> None:
    body = f"<main><h1>Contents</h1><div class='toctree'><ul>{MENU}</ul></div>{PROSE * 4}</main>"
    assert whole(body).count("Another page") == 12


@pytest.mark.parametrize("named", ["sharing-with-a-team", "related-work-and-its-limits", "cookie-policy-of-the-api"])
@pytest.mark.parametrize("frame", ['<section id="{}">{}</section>', '<div class="section" id="{}">{}</div>'])
def test_ids_made_of_headings_are_not_believed(named: str, frame: str) -> None:
    section = frame.format(named, f"<h2>Of interest</h2>{PROSE}")
    assert alone(f"<main>{PROSE}{section}{PROSE}</main>").count("The lease") == 3


def test_long_prose_is_content_whatever_it_is_called() -> None:
    body = f'<div class="layout sidebar-left"><div class="col">{PROSE * 12}</div></div><div><p>{LINES[0]}</p></div>'
    assert whole(body).count("What a listing") == 12
    assert alone(body).count("What a listing") == 12
    halves = f'<div class="with-sidebar">{PROSE * 12}</div><div>{PROSE * 13}</div>'
    assert whole(halves).count("What a listing") == 25


def test_article_spread_over_many_boxes_is_taken_whole() -> None:
    boxes = "".join(f"{'<div>' * 5}<p>{line}</p>{'</div>' * 5}" for line in LINES * 4)
    found = alone(f'<div class="content">{boxes}</div>{FURNITURE["related"]}')
    assert found == "\n\n".join(LINES * 4)


def test_paragraphs_that_lead_into_an_article_belong_to_it() -> None:
    lead = "A lease is a promise with an end, and this is how one is kept when the process that gave it is gone."
    header = f'<header><h1>Leases</h1><p class="teaser">{lead}</p><p class="byline">By Ann, on Monday</p></header>'
    found = alone(f"<article>{header}<div class='body'>{PROSE * 2}</div></article>")
    assert found.startswith(lead)
    assert "By Ann" not in found


def test_headings_that_nothing_follows_any_more_go_with_what_followed_them() -> None:
    more = f"<h2>You may also like</h2><div class='related'><ul>{MENU}</ul></div>"
    found = alone(f"<article>{PROSE * 2}<h2>Kept</h2>{PROSE}{more}</article>")
    assert "## Kept" in found
    assert "also like" not in found


def test_code_tables_and_lists_stay_in_an_article() -> None:
    table = "<table><tr><th>Key</th><th>Meaning</th></tr><tr><td>every</td><td>how often it is read</td></tr></table>"
    body = f"{PROSE}<pre><code>brain sync</code></pre>{table}<ul><li>one thing</li><li>another thing</li></ul>{PROSE}"
    found = alone(f"<article>{body}</article>{FURNITURE['related']}")
    assert "```\nbrain sync\n```" in found
    assert "| every | how often it is read |" in found
    assert "- one thing\n- another thing" in found


def test_forum_whose_comments_are_the_page_is_kept() -> None:
    posts = "".join(f'<div class="comment"><p>{line}</p></div>' for line in LINES * 3)
    found = alone(f'{FURNITURE["menu without a nav"]}<div class="thread">{posts}</div>')
    assert found.count("The lease") == 3
    assert "Another page" not in found
    assert whole(f'<div class="thread">{posts}</div>').count("The lease") == 3


def test_page_without_an_article_is_given_as_by_default() -> None:
    assert alone("<p>Hi.</p>") == "Hi."
    tree = LexborHTMLParser("<body><p>Hi.</p></body>")
    assert tree.body is not None
    assert article(tree.body, frozenset()) is None


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("post type-post tag-comments category-related", ""),
        ("comments-area", "comments"),
        ("js-cookie-banner", "furniture"),
        ("entry-header", "lead"),
        ("site-footer", "aside"),
        ("entry-content", "body"),
        ("commentary", ""),
    ],
)
def test_names_tell_parts(name: str, told: str) -> None:
    assert part(name) == told


def test_counts_of_a_block_are_those_of_all_in_it() -> None:
    tree = LexborHTMLParser("<body><div>ab <a>cd</a><p>efg</p><script>no</script></div><div hidden>no</div></body>")
    assert tree.body is not None
    hidden = frozenset(node.mem_id for node in tree.css("[hidden]"))
    body, outer, inner = measured(tree.body, hidden)
    assert (body.text, body.links) == (7, 2)
    assert (outer.own, outer.own_links, outer.plain, inner.text) == (4, 2, 2, 3)


MARKUP = (
    "<div>", "</div>", "<p>", f"<p>{LINES[0]}</p>", "<nav>", "</nav>", "<main>", "</main>", '<div class="comments">',
    '<section id="related">', "</section>", "<ul>", "<li><a href=x>link text</a>", "</ul>", "<table>", "<tr><td>",
    "</table>", "<h2>Head</h2>", "words ", "<?php ?>", "<footer>", "<article>", "</article>",
)  # fmt: skip


@given(st.lists(st.sampled_from(MARKUP), max_size=60))
def test_no_page_fails_or_loses_everything(pieces: list[str]) -> None:
    body = "".join(pieces) + "<p>last</p>"
    for found in (whole(body), alone(body)):
        assert found.strip()


def test_cost_follows_the_size_of_a_page_of_many_siblings() -> None:
    body = "".join(f"<p>{LINES[number % 3]}</p><div class='x'>{number}</div>" for number in range(20_000))
    assert alone(f"<div>{body}</div>").count("The lease") > 6_000  # seconds; with a square in it, an hour
