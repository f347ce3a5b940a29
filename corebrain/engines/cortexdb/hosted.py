"""CortexDB as the TinyHumans host serves it (spec 04)."""

from corebrain.contract import EngineDescriptor, Hits
from corebrain.engines.cortexdb.credentials import Credential
from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.endpoint import Endpoint
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.engines.cortexdb.hosted_wire import HostedWire
from corebrain.engines.cortexdb.timing import Timing
from corebrain.engines.cortexdb.transport import Transport
from corebrain.model.requests import (
    BeliefsRequest,
    ConsolidateReceipt,
    ConsolidateRequest,
    Consolidation,
    EraseReport,
    EraseRequest,
    FetchMode,
)

HOSTED_ENDPOINT = "https://api.tinyhumans.ai"


class TinyHumansEngine(CortexEngine):
    """Memory hosted by TinyHumans, which builds beliefs on its own schedule.

    Args:
        credential: A bearer token, or a `Credential` that is asked at every attempt.
        endpoint: Where the host is; blank is TinyHumans' own.
        timing: How long to wait for what.

    Raises:
        ConfigError: the endpoint or the credential is malformed, or a token would travel unencrypted.
    """

    def __init__(self, credential: str | Credential, endpoint: str = "", *, timing: Timing | None = None) -> None:
        super().__init__(credential, endpoint.strip() or HOSTED_ENDPOINT, timing=timing)
        self._descriptor = EngineDescriptor(
            id="tinyhumans",
            label="TinyHumans",
            description="Keeps memory with TinyHumans, with ranked recall, grounded answers and beliefs",
            hosted=True,
            needs_key=True,
            default_endpoint=HOSTED_ENDPOINT,
            fetch_modes=(FetchMode.HYBRID,),
            consolidation=Consolidation.SCHEDULED,
        )

    @staticmethod
    def _wired(place: Endpoint, who: Credential, timing: Timing) -> DirectWire:
        return HostedWire(Transport(place, who, timing, hosted=True), timing)

    def erase(self, request: EraseRequest) -> EraseReport:
        request.validate()
        everything = request.reach.at.is_root and request.reach.descendants and not request.kinds
        if not (everything and request.whole_tree and isinstance(self._wire, HostedWire)):
            return super().erase(request)
        scopes, receipts = self._wire.erase_everything()
        return EraseReport(erased_scopes=scopes, receipts=tuple(receipts))

    def consolidate(self, request: ConsolidateRequest) -> ConsolidateReceipt:
        request.validate()
        return ConsolidateReceipt.scheduled()

    def beliefs(self, request: BeliefsRequest) -> Hits:
        request.validate()
        return [] if request.query is None else super().beliefs(request)  # the host lists none
