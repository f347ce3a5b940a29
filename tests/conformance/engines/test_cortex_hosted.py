"""CortexDB as TinyHumans hosts it passes every check, and loses no write whose reply was lost."""

from collections.abc import Iterator

import pytest

from corebrain import conformance
from corebrain.conformance.doubles.hosted import HostedDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.engines.cortexdb.hosted import TinyHumansEngine
from corebrain.engines.cortexdb.timing import Timing
from corebrain.errors import Unavailable
from corebrain.model.item import StoreItem
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import BeliefsRequest, ConsolidateRequest, EraseRequest, RecallRequest

QUICK = Timing(backoff_s=0.002, poll_s=0.002, slow_poll_s=0.005, listed_s=1.0, ranked_s=1.0)
ROOT = Reach.subtree(Namespace.ROOT)


@pytest.fixture
def double() -> Iterator[HostedDouble]:
    with HostedDouble() as served:
        yield served


@pytest.fixture
def engine(double: HostedDouble) -> Iterator[TinyHumansEngine]:
    with TinyHumansEngine(TOKEN, double.endpoint, timing=QUICK) as made:
        yield made


def test_the_hosted_engine_passes_every_check_and_ends_empty(engine: TinyHumansEngine, double: HostedDouble) -> None:
    conformance.run(engine)
    assert double.log.events == []
    assert not any("whoami" in line for line in double.seen.lines)
    assert set(double.seen.actors) == {None}


def claims(double: HostedDouble, route: str) -> list[str | None]:
    return [claim for line, claim in zip(double.seen.lines, double.seen.claims, strict=True) if line == route]


def test_a_write_keeps_its_claim_and_reads_have_none(engine: TinyHumansEngine, double: HostedDouble) -> None:
    double.knobs.rate_limit_experience = 2
    engine.store(StoreItem.document("hello"))
    engine.store(StoreItem.document("another"))
    written = claims(double, "POST /memory/experience")
    assert len(written) == 4
    assert len(set(written)) == 2
    assert None not in written
    assert set(claims(double, "POST /memory/recall")) == {None}


def test_an_applied_write_whose_reply_was_lost_is_found(engine: TinyHumansEngine, double: HostedDouble) -> None:
    double.knobs.apply_then_fail = 1
    assert not engine.store(StoreItem.document("hello")).replayed
    assert len(double.log.events) == 1
    assert len(claims(double, "POST /memory/experience")) == 2


def test_a_claimed_write_that_was_not_applied_is_an_unknown_outcome(
    engine: TinyHumansEngine, double: HostedDouble
) -> None:
    double.knobs.claim_then_fail = 1
    with pytest.raises(Unavailable, match="outcome"):
        engine.store(StoreItem.document("hello"))
    assert not engine.store(StoreItem.document("hello")).replayed


def test_builds_are_scheduled_and_beliefs_need_a_query(engine: TinyHumansEngine, double: HostedDouble) -> None:
    assert engine.consolidate(ConsolidateRequest(reach=ROOT)).status.value == "scheduled"
    assert engine.beliefs(BeliefsRequest(reach=ROOT)) == []
    assert double.seen.lines == []


def test_an_answer_sends_no_null_and_a_whole_tree_is_one_delete(engine: TinyHumansEngine, double: HostedDouble) -> None:
    engine.store(StoreItem.document("refunds"))
    assert engine.recall(RecallRequest(question="refunds")).model == "reasoning"
    assert engine.erase(EraseRequest(reach=ROOT, whole_tree=True)).erased_scopes == 1
    assert double.seen.lines[-1] == "DELETE /memory"
