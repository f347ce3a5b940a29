"""Times as the pipeline keeps and shows them: seconds since the epoch, RFC 3339 in UTC."""

from datetime import UTC, datetime


def printed(moment: float) -> str:
    """Return `YYYY-MM-DDTHH:MM:SSZ`."""
    return datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
