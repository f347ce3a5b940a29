"""Webhooks are hints: signed, and each says which page to look at again."""

import hashlib
import hmac
import json
from typing import Any

import pytest

from connectors.contract import Hooked, WebhookRequest
from connectors.errors import AuthError

KEY = "393abc1e-edcd-80f3-813b-e205934558c6"
SECRET = "secret_canary"


def request(event: Any, *, secret: str | None = SECRET, **headers: str) -> WebhookRequest:
    body = json.dumps(event).encode()
    if secret is not None:
        headers["x-notion-signature"] = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return WebhookRequest("POST", "/hooks/wiki", headers, body)


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "entity": {"id": KEY, "type": kind.partition(".")[0]}, "attempt_number": 1, **more}


@pytest.mark.parametrize(
    ("given", "scopes"),
    [
        (event("page.content_updated"), [KEY]),
        (event("page.deleted"), [KEY]),
        (event("page.moved"), [KEY]),
        (event("data_source.schema_updated"), [KEY]),
        (event("database.created"), [""]),
        (event("comment.created", data={"page_id": KEY.replace("-", "")}), [KEY]),
        (event("comment.created", data={}), []),
        (event("file_upload.created"), []),
        ({"type": "page.created"}, []),
        ([], []),
    ],
)
def test_an_event_reduces_to_scopes(office: Any, given: Any, scopes: list[str]) -> None:
    connector = office.connector(webhook_secret=SECRET)
    assert isinstance(connector, Hooked)
    assert list(connector.on_webhook(request(given))) == scopes


@pytest.mark.parametrize("secret", [None, "wrong", ""])
def test_a_missing_or_wrong_signature_is_refused(office: Any, secret: str | None) -> None:
    with pytest.raises(AuthError) as caught:
        office.connector(webhook_secret=SECRET).on_webhook(request(event("page.created"), secret=secret))
    assert "canary" not in str(caught.value)


def test_without_a_secret_nothing_is_believed(office: Any) -> None:
    with pytest.raises(AuthError, match="webhook_secret"):
        office.connector().on_webhook(request(event("page.created"), secret=""))


def test_the_handshake_hands_the_token_to_a_person(office: Any) -> None:
    connector = office.connector()
    assert list(connector.on_webhook(request({"verification_token": "secret_abc"}, secret=None))) == []
    assert connector.verification_token == "secret_abc"


def test_a_handshake_cannot_replace_a_secret(office: Any) -> None:
    connector = office.connector(webhook_secret=SECRET)
    with pytest.raises(AuthError):
        connector.on_webhook(request({"verification_token": "mine"}, secret=None))
    assert connector.verification_token is None


def test_a_deleted_page_is_gone_after_its_webhook(office: Any) -> None:
    page = office.workspace.add_page("Page")
    connector = office.connector(webhook_secret=SECRET)
    ref = office.scan(connector).refs[page]
    office.workspace.trash(page)
    (scope,) = connector.on_webhook(request({**event("page.deleted"), "entity": {"id": page, "type": "page"}}))
    listing = office.scan(connector, scope=scope)
    assert not listing.refs
    assert [type(answer).__name__ for answer in connector.confirm([ref])] == ["Gone"]
