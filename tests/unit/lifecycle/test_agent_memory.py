import threading
from typing import Any

import pytest

from corebrain.contract import Item, MemoryEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import EngineError, InvalidRequest, Unavailable
from corebrain.jobs import Outcome
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory, RecallPolicy
from corebrain.model.item import LearningKind, Role, StoreItem, Turn
from corebrain.model.meta import ItemKind, MemoryMeta, ToolCallRef
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    BELIEF_TAG,
    Consolidation,
    FetchPage,
    FetchRequest,
    Hit,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    StoreReceipt,
    WaitFor,
    WriteOptions,
)

LAYOUT = MemoryLayout()


class Watched(ReferenceEngine):
    """A reference engine that remembers how it was written to and what it was asked."""

    def __init__(self, consolidation: Consolidation = Consolidation.ON_DEMAND) -> None:
        super().__init__(consolidation)
        self.waits: list[WaitFor] = []
        self.asked: list[Any] = []

    def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
        self.waits.append(options.wait)
        return self.store(item)

    def fetch(self, request: FetchRequest) -> FetchPage:
        self.asked.append(request)
        return super().fetch(request)

    def list(self, request: ListRequest) -> ListPage:
        self.asked.append(request)
        return super().list(request)

    def recall(self, request: RecallRequest) -> RecallAnswer:
        self.asked.append(request)
        return super().recall(request)


def agent(engine: MemoryEngine | None = None, name: str = "support-01", layout: MemoryLayout = LAYOUT) -> AgentMemory:
    return AgentMemory(ReferenceEngine() if engine is None else engine, layout, name)


def talk(memory: AgentMemory, thread: str, *texts: str, day: int = 1) -> None:
    for index, text in enumerate(texts):
        at = f"2026-01-{day:02d}T09:{index:02d}:00Z"
        if index % 2:
            memory.post_turn(thread, index, text, at=at)
        else:
            memory.pre_turn(thread, index, text, at=at)


def test_agent_id_is_trimmed_and_may_not_be_blank() -> None:
    memory = agent(name="  agent 7 ")
    assert memory.agent_id == "agent 7"
    assert str(memory.namespace) == "agent:agent-7-e947a51f"
    with pytest.raises(InvalidRequest):
        agent(name=" \u3000")


def test_copies_leave_the_original_as_it_was() -> None:
    memory = agent()
    policy = RecallPolicy(team_limit=0)
    other = memory.with_policy(policy)
    assert (memory.policy, other.policy) == (RecallPolicy(), policy)
    assert other.with_core([]).policy == policy
    assert (other.engine, other.layout, other.agent_id) == (memory.engine, memory.layout, memory.agent_id)


def test_worked_pre_turn_shows_every_scope_but_the_turn_itself() -> None:
    engine = ReferenceEngine()
    memory = agent(engine)
    engine.store(StoreItem.learning("Customers prefer email about when refunds settle", LearningKind.FACT, 0.9))
    memory.brain().ingest(
        BrainDocument(source=BrainSource.FILES, title="Refund policy", text="Refunds settle within five business days.")
    )
    memory.pre_turn("t0", 0, "when do refunds settle", at="2026-09-15T09:01:02Z")
    turn = memory.pre_turn("t1", 0, "when do refunds settle")
    assert (
        turn.pack.markdown
        == """\
# Memory

## Learnings

- Customers prefer email about when refunds settle

## Brain

- Refund policy: Refunds settle within five business days.

## This agent's history

- [2026-09-15 09:01] user: when do refunds settle
"""
    )
    assert turn.logged == StoreReceipt(id="cad4ab8860b44267db6d725ee8fd3242d832ae22", replayed=False)
    assert turn.log_error is None


def test_live_turns_are_written_accepted_and_run_no_model() -> None:
    engine = Watched()
    memory = agent(engine)
    memory.pre_turn("t", 0, "hello")
    memory.post_turn("t", 1, "hello back")
    assert engine.waits == [WaitFor.ACCEPTED] * 2
    assert {type(request) for request in engine.asked} == {FetchRequest}


def test_brain_section_reads_at_most_four_scopes() -> None:
    engine = Watched()
    agent(engine).pre_turn("t", 0, "hello")
    by_kind = {request.filter.kinds: request.max_scopes for request in engine.asked}
    assert by_kind == {(ItemKind.LEARNING,): None, (ItemKind.DOCUMENT,): 4, (ItemKind.CONVERSATION,): None}


