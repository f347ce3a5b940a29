"""CortexDB as a memory engine, over its own surface (spec 04)."""

from collections.abc import Mapping

from corebrain.contract import EngineDescriptor
from corebrain.engines.cortexdb.credentials import Credential
from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.endpoint import Endpoint
from corebrain.engines.cortexdb.owning import RootOwner
from corebrain.engines.cortexdb.scopes import layout_of
from corebrain.engines.cortexdb.timing import Timing
from corebrain.engines.cortexdb.transport import Transport
from corebrain.engines.cortexdb.writer import CortexWriter
from corebrain.errors import ConfigError
from corebrain.model.requests import Consolidation, FetchMode

DEFAULT_ENDPOINT = "https://api-v1.cortexdb.ai"
"""CortexDB's managed API."""
DIRECT = EngineDescriptor(
    id="cortexdb",
    label="CortexDB",
    description="Keeps memory on a CortexDB server, with ranked recall, grounded answers and beliefs",
    needs_key=True,
    default_endpoint=DEFAULT_ENDPOINT,
    fetch_modes=(FetchMode.HYBRID,),
    consolidation=Consolidation.ON_DEMAND,
)
"""What the Direct surface is, at a server of one's own."""


class CortexEngine(CortexWriter):
    """Memory on a CortexDB server. Local paths and phone numbers never leave this machine.

    Args:
        credential: An API key, or a `Credential` that is asked at every attempt.
        endpoint: Where the server is; blank is CortexDB's managed API.
        scope_root: A host's root such as `org:42`, for the v3 layout; the legacy layout without one.
        retired_scope_root: The root that was used before it: still read, forgotten from and erased, never written to.
        scope_owner: Who the root is registered with before the first write.
        headers: Sent with every request; none that carry credentials or steer the connection.
        consolidation: What the descriptor declares; by default automatic on the managed API, else on demand.
        timing: How long to wait for what.

    Raises:
        ConfigError: the endpoint, the credential, a root or a header is malformed, or a key would travel unencrypted.
    """

    def __init__(
        self,
        credential: str | Credential,
        endpoint: str = "",
        *,
        scope_root: str = "",
        retired_scope_root: str = "",
        scope_owner: str = "",
        headers: Mapping[str, str] | None = None,
        consolidation: Consolidation | None = None,
        timing: Timing | None = None,
    ) -> None:
        place = Endpoint(endpoint.strip() or DEFAULT_ENDPOINT)
        timing = timing or Timing()
        layout = layout_of(scope_root, retired=retired_scope_root)
        if scope_owner and not scope_root:
            raise ConfigError("scope_owner needs the scope_root that is registered with it")
        who = Credential.of(credential)
        transport = Transport(place, who, timing, headers=headers or {})
        managed = place.origin == Endpoint(DEFAULT_ENDPOINT).origin
        by_default = Consolidation.AUTOMATIC if managed else Consolidation.ON_DEMAND
        descriptor = DIRECT.model_copy(update={"consolidation": consolidation or by_default})
        owner = RootOwner(transport, scope_root, scope_owner) if scope_owner else None
        super().__init__(descriptor, DirectWire(transport, timing), layout, timing, owner)
