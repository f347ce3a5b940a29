"""The converter that is meant when none is named: the registry, with its parsers behind a pool of workers."""

import importlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Protocol, Self, cast

from corebrain.documents.picture_text import PictureText
from corebrain.documents.pool import Limits, ParserMissing, ParserPool
from corebrain.documents.registry import IN_PROCESS, LIGHT, Parser, check_choices, parsers_for, refusal_for
from corebrain.documents.sniff import check_container, sniff_raw
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import NeedsOcr, ParserDied, Refusal, TimedOut, UnsupportedFormat

_LEAST_S = 0.5  # what the last parser gets in any case


class _Module(Protocol):
    def convert(self, raw: RawDocument, format: str) -> ConvertedDocument: ...  # noqa: A002 - the contract's word


class RegistryConverter:
    """Converts every format of the registry; text here, all else in workers. Safe to use from several threads.

    A document takes at most `limits.wall_s` seconds of conversion, whatever is tried: while a fallback is left, a
    parser gets two thirds of the time that remains. Starting its first worker and waiting for a free one come on top.

    Args:
        workers: How many documents are converted at once (default two, or one on a single core).
        limits: What a worker may use.
        choices: `{format: parser}`, the `[documents]` table of the configuration.
        comments: Whether comments of Word documents are kept, as notes with their author.
        ocr: Languages whose words are read off pictures, as tesseract names them (`eng`, `deu+eng`); empty for no OCR.

    Raises:
        ConfigError: `choices` names an unknown format or parser, `ocr` no languages.
    """

    name = "corebrain"
    version = 1

    def __init__(
        self,
        *,
        workers: int | None = None,
        limits: Limits | None = None,
        choices: Mapping[str, str] | None = None,
        ocr: str = "",
        comments: bool = False,
    ) -> None:
        self._choices = dict(choices or {})
        check_choices(self._choices)
        self._pool = ParserPool(workers, limits or Limits())
        self._pictures = PictureText(self._pool, ocr)
        self._comments = comments

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def supports(self, format: str) -> bool:  # noqa: A002 - the contract's word
        """Whether a parser for this format is installed."""
        return any(not parser.missing() for parser in self._parsers(format))

    def convert(self, raw: RawDocument) -> ConvertedDocument:
        """Detect the format and convert.

        Raises:
            Refusal: Why it cannot be converted; `.advice` says what to do.
            EngineError: The converter was closed.
        """
        found = sniff_raw(raw)
        check_container(raw, found)
        parsers = [parser for parser in self._parsers(found) if not parser.missing()]
        if not parsers:
            raise refusal_for(found, self._choices)
        try:
            converted = self._first_that_answers(parsers, raw, found)
        except NeedsOcr as refusal:
            return self._pictures.instead(raw, found, refusal)
        return self._pictures.added(raw, found, converted)

    def version_of(self, format: str) -> str:  # noqa: A002 - the contract's word
        """Names and versions of what converts this format here, to tell what an update would change."""
        installed = [parser for parser in self._parsers(format) if not parser.missing()]
        parsers = [f"{each.name}/{each.version}{f':{each.argument}' * bool(each.argument)}" for each in installed]
        return " ".join(filter(None, [*parsers, self._pictures.version(format)]))

    def close(self) -> None:
        """Stop all workers; nothing but text is converted afterwards."""
        self._pool.close()

    def _parsers(self, format: str) -> tuple[Parser, ...]:  # noqa: A002 - the contract's word
        parsers = parsers_for(format, self._choices)
        if format == "docx" and self._comments:
            return tuple(replace(each, argument="comments") if each.lane == LIGHT else each for each in parsers)
        return parsers

    def _first_that_answers(self, parsers: list[Parser], raw: RawDocument, found: str) -> ConvertedDocument:
        left = self._pool.limits.wall_s
        failure: Refusal | None = None
        for place, parser in enumerate(parsers, start=1):
            share = left if place == len(parsers) else left * 2 / 3
            seconds: list[float] = []
            try:
                return self._run(parser, raw, found, share, seconds.append)
            except (TimedOut, ParserDied) as error:
                failure = failure or error
            except ParserMissing as error:
                advice = parser.advice() or "install it into the environment of this Python itself"
                failure = failure or UnsupportedFormat(f"{found} needs {error}, not installed here", advice=advice)
            left = max(left - sum(seconds), _LEAST_S)
        raise failure or refusal_for(found, self._choices)

    def _run(
        self, parser: Parser, raw: RawDocument, found: str, seconds: float, spent: Callable[[float], None]
    ) -> ConvertedDocument:
        if parser.lane == IN_PROCESS:
            return cast("_Module", importlib.import_module(parser.module)).convert(raw, found)
        return self._pool.convert(parser, raw, found, wall_s=seconds, spent=spent)


_lock = threading.Lock()
_default: RegistryConverter | None = None


def default_converter() -> RegistryConverter:
    """The process's one converter, made on first use; its workers end with the process or by `close_default`."""
    global _default  # noqa: PLW0603 - one pool a process is the point
    with _lock:
        if _default is None:
            _default = RegistryConverter()
        return _default


def close_default() -> None:
    """Stop the workers of `default_converter`; the next call of it starts anew."""
    global _default
    with _lock:
        converter, _default = _default, None
    if converter is not None:
        converter.close()
