"""What is done while no source is synced: belief builds that wait, the engine's own upkeep, the brief in a file."""

from collections.abc import Callable

from corebrain.background import BackgroundRunner
from corebrain.contract import MemoryEngine
from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import CorebrainError
from corebrain.jobs import read_job
from corebrain.layout import MemoryLayout
from pipeline.brief import KeptBrief
from pipeline.state.contract import StateStore
from pipeline.unembedded import unembedded

BUDGET_S = 1.0
"""Seconds of the engine's upkeep at a time: a stop never waits longer for it."""

LOOK_S = 300.0
"""Seconds between two looks at what waits to be embedded: agents store too, and a server that was down comes back."""


class Upkeep:
    """Idle work, step by step.

    Args:
        engine: Whose beliefs and indexes.
        layout: The brain's.
        state: Where jobs wait; equal ones are one.
        now: Seconds since the epoch.
        say: Called with a line for people.
        build_beliefs: Whether waiting builds are run; else they wait for `brain jobs run`.
        brief: What is written once all else is done, and when it has grown old.
    """

    def __init__(
        self,
        engine: MemoryEngine,
        layout: MemoryLayout,
        state: StateStore,
        *,
        now: Callable[[], float],
        say: Callable[[str], None],
        build_beliefs: bool = False,
        brief: KeptBrief | None = None,
    ) -> None:
        self._engine = engine
        self._runner = BackgroundRunner(engine, layout)
        self._state = state
        self._now = now
        self._say = say
        self._build_beliefs = build_beliefs
        self._brief = brief
        self._later: set[int] = set()
        self._looked = now()

    def is_due(self) -> bool:
        """Tell whether there is something to do although no sync brought anything."""
        return (self._brief is not None and self._brief.is_due()) or self._waits_to_be_embedded()

    def _waits_to_be_embedded(self) -> bool:
        if self._now() - self._looked < LOOK_S:
            return False
        self._looked = self._now()
        try:
            return unembedded(self._engine) > 0
        except CorebrainError as error:
            self._say(f"the engine cannot be read: {error.message}")
            return False

    def step(self) -> bool:
        """Run one waiting job, or a second of upkeep; returns whether more waits."""
        jobs = self._state.jobs() if self._build_beliefs else []
        waiting = [(number, body) for number, body in jobs if number not in self._later]
        if waiting:
            self._run(*waiting[0])
            return True
        more = self._maintain()
        if not more:
            self._later.clear()  # tried again once there is something new to do
            if self._brief is not None:
                self._brief.write()
        return more

    def _maintain(self) -> bool:
        try:
            return isinstance(self._engine, LocalEngine) and self._engine.maintain(BUDGET_S).left > 0
        except CorebrainError as error:
            self._say(f"the engine's upkeep failed: {error.message}")
            return False

    def _run(self, number: int, body: str) -> None:
        job = read_job(body)
        try:
            report = self._runner.run(job)
        except CorebrainError as error:
            self._later.add(number)
            self._say(f"{job.name} failed, it is kept for the next time: {error.message}")
            return
        for follow_up in report.follow_ups:
            self._state.add_job(follow_up.to_json(), self._now())
        self._state.drop_job(number)  # one that was asked for meanwhile has another number
        self._say(f"{job.name}: {report.outcome.outcome.value}")