def test_turns_of_the_thread_still_in_the_prompt_do_not_come_back(engine: MemoryEngine) -> None:
    memory = agent(engine)
    talk(memory, "t", "marlin zero", "marlin one", "marlin two", "marlin three")
    talk(memory, "u", "marlin elsewhere", day=2)
    whole = memory.pre_turn("t", 4, "marlin four").pack.markdown
    assert "marlin elsewhere" in whole
    assert not any(f"marlin {word}" in whole for word in ("zero", "one", "two", "three", "four"))
    window = memory.pre_turn("t", 5, "marlin five", in_prompt_from=2).pack.markdown
    assert "marlin zero" in window
    assert "marlin one" in window
    assert not any(f"marlin {word}" in window for word in ("two", "three", "four", "five"))


def test_retried_turn_is_a_replay(engine: MemoryEngine) -> None:
    memory = agent(engine)
    first = memory.pre_turn("t", 0, "hello", at="2026-01-01T00:00:00Z")
    again = memory.pre_turn("t", 0, " hello ", at="2026-01-01T00:00:00Z")
    assert first.logged is not None
    assert again.logged == StoreReceipt(id=first.logged.id, replayed=True)
    calls = (ToolCallRef(name="grep"),)
    assert memory.post_turn("t", 1, "hi", calls).receipt.id == memory.post_turn("t", 1, "hi", calls).receipt.id


@pytest.mark.parametrize(
    ("fields", "policy"),
    [
        ({"thread_id": " "}, RecallPolicy()),
        ({"user_text": "\n"}, RecallPolicy()),
        ({"user_text": "lone \ud800"}, RecallPolicy()),
        ({"turn_index": -1}, RecallPolicy()),
        ({"in_prompt_from": -1}, RecallPolicy()),
        ({"at": "soon"}, RecallPolicy()),
        ({}, RecallPolicy(budget_tokens=0)),
    ],
)
def test_malformed_pre_turn_is_refused_before_anything_is_sent(fields: dict[str, Any], policy: RecallPolicy) -> None:
    engine = Watched()
    given: dict[str, Any] = {"thread_id": "t", "turn_index": 0, "user_text": "hi"} | fields
    with pytest.raises(InvalidRequest):
        agent(engine).with_policy(policy).pre_turn(**given)
    assert (engine.waits, engine.asked, len(engine)) == ([], [], 0)


@pytest.mark.parametrize(
    "error", [Unavailable("busy"), EngineError("broken"), RuntimeError("token=s3cret"), OSError(28)]
)
def test_failed_log_is_reported_beside_a_good_pack(error: Exception) -> None:
    class NoWrites(ReferenceEngine):
        def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
            del item, options
            raise error

    engine = NoWrites()
    engine.store(StoreItem.learning("hello is polite", LearningKind.FACT, 0.5))
    turn = agent(engine).pre_turn("t", 0, "hello")
    assert turn.logged is None
    assert turn.log_error is not None
    assert "s3cret" not in turn.log_error
    assert "hello is polite" in turn.pack.markdown


def test_receipt_that_is_none_is_a_failed_log_and_a_failed_reply() -> None:
    class Wordless(ReferenceEngine):
        def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
            super().store_with(item, options)
            return None  # type: ignore[return-value]  # what a careless engine does

    turn = agent(Wordless()).pre_turn("t", 0, "hello")
    assert turn.logged is None
    assert turn.log_error == "engine error: the engine answered with NoneType, not with StoreReceipt"
    with pytest.raises(EngineError):
        agent(Wordless()).post_turn("t", 1, "hello back")


def test_engine_that_fails_everywhere_never_fails_a_pre_turn_and_leaves_nothing_running() -> None:
    class Down(ReferenceEngine):
        def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
            raise self.down(item, options)

        def fetch(self, request: FetchRequest) -> FetchPage:
            raise self.down(request)

        @staticmethod
        def down(*_: object) -> Unavailable:
            return Unavailable("down")

    before = set(threading.enumerate())
    turn = agent(Down()).pre_turn("t", 0, "hello")
    assert turn.log_error == "unavailable: down"
    assert turn.pack.markdown == ""
    assert [each.reason for each in turn.pack.skipped] == ["unavailable: down"] * 4
    assert set(threading.enumerate()) <= before


