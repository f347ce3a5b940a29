"""Web pages to markdown: structure, links, tables, charsets, boilerplate, depth."""

from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.documents.convert import html
from corebrain.documents.convert.html_inline import InlineWriter
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Empty, Refusal, TooLarge


def page(data: bytes | str, *, origin: str | None = None, mime: str | None = None) -> ConvertedDocument:
    raw = data.encode() if isinstance(data, str) else data
    return html.convert(RawDocument(data=raw, origin=origin, mime=mime), "html")


def markdown(data: bytes | str, *, origin: str | None = None, mime: str | None = None) -> str:
    return page(data, origin=origin, mime=mime).markdown


def test_headings_paragraphs_and_emphasis_become_markdown() -> None:
    assert markdown("<h2>A <b>b</b></h2><p>one<br>two <em>x</em> <strong> y </strong>z") == (
        "## A b\n\none  \ntwo *x* **y** z"
    )


def test_nested_lists_are_indented_under_their_item() -> None:
    source = "<ol start=3><li>a<ul><li>b</li></ul></li><li><p>c</p><p>d</p></li></ol>"
    assert markdown(source) == "3. a\n   - b\n4. c\n\n   d"


def test_task_list_keeps_its_check_marks() -> None:
    assert markdown("<ul><li><input type=checkbox checked>done<li><input type=checkbox>open</ul>") == (
        "- [x] done\n- [ ] open"
    )


def test_definition_list_becomes_terms_with_their_meanings() -> None:
    assert markdown("<dl><dt>Tea</dt><dd>hot</dd><div><dt>Ice</dt><dd>cold</dd></div></dl>") == (
        "- **Tea**\n  - hot\n- **Ice**\n  - cold"
    )


def test_code_block_keeps_its_lines_and_names_its_language() -> None:
    source = '<pre><code class="hljs language-Python">if x:\n    y()\n```</code></pre>'
    assert markdown(source) == "````python\nif x:\n    y()\n```\n````"


def test_links_are_absolute_against_the_origin() -> None:
    source = '<p><a href="../b?q=1">rel</a> <a href="//x.org/">other</a> <a href="javascript:x()">code</a>'
    assert markdown(source, origin="https://e.org/d/page") == (
        "[rel](https://e.org/b?q=1) [other](https://x.org/) code"
    )


def test_base_element_wins_over_the_origin() -> None:
    source = '<head><base href="https://cdn.org/a/"></head><body><a href="b">x</a>'
    assert markdown(source, origin="https://e.org/") == "[x](https://cdn.org/a/b)"


def test_link_around_a_heading_stays_a_link() -> None:
    assert markdown('<a href="https://e.org/"><div><h3>Title</h3></div></a>') == "### [Title](https://e.org/)"


def test_image_is_its_alternative_text() -> None:
    assert markdown('<p>a <img src="i.png" alt="the plan"> <img src="t.gif">', origin="https://e.org/") == (
        "a ![the plan](https://e.org/i.png)"
    )


def test_merged_cells_are_repeated_where_they_reach() -> None:
    source = "<table><tr><th rowspan=2>A<th colspan=2>B<tr><td>c<td>d<tr><td>e|f<td>g<br>h<td></table>"
    assert markdown(source) == "| A | B | B |\n| --- | --- | --- |\n| A | c | d |\n| e\\|f | g<br>h |  |"


def test_spans_out_of_all_proportion_stay_bounded() -> None:
    source = "<table><tr><th>a<th>b" + "<tr><td colspan=1000 rowspan=65534>x<td>y" * 300 + "</table>"
    assert len(markdown(source)) < 3_000_000


def test_layout_table_is_written_as_its_blocks() -> None:
    inner = "<table><tr><th>k<th>v<tr><td>1<td>2</table>"
    source = f"<table><tr><td><h1>Site</h1><p>{'word ' * 200}</p>{inner}</td></tr></table>"
    assert "# Site" in markdown(source)
    assert "| k | v |" in markdown(source)


def test_nested_table_in_a_grid_does_not_break_it() -> None:
    inner = "<table><tr><td>p<td>q<tr><td>r<td>s</table>"
    lines = markdown(f"<table><tr><th>a<th>b<tr><td>{inner}<td>z</table>").split("\n")
    assert lines == ["| a | b |", "| --- | --- |", "| p q r s | z |"]


def test_scripts_navigation_and_hidden_parts_are_dropped() -> None:
    source = (
        "<nav>menu</nav><script>var a</script><style>p{}</style><p>text</p><aside>ad</aside><footer>(c)</footer>"
        "<p hidden>no</p><div style='display: none'>no</div><template>no</template><noscript>no</noscript>"
    )
    assert markdown(source) == "text"


def test_page_of_nothing_but_navigation_is_kept() -> None:
    assert markdown("<nav><a href='https://e.org/'>Home</a></nav>") == "[Home](https://e.org/)"


def test_hidden_part_inside_a_line_is_dropped() -> None:
    assert markdown("<p>a <b>x <span hidden>secret</span>y</b>") == "a **x y**"


def test_form_around_a_page_is_looked_through() -> None:
    assert markdown("<form><h1>T</h1><p>x</p><button>Go</button><select><option>1</select></form>") == "# T\n\nx"


