"""Issues, pull requests, releases, discussions and descriptions: on request, each a collection of its own."""

from typing import Any

import pytest

from connectors.contract import Blob, Seen
from connectors.testing.github_talk_api import issue

World = Any


def two_issues(world: World) -> Any:
    repo = world.repository()
    repo.put({"a.md": "a"})
    said = [{"body": "I agree.", "created_at": "2026-11-02T09:00:00Z", "user": {"login": "grace"}}]
    repo.issues = [
        issue(1, "It breaks", "On Tuesdays.", "2026-11-01T09:00:00Z", labels=[{"name": "bug"}]),
        issue(2, "Mend it", "Done.", "2026-11-02T09:00:00Z", pull_request={}, _comments=said),
    ]
    return repo


def test_nothing_but_files_is_asked_for_unless_wanted(world: World) -> None:
    two_issues(world)
    assert set(world.scan(world.connector()).refs) == {"acme/api/a.md"}
    assert not any("issues" in line for line in world.server.log)


def test_issues_and_pull_requests_are_read_with_comments(world: World) -> None:
    two_issues(world)
    connector = world.connector(also=("issues", "pulls"))
    found = world.scan(connector)
    ref = found.refs["acme/api!issues/1"]
    assert (ref.collection, ref.title) == ("acme/api/issues", "It breaks")
    (held,) = [event.blob for event in found.events if isinstance(event, Seen) and event.ref == ref]
    assert held is not None, "an issue without comments was read by listing it"
    assert held.tags == ("bug",)
    assert held.data == b"Issue #1 by ada, open.\n\nOn Tuesdays."
    pull = connector.fetch(found.refs["acme/api!pulls/2"], None)
    assert isinstance(pull, Blob)
    assert isinstance(pull.data, bytes)
    assert b"Done.\n\n**grace**, 2026-11-02:\n\nI agree." in pull.data
    assert not pull.commit


def test_only_what_changed_since_is_listed_again(world: World) -> None:
    repo = two_issues(world)
    world.scan(world.connector(also=("issues",)))
    repo.issues[0] = issue(1, "It breaks", "On Fridays.", "2026-11-03T09:00:00Z")
    later = world.scan(world.connector(also=("issues",)))
    assert set(later.refs) == {"acme/api!issues/1"}
    assert not later.complete, "what a delta does not show is not gone"


def test_a_file_named_like_an_issue_is_another_document(world: World) -> None:
    two_issues(world).put({"issues/1.md": "a file"})
    keys = set(world.scan(world.connector(also=("issues",))).refs)
    assert {"acme/api/issues/1.md", "acme/api!issues/1"} <= keys


def test_disabled_issues_fail_alone(world: World) -> None:
    two_issues(world)
    world.server.fail("issues", 410, message="Issues are disabled for this repo", times=9)
    found = world.scan(world.connector(also=("issues", "about")))
    assert set(found.refs) == {"acme/api/a.md"}
    assert set(found.failed) == {"acme/api!issues/"}


def test_release_that_is_withdrawn_is_lost(world: World) -> None:
    repo = two_issues(world)
    one = {"tag_name": "v1", "name": "", "body": "Notes.", "published_at": "2026-11-01T09:00:00Z"}
    repo.releases = [{**one, "id": i, "html_url": f"https://github.com/acme/api/releases/{i}"} for i in (1, 2)]
    assert "acme/api!releases/2" in world.scan(world.connector(also=("releases",))).refs
    repo.releases.pop()
    later = world.scan(world.connector(also=("releases",)))
    assert set(later.refs) == {"acme/api!releases/1"}
    assert later.complete == ["acme/api!releases/"]


def test_description_and_topics_are_a_document(world: World) -> None:
    two_issues(world).traits |= {"description": "Serves it.", "topics": ["http", "api"]}
    found = world.scan(world.connector(also=("about",)))
    (blob,) = [event.blob for event in found.events if isinstance(event, Seen) and event.blob]
    assert blob.data == b"Serves it.\n\nTopics: http, api."


def test_discussions_are_read_by_graphql_and_need_a_token(world: World) -> None:
    repo = two_issues(world)
    repo.discussions = [
        {
            "number": 3,
            "title": "How?",
            "body": "Tell me.",
            "url": "https://github.com/acme/api/discussions/3",
            "updatedAt": "2026-11-01T09:00:00Z",
            "author": None,
            "category": {"name": "Q&A"},
            "comments": {"nodes": [{"body": "So.", "createdAt": "2026-11-02T09:00:00Z", "author": {"login": "ada"}}]},
        }
    ]
    found = world.scan(world.connector(also=("discussions",), token="t"))
    (blob,) = [event.blob for event in found.events if isinstance(event, Seen) and event.blob]
    assert isinstance(blob.data, bytes)
    assert b"Discussion #3 by somebody who left in Q&A.\n\nTell me." in blob.data
    assert b"So." in blob.data


@pytest.mark.parametrize("scope", ["acme/api!issues/", "acme/api!issues/1"])
def test_scope_of_issues_lists_issues(world: World, scope: str) -> None:
    two_issues(world)
    found = world.scan(world.connector(also=("issues", "about")), scope)
    assert set(found.refs) == {"acme/api!issues/1"}
    assert found.complete == [scope]


def test_wiki_is_read_by_git_and_followed(world: World) -> None:
    world.repository().put({"a.md": "a"})
    wiki = world.repository("acme/api.wiki")
    wiki.put({"Home.md": "# Welcome", "How-to-start.md": "Start.", "logo.png": "x"})
    given = {"also": ("wiki",), "git_url": f"file://{world.root}"}
    connector = world.connector(**given)
    found = world.scan(connector)
    ref = found.refs["acme/api!wiki/How-to-start.md"]
    assert (ref.title, ref.collection) == ("How to start", "acme/api/wiki")
    assert ref.url == "https://github.com/acme/api/wiki/How-to-start"
    blob = connector.fetch(ref, None)
    assert isinstance(blob, Blob)
    assert blob.data == b"Start."
    assert not world.scan(world.connector(**given)).refs
    (wiki.path / "Home.md").unlink()
    wiki.commit()
    later = world.scan(world.connector(**given))
    assert set(later.refs) == {"acme/api!wiki/How-to-start.md"}
    assert later.complete == ["acme/api!wiki/"]


def test_repository_without_a_wiki_is_no_failure(world: World) -> None:
    world.repository().put({"a.md": "a"})
    assert not world.scan(world.connector(also=("wiki",), git_url=f"file://{world.root}")).failed
