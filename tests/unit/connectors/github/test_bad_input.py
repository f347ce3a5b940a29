"""What a repository, a server or a person gets wrong: typed, told and contained."""

import contextlib
import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from connectors.contract import Blob
from connectors.errors import AuthError, ConfigError, ConnectorError, DocumentError, DocumentRefused, Unavailable
from connectors.github.kind import GitHubConfig
from connectors.testing.github_talk_api import comment, discussion, issue, release

World = Any
Text = Any


def bytes_of(connector: Any, ref: Any) -> bytes:
    blob = connector.fetch(ref, None)
    assert isinstance(blob, Blob)
    assert isinstance(blob.data, bytes)
    return blob.data


def test_bad_credentials_stop_the_source_and_name_no_secret(world: World) -> None:
    world.repository().put({"a.md": "a"})
    world.server.tokens = {"good"}
    for token in ("", "ghp_canary"):
        with pytest.raises(AuthError, match="refuses the credential") as caught:
            world.scan(world.connector(token=token))
        assert "canary" not in str(caught.value)


def test_repository_without_access_is_told_and_costs_no_other(world: World) -> None:
    for name in "ab":
        world.repository(f"acme/{name}").put({"a.md": name})
    world.server.fail("/a/commits", 403, message="Resource not accessible by personal access token")
    found = world.scan(world.connector("acme/a", "acme/b", token="t"))
    assert set(found.refs) == {"acme/b/a.md"}
    assert "resource not accessible" in found.failed["acme/a/"]
    (failed,) = (event for event in found.events if getattr(event, "scope", "") == "acme/a/")
    assert isinstance(failed.error, DocumentRefused)
    assert "read access to contents" in failed.error.advice


def test_branch_that_is_gone_keeps_what_was_mirrored(world: World) -> None:
    repo = world.repository()
    repo.put({"a.md": "a"})
    repo.git("branch", "next")
    assert world.scan(world.connector(branch="next")).refs
    repo.git("branch", "-D", "next")
    found = world.scan(world.connector(branch="next"))
    assert not found.complete
    assert "no commit found for SHA: next" in found.failed["acme/api/"]


def test_branch_that_is_gone_is_told_by_git_too(world: World) -> None:
    world.repository().put({"a.md": "a"})
    found = world.scan(world.connector(branch="next", transport="git", git_url=f"file://{world.root}"))
    assert "no branch or tag 'next'" in found.failed["acme/api/"]


def test_repository_that_was_emptied_loses_its_documents_like_by_any_change(world: World) -> None:
    repo = world.repository()
    repo.put({"a.md": "a"})
    world.scan(world.connector())
    repo.git("update-ref", "-d", "refs/heads/main")
    emptied = world.scan(world.connector())
    assert (emptied.refs, emptied.complete) == ({}, ["acme/api/"])
    repo.put({"b.md": "b"})
    assert set(world.scan(world.connector()).refs) == {"acme/api/a.md", "acme/api/b.md"}


def test_tag_is_mirrored_where_it_is(world: World) -> None:
    repo = world.repository()
    first = repo.put({"a.md": "one"})
    repo.git("tag", "-a", "v1", "-m", "One")
    repo.put({"a.md": "two"})
    for more in ({}, {"transport": "git", "git_url": f"file://{world.root}"}):
        world.cursor = None
        connector = world.connector(branch="v1", **more)
        (ref,) = world.scan(connector).refs.values()
        blob = connector.fetch(ref, None)
        assert isinstance(blob, Blob)
        assert (blob.data, blob.commit) == (b"one", first)


@pytest.mark.parametrize("transport", ["api", "git"])
@pytest.mark.parametrize("others", [0, 9])
def test_large_files_come_whole_singly_and_by_archive(world: World, transport: str, others: int) -> None:
    large, larger = b"# Large\n" * 150_000, bytes(range(256)) * 12_000
    world.repository().put({"large.md": large, "larger.pdf": larger, **{f"{i}.md": str(i) for i in range(others)}})
    connector = world.connector(transport=transport, git_url=f"file://{world.root}")
    refs = world.scan(connector).refs
    assert bytes_of(connector, refs["acme/api/large.md"]) == large
    assert bytes_of(connector, refs["acme/api/larger.pdf"]) == larger


