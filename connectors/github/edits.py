"""Who edited a file last, and when: one more request for each document, on request."""

from dataclasses import dataclass
from datetime import datetime

from connectors.github.sending import Sender
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
        found = self._sender.get(f"{repo.api}/commits", f"the history of {repo.now}/{path}", params=params).json()
        if not found:
            return None
        commit_of, author = found[0]["commit"], found[0]["commit"].get("author") or {}
        return Edit(
            datetime.fromisoformat(str((commit_of.get("committer") or author)["date"])), str(author.get("name") or "")
        )
