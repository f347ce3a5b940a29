"""What is shown of a hit: the words that match, their page and heading."""

from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.requests import Hit
from pipeline.cli.snippets import WIDTH, snippet


def hit(text: str, *, path: str = "a.md", tags: tuple[str, ...] = ()) -> Hit:
    return Hit(id="0" * 40, kind=ItemKind.DOCUMENT, text=text, meta=MemoryMeta(file_path=path, tags=tags))


def test_the_words_of_the_query_are_marked_in_all_their_forms() -> None:
    found = snippet(hit("# Title\n\nWe booked Bookings for a book."), "booking")
    assert [found.text[start:stop] for start, stop in found.spans] == ["booked", "Bookings", "book"]


def test_the_title_is_no_part_of_the_snippet() -> None:
    assert snippet(hit("# Leave\n\nSixteen weeks."), "leave").text == "Sixteen weeks."


def test_a_long_text_is_cut_around_the_match() -> None:
    text = "first words. " + "filler " * 200 + "needle in here " + "filler " * 200
    found = snippet(hit(text), "needle")
    assert found.text.startswith("…")
    assert found.text.endswith("…")
    assert "needle in here" in found.text
    assert len(found.text) <= WIDTH + 2


def test_the_place_with_most_words_of_the_query_is_shown() -> None:
    text = "## Slide 1\n\nalpha alpha alpha" + "\n\n## Slide 2\n\nalpha then beta and gamma"
    found = snippet(hit(text), "gamma beta alpha")
    assert found.heading == "Slide 2"
    assert "alpha then beta and gamma" in found.text


def test_the_page_is_counted_by_the_marks_before_the_match() -> None:
    text = "one\n\f\ntwo\n\f\nthree needle"
    assert snippet(hit(text, path="a.pdf"), "needle").page == "3"
    assert snippet(hit("only needle", path="a.PDF"), "needle").page == "1"
    assert snippet(hit("only needle"), "needle").page is None


def test_the_engines_page_comes_before_our_count() -> None:
    assert snippet(hit("needle", path="a.pdf", tags=("page:2", "page:7-8")), "needle").page == "7-8"


def test_the_heading_is_the_last_one_above_the_match() -> None:
    text = "## Slide 1: Hello\n\nhi\n\n## Slide 2: World\n\nneedle\n\n## Slide 3\n\nend"
    assert snippet(hit(text), "needle").heading == "Slide 2: World"
    assert snippet(hit(text), "hello").heading == "Slide 1: Hello"
    assert snippet(hit("no heading, needle", tags=("section:Sheet 4",)), "needle").heading == "Sheet 4"


def test_escapes_of_a_document_do_not_shift_the_marks() -> None:
    found = snippet(hit("\x1b[31m needle"), "needle")
    assert [found.text[start:stop] for start, stop in found.spans] == ["needle"]


def test_a_query_without_words_marks_nothing() -> None:
    assert snippet(hit("text"), "!?").spans == ()