@pytest.mark.parametrize("transport", ["api", "git"])
def test_file_over_the_limit_is_set_aside_with_its_size(world: World, transport: str) -> None:
    world.repository().put({"large.txt": "x" * 40_000, "small.txt": "s"})
    connector = world.connector(max_bytes="10KiB", transport=transport, git_url=f"file://{world.root}")
    refs = world.scan(connector).refs
    with pytest.raises(DocumentRefused, match="40,000 bytes") as caught:
        connector.fetch(refs["acme/api/large.txt"], None)
    assert "raise max_bytes" in caught.value.advice
    assert bytes_of(connector, refs["acme/api/small.txt"]) == b"s"


def test_no_file_over_100_mib_can_be_asked_for() -> None:
    with pytest.raises(ValueError, match="max_bytes"):
        GitHubConfig.model_validate({"repo": "acme/api", "max_bytes": "101MiB"})


def test_names_that_lead_out_are_told_and_never_written(world: World) -> None:
    world.repository().put({"good.md": "good", "a.md": "a"})

    def evil(line: str, reply: Any) -> Any:
        if "git/trees" in line:
            told = json.loads(reply.body)
            entry = told["tree"][0]
            names = ("../evil.md", "docs/../../evil.md", "/etc/evil.md", ".git/evil.md", "")
            told["tree"] += [{**entry, "path": name} for name in names]
            reply.body = json.dumps(told).encode()
        return reply

    world.server.tamper = evil
    connector = world.connector()
    found = world.scan(connector)
    assert set(found.refs) == {"acme/api/good.md", "acme/api/a.md"}
    assert len(found.failed) == 5
    assert all("no name a file can have" in said for said in found.failed.values())
    assert bytes_of(connector, found.refs["acme/api/good.md"]) == b"good"


@pytest.mark.parametrize("what", ["bomb", "no archive", "another one", "nothing"])
def test_archive_that_is_not_what_it_should_be_costs_only_itself(world: World, what: str) -> None:
    world.repository().put({f"{i}.md": str(i) for i in range(9)})
    inside = io.BytesIO()
    with tarfile.open(fileobj=inside, mode="w:gz") as tar:
        info = tarfile.TarInfo("x/0.md")
        info.size = 200 * 2**20 if what == "bomb" else 1
        tar.addfile(info, Zeros(info.size) if what == "bomb" else io.BytesIO(b"z"))
    bodies = {"bomb": inside.getvalue(), "another one": inside.getvalue(), "no archive": b"<html>", "nothing": b""}
    assert len(inside.getvalue()) < 300_000

    def tampered(line: str, reply: Any) -> Any:
        if "codeload" in line:
            reply.body = bodies[what]
        return reply

    world.server.tamper = tampered
    connector = world.connector()
    refs = world.scan(connector).refs
    assert {bytes_of(connector, ref) for ref in refs.values()} == {str(i).encode() for i in range(9)}
    assert sum("git/blobs" in line for line in world.server.log) == 9


class Zeros(io.RawIOBase):
    """So many zeros, none of them in memory."""

    def __init__(self, left: int) -> None:
        self._left = left

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        given = min(self._left, size if size >= 0 else self._left)
        self._left -= given
        return bytes(given)


def test_blob_of_other_bytes_than_its_id_says_is_refused(world: World) -> None:
    world.repository().put({"a.md": "a"})
    connector = world.connector()
    (ref,) = world.scan(connector).refs.values()

    def other(line: str, reply: Any) -> Any:
        if "git/blobs" in line:
            reply.body = b"something else"
        return reply

    world.server.tamper = other
    with pytest.raises(Exception, match="other bytes than its id says"):
        connector.fetch(ref, None)


