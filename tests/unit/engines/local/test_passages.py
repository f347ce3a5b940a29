from hypothesis import given
from hypothesis import strategies as st

from corebrain.engines.local.passages import PACK, split

texts = st.text(st.sampled_from("ab #\n\f é.\t"), max_size=200)


@given(texts, st.integers(1, 40))
def test_passages_joined_are_the_text(text: str, pack: int) -> None:
    assert "".join(passage.text for passage in split(text, pack)) == text


@given(texts, st.integers(5, 40))
def test_no_passage_is_blank_or_much_longer_than_a_pack(text: str, pack: int) -> None:
    passages = split(text, pack)
    if len(passages) > 1:
        assert all(passage.text for passage in passages)
        assert all(len(passage.text.strip()) <= pack for passage in passages)


@given(texts, st.integers(1, 40))
def test_a_page_is_one_plus_the_form_feeds_before_the_first_text(text: str, pack: int) -> None:
    before = 0
    passages = split(text, pack)
    for passage in passages:
        lead = len(passage.text) - len(passage.text.lstrip(" \n\f\t"))
        if "\f" in text and len(text) > pack and passage.text.strip():
            assert passage.first_page == 1 + text[: before + lead].count("\f")
        before += len(passage.text)


def test_a_text_that_fits_is_one_passage_without_page_or_section() -> None:
    (only,) = split("# Title\n\nshort\fpage two")
    assert (only.first_page, only.section) == (None, None)


def test_headings_and_pages_are_known() -> None:
    text = "# One #\n\n" + "a " * 700 + "\f\n## Two  \n" + "b " * 700 + "\f   ### Three\n" + "c " * 700
    found = [(p.first_page, p.last_page, p.section) for p in split(text)]
    assert found == [(1, 1, "One"), (2, 2, "Two"), (3, 3, "Three")]


def test_small_units_share_a_passage_under_the_first_heading() -> None:
    text = "# One\n\nx\n\n# Two\n\ny\n\n" + "# Three\n\n" + "z " * PACK
    first = split(text)[0]
    assert "y" in first.text
    assert first.section == "One"


def test_a_code_comment_and_a_hash_word_are_no_headings() -> None:
    text = "#include <x>\n#!shell\n    # indented\n" + "a " * PACK
    assert {passage.section for passage in split(text)} == {None}


def test_a_long_unit_is_cut_at_paragraphs_then_lines_then_spaces_then_anywhere() -> None:
    paragraphs = ("a" * 900 + "\n\n") * 3
    assert [len(p.text) for p in split(paragraphs)] == [902, 902, 902]
    lines = ("a" * 900 + "\n") * 3
    assert [len(p.text) for p in split(lines)] == [901, 901, 901]
    assert [len(p.text) for p in split("x" * (2 * PACK + 1))] == [PACK, PACK, 1]


def test_a_text_of_only_blanks_is_one_passage() -> None:
    assert len(split(" \f\n" * PACK, 10 * PACK)) == 1
    assert "".join(p.text for p in split(" \f\n" * PACK)) == " \f\n" * PACK
