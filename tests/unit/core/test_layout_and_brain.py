"""Layout, sources, brain and background work: spec 02."""

import json
from typing import Any

import pytest

from corebrain.background import BackgroundRunner
from corebrain.brain import Brain
from corebrain.contract import EngineDescriptor, EngineHealth, Item, MemoryEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import EngineError, InvalidRequest, Unsupported
from corebrain.jobs import BuildBeliefs, IngestBrain, read_job
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.model.meta import ItemKind, MemoryMeta, SourceKind, SourceRef
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    ConsolidateRequest,
    Consolidation,
    FetchPage,
    FetchRequest,
    ForgetReport,
    ForgetTarget,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    StoreReceipt,
    WriteOptions,
)

ACME = MemoryLayout(Namespace.parse("team:acme"))
REFUNDS = BrainDocument(source=BrainSource.MARKDOWN, title="refunds.md", text="Refunds take five business days.")


def test_the_worked_values_of_the_layout() -> None:
    assert str(ACME.brain(BrainSource.PDF)) == "team:acme/source:pdf"
    assert str(ACME.conversations("coder-42")) == "team:acme/agent:coder-42"
    assert str(ACME.conversations("agent 7")) == "team:acme/agent:agent-7-e947a51f"
    node = ACME.brain_collection(BrainSource.GITHUB, "tinyhumansai/openhuman")
    assert str(node) == "team:acme/source:github/project:tinyhumansai-openhuman-5023397d"
    assert ACME.learnings() == ACME.root
    assert MemoryLayout().ancestors() == []
    assert [str(node) for node in ACME.ancestors()] == ["root"]


def test_filters_of_the_layout() -> None:
    assert ACME.brain_filter().to_dict() == {
        "reach": {"at": "team:acme", "inherit": False, "descendants": True},
        "kinds": ["document"],
    }
    assert str(ACME.brain_filter(BrainSource.WEB).reach) == str(Reach.subtree(ACME.brain(BrainSource.WEB)))
    assert ACME.conversations_filter().kinds == ("conversation",)
    assert ACME.learnings_filter().kinds == ("learning",)
    assert ACME.holistic_filter().kinds == ()


def test_pooled_conversations_share_a_node_and_tell_agents_apart() -> None:
    pooled = ACME.with_pooled_conversations(Namespace.parse("ws:main"))
    assert str(pooled.conversations("x")) == "team:acme/ws:main"
    assert pooled.conversations_filter("coder").to_dict() == {
        "reach": {"at": "team:acme/ws:main", "inherit": False, "descendants": False},
        "agent_id": "coder",
        "kinds": ["conversation"],
    }
    assert pooled.conversations_filter().agent_id is None
    assert pooled.brain(BrainSource.WEB) == ACME.brain(BrainSource.WEB)


@pytest.mark.parametrize(
    "make",
    [
        lambda: MemoryLayout(Namespace.parse("/".join(["team:a"] * 8))),
        lambda: MemoryLayout(Namespace.parse("/".join(["team:a"] * 7))).brain_collection(BrainSource.WEB, "x"),
        lambda: ACME.with_pooled_conversations(Namespace.ROOT),
        lambda: ACME.with_pooled_conversations(Namespace.parse("/".join(["team:a"] * 8))),
        lambda: ACME.admits_core(ACME.root),
        lambda: ACME.admits_core(Namespace.parse("team:acme/agent:x")),
        lambda: ACME.admits_core(Namespace.parse("team:other")),
        lambda: BrainSource.parse(" \n"),
        lambda: BrainDocument(source=BrainSource.WEB, text=" ").into_item(ACME),
    ],
)
def test_what_does_not_fit_is_refused(make: Any) -> None:
    with pytest.raises(InvalidRequest):
        make()


def test_core_scopes_lie_above_the_layout_root() -> None:
    ACME.admits_core(Namespace.ROOT)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("files", BrainSource.FILES),
        (" PDF ", BrainSource.PDF),
        ("md", BrainSource.MARKDOWN),
        ("Markdown", BrainSource.MARKDOWN),
        ("NOTION", BrainSource.NOTION),
        ("GitHub", BrainSource.GITHUB),
        ("web", BrainSource.WEB),
        ("Gmail", BrainSource("Gmail")),
    ],
)
def test_a_source_is_read_from_its_id(text: str, source: BrainSource) -> None:
    assert BrainSource.parse(text) == source


