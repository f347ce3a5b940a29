"""What a whole run found, as values and as text a person can read."""

from enum import StrEnum
from typing import ClassVar

from corebrain.model.value import Value


class State(StrEnum):
    """How a check ended; all but the last two let an engine pass."""

    PASSED = "passed"
    NOT_OFFERED = "not offered"
    FAILED = "failed"
    RAISED = "raised"


class Outcome(Value):
    """One check's end; `detail` says what was wrong, `assertions` how much was compared."""

    omitted: ClassVar[frozenset[str]] = frozenset({"detail"})
    check: str
    passes_when: str
    state: State
    assertions: int
    detail: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the engine keeps this part of the contract; an optional operation may be refused."""
        return self.state in {State.PASSED, State.NOT_OFFERED}


class Report(Value):
    """All outcomes, in the order of the checks."""

    engine: str
    outcomes: tuple[Outcome, ...]

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return all(outcome.ok for outcome in self.outcomes)

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that did not pass."""
        return tuple(outcome.check for outcome in self.outcomes if not outcome.ok)

    def text(self) -> str:
        """Return one line a check, those that passed first; then what failed, and a sum."""
        good = [outcome for outcome in self.outcomes if outcome.ok]
        bad = [outcome for outcome in self.outcomes if not outcome.ok]
        lines = [f"conformance of {self.engine}", "", *(_line(outcome) for outcome in good)]
        if bad:
            lines.append("")
        for outcome in bad:
            lines += [_line(outcome), f"    due: {outcome.passes_when}", f"    found: {outcome.detail}"]
        compared = sum(outcome.assertions for outcome in self.outcomes)
        lines += ["", f"{len(good)} of {len(self.outcomes)} passed, {compared} answers compared"]
        return "\n".join(lines)


def _line(outcome: Outcome) -> str:
    return f"  {outcome.check:<18} {outcome.state.value:<12} {outcome.assertions:>4} compared"
