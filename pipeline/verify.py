"""Asks the engine whether what the books say is there, and makes the books agree with it again."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from corebrain.contract import MemoryEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.requests import MAX_GET_IDS, GetRequest
from pipeline.rebuild import strangers
from pipeline.state.contract import Ledger
from pipeline.state.values import Record

_PAGE = 100


@dataclass(frozen=True, slots=True)
class Verification:
    """How the books of a source and the engine differ.

    Attributes:
        source: The source's name.
        documents: Records looked at.
        missing: Keys whose items the engine has not, or not all.
        strangers: Ids of this source's items that no record references.
    """

    source: str
    documents: int
    missing: tuple[str, ...]
    strangers: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether there is no difference."""
        return not self.missing and not self.strangers


def verify(ledger: Ledger, engine: MemoryEngine, documents: MetaFilter) -> Verification:
    """Compare every record with the engine; nothing is changed.

    Args:
        ledger: The source's books.
        engine: What should hold its documents.
        documents: The documents of the source's node.
    """
    missing: list[str] = []
    looked = 0
    for page in _pages(ledger.records()):
        looked += len(page)
        held = _held(engine, [fact.id for record in page for fact in record.facts])
        missing += [record.ref.key for record in page if any(fact.id not in held for fact in record.facts)]
    intended = {item for intent in ledger.intents().values() for item in intent.ids}
    unknown, _ = strangers(ledger, engine, documents, [])
    return Verification(ledger.name, looked, tuple(missing), tuple(item for item in unknown if item not in intended))


def mend(ledger: Ledger, found: Verification) -> None:
    """Make the books agree: what is missing is unknown to them, what is strange is to be forgotten.

    The next sync stores the missing documents again and forgets the strange items. Needs the source's lease.
    """
    ledger.end(found.missing)
    ledger.doom(found.strangers)


def _held(engine: MemoryEngine, ids: list[str]) -> set[str]:
    held: set[str] = set()
    for start in range(0, len(ids), MAX_GET_IDS):
        held |= {hit.id for hit in engine.get(GetRequest(ids=tuple(ids[start : start + MAX_GET_IDS])))}
    return held


def _pages(records: Iterator[Record]) -> Iterator[list[Record]]:
    while page := list(islice(records, _PAGE)):
        yield page
