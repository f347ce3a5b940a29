from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.engines.local.migration import bring_up
from corebrain.engines.local.query import MAX_WORDS, words
from corebrain.engines.local.schema import shard


@pytest.fixture(scope="module")
def connection() -> Iterator[apsw.Connection]:
    opened = apsw.Connection(":memory:")
    bring_up(opened, Path("memory.db"))
    for statement in shard(1):
        opened.execute(statement)
    opened.executemany("INSERT INTO languages VALUES (?, 1)", [("de",), ("ru",)])
    yield opened
    opened.close()


@given(query=st.text() | st.text(st.sampled_from("\"'*():^-+{}\0 ANDORNEAR\ud800é中\ue000n1")))
def test_no_query_leaks_into_the_syntax_of_the_index(connection: apsw.Connection, query: str) -> None:
    for word in words(connection, query):
        connection.execute("SELECT rowid FROM text_1 WHERE text_1 MATCH ?", (word.match,)).fetchall()


def test_stop_words_are_left_out(connection: apsw.Connection) -> None:
    assert [word.asked for word in words(connection, "When do the refunds settle?")] == ["refunds", "settle"]


def test_a_query_of_stop_words_alone_keeps_them(connection: apsw.Connection) -> None:
    assert [word.asked for word in words(connection, "who are you")] == ["who", "are", "you"]


def test_words_of_one_stem_are_asked_once(connection: apsw.Connection) -> None:
    assert [word.stem for word in words(connection, "refund refunds Refunding")] == ["refund"]


def test_a_query_without_a_word_has_none(connection: apsw.Connection) -> None:
    assert words(connection, "🎉 ?! ---") == []


def test_tag_tokens_cannot_be_asked_for(connection: apsw.Connection) -> None:
    assert [word.asked for word in words(connection, "\ue000s1 \ue000e1")] == ["s1", "e1"]


def test_a_pasted_page_is_cut_to_a_bounded_number_of_words(connection: apsw.Connection) -> None:
    assert len(words(connection, " ".join(f"w{n}q" for n in range(20_000)))) <= 2 * MAX_WORDS
