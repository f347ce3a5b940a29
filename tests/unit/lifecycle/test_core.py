import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.hosted import HostedDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.context import Brief, ContextSpec
from corebrain.context import compile as compile_context
from corebrain.contract import MemoryEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.engines.registry import build_engine
from corebrain.errors import InvalidRequest
from corebrain.layout import MemoryLayout
from corebrain.lifecycle import DEFAULT_CORE_LIMIT, AgentMemory, CoreScope
from corebrain.model.item import Conversation, Document, Learning, LearningKind, Role, StoreItem, Turn
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach

ROOT = Namespace.ROOT
ACME = Namespace.parse("ws:acme")
HIVE = Namespace.parse("ws:acme/team:hive")
OTHER = Namespace.parse("ws:acme/team:other")


def agent(engine: MemoryEngine | None = None) -> AgentMemory:
    return AgentMemory(ReferenceEngine() if engine is None else engine, MemoryLayout(HIVE), "coder")


def learning(text: str, node: Namespace = ROOT) -> Learning:
    return StoreItem.learning(text, LearningKind.FACT, 0.8, MemoryMeta(namespace=node))


def test_core_scope_defaults_and_its_json_form() -> None:
    scope = CoreScope(ACME, "Company")
    assert scope.kinds == (ItemKind.LEARNING, ItemKind.DOCUMENT)
    assert scope.limit == DEFAULT_CORE_LIMIT == 6
    assert scope.to_dict() == {"at": "ws:acme", "heading": "Company", "kinds": ["learning", "document"], "limit": 6}
    assert CoreScope.from_dict({"at": "ws:acme", "heading": "Company"}) == scope
    assert CoreScope.from_json(scope.to_json()) == scope


def test_copies_change_kinds_or_limit_only() -> None:
    scope = CoreScope(ACME, "Company")
    assert scope.with_kinds([]).filter().kinds == ()
    assert scope.with_limit(0).limit == 0
    assert scope.with_limit(2).with_kinds([ItemKind.LEARNING]).with_limit(3) == CoreScope(
        ACME, "Company", kinds=(ItemKind.LEARNING,), limit=3
    )
    with pytest.raises(InvalidRequest):
        scope.with_limit(-1)


def test_brief_carries_heading_and_node() -> None:
    scope = CoreScope(ACME, "Company")
    assert scope.brief("what do we sell?") == Brief(
        heading="Company", question="what do we sell?", filter=scope.filter()
    )
    assert scope.filter().reach == Reach.exact(ACME)


@pytest.mark.parametrize(
    "scopes",
    [
        [CoreScope(HIVE, "The layout root itself")],
        [CoreScope(Namespace.parse("ws:acme/team:hive/agent:coder"), "Below")],
        [CoreScope(OTHER, "Beside")],
        [CoreScope(Namespace.parse("ws:globex"), "Elsewhere")],
        [CoreScope(ACME, " \n")],
        [CoreScope(ACME, "One"), CoreScope(ROOT, "Two"), CoreScope(ACME, "Three")],
    ],
)
def test_core_scope_that_is_not_above_the_layout_or_named_badly_is_refused(scopes: list[CoreScope]) -> None:
    with pytest.raises(InvalidRequest):
        agent().with_core(scopes)


def test_with_core_copies_and_replaces() -> None:
    plain = agent()
    held = plain.with_core([CoreScope(ROOT, "Core")])
    assert plain.core == ()
    assert held.core == (CoreScope(ROOT, "Core"),)
    assert held.with_core([CoreScope(ACME, "Company")]).core == (CoreScope(ACME, "Company"),)
    assert held.with_core([]).core == ()


def test_acceptance_a6_core_section_shows_the_companys_learnings_and_never_another_teams(engine: MemoryEngine) -> None:
    for text, node in (
        ("refund rule of the company", ACME),
        ("refund rule of hive", HIVE),
        ("refund rule of another team", OTHER),
        ("refund rule of another company", Namespace.parse("ws:globex")),
        ("refund rule of everyone", ROOT),
    ):
        engine.store(learning(text, node))
    markdown = agent(engine).with_core([CoreScope(ACME, "Company")]).recall("refund rule").markdown
    assert markdown == (
        "# Memory\n\n## Learnings\n\n- refund rule of hive\n\n## Company\n\n- refund rule of the company\n"
    )


def test_promoted_item_lies_at_the_core_node_whatever_it_named() -> None:
    engine = ReferenceEngine()
    memory = agent(engine).with_core([CoreScope(ACME, "Company")])
    receipt = memory.promote(ACME, learning("ship on Mondays", HIVE))
    assert receipt.id == learning("ship on Mondays", ACME).fingerprint()
    assert memory.promote(ACME, learning("ship on Mondays")).replayed
    document = StoreItem.document("The handbook", MemoryMeta(namespace=OTHER))
    assert not memory.promote(ACME, document).replayed
    assert [str(each.meta.namespace) for each in memory.recall("ship handbook").sections[0].hits] == ["ws:acme"] * 2


def test_promote_refuses_what_no_agent_would_recall() -> None:
    memory = agent().with_core(
        [CoreScope(ACME, "Company", kinds=(ItemKind.LEARNING,)), CoreScope(ROOT, "All", kinds=())]
    )
    talk = Conversation(turns=(Turn(role=Role.USER, text="hi"),))
    document = StoreItem.document("text")
    for node, item in ((HIVE, learning("x")), (ACME, document), (ROOT, talk), (ACME, talk)):
        with pytest.raises(InvalidRequest):
            memory.promote(node, item)
    assert isinstance(document, Document)
    assert not memory.promote(ROOT, document).replayed


def test_core_build_is_exact_and_of_every_kind() -> None:
    memory = agent().with_core([CoreScope(ACME, "Company")])
    assert memory.core_build(ACME).to_dict()["request"] == {
        "reach": {"at": "ws:acme", "inherit": False, "descendants": False}
    }
    with pytest.raises(InvalidRequest):
        memory.core_build(ROOT)


def test_acceptance_a6_brief_built_from_a_core_scope_reads_only_that_node(engine: MemoryEngine) -> None:
    for text, node in (("Company sells marlins", ACME), ("Company hive sells nets", HIVE), ("Company of all", ROOT)):
        engine.store(StoreItem.document(text, MemoryMeta(namespace=node)))
    brief = CoreScope(ACME, "Company").brief("What does the company sell?")
    markdown = compile_context(engine, ContextSpec(briefs=(brief,), learnings_limit=0)).markdown
    assert "marlins" in markdown
    assert "nets" not in markdown
    assert "of all" not in markdown


@pytest.mark.parametrize(
    ("kind", "stand_in"), [("cortexdb", DirectDouble), ("tinyhumans", HostedDouble)], ids=["cortexdb", "tinyhumans"]
)
def test_acceptance_a6_core_section_over_a_server_reads_the_companys_scope_and_none_of_a_sibling_team(
    kind: str, stand_in: type[DirectDouble]
) -> None:
    with stand_in() as server, build_engine(kind, credential=TOKEN, endpoint=server.endpoint) as engine:
        for text, node in (("refund rule of the company", ACME), ("refund rule of another team", OTHER)):
            engine.store(learning(text, node))
        server.seen.clear()
        pack = agent(engine).with_core([CoreScope(ACME, "Company")]).recall("refund rule")
        read = " ".join(str(body) for _, body in server.seen.bodies)
    assert "## Company\n\n- refund rule of the company\n" in pack.markdown
    assert "another team" not in pack.markdown
    assert "app:tinymemory/ws:acme/app:learnings" in read
    assert str(OTHER) not in read
