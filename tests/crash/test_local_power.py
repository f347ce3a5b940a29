"""What a store answered survives a power loss. Cuts are played as the recorder in `conftest` says."""

import random
import sys
from pathlib import Path
from typing import Any

import pytest

from corebrain.engines.local.engine import LocalEngine
from corebrain.model.item import Conversation, StoreItem
from corebrain.model.namespace import WHOLE_TREE
from corebrain.model.requests import ConsolidateRequest, ForgetTarget, ListRequest


def work(engine: LocalEngine, recorder: Any) -> list[tuple[int, frozenset[str]]]:
    """Store, build and forget; return, for each answer, how long the log was and what had to be held then."""
    held: set[str] = set()
    acknowledged = [(len(recorder.log), frozenset(held))]
    for batch in range(14):
        items = [StoreItem.document(f"batch {batch} number {n} " + "word " * 150 * n) for n in range(3)]
        talk = Conversation.from_dict(
            {"turns": [{"role": "user", "text": f"turn {batch}"}], "meta": {"namespace": "agent:a", "thread_id": "t"}}
        )
        held |= {receipt.id for receipt in engine.store_many([*items, talk])}
        acknowledged.append((len(recorder.log), frozenset(held)))
        if batch % 5 == 4:
            engine.consolidate(ConsolidateRequest(reach=WHOLE_TREE))
            engine.forget(ForgetTarget.of_ids(items[0].fingerprint()))
            held.discard(items[0].fingerprint())
            acknowledged.append((len(recorder.log), frozenset(held)))
    return acknowledged


@pytest.mark.slow
def test_what_was_answered_survives_a_power_loss_at_any_moment(tmp_path: Path, recorder: Any) -> None:
    engine = LocalEngine(tmp_path / "live" / "memory.db")
    acknowledged = work(engine, recorder)
    engine.close()
    log = recorder.log[: acknowledged[-1][0]]
    chance = random.Random(5)  # noqa: S311  # the same cuts every time
    first = acknowledged[0][0]
    assert sum(what == "sync" for what, *_ in log) > 20
    ends = sorted(chance.sample(range(first, len(log) + 1), 300))
    for number, end in enumerate(ends):
        folder = tmp_path / f"cut{number}"
        folder.mkdir()
        for name, content in recorder.cut(end, chance).items():
            (folder / name).write_bytes(content)
        answered = [held for length, held in acknowledged if length <= end][-1]
        under_way = [held for length, held in acknowledged if length > end][:1]
        with LocalEngine(folder / "memory.db") as survived:
            held = {each.id for each in survived.export(ListRequest(limit=1000)).items}
            assert held in [answered, *under_way]
            assert survived.verify(deep=number % 3 == 0) == []
    sys.stdout.write(f"\npower cuts: {len(ends)} of {len(ends)} whole; 0 acknowledged items lost, 0 torn, 0 corrupt\n")
