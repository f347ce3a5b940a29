"""Issues, pull requests, releases, discussions and descriptions: on request, each a collection of its own."""

from datetime import timedelta
from typing import Any

import pytest

from connectors.contract import Blob, Failed, Gone, Seen
from connectors.errors import AuthError, DocumentGone, Unavailable
from connectors.testing.github_talk_api import comment, discussion, issue, release

World = Any


def two_issues(world: World) -> Any:
    repo = world.repository()
    repo.put({"a.md": "a"})
    said = [comment(1, "I agree.", "2026-11-02T09:00:00Z")]
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
    repo.releases = [release(i, f"v{i}", "Notes.", "2026-11-01T09:00:00Z") for i in (1, 2)]
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
    answer = {"body": "So.", "createdAt": "2026-11-02T09:00:00Z", "author": {"login": "ada"}}
    repo.discussions = [
        discussion(3, "How?", "Tell me.", "2026-11-01T09:00:00Z", author=None, comments={"nodes": [answer]})
    ]
    with pytest.raises(AuthError, match="no GraphQL to nobody"):
        world.scan(world.connector(also=("discussions",)))
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


def test_long_discussions_and_long_lists_of_them_are_read_to_the_end(world: World) -> None:
    repo = two_issues(world)
    said = [
        {"body": f"Comment {i}.", "createdAt": "2026-11-02T09:00:00Z", "author": {"login": "ada"}} for i in range(170)
    ]
    repo.discussions = [
        discussion(i, f"Topic {i}", "Tell.", f"2026-11-01T09:00:{i:02}Z", labels={"nodes": [{"name": "help"}]})
        for i in range(60)
    ]
    repo.discussions[7]["comments"] = {"nodes": said}
    given = {"also": ("discussions",), "token": "t"}
    connector = world.connector(**given)
    found = world.scan(connector)
    blobs = {event.ref.key: event.blob for event in found.events if isinstance(event, Seen) and event.blob}
    assert len(blobs) == 60
    long = blobs["acme/api!discussions/7"]
    assert isinstance(long.data, bytes)
    assert all(f"Comment {i}." in long.data.decode() for i in range(170))
    assert long.tags == ("help",)
    assert connector.fetch(found.refs["acme/api!discussions/7"], None) == long
    repo.discussions[30]["updatedAt"] = "2026-11-09T09:00:00Z"
    assert set(world.scan(world.connector(**given)).refs) == {
        "acme/api!discussions/30",
        "acme/api!discussions/59",  # the newest of before: changes of the same second may have come after
    }


def test_deleted_issue_is_found_within_a_day(world: World) -> None:
    repo = two_issues(world)
    held = world.scan(world.connector(also=("issues", "pulls"))).refs
    del repo.issues[0]
    assert not world.scan(world.connector(also=("issues", "pulls"))).complete
    world.now += timedelta(days=1)
    connector = world.connector(also=("issues", "pulls"))
    whole = world.scan(connector)
    assert whole.complete == ["acme/api!issues/", "acme/api!pulls/"]
    missed = [held["acme/api!issues/1"], held["acme/api!pulls/2"], held["acme/api/a.md"]]
    first, second, third = connector.confirm(missed)
    assert (first, third) == (Gone("acme/api!issues/1"), Gone("acme/api/a.md"))
    assert isinstance(second, Seen), "one that the list only missed is still there"
    world.server.fail("issues/2", 500, times=9)
    assert isinstance(next(connector.confirm(missed[1:2])), Failed), "and nobody knows when GitHub fails"
    world.server.faults.clear()
    world.server.fail("issues/2", 429, times=9, headers={"Retry-After": "3600"})
    with pytest.raises(Unavailable):
        next(connector.confirm(missed[1:2]))


def test_issue_that_was_moved_to_another_repository_is_gone(world: World) -> None:
    repo = two_issues(world)
    other = world.repository("acme/other")
    connector = world.connector(also=("issues",))
    ref = world.scan(connector).refs["acme/api!issues/1"]
    other.issues = [repo.issues.pop(0)]
    where = f"{world.server.url}/repositories/2/issues/1"
    world.server.fail("/repositories/1/issues/1", 301, headers={"Location": where})
    with pytest.raises(DocumentGone, match="moved to another repository"):
        connector.fetch(ref, None)


@pytest.mark.parametrize(("kind", "name"), [("releases", "1"), ("about", "repository")])
def test_what_was_read_by_listing_it_can_be_read_again(world: World, kind: str, name: str) -> None:
    repo = two_issues(world)
    repo.releases = [release(1, "v1", "Notes.", "2026-11-01T09:00:00Z")]
    repo.traits["description"] = "Serves it."
    connector = world.connector(also=(kind,))
    found = world.scan(connector)
    ref = found.refs[f"acme/api!{kind}/{name}"]
    (listed,) = [event.blob for event in found.events if isinstance(event, Seen) and event.ref == ref]
    assert world.connector(also=(kind,)).fetch(ref, None) == listed
    repo.releases.clear()
    repo.traits["description"] = None
    with pytest.raises(DocumentGone):
        connector.fetch(ref, None)
    with pytest.raises(DocumentGone, match="not asked for any more"):
        world.connector().fetch(ref, None)


def test_issues_of_a_renamed_repository_are_read_by_its_number(world: World) -> None:
    two_issues(world)
    ref = world.scan(world.connector(also=("pulls",))).refs["acme/api!pulls/2"]
    world.server.rename("acme/api", "other/interface")
    world.server.moved.clear()
    blob = world.connector(also=("pulls",)).fetch(ref, None)
    assert isinstance(blob, Blob)
