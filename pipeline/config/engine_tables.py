"""What `[engine]` may hold, kind by kind, and what each kind's engine is made with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from corebrain.embed import Embedder, build_embedder
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
    embedder: Annotated[
        str | None,
        Field(
            min_length=1,
            description="What embeds texts for search by meaning: minilm, fastembed:MODEL, model2vec:MODEL,"
            " sentence-transformers:MODEL, or openai:MODEL for a server. Left out, search is by words.",
        ),
    ] = None
    embedder_url: Annotated[
        str,
        Field(
            description="Where an openai embedder is, such as http://127.0.0.1:11434/v1; texts are sent there.",
            json_schema_extra=EXPANDED,
        ),
    ] = ""
    embedder_key: Annotated[Secret | None, Field(description="Its key, where it needs one.")] = None

    @model_validator(mode="after")
    def _embeds(self) -> Self:
        if self.embedder is None and (self.embedder_url or self.embedder_key):
            raise ValueError('embedder_url and embedder_key go with an embedder: write embedder = "openai:MODEL"')
        return self

    @property
    def place(self) -> str:
        """Where memory lies, as the state remembers it."""
        return MEMORY_FILE

    def settings(self, data: Path) -> dict[str, object]:
        """Return what the engine is made with; its file lies in the folder *data*."""
        return {"path": data / MEMORY_FILE, "durability": self.durability, "embedder": self._embedder()}

    def _embedder(self) -> Embedder | None:
        if self.embedder is None:
            return None
        key = None if self.embedder_key is None else self.embedder_key.get_secret_value()
        return build_embedder(self.embedder, base_url=self.embedder_url, key=key)


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
    scope_root: Annotated[str | None, Field(description="Keep memory below this root, such as org:42.")] = None
    retired_scope_root: Annotated[
        str | None, Field(description="The root before it, still read and forgotten from.")
    ] = None
    scope_owner: Annotated[str | None, Field(description="Who the root is registered with, such as user:7.")] = None
    headers: Annotated[dict[str, SecretStr] | None, Field(description="Sent with every request; never shown.")] = None
    consolidation: Annotated[
        Consolidation | None, Field(description="How the server builds beliefs, where the default is wrong.")
    ] = None
    build_beliefs: Annotated[
        bool, Field(description="Whether `brain run` asks for belief builds, or leaves them to `brain jobs run`.")
    ] = True

    @property
    def place(self) -> str:
        """Where memory lies, as the state remembers it."""
        return _place(self.endpoint, self.scope_root or "")

    def settings(self, data: Path) -> dict[str, object]:
        """Return what the engine is made with, the key among it."""
        del data
        return {
            "credential": self.key.get_secret_value(),
            "endpoint": self.endpoint,
            "scope_root": self.scope_root or "",
            "retired_scope_root": self.retired_scope_root or "",
            "scope_owner": self.scope_owner or "",
            "headers": _plain(self.headers),
            "consolidation": self.consolidation,
        }


class TinyHumansEngineTable(Table):
    """`[engine] kind = "tinyhumans"`: memory hosted by TinyHumans, which builds beliefs on its own schedule."""

    kind: Literal["tinyhumans"] = "tinyhumans"
    token: Annotated[Secret, Field(description="The bearer token.")]
    endpoint: Annotated[str, Field(description="The host; left out, TinyHumans' own.", json_schema_extra=EXPANDED)] = ""
    scope_root: Annotated[str | None, Field(description="Keep memory below this root, such as org:42.")] = None
    tenant_root: Annotated[bool, Field(description="Whether paths are relative to the tenant's own root.")] = False
    retired_scope_root: Annotated[
        str | None, Field(description="The root before it, still read and forgotten from.")
    ] = None
    headers: Annotated[dict[str, SecretStr] | None, Field(description="Sent with every request; never shown.")] = None

    @property
    def place(self) -> str:
        """Where memory lies, as the state remembers it."""
        return _place(self.endpoint, "the tenant's root" if self.tenant_root else self.scope_root or "")

    def settings(self, data: Path) -> dict[str, object]:
        """Return what the engine is made with, the token among it."""
        del data
        return {
            "credential": self.token.get_secret_value(),
            "endpoint": self.endpoint,
            "scope_root": self.scope_root or "",
            "tenant_root": self.tenant_root,
            "retired_scope_root": self.retired_scope_root or "",
            "headers": _plain(self.headers),
        }


def _place(endpoint: str, root: str) -> str:
    return " ".join(part for part in (endpoint.strip().rstrip("/") or "the managed API", root) if part)


def _plain(headers: Mapping[str, SecretStr] | None) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in (headers or {}).items()}


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
