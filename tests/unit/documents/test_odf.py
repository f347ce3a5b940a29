"""ODT and ODP are read without any program."""

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.documents.convert import odf
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Damaged, Empty, Encrypted, Refusal

NAMES = {
    **{name: f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0" for name in ("office", "text", "table", "style")},
    **{name: f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0" for name in ("presentation", "meta")},
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
    "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
    "fo": "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0",
    "xlink": "http://www.w3.org/1999/xlink",
    "dc": "http://purl.org/dc/elements/1.1/",
}
SPACES = " ".join(f'xmlns:{name}="{url}"' for name, url in NAMES.items())
STYLES = """
<style:style style:name="B" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
<style:style style:name="P9" style:parent-style-name="Title"/>
<style:style style:name="P8" style:parent-style-name="Preformatted_20_Text"/>
<style:style style:name="Q" style:parent-style-name="Quotations"/>
<style:style style:name="dark"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>
<text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>
"""


def packed(body: str, kind: str = "text", **parts: str) -> bytes:
    content = (
        f"<office:document-content {SPACES}><office:automatic-styles>{STYLES}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        for name, text in {"content.xml": content, **parts}.items():
            archive.writestr(name.replace("__", "/"), text)
    return file.getvalue()


def converted(data: bytes) -> ConvertedDocument:
    return odf.convert(RawDocument(data), "odt")


def markdown(body: str, kind: str = "text") -> str:
    return converted(packed(body, kind)).markdown


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('<text:h text:outline-level="2">A  b</text:h>', "## A b"),
        ('<text:p text:style-name="P9">The plan</text:p>', "# The plan"),
        ('<text:p>a<text:s text:c="2"/>b<text:tab/>c<text:line-break/>d</text:p>', "a  b\tc  \nd"),
        ('<text:p>so <text:span text:style-name="B">bold </text:span>it is</text:p>', "so **bold** it is"),
        ('<text:p>a <text:a xlink:href="https://e.org/x y">word</text:a></text:p>', "a [word](https://e.org/x%20y)"),
        ('<text:p>a <text:a xlink:href="#here">word</text:a></text:p>', "a word"),
        ("<text:p>a &lt;div&gt; b</text:p>", "a \\<div> b"),
        ("<text:p># no heading</text:p>", "\\# no heading"),
        ('<text:p text:style-name="Q">said</text:p>', "> said"),
        ('<text:p text:style-name="P8">if x:</text:p><text:p text:style-name="P8"><text:s text:c="2"/>y</text:p>',
         "```\nif x:\n  y\n```"),
        ("<text:p>• dotted</text:p><text:p>•</text:p>", "- dotted"),
        ("<text:p>a<office:annotation><text:p>a comment</text:p></office:annotation>b</text:p>", "ab"),
        ("<text:tracked-changes><text:p>taken out</text:p></text:tracked-changes><text:p>kept</text:p>", "kept"),
        ("<text:p>a<draw:frame><draw:image/><svg:desc>A map</svg:desc></draw:frame></text:p>", "a\n\n![A map]()"),
        ("<text:p>a<draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame></text:p>",
         "a\n\nboxed"),
        ("<text:section><text:p>in a section</text:p></text:section>", "in a section"),
    ],
)  # fmt: skip
def test_text_reads_as_it_is_shown(body: str, expected: str) -> None:
    assert markdown(body) == expected


def test_notes_stand_at_the_end() -> None:
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>{}</text:p></text:note-body>"
        "</text:note>"
    )
    assert markdown(f"<text:p>a{note.format('one')} b{note.format('two')}</text:p>") == (
        "a[^1] b[^2]\n\n[^1]: one\n\n[^2]: two"
    )


def test_lists_are_numbered_and_nested_as_their_styles_say() -> None:
    items = (
        "<text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>in</text:p></text:list-item>"
        "</text:list></text:list-item><text:list-item><text:p>two</text:p><text:p>more</text:p></text:list-item>"
    )
    assert markdown(f'<text:list text:style-name="N">{items}</text:list>') == "1. one\n    - in\n2. two  \n   more"
    assert markdown(f"<text:list>{items}</text:list>") == "- one\n    - in\n- two  \n  more"


