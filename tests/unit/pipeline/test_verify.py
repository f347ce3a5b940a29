"""`verify` tells how books and engine differ; after `mend` the next sync makes them agree."""

from typing import Any

from connectors.testing.scripted import ScriptedConnector
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.model.meta import MemoryMeta, SourceKind, SourceRef
from corebrain.model.requests import ForgetTarget
from pipeline.verify import mend, verify

DOCUMENTS = MemoryLayout().brain_filter(BrainSource.FILES)


def test_a_true_brain_agrees(bench: Any) -> None:
    bench.sync(ScriptedConnector({"a.md": "# A\n\nText.", "b.md": "# B\n\nText."}))
    found = verify(bench.state.ledger("scripted"), bench.engine, DOCUMENTS)
    assert found.agrees
    assert found.documents == 2


def test_what_the_engine_lost_and_what_nobody_recorded_is_found_and_mended(bench: Any) -> None:
    source = ScriptedConnector({"a.md": "# A\n\nText.", "b.md": "# B\n\nText."})
    bench.sync(source)
    ledger = bench.state.ledger("scripted")
    record = ledger.record_of("a.md")
    bench.engine.forget(ForgetTarget.of_ids(record.facts[0].id))
    meta = MemoryMeta(source=SourceRef(kind=SourceKind.FILE, id="scripted"), file_path="old.md")
    stranger = bench.engine.store(
        BrainDocument(source=BrainSource.FILES, text="left over", meta=meta).into_item(MemoryLayout())
    ).id
    other = MemoryMeta(source=SourceRef(kind=SourceKind.FILE, id="another"))
    bench.engine.store(BrainDocument(source=BrainSource.FILES, text="kept", meta=other).into_item(MemoryLayout()))
    found = verify(ledger, bench.engine, DOCUMENTS)
    assert (found.missing, found.strangers) == (("a.md",), (stranger,))
    assert not found.agrees
    assert bench.sync(source).stored == 0, "an unchanged listing alone does not tell"
    mend(ledger, found)
    report = bench.sync(source)
    assert (report.new, report.forgotten) == (1, 1)
    assert verify(ledger, bench.engine, DOCUMENTS).agrees
    assert "left over" not in bench.engine.texts().values()
    assert len(bench.engine) == 3