def test_log_and_read_happen_at_the_same_time() -> None:
    class Meeting(ReferenceEngine):
        """The log waits for the reads and the reads for the log."""

        def __init__(self) -> None:
            super().__init__()
            self.barrier = threading.Barrier(5, timeout=30)

        def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
            self.barrier.wait()
            return super().store_with(item, options)

        def fetch(self, request: FetchRequest) -> FetchPage:
            self.barrier.wait()
            return super().fetch(request)

    turn = agent(Meeting()).pre_turn("t", 0, "hello")
    assert turn.log_error is None


def test_engine_that_works_in_process_reads_and_logs_in_the_callers_thread() -> None:
    class Embedded(Watched):
        works_in_process = True

        def fetch(self, request: FetchRequest) -> FetchPage:
            threads.append(threading.get_ident())
            return super().fetch(request)

        def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
            threads.append(threading.get_ident())
            return super().store_with(item, options)

    threads: list[int] = []
    turn = agent(Embedded()).pre_turn("t", 0, "hello")
    assert turn.logged is not None
    assert threads == [threading.get_ident()] * 5


def test_reply_keeps_its_tools_and_time_under_the_id_of_vector_f7(engine: MemoryEngine) -> None:
    called = (each for each in (ToolCallRef(name="lookup", id="call-1"), ToolCallRef(name="grep")))
    report = agent(engine).post_turn("t1", 1, "Five business days.", called, "2026-09-15T09:01:02.5Z")
    assert report.receipt == StoreReceipt(id="fa82a8e8942238faeef780e5b3a78714e441328c", replayed=False)
    (held,) = engine.list(ListRequest()).items
    assert held.text == "assistant: Five business days. [tools: lookup (call-1), grep]"


def test_failed_reply_is_raised() -> None:
    class NoWrites(ReferenceEngine):
        def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
            raise Unavailable(f"busy with {item.kind} {options.wait}")

    with pytest.raises(Unavailable):
        agent(NoWrites()).post_turn("t", 1, "hi")


@pytest.mark.parametrize(
    ("every", "index", "due"),
    [(10, 9, True), (10, 8, False), (10, 10, False), (10, 19, True), (1, 0, True), (0, 9, False), (None, 9, False)],
)
def test_belief_build_is_due_every_so_many_turns(every: int | None, index: int, *, due: bool) -> None:
    memory = agent().with_policy(RecallPolicy(build_beliefs_every=every))
    jobs = memory.post_turn("t", index, "hi").jobs
    assert jobs == ((memory.history_build(),) if due else ())


def test_engine_that_builds_by_itself_is_handed_no_build_but_may_be_asked() -> None:
    memory = agent(Watched(Consolidation.AUTOMATIC))
    assert memory.post_turn("t", 9, "hi").jobs == ()
    assert memory.run_background(memory.history_build()).outcome.outcome is Outcome.DONE


def test_history_build_is_the_agents_node_and_its_conversations() -> None:
    assert agent().history_build().to_dict() == {
        "job": "build_beliefs",
        "request": {
            "reach": {"at": "agent:support-01", "inherit": False, "descendants": False},
            "kinds": ["conversation"],
        },
    }


def test_build_handed_back_puts_beliefs_into_the_next_pack(engine: MemoryEngine) -> None:
    memory = agent(engine)
    memory.pre_turn("t", 8, "Our project codename is Marlin. More follows.")
    (job,) = memory.post_turn("t", 9, "Noted.").jobs
    assert memory.run_background(job).outcome.outcome is Outcome.DONE
    learned = next(found for found in memory.recall("project codename").sections if found.heading == "Learnings")
    assert [hit.text for hit in learned.hits] == ["Our project codename is Marlin."]


def test_session_without_focus_shows_the_newest_of_the_thread_first(engine: MemoryEngine) -> None:
    memory = agent(engine)
    talk(memory, "intro", "I live in Tallinn", "noted", "codename is Marlin", "noted too")
    talk(memory, "other", "something else", day=2)
    engine.store(StoreItem.learning("Prefers tea", LearningKind.PREFERENCE, 0.9))
    pack = memory.start_session(" intro ")
    first, *rest = pack.sections
    assert first.heading == "Earlier in this thread"
    assert [hit.text for hit in first.hits] == [
        "assistant: noted too",
        "user: codename is Marlin",
        "assistant: noted",
        "user: I live in Tallinn",
    ]
    assert [(found.heading, [hit.text for hit in found.hits]) for found in rest] == [
        ("Learnings", ["Prefers tea"]),
        ("This agent's history", ["user: something else"]),
    ]


