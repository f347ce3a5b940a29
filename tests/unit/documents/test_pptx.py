"""Presentations to markdown: slides in order, bullets, tables, charts, notes."""

import io
import random
import zipfile

import pytest

from corebrain.documents.convert import pptx
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Damaged, Empty, Encrypted

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
C = "http://schemas.openxmlformats.org/drawingml/2006/chart"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
REL = "http://schemas.openxmlformats.org/package/2006/relationships"
HEAD = f'xmlns:a="{A}" xmlns:p="{P}" xmlns:r="{R}" xmlns:c="{C}"'


def relations(*pairs: tuple[str, str, str], external: bool = False) -> str:
    mode = ' TargetMode="External"' if external else ""
    inner = "".join(f'<Relationship Id="{key}" Type="{R}/{kind}" Target="{to}"{mode}/>' for key, kind, to in pairs)
    return f'<Relationships xmlns="{REL}">{inner}</Relationships>'


def deck(*slides: str, extra: dict[str, str] | None = None, shown: str = "") -> bytes:
    # The second slide of the package is shown first: order is the presentation's, not the file names'.
    order = list(range(len(slides), 0, -1))
    parts = {
        "_rels/.rels": relations(("a", "officeDocument", "ppt/presentation.xml")),
        "ppt/_rels/presentation.xml.rels": relations(*((f"s{n}", "slide", f"slides/slide{n}.xml") for n in order)),
        "ppt/presentation.xml": f"<p:presentation {HEAD}><p:sldIdLst>"
        + "".join(f'<p:sldId id="{256 + n}" r:id="s{n}"/>' for n in order)
        + "</p:sldIdLst></p:presentation>",
    }
    for number, shapes in zip(order, slides, strict=True):
        tree = f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"
        parts[f"ppt/slides/slide{number}.xml"] = f"<p:sld {HEAD}{shown}>{tree}</p:sld>"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**parts, **(extra or {})}.items():
            archive.writestr(name, data)
    return out.getvalue()


def shape(*paragraphs: str, kind: str | None = None) -> str:
    holder = f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>' if kind else "<p:nvPr/>"
    return f"<p:sp><p:nvSpPr>{holder}</p:nvSpPr><p:txBody>{''.join(paragraphs)}</p:txBody></p:sp>"


def para(text: str, properties: str = "") -> str:
    runs = text if text.startswith("<") else f"<a:r><a:t>{text}</a:t></a:r>"
    return f"<a:p>{properties}{runs}</a:p>"


def converted(data: bytes) -> ConvertedDocument:
    return pptx.convert(RawDocument(data=data), "pptx")


def test_slides_are_sections_in_the_order_they_are_shown() -> None:
    got = converted(deck(shape(para("One"), kind="title"), shape(para("Two"), kind="ctrTitle") + shape(para("text"))))
    assert got.markdown == "## Slide 1: One\n\n## Slide 2: Two\n\ntext"
    assert (got.title, got.metadata["slides"]) == ("One", 2)


def test_bullets_follow_the_placeholder_and_the_paragraph() -> None:
    body = shape(
        para("first"),
        para("deeper", '<a:pPr lvl="1"/>'),
        para("plain", "<a:pPr><a:buNone/></a:pPr>"),
        para("n1", '<a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>'),
        para("n2", '<a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>'),
        kind="body",
    )
    assert converted(deck(body)).markdown == "## Slide 1\n\n- first\n    - deeper\n\nplain\n\n1. n1\n2. n2"


def test_groups_are_looked_into_and_furniture_is_left_out() -> None:
    number = shape(para("7"), kind="sldNum")
    nested = f"<p:grpSp><p:grpSp>{shape(para('inside'))}</p:grpSp></p:grpSp>"
    assert converted(deck(number + nested)).markdown == "## Slide 1\n\ninside"


