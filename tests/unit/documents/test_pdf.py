"""PDF to markdown: lines, headings, lists, tables, furniture, pages, forms, refusals."""

import io
from collections.abc import Callable

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import Link as LinkAnnotation
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject, StreamObject, TextStringObject

from corebrain.documents.convert import pdf
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Damaged, Empty, Encrypted, NeedsOcr, TooLarge

FONTS = {"F": "Helvetica", "B": "Helvetica-Bold", "C": "Courier"}


def document(*pages: str, rotate: int = 0, resources: str = "", catalog: str = "") -> bytes:
    """A PDF of one content stream a page; fonts F (plain), B (bold) and C (fixed pitch) are there to use."""
    fonts = " ".join(
        f"/{key} << /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
        for key, name in FONTS.items()
    )
    kids = " ".join(f"{3 + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
    ]
    for index, content in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Rotate {rotate} /Contents {4 + 2 * index} 0 R "
            f"/Resources << /Font << {fonts} >> {resources} >> >>"
        )
        objects.append(f"<< /Length {len(content.encode('latin-1'))} >>\nstream\n{content}\nendstream")
    out = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    trailer = f"trailer << /Root 1 0 R /Size {len(objects) + 1} >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode("latin-1")


def text(x: float, top: float, words: str, *, size: float = 10, font: str = "F") -> str:
    """Words at a place, top down as a reader sees the page."""
    escaped = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /{font} {size} Tf 1 0 0 1 {x} {800 - top} Tm ({escaped}) Tj ET\n"


def lines(x: float, top: float, *rows: str, size: float = 10, font: str = "F", step: float = 12) -> str:
    return "".join(text(x, top + step * index, row, size=size, font=font) for index, row in enumerate(rows))


def converted(data: bytes, password: str | None = None) -> ConvertedDocument:
    return pdf.convert(RawDocument(data=data, password=password), "pdf")


def markdown(*pages: str) -> str:
    return converted(document(*pages)).markdown


PROSE = (
    "The handbook says how the company works, and it is kept by",
    "everyone who works here. A change is proposed as a request,",
    "and the owner of the page decides.",
)


def test_lines_of_a_paragraph_are_joined() -> None:
    assert markdown(lines(50, 100, *PROSE)) == " ".join(PROSE)


def test_gap_parts_paragraphs() -> None:
    assert markdown(lines(50, 100, *PROSE[:2]) + lines(50, 140, *PROSE[:2])) == "\n\n".join([" ".join(PROSE[:2])] * 2)


def test_short_line_that_ends_a_sentence_ends_its_paragraph() -> None:
    assert markdown(lines(50, 100, *PROSE, *PROSE)) == "\n\n".join([" ".join(PROSE)] * 2)


def test_word_broken_at_a_line_end_is_closed_up() -> None:
    assert "an important matter" in markdown(lines(50, 100, "This line ends in an impor-", "tant matter of the day."))


def test_broken_word_keeps_its_hyphen_when_the_document_writes_it_so() -> None:
    page = lines(50, 100, "We re-examine the cases that we must re-", "examine, and a re-examined case is done.")
    assert "must re-examine, and" in markdown(page)


def test_larger_and_bold_lines_are_headings() -> None:
    page = text(50, 60, "Handbook", size=20, font="B") + lines(50, 100, *PROSE)
    page += text(50, 160, "1.1 Holidays", font="B") + lines(50, 180, *PROSE)
    assert markdown(page) == f"# Handbook\n\n{' '.join(PROSE)}\n\n## 1.1 Holidays\n\n{' '.join(PROSE)}"


def test_bold_word_in_a_sentence_is_no_heading() -> None:
    page = lines(50, 100, *PROSE) + text(50, 136, "Important ", font="B") + text(104, 136, "is what follows here.")
    assert "#" not in markdown(page)


def test_lists_keep_their_items_and_join_wrapped_lines() -> None:
    page = lines(50, 100, "\x95 first item which is long enough to", size=10) + text(60, 112, "wrap around")
    page += text(50, 124, "\x95 second item") + lines(50, 160, "1. one", "2. two")
    assert markdown(page) == "- first item which is long enough to wrap around\n- second item\n\n1. one\n2. two"