def test_session_with_a_focus_ranks_for_it_and_reads_only() -> None:
    engine = Watched()
    agent(engine).start_session("t", focus="timezone")
    assert [request.query for request in engine.asked if isinstance(request, FetchRequest)] == ["timezone"] * 4
    assert engine.waits == []


def test_session_without_a_thread_has_only_the_standard_sections() -> None:
    skipped = agent().start_session().skipped
    assert [each.heading for each in skipped] == ["Learnings", "Brain", "This agent's history", "Team conversations"]


@pytest.mark.parametrize("thread", ["", " \n"])
def test_blank_thread_is_refused_everywhere(thread: str) -> None:
    memory = agent()
    for call in (
        lambda: memory.start_session(thread),
        lambda: memory.pre_turn(thread, 0, "x"),
        lambda: memory.post_turn(thread, 0, "x"),
        lambda: memory.recall_for_compaction(thread, []),
    ):
        with pytest.raises(InvalidRequest):
            call()


def test_compaction_summarises_the_thread_then_recalls_for_the_gist() -> None:
    engine = Watched()
    memory = agent(engine)
    talk(memory, "offsite", "the retreat is in Ghent", "noted", "catering is booked with Maison Lys", "noted")
    engine.asked.clear()
    dropped = [Turn(role=Role.USER, text=" the retreat\n is in Ghent "), Turn(role=Role.ASSISTANT, text="noted")]
    pack = memory.recall_for_compaction("offsite", dropped)
    assert pack.markdown.startswith("# Memory\n\n## Earlier in this conversation\n\nThis rests on")
    (asked,) = [request for request in engine.asked if isinstance(request, RecallRequest)]
    assert (asked.limit, asked.filter.thread_id) == (6, "offsite")
    fetched = [request.query for request in engine.asked if isinstance(request, FetchRequest)]
    assert fetched == ["the retreat is in Ghent noted"] * 4


def test_compaction_with_a_focus_ranks_for_it_and_without_words_shows_the_newest() -> None:
    engine = Watched()
    memory = agent(engine)
    memory.recall_for_compaction("t", [Turn(role=Role.USER, text="x")], focus="catering")
    assert {request.query for request in engine.asked if isinstance(request, FetchRequest)} == {"catering"}
    engine.asked.clear()
    memory.recall_for_compaction("t", [Turn(role=Role.USER, text=" ")], focus=" ")
    assert not any(isinstance(request, FetchRequest) for request in engine.asked)


def test_compaction_falls_back_to_the_turns_when_no_answer_is_to_be_had() -> None:
    class NoModel(ReferenceEngine):
        def recall(self, request: RecallRequest) -> RecallAnswer:
            raise Unavailable(f"no model for {request.question}")

    memory = agent(NoModel())
    talk(memory, "t", "what was settled: Ghent")
    first = memory.recall_for_compaction("t", []).sections[0]
    assert (first.heading, first.answer, len(first.hits)) == ("Earlier in this conversation", None, 1)


def test_recall_logs_nothing_and_leaves_nothing_out() -> None:
    engine = Watched()
    memory = agent(engine)
    talk(memory, "t", "the codename is Marlin")
    engine.waits.clear()
    assert "codename is Marlin" in memory.recall("codename").markdown
    assert memory.recall(" ").markdown == memory.recall(None).markdown != ""
    assert engine.waits == []


def test_zero_budget_is_refused_at_the_read_only() -> None:
    memory = agent().with_policy(RecallPolicy(budget_tokens=0))
    with pytest.raises(InvalidRequest):
        memory.recall("x")
    with pytest.raises(InvalidRequest):
        memory.start_session()
    with pytest.raises(InvalidRequest):
        memory.recall_for_compaction("t", [])
    memory.post_turn("t", 0, "hi")


