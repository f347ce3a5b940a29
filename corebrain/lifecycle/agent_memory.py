"""One agent's memory at the moments of a turn (spec 03 section 3)."""

from collections.abc import Iterable, Sequence
from functools import partial

from corebrain.background import BackgroundRunner
from corebrain.brain import Brain
from corebrain.contract import Item, MemoryEngine
from corebrain.errors import InvalidRequest
from corebrain.jobs import BuildBeliefs, IngestBrain, JobReport
from corebrain.layout import MemoryLayout
from corebrain.lifecycle.core import CoreScope, check_core
from corebrain.lifecycle.policy import RecallPolicy
from corebrain.lifecycle.reports import PostTurnReport, TurnContext
from corebrain.lifecycle.sections import dropped_turns, resumed_thread, standard_sections
from corebrain.lifecycle.turns import Moment, gist, named_thread, stored_turn
from corebrain.model.item import Conversation, Role, Turn
from corebrain.model.meta import ItemKind, ToolCallRef
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import ConsolidateRequest, Consolidation, StoreReceipt, WriteOptions
from corebrain.model.text import trim
from corebrain.recall.failure import honest, typed
from corebrain.recall.holistic import holistic_recall
from corebrain.recall.powers import gains_by_threads
from corebrain.recall.together import both
from corebrain.recall.types import ContextPack, HolisticRecall, ScopeSection, ThreadWindow
from corebrain.tools.memory_tools import MemoryTools


