"""Configuration, credentials, limits, webhooks: what is told before anything is asked."""

import hashlib
import hmac
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.contract import WebhookRequest
from connectors.errors import AuthError, ConfigError
from connectors.github.budget import Budget, asked
from connectors.github.credentials import Netrc, Token
from connectors.github.errors import BudgetSpent
from connectors.github.long_notes import get_list, put_list
from connectors.github.selection import Selection, Wanted
from connectors.github.sending import failure
from connectors.github.service import github_http, pages_url
from connectors.notes import MemoryNotes
from connectors.registry import make

World = Any
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({}, "write either repo or repos"),
        ({"repo": "acme/api", "repos": ["acme/*"]}, "write either repo or repos"),
        ({"repo": "acme"}, "owner/name"),
        ({"repo": "*/api"}, "owner/name"),
        ({"repo": "acme/../x"}, "owner/name"),
        ({"repo": "acme/api", "token": "a b"}, "token"),
        ({"repo": "acme/api", "token": "t", "netrc": True}, "one of token, app_id and netrc"),
        ({"repo": "acme/api", "app_id": 3}, "belong together"),
        ({"repos": ["a/x", "b/x"], "app_id": 3, "private_key": "k"}, "installation_id"),
        ({"repo": "acme/api", "base_url": "http://ghe.example/api/v3"}, "plain http"),
        ({"repo": "acme/api", "transport": "git", "git_url": "ext::sh -c x"}, "https:// or file://"),
        ({"repo": "acme/api", "transport": "git", "git_url": "http://127.0.0.1.evil.example"}, "https:// or file://"),
        ({"repo": "acme/api", "transport": "git", "git_url": "ssh://x/-oProxyCommand=x"}, "https:// or file://"),
        ({"repo": "acme/api", "pathes": ["x"]}, "did you mean 'paths'"),
        ({"repo": "acme/api", "also": ["stars"]}, "also"),
    ],
)
def test_wrong_configuration_is_told_without_values(config: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=complaint.replace("*", r"\*")):
        make("github", "docs", config, base=tmp_path)


@pytest.mark.parametrize("written", ["acme/api", "https://github.com/acme/api.git", "github.com/acme/api/tree/main"])
def test_repository_is_taken_by_name_or_address(written: str) -> None:
    assert Wanted([written]).given == ("acme/api",)


def test_repository_that_is_named_twice_is_mirrored_once() -> None:
    assert Wanted(["acme/api", "Acme/API", "https://github.com/acme/api", "b/c"]).given == ("acme/api", "b/c")


@given(st.lists(st.text(max_size=3000), max_size=60))
def test_long_lists_are_kept_in_notes_and_shorter_ones_after_them(values: list[str]) -> None:
    notes = MemoryNotes()
    put_list(notes, "x", values)
    assert list(get_list(notes, "x")) == values
    put_list(notes, "x", values[:1])
    assert list(get_list(notes, "x")) == values[:1]
    put_list(notes, "x", [])
    assert list(get_list(notes, "x")) == []


@pytest.mark.parametrize(
    ("base_url", "pages"),
    [
        ("https://api.github.com", "https://github.com"),
        ("https://ghe.example/api/v3", "https://ghe.example"),
        ("https://api.acme.ghe.com", "https://acme.ghe.com"),
        ("http://127.0.0.1:8080", "https://github.com"),
    ],
)
def test_pages_of_an_api_are_known(base_url: str, pages: str) -> None:
    assert pages_url(base_url) == pages


def test_usual_documents_are_taken_and_usual_rubbish_is_not() -> None:
    usual = Selection()
    wanted = [
        "README",
        "README.md",
        "a/b/guide.mdx",
        "x.rst",
        "x.adoc",
        "nb.ipynb",
        "docs/t.csv",
        "a/docs/b/t.tsv",
        "ö.pdf",
    ]
    unwanted = [
        "a.py",
        "t.csv",
        "node_modules/x/README.md",
        "vendor/a/b.md",
        "requirements.txt",
        "logo.png",
        "Makefile",
    ]
    assert [path for path in wanted if not usual.takes(path)] == []
    assert [path for path in unwanted if usual.takes(path)] == []
    assert Selection(code=True).takes("a.py")
    assert Selection(["vendor/docs/**"]).takes("vendor/docs/a.md")
    assert not Selection(exclude=["drafts/"]).takes("a/drafts/b.md")


def test_netrc_gives_the_password_of_the_host(tmp_path: Path) -> None:
    path = tmp_path / "netrc"
    path.write_text("machine github.com login x password ghp_canary\n")
    path.chmod(0o600)
    assert Netrc("https://api.github.com", path).headers() == {"Authorization": "Bearer ghp_canary"}
    with pytest.raises(AuthError, match=r"no entry for ghe\.example"):
        Netrc("https://ghe.example/api/v3", path).headers()
    with pytest.raises(AuthError, match="there is no"):
        Netrc("https://api.github.com", tmp_path / "none").headers()
    assert Token(" t ").headers() == {"Authorization": "Bearer t"}


