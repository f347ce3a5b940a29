from datetime import UTC, datetime

import pytest

from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import InvalidRequest
from corebrain.layout import MemoryLayout
from corebrain.lifecycle.turns import gist, instant, stored_turn
from corebrain.model.instant import Instant
from corebrain.model.item import Role, Turn
from corebrain.model.meta import ToolCallRef
from corebrain.model.namespace import Namespace

LAYOUT = MemoryLayout()


def said(*texts: str) -> list[Turn]:
    return [Turn(role=Role.USER, text=text) for text in texts]


def test_user_turn_is_vector_f6_of_the_reference() -> None:
    item = stored_turn(LAYOUT, "support-01", " t1\n", 0, role=Role.USER, text="  when do refunds settle ")
    assert item.fingerprint() == "cad4ab8860b44267db6d725ee8fd3242d832ae22"


def test_reply_with_time_and_tools_is_vector_f7_of_the_reference() -> None:
    item = stored_turn(
        LAYOUT,
        "support-01",
        "t1",
        1,
        role=Role.ASSISTANT,
        text="Five business days.",
        at="2026-09-15T09:01:02.5Z",
        tool_calls=(ToolCallRef(name="lookup", id="call-1"), ToolCallRef(name="grep")),
    )
    assert item.fingerprint() == "fa82a8e8942238faeef780e5b3a78714e441328c"
    assert str(item.meta.observed_at) == "2026-09-15T09:01:02.500Z"


def test_turn_lies_at_its_agents_node_under_the_raw_agent_id() -> None:
    layout = MemoryLayout(Namespace.parse("team:acme"))
    item = stored_turn(layout, "agent 7", "t", 3, role=Role.USER, text="hi")
    assert str(item.meta.namespace) == "team:acme/agent:agent-7-e947a51f"
    assert item.meta.agent_id == "agent 7"
    assert (item.meta.turns.first, item.meta.turns.last) == (3, 3) if item.meta.turns else False


def test_pooled_turn_lies_at_the_pool() -> None:
    layout = MemoryLayout(Namespace.parse("team:acme")).with_pooled_conversations(Namespace.parse("ws:main"))
    item = stored_turn(layout, "coder", "t", 0, role=Role.USER, text="hi")
    assert str(item.meta.namespace) == "team:acme/ws:main"
    assert item.meta.agent_id == "coder"


@pytest.mark.parametrize(
    ("thread", "index", "text", "at"),
    [
        ("", 0, "x", None),
        (" \u3000", 0, "x", None),
        ("t", 0, "\n\t", None),
        ("t", -1, "x", None),
        ("t", 2**32, "x", None),
        ("t", 0, "x", "yesterday"),
        ("t", 0, "x", datetime(2026, 1, 1)),  # noqa: DTZ001  # naive on purpose
    ],
)
def test_malformed_turn_is_refused(thread: str, index: int, text: str, at: str | datetime | None) -> None:
    with pytest.raises(InvalidRequest):
        stored_turn(LAYOUT, "a", thread, index, role=Role.USER, text=text, at=at)


def test_time_is_taken_in_any_form() -> None:
    moment = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert instant(moment) == instant("2026-01-01T13:00:00+01:00") == instant(Instant.of(moment)) == Instant.of(moment)
    assert instant(None) is None


def test_same_turn_with_another_time_is_another_item() -> None:
    engine = ReferenceEngine()
    for at in ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:01Z"):
        engine.store(stored_turn(LAYOUT, "a", "t", 0, role=Role.USER, text="hi", at=at))
    assert len(engine) == 2


def test_gist_of_two_long_turns_is_six_hundred_characters() -> None:
    text = gist(said("a" * 500, "b" * 500))
    assert text == "a" * 300 + " " + "b" * 299


@pytest.mark.parametrize("count", [15, 16, 40])
def test_gist_of_many_turns_takes_forty_characters_of_each(count: int) -> None:
    text = gist(said(*("c" * 100 for _ in range(count))))
    assert text is not None
    assert text.split(" ")[:-1] == ["c" * 40] * 14
    assert len(text) == 600


def test_gist_collapses_whitespace_and_leaves_blank_turns_out() -> None:
    assert gist(said(" a \n b ", " \t", "c")) == "a b c"


def test_gist_of_nothing_is_no_query() -> None:
    assert gist([]) is None
    assert gist(said(" ", "\n")) is None
