"""Faults of belief builds and of reading beliefs."""

from functools import partial

from corebrain.conformance.faults.fault import Fault
from corebrain.conformance.wrappers import BareEngine
from corebrain.contract import EngineDescriptor, Hits, MemoryEngine
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace
from corebrain.model.requests import (
    BELIEF_TAG,
    BeliefsRequest,
    ConsolidateReceipt,
    ConsolidateRequest,
    ConsolidateStatus,
    Consolidation,
    Hit,
)


class Builder(BareEngine):
    """Declares one way to build beliefs and answers with a status, whatever fits.

    With `ON_DEMAND` and `completed` this is no fault: what the other engines here depart from.
    """

    def __init__(
        self,
        inner: MemoryEngine,
        declared: Consolidation = Consolidation.ON_DEMAND,
        status: ConsolidateStatus = ConsolidateStatus.COMPLETED,
    ) -> None:
        super().__init__(inner)
        self._declared = declared
        self._status = status

    @property
    def descriptor(self) -> EngineDescriptor:
        return self.inner.descriptor.model_copy(update={"consolidation": self._declared})

    def consolidate(self, request: ConsolidateRequest) -> ConsolidateReceipt:
        request.validate()
        return ConsolidateReceipt(status=self._status)


class BuildsUnvalidated(Builder):
    """Takes a malformed build."""

    def consolidate(self, request: ConsolidateRequest) -> ConsolidateReceipt:
        del request
        return ConsolidateReceipt(status=self._status)


class Believer(Builder):
    """Holds `count` beliefs at every node that is asked for; sound until told otherwise."""

    def __init__(
        self,
        inner: MemoryEngine,
        *,
        count: int = 1,
        tags: tuple[str, ...] = (BELIEF_TAG,),
        kind: ItemKind = ItemKind.LEARNING,
        at: Namespace | None = None,
    ) -> None:
        super().__init__(inner)
        self._count = count
        self._tags = tags
        self._kind = kind
        self._at = at

    def beliefs(self, request: BeliefsRequest) -> Hits:
        request.validate()
        meta = MemoryMeta(namespace=self._at or request.reach.at, tags=self._tags)
        return [Hit(id=f"belief-{n}", kind=self._kind, text="It is so.", meta=meta) for n in range(self._count)]


class BelievesInNothing(Builder):
    """Serves beliefs with limit 0."""

    def beliefs(self, request: BeliefsRequest) -> Hits:
        del request
        return []


_ELSEWHERE = Namespace.parse("agent:somebody-else")
_SCHEDULED = ConsolidateStatus.SCHEDULED
_CHECK = "consolidate"

BELIEVING: tuple[Fault, ...] = (
    Fault("declares on_demand and answers scheduled", _CHECK, partial(Builder, status=_SCHEDULED)),
    Fault(
        "declares automatic and answers scheduled",
        _CHECK,
        partial(Builder, declared=Consolidation.AUTOMATIC, status=_SCHEDULED),
    ),
    Fault("declares scheduled and builds at once", _CHECK, partial(Builder, declared=Consolidation.SCHEDULED)),
    Fault("declares no builds and answers one", _CHECK, partial(Builder, declared=Consolidation.NONE)),
    Fault("builds without validating", _CHECK, BuildsUnvalidated),
    Fault("reads beliefs untagged", _CHECK, partial(Believer, tags=())),
    Fault("reads beliefs from outside the reach", _CHECK, partial(Believer, at=_ELSEWHERE)),
    Fault("reads beliefs that are no learnings", _CHECK, partial(Believer, kind=ItemKind.DOCUMENT)),
    Fault("reads more beliefs than asked for", _CHECK, partial(Believer, count=11)),
    Fault("reads beliefs with limit 0", _CHECK, BelievesInNothing),
)