def test_budget_keeps_its_reserve_until_the_limit_is_renewed() -> None:
    now = [NOW]
    budget = Budget(0.1, lambda: now[0])
    reset = int(NOW.timestamp()) + 100
    told = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "500", "x-ratelimit-reset": str(reset)}
    budget.note(told)
    budget.check(free=True)
    budget.check("graphql")
    with pytest.raises(BudgetSpent) as caught:
        budget.check()
    assert caught.value.retry_after_s == 100
    budget.note({**told, "x-ratelimit-remaining": "0"})
    with pytest.raises(BudgetSpent):
        budget.check(free=True)
    now[0] = datetime.fromtimestamp(reset, UTC)
    budget.check()


@pytest.mark.parametrize(
    ("status", "headers", "wait"),
    [
        (403, {"retry-after": "30"}, 30.0),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW.timestamp() + 90)}, 90.0),
        (403, {"x-ratelimit-remaining": "12"}, None),
        (429, {}, 60.0),
        (503, {"retry-after": "Tue, 01 Dec 2026 09:00:05 GMT"}, 5.0),
        (404, {"retry-after": "30"}, None),
    ],
)
def test_what_a_reply_asks_to_wait_is_read(status: int, headers: dict[str, str], wait: float | None) -> None:
    assert asked(status, headers, NOW) == wait


def test_base_url_of_plain_http_is_for_this_machine_only() -> None:
    github_http("http://127.0.0.1:1").close()
    with pytest.raises(ConfigError):
        github_http("http://example.com")


def test_forbidden_repository_of_a_fine_grained_token_is_no_reason_to_stop() -> None:
    error = failure("acme/api", 403, {}, '{"message": "Resource not accessible by personal access token"}')
    assert not isinstance(error, AuthError)
    assert "resource not accessible" in str(error)


# -- webhooks


def request(event: str, payload: dict[str, Any], key: str = "s3cret") -> WebhookRequest:
    body = json.dumps(payload).encode()
    signature = f"sha256={hmac.new(key.encode(), body, hashlib.sha256).hexdigest()}"
    return WebhookRequest("POST", "/", {"x-github-event": event, "x-hub-signature-256": signature}, body)


def test_push_to_a_renamed_repository_scans_what_it_was_called_first(world: World) -> None:
    world.repository().put({"a.md": "a"})
    connector = world.connector(webhook_secret="s3cret")
    world.scan(connector)
    moved = {**REPOSITORY, "full_name": "other/interface", "id": 1}
    push = {"ref": "refs/heads/main", "repository": moved}
    assert list(connector.on_webhook(request("push", push))) == ["acme/api/"]
    assert list(connector.on_webhook(request("push", {**push, "repository": {**moved, "id": 2}}))) == []


REPOSITORY = {"full_name": "acme/api", "default_branch": "main", "name": "api", "owner": {"login": "acme"}}


@pytest.mark.parametrize(
    ("event", "payload", "scopes"),
    [
        ("push", {"ref": "refs/heads/main"}, ["acme/api/"]),
        ("push", {"ref": "refs/heads/other"}, []),
        ("push", {"ref": "refs/heads/main", "repository": {**REPOSITORY, "full_name": "other/api"}}, []),
        ("repository", {"action": "archived"}, [""]),
        (
            "repository",
            {
                "action": "renamed",
                "changes": {"repository": {"name": {"from": "api"}}},
                "repository": {**REPOSITORY, "full_name": "acme/interface", "name": "interface"},
            },
            [""],
        ),
        (
            "repository",
            {
                "action": "transferred",
                "changes": {"owner": {"from": {"organization": {"login": "acme"}}}},
                "repository": {**REPOSITORY, "full_name": "new/api", "owner": {"login": "new"}},
            },
            [""],
        ),
        ("issues", {"action": "opened"}, ["acme/api!issues/"]),
        ("release", {"action": "published"}, ["acme/api!releases/"]),
        ("star", {"action": "created"}, []),
        ("ping", {"repository": None}, []),
    ],
)
def test_webhook_is_reduced_to_what_is_scanned_again(
    world: World, event: str, payload: dict[str, Any], scopes: list[str]
) -> None:
    connector = world.connector(webhook_secret="s3cret")
    assert list(connector.on_webhook(request(event, {"repository": REPOSITORY, **payload}))) == scopes


def test_webhook_with_a_wrong_signature_or_without_a_secret_is_refused(world: World) -> None:
    with pytest.raises(AuthError, match="missing or wrong"):
        world.connector(webhook_secret="s3cret").on_webhook(request("push", {}, "other"))
    with pytest.raises(AuthError, match="webhook_secret is not set"):
        world.connector().on_webhook(request("push", {}))
