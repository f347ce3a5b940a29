"""corebrain: the company brain for AI agents, as a library.

```python
from corebrain import Brain, BrainDocument, BrainSource, ReferenceEngine

brain = Brain(ReferenceEngine())
brain.ingest(BrainDocument(source=BrainSource.FILES, title="Refunds", text="Refunds take five business days."))
print(brain.search("how long do refunds take")[0].text)
```

Importing this loads values, contract, layout and brain, and no parser, HTTP client or SQL library: what needs one
(`LocalEngine`, `brain_document`, `AgentMemory`, …) is imported on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

from corebrain.background import BackgroundRunner
from corebrain.brain import Brain, BrainBatch, Ingested
from corebrain.contract import EngineDescriptor, EngineHealth, Item, MemoryEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import (
    ConfigError,
    Conflict,
    CorebrainError,
    Damaged,
    Empty,
    Encrypted,
    EngineError,
    InvalidRequest,
    NeedsOcr,
    NotFound,
    ParserDied,
    Refusal,
    TimedOut,
    TooLarge,
    Unauthorized,
    Unavailable,
    Unsupported,
    UnsupportedFormat,
)
from corebrain.jobs import BackgroundJob, BuildBeliefs, IngestBrain, JobOutcome, JobReport, read_job
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.item import (
    Body,
    Conversation,
    Document,
    Learning,
    LearningKind,
    Role,
    StoreItem,
    Turn,
    read_item,
)
from corebrain.model.meta import ItemKind, MemoryMeta, SourceKind, SourceRef, ToolCallRef, TurnRange
from corebrain.model.namespace import Namespace, Reach, Segment, SegmentKind
from corebrain.model.requests import (
    BeliefsRequest,
    Bucket,
    Citation,
    ConsolidateReceipt,
    ConsolidateRequest,
    ConsolidateStatus,
    Consolidation,
    EraseReport,
    EraseRequest,
    ExplorePage,
    ExploreRequest,
    Exported,
    ExportPage,
    FetchMode,
    FetchPage,
    FetchRequest,
    ForgetReport,
    ForgetTarget,
    GetRequest,
    Hit,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    StoreReceipt,
    WaitFor,
    WriteOptions,
)

if TYPE_CHECKING:
    from corebrain.documents.brain_document import brain_document, brain_documents
    from corebrain.documents.types import ConvertedDocument, DocumentConverter, RawDocument
    from corebrain.engines.local import LocalEngine
    from corebrain.lifecycle import (
        AgentMemory,
        CoreScope,
        PostTurnReport,
        RecallPolicy,
        TurnContext,
        forget_history,
    )
    from corebrain.recall import ContextPack
    from corebrain.tools import MemoryTools, ToolScope

_ON_FIRST_USE = {
    "AgentMemory": "corebrain.lifecycle",
    "ContextPack": "corebrain.recall",
    "ConvertedDocument": "corebrain.documents.types",
    "CoreScope": "corebrain.lifecycle",
    "DocumentConverter": "corebrain.documents.types",
    "LocalEngine": "corebrain.engines.local",
    "MemoryTools": "corebrain.tools",
    "PostTurnReport": "corebrain.lifecycle",
    "RawDocument": "corebrain.documents.types",
    "RecallPolicy": "corebrain.lifecycle",
    "ToolScope": "corebrain.tools",
    "TurnContext": "corebrain.lifecycle",
    "brain_document": "corebrain.documents.brain_document",
    "brain_documents": "corebrain.documents.brain_document",
    "forget_history": "corebrain.lifecycle",
}

__all__ = [
    "AgentMemory",
    "BackgroundJob",
    "BackgroundRunner",
    "BeliefsRequest",
    "Body",
    "Brain",
    "BrainBatch",
    "BrainDocument",
    "BrainSource",
    "Bucket",
    "BuildBeliefs",
    "Citation",
    "ConfigError",
    "Conflict",
    "ConsolidateReceipt",
    "ConsolidateRequest",
    "ConsolidateStatus",
    "Consolidation",
    "ContextPack",
    "Conversation",
    "ConvertedDocument",
    "CoreScope",
    "CorebrainError",
    "Damaged",
    "Document",
    "DocumentConverter",
    "Empty",
    "Encrypted",
    "EngineDescriptor",
    "EngineError",
    "EngineHealth",
    "EraseReport",
    "EraseRequest",
    "ExplorePage",
    "ExploreRequest",
    "ExportPage",
    "Exported",
    "Facet",
    "FetchMode",
    "FetchPage",
    "FetchRequest",
    "ForgetReport",
    "ForgetTarget",
    "GetRequest",
    "Hit",
    "IngestBrain",
    "Ingested",
    "Instant",
    "InvalidRequest",
    "Item",
    "ItemKind",
    "JobOutcome",
    "JobReport",
    "Learning",
    "LearningKind",
    "ListPage",
    "ListRequest",
    "LocalEngine",
    "MemoryEngine",
    "MemoryLayout",
    "MemoryMeta",
    "MemoryTools",
    "MetaFilter",
    "Namespace",
    "NeedsOcr",
    "NotFound",
    "ParserDied",
    "PostTurnReport",
    "RawDocument",
    "Reach",
    "RecallAnswer",
    "RecallPolicy",
    "RecallRequest",
    "ReferenceEngine",
    "Refusal",
    "Role",
    "Segment",
    "SegmentKind",
    "SourceKind",
    "SourceRef",
    "StoreItem",
    "StoreReceipt",
    "TimedOut",
    "TooLarge",
    "ToolCallRef",
    "ToolScope",
    "Turn",
    "TurnContext",
    "TurnRange",
    "Unauthorized",
    "Unavailable",
    "Unsupported",
    "UnsupportedFormat",
    "WaitFor",
    "WriteOptions",
    "brain_document",
    "brain_documents",
    "forget_history",
    "read_item",
    "read_job",
]


def __getattr__(name: str) -> Any:
    """Import what is loaded on first use."""
    module = _ON_FIRST_USE.get(name)
    if module is None:
        raise AttributeError(f"module 'corebrain' has no attribute {name!r}")
    return getattr(importlib.import_module(module), name)
