"""What a webhook of GitHub says to scan again; a hint only, the next scan is the truth.

Format: docs.github.com, "Webhook events and payloads"; the body is signed with the webhook's secret, HMAC-SHA256 in
`X-Hub-Signature-256: sha256=<hex>`.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from connectors.contract import WebhookRequest
from connectors.errors import AuthError
from connectors.github.selection import Wanted

_SIGNATURE = "x-hub-signature-256"
_TALK = {
    "issues": "issues",
    "issue_comment": "issues",
    "pull_request": "pulls",
    "release": "releases",
    "discussion": "discussions",
    "discussion_comment": "discussions",
    "gollum": "wiki",
}


def verify(request: WebhookRequest, secret: str) -> None:
    """Check a request's signature.

    Raises:
        AuthError: It is missing or wrong, or there is no secret to check it with.
    """
    if not secret:
        raise AuthError("a webhook came, but webhook_secret is not set; set it to the secret given to GitHub")
    expected = f"sha256={hmac.new(secret.encode(), request.body, hashlib.sha256).hexdigest()}"
    if not hmac.compare_digest(expected.encode(), request.headers.get(_SIGNATURE, "").lower().encode()):
        raise AuthError("the signature of a webhook is missing or wrong; it is ignored")


def scopes_of(request: WebhookRequest, wanted: Wanted, ref: str, names: Mapping[int, str]) -> list[str]:
    """Return the scopes an event says to scan again.

    Args:
        request: Verified.
        wanted: The source's repositories; others concern nobody here.
        ref: The branch or tag that is mirrored, `HEAD` for the default branch.
        names: What repositories were called when they were first mirrored, by GitHub's number, as far as it is known.
    """
    event = _body(request)
    repository = event.get("repository")
    if not isinstance(repository, dict):
        return []
    told = str(repository.get("full_name"))
    name = names.get(repository["id"], told) if isinstance(repository.get("id"), int) else told
    mirrored = wanted.takes(told) or name != told
    kind = request.headers.get("x-github-event", "")
    if kind == "repository":  # renamed, transferred, archived, deleted: the name says nothing of what is held
        return [""] if mirrored or _former(event, wanted) else []
    if not mirrored:
        return []
    if kind in {"push", "create", "delete"}:
        branch = ref if ref != "HEAD" else str(repository.get("default_branch"))
        pushed = str(event.get("ref")).removeprefix("refs/heads/").removeprefix("refs/tags/")
        return [f"{name}/"] if kind != "push" or pushed == branch else []
    return [f"{name}!{_TALK[kind]}/"] if kind in _TALK else []


def _former(event: dict[str, Any], wanted: Wanted) -> bool:
    changes = event.get("changes")
    if not isinstance(changes, dict):
        return False
    owner = str(event["repository"].get("owner", {}).get("login"))
    renamed = changes.get("repository", {}).get("name", {}).get("from")
    moved = changes.get("owner", {}).get("from", {})
    before = next((one["login"] for one in moved.values() if isinstance(one, dict) and "login" in one), owner)
    return wanted.takes(f"{before}/{renamed or event['repository'].get('name')}")


def _body(request: WebhookRequest) -> dict[str, Any]:
    raw = request.body
    if request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raw = parse_qs(raw.decode("utf-8", "replace")).get("payload", [""])[0].encode()
    try:
        found = json.loads(raw)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
