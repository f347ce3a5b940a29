"""GitHub's real replies are read as they came, and the stand-in has their shapes."""

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.errors import AuthError, DocumentGone
from connectors.github.api import ApiTransport
from connectors.github.budget import Budget, asked
from connectors.github.credentials import Anonymous
from connectors.github.errors import AccessRefused, BudgetSpent
from connectors.github.identity import number_in_node
from connectors.github.sending import Sender, failure
from connectors.github.talk import Talk
from connectors.github.transport import Repo
from connectors.notes import MemoryNotes
from connectors.testing import github_git_api as stand_in
from connectors.testing.github_repository import Repository
from connectors.testing.github_shapes import object_node

REPLIES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "replies.jsonl").read_text(encoding="utf-8").splitlines()
]
TREES = [reply for reply in REPLIES if "/git/trees/" in reply["path"]]
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def of(origin: str, status: int) -> dict[str, Any]:
    return next(reply for reply in REPLIES if reply["origin"] == origin and reply["status"] == status)


class Replaying:
    """PyGithub's requester with recorded answers, in turn."""

    def __init__(self, *replies: dict[str, Any]) -> None:
        self.left = list(replies)
        self.asked: list[str] = []

    def requestJson(self, verb: str, url: str, *_: Any) -> tuple[int, dict[str, str], str]:  # noqa: N802 - their name
        self.asked.append(f"{verb} {url}")
        reply = self.left.pop(0)
        return reply["status"], reply["headers"], json.dumps(reply["body"])


def sender(replaying: Replaying) -> Sender:
    found = Sender("https://api.github.com", None, Anonymous(), Budget(now=lambda: NOW))  # type: ignore[arg-type]  # nothing is sent
    found._requester = replaying  # type: ignore[assignment]  # quacks as theirs does
    return found


@pytest.mark.parametrize(
    ("origin", "status", "kind", "wait"),
    [
        ("hub4j/abuse_429", 429, BudgetSpent, 8.0),
        ("hub4j/abuse_429_no_retry_after", 429, BudgetSpent, 60.0),
        ("hub4j/abuse_testHandler_Fail", 403, BudgetSpent, 30.0),
        ("hub4j/abuse_testHandler_Wait_Secondary_Limits", 403, BudgetSpent, 60.0),
        ("hub4j/testCRUDContent", 404, DocumentGone, None),
    ],
)
def test_refusal_is_told_with_its_wait(origin: str, status: int, kind: type, wait: float | None) -> None:
    reply = of(origin, status)
    error = failure("acme/api", status, reply["headers"], json.dumps(reply["body"]))
    assert isinstance(error, kind)
    assert not isinstance(error, AuthError | AccessRefused)
    assert getattr(error, "retry_after_s", None) == wait


def test_wait_of_a_limit_is_asked_for_where_the_headers_tell_it() -> None:
    waits = {
        reply["origin"]: asked(reply["status"], reply["headers"], NOW)
        for reply in REPLIES
        if "abuse" in reply["origin"]
    }
    assert waits == {
        "hub4j/abuse_429": 8.0,
        "hub4j/abuse_429_no_retry_after": 60.0,
        "hub4j/abuse_testHandler_Fail": 30.0,
        "hub4j/abuse_testHandler_Wait": 2.0,
        "hub4j/abuse_testHandler_WaitStuck": 3.0,
        "hub4j/abuse_testHandler_Wait_Secondary_Limits": None,
    }


@pytest.mark.parametrize("reply", TREES, ids=lambda reply: reply["path"][-7:])
def test_tree_is_read_entry_by_entry(reply: dict[str, Any]) -> None:
    repo = Repo("hub4j/x")
    tree = ApiTransport(sender(Replaying(reply))).tree(repo, reply["body"]["sha"], lambda _: True)
    assert {(e.path, e.mode, e.sha, e.size) for e in tree.entries.values()} == {
        (one["path"], one["mode"], one["sha"], one.get("size")) for one in reply["body"]["tree"]
    }
    assert not tree.missing


def test_stand_in_makes_trees_of_the_recorded_shape(tmp_path: Path) -> None:
    repo = Repository.create(tmp_path, "acme/api")
    commit = repo.put({"docs/a.md": "a"})
    made = stand_in.tree(repo, commit, recursive=True, base="https://api.github.com")
    recorded = TREES[0]["body"]
    assert set(made) == set(recorded)
    shapes = {one["type"]: set(one) for reply in TREES for one in reply["body"]["tree"]}
    assert {one["type"]: set(one) for one in made["tree"]} == {kind: shapes[kind] for kind in ("blob", "tree")}


def test_renamed_repository_is_found_by_its_number() -> None:
    moved = of("octokit/rename-repository", 301)
    where = moved["headers"]["location"] + "/commits/HEAD"
    replaying = Replaying({"status": 200, "headers": {"corebrain-answered-by": where}, "body": {"sha": "a" * 40}})
    got = ApiTransport(sender(replaying)).head(Repo("octokit-fixture-org/rename-repository"), "HEAD", None)
    assert got.repo == Repo("octokit-fixture-org/rename-repository", number=1000)


def test_number_of_a_repository_is_read_out_of_what_its_commits_are_called() -> None:
    former = "MDY6Q29tbWl0NDA3NjM1Nzc6ZTBjZWY0ODNjYjJkYTg0N2M3YzIyOWVkZWEzNTRkYjUwZjI4N2UzNg=="  # hub4j/testCommit
    sha = "e0cef483cb2da847c7c229edea354db50f287e36"
    assert number_in_node(former, sha) == 40763577
    assert number_in_node(former, "0" * 40) is None, "a node id of another commit says nothing"
    for number in (7, 200, 40_000, 40_763_577, 2**40):
        size = next(size for size in (0, 1, 2, 4, 8) if number < (128 if size == 0 else 256**size))
        mark = b"" if size == 0 else {1: b"\xcc", 2: b"\xcd", 4: b"\xce", 8: b"\xcf"}[size]
        for length in (b"\xd9\x28", b"\xda\x00\x28"):
            packed = b"\x93\x00" + mark + number.to_bytes(size or 1, "big") + length + sha.encode()
            node = "C_" + base64.urlsafe_b64encode(packed).decode().rstrip("=")
            assert number_in_node(node, sha) == number, (number, length)
            assert number_in_node(node, "0" * 40) is None
    assert object_node("C", 40_763_577, sha).startswith("C_kwDO"), "as those of GitHub begin"


@given(st.text(max_size=80), st.sampled_from(["a" * 40, ""]))
def test_no_text_makes_reading_a_node_id_fail(node: str, sha: str) -> None:
    assert number_in_node(node, sha) is None


def test_pages_of_issues_are_followed() -> None:
    first, second = (reply for reply in REPLIES if reply["origin"] == "octokit/paginate-issues")
    last = {**second, "headers": {key: value for key, value in second["headers"].items() if key != "link"}}
    replaying = Replaying(first, last)
    events = list(Talk(sender(replaying), ["issues"]).scan(Repo("octokit-fixture-org/x"), MemoryNotes(), goes_on=False))
    assert len(events) == len(first["body"]) + len(second["body"])
    assert replaying.asked[1].endswith("/repositories/1000/issues?per_page=3&page=2")