def test_sources_keep_the_case_of_other_apps_their_order_and_kinds() -> None:
    assert BrainSource.parse("Gmail").id == "Gmail"
    mixed = [BrainSource("zoom"), BrainSource.WEB, BrainSource("asana"), BrainSource.FILES, BrainSource.GITHUB]
    assert [source.id for source in sorted(mixed)] == ["files", "github", "web", "asana", "zoom"]
    kinds = [source.default_kind.value for source in (BrainSource.FILES, BrainSource.PDF, BrainSource.MARKDOWN)]
    assert kinds == ["file"] * 3
    assert {source.default_kind for source in (BrainSource.WEB, BrainSource("gmail"))} == {SourceKind.IMPORT}
    assert BrainSource.for_format("pdf") is BrainSource.FILES


def test_a_document_is_filed_at_its_source_whatever_its_metadata_says() -> None:
    meta = MemoryMeta(namespace=Namespace.parse("agent:x"), agent_id="x", tags=("a",))
    item = BrainDocument(source=BrainSource.NOTION, text="t", meta=meta).into_item(ACME)
    assert str(item.meta.namespace) == "team:acme/source:notion"
    assert item.meta.agent_id is None
    assert item.meta.source == SourceRef(kind=SourceKind.IMPORT)
    assert item.meta.tags == ("a",)


def test_a_source_that_was_set_stays() -> None:
    for set_already in (SourceRef(kind=SourceKind.GITHUB), SourceRef(id="wiki")):
        document = BrainDocument(source=BrainSource.NOTION, text="t", meta=MemoryMeta(source=set_already))
        assert document.into_item(ACME).meta.source == set_already


def test_a_collection_lies_below_its_source_and_its_key_is_omitted_when_unset() -> None:
    document = BrainDocument(source=BrainSource.FILES, text="t", collection="a b")
    assert str(document.into_item(MemoryLayout()).meta.namespace) == "source:files/project:a-b-10a3f9f2"
    assert document.to_dict()["collection"] == "a b"
    assert "collection" not in REFUNDS.to_dict()


# -- the brain


def test_an_ingested_document_has_the_id_of_the_vector_and_calls_for_a_build() -> None:
    ingested = Brain(ReferenceEngine()).ingest(REFUNDS)
    assert ingested.receipt.id == "0addc9302624a6d64e109ce9c0dace9aaf36324f"
    assert json.loads(ingested.to_json())["job"]["request"]["reach"]["at"] == "source:markdown"


def test_an_engine_that_builds_by_itself_is_given_no_builds() -> None:
    brain = Brain(ReferenceEngine(Consolidation.AUTOMATIC))
    ingested = brain.ingest_with(REFUNDS, WriteOptions.accepted())
    assert ingested.job is None
    assert json.loads(ingested.to_json())["job"] is None
    assert brain.ingest_many([REFUNDS]).jobs == ()
    assert isinstance(brain.build(BrainSource.FILES), BuildBeliefs)


