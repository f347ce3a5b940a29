"""The labels of an event: some to look up by, some for people, none the server must understand (spec 04 section 4)."""

import re
from collections.abc import Iterator

from corebrain.engines.cortexdb.digests import label_digest
from corebrain.engines.cortexdb.envelope import Envelope
from corebrain.model.filter import MetaFilter, holds_phone_number, redacted_id

_THREAD = re.compile(r"thread-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_READABLE_BYTES = 256
_REDACTED = "tm-redacted:"


def item_label(item_id: str) -> str:
    """Return the label every event of an item carries first."""
    return f"tm:i:{label_digest(item_id)}"


def lookup_labels(envelope: Envelope) -> list[str]:
    """Return the labels reads are narrowed by, in their order on the wire."""
    meta = envelope.meta
    values = (
        ("t", meta.thread_id),
        ("s", meta.source.id),
        ("r", meta.repo),
        ("w", meta.workspace),
        ("a", meta.agent_id),
        ("l", meta.language),
        ("k", meta.source.kind.value),
    )
    labels = [item_label(envelope.id)]
    labels += [f"tm:{key}:{label_digest(value)}" for key, value in values if value is not None]
    if envelope.ws is not None:
        labels.append(f"tm:w:{envelope.ws[:16]}")
    return labels


def readable_labels(envelope: Envelope) -> list[str]:
    """Return the labels for people, those over 256 bytes left out; nothing filters on them."""
    return [label for label in _readable(envelope) if len(label.encode("utf-8")) <= _READABLE_BYTES]


def _readable(envelope: Envelope) -> Iterator[str]:
    meta, chunk = envelope.meta, envelope.chunk
    yield f"kind:{envelope.kind.value}"
    if meta.agent_id is not None and not meta.agent_id.startswith(_REDACTED):
        yield f"agent:{meta.agent_id}"
    if meta.thread_id is not None and _THREAD.fullmatch(meta.thread_id):
        yield f"thread:{meta.thread_id}"
    if meta.file_path is not None:
        yield f"file:{meta.file_path}"
    if chunk is not None:
        yield from (tag for tag in (chunk.page_tag, chunk.section_tag) if tag is not None)


def narrowing_labels(wanted: MetaFilter) -> list[str]:
    """Return the labels of the one field a read is narrowed by; any of them admits an event.

    The first set field counts; without one, the wanted source kinds; none at all does not narrow.
    """
    fields = (
        ("t", wanted.thread_id, True),
        ("s", wanted.source_id, True),
        ("r", wanted.repo, False),
        ("w", wanted.workspace, False),
        ("a", wanted.agent_id, True),
        ("l", wanted.language, False),
    )
    for key, value, is_id in fields:
        if value is None:
            continue
        forms = [value, redacted_id(value)] if is_id and holds_phone_number(value) else [value]
        return [f"tm:{key}:{label_digest(form)}" for form in forms]
    return [f"tm:k:{label_digest(kind.value)}" for kind in wanted.sources]
