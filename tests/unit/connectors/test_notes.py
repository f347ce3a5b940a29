import pytest

from connectors.contract import Json
from connectors.notes import MAX_BYTES, MemoryNotes


def test_note_is_read_back_as_it_was_put_and_not_shared_with_its_writer() -> None:
    notes = MemoryNotes({"old": 1})
    value: list[Json] = ["a"]
    notes.put("new", value)
    value.append("b")
    assert (notes.get("old"), notes.get("new"), notes.get("none")) == (1, ["a"], None)


def test_none_removes_a_note() -> None:
    notes = MemoryNotes({"old": 1})
    notes.put("old", None)
    assert notes.get("old") is None


def test_note_over_the_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="more than the 65,536 allowed"):
        MemoryNotes().put("k", "x" * MAX_BYTES)
