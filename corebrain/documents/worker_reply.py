"""What a worker's answer means: a document, a refusal, or a parser that is missing or failed."""

import stat
from pathlib import Path
from typing import Final, cast

from corebrain import errors
from corebrain.documents.types import ConvertedDocument, Json, Part
from corebrain.documents.wire import Message
from corebrain.documents.worker_limits import Limits

_REFUSALS: Final[dict[str, type[errors.Refusal]]] = {
    kind.__name__: kind
    for kind in (
        errors.Encrypted,
        errors.NeedsOcr,
        errors.TooLarge,
        errors.Damaged,
        errors.Empty,
        errors.UnsupportedFormat,
        errors.TimedOut,
        errors.ParserDied,
    )
}


class ParserMissing(Exception):
    """The worker cannot import the parser; `str()` is the module that is not there."""


def read_reply(reply: Message, folder: Path, limits: Limits) -> ConvertedDocument:
    """The document of an answer.

    Args:
        reply: As `corebrain.documents.worker` describes it; a hostile document may have written it.
        folder: Where the worker left the attachments.
        limits: What they may weigh together.

    Raises:
        Refusal: The answer is one, or tells of a failure.
        ParserMissing: The worker could not import the parser.
    """
    try:
        if "converted" in reply:
            parts = _read_parts(cast("list[dict[str, str]]", reply["parts"]), folder, limits.parts)
            return _document(cast("dict[str, Json]", reply["converted"]), parts)
        if "refusal" in reply:
            raise _refusal(cast("dict[str, str]", reply["refusal"]))
    except (KeyError, TypeError, ValueError, OSError):
        raise errors.ParserDied("the parser's answer is not whole") from None
    if "missing" in reply:
        raise ParserMissing(str(reply["missing"]))
    if "memory" in reply:
        raise errors.ParserDied("the parser ran out of memory")
    raise errors.Damaged(f"the parser gave up: {reply.get('failed')}")


def _refusal(refusal: dict[str, str]) -> errors.Refusal:
    return _REFUSALS[refusal["kind"]](refusal["message"], advice=refusal["advice"])


def _read_parts(heads: list[dict[str, str]], folder: Path, limit: int) -> tuple[Part, ...]:
    parts: list[Part] = []
    left = limit
    for index, head in enumerate(heads):
        path = folder / f"part-{index}"
        status = path.lstat()  # a link could lead out of the folder
        left -= status.st_size
        if not stat.S_ISREG(status.st_mode) or left < 0:
            raise errors.TooLarge(f"the attachments are over {limit // 1_000_000} MB together")
        parts.append(Part(head["name"], head["media_type"], path.read_bytes()))
    return tuple(parts)


def _document(fields: dict[str, Json], parts: tuple[Part, ...]) -> ConvertedDocument:
    return ConvertedDocument(
        markdown=str(fields["markdown"]),
        title=cast("str | None", fields["title"]),
        format=str(fields["format"]),
        language=cast("str | None", fields["language"]),
        converter=str(fields["converter"]),
        pages=cast("int | None", fields["pages"]),
        size=cast("int", fields["size"]),
        tags=tuple(cast("list[str]", fields["tags"])),
        parts=parts,
        metadata=cast("dict[str, Json]", fields["metadata"]),
    )