def test_fixed_pitch_lines_are_code() -> None:
    page = lines(50, 60, *PROSE) + lines(50, 120, "def f():", font="C") + text(74, 132, "return 1", font="C")
    assert markdown(page + lines(50, 170, *PROSE)).split("\n\n")[1] == "```\ndef f():\n    return 1\n```"


def grid(left: float, top: float, widths: list[int], rows: list[list[str]], *, ruled: bool) -> str:
    out, height = "", 20
    edges = [left]
    for width in widths:
        edges.append(edges[-1] + width)
    for row, cells in enumerate(rows):
        out += "".join(text(edges[at] + 4, top + height * row + 14, cell) for at, cell in enumerate(cells) if cell)
    if ruled:
        bottom = top + height * len(rows)
        out += "".join(f"{edge} {800 - top} m {edge} {800 - bottom} l S\n" for edge in edges)
        ys = [800 - top - height * row for row in range(len(rows) + 1)]
        out += "".join(f"{edges[0]} {y} m {edges[-1]} {y} l S\n" for y in ys)
    return out


ROWS = [["Name", "Team", "Since"], ["Ann Lee", "Data", "2019"], ["Bo", "", "2021"], ["Cy Young", "Sales", "2020"]]
TABLE = "\n".join(f"| {' | '.join(row)} |" for row in [ROWS[0], ["---"] * 3, *ROWS[1:]])


@pytest.mark.parametrize("ruled", [True, False])
def test_table_is_a_markdown_table_in_its_place(ruled: bool) -> None:
    page = lines(50, 60, *PROSE) + grid(50, 120, [150, 150, 100], ROWS, ruled=ruled) + lines(50, 240, *PROSE)
    assert markdown(page) == f"{' '.join(PROSE)}\n\n{TABLE}\n\n{' '.join(PROSE)}"


def test_table_drawn_last_stands_where_it_is_seen() -> None:
    page = lines(50, 60, *PROSE) + lines(50, 240, *PROSE) + grid(50, 120, [150, 150, 100], ROWS, ruled=True)
    assert markdown(page) == f"{' '.join(PROSE)}\n\n{TABLE}\n\n{' '.join(PROSE)}"


def test_two_columns_of_prose_are_no_table() -> None:
    words = ["the quick brown fox jumps over it", "and runs along the old river bank"] * 8
    by_column = lines(50, 100, *words) + lines(390, 100, *words)
    by_row = "".join(text(x, 100 + 12 * row, line) for row, line in enumerate(words) for x in (50, 390))
    assert "|" not in markdown(by_column)
    assert "|" not in markdown(by_row)


def test_three_columns_of_prose_are_no_table() -> None:
    line = "the quick brown fox jumps over the lazy old dog"
    page = "".join(text(x, 100 + 7 * row, line, size=5) for row in range(12) for x in (40, 240, 440))
    assert "|" not in markdown(page)


def test_text_framed_together_with_a_table_stays_text() -> None:
    edges = "".join(f"{x} 720 m {x} 600 l S\n" for x in (50, 450)) + "50 720 m 450 720 l S\n"
    page = edges + lines(60, 100, *PROSE) + grid(50, 200, [150, 150, 100], ROWS, ruled=True)
    assert markdown(page) == f"{' '.join(PROSE)}\n\n{TABLE}"


def test_frame_around_a_page_is_no_table() -> None:
    frame = "40 40 520 720 re S\n300 40 m 300 760 l S\n40 400 m 560 400 l S\n"
    assert "|" not in markdown(frame + lines(50, 80, *PROSE * 8))


def boxes(*places: tuple[float, float, float, float, str]) -> str:
    """Boxes of (left, top, width, height) with a word in each."""
    drawn = "".join(f"{x} {800 - top - high} {wide} {high} re S\n" for x, top, wide, high, _ in places)
    return drawn + "".join(text(x + 4, top + 14, word) for x, top, _, _, word in places)


def test_diagram_of_boxes_is_no_table() -> None:
    chart = boxes(
        (50, 100, 80, 40, "Start"), (130, 110, 60, 20, "go"), (190, 90, 100, 60, "Work"), (200, 150, 30, 70, "no"),
        (170, 220, 90, 30, "Stop"), (290, 120, 70, 15, "yes"), (360, 100, 80, 50, "Ship"),
    )  # fmt: skip
    got = markdown(chart)
    assert "|" not in got
    assert all(word in got for word in ("Start", "Work", "Stop", "Ship"))