@pytest.mark.parametrize("body", [b"<html>Log in to the network</html>", b"[]", b'"x"', b"{}", b'{"sha": "x"}', b""])
def test_what_is_no_github_pauses_the_source_and_deletes_nothing(world: World, body: bytes) -> None:
    world.repository().put({"a.md": "a"})

    def portal(_: str, reply: Any) -> Any:
        reply.body, reply.status = body, 200
        return reply

    world.server.tamper = portal
    found = world.scan(world.connector())
    assert not found.complete or found.failed
    assert "not its api" in found.failed["acme/api/"]
    assert isinstance(next(event.error for event in found.events if hasattr(event, "error")), Unavailable)


def test_gzip_that_ends_early_is_no_archive(world: World) -> None:
    world.repository().put({f"{i}.md": str(i) * 500 for i in range(9)})

    def cut(line: str, reply: Any) -> Any:
        if "codeload" in line:
            reply.body = gzip.compress(gzip.decompress(reply.body)[:2000])
        return reply

    world.server.tamper = cut
    connector = world.connector()
    refs = world.scan(connector).refs
    assert {bytes_of(connector, ref)[:1] for ref in refs.values()} == {str(i).encode() for i in range(9)}


def test_no_git_where_git_is_wanted_is_told_before_anything(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="git is not installed"):
        world.connector(transport="git")


def test_lfs_that_fails_is_tried_again_and_its_bytes_are_proved(world: World) -> None:
    data = b"# large file\n"
    oid = hashlib.sha256(data).hexdigest()
    world.repository().put(
        {"big.md": f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(data)}\n"}
    )
    connector = world.connector(token="t")
    (ref,) = world.scan(connector).refs.values()
    world.server.lfs[oid] = b"something else"
    with pytest.raises(DocumentError, match="other bytes than its id says"):
        connector.fetch(ref, None)
    world.server.lfs[oid] = data
    world.server.fail("objects/batch", 500, times=99)
    with pytest.raises(DocumentError, match="fails with status 500") as caught:
        connector.fetch(ref, None)
    assert not isinstance(caught.value, DocumentRefused)
    world.server.faults.clear()
    for body in (b"[]", b'{"objects": [1]}', b'{"objects": []}'):
        world.server.tamper = lambda line, reply, body=body: (
            type(reply)(200, body) if "objects/batch" in line else reply
        )
        with pytest.raises(DocumentRefused, match="does not have it"):
            connector.fetch(ref, None)
    world.server.tamper = lambda _, reply: reply
    assert bytes_of(connector, ref) == data


JUNK = ["[]", "{}", '"x"', "null", "1", "[[]]", "[{}]", "[null]", '{"tree": null}', '{"tree": [{}]}', '{"tree": [1]}']
JUNK += ['{"data": null}', '{"data": {"repository": null}}', '{"errors": [1]}', '{"errors": "x"}', "[1,"]
MARKS = ["/commits", "git/trees", "orgs/", "issues", "comments", "releases", "graphql", "/repositories/1 ", "/repos/"]


@pytest.mark.parametrize("mark", MARKS)
def test_replies_of_other_shapes_are_told_and_delete_nothing(world: World, mark: str) -> None:
    repo = world.repository()
    repo.put({"a.md": "a"})
    repo.issues = [issue(1, "T", "B", "2026-11-01T09:00:00Z", _comments=[comment(1, "C", "2026-11-01T09:00:00Z")])]
    repo.releases = [release(1, "v1", "Notes.", "2026-11-01T09:00:00Z")]
    repo.discussions = [discussion(1, "T", "B", "2026-11-01T09:00:00Z")]
    sent: list[str] = []

    def junk(line: str, reply: Any) -> Any:
        if sent and mark in f"{line} ":
            reply.body, reply.status = sent[-1].encode(), 200
        return reply

    world.server.tamper = junk
    also = ("issues", "pulls", "releases", "discussions", "about")
    held = world.scan(world.connector("acme/*", "acme/api", also=also, token="t", edits=True)).refs
    assert len(held) == 4
    for body in JUNK:
        sent.append(body)
        connector = world.connector("acme/*", "acme/api", also=also, token="t", edits=True)
        world.cursor = None
        with contextlib.suppress(ConnectorError):
            world.scan(connector)
        for ref in held.values():
            with contextlib.suppress(ConnectorError):
                connector.fetch(ref, None)
