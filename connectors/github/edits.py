"""Who edited a file last, and when: one more request for each document, on request."""

from dataclasses import dataclass
from datetime import datetime

from connectors.github.sending import Sender, understood
from connectors.github.transport import Repo


@dataclass(frozen=True, slots=True)
class Edit:
    """The last commit that touched a file.

    Attributes:
        at: When, aware.
        by: The author's name as the commit has it; empty when it has none.
    """

    at: datetime
    by: str


class Edits:
    """Asks the API for them.

    Args:
        sender: Sends the requests.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def last(self, repo: Repo, commit: str, path: str) -> Edit | None:
        """Return the last edit of *path* as of *commit*; `None` when GitHub knows none."""
        params: dict[str, str | int] = {"sha": commit, "path": path, "per_page": 1}
        what = f"the history of {repo.now}/{path}"
        answer = self._sender.get(f"{repo.api}/commits", what, params=params)
        with understood(what):
            found = answer.json()
            if not found:
                return None
            author = found[0]["commit"].get("author") or {}
            committer = found[0]["commit"].get("committer") or author
            return Edit(datetime.fromisoformat(str(committer["date"])), str(author.get("name") or ""))