def test_squared_paper_with_labels_is_no_table() -> None:
    blank = [[""] * 8 for _ in range(8)]
    blank[0][0], blank[3][2], blank[3][6], blank[7][7] = "y", "1", "2", "x"
    assert "|" not in markdown(grid(50, 100, [40] * 8, blank, ruled=True))


def test_pages_are_joined_by_a_form_feed() -> None:
    got = converted(document(text(50, 100, "one page"), "", text(50, 100, "three")))
    assert got.markdown.split("\f") == ["one page\n", "\n\n", "\nthree"]
    assert got.pages == 3


def test_repeated_headers_and_footers_are_dropped() -> None:
    pages = [
        text(50, 30, "Handbook of the company") + text(280, 780, f"Page {number} of 4") + text(50, 100, f"Text {word}")
        for number, word in enumerate(["alpha", "beta", "gamma", "delta"], 1)
    ]
    assert markdown(*pages) == "Text alpha\n\f\nText beta\n\f\nText gamma\n\f\nText delta"


@pytest.mark.parametrize("rotate", [90, 180, 270])
def test_turned_page_is_read_upright(rotate: int) -> None:
    turn = {90: "0 1 -1 0 800 0", 180: "-1 0 0 -1 600 800", 270: "0 -1 1 0 -200 800"}[rotate]
    words = text(50, 60, "Handbook", size=20) + lines(50, 100, *PROSE)
    page = f"q {turn} cm\n{words}{grid(50, 200, [150, 150, 100], ROWS, ruled=True)}Q\n"
    assert converted(document(page, rotate=rotate)).markdown == f"# Handbook\n\n{' '.join(PROSE)}\n\n{TABLE}"


def test_picture_without_text_needs_ocr_and_names_the_pages() -> None:
    with pytest.raises(NeedsOcr, match="pages 1-2 of 3"):
        converted(document("0 0 600 800 re f", "0 0 600 800 re f", ""))


def test_scanned_page_among_others_is_named_in_the_metadata() -> None:
    got = converted(document(text(50, 100, "words"), "0 0 600 800 re f"))
    assert got.metadata["pages_without_text"] == [2]


def test_blank_document_is_empty() -> None:
    with pytest.raises(Empty):
        converted(document(""))


def test_document_of_nothing_but_bullets_is_not_blank() -> None:
    assert markdown(lines(50, 100, "\x95", "\x95", step=40)).strip()


@pytest.mark.parametrize(("data", "refusal"), [(b"", Empty), (b"%PDF-1.7\nnothing", Damaged), (b"junk" * 99, Damaged)])
def test_broken_file_is_refused(data: bytes, refusal: type[Exception]) -> None:
    with pytest.raises(refusal):
        converted(data)


def written(writer: PdfWriter) -> bytes:
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def copied(data: bytes) -> PdfWriter:
    writer = PdfWriter()
    writer.append(PdfReader(io.BytesIO(data)))
    return writer


def test_password_opens_and_its_lack_is_told() -> None:
    writer = copied(document(text(50, 100, "secret words")))
    writer.encrypt("open sesame", algorithm="AES-256")
    data = written(writer)
    assert converted(data, "open sesame").markdown == "secret words"
    with pytest.raises(Encrypted, match="not given"):
        converted(data)
    with pytest.raises(Encrypted, match="does not open it"):
        converted(data, "wrong")


def test_empty_user_password_opens_by_itself() -> None:
    writer = copied(document(text(50, 100, "plain words")))
    writer.encrypt("", "owner", algorithm="AES-128")
    got = converted(written(writer))
    assert got.markdown == "plain words"
    assert got.metadata["encrypted"] is True


def test_attachments_are_parts() -> None:
    writer = copied(document(text(50, 100, "see attached")))
    writer.add_attachment("data.csv", b"a,b\n1,2\n")
    got = converted(written(writer))
    assert [(part.name, part.data) for part in got.parts] == [("data.csv", b"a,b\n1,2\n")]
    assert got.metadata["attachments"] == ["data.csv"]
    assert got.converter == "pdf:pypdfium2+pypdf"