def test_pooled_agents_see_their_own_history_and_no_team_section(engine: MemoryEngine) -> None:
    layout = LAYOUT.with_pooled_conversations(Namespace.parse("ws:main"))
    coder, planner = agent(engine, "coder", layout), agent(engine, "planner", layout)
    talk(coder, "t", "marlin of the coder")
    talk(planner, "t", "marlin of the planner")
    pack = coder.recall("marlin")
    assert pack.markdown.endswith("user: marlin of the coder\n")
    assert "planner" not in pack.markdown
    assert "Team conversations" not in {found.heading for found in pack.sections} | {s.heading for s in pack.skipped}


def test_team_conversations_show_the_other_agents_turns(engine: MemoryEngine) -> None:
    talk(agent(engine, "coder"), "t", "marlin of the coder")
    talk(agent(engine, "planner"), "t", "marlin of the planner")
    sections = {
        found.heading: [hit.text for hit in found.hits] for found in agent(engine, "coder").recall("marlin").sections
    }
    assert sections["This agent's history"] == ["user: marlin of the coder"]
    assert sections["Team conversations"] == ["user: marlin of the planner"]


def test_deadline_of_the_policy_reaches_the_engine() -> None:
    class Bounded(ReferenceEngine):
        def __init__(self) -> None:
            super().__init__()
            self.given: list[float] = []

        def within(self, seconds: float) -> MemoryEngine:
            self.given.append(seconds)
            return self

    engine = Bounded()
    memory = agent(engine)
    memory.recall("x")
    assert engine.given == []
    memory.with_policy(RecallPolicy(section_timeout_s=0.2)).recall("x")
    assert engine.given == [0.2] * 4


def test_beliefs_kept_apart_reach_the_learnings_of_every_pack() -> None:
    class Believing(ReferenceEngine):
        belief = Hit(id="b1", kind=ItemKind.LEARNING, text="Refunds are quick", meta=MemoryMeta(tags=(BELIEF_TAG,)))

        def fetch(self, request: FetchRequest) -> FetchPage:
            page = super().fetch(request)
            return page.model_copy(update={"beliefs": (self.belief,)[: request.beliefs]})

        def beliefs(self, request: Any) -> list[Hit]:
            return [self.belief][: request.limit]

    memory = agent(Believing())
    packs = (
        memory.pre_turn("t", 0, "zzz").pack,
        memory.start_session("t"),
        memory.recall_for_compaction("t", []),
        memory.recall("zzz"),
    )
    assert all("## Learnings\n\n- Refunds are quick\n" in pack.markdown for pack in packs)


def test_megabyte_of_user_text_is_logged_and_shown_short(engine: MemoryEngine) -> None:
    memory = agent(engine)
    text = "marlin " * 150_000
    turn = memory.pre_turn("t", 0, text)
    assert turn.log_error is None
    assert turn.pack.skipped
    pack = memory.recall("marlin")
    assert pack.tokens <= 1200
    assert "user: marlin marlin" in pack.markdown


def test_agents_share_an_engine_from_many_threads(engine: MemoryEngine) -> None:
    memories = [agent(engine, f"agent-{number}") for number in range(6)]
    failures: list[str | None] = []

    def live(memory: AgentMemory) -> None:
        for index in range(0, 10, 2):
            failures.append(memory.pre_turn("t", index, f"marlin {index} of {memory.agent_id}").log_error)
            memory.post_turn("t", index + 1, f"noted {index}")

    threads = [threading.Thread(target=live, args=(memory,)) for memory in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [None] * 30
    for memory in memories:
        history = engine.list(ListRequest(filter=LAYOUT.conversations_filter(memory.agent_id), limit=50)).items
        assert len(history) == 10


def test_clock_skew_and_missing_times_only_change_the_order(engine: MemoryEngine) -> None:
    memory = agent(engine)
    memory.pre_turn("t", 0, "from the future", at="9999-12-31T23:59:59Z")
    memory.pre_turn("t", 1, "from long ago", at="0001-01-01T00:00:00Z")
    memory.pre_turn("t", 2, "without a time")
    hits = memory.start_session("t").sections[0].hits
    assert [hit.text for hit in hits] == ["user: from the future", "user: from long ago", "user: without a time"]


def test_tools_write_and_read_at_the_agents_node() -> None:
    memory = agent(layout=MemoryLayout(Namespace.parse("team:acme")))
    scope = memory.tools().scope
    assert (str(scope.place), scope.reach, scope.writes) == (
        "team:acme/agent:support-01",
        Reach.of(memory.namespace),
        True,
    )
