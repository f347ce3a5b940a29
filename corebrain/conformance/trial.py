"""One run of the suite over an engine: names nobody else uses, what it stored, and how its findings are told."""

import itertools
import time
from collections.abc import Callable
from typing import NoReturn

from corebrain.conformance import items
from corebrain.conformance.errors import CheckFailed, EngineFailed
from corebrain.contract import Item, MemoryEngine
from corebrain.errors import CorebrainError
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Document
from corebrain.model.namespace import Namespace, Segment, SegmentKind

_RUNS = itertools.count()


def fresh_nonce() -> str:
    """Return letters and digits that no other run has: nanoseconds in hex and a counter."""
    return f"{time.time_ns():x}x{next(_RUNS):x}"


class Trial:
    """What the checks of one run share.

    Every item carries `workspace` (or `probe_workspace`) and the word `marker`; every filter names the workspace, so
    items of others are never touched.

    Args:
        engine: The engine under test.
        nonce: Letters and digits that make the run's names its own.

    Raises:
        EngineFailed: the engine has no descriptor to read.
    """

    def __init__(self, engine: MemoryEngine, nonce: str | None = None) -> None:
        nonce = nonce or fresh_nonce()
        self.engine = engine
        try:
            self.engine_id = engine.descriptor.id
        except Exception as error:  # the border to an engine: whatever comes out of it is its failure
            raise EngineFailed("descriptor", error) from error
        self.workspace = f"tinymemory-conformance/{nonce}"
        self.probe_workspace = f"{self.workspace}/probes"
        self.marker = f"tmconf{nonce}"
        self.check = ""
        self.asserted = 0
        self.not_offered: list[str] = []
        self.round_trip: dict[str, Item] = {}
        """The round-trip items this run holds, under their receipts' ids."""

    def begin(self, check: str) -> None:
        """Count anew for the check of this name."""
        self.check = check
        self.asserted = 0
        self.not_offered = []

    def expect(self, holds: bool, detail: str) -> None:
        """Count one assertion; raise `CheckFailed` with *detail* unless it holds."""
        self.asserted += 1
        self.require(holds, detail)

    def require(self, holds: bool, detail: str) -> None:
        """Raise `CheckFailed` with *detail* unless what every answer must keep to holds; proves nothing by itself."""
        if not holds:
            self.fail(detail)

    def fail(self, detail: str) -> NoReturn:
        """Raise `CheckFailed` of the check that is running."""
        raise CheckFailed(self.check, detail, engine=self.engine_id)

    def refused(self, what: str, call: Callable[[], object], *allowed: type[CorebrainError]) -> None:
        """Make a call that must raise one of *allowed*."""
        named = " or ".join(kind.__name__ for kind in allowed)
        try:
            call()
        except allowed:
            self.asserted += 1
        except Exception as error:  # the border to an engine: any other error is a wrong answer
            raise CheckFailed(
                self.check,
                f"{what} must be {named}, it raised {type(error).__name__}: {error}",
                engine=self.engine_id,
            ) from error
        else:
            self.fail(f"{what} must be {named}, it was served")

    def note_unsupported(self, name: str) -> None:
        """Note that the engine answered an optional operation with `Unsupported`: an answer like another."""
        self.asserted += 1
        self.not_offered.append(name)

    def filter(self, **conditions: object) -> MetaFilter:
        """Return a filter of the run's workspace with further conditions."""
        return MetaFilter.model_validate({"workspace": self.workspace, **conditions})

    def node(self, label: str, kind: SegmentKind = SegmentKind.AGENT) -> Namespace:
        """Return a node of the run's own, one step below the root."""
        return Namespace((Segment(kind, f"{self.marker}-{label}"),))

    @property
    def service(self) -> Namespace:
        """The one sandbox in which the run stores."""
        return self.node("s", SegmentKind.SERVICE)

    def document(self, label: str, **meta: object) -> Document:
        """Return the document "L" of spec 05: `{marker} L note` with the run's metadata."""
        return items.document(self.workspace, f"{self.marker} {label} note", **meta)

    def hold_round_trip(self) -> dict[str, Item]:
        """Store the round-trip items unless this run did already; return them under their receipts' ids."""
        if not self.round_trip:
            for item in items.round_trip(self.workspace, self.marker):
                self.round_trip[self.engine.store(item).id] = item
        return self.round_trip
