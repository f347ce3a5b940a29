"""CortexDB as the TinyHumans host serves it (spec 04)."""

from collections.abc import Mapping

from corebrain.contract import EngineDescriptor, Hits
from corebrain.engines.cortexdb.credentials import Credential
from corebrain.engines.cortexdb.endpoint import Endpoint
from corebrain.engines.cortexdb.hosted_wire import HostedWire
from corebrain.engines.cortexdb.reach_scopes import EVERY_KIND
from corebrain.engines.cortexdb.scopes import layout_of
from corebrain.engines.cortexdb.timing import Timing
from corebrain.engines.cortexdb.transport import Transport
from corebrain.engines.cortexdb.writer import CortexWriter
from corebrain.model.requests import (
    BeliefsRequest,
    Consolidation,
    EraseReport,
    EraseRequest,
    FetchMode,
)

HOSTED_ENDPOINT = "https://api.tinyhumans.ai"
"""TinyHumans' own."""
HOSTED = EngineDescriptor(
    id="tinyhumans",
    label="TinyHumans",
    description="Keeps memory with TinyHumans, with ranked recall, grounded answers and beliefs",
    hosted=True,
    needs_key=True,
    default_endpoint=HOSTED_ENDPOINT,
    fetch_modes=(FetchMode.HYBRID,),
    consolidation=Consolidation.SCHEDULED,
)
"""What the hosted surface is."""


class TinyHumansEngine(CortexWriter):
    """Memory hosted by TinyHumans, which builds beliefs on its own schedule.

    Args:
        credential: A bearer token, or a `Credential` that is asked at every attempt.
        endpoint: Where the host is; blank is TinyHumans' own.
        scope_root: A root of the v3 layout; the legacy layout without one.
        tenant_root: Whether paths are relative to the tenant's own root (the v3 layout, no root named).
        retired_scope_root: The root that was used before; still read, forgotten from and erased, never written to.
        headers: Sent with every request; none that carry credentials or steer the connection.
        timing: How long to wait for what.

    Raises:
        ConfigError: the endpoint, the credential, a root or a header is malformed, or a token would travel unencrypted.
    """

    def __init__(
        self,
        credential: str | Credential,
        endpoint: str = "",
        *,
        scope_root: str = "",
        tenant_root: bool = False,
        retired_scope_root: str = "",
        headers: Mapping[str, str] | None = None,
        timing: Timing | None = None,
    ) -> None:
        place = Endpoint(endpoint.strip() or HOSTED_ENDPOINT)
        timing = timing or Timing()
        layout = layout_of(scope_root, retired=retired_scope_root, tenant=tenant_root, hosted=True)
        who = Credential.of(credential)
        wire = HostedWire(Transport(place, who, timing, hosted=True, headers=headers or {}), timing)
        super().__init__(HOSTED, wire, layout, timing)
        self._hosted = wire

    def erase(self, request: EraseRequest) -> EraseReport:
        request.validate()
        everything = request.reach.at.is_root and request.reach.descendants
        if not (everything and request.whole_tree and set(request.kinds) in (set(), set(EVERY_KIND))):
            return super().erase(request)
        scopes, receipts = self._hosted.erase_everything()
        return EraseReport(erased_scopes=scopes, receipts=tuple(receipts))

    def beliefs(self, request: BeliefsRequest) -> Hits:
        request.validate()
        return [] if request.query is None else super().beliefs(request)  # the host lists none
