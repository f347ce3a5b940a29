"""Word documents to markdown: styles, numbering, tables, changes, notes, formulas, and the guards of the package."""

import io
import random
import zipfile

import pytest

from corebrain.documents.convert import docx
from corebrain.documents.convert.ooxml import MAX_ENTRIES
from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Damaged, Empty, Encrypted, TooLarge

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
REL = "http://schemas.openxmlformats.org/package/2006/relationships"
HEAD = (
    f'xmlns:w="{W}" xmlns:r="{R}" xmlns:m="{M}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
ROOT = f'<Relationships xmlns="{REL}"><Relationship Id="a" Type="{R}/officeDocument" Target="word/document.xml"/>'
STYLES = (
    f"<w:styles {HEAD}>"
    '<w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="H2"><w:name w:val="heading 2"/><w:basedOn w:val="H1"/></w:style>'
    '<w:style w:styleId="Mine"><w:name w:val="My Head"/><w:basedOn w:val="H2"/></w:style>'
    '<w:style w:styleId="Code"><w:name w:val="Source Code"/></w:style>'
    "</w:styles>"
)
NUMBERING = (
    f"<w:numbering {HEAD}>"
    '<w:abstractNum w:abstractNumId="0">'
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>'
    '<w:lvl w:ilvl="2"><w:start w:val="3"/><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="(%3)"/></w:lvl>'
    "</w:abstractNum>"
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl>'
    "</w:abstractNum>"
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/>'
    "</w:lvlOverride></w:num></w:numbering>"
)
NOTES = f'<w:footnotes {HEAD}><w:footnote w:id="2"><w:p><w:r><w:t>the note</w:t></w:r></w:p></w:footnote></w:footnotes>'

COMMENTS = (
    f'<w:comments {HEAD}><w:comment w:id="0" w:author="Ada"><w:p><w:r><w:t>is that</w:t></w:r></w:p>'
    "<w:p><w:r><w:t>so?</w:t></w:r></w:p></w:comment></w:comments>"
)


def package(body: str, *, head: str = "", extra: dict[str, bytes | str] | None = None) -> bytes:
    parts: dict[str, bytes | str] = {
        "_rels/.rels": f"{ROOT}</Relationships>",
        "word/_rels/document.xml.rels": (
            f'<Relationships xmlns="{REL}">'
            f'<Relationship Id="s" Type="{R}/styles" Target="styles.xml"/>'
            f'<Relationship Id="n" Type="{R}/numbering" Target="numbering.xml"/>'
            f'<Relationship Id="f" Type="{R}/footnotes" Target="footnotes.xml"/>'
            f'<Relationship Id="c" Type="{R}/comments" Target="comments.xml"/>'
            f'<Relationship Id="l" Type="{R}/hyperlink" Target="https://e.org/a b" TargetMode="External"/>'
            "</Relationships>"
        ),
        "word/styles.xml": STYLES,
        "word/numbering.xml": NUMBERING,
        "word/footnotes.xml": NOTES,
        "word/comments.xml": COMMENTS,
        "word/document.xml": f"{head}<w:document {HEAD}><w:body>{body}</w:body></w:document>",
        **(extra or {}),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def p(text: str, *, style: str = "", number: tuple[int, int] | None = None) -> str:
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    if number:
        properties += f'<w:numPr><w:ilvl w:val="{number[1]}"/><w:numId w:val="{number[0]}"/></w:numPr>'
    runs = text if text.startswith("<") else r(text)
    return f"<w:p><w:pPr>{properties}</w:pPr>{runs}</w:p>"


def r(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def converted(data: bytes) -> ConvertedDocument:
    return docx.convert(RawDocument(data=data), "docx")


def markdown(body: str) -> str:
    return converted(package(body)).markdown


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{text if text.startswith('<') else p(text)}</w:tc>"


def test_headings_follow_styles_and_what_they_are_based_on() -> None:
    assert (
        markdown(p("A", style="H1") + p("B", style="H2") + p("C", style="Mine") + p("d")) == "# A\n\n## B\n\n## C\n\nd"
    )


def test_title_at_the_top_moves_headings_one_level_down() -> None:
    assert markdown(p("T", style="T") + p("A", style="H1") + p("B", style="H2")) == "# T\n\n## A\n\n### B"


def test_lists_are_numbered_as_word_numbers_them() -> None:
    body = p("a", number=(1, 0)) + p("b", number=(1, 1)) + p("c", number=(1, 1)) + p("d", number=(1, 2))
    body += p("e", number=(1, 0)) + p("e1", number=(1, 1)) + p("text") + p("f", number=(1, 0)) + p("g", number=(2, 0))
    assert markdown(body) == (
        "1. a\n    - 1.1 b\n    - 1.2 c\n        - (iii) d\n2. e\n    - 2.1 e1\n\ntext\n\n3. f\n- g"
    )


def test_list_restarts_where_its_numbering_says() -> None:
    assert markdown(p("a", number=(1, 0)) + p("b", number=(3, 0)) + p("c", number=(3, 0))) == "1. a\n\n7. b\n8. c"


def test_numbered_heading_keeps_its_number() -> None:
    body = p("Scope", style="H1", number=(1, 0)) + p("Terms", style="H2", number=(1, 1))
    assert markdown(body) == "# 1. Scope\n\n## 1.1 Terms"


def test_neighbouring_runs_share_one_pair_of_marks() -> None:
    bold, off = "<w:b/>", '<w:b w:val="0"/>'
    body = f"<w:p>{r('a ', bold)}{r('b', bold)}{r(' c ')}{r('d', '<w:i/>')}{r('e', off)}</w:p>"
    assert markdown(body) == "**a b** c *d*e"


def test_tracked_changes_are_taken_as_accepted() -> None:
    body = f"<w:p>{r('keep ')}<w:ins>{r('new')}</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>"
    body += f"<w:p><w:moveFrom>{r('from')}</w:moveFrom><w:moveTo>{r('to')}</w:moveTo></w:p>"
    assert markdown(body) == "keep new\n\nto"


def test_links_and_link_fields_become_links() -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://f.org" </w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{r("field")}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    body = f'<w:p><w:hyperlink r:id="l">{r("link")}</w:hyperlink>{r(" and ")}{field}{r(" end")}</w:p>'
    assert markdown(body) == "[link](https://e.org/a%20b) and [field](https://f.org) end"


def test_footnote_stands_at_the_end() -> None:
    body = f'<w:p>{r("claim")}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    assert markdown(body) == "claim[^1]\n\n[^1]: the note"


COMMENTED = f'<w:p>{r("claim")}<w:r><w:commentReference w:id="0"/></w:r>{r(" goes on")}</w:p>'


def test_comments_are_left_out() -> None:
    assert markdown(COMMENTED) == "claim goes on"


def test_comments_are_notes_when_wanted() -> None:
    found = docx.convert(RawDocument(package(COMMENTED)), "docx", "comments")
    assert found.markdown == "claim[^1] goes on\n\n[^1]: Ada: is that so?"


def test_wish_for_comments_reaches_the_worker_and_is_another_version() -> None:
    with RegistryConverter(comments=True) as wishing, RegistryConverter() as plain:
        assert "Ada: is that so?" in wishing.convert(RawDocument(package(COMMENTED))).markdown
        assert "Ada" not in plain.convert(RawDocument(package(COMMENTED))).markdown
        assert (wishing.version_of("docx"), plain.version_of("docx")) == ("lxml/1:comments", "lxml/1")


def test_text_box_is_written_once() -> None:
    box = f"<w:txbxContent>{p('boxed')}</w:txbxContent>"
    both = f"<mc:AlternateContent><mc:Choice><w:drawing>{box}</w:drawing></mc:Choice>"
    both += f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent>"
    assert markdown(f"<w:p>{r('before')}<w:r>{both}</w:r></w:p>") == "before\n\nboxed"


def test_formula_is_latex() -> None:
    run = "<m:r><m:t>{}</m:t></m:r>".format
    fraction = f"<m:f><m:num>{run('π')}</m:num><m:den>{run('2')}</m:den></m:f>"
    power = f"<m:sSup><m:e>{run('x')}</m:e><m:sup>{run('n')}</m:sup></m:sSup>"
    body = f"<w:p>{r('so ')}<m:oMath>{fraction}{run('≤')}{power}</m:oMath></w:p>"
    assert markdown(body) == r"so $\frac{\pi}{2} \leq x^{n}$"


def test_merged_cells_are_repeated_and_nested_tables_flattened() -> None:
    inner = f"<w:tbl><w:tr>{cell('x|1')}{cell('y')}</w:tr><w:tr>{cell('z')}{cell('w')}</w:tr></w:tbl>{p('')}"
    wide, high = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>'
    rows = f"<w:tr>{cell('A', wide)}{cell('B', high)}</w:tr>"
    rows += f"<w:tr>{cell('c')}{cell(inner)}{cell('', '<w:vMerge/>')}</w:tr>"
    rows += f'<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>{cell("d")}{cell("e")}</w:tr>'
    assert markdown(f"<w:tbl>{rows}</w:tbl>").split("\n") == [
        "| A | A | B |",
        "| --- | --- | --- |",
        "| c | x\\|1 y; z w | B |",
        "|  | d | e |",
    ]


def test_frame_of_one_cell_is_written_as_its_content() -> None:
    assert markdown(f"<w:tbl><w:tr>{cell(p('Note', style='H1') + p('text'))}</w:tr></w:tbl>") == "# Note\n\ntext"


def test_code_style_makes_one_fence() -> None:
    assert markdown(p("def f():", style="Code") + p("    pass", style="Code")) == "```\ndef f():\n    pass\n```"


def test_hidden_text_is_left_out() -> None:
    assert markdown(f"<w:p>{r('seen')}{r('unseen', '<w:vanish/>')}</w:p>") == "seen"


def test_literal_marks_are_escaped() -> None:
    assert markdown(p("# no heading") + p("a &lt;b&gt;")) == "\\# no heading\n\na \\<b>"


def test_macros_are_noticed_and_not_read() -> None:
    got = converted(package(p("x"), extra={"word/vbaProject.bin": b"\xff" * 10}))
    assert got.markdown == "x"
    assert got.metadata["has_macros"] is True


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le"])
@pytest.mark.parametrize(
    "evil",
    ['[<!ENTITY x SYSTEM "file:///etc/passwd">]', 'SYSTEM "http://127.0.0.1:9/x.dtd"', "[<!ATTLIST a b CDATA 'c'>]"],
)
def test_document_type_definition_is_refused(evil: str, encoding: str) -> None:
    text = f"<!DOCTYPE w:document {evil}><w:document {HEAD}><w:body>{p('x')}</w:body></w:document>"
    with pytest.raises(Damaged, match="document type definition"):
        converted(package("", extra={"word/document.xml": text.encode(encoding)}))


def test_part_out_of_all_proportion_is_too_large() -> None:
    with pytest.raises(TooLarge):
        converted(package(p("x"), extra={"word/document.xml": b" " * (40 << 20)}))


def test_forty_to_one_is_not_out_of_proportion() -> None:
    words = "".join(p(f"paragraph number {number} of a report") for number in range(2000))
    data = package(words)
    assert len(words) > 10 * len(data)
    assert converted(data).markdown.count("report") == 2000


def test_too_many_entries_are_too_large() -> None:
    with pytest.raises(TooLarge):
        converted(package(p("x"), extra={f"x/{number}": b"" for number in range(MAX_ENTRIES)}))


def test_part_that_lies_about_its_size_is_refused() -> None:
    noise = random.Random(1).randbytes(40_000)  # noqa: S311 - bytes that do not pack, the same on each run
    data = package(p("x"), extra={"word/document.xml": noise})
    declared = len(noise).to_bytes(4, "little")
    assert data.count(declared) == 2
    with pytest.raises(Damaged, match="cannot be true"):
        converted(data.replace(declared, (20).to_bytes(4, "little")))


def test_protected_document_is_encrypted() -> None:
    with pytest.raises(Encrypted):
        converted(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"not a zip", package(p("x"))[:-80]])
def test_broken_package_is_damaged(data: bytes) -> None:
    with pytest.raises(Damaged):
        converted(data)


def test_unknown_zip_version_is_damaged() -> None:
    data = bytearray(package(p("x")))
    at = data.index(b"PK\x01\x02")
    data[at + 6] = 203  # version needed to extract, APPNOTE.TXT 4.3.12
    with pytest.raises(Damaged):
        converted(bytes(data))


def test_document_without_text_is_empty() -> None:
    with pytest.raises(Empty):
        converted(package(p("")))


def test_deep_tables_do_not_exhaust_the_stack() -> None:
    depth = 60
    body = "<w:tbl><w:tr><w:tc>" * depth + p("deep") + "</w:tc></w:tr></w:tbl>" * depth
    assert "deep" in markdown(body)


def test_strict_namespaces_are_read_too() -> None:
    strict = f"<w:document {HEAD}><w:body>{p('strict')}</w:body></w:document>".replace(
        W, "http://purl.oclc.org/ooxml/wordprocessingml/main"
    )
    assert converted(package("", extra={"word/document.xml": strict})).markdown == "strict"
