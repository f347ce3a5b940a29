"""The stand-in's replies keep GitHub's own schema, and the connector relies on nothing that the schema leaves open."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types

from connectors.testing.github_repository import Repository
from connectors.testing.github_server import GitHubServer
from connectors.testing.github_talk_api import comment, issue, release

SCHEMAS: dict[str, Any] = json.loads((Path(__file__).parent / "schemas.json").read_text(encoding="utf-8"))
DAY = "2026-11-01T09:00:00Z"


def faults(value: Any, schema: str, *, many: bool = False) -> list[str]:
    one: Any = {"$ref": f"#/$defs/{schema}"}
    wanted = {"$defs": SCHEMAS, **({"type": "array", "items": one} if many else one)}
    return [f"{error.json_path}: {error.message[:200]}" for error in Draft202012Validator(wanted).iter_errors(value)]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHubServer]:
    repo = Repository.create(tmp_path_factory.mktemp("served"), "acme/api", 1296269)
    repo.put({"docs/a.md": "# A\n" * 20, "docs/b.md": "b", "large.txt": "x" * 1_100_000})
    (repo.path / "link.md").symlink_to("docs/a.md")
    (repo.path / "out.md").symlink_to("../nowhere.md")
    (repo.path / "theme").mkdir()
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},theme")
    repo.commit("Add links")
    repo.git("tag", "v1")
    repo.git("branch", "feature/x")
    repo.git("mv", "docs/a.md", "docs/c.md")
    repo.put({"docs/b.md": "b, edited"})
    repo.issues = [
        issue(1, "It breaks", "On Tuesdays.", DAY, labels=[{"name": "bug"}], _comments=[comment(5, "So.", DAY)]),
        issue(2, "Mend it", "Done.", DAY, pull_request={}, state="closed", closed_at=DAY),
    ]
    repo.releases = [release(9, "v1", "Notes.", DAY)]
    with GitHubServer([repo]) as server:
        yield server


def got(server: GitHubServer, path: str, method: str = "GET") -> Any:
    asked = urllib.request.Request(f"{server.url}{path}", method=method)  # noqa: S310 - loopback
    with urllib.request.urlopen(asked) as reply:  # noqa: S310 - loopback
        return json.loads(reply.read())


@pytest.mark.parametrize(
    ("path", "schema", "many"),
    [
        ("/repos/acme/api", "full-repository", False),
        ("/repositories/1296269", "full-repository", False),
        ("/orgs/acme/repos", "minimal-repository", True),
        ("/users/acme/repos", "minimal-repository", True),
        ("/repos/acme/api/commits/HEAD?per_page=1", "commit", False),
        ("/repos/acme/api/commits/v1", "commit", False),
        ("/repos/acme/api/commits?path=docs/b.md&per_page=1", "commit", True),
        ("/repos/acme/api/git/trees/HEAD?recursive=1", "git-tree", False),
        ("/repos/acme/api/contents/docs", "content-directory", False),
        ("/repos/acme/api/contents/docs/b.md", "content-file", False),
        ("/repos/acme/api/contents/large.txt", "content-file", False),
        ("/repos/acme/api/contents/link.md?ref=v1", "content-file", False),
        ("/repos/acme/api/contents/out.md", "content-symlink", False),
        ("/repos/acme/api/contents/theme", "content-submodule", False),
        ("/repos/acme/api/compare/v1...main", "commit-comparison", False),
        ("/repos/acme/api/branches", "short-branch", True),
        ("/repos/acme/api/branches/feature/x", "branch-with-protection", False),
        ("/repos/acme/api/tags", "tag", True),
        ("/repos/acme/api/issues?state=all", "issue", True),
        ("/repos/acme/api/issues/1", "issue", False),
        ("/repos/acme/api/issues/1/comments", "issue-comment", True),
        ("/repos/acme/api/releases", "release", True),
        ("/orgs/acme/installation", "installation", False),
        ("/rate_limit", "rate-limit-overview", False),
    ],
)
def test_reply_keeps_the_schema(served: GitHubServer, path: str, schema: str, many: bool) -> None:
    found = got(served, path)
    assert found
    assert faults(found, schema, many=many) == []


def test_blob_token_and_refusal_keep_the_schema(served: GitHubServer) -> None:
    tree = got(served, "/repos/acme/api/git/trees/HEAD?recursive=1")["tree"]
    sha = next(one["sha"] for one in tree if one["path"] == "docs/b.md")
    assert faults(got(served, f"/repos/acme/api/git/blobs/{sha}"), "blob") == []
    assert faults(got(served, "/app/installations/7/access_tokens", "POST"), "installation-token") == []
    with pytest.raises(urllib.error.HTTPError) as caught:
        got(served, "/repos/acme/nothing")
    assert faults(json.loads(caught.value.read()), "basic-error") == []


def test_comparison_tells_renames_and_how_far(served: GitHubServer) -> None:
    found = got(served, "/repos/acme/api/compare/v1...main")
    assert (found["status"], found["ahead_by"], found["behind_by"]) == ("ahead", 1, 0)
    renamed = {one["filename"]: one.get("previous_filename") for one in found["files"]}
    assert renamed == {"docs/c.md": "docs/a.md", "docs/b.md": None}


def test_a_reply_that_lacks_a_field_is_seen(served: GitHubServer) -> None:
    found = got(served, "/repos/acme/api")
    del found["full_name"]
    assert faults(found, "full-repository") == ["$: 'full_name' is a required property"]


@pytest.mark.parametrize(
    ("schema", "read"),
    [
        ("minimal-repository", {"id", "full_name"}),
        ("full-repository", {"id", "full_name", "html_url"}),
        ("commit", {"sha", "node_id", "commit"}),
        ("git-tree", {"tree", "truncated"}),
        ("issue", {"number", "title", "html_url", "updated_at"}),
        ("release", {"id", "tag_name", "html_url"}),
        ("installation", {"id"}),
        ("installation-token", {"token", "expires_at"}),
    ],
)
def test_what_the_connector_needs_is_always_there(schema: str, read: set[str]) -> None:
    assert read <= set(SCHEMAS[schema]["required"])
    entry = SCHEMAS["git-tree"]["properties"]["tree"]["items"]
    assert {"path", "mode", "sha"} <= set(entry["required"])
