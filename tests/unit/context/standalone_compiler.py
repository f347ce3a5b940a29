"""A plain `context.md` compiler that owes the library nothing but the engine contract: the yardstick of A2.

Written from the reference text alone, before `corebrain.context`; kept naive on purpose (whole documents are composed
again at every step, nothing is shared with holistic recall).
"""

import re
from collections.abc import Sequence
from typing import Any

from corebrain.context import ContextSpec
from corebrain.contract import MemoryEngine
from corebrain.errors import CorebrainError
from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import BeliefsRequest, Hit, ListRequest, RecallRequest

SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
INSTRUCTIONS = (
    "Answer with brief markdown bullets, one fact each. Say only what the stored items support; "
    "leave out what they do not say."
)


def compile_context(engine: MemoryEngine, spec: ContextSpec, generated_at: str) -> str:
    sections = [section for brief in spec.briefs if (section := answered(engine, spec, brief)) is not None]
    learnings = latest_learnings(engine, spec)
    if learnings:
        sections.append(
            {"heading": "Learnings", "bullets": [one_line(hit.text) for hit in learnings], "hits": learnings}
        )
    while True:
        document = compose(engine.descriptor.id, generated_at, sections)
        total = -(-len(document) // 4)
        if total <= spec.budget_tokens:
            return document
        sections = trimmed(sections, total - spec.budget_tokens)


def answered(engine: MemoryEngine, spec: ContextSpec, brief: Any) -> dict[str, Any] | None:
    wanted = brief.filter
    if spec.reach is not None:
        wanted = wanted.model_copy(update={"reach": spec.reach})
    request = RecallRequest(question=brief.question, filter=wanted, limit=8, instructions=INSTRUCTIONS)
    try:
        answer = engine.recall(request)
    except CorebrainError:
        return None
    if not answer.citations or not answer.answer.strip(SPACE):
        return None
    return {"heading": brief.heading, "answer": answer.answer.strip(SPACE), "hits": answer.citations}


def latest_learnings(engine: MemoryEngine, spec: ContextSpec) -> list[Hit]:
    if spec.learnings_limit == 0:
        return []
    wanted = MetaFilter(reach=spec.reach, kinds=(ItemKind.LEARNING,))
    stored: list[Hit] = []
    cursor = None
    for _ in range(50):
        try:
            page = engine.list(ListRequest(filter=wanted, limit=100, cursor=cursor))
        except CorebrainError:
            return []
        stored.extend(page.items)
        cursor = page.next_cursor
        if cursor is None:
            break
    depth = spec.learnings_limit + 8 * len(spec.briefs)
    stored = in_order(stored)[:depth]
    beliefs = built_beliefs(engine, wanted, spec, depth)
    mixed = []
    for rank in range(max(len(stored), len(beliefs))):
        mixed += stored[rank : rank + 1] + beliefs[rank : rank + 1]
    shown: list[Hit] = []
    for hit in mixed:
        if hit.kind is ItemKind.LEARNING and all(hit.id != other.id for other in shown):
            shown.append(hit)
    return shown[: spec.learnings_limit]


def built_beliefs(engine: MemoryEngine, wanted: MetaFilter, spec: ContextSpec, depth: int) -> list[Hit]:
    reach = spec.reach if spec.reach is not None else Reach.subtree(Namespace.ROOT)
    try:
        built = engine.beliefs(BeliefsRequest(reach=reach, limit=depth))
    except CorebrainError:
        return []
    once = [belief for place, belief in enumerate(built) if all(belief.id != other.id for other in built[:place])]
    return [belief for belief in once if wanted.matches(ItemKind.LEARNING, belief.meta)]


def in_order(hits: list[Hit]) -> list[Hit]:
    """Three stable sorts, the least important first."""
    by_turn = sorted(hits, key=lambda hit: -1 if hit.meta.turns is None else hit.meta.turns.last, reverse=True)
    by_trust = sorted(by_turn, key=lambda hit: 0.0 if hit.confidence is None else hit.confidence, reverse=True)
    dated = [hit for hit in by_trust if hit.meta.observed_at is not None]
    undated = [hit for hit in by_trust if hit.meta.observed_at is None]
    return sorted(dated, key=lambda hit: hit.meta.observed_at, reverse=True) + undated  # type: ignore[arg-type,return-value]  # dated


def one_line(text: str) -> str:
    line = re.sub(f"[{SPACE}]+", " ", text).strip(" ")
    return line if len(line) <= 600 else shortened(line, 600)


def shortened(text: str, keep: int) -> str:
    cut = text[:keep]
    places = [index for index, character in enumerate(cut) if character in SPACE]
    if places:
        before = cut[: places[-1]]
        if len(before.encode()) > len(cut.encode()) / 2:
            cut = before
    return cut.rstrip(SPACE) + "…"


def trimmed(sections: Sequence[dict[str, Any]], excess: int) -> list[dict[str, Any]]:
    kept = list(sections)
    if "bullets" in kept[-1]:
        bullets = kept[-1]["bullets"][:-1]
        return [*kept[:-1], {**kept[-1], "bullets": bullets}] if bullets else kept[:-1]
    answer = kept[-1]["answer"]
    keep = max(0, len(answer) - (excess * 4 + 3))
    return kept[:-1] if keep < 40 else [*kept[:-1], {**kept[-1], "answer": shortened(answer, keep)}]


def compose(engine_id: str, generated_at: str, sections: Sequence[dict[str, Any]]) -> str:
    if not sections:
        return ""
    block = "# Context\n"
    refs: list[str] = []
    for section in sections:
        block += f"\n## {section['heading']}\n\n"
        hits = section["hits"]
        if "bullets" in section:
            block += "".join(f"- {bullet}\n" for bullet in section["bullets"])
            hits = hits[: len(section["bullets"])]
        else:
            block += section["answer"] + "\n"
        refs += [hit.id for hit in hits if hit.id not in refs]
    total = 0
    for _ in range(8):
        document = (
            f"---\ngenerated_at: {generated_at}\nengine: {engine_id}\ntokens: {total}\n"
            f"refs: [{', '.join(dict.fromkeys(refs))}]\n---\n\n{block}"
        )
        counted = -(-len(document) // 4)
        if counted == total:
            break
        total = counted
    return document
