"""The brain beyond its happy path: what reaches the engine, and what an error leaves behind."""

from typing import Any

import pytest

from corebrain.background import BackgroundRunner
from corebrain.brain import Brain
from corebrain.contract import EngineDescriptor
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import CorebrainError, EngineError, InvalidRequest, NotFound, Unavailable, Unsupported
from corebrain.jobs import IngestBrain, JobOutcome, JobReport, read_job
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.model.item import StoreItem
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace
from corebrain.model.requests import (
    ConsolidateReceipt,
    ConsolidateStatus,
    Consolidation,
    FetchMode,
    FetchRequest,
    WriteOptions,
)


class Watched(ReferenceEngine):
    """Notes every call that stores or fetches."""

    def __init__(self, modes: tuple[FetchMode, ...] = tuple(FetchMode)) -> None:
        super().__init__()
        self.calls: list[Any] = []
        self.modes = modes

    @property
    def descriptor(self) -> EngineDescriptor:
        return super().descriptor.model_copy(update={"fetch_modes": self.modes})

    def store_with(self, item: Any, options: WriteOptions) -> Any:
        self.calls.append(("store_with", options.wait.value))
        return super().store_with(item, options)

    def store_many(self, items: Any) -> Any:
        self.calls.append(("store_many", len(items)))
        return super().store_many(items)

    def store_many_with(self, items: Any, options: WriteOptions) -> Any:
        self.calls.append(("store_many_with", options.wait.value, len(items)))
        return [self.store(item) for item in items]

    def fetch(self, request: FetchRequest) -> Any:
        self.calls.append(request)
        return super().fetch(request)


def some(count: int) -> list[BrainDocument]:
    return [BrainDocument(source=BrainSource.FILES, text=f"tea {number}") for number in range(count)]


def test_every_ingest_uses_the_engines_own_call_for_its_wait() -> None:
    engine = Watched()
    brain = Brain(engine)
    brain.ingest(some(1)[0])
    brain.ingest_with(some(1)[0], WriteOptions.accepted())
    brain.ingest_many(some(2))
    brain.ingest_many_with(some(101), WriteOptions.accepted())
    assert engine.calls == [
        ("store_with", "visible"),
        ("store_with", "accepted"),
        ("store_many", 2),
        ("store_many_with", "accepted", 100),
        ("store_many_with", "accepted", 1),
    ]


@pytest.mark.parametrize("bad", [" ", "tea \ud800"], ids=["blank", "surrogate"])
def test_one_bad_document_after_the_first_batch_stores_nothing_and_is_named(bad: str) -> None:
    engine = Watched()
    documents = [*some(120), BrainDocument(source=BrainSource.FILES, text=bad), *some(3)]
    with pytest.raises(InvalidRequest) as caught:
        Brain(engine).ingest_many(documents)
    assert caught.value.index == 120
    assert engine.calls == []
    assert len(engine) == 0


def test_a_document_that_does_not_fit_below_the_root_refuses_all() -> None:
    layout = MemoryLayout(Namespace.parse("/".join(["team:a"] * 7)))
    with pytest.raises(InvalidRequest):
        Brain(Watched(), layout).ingest_many([*some(1), some(1)[0].model_copy(update={"collection": "c"})])


def test_an_engine_that_fails_midway_keeps_the_earlier_batches_and_replays_them() -> None:
    class Failing(Watched):
        def store_many(self, items: Any) -> Any:
            if len(self) >= 100 and not self.calls.count(("store_many", 50)):
                self.calls.append(("store_many", 50))
                raise Unavailable("the disk is busy", retry_after_s=1)
            return super().store_many(items)

    engine = Failing()
    with pytest.raises(Unavailable):
        Brain(engine).ingest_many(some(150))
    assert len(engine) == 100
    replayed = [receipt.replayed for receipt in Brain(engine).ingest_many(some(150)).receipts]
    assert replayed == [True] * 100 + [False] * 50


def test_documents_may_come_from_a_generator_and_in_any_number_of_sources() -> None:
    batch = Brain(ReferenceEngine()).ingest_many(document for document in some(3))
    assert len(batch.receipts) == 3
    assert list(batch.to_dict()) == ["receipts", "jobs"]
    assert Brain(ReferenceEngine()).ingest_many([]).to_json() == '{"receipts":[],"jobs":[]}'


@pytest.mark.parametrize(
    ("declared", "taken"),
    [
        ((FetchMode.KEYWORD, FetchMode.VECTOR, FetchMode.HYBRID), FetchMode.HYBRID),
        ((FetchMode.VECTOR, FetchMode.KEYWORD), FetchMode.VECTOR),
        ((FetchMode.KEYWORD,), FetchMode.KEYWORD),
    ],
)
def test_search_is_one_fetch_in_the_best_declared_mode(declared: tuple[FetchMode, ...], taken: FetchMode) -> None:
    engine = Watched(declared)
    Brain(engine, MemoryLayout(Namespace.parse("team:a"))).search("tea", BrainSource.WEB, limit=3)
    [request] = engine.calls
    assert request.to_dict() == {
        "query": "tea",
        "mode": taken.value,
        "filter": {
            "reach": {"at": "team:a/source:web", "inherit": False, "descendants": True},
            "kinds": ["document"],
        },
        "limit": 3,
    }


