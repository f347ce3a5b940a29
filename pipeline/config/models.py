"""What `brain.toml` may hold, table by table; a kind's own keys are its connector's (`connectors.registry`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ByteSize, Field, model_validator

from connectors import document
from connectors.files.connector import MAX_BYTES
from corebrain.context import DEFAULT_BUDGET
from corebrain.documents.registry import PARSERS
from corebrain.errors import InvalidRequest
from corebrain.model.namespace import Namespace
from pipeline.config.engine_tables import EngineTable, LocalEngineTable
from pipeline.config.table import EXPANDED, Table
from pipeline.errors import SetupError
from pipeline.options import Split, SyncOptions
from pipeline.schedule import Schedule, schedule_of, span_of
from pipeline.scrubbing import Scrub


def _node(value: object) -> object:
    """Check a layout root; it stays text."""
    if isinstance(value, str):
        try:
            Namespace.parse(value)
        except InvalidRequest as error:
            raise ValueError(error.message) from None
    return value


def _span(value: str) -> str:
    """Check an interval; it stays text."""
    try:
        span_of(value)
    except SetupError as error:
        raise ValueError(error.message) from None
    return value


Root = Annotated[
    str, BeforeValidator(_node), Field(description="A node of the memory tree: root, or such as team:acme.")
]
Size = Annotated[
    ByteSize,
    Field(ge=1, le=document.MAX_BYTES, description="Largest file read, as a number or as 64MiB; at most 100MiB."),
]


class BrainTable(Table):
    """`[brain]`: where memory lies."""

    root: Root = "root"
    data: Annotated[
        str,
        Field(
            min_length=1,
            description="Folder of the state and of the local engine, made for its owner only.",
            json_schema_extra=EXPANDED,
        ),
    ] = ".brain"
    scrub: Annotated[
        Scrub,
        Field(
            description="What is redacted from documents before they are stored: off, secrets (credentials), or all"
            " (personal numbers too). It eats prose such as 'password reset'."
        ),
    ] = "off"


class ContextTable(Table):
    """`[context]`: the brief that `brain run` keeps in a file for agents to read."""

    file: Annotated[
        str | None, Field(min_length=1, description="Where it is written; none keeps none.", json_schema_extra=EXPANDED)
    ] = None
    agent: Annotated[
        str | None, Field(min_length=1, description="Whose: what it was told and what is shared. All when left out.")
    ] = None
    budget: Annotated[
        int, Field(ge=1, description="Most tokens of the whole document, at four characters a token.")
    ] = DEFAULT_BUDGET
    every: Annotated[
        str | None,
        AfterValidator(_span),
        Field(
            description="How old it may grow while no sync changes anything: 90s, 15m. Left out, 15m on an engine of"
            " this machine; on a server, whose answers may cost money, it is written after syncs only."
        ),
    ] = None


class DocumentsTable(Table):
    """`[documents]`: how files are read; further keys choose the parser of a format (`pdf = "pypdf"`)."""

    workers: Annotated[int | None, Field(ge=1, le=64, description="Documents converted at once.")] = None
    timeout_s: Annotated[float, Field(gt=0, le=3600, description="Seconds one document may take.")] = 30.0
    max_bytes: Size = ByteSize(MAX_BYTES)
    ocr: Annotated[
        str, Field(description="Languages read off pictures by tesseract, such as eng or deu+eng; empty for no OCR.")
    ] = ""
    comments: Annotated[bool, Field(description="Whether comments of Word documents are kept, as notes.")] = False
    parsers: dict[str, str] = Field(default={}, exclude=True)  # the keys named after formats

    @model_validator(mode="before")
    @classmethod
    def _formats_apart(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        plain = {key: value for key, value in data.items() if key not in PARSERS}
        if "parsers" in plain:  # a name of ours, not of the file
            plain["parsers "] = plain.pop("parsers")
        return {**plain, "parsers": {key: value for key, value in data.items() if key in PARSERS}}


class SourceTable(Table):
    """The keys every `[sources.NAME]` may have beside those of its kind."""

    kind: Annotated[str, Field(min_length=1, description="What it is: files, …")]
    root: Annotated[Root | None, Field(description="File it below another layout root.")] = None
    split: Annotated[Split, Field(description="Whether collections get nodes of their own.")] = "auto"
    split_over: Annotated[int, Field(ge=0, description="Documents beyond which auto splits.")] = 2_000
    max_delete: Annotated[
        float, Field(ge=0, le=1, description="Share of the source that one sync may delete; 20 always may.")
    ] = 0.3
    max_documents: Annotated[
        int | None, Field(ge=0, description="Documents it may hold; more stop it before anything is fetched.")
    ] = None
    max_total_bytes: Annotated[
        ByteSize | None,
        Field(ge=0, description="Bytes all its documents together may have, as a number or as 20GiB; likewise."),
    ] = None
    max_bytes: Size | None = None
    watch: Annotated[bool, Field(description="Whether `brain run` syncs it as soon as something changes.")] = False
    every: Annotated[
        str | None, AfterValidator(_span), Field(description="How often `brain run` syncs it: 90s, 15m, 2h, 1d.")
    ] = None
    cron: Annotated[
        str | None, Field(description="When `brain run` syncs it: minute, hour, day of month, month, day of week.")
    ] = None
    time_zone: Annotated[
        str | None, Field(description="Where the hours of cron are read, such as Europe/Berlin; UTC when left out.")
    ] = None

    @model_validator(mode="after")
    def _scheduled(self) -> Self:
        self.schedule()
        return self

    def options(self, run: SyncOptions | None = None) -> SyncOptions:
        """Return how a sync of the source goes: as configured, and as this *run* is asked to beside."""
        return replace(
            run or SyncOptions(),
            max_delete=self.max_delete,
            max_documents=self.max_documents,
            max_total_bytes=self.max_total_bytes,
            split=self.split,
            split_over=self.split_over,
        )

    def schedule(self) -> Schedule | None:
        """Return when `brain run` syncs it by itself; `None` when it does not."""
        try:
            return schedule_of(self.every, self.cron, self.time_zone)
        except SetupError as error:
            raise ValueError(error.message) from None


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """One configured source.

    Attributes:
        name: Its name, the `source.id` of its documents.
        keys: The pipeline's own keys.
        own: The kind's keys, validated; secrets as `SecretStr`.
        values: The kind's keys with variables expanded, for the registry.
        written: The whole table as it stands in the file.
    """

    name: str
    keys: SourceTable
    own: BaseModel
    values: Mapping[str, object] = field(repr=False)
    written: Mapping[str, object] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Config:
    """A whole configuration, checked.

    Attributes:
        file: Where it was read; `None` for the defaults.
        folder: Where its relative paths start.
        brain: `[brain]`.
        engine: `[engine]`.
        context: `[context]`.
        documents: `[documents]`.
        sources: By name, in the order of the file.
        written: The whole file as it stands, variables not expanded.
    """

    file: Path | None
    folder: Path
    brain: BrainTable = field(default_factory=BrainTable)
    engine: EngineTable = field(default_factory=LocalEngineTable)
    context: ContextTable = field(default_factory=ContextTable)
    documents: DocumentsTable = field(default_factory=DocumentsTable)
    sources: Mapping[str, SourceConfig] = field(default_factory=dict)
    written: Mapping[str, object] = field(default_factory=dict, repr=False)

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / Path(self.brain.data).expanduser()

    @property
    def context_file(self) -> Path | None:
        """The file of the brief that `brain run` keeps; `None` when it keeps none."""
        return self.folder / Path(self.context.file).expanduser() if self.context.file else None

    def root_of(self, source: SourceConfig | None = None) -> Namespace:
        """Return the layout root of a source, or of the brain."""
        own = source.keys.root if source else None
        return Namespace.parse(own or self.brain.root)