class Batches(ReferenceEngine):
    """Counts how items arrive."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []

    def store_many(self, items: Any) -> Any:
        self.batches.append(len(items))
        return super().store_many(items)


def some(count: int, source: BrainSource = BrainSource.FILES) -> list[BrainDocument]:
    return [BrainDocument(source=source, text=f"text {number}") for number in range(count)]


@pytest.mark.parametrize(
    ("count", "batches"), [(0, []), (1, [1]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])]
)
def test_documents_are_stored_in_batches_of_at_most_a_hundred(count: int, batches: list[int]) -> None:
    engine = Batches()
    batch = Brain(engine).ingest_many(some(count))
    assert engine.batches == batches
    assert len(batch.receipts) == len(engine) == count
    assert len(batch.jobs) == min(count, 1)


def test_one_invalid_document_refuses_all_and_stores_none() -> None:
    engine = Batches()
    with pytest.raises(InvalidRequest):
        Brain(engine).ingest_many([*some(150), BrainDocument(source=BrainSource.WEB, text=" ")])
    assert len(engine) == 0


def test_builds_come_one_a_source_in_source_order() -> None:
    documents = [*some(1, BrainSource("asana")), *some(1, BrainSource.WEB), *some(2), *some(1, BrainSource.NOTION)]
    jobs = Brain(ReferenceEngine()).ingest_many(documents).jobs
    assert [str(job.request.reach.at) for job in jobs] == [
        *("source:files", "source:notion", "source:web", "source:asana")
    ]


def test_search_covers_one_source_or_all_and_forget_its_collections_too() -> None:
    engine = ReferenceEngine()
    brain = Brain(engine, ACME)
    brain.ingest_many(
        [
            BrainDocument(source=BrainSource.FILES, collection="c", text="alpha beta"),
            BrainDocument(source=BrainSource.FILES, text="alpha gamma"),
            BrainDocument(source=BrainSource.WEB, text="alpha delta"),
        ]
    )
    assert len(brain.search("alpha")) == 3
    assert len(brain.search("alpha", BrainSource.FILES)) == 2
    assert len(brain.search("alpha", limit=1)) == 1
    assert brain.forget(BrainSource.FILES).forgotten == 2
    assert len(engine) == 1


class Bare(MemoryEngine):
    """Only what every engine must have; nothing else is offered."""

    modes: tuple[Any, ...] = ()

    def __init__(self) -> None:
        self.inner = ReferenceEngine()
        self.limits: list[int] = []

    @property
    def descriptor(self) -> EngineDescriptor:
        return EngineDescriptor(id="bare", label="Bare", description="", fetch_modes=self.modes)

    def health(self) -> EngineHealth:
        return EngineHealth.ok()

    def store(self, item: Item) -> StoreReceipt:
        return self.inner.store(item)

    def fetch(self, request: FetchRequest) -> FetchPage:
        return self.inner.fetch(request)

    def recall(self, request: RecallRequest) -> RecallAnswer:
        return self.inner.recall(request)

    def list(self, request: ListRequest) -> ListPage:
        self.limits.append(request.limit)
        return self.inner.list(request)

    def forget(self, target: ForgetTarget) -> ForgetReport:
        return self.inner.forget(target)


def test_search_takes_the_best_declared_mode_and_tells_when_there_is_none() -> None:
    with pytest.raises(Unsupported, match="bare"):
        Brain(Bare()).search("x")


# -- background work


def test_jobs_have_the_json_of_the_spec() -> None:
    at = Reach.exact(Namespace.parse("agent:support-01"))
    build = BuildBeliefs(request=ConsolidateRequest(reach=at, kinds=(ItemKind.CONVERSATION,)))
    assert build.to_json() == (
        '{"job":"build_beliefs","request":{"reach":{"at":"agent:support-01","inherit":false,"descendants":false},'
        '"kinds":["conversation"]}}'
    )
    ingest = IngestBrain(documents=(REFUNDS.model_copy(update={"source": BrainSource.FILES}),))
    assert ingest.to_json() == (
        '{"job":"ingest_brain","documents":[{"source":"files","title":"refunds.md",'
        '"text":"Refunds take five business days.","meta":{"source":{"kind":"agent"}}}]}'
    )
    for job in (build, ingest):
        assert read_job(job.to_json()) == job
        assert read_job(job.to_dict()) == job
    with pytest.raises(InvalidRequest):
        read_job('{"job":"make_tea"}')


def test_a_build_runs_to_done_and_reports_as_the_spec_shows() -> None:
    engine = ReferenceEngine()
    brain = Brain(engine)
    brain.ingest_many(some(2))
    report = BackgroundRunner(engine).run(brain.build(BrainSource.FILES))
    assert json.loads(report.to_json()) == {
        "job": "build_beliefs",
        "outcome": {"outcome": "done"},
        "consolidation": {"status": "completed", "scopes": 1, "built": 2},
    }


def test_an_engine_without_builds_skips_them_and_other_errors_are_raised() -> None:
    class Broken(Bare):
        def consolidate(self, request: ConsolidateRequest) -> Any:
            raise EngineError(f"it broke at {request.reach.at}")

    job = Brain(Bare()).build(BrainSource.FILES)
    report = BackgroundRunner(Bare()).run(job)
    assert report.to_dict()["outcome"] == {"outcome": "skipped", "reason": "bare does not build beliefs"}
    with pytest.raises(EngineError, match="it broke"):
        BackgroundRunner(Broken()).run(job)


def test_an_ingest_job_stores_and_hands_back_its_builds() -> None:
    engine = ReferenceEngine()
    report = BackgroundRunner(engine).run(IngestBrain(documents=tuple(some(3))))
    assert (report.stored, len(report.follow_ups), len(engine)) == (3, 1, 3)


def test_consolidating_twice_builds_nothing_new() -> None:
    engine = ReferenceEngine()
    brain = Brain(engine)
    brain.ingest(REFUNDS)
    job = brain.build(BrainSource.MARKDOWN)
    first, second = BackgroundRunner(engine).run(job), BackgroundRunner(engine).run(job)
    assert first.consolidation is not None
    assert second.consolidation is not None
    assert (first.consolidation.built, second.consolidation.built) == (1, 0)
    ids = [hit.id for hit in engine.list(ListRequest()).items]
    assert "f5f813bbad72ace5fbc348393ec95b6eddcaee29" in ids
