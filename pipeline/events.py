"""What a sync logs, for machines: one event an item at debug, one a source at info, with fields beside the text.

Logger `corebrain.sync`. Every record has an attribute `event`, a dict of JSON values: `{"event": "item", "source",
"key", "outcome"}` with outcome `new`, `changed`, `moved`, `unchanged`, `gone` or `set aside` (then also `error`), or
`{"event": "source", …}` with the report's counts. Nothing is configured here; hosts attach handlers as they like.
"""

import logging

from pipeline.report import SourceReport, line

LOGGER = logging.getLogger("corebrain.sync")


def item(source: str, key: str, outcome: str, error: str | None = None) -> None:
    """Log what became of one document."""
    if LOGGER.isEnabledFor(logging.DEBUG):
        fields = {"event": "item", "source": source, "key": key, "outcome": outcome}
        if error is not None:
            fields["error"] = error
        why = f": {error}" if error is not None else ""
        LOGGER.debug("%s: %s %s%s", source, outcome, key, why, extra={"event": fields})


def finished(report: SourceReport) -> None:
    """Log how a source's sync ended."""
    if LOGGER.isEnabledFor(logging.INFO):
        fields = report.model_copy(update={"set_aside": ()}).to_dict()
        fields |= {"event": "source", "set_aside": len(report.set_aside)}
        LOGGER.info("%s", line(report), extra={"event": fields})
