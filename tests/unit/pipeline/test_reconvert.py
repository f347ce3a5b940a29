"""An improved converter, or another scrub, changes what is held when asked, and only what it would change."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from connectors.contract import Blob
from connectors.testing.scripted import ScriptedConnector
from corebrain.brain import Brain
from corebrain.documents.sniff import sniff_raw
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import UnsupportedFormat
from pipeline.options import SyncOptions
from pipeline.report import SourceReport, line
from pipeline.scrubbing import Scrub
from pipeline.source import Source
from pipeline.state.schema import MIGRATIONS
from pipeline.state.sqlite import SqliteState
from pipeline.syncing import sync_all

KEY = "AKIAIOSFODNN7EXAMPLE"


@dataclass
class Improving:
    """A converter whose parsers have versions; `style` is what a new version of the CSV parser writes."""

    csv: int = 1
    style: str = "{}"
    zips: bool = False
    name: str = "improving"
    version: int = 1

    def supports(self, format: str) -> bool:  # noqa: A002 - the contract's word
        return format != "zip" or self.zips

    def version_of(self, format: str) -> str:  # noqa: A002 - the contract's word
        return f"csv/{self.csv}" if format == "csv" else f"{format}/1"

    def convert(self, raw: RawDocument) -> ConvertedDocument:
        found = sniff_raw(raw)
        if not self.supports(found):
            raise UnsupportedFormat("no zip")
        text = raw.read().decode(errors="replace")
        markdown = self.style.format(text) if found == "csv" else text
        return ConvertedDocument(markdown, None, found, None, "improving", None, raw.size())


def synced(bench: Any, source: ScriptedConnector, converter: Any, scrub: Scrub = "off", **options: Any) -> SourceReport:
    chosen = SyncOptions(threads=2, **options)
    one = Source(source.name, source, Brain(bench.engine, bench.layout), chosen, converter=converter, scrub=scrub)
    return sync_all([one], bench.state, bench.host()).sources[0]


def test_only_what_the_new_version_reads_is_fetched_and_converted(bench: Any) -> None:
    source = ScriptedConnector({"a.csv": "x,y", "b.csv": "1,2", "c.md": "# C"})
    synced(bench, source, Improving())
    source.fetches.clear()
    better = Improving(csv=2, style="| {} |")
    report = synced(bench, source, better)
    assert (source.fetches, report.unchanged, report.outdated) == ([], 3, 2), "nobody asked"
    report = synced(bench, source, better, reconvert=True)
    assert sorted(source.fetches) == ["a.csv", "b.csv"]
    assert (report.changed, report.unchanged, report.forgotten, report.outdated, report.listed) == (2, 1, 2, 0, 3)
    assert bench.engine.texts() == {"a.csv": "| x,y |", "b.csv": "| 1,2 |", "c.md": "# C"}
    source.fetches.clear()
    report = synced(bench, source, better, reconvert=True)
    assert (source.fetches, report.unchanged, report.stored) == ([], 3, 0)


def test_a_new_version_that_gives_the_same_text_stores_nothing_and_is_noted(bench: Any) -> None:
    source = ScriptedConnector({"a.csv": "x,y"})
    synced(bench, source, Improving())
    report = synced(bench, source, Improving(csv=2), reconvert=True)
    assert (report.unchanged, report.stored, report.forgotten, report.outdated) == (1, 0, 0, 0)


def test_what_is_pinned_stays_while_the_bytes_stay(bench: Any) -> None:
    source = ScriptedConnector()
    source.put("a.csv", "x,y", tags=("first",))
    synced(bench, source, Improving())
    source.put("a.csv", "x,y", tags=("later",))
    synced(bench, source, Improving(csv=2, style="| {} |"), reconvert=True)
    (item,) = bench.engine._items.values()
    assert (item.text, item.meta.tags) == ("| x,y |", ("first",))


def test_a_dry_run_tells_how_many_would_be_converted(bench: Any) -> None:
    source = ScriptedConnector({"a.csv": "x,y", "c.md": "# C"})
    synced(bench, source, Improving())
    report = synced(bench, source, Improving(csv=2), reconvert=True, dry_run=True)
    assert (report.changed, report.unchanged, report.listed) == (1, 1, 2)


def test_what_was_set_aside_is_tried_with_the_new_converter(bench: Any) -> None:
    source = ScriptedConnector({"a.zip": "PK\3\4 not quite a zip"})
    assert len(synced(bench, source, Improving()).set_aside) == 1
    assert len(synced(bench, source, Improving(zips=True)).set_aside) == 1, "it is not due"
    report = synced(bench, source, Improving(zips=True), reconvert=True)
    assert (report.set_aside, report.new) == ((), 1)


def test_a_document_that_the_new_converter_refuses_keeps_its_text_and_is_asked_for_no_more(bench: Any) -> None:
    class Refusing(Improving):
        def convert(self, raw: RawDocument) -> ConvertedDocument:
            raise UnsupportedFormat(f"no more of {raw.filename}")

    source = ScriptedConnector({"a.csv": "x,y"})
    synced(bench, source, Improving())
    report = synced(bench, source, Refusing(csv=2), reconvert=True)
    assert ([aside.key for aside in report.set_aside], report.outdated) == (["a.csv"], 0)
    assert bench.engine.texts() == {"a.csv": "x,y"}


def test_a_part_of_the_source_that_cannot_be_listed_is_left_alone(bench: Any) -> None:
    source = ScriptedConnector({"a/1.csv": "x,y", "b/2.csv": "1,2"})
    synced(bench, source, Improving())
    source.faults.fail("b/")
    source.fetches.clear()
    synced(bench, source, Improving(csv=2, style="| {} |"), reconvert=True)
    assert source.fetches == ["a/1.csv"]
    assert bench.engine.texts() == {"a/1.csv": "| x,y |", "b/2.csv": "1,2"}


def test_a_version_of_a_parts_format_counts_for_its_document(bench: Any) -> None:
    source = ScriptedConnector()
    source.put("mail.md", "# Mail", parts=(Blob(b"x,y", filename="t.csv"),))
    synced(bench, source, Improving())
    assert synced(bench, source, Improving(csv=2)).outdated == 1


def test_secrets_are_redacted_before_the_engine_sees_them_and_counted(bench: Any) -> None:
    source = ScriptedConnector({f"{KEY}.md": f"# Key {KEY}\n\nThe key is {KEY}, card 4111 1111 1111 1111."})
    report = synced(bench, source, Improving(), "secrets")
    (item,) = bench.engine._items.values()
    assert item.text == "# Key [REDACTED]\n\nThe key is [REDACTED], card 4111 1111 1111 1111."
    assert item.title == "Key [REDACTED]"
    assert report.redactions == 3, "two in the text, one in the title made of it"
    assert report.to_dict()["redactions"] == 3
    assert "3 redacted" in line(report)


def test_all_redacts_personal_numbers_too(bench: Any) -> None:
    synced(bench, ScriptedConnector({"a.md": "Card 4111 1111 1111 1111."}), Improving(), "all")
    assert bench.engine.texts() == {"a.md": "Card [REDACTED_PII_CREDIT_CARD]."}


def test_without_a_scrub_nothing_is_redacted(bench: Any) -> None:
    report = synced(bench, ScriptedConnector({"a.md": "password reset"}), Improving())
    assert bench.engine.texts() == {"a.md": "password reset"}
    assert "redactions" not in report.to_dict()


def test_what_the_state_keeps_of_a_title_is_redacted_too(bench: Any) -> None:
    class Titled(Improving):
        def convert(self, raw: RawDocument) -> ConvertedDocument:
            return replace(super().convert(raw), title=f"Key {KEY}")

    source = ScriptedConnector({"a.md": "Text."})
    synced(bench, source, Titled(), "secrets")
    (record,) = bench.state.ledger("scripted").records()
    assert [fact.title for fact in record.facts] == ["Key [REDACTED]"]


def test_another_scrub_is_another_version(bench: Any) -> None:
    source = ScriptedConnector({"a.md": f"Key {KEY}", "b.md": "Nothing here."})
    synced(bench, source, Improving())
    assert synced(bench, source, Improving(), "secrets").outdated == 2
    report = synced(bench, source, Improving(), "secrets", reconvert=True)
    assert (report.changed, report.unchanged, report.redactions, report.outdated) == (1, 1, 1, 0)
    assert bench.engine.texts()["a.md"] == "Key [REDACTED]"


def test_a_moved_document_does_not_carry_its_secrets_past_a_new_scrub(bench: Any) -> None:
    source = ScriptedConnector({"a.md": f"Key {KEY}"})
    synced(bench, source, Improving())
    source.rename("a.md", "b.md")
    synced(bench, source, Improving(), "secrets")
    assert bench.engine.texts() == {"b.md": "Key [REDACTED]"}


def test_a_moved_document_of_an_older_converter_is_converted_anew(bench: Any) -> None:
    source = ScriptedConnector({"a.csv": "x,y"})
    synced(bench, source, Improving())
    source.rename("a.csv", "b.csv")
    synced(bench, source, Improving(csv=2, style="| {} |"))
    assert bench.engine.texts() == {"b.csv": "| x,y |"}


def test_a_moved_document_is_still_a_move_under_the_same_scrub(bench: Any) -> None:
    source = ScriptedConnector({"a.md": f"Key {KEY}"})
    synced(bench, source, Improving(), "secrets")
    source.rename("a.md", f"{KEY}.md")
    report = synced(bench, source, Improving(), "secrets")
    (item,) = bench.engine._items.values()
    assert (report.moved, item.title, item.text) == (1, "[REDACTED].md", "Key [REDACTED]")


@pytest.mark.parametrize("known", [True, False])
def test_records_of_the_first_schema_count_as_outdated(bench: Any, tmp_path: Path, *, known: bool) -> None:
    path = tmp_path / "state.db"
    bench.state = SqliteState(path)
    source = ScriptedConnector({"c.md": "# C"})
    synced(bench, source, Improving())
    bench.state.close()
    if not known:
        with apsw.Connection(str(path)) as connection:
            connection.execute(
                "DROP INDEX document_version; ALTER TABLE document DROP COLUMN version;"
                " ALTER TABLE source DROP COLUMN touched"
            )
            connection.pragma("user_version", min(MIGRATIONS))
        connection.close()
    bench.state = SqliteState(path)
    assert synced(bench, source, Improving()).outdated == (0 if known else 1)