def form_field(name: str, value: str | None) -> DictionaryObject:
    """A text field, or a check box when the value is a name such as `/Yes`."""
    kind = NameObject("/Btn" if value and value.startswith("/") else "/Tx")
    made = DictionaryObject({NameObject("/FT"): kind, NameObject("/T"): TextStringObject(name)})
    made[NameObject("/Type")], made[NameObject("/Subtype")] = NameObject("/Annot"), NameObject("/Widget")
    made[NameObject("/Rect")] = ArrayObject([NumberObject(at) for at in (0, 0, 10, 10)])
    if value is not None:
        made[NameObject("/V")] = NameObject(value) if value.startswith("/") else TextStringObject(value)
    return made


def test_form_fields_are_listed_with_their_values() -> None:
    writer = copied(document(text(50, 100, "A form")))
    fields = (("City", "Oslo"), ("Zip", None), ("Agree", "/Yes"), ("Spam", "/Off"))
    references = ArrayObject([writer._add_object(form_field(*each)) for each in fields])
    writer.pages[0][NameObject("/Annots")] = references
    writer._root_object[NameObject("/AcroForm")] = DictionaryObject({NameObject("/Fields"): references})
    assert converted(written(writer)).markdown == (
        "A form\n\n## Form fields\n\n- City: Oslo\n- Agree: Yes\n- Zip: (empty)\n- Spam: (empty)"
    )


def test_outline_makes_headings_of_plain_lines() -> None:
    writer = copied(document(text(50, 60, "Scope of work") + lines(50, 100, *PROSE)))
    chapter = writer.add_outline_item(title="Part", page_number=0)
    writer.add_outline_item(title="Scope of Work", page_number=0, parent=chapter)
    assert converted(written(writer)).markdown == f"## Scope of work\n\n{' '.join(PROSE)}"


def test_title_comes_from_the_metadata_unless_a_program_put_it_there() -> None:
    writer = copied(document(text(50, 100, "x")))
    writer.add_metadata({"/Title": "Annual Report", "/Author": "Ann"})
    got = converted(written(writer))
    assert (got.title, got.metadata["author"]) == ("Annual Report", "Ann")
    writer.add_metadata({"/Title": "Microsoft Word - draft7.doc"})
    assert converted(written(writer)).title is None


def test_language_comes_from_the_catalog() -> None:
    assert converted(document(text(50, 100, "x"), catalog="/Lang (nb-NO)")).language == "nb-NO"


def test_document_of_too_many_pages_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_PAGES", 2)
    with pytest.raises(TooLarge, match="3 pages"):
        converted(document("", "", ""))


def test_document_of_too_much_text_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_CHARS", 20)
    with pytest.raises(TooLarge, match="characters"):
        converted(document(lines(50, 100, *PROSE)))


def test_unreadable_page_costs_only_itself() -> None:
    data = document(text(50, 100, "good"), text(50, 100, "bad"))
    broken = data.replace(b"/Kids [3 0 R 5 0 R]", b"/Kids [3 0 R 9 0 R]")
    assert converted(broken).markdown.startswith("good")


def test_same_bytes_give_the_same_markdown() -> None:
    data = document(lines(50, 60, *PROSE) + grid(50, 120, [150, 150, 100], ROWS, ruled=True))
    assert converted(data) == converted(data)


def linked(content: str, *links: tuple[str, tuple[float, float, float, float]]) -> str:
    """The markdown of a page with link annotations; boxes are (left, top, right, bottom) as a reader sees them."""
    writer = copied(document(content))
    for url, (left, top, right, bottom) in links:
        writer.add_annotation(0, LinkAnnotation(rect=(left, 800 - bottom, right, 800 - top), url=url))
    return converted(written(writer)).markdown


def test_words_under_a_link_lead_where_it_does() -> None:
    content = text(50, 100, "See the manual and the manual.")
    first, second = (86, 90, 122, 104), (156, 90, 191, 104)
    assert linked(content, ("https://e.org/a b", first)) == "See the manual and the manual."
    both = linked(content, ("https://e.org/2", second), ("https://e.org/(1)", first))
    assert both == "See the [manual](https://e.org/%281%29) and the [manual](https://e.org/2)."