def test_forgetting_a_source_spares_other_kinds_other_sources_and_what_only_looks_alike() -> None:
    engine = ReferenceEngine()
    brain = Brain(engine)
    brain.ingest_many([*some(2), some(1)[0].model_copy(update={"collection": "c"})])
    brain.ingest(BrainDocument(source=BrainSource("files-2"), text="other"))
    node = MemoryMeta(namespace=Namespace.parse("source:files"))
    engine.store(StoreItem.read({"type": "learning", "text": "x", "kind": "fact", "confidence": 1, "meta": node}))
    engine.store(StoreItem.document("boxed", MemoryMeta(namespace=Namespace.parse("source:files/service:s"))))
    assert brain.forget(BrainSource.FILES).forgotten == 3
    assert len(engine) == 3


def test_the_build_of_a_files_ingest_is_the_one_of_the_specification() -> None:
    job = Brain(ReferenceEngine()).ingest(some(1)[0]).job
    assert job is not None
    assert job.name == "build_beliefs"
    assert job.to_json() == (
        '{"job":"build_beliefs","request":{"reach":{"at":"source:files","inherit":false,"descendants":true},'
        '"kinds":["document"]}}'
    )


# -- background work


class Answering(ReferenceEngine):
    """Answers a build with a given receipt."""

    def __init__(self, receipt: ConsolidateReceipt) -> None:
        super().__init__()
        self.receipt = receipt

    def consolidate(self, request: Any) -> ConsolidateReceipt:
        request.validate()
        return self.receipt


@pytest.mark.parametrize(
    ("receipt", "written"),
    [
        (
            ConsolidateReceipt(status=ConsolidateStatus.STARTED, jobs=("j1",), scopes=2),
            (
                '{"job":"build_beliefs","outcome":{"outcome":"started"},'
                '"consolidation":{"status":"started","jobs":["j1"],"scopes":2}}'
            ),
        ),
        (
            ConsolidateReceipt.scheduled(),
            '{"job":"build_beliefs","outcome":{"outcome":"scheduled"},"consolidation":{"status":"scheduled","scopes":0}}',
        ),
        (
            ConsolidateReceipt(status=ConsolidateStatus.COMPLETED, scopes=1, built=2),
            (
                '{"job":"build_beliefs","outcome":{"outcome":"done"},'
                '"consolidation":{"status":"completed","scopes":1,"built":2}}'
            ),
        ),
    ],
    ids=["started", "scheduled", "completed"],
)
def test_a_receipt_becomes_its_outcome(receipt: ConsolidateReceipt, written: str) -> None:
    engine = Answering(receipt)
    report = BackgroundRunner(engine).run(Brain(engine).build(BrainSource.FILES))
    assert report.to_json() == written
    assert JobReport.from_json(written) == report
    assert (report.stored, report.follow_ups) == (0, ())


def test_a_malformed_build_is_raised_and_not_skipped() -> None:
    job = read_job({"job": "build_beliefs", "request": {"reach": {}, "kinds": ["document", "document"]}})
    with pytest.raises(InvalidRequest, match="twice"):
        BackgroundRunner(ReferenceEngine()).run(job)


def test_an_ingest_job_reports_what_it_stored_and_what_follows() -> None:
    engine = ReferenceEngine()
    report = BackgroundRunner(engine, MemoryLayout(Namespace.parse("team:a"))).run(
        IngestBrain(documents=tuple(some(2)))
    )
    assert report.to_dict() == {
        "job": "ingest_brain",
        "outcome": {"outcome": "done"},
        "stored": 2,
        "follow_ups": [
            {
                "job": "build_beliefs",
                "request": {
                    "reach": {"at": "team:a/source:files", "inherit": False, "descendants": True},
                    "kinds": ["document"],
                },
            }
        ],
    }
    assert JobReport.from_dict(report.to_dict()) == report
    built = [BackgroundRunner(engine).run(follow_up).outcome for follow_up in report.follow_ups]
    assert built == [JobOutcome.from_json('{"outcome":"done"}')]


def test_jobs_are_values_that_ignore_keys_of_a_later_version() -> None:
    job = Brain(ReferenceEngine()).build(BrainSource.FILES)
    assert read_job({**job.to_dict(), "priority": 5}) == job
    assert len({job, read_job(job.to_json())}) == 1
    for bad in ("{", "[]", {"job": "tea"}, {}, {"job": "ingest_brain"}, {"job": "build_beliefs", "request": {}}, 5):
        with pytest.raises(InvalidRequest):
            read_job(bad)


