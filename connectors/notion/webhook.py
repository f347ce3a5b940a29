"""What a webhook of Notion says to look at again; a hint only, the next listing is the truth.

Format: `https://developers.notion.com/reference/webhooks`: an event names an entity and never its content; the body is
signed with the subscription's verification token, HMAC-SHA256 in `X-Notion-Signature: sha256=<hex>`.
"""

import hashlib
import hmac
import json

from connectors.contract import WebhookRequest
from connectors.errors import AuthError
from connectors.notion.ids import Obj, id_of

SIGNATURE = "x-notion-signature"


def handshake_token(request: WebhookRequest) -> str | None:
    """Return the verification token that Notion sends once, unsigned, when a subscription is made; else `None`."""
    if SIGNATURE in request.headers:
        return None
    token = _body(request.body).get("verification_token")
    return str(token) if token else None


def verify(request: WebhookRequest, secret: str) -> None:
    """Check a request's signature.

    Raises:
        AuthError: It is missing or wrong, or there is no secret to check it with.
    """
    if not secret:
        raise AuthError(
            "a webhook came, but webhook_secret is not set; set it to the subscription's verification token"
        )
    expected = f"sha256={hmac.new(secret.encode(), request.body, hashlib.sha256).hexdigest()}"
    if not hmac.compare_digest(expected.encode(), request.headers.get(SIGNATURE, "").lower().encode()):
        raise AuthError("the signature of a webhook is missing or wrong; it is ignored")


def scopes_of(request: WebhookRequest) -> list[str]:
    """Return the scopes an event says to scan again; everything for what happened to a whole database."""
    event = _body(request.body)
    kind = str(event.get("type") or "")
    entity = event.get("entity")
    key = id_of(str(entity.get("id") or "")) if isinstance(entity, dict) else None
    if kind.startswith("comment."):
        data = event.get("data")
        page = id_of(str(data.get("page_id") or "")) if isinstance(data, dict) else None
        return [page] if page else []
    if kind.startswith(("page.", "data_source.")):
        return [key] if key else []
    return [""] if kind.startswith("database.") else []


def _body(raw: bytes) -> Obj:
    try:
        found = json.loads(raw)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
