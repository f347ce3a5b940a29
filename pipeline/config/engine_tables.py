"""What `[engine]` may hold, kind by kind, and what each kind's engine is made with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from corebrain.model.requests import Consolidation
from pipeline.config.table import EXPANDED, Table

MEMORY_FILE = "memory.db"


def _given(secret: SecretStr) -> SecretStr:
    """Refuse a blank secret."""
    if not secret.get_secret_value().strip():
        raise ValueError("it is blank")
    return secret


Secret = Annotated[SecretStr, AfterValidator(_given)]


class LocalEngineTable(Table):
    """`[engine] kind = "local"`: one SQLite file in the data folder."""

    kind: Literal["local"] = "local"
    durability: Annotated[
        Literal["power", "process"],
        Field(description="power waits for the disk at every write; process is faster and may lose the last writes."),
    ] = "power"
    build_beliefs: Annotated[
        bool, Field(description="Whether `brain run` builds beliefs by itself, or leaves them to `brain jobs run`.")
    ] = False

    @property
    def place(self) -> str:
        """Where memory lies, as the state remembers it."""
        return MEMORY_FILE

    def settings(self, data: Path) -> dict[str, object]:
        """Return what the engine is made with; its file lies in the folder *data*."""
        return {"path": data / MEMORY_FILE, "durability": self.durability}


class ReferenceEngineTable(Table):
    """`[engine] kind = "reference"`: memory of one process, for trials; nothing outlives the command."""

    kind: Literal["reference"] = "reference"

    @property
    def place(self) -> str:
        """Nowhere."""
        return ""

    def settings(self, data: Path) -> dict[str, object]:
        """Return what the engine is made with: nothing."""
        del data
        return {}


class CortexEngineTable(Table):
    """`[engine] kind = "cortexdb"`: memory on a CortexDB server."""

    kind: Literal["cortexdb"] = "cortexdb"
    key: Annotated[Secret, Field(description="The API key.")]
    endpoint: Annotated[
        str, Field(description="The server; left out, CortexDB's managed API.", json_schema_extra=EXPANDED)
    ] = ""
    scope_root: Annotated[str, Field(description="Keep memory below this root, such as org:42.")] = ""
    retired_scope_root: Annotated[str, Field(description="The root before it, still read and forgotten from.")] = ""
    scope_owner: Annotated[str, Field(description="Who the root is registered with, such as user:7.")] = ""
    headers: dict[str, SecretStr] = Field(default={}, description="Sent with every request; never shown.")
    consolidation: Annotated[
        Consolidation | None, Field(description="How the server builds beliefs, where the default is wrong.")
    ] = None
    build_beliefs: Annotated[
        bool, Field(description="Whether `brain run` asks for belief builds, or leaves them to `brain jobs run`.")
    ] = True

    @property
    def place(self) -> str:
        """Where memory lies, as the state remembers it."""
        return _place(self.endpoint, self.scope_root)

    def settings(self, data: Path) -> dict[str, object]:
        """Return what the engine is made with, the key among it."""
        del data
        return {
            "credential": self.key.get_secret_value(),
            "endpoint": self.endpoint,
            "scope_root": self.scope_root,
            "retired_scope_root": self.retired_scope_root,
            "scope_owner": self.scope_owner,
            "headers": _plain(self.headers),
            "consolidation": self.consolidation,
        }


class TinyHumansEngineTable(Table):
    """`[engine] kind = "tinyhumans"`: memory hosted by TinyHumans, which builds beliefs on its own schedule."""

    kind: Literal["tinyhumans"] = "tinyhumans"
    token: Annotated[Secret, Field(description="The bearer token.")]
    endpoint: Annotated[str, Field(description="The host; left out, TinyHumans' own.", json_schema_extra=EXPANDED)] = ""
    scope_root: Annotated[str, Field(description="Keep memory below this root, such as org:42.")] = ""
    tenant_root: Annotated[bool, Field(description="Whether paths are relative to the tenant's own root.")] = False
    retired_scope_root: Annotated[str, Field(description="The root before it, still read and forgotten from.")] = ""
    headers: dict[str, SecretStr] = Field(default={}, description="Sent with every request; never shown.")

    @property
    def place(self) -> str:
        """Where memory lies, as the state remembers it."""
        return _place(self.endpoint, "the tenant's root" if self.tenant_root else self.scope_root)

    def settings(self, data: Path) -> dict[str, object]:
        """Return what the engine is made with, the token among it."""
        del data
        return {
            "credential": self.token.get_secret_value(),
            "endpoint": self.endpoint,
            "scope_root": self.scope_root,
            "tenant_root": self.tenant_root,
            "retired_scope_root": self.retired_scope_root,
            "headers": _plain(self.headers),
        }


def _place(endpoint: str, root: str) -> str:
    return " ".join(part for part in (endpoint.strip().rstrip("/") or "the managed API", root) if part)


def _plain(headers: Mapping[str, SecretStr]) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in headers.items()}


EngineTable = LocalEngineTable | ReferenceEngineTable | CortexEngineTable | TinyHumansEngineTable
RemoteEngineTable = CortexEngineTable | TinyHumansEngineTable
"""Memory that lies on another machine; only the state lies here."""
ENGINES: Mapping[str, type[EngineTable]] = {
    "local": LocalEngineTable,
    "reference": ReferenceEngineTable,
    "cortexdb": CortexEngineTable,
    "tinyhumans": TinyHumansEngineTable,
}
"""Table of an engine by its kind."""