def test_literal_marks_do_not_become_structure() -> None:
    assert markdown("<p># no heading</p><p>1. no item</p><p>- none<br>&gt; none</p><p>use &lt;div&gt; here") == (
        "\\# no heading\n\n1\\. no item\n\n\\- none  \n\\> none\n\nuse \\<div> here"
    )


def test_title_language_and_description_come_from_the_head() -> None:
    got = page(
        '<html lang="de-AT"><head><title> A \n B </title><meta name=description content="d">'
        '<link rel=canonical href="/c"></head><body>x',
        origin="https://e.org/p?utm=1",
    )
    assert (got.title, got.language) == ("A B", "de-AT")
    assert got.metadata == {"description": "d", "canonical": "https://e.org/c"}


def test_open_graph_title_stands_in_for_a_missing_one() -> None:
    assert page('<meta property="og:title" content="OG"><p>x').title == "OG"


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        ("<p>naïve \u2013 €".encode("utf-8-sig"), "text/html; charset=iso-8859-1"),
        ("<p>naïve \u2013 €".encode(), "text/html; charset=iso-8859-1"),
        ("<p>naïve \u2013 €".encode("utf-16"), None),
        ("<p>naïve \u2013 €".encode("utf-16-le"), None),
        ("<p>naïve \u2013 €".encode("cp1252"), "text/html; charset=ISO-8859-1"),
        ('<meta charset="windows-1252"><p>naïve \u2013 €'.encode("cp1252"), None),
        ('<meta charset="utf-8"><p>naïve \u2013 €'.encode("cp1252"), None),
        ('<meta charset="utf-8"><p>naïve \u2013 €'.encode("cp1252"), "text/html; charset=no-such"),
    ],
)
def test_charset_is_what_the_bytes_say(data: bytes, mime: str | None) -> None:
    assert markdown(data, mime=mime) == "naïve \u2013 €"


def test_seven_bit_japanese_is_decoded_by_its_declaration() -> None:
    data = '<meta charset="iso-2022-jp"><p>日本語'.encode("iso-2022-jp")
    assert markdown(data) == "日本語"


@pytest.mark.parametrize("tag", ["div", "b", "blockquote", "ul><li", "table><tr><td", "span", "dl><dd"])
def test_deep_nesting_does_not_exhaust_the_stack(tag: str) -> None:
    assert "deep" in markdown(f"<{tag}>" * 3000 + "deep")


ATTRIBUTES = [f"a{number}" for number in range(9_000)]


@pytest.mark.parametrize(
    "source",
    [
        "<div>" * 200_000 + "x",
        "<select>" + "<option>x" * 30_000,
        "<p " + "=1 ".join(ATTRIBUTES) + ">x",
        "<p " + "=1 ".join(ATTRIBUTES),
        "<p>x</p " + "/".join(ATTRIBUTES) + ">",
        "<p " + '=""'.join(ATTRIBUTES) + ">x",
        "<p " + "=<1 ".join(ATTRIBUTES) + ">x",
        "<p " + '="<>" '.join(ATTRIBUTES) + ">x",
        ("<p " + "=1 ".join(ATTRIBUTES[:2_000]) + ">x</p>") * 10,
    ],
    ids=["nested", "options", "one tag", "unended", "end tag", "glued", "angles", "quoted", "many tags"],
)
def test_markup_without_end_is_too_large(source: str) -> None:
    with pytest.raises(TooLarge):
        page(source)


def test_many_paragraphs_that_are_never_closed_are_no_nesting() -> None:
    assert markdown("<p>x" * 20_000).count("x") == 20_000


def test_words_of_a_script_are_no_attributes() -> None:
    words = " ".join(f"w{number}" for number in range(9_000))
    assert markdown(f"<p>x</p><script>if (i<n) {{ {words} }}</script>") == "x"


def test_long_embedded_picture_is_no_heap_of_attributes() -> None:
    assert markdown(f'<p>x <img alt="a plan" src="data:image/png;base64,{"QUJD " * 9000}">') == "x a plan"


@pytest.mark.parametrize("data", [b"", b"   ", b"<html><body></body></html>", b"<script>x</script>", b"<!-- x -->"])
def test_page_without_text_is_empty(data: bytes) -> None:
    with pytest.raises(Empty):
        page(data)


def test_processing_instructions_are_left_out() -> None:
    source = "<div><?php echo 1; ?>a <b>b<?x y?></b><ul><?php li(); ?><li>c<?php z ?></ul></div>"
    assert markdown(source) == "a **b**\n\n- c"


@given(st.text(alphabet="<>/?abdhiloprtu =\"'&;#1\n", max_size=200))
def test_any_markup_converts_or_is_refused(source: str) -> None:
    try:
        first = markdown(source)
    except Refusal:
        return
    assert first.strip()
    assert first == markdown(source)


@given(st.text(alphabet="/.ab%?#;:-", max_size=12), st.sampled_from(["https://e.org", "http://e.org:80/x/y.html?q#f"]))
def test_links_are_joined_as_the_standard_says(path: str, base: str) -> None:
    found = InlineWriter(base)._absolute(f"/{path}")
    assert found == urljoin(base, f"/{path}")
