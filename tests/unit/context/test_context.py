from types import ModuleType

import pytest

from corebrain import context
from corebrain.context import Brief, ContextCompiler, ContextSpec, InvalidSpec
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import EngineError, InvalidRequest
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.item import LearningKind, StoreItem
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import RecallAnswer, RecallRequest

AT = Instant.parse("2026-10-04T09:30:00.75Z")
ACME = Namespace.parse("team:acme")
ASK = Brief(heading="About", question="who?")


def test_defaults_are_four_briefs_and_twenty_learnings_in_1500_tokens() -> None:
    spec = ContextSpec()
    assert spec.budget_tokens == 1500
    assert spec.learnings_limit == 20
    assert spec.reach is None
    assert [brief.heading for brief in spec.briefs] == [
        "About the user",
        "Active work",
        "Preferences and standing instructions",
        "Recent important events",
    ]
    assert all(brief.filter == MetaFilter() for brief in spec.briefs)


def test_spec_is_one_answered_section_a_brief_then_the_latest_learnings() -> None:
    spec = ContextSpec(briefs=(ASK,), learnings_limit=3, reach=Reach.exact(ACME))
    recall = spec.recall()
    answered, learnings = recall.sections
    assert recall.title == "Context"
    assert (answered.heading, answered.limit, answered.query.by) == ("About", 8, "answer")
    assert answered.filter.reach == Reach.exact(ACME)
    assert (learnings.heading, learnings.limit, learnings.query.by) == ("Learnings", 3, "latest")
    assert learnings.filter == MetaFilter(reach=Reach.exact(ACME), kinds=(ItemKind.LEARNING,))


def test_reach_of_the_spec_replaces_only_the_reach_of_a_brief() -> None:
    brief = Brief(heading="A", question="b", filter=MetaFilter(reach=Reach.subtree(ACME), workspace="w"))
    kept = ContextSpec(briefs=(brief,)).recall().sections[0].filter
    replaced = ContextSpec(briefs=(brief,), reach=Reach.exact(ACME)).recall().sections[0].filter
    assert kept == brief.filter
    assert replaced == MetaFilter(reach=Reach.exact(ACME), workspace="w")


@pytest.mark.parametrize(
    "spec",
    [
        ContextSpec(budget_tokens=0),
        ContextSpec(budget_tokens=-1),
        ContextSpec(learnings_limit=-1),
        ContextSpec(briefs=(Brief(heading=" \n", question="q"),)),
        ContextSpec(briefs=(Brief(heading="h", question="\u2003"),)),
    ],
)
def test_malformed_spec_is_the_only_error_and_nothing_is_read(spec: ContextSpec, canned: ModuleType) -> None:
    engine = canned.CannedEngine({})
    with pytest.raises(InvalidSpec) as caught:
        context.compile(engine, spec)
    assert isinstance(caught.value, InvalidRequest)
    assert engine.asked == engine.listed == []


def test_briefs_are_asked_with_the_fixed_instruction_and_their_limit(canned: ModuleType) -> None:
    engine = canned.CannedEngine({})
    context.compile(engine, ContextSpec(briefs=(ASK,)))
    (request,) = engine.asked
    assert (request.question, request.limit) == ("who?", 8)
    assert "bullets" in request.instructions
    assert "only what the stored items support" in request.instructions


def test_document_keeps_whole_seconds_and_says_which_engine() -> None:
    engine = ReferenceEngine()
    engine.store(StoreItem.learning("prefers tabs", LearningKind.PREFERENCE, 0.9))
    document = ContextCompiler(AT).compile(engine)
    assert str(document.generated_at) == "2026-10-04T09:30:00Z"
    assert document.engine == "reference"
    assert "generated_at: 2026-10-04T09:30:00Z\nengine: reference\n" in document.markdown
    assert document.refs == (StoreItem.learning("prefers tabs", LearningKind.PREFERENCE, 0.9).fingerprint(),)


def test_compile_without_a_time_stamps_the_present() -> None:
    document = context.compile(ReferenceEngine(), ContextSpec())
    assert document.generated_at.ns % 1_000_000_000 == 0
    assert (document.markdown, document.tokens, document.refs) == ("", 0, ())


def test_engine_that_fails_everywhere_gives_an_empty_document_and_no_error() -> None:
    class Failing(ReferenceEngine):
        def recall(self, request: RecallRequest) -> RecallAnswer:
            raise EngineError(f"away: {request.question}")

    document = ContextCompiler(AT).compile(Failing())
    assert document.markdown == ""
    assert [section.heading for section in document.failed] == [brief.heading for brief in context.DEFAULT_BRIEFS]
    assert document.failed[0].reason.startswith("engine error: away: Who is the user")
    assert list(document.to_dict()) == ["markdown", "tokens", "generated_at", "engine", "refs", "failed"]


def test_section_that_finds_nothing_has_not_failed_and_the_json_form_is_that_of_the_reference() -> None:
    document = ContextCompiler(AT).compile(ReferenceEngine())
    assert document.failed == ()
    assert list(document.to_dict()) == ["markdown", "tokens", "generated_at", "engine", "refs"]


def test_smallest_budget_is_one_token() -> None:
    assert ContextCompiler(AT).compile(ReferenceEngine(), ContextSpec(budget_tokens=1)).markdown == ""
    with pytest.raises(InvalidSpec):
        ContextCompiler(AT).compile(ReferenceEngine(), ContextSpec(budget_tokens=0))


def test_brief_of_one_node_reads_only_that_node() -> None:
    engine = ReferenceEngine()
    for text, node in (("acme ships on Mondays", "ws:acme"), ("globex ships on Fridays", "ws:globex")):
        engine.store(StoreItem.document(text, MemoryMeta(namespace=Namespace.parse(node))))
    scope = MetaFilter(reach=Reach.exact(Namespace.parse("ws:acme")))
    spec = ContextSpec(briefs=(Brief(heading="Company", question="when do we ships", filter=scope),))
    markdown = ContextCompiler(AT).compile(engine, spec).markdown
    assert "acme ships on Mondays" in markdown
    assert "globex" not in markdown