def test_tables_spread_merged_cells_and_repeat_what_is_repeated() -> None:
    table = (
        "<table:table><table:table-header-rows><table:table-row><table:table-cell table:number-columns-spanned='2'>"
        "<text:p>Head</text:p></table:table-cell><table:covered-table-cell/></table:table-row>"
        "</table:table-header-rows><table:table-row table:number-rows-repeated='2'>"
        "<table:table-cell table:number-columns-repeated='2'><text:p>x | y</text:p></table:table-cell>"
        "</table:table-row><table:table-row table:number-rows-repeated='1000000'><table:table-cell/></table:table-row>"
        "</table:table>"
    )
    row = "| x \\| y | x \\| y |"
    assert markdown(table) == f"| Head | Head |\n| --- | --- |\n{row}\n{row}"


def test_slides_are_sections_with_their_notes() -> None:
    page = (
        '<draw:page draw:style-name="{}"><draw:frame presentation:class="title"><draw:text-box><text:p>{}</text:p>'
        "</draw:text-box></draw:frame><draw:frame><draw:text-box><text:list><text:list-item><text:p>a</text:p>"
        "</text:list-item></text:list><text:list><text:list-item><text:list><text:list-item><text:p>b</text:p>"
        "</text:list-item></text:list></text:list-item></text:list></draw:text-box></draw:frame><presentation:notes>"
        '<draw:frame presentation:class="notes"><draw:text-box><text:p>say it</text:p></draw:text-box></draw:frame>'
        "</presentation:notes></draw:page>"
    )
    assert markdown(page.format("", "One") + page.format("dark", "Two"), "presentation") == "\n\n".join(
        f"{head}\n\n- a\n    - b\n\n**Notes:** say it" for head in ("## Slide 1: One", "## Slide 2: Two (hidden)")
    )


def test_title_author_and_language_come_from_its_properties() -> None:
    meta = (
        f"<office:document-meta {SPACES}><office:meta><dc:title>The plan</dc:title><dc:language>de-DE</dc:language>"
        "<meta:initial-creator>Ada</meta:initial-creator><meta:keyword>a</meta:keyword><meta:keyword>b</meta:keyword>"
        "</office:meta></office:document-meta>"
    )
    found = converted(packed("<text:p>x</text:p>", **{"meta.xml": meta}))
    assert (found.title, found.language) == ("The plan", "de-DE")
    assert found.metadata == {"author": "Ada", "keywords": "a, b"}


def test_document_under_a_password_is_told() -> None:
    manifest = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry>'
        "<m:encryption-data/></m:file-entry></m:manifest>"
    )
    with pytest.raises(Encrypted):
        converted(packed("<text:p>x</text:p>", **{"META-INF__manifest.xml": manifest}))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (packed(""), Empty),
        (packed("<text:p> </text:p>"), Empty),
        (packed("", "presentation"), Empty),
        (b"no zip", Damaged),
        (packed("<text:p>x</text:p>", **{"content.xml": "<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>"}), Damaged),
        (packed("<text:p>x</text:p>", **{"content.xml": "<a/>"}), Damaged),
    ],
)
def test_what_cannot_be_read_is_refused_with_advice(data: bytes, kind: type[Refusal]) -> None:
    with pytest.raises(kind) as caught:
        converted(data)
    assert caught.value.advice


def test_nesting_without_end_is_cut_off() -> None:
    deep = "<text:section>" * 200 + "<text:p>x</text:p>" + "</text:section>" * 200
    assert markdown(f"<text:p>a</text:p>{deep}") == "a"
    lists = "<text:list><text:list-item>" * 200 + "</text:list-item></text:list>" * 200
    assert markdown(f"<text:p>a</text:p>{lists}") == "a"


@given(
    st.lists(
        st.sampled_from(
            [
                "<text:p>a</text:p>",
                "<text:list><text:list-item><text:p>b</text:p></text:list-item></text:list>",
                "<text:h>c</text:h>",
            ]
        ),
        min_size=1,
        max_size=8,
    )
)
def test_every_word_is_kept_in_order(blocks: list[str]) -> None:
    words = [word for word in markdown("".join(blocks)).replace("#", "").replace("-", "").split() if word]
    assert words == [block[block.index("</text:p>" if "p>" in block else "</text:h>") - 1] for block in blocks]
