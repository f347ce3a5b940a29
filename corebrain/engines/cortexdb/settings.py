"""Which engine a host has, and its settings; never a credential (spec 04 section 2)."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import Field

from corebrain.contract import EngineDescriptor, MemoryEngine
from corebrain.engines.cortexdb.credentials import Credential
from corebrain.engines.cortexdb.engine import DIRECT, CortexEngine
from corebrain.engines.cortexdb.hosted import HOSTED, TinyHumansEngine
from corebrain.errors import ConfigError
from corebrain.model.requests import Consolidation
from corebrain.model.value import Value


class EngineSettings(Value):
    """What a host keeps of one engine.

    Attributes:
        endpoint: Where it is; blank or unset is the engine's default.
        consolidation: What the descriptor declares instead of the default; the hosted engine's is always scheduled.
        headers: Sent with every request besides the engine's own.
        scope_root: A host's root such as `org:42`: the v3 layout.
        tenant_root: Whether the hosted engine's paths are relative to its tenant's root: the v3 layout.
        retired_scope_root: The root before it, still read.
        scope_owner: Who owns the root, on the Direct surface.
        observed_actor: Reserved for attribution, which this engine does not write; only `False` is taken.
    """

    omitted: ClassVar[frozenset[str]] = frozenset(
        (
            *("endpoint", "consolidation", "headers", "scope_root", "tenant_root", "retired_scope_root"),
            *("scope_owner", "observed_actor"),
        )
    )
    endpoint: str | None = None
    consolidation: Consolidation | None = None
    headers: Mapping[str, str] = Field(default={})
    scope_root: str | None = None
    tenant_root: bool = False
    retired_scope_root: str | None = None
    scope_owner: str | None = None
    observed_actor: bool = False


class MemoryConfig(Value):
    """The engine in use and the settings of every engine; unknown keys are ignored.

    Attributes:
        engine: Id of the engine in use.
        engines: Settings by id.
    """

    engine: str = HOSTED.id
    engines: Mapping[str, EngineSettings] = Field(default={})

    def build(self, credential: str | Credential | None) -> MemoryEngine:
        """Make the engine in use; raises `ConfigError` as `build_engine`."""
        return build_engine(self.engine, self.engines.get(self.engine, EngineSettings()), credential)

    @classmethod
    def of(cls, engine: str, settings: EngineSettings) -> Self:
        """Return the configuration of one engine."""
        return cls(engine=engine, engines={engine: settings})


def list_engines() -> list[EngineDescriptor]:
    """Return what the two engines are: `cortexdb`, then `tinyhumans`."""
    return [DIRECT, HOSTED]


def build_engine(engine: str, settings: EngineSettings, credential: str | Credential | None) -> MemoryEngine:
    """Make an engine; nothing is asked of a server yet.

    Args:
        engine: `cortexdb` or `tinyhumans`.
        settings: Its settings.
        credential: An API key or token, or a source of them.

    Raises:
        ConfigError: the engine is unknown, the credential is missing or blank, or a setting is malformed or belongs to
            the other engine.
    """
    if engine not in {DIRECT.id, HOSTED.id}:
        raise ConfigError(f"unknown engine {engine[:60]!r}, known are {DIRECT.id} and {HOSTED.id}")
    if credential is None:
        raise ConfigError(f"engine {engine} needs a credential")
    if settings.observed_actor:
        raise ConfigError("observed_actor is not offered: this engine writes no attribution")
    shared: dict[str, Any] = {
        "scope_root": settings.scope_root or "",
        "retired_scope_root": settings.retired_scope_root or "",
        "headers": settings.headers,
    }
    place = settings.endpoint or ""
    if engine == DIRECT.id:
        if settings.tenant_root:
            raise ConfigError("tenant_root is the hosted engine's; name a scope_root such as org:42")
        owner = settings.scope_owner or ""
        return CortexEngine(credential, place, consolidation=settings.consolidation, scope_owner=owner, **shared)
    if settings.scope_owner:
        raise ConfigError("scope_owner is for a server of one's own; TinyHumans registers its roots itself")
    if settings.consolidation not in {None, Consolidation.SCHEDULED}:
        raise ConfigError("TinyHumans builds beliefs on its own schedule; leave consolidation out")
    return TinyHumansEngine(credential, place, tenant_root=settings.tenant_root, **shared)