def test_table_cells_that_are_merged_are_repeated() -> None:
    def cell(text: str, attributes: str = "") -> str:
        return f"<a:tc{attributes}><a:txBody>{para(text)}</a:txBody></a:tc>"

    merged = ' hMerge="1"'
    below = ' vMerge="1"'
    rows = f"<a:tr>{cell('A')}{cell('B')}</a:tr>"
    rows += f"<a:tr>{cell('c')}{cell('', merged)}</a:tr><a:tr>{cell('', below)}{cell('d')}</a:tr>"
    frame = f"<p:graphicFrame><a:tbl>{rows}</a:tbl></p:graphicFrame>"
    assert converted(deck(frame)).markdown == "## Slide 1\n\n| A | B |\n| --- | --- |\n| c | c |\n| c | d |"


def test_chart_is_the_table_of_its_numbers() -> None:
    chart = (
        f"<c:chartSpace {HEAD}><c:chart><c:title><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:title><c:ser>"
        "<c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>North</c:v></c:pt></c:strCache></c:strRef></c:tx>"
        "<c:cat><c:strRef><c:strCache><c:pt idx='0'><c:v>Q1</c:v></c:pt><c:pt idx='1'><c:v>Q2</c:v></c:pt>"
        "</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:pt idx='0'><c:v>1.10000000000000009</c:v>"
        "</c:pt></c:numCache></c:numRef></c:val></c:ser></c:chart></c:chartSpace>"
    )
    extra = {
        "ppt/slides/_rels/slide1.xml.rels": relations(("c", "chart", "../charts/chart1.xml")),
        "ppt/charts/chart1.xml": chart,
    }
    frame = '<p:graphicFrame><c:chart r:id="c"/></p:graphicFrame>'
    assert converted(deck(frame, extra=extra)).markdown == (
        "## Slide 1\n\n**Sales**\n\n|  | North |\n| --- | --- |\n| Q1 | 1.1 |\n| Q2 |  |"
    )


def test_notes_stand_at_the_end_of_their_slide() -> None:
    notes = f"<p:notes {HEAD}><p:cSld><p:spTree>{shape(para('say this'), kind='body')}"
    notes += f"{shape(para('1'), kind='sldNum')}</p:spTree></p:cSld></p:notes>"
    extra = {
        "ppt/slides/_rels/slide1.xml.rels": relations(("n", "notesSlide", "../notesSlides/n1.xml")),
        "ppt/notesSlides/n1.xml": notes,
    }
    assert converted(deck(shape(para("x")), extra=extra)).markdown == "## Slide 1\n\nx\n\n**Notes:** say this"


def test_hidden_slide_is_marked() -> None:
    assert converted(deck(shape(para("x")), shown=' show="0"')).markdown == "## Slide 1 (hidden)\n\nx"


def test_outside_link_is_kept() -> None:
    run = '<a:r><a:rPr><a:hlinkClick r:id="l"/></a:rPr><a:t>site</a:t></a:r>'
    extra = {"ppt/slides/_rels/slide1.xml.rels": relations(("l", "hyperlink", "https://e.org/"), external=True)}
    assert converted(deck(shape(para(run)), extra=extra)).markdown == "## Slide 1\n\n[site](https://e.org/)"


def test_deep_groups_do_not_exhaust_the_stack() -> None:
    # Over 8 MiB the parser's own limit of depth is off; noise, as blanks would be out of all proportion.
    noise = f"<!--{random.Random(1).randbytes(4_500_000).hex()}-->"  # noqa: S311 - the same on each run
    nested = noise + "<p:grpSp>" * 1500 + shape(para("deep")) + "</p:grpSp>" * 1500
    assert converted(deck(shape(para("x")) + nested)).markdown.startswith("## Slide 1\n\nx")


def test_presentation_without_text_is_empty() -> None:
    with pytest.raises(Empty):
        converted(deck(""))


def test_broken_and_protected_presentations_are_told_apart() -> None:
    with pytest.raises(Damaged):
        converted(deck(shape(para("x")))[:-50])
    with pytest.raises(Encrypted):
        converted(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