class AgentMemory:
    """What one agent reads and writes, as calls for the moments of its turns. Immutable; safe to share by threads.

    No call leaves anything running, and `pre_turn` and `post_turn` never run a model.

    Args:
        engine: Where memory is kept.
        layout: The tree it is kept in.
        agent_id: The host's id of the agent, any text; trimmed.

    Raises:
        InvalidRequest: the id is blank.
    """

    def __init__(self, engine: MemoryEngine, layout: MemoryLayout, agent_id: str) -> None:
        name = trim(agent_id)
        if not name:
            raise InvalidRequest("the agent id is blank")
        self._engine = engine
        self._layout = layout
        self._agent_id = name
        self._policy = RecallPolicy()
        self._core: tuple[CoreScope, ...] = ()

    @property
    def engine(self) -> MemoryEngine:
        """Where memory is kept."""
        return self._engine

    @property
    def layout(self) -> MemoryLayout:
        """The tree memory is kept in."""
        return self._layout

    @property
    def agent_id(self) -> str:
        """The agent's id, trimmed."""
        return self._agent_id

    @property
    def namespace(self) -> Namespace:
        """The node of the agent's turns."""
        return self._layout.conversations(self._agent_id)

    @property
    def policy(self) -> RecallPolicy:
        """How much is recalled."""
        return self._policy

    @property
    def core(self) -> tuple[CoreScope, ...]:
        """The core scopes, in the order of their sections."""
        return self._core

    def with_policy(self, policy: RecallPolicy) -> "AgentMemory":
        """Return a copy that recalls by *policy*."""
        return self._copy(policy, self._core)

    def with_core(self, scopes: Iterable[CoreScope]) -> "AgentMemory":
        """Return a copy whose core scopes are *scopes*; none drops them.

        Raises:
            InvalidRequest: a node not strictly above the layout root, a blank heading, or a node named twice.
        """
        held = tuple(scopes)
        check_core(self._layout, held)
        return self._copy(self._policy, held)

    def _copy(self, policy: RecallPolicy, core: tuple[CoreScope, ...]) -> "AgentMemory":
        copy = AgentMemory(self._engine, self._layout, self._agent_id)
        copy._policy = policy
        copy._core = core
        return copy

    def brain(self) -> Brain:
        """Return the company brain this agent reads."""
        return Brain(self._engine, self._layout)

    def background(self) -> BackgroundRunner:
        """Return what runs the jobs that calls hand back."""
        return BackgroundRunner(self._engine, self._layout)

    def tools(self) -> MemoryTools:
        """Return tools for the model: writing at the agent's node, reading it and its ancestors."""
        return MemoryTools(self._engine).placed_at(self.namespace)

    def start_session(self, thread_id: str | None = None, focus: str | None = None) -> ContextPack:
        """Return what an agent should know when a session starts or resumes.

        Args:
            thread_id: The thread taken up again: its newest turns come first.
            focus: What to rank for; without one every section shows its newest.

        Raises:
            InvalidRequest: a blank thread id, or a policy with a zero budget.
        """
        sections = self._standard()
        if thread_id is not None:
            thread = named_thread(thread_id)
            history = self._layout.conversations_filter(self._agent_id)
            sections.insert(0, resumed_thread(history, thread, self._policy))
        return holistic_recall(self._engine, self._recall(sections, focus))

    def pre_turn(
        self, thread_id: str, turn_index: int, user_text: str, in_prompt_from: int = 0, at: Moment | None = None
    ) -> TurnContext:
        """Log what the user said and recall for it, at once.

        The pack holds neither this turn nor any turn of its thread from *in_prompt_from* on. An engine that fails
        costs sections, or the log, and is reported; it is never raised.

        Args:
            thread_id: The conversation.
            turn_index: The turn's place in it, from 0, user and assistant turns counted alike.
            user_text: What the user said; also what is ranked for.
            in_prompt_from: First turn of the thread that the prompt still holds; 0 holds it all.
            at: When the message was sent. Pass it: without, an outdated value and its correction look alike.

        Raises:
            InvalidRequest: a blank thread id or text, a bad index or time, text that cannot be stored, or a policy
                with a zero budget; nothing was sent.
        """
        item = self._turn(thread_id, turn_index, Role.USER, user_text, at)
        window = ThreadWindow(thread_id=named_thread(thread_id), from_turn=in_prompt_from)
        recall = self._recall(self._standard(), item.turns[0].text).model_copy(
            update={"exclude_ids": (item.fingerprint(),), "exclude_thread": window}
        )
        recall.validate()
        pack, (logged, log_error) = both(
            partial(holistic_recall, self._engine, recall),
            partial(_logged, self._engine, item),
            threads=gains_by_threads(self._engine),
        )
        return TurnContext(pack=pack, logged=logged, log_error=log_error)

    def post_turn(
        self,
        thread_id: str,
        turn_index: int,
        assistant_text: str,
        tool_calls: Iterable[ToolCallRef] = (),
        at: Moment | None = None,
    ) -> PostTurnReport:
        """Log the reply; hand back a belief build when one is due.

        Args:
            thread_id: The conversation.
            turn_index: The reply's place in it.
            assistant_text: The reply.
            tool_calls: The tools called for it, by name and id.
            at: When it was given.

        Raises:
            InvalidRequest: as for `pre_turn`.
            CorebrainError: the engine failed; the same call again stores the reply once.
        """
        item = self._turn(thread_id, turn_index, Role.ASSISTANT, assistant_text, at, tool_calls)
        receipt = honest(StoreReceipt, self._engine.store_with(item, WriteOptions.accepted()))
        return PostTurnReport(receipt=receipt, jobs=(self.history_build(),) if self._is_build_due(turn_index) else ())

    def recall_for_compaction(self, thread_id: str, dropped: Sequence[Turn], focus: str | None = None) -> ContextPack:
        """Return what should stand in place of turns that leave the prompt: a summary of the thread, then the rest.

        May run a model, if the engine's `recall` does.

        Args:
            thread_id: The conversation.
            dropped: The turns that leave, oldest first.
            focus: What the rest is ranked for; without one, the gist of the dropped turns.

        Raises:
            InvalidRequest: a blank thread id, or a policy with a zero budget.
        """
        thread = named_thread(thread_id)
        history = self._layout.conversations_filter(self._agent_id)
        sections = [dropped_turns(history, thread, self._policy, len(dropped)), *self._standard()]
        query = focus if focus is not None and trim(focus) else gist(dropped)
        return holistic_recall(self._engine, self._recall(sections, query))

    def recall(self, query: str | None = None) -> ContextPack:
        """Return the standard sections for *query*, blank for the newest; nothing is logged or left out.

        Raises:
            InvalidRequest: a policy with a zero budget.
        """
        return holistic_recall(self._engine, self._recall(self._standard(), query))

    def run_background(self, job: BuildBeliefs | IngestBrain) -> JobReport:
        """Run a job that a call handed back; see `BackgroundRunner.run`."""
        return self.background().run(job)

    def history_build(self) -> BuildBeliefs:
        """Return the belief build of the agent's conversations, for any engine."""
        request = ConsolidateRequest(reach=Reach.exact(self.namespace), kinds=(ItemKind.CONVERSATION,))
        return BuildBeliefs(request=request)

    def promote(self, node: Namespace, item: Item) -> StoreReceipt:
        """Store *item* at a configured core node, whatever node it names; readable on return.

        Only a host promotes: what stands there reaches every agent below.

        Raises:
            InvalidRequest: *node* is not configured, *item* is a conversation, or the scope does not read its kind.
        """
        scope = self._core_at(node)
        if isinstance(item, Conversation):
            raise InvalidRequest("a conversation cannot be promoted, only a learning or a document")
        if scope.kinds and item.kind not in scope.kinds:
            raise InvalidRequest(f"core scope {node} does not read a {item.kind.value}")
        return self._engine.store(item.with_meta(item.meta.model_copy(update={"namespace": node})))

    def core_build(self, node: Namespace) -> BuildBeliefs:
        """Return the belief build of a configured core node, every kind; `InvalidRequest` when it is not configured."""
        return BuildBeliefs(request=ConsolidateRequest(reach=Reach.exact(self._core_at(node).at)))

    def _core_at(self, node: Namespace) -> CoreScope:
        for scope in self._core:
            if scope.at == node:
                return scope
        raise InvalidRequest(f"{node} is not a configured core scope")

    def _standard(self) -> list[ScopeSection]:
        return standard_sections(self._layout, self._agent_id, self._policy, self._core)

    def _recall(self, sections: Sequence[ScopeSection], query: str | None) -> HolisticRecall:
        return HolisticRecall(
            query=query,
            sections=tuple(sections),
            budget_tokens=self._policy.budget_tokens,
            section_timeout_s=self._policy.section_timeout_s,
        )

    def _turn(
        self,
        thread_id: str,
        turn_index: int,
        role: Role,
        text: str,
        at: Moment | None,
        tool_calls: Iterable[ToolCallRef] = (),
    ) -> Conversation:
        return stored_turn(
            self._layout, self._agent_id, thread_id, turn_index, role=role, text=text, at=at, tool_calls=tool_calls
        )

    def _is_build_due(self, turn_index: int) -> bool:
        every = self._policy.build_beliefs_every
        if not every or (turn_index + 1) % every:
            return False
        return self._engine.descriptor.consolidation is not Consolidation.AUTOMATIC


def _logged(engine: MemoryEngine, item: Conversation) -> tuple[StoreReceipt | None, str | None]:
    try:
        return honest(StoreReceipt, engine.store_with(item, WriteOptions.accepted())), None
    except Exception as error:  # noqa: BLE001  # the border to any engine: a failed log is reported beside a good pack
        return None, str(typed(error))
