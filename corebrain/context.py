"""`context.md`: the brief an agent starts a session with (spec 03 section 2), a preset of holistic recall."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import ClassVar

from corebrain.contract import MemoryEngine
from corebrain.errors import InvalidRequest
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Reach
from corebrain.model.text import is_blank
from corebrain.model.value import Value
from corebrain.recall.gather import gather
from corebrain.recall.render import Block, tokens
from corebrain.recall.settle import EMPTY, Settled, settle
from corebrain.recall.types import Answer, HolisticRecall, Latest, ScopeSection, SkippedSection

DEFAULT_BUDGET = 1500
DEFAULT_LEARNINGS = 20
BRIEF_LIMIT = 8
"""Citations an answered brief may rest on."""

INSTRUCTIONS = (
    "Answer with brief markdown bullets, one fact each. Say only what the stored items support; "
    "leave out what they do not say."
)
_DRAFTS = 8


class InvalidSpec(InvalidRequest):
    """The spec of a `context.md` is malformed: the only error compiling one raises."""


class Brief(Value):
    """One answered section: what it is called, what it asks, and where."""

    heading: str
    question: str
    filter: MetaFilter = MetaFilter()


DEFAULT_BRIEFS = (
    Brief(
        heading="About the user",
        question="Who is the user, what is their role, and how do they like to work?",
    ),
    Brief(
        heading="Active work",
        question="Which projects, workspaces and repositories is the user working on at present?",
    ),
    Brief(
        heading="Preferences and standing instructions",
        question="Which preferences and lasting instructions has the user given?",
    ),
    Brief(
        heading="Recent important events",
        question="Which notable events happened recently?",
    ),
)
"""The briefs of a spec that names none, in order."""


class ContextSpec(Value):
    """What a `context.md` holds.

    Attributes:
        budget_tokens: Size of the whole document, frontmatter included, at four characters a token.
        briefs: The answered sections, in order.
        learnings_limit: Latest learnings shown last; 0 leaves the section out.
        reach: When set, replaces the reach of every brief's filter.
    """

    budget_tokens: int = DEFAULT_BUDGET
    briefs: tuple[Brief, ...] = DEFAULT_BRIEFS
    learnings_limit: int = DEFAULT_LEARNINGS
    reach: Reach | None = None

    def check(self) -> None:
        """Raise `InvalidSpec` for a zero budget, a negative limit, or a brief with a blank heading or question."""
        if self.budget_tokens <= 0:
            raise InvalidSpec(f"budget_tokens is {self.budget_tokens}, at least 1 is needed")
        if self.learnings_limit < 0:
            raise InvalidSpec(f"learnings_limit is {self.learnings_limit}, 0 leaves the section out")
        for brief in self.briefs:
            if is_blank(brief.heading):
                raise InvalidSpec("a brief's heading is blank")
            if is_blank(brief.question):
                raise InvalidSpec(f"brief {brief.heading!r} asks a blank question")

    def recall(self) -> HolisticRecall:
        """Return the holistic recall that fills the document."""
        sections = [self._answered(brief) for brief in self.briefs]
        if self.learnings_limit:
            wanted = MetaFilter(reach=self.reach, kinds=(ItemKind.LEARNING,))
            sections.append(
                ScopeSection(heading="Learnings", filter=wanted, limit=self.learnings_limit, query=Latest())
            )
        return HolisticRecall(sections=tuple(sections), budget_tokens=self.budget_tokens, title="Context")

    def _answered(self, brief: Brief) -> ScopeSection:
        wanted = brief.filter if self.reach is None else brief.filter.model_copy(update={"reach": self.reach})
        answer = Answer(question=brief.question, instructions=INSTRUCTIONS)
        return ScopeSection(heading=brief.heading, filter=wanted, limit=BRIEF_LIMIT, query=answer)


class ContextDoc(Value):
    """A compiled `context.md`; empty markdown and 0 tokens when memory holds nothing on it.

    Attributes:
        markdown: Frontmatter and block, ending in a newline.
        tokens: Of the whole document, frontmatter included.
        generated_at: When it was compiled, in whole seconds.
        engine: The engine's id.
        refs: Ids the block cites, in the order of their first citation.
        failed: Sections that are missing because the engine failed, with its error; who keeps a document in a file
            leaves the last whole one there.
    """

    omitted: ClassVar[frozenset[str]] = frozenset({"failed"})
    markdown: str
    tokens: int
    generated_at: Instant
    engine: str
    refs: tuple[str, ...] = ()
    failed: tuple[SkippedSection, ...] = ()


class ContextCompiler:
    """Compiles `context.md` documents.

    Args:
        at: The time every document says it was generated; the present when not given.
    """

    def __init__(self, at: Instant | datetime | None = None) -> None:
        self._at = Instant.of(at) if isinstance(at, datetime) else at

    def compile(self, engine: MemoryEngine, spec: ContextSpec | None = None) -> ContextDoc:
        """Read *engine* as *spec* says and return the document.

        A brief that finds nothing is left out, one that fails too, and that is reported. The engine's `recall` may run
        a model for each brief.

        Raises:
            InvalidSpec: *spec* is malformed.
        """
        wanted = spec or ContextSpec()
        wanted.check()
        recall = wanted.recall()
        draft = _Draft(self._generated_at(), engine.descriptor.id, settle(recall, gather(engine, recall)))
        return draft.fitted(recall.budget_tokens)

    def _generated_at(self) -> Instant:
        moment = self._at or Instant.of(datetime.now(UTC))
        return Instant(moment.ns - moment.ns % 1_000_000_000)


class _Draft:
    """A document whose frontmatter counts itself."""

    def __init__(self, at: Instant, engine: str, settled: Settled) -> None:
        self._at = at
        self._engine = engine
        self._block = Block("Context", settled.filled)
        self._failed = tuple(section for section in settled.skipped if section.reason != EMPTY)

    def fitted(self, budget: int) -> ContextDoc:
        self._block.fit(budget, lambda block: self._measured(block.characters(), block.refs()))
        block = self._block.markdown()
        refs = self._block.refs()
        total = self._measured(len(block), refs) if block else 0
        markdown = self._frontmatter(total, refs) + block if block else ""
        return ContextDoc(
            markdown=markdown,
            tokens=total,
            generated_at=self._at,
            engine=self._engine,
            refs=refs,
            failed=self._failed,
        )

    def _measured(self, characters: int, refs: Sequence[str]) -> int:
        """Return the tokens of the whole document: the number it states is part of what is counted."""
        total = 0
        for _ in range(_DRAFTS):
            counted = tokens(len(self._frontmatter(total, refs)) + characters)
            if counted == total:
                break
            total = counted
        return total

    def _frontmatter(self, total: int, refs: Sequence[str]) -> str:
        head = f"---\ngenerated_at: {self._at}\nengine: {self._engine}\n"
        return f"{head}tokens: {total}\nrefs: [{', '.join(refs)}]\n---\n\n"


def compile(engine: MemoryEngine, spec: ContextSpec | None = None) -> ContextDoc:  # noqa: A001  # the spec's name
    """Compile a `context.md` now; see `ContextCompiler.compile`."""
    return ContextCompiler().compile(engine, spec)