def test_an_engine_without_builds_skips_them_and_says_why() -> None:
    class Without(ReferenceEngine):
        def consolidate(self, request: Any) -> ConsolidateReceipt:
            request.validate()
            raise Unsupported("this engine does not build beliefs")

    engine = Without()
    report = BackgroundRunner(engine).run(Brain(engine).build(BrainSource.FILES))
    assert report.to_json() == (
        '{"job":"build_beliefs","outcome":{"outcome":"skipped","reason":"this engine does not build beliefs"}}'
    )
    assert JobReport.from_json(report.to_json()) == report


@pytest.mark.parametrize("error", [EngineError("it broke"), Unavailable("later"), NotFound("no such node")])
def test_any_other_failure_of_a_build_is_raised(error: CorebrainError) -> None:
    class Broken(ReferenceEngine):
        def consolidate(self, request: Any) -> ConsolidateReceipt:
            request.validate()
            raise error

    engine = Broken()
    with pytest.raises(type(error)):
        BackgroundRunner(engine).run(Brain(engine).build(BrainSource.FILES))


def test_a_build_on_the_reference_engine_is_done_at_once_and_only_once() -> None:
    engine = ReferenceEngine()
    brain = Brain(engine)
    brain.ingest_many(some(2))
    runs = [BackgroundRunner(engine).run(brain.build(BrainSource.FILES)).to_dict() for _ in range(2)]
    assert [run["consolidation"] for run in runs] == [
        {"status": "completed", "scopes": 1, "built": 2},
        {"status": "completed", "scopes": 1, "built": 0},
    ]


def test_jobs_have_the_json_of_the_specification() -> None:
    document = BrainDocument(source=BrainSource.FILES, title="refunds.md", text="Refunds take five business days.")
    ingest = (
        '{"job":"ingest_brain","documents":[{"source":"files","title":"refunds.md",'
        '"text":"Refunds take five business days.","meta":{"source":{"kind":"agent"}}}]}'
    )
    build = (
        '{"job":"build_beliefs","request":{"reach":{"at":"agent:support-01","inherit":false,"descendants":false},'
        '"kinds":["conversation"]}}'
    )
    assert IngestBrain(documents=(document,)).to_json() == ingest
    assert read_job(ingest) == IngestBrain(documents=(document,))
    assert [read_job(text).to_json() for text in (ingest, build)] == [ingest, build]
    assert [read_job(text).name for text in (ingest, build)] == ["ingest_brain", "build_beliefs"]


def test_an_engine_that_builds_by_itself_is_handed_no_builds_but_an_explicit_one_runs() -> None:
    engine = ReferenceEngine(Consolidation.AUTOMATIC)
    brain = Brain(engine)
    ingested = brain.ingest(some(1)[0])
    assert ingested.to_json() == f'{{"receipt":{{"id":"{ingested.receipt.id}","replayed":false}},"job":null}}'
    assert brain.ingest_many(some(3)).jobs == ()
    assert BackgroundRunner(engine).run(IngestBrain(documents=tuple(some(2)))).follow_ups == ()
    assert BackgroundRunner(engine).run(brain.build(BrainSource.FILES)).consolidation is not None


@pytest.mark.parametrize("declared", [Consolidation.NONE, Consolidation.ON_DEMAND, Consolidation.SCHEDULED])
def test_every_other_engine_is_handed_its_builds(declared: Consolidation) -> None:
    brain = Brain(ReferenceEngine(declared))
    assert brain.ingest(some(1)[0]).job == brain.build(BrainSource.FILES)
    assert brain.ingest_many(some(1)).jobs == (brain.build(BrainSource.FILES),)


@pytest.mark.parametrize(
    ("count", "batches"), [(0, []), (1, [1]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])]
)
def test_documents_are_stored_in_order_in_batches_of_at_most_a_hundred(count: int, batches: list[int]) -> None:
    engine = Watched()
    documents = some(count)
    receipts = Brain(engine).ingest_many(documents).receipts
    assert engine.calls == [("store_many", size) for size in batches]
    assert [receipt.id for receipt in receipts] == [
        document.into_item(MemoryLayout()).fingerprint() for document in documents
    ]


def test_builds_come_one_a_source_in_source_order() -> None:
    named = ("asana", "web", "files", "notion", "files", "Zoom")
    documents = [BrainDocument(source=BrainSource(name), text=f"{name} tea") for name in named]
    jobs = Brain(ReferenceEngine()).ingest_many(documents).jobs
    nodes = [str(job.request.reach.at) for job in jobs]
    assert nodes == ["source:files", "source:notion", "source:web", "source:Zoom", "source:asana"]


def test_search_covers_one_source_with_its_collections_or_all() -> None:
    brain = Brain(ReferenceEngine())
    files = some(1)[0]
    brain.ingest_many(
        [files, files.model_copy(update={"collection": "c"}), BrainDocument(source=BrainSource.WEB, text="tea")]
    )
    assert (
        len(brain.search("tea")),
        len(brain.search("tea", BrainSource.FILES)),
        len(brain.search("tea", limit=1)),
    ) == (
        3,
        2,
        1,
    )


def test_search_on_an_engine_without_modes_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="declares no fetch mode"):
        Brain(Watched(())).search("tea")
