"""From the conditions of `brain search` to a filter."""

import re
from argparse import Namespace as Options
from collections.abc import Sequence

from corebrain.engines.local import times
from corebrain.errors import InvalidRequest
from corebrain.layout import MemoryLayout
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Namespace, Reach
from pipeline.errors import SetupError

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def narrowed(base: MetaFilter, layout: MemoryLayout, options: Options, now: Instant) -> MetaFilter:
    """Return *base*, a source's or the brain's filter, with the conditions of the command line.

    Raises:
        SetupError: A node or a time cannot be read.
    """
    update: dict[str, object] = {"tags_any": tuple(options.tag)}
    if options.kind:
        update["kinds"] = tuple(dict.fromkeys(map(ItemKind, options.kind)))
    if options.node is not None:
        update["reach"] = Reach.subtree(_node(options.node, layout))
    if options.since is not None:
        update["observed_after"] = _bounds(options.since, "--since", now)[0]
    if options.until is not None:
        update["observed_before"] = _bounds(options.until, "--until", now)[1]
    return base.model_copy(update=update)


def _node(path: str, layout: MemoryLayout) -> Namespace:
    """Read a node, below the brain's root whether it is named with it or without."""
    try:
        node = Namespace.parse(path)
        return node if node.is_within(layout.root) else layout.root.join(node)
    except InvalidRequest as error:
        raise SetupError(
            f"--node {path!r}: {error.message}; name a node as source:web or agent:coder/project:x"
        ) from error


def _bounds(when: str, option: str, now: Instant) -> Sequence[Instant]:
    """Return the first moment of a time and the first one after it."""
    if not _DATE.fullmatch(when):
        try:
            return (Instant.parse(when),) * 2
        except InvalidRequest:
            pass  # words, then
    named = times.period(when, now)
    if named is None:
        raise SetupError(
            f"cannot read {option} {when!r}: give a date as 2026-05-01, a time with its zone, or 'last week'"
        )
    return named.since, named.until
