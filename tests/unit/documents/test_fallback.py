"""How the registry's converter goes through the parsers of a format."""

from collections.abc import Callable

import pytest

from corebrain.documents import default_converter as module
from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.pool import Limits, ParserMissing, ParserPool
from corebrain.documents.registry import Parser
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import ConfigError, Damaged, ParserDied, Refusal, TimedOut, UnsupportedFormat

FIRST, SECOND = Parser("first", "one"), Parser("second", "two")


def _answers(
    monkeypatch: pytest.MonkeyPatch, outcomes: dict[str, Exception]
) -> tuple[RegistryConverter, list[tuple[str, float | None]]]:
    """A converter with two parsers for CSV, of which those named fail; and the calls made."""
    calls: list[tuple[str, float | None]] = []

    def convert(
        _: ParserPool,
        parser: Parser,
        raw: RawDocument,
        format: str,  # noqa: A002 - the contract's word
        *,
        wall_s: float | None = None,
        spent: Callable[[float], None],
    ) -> ConvertedDocument:
        calls.append((parser.name, wall_s))
        spent(5.0)
        if parser.name in outcomes:
            raise outcomes[parser.name]
        return ConvertedDocument("words", None, format, None, parser.name, None, raw.size())

    monkeypatch.setattr(module, "parsers_for", lambda *_: (FIRST, SECOND))
    monkeypatch.setattr(ParserPool, "convert", convert)
    return RegistryConverter(limits=Limits(wall_s=30)), calls


@pytest.mark.parametrize("failure", [TimedOut("late"), ParserDied("dead"), ParserMissing("one")])
def test_next_parser_takes_over_from_one_that_hung_died_or_is_missing(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    converter, calls = _answers(monkeypatch, {"first": failure})
    assert converter.convert(RawDocument(b"a,b", "a.csv")).converter == "second"
    assert calls == [("first", 20.0), ("second", 25.0)]


def test_refusal_is_final(monkeypatch: pytest.MonkeyPatch) -> None:
    converter, calls = _answers(monkeypatch, {"first": Damaged("cut off")})
    with pytest.raises(Damaged):
        converter.convert(RawDocument(b"a,b", "a.csv"))
    assert [name for name, _ in calls] == ["first"]


@pytest.mark.parametrize(
    ("first", "kind"),
    [(TimedOut("late"), TimedOut), (ParserDied("dead"), ParserDied), (ParserMissing("one"), UnsupportedFormat)],
)
def test_first_failure_is_told_when_all_fail(
    monkeypatch: pytest.MonkeyPatch, first: Exception, kind: type[Refusal]
) -> None:
    converter, _ = _answers(monkeypatch, {"first": first, "second": ParserMissing("two")})
    with pytest.raises(kind):
        converter.convert(RawDocument(b"a,b", "a.csv"))


def test_unknown_choice_is_refused_when_the_converter_is_made() -> None:
    with pytest.raises(ConfigError):
        RegistryConverter(choices={"pdf": "acrobat"})


def test_versions_are_told_without_a_parser_loaded() -> None:
    with RegistryConverter() as converter:
        assert converter.version_of("markdown") == "markdown/1"
        assert converter.supports("markdown")
        assert not converter.supports("unknown")
