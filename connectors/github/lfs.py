"""Files that git LFS keeps beside the repository (git-lfs `docs/api/batch.md`)."""

import base64
import hashlib
import json
from contextlib import suppress

from connectors.errors import DocumentError, DocumentRefused
from connectors.github.blobs import LfsPointer
from connectors.github.sending import Sender
from connectors.github.transport import Repo

_JSON = "application/vnd.git-lfs+json"
_ADVICE = "check that the LFS object was pushed and the credential may read it, or exclude the file"


class Lfs:
    """Asks for the files that pointers stand for.

    Args:
        sender: Carries the requests and the credential.
        git_url: Where git and LFS are, such as `https://github.com`.
    """

    def __init__(self, sender: Sender, git_url: str) -> None:
        self._sender = sender
        self._git_url = git_url.rstrip("/")

    def get(self, repo: Repo, path: str, pointer: LfsPointer, max_bytes: int) -> bytes:
        """Return the file.

        Raises:
            DocumentRefused: LFS does not give it.
            DocumentError: It came with other bytes, or LFS fails; it is tried again.
        """
        what = f"{repo.now}/{path}"
        wanted = [{"oid": pointer.oid, "size": pointer.size}]
        asked = {"operation": "download", "transfers": ["basic"], "objects": wanted}
        headers = {"Accept": _JSON, "Content-Type": _JSON, **basic(self._sender.authorisation())}
        url = f"{self._git_url}/{repo.now}.git/info/lfs/objects/batch"
        reply = self._sender.http.request("POST", url, headers=headers, content=json.dumps(asked).encode())
        if reply.status == 429 or reply.status >= 500:
            raise DocumentError(f"{what} lies in LFS, which fails with status {reply.status}; it is tried again")
        if not reply.ok:
            raise DocumentRefused(f"{what} lies in LFS, which answers with status {reply.status}", _ADVICE)
        action = None
        with suppress(KeyError, TypeError, IndexError, ValueError):
            action = reply.json()["objects"][0]["actions"]["download"]
        if action is None:
            raise DocumentRefused(f"{what} lies in LFS, which does not have it", _ADVICE)
        got = self._sender.http.get(str(action["href"]), headers=action.get("header"), max_bytes=max_bytes)
        data = got.expect_ok(what).content
        if hashlib.sha256(data).hexdigest() != pointer.oid:
            raise DocumentError(f"{what} came out of LFS with other bytes than its id says; it is tried again")
        return data


def basic(headers: dict[str, str]) -> dict[str, str]:
    """Return a credential as the git side of GitHub takes it: the token as a password."""
    token = headers.get("Authorization", "").partition(" ")[2]
    if not token:
        return {}
    return {"Authorization": f"Basic {base64.b64encode(f'x-access-token:{token}'.encode()).decode()}"}
