"""Holistic recall: one call that reads several scopes and answers one block for the prompt."""

from corebrain.recall.holistic import holistic_recall
from corebrain.recall.powers import TakesDeadline, WorksInProcess
from corebrain.recall.types import (
    Answer,
    ContextPack,
    Fetch,
    HolisticRecall,
    Latest,
    ScopeSection,
    SectionHits,
    SectionQuery,
    SkippedSection,
    ThreadWindow,
)

__all__ = [
    "Answer",
    "ContextPack",
    "Fetch",
    "HolisticRecall",
    "Latest",
    "ScopeSection",
    "SectionHits",
    "SectionQuery",
    "SkippedSection",
    "TakesDeadline",
    "ThreadWindow",
    "WorksInProcess",
    "holistic_recall",
]
