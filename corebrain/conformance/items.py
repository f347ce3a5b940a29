"""The items the suite stores: every one carries the run's workspace and its marker word (spec 05 section 1)."""

from corebrain.contract import Item
from corebrain.model.instant import Instant
from corebrain.model.item import Body, Conversation, Document, Learning, LearningKind, Role, Turn
from corebrain.model.meta import MemoryMeta, SourceKind, SourceRef, ToolCallRef
from corebrain.model.namespace import Namespace

_TOLD_AT = Instant.parse("2025-05-06T07:08:09Z")


def meta(workspace: str, **fields: object) -> MemoryMeta:
    """Return metadata in *workspace*; a logical id, so an engine that keeps paths off the wire passes too."""
    return MemoryMeta.model_validate({"workspace": workspace, **fields})


def document(workspace: str, text: str, **fields: object) -> Document:
    """Return an untitled document."""
    return Document(body=Body(text=text), meta=meta(workspace, **fields))


def learning(workspace: str, text: str, node: Namespace, *tags: str) -> Learning:
    """Return a fact at *node*."""
    return Learning(text=text, kind=LearningKind.FACT, confidence=0.5, meta=meta(workspace, namespace=node, tags=tags))


def conversation(workspace: str, text: str, **fields: object) -> Conversation:
    """Return two turns, a question and its reply."""
    turns = (Turn(role=Role.USER, text=text), Turn(role=Role.ASSISTANT, text=f"noted: {text}"))
    return Conversation(turns=turns, meta=meta(workspace, **fields))


def round_trip(workspace: str, marker: str) -> tuple[Item, ...]:
    """Return one item of each kind, using every part of its form."""
    return (
        Document(
            title=f"{marker} handbook",
            body=Body(text=f"# Refunds\n\nThe {marker} desk settles refunds in *five* business days."),
            mime="text/markdown",
            meta=meta(workspace, tags=("handbook",)),
        ),
        Conversation(
            turns=(
                Turn(role=Role.USER, text=f"what does the {marker} plan say", at=_TOLD_AT),
                Turn(
                    role=Role.ASSISTANT,
                    text=f"the {marker} plan says five days",
                    at=_TOLD_AT,
                    tool_calls=(ToolCallRef(name="read_plan", id="call-1"),),
                ),
            ),
            meta=meta(workspace, source=SourceRef(kind=SourceKind.CONVERSATION, id=f"{marker}-thread")),
        ),
        Learning(
            text=f"{marker} prefers short answers",
            kind=LearningKind.PREFERENCE,
            confidence=0.75,
            evidence="said so twice",
            meta=meta(workspace),
        ),
    )