def test_link_over_two_lines_stands_in_both() -> None:
    url = "https://e.org/"
    content = lines(50, 100, "The terms of use are the full terms", "of this service and apply to all of you.")
    found = linked(content, (url, (170, 90, 230, 103)), (url, (50, 104, 110, 115)))
    assert found.count(f"]({url})") == 2


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "#here", "https://e.org/\nx"])
def test_link_that_leads_nowhere_is_plain_text(url: str) -> None:
    assert linked(text(50, 100, "See the manual."), (url, (86, 90, 122, 104))) == "See the manual."


def test_address_that_links_to_itself_stays_as_it_is() -> None:
    content = text(50, 100, "www.example.org")
    assert linked(content, ("http://www.example.org/", (45, 90, 140, 104))) == "www.example.org"


def coded(encoding: str, columns: list[str], place: Callable[[int, list[str]], str]) -> str:
    """The markdown of lines in a font that tells its signs only by a ToUnicode map.

    `encoding` is a predefined one of two bytes a sign, or empty for a plain font of one; `place` draws coded signs.
    """
    width = 4 if encoding else 2
    signs = {sign: f"{index:0{width}x}" for index, sign in enumerate(sorted(set("".join(columns))), 0x41)}
    rows = "\n".join(f"<{code}> <{sign.encode('utf-16-be').hex()}>" for sign, code in signs.items())
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def 1 "
        f"begincodespacerange <{'0' * width}> <{'f' * width}> endcodespacerange {len(signs)} beginbfchar\n{rows}\n"
        "endbfchar endcmap end end"
    )
    content = "".join(place(number, [signs[sign] for sign in column]) for number, column in enumerate(columns))
    writer = copied(document(content))
    stream = StreamObject()
    stream.set_data(cmap.encode())
    font = named(Type="Font", Subtype="Type1", BaseFont="Helvetica")
    if encoding:
        descriptor = named(Type="FontDescriptor", FontName="X")
        descriptor[NameObject("/Flags")] = NumberObject(4)
        below = named(Type="Font", Subtype="CIDFontType0", BaseFont="X")
        below[NameObject("/CIDSystemInfo")] = DictionaryObject(
            {
                NameObject("/Registry"): TextStringObject("Adobe"),
                NameObject("/Ordering"): TextStringObject("Identity"),
                NameObject("/Supplement"): NumberObject(0),
            }
        )
        below[NameObject("/FontDescriptor")] = writer._add_object(descriptor)
        font = named(Type="Font", Subtype="Type0", BaseFont="X", Encoding=encoding)
        font[NameObject("/DescendantFonts")] = ArrayObject([writer._add_object(below)])
    font[NameObject("/ToUnicode")] = writer._add_object(stream)
    fonts = writer.pages[0]["/Resources"]["/Font"]  # type: ignore[index]  # a dictionary, as made above
    fonts[NameObject("/J")] = writer._add_object(font)
    return converted(written(writer)).markdown


def named(**values: str) -> DictionaryObject:
    return DictionaryObject({NameObject(f"/{key}"): NameObject(f"/{value}") for key, value in values.items()})


def drawn(x: float, y: float, codes: str) -> str:
    return f"BT /J 12 Tf 1 0 0 1 {x} {y} Tm <{codes}> Tj ET\n"


def test_hebrew_drawn_from_left_to_right_is_read_in_its_order() -> None:
    words = ["שלום לכל העולם", "זוהי שורה שנייה"]
    read = coded("Identity-H", words, lambda row, codes: drawn(100, 700 - 16 * row, "".join(reversed(codes))))
    assert read == " ".join(words)


COLUMNS = ["吾輩は猫である。", "名前はまだ無い。", "どこで生れたか。"]


def test_vertical_columns_are_read_from_right_to_left() -> None:
    read = coded("Identity-V", COLUMNS, lambda column, codes: drawn(500 - 24 * column, 700, "".join(codes)))
    assert read == "".join(COLUMNS)


def test_columns_set_sign_by_sign_are_joined() -> None:
    def signs(column: int, codes: list[str]) -> str:
        return "".join(drawn(500 - 24 * column, 700 - 12 * row, code) for row, code in enumerate(codes))

    assert coded("", COLUMNS, signs) == "".join(COLUMNS)
