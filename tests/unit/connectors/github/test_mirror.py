"""What a mirror asks for, and what becomes of repositories that move, vanish or refuse."""

import contextlib
import hashlib
import re
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from connectors.contract import Blob, Unchanged
from connectors.errors import AuthError, DocumentGone, DocumentRefused, Unavailable
from connectors.github.errors import BudgetSpent
from connectors.github.library import requester_over
from connectors.testing.github_repository import Repository

World = Any
Text = Any


def asked(world: World) -> list[str]:
    """The kinds of requests so far."""
    marks = ("commits", "git/trees", "git/blobs", "tarball", "codeload", "repos?", "repositories")
    return [next((mark for mark in marks if mark in line), line) for line in world.server.log]


def test_first_mirror_costs_three_requests_and_a_download(world: World, text: Text) -> None:
    world.repository().put({f"docs/{i}.md": f"# {i}" for i in range(60)})
    connector = world.connector()
    refs = world.scan(connector).refs
    texts = {text(connector, ref) for ref in refs.values()}
    assert len(texts) == 60
    assert asked(world) == ["commits", "git/trees", "tarball", "codeload"]


def test_unchanged_repository_costs_one_conditional_request(world: World) -> None:
    world.repository().put({"a.md": "a"})
    world.scan(world.connector())
    again = world.scan(world.connector())
    assert world.server.log == ["GET /repositories/1/commits/HEAD 304"]
    assert not again.refs
    assert not again.complete


def test_one_changed_file_costs_three_requests(world: World, text: Text) -> None:
    repo = world.repository()
    repo.put({f"{i}.md": str(i) for i in range(60)})
    world.scan(world.connector())
    repo.put({"7.md": "seven"})
    connector = world.connector()
    refs = world.scan(connector).refs
    assert text(connector, refs["acme/api/7.md"]) == "seven"
    assert asked(world) == ["commits", "git/trees", "git/blobs"]


def test_every_edit_costs_three_requests_however_long_it_runs(world: World, text: Text) -> None:
    repo = world.repository()
    repo.put({f"{i}.md": str(i) for i in range(5)})
    connector = world.connector()
    for ref in world.scan(connector).refs.values():
        text(connector, ref)
    for number in range(12):
        repo.put({"3.md": f"edit {number}"})
        assert text(connector, world.scan(connector).refs["acme/api/3.md"]) == f"edit {number}"
        assert asked(world) == ["commits", "git/trees", "git/blobs"]


def test_reading_everything_again_costs_little_more_than_the_first_time(world: World, text: Text) -> None:
    world.repository().put({f"{i}.md": str(i) for i in range(60)})
    refs = world.scan(world.connector()).refs
    connector = world.connector()
    assert not world.scan(connector).refs
    assert {text(connector, ref) for ref in refs.values()} == {str(i) for i in range(60)}
    counts = {kind: asked(world).count(kind) for kind in ("git/blobs", "git/trees", "tarball", "codeload")}
    assert counts == {"git/blobs": 8, "git/trees": 1, "tarball": 1, "codeload": 1}


def test_document_is_pinned_to_the_head_it_was_read_at(world: World) -> None:
    commit = world.repository().put({"docs/ö #1.md": "[a](../b.md)"})
    connector = world.connector()
    (ref,) = world.scan(connector).refs.values()
    blob = connector.fetch(ref, None)
    assert isinstance(blob, Blob)
    assert (blob.repo, blob.commit, blob.filename) == ("acme/api", commit, "ö #1.md")
    assert blob.url == f"https://github.com/acme/api/blob/{commit}/docs/%C3%B6%20%231.md"
    assert blob.data == f"[a](https://github.com/acme/api/blob/{commit}/b.md)".encode()
    assert ref.content == ref.token == blob.token


def test_commit_to_another_file_changes_no_ref(world: World) -> None:
    repo = world.repository()
    repo.put({"a.md": "a"})
    before = world.scan(world.connector()).refs
    repo.put({"b.py": "b"})
    assert world.scan(world.connector()).refs == before


def test_known_token_is_not_downloaded(world: World) -> None:
    world.repository().put({"a.md": "a"})
    connector = world.connector()
    (ref,) = world.scan(connector).refs.values()
    assert connector.fetch(ref, ref.token) == Unchanged(ref.token)
    assert asked(world) == ["commits", "git/trees"]


def test_file_left_out_of_the_archive_is_fetched_singly(world: World, text: Text) -> None:
    files = {f"{i}.md": str(i) for i in range(10)}
    world.repository().put(
        {
            **files,
            "hidden.md": "hidden",
            "eol.md": "a\nb\n",
            ".gitattributes": "hidden.md export-ignore\neol.md eol=crlf\n",
        }
    )
    connector = world.connector()
    refs = world.scan(connector).refs
    assert text(connector, refs["acme/api/hidden.md"]) == "hidden"
    assert text(connector, refs["acme/api/eol.md"]) == "a\nb\n"
    assert asked(world).count("git/blobs") == 2


def test_missing_archive_falls_back_to_blobs(world: World, text: Text) -> None:
    world.repository().put({f"{i}.md": str(i) for i in range(10)})
    world.server.archives = False
    connector = world.connector()
    assert {text(connector, ref) for ref in world.scan(connector).refs.values()} == {str(i) for i in range(10)}


def test_renamed_repository_keeps_its_keys_and_is_followed_by_number(world: World) -> None:
    repo = world.repository()
    repo.put({"a.md": "a"})
    before = world.scan(world.connector()).refs
    world.server.rename("acme/api", "other/interface")
    repo.put({"b.md": "b"})
    connector = world.connector()
    renamed = world.scan(connector)
    assert before.items() <= renamed.refs.items()
    assert renamed.complete == ["acme/api/"]
    blob = connector.fetch(renamed.refs["acme/api/b.md"], None)
    assert isinstance(blob, Blob)
    assert blob.repo == "other/interface"
    world.scan(world.connector())
    assert world.server.log == ["GET /repositories/1/commits/HEAD 304"]


def test_name_taken_over_between_two_scans_is_not_mirrored(world: World) -> None:
    repo = world.repository()
    repo.put({"a.md": "ours"})
    world.scan(world.connector())
    world.server.rename("acme/api", "acme/interface")
    stranger_at(world, "acme/api").put({"evil.md": "theirs"})
    assert not world.scan(world.connector()).refs
    repo.put({"b.md": "ours too"})
    connector = world.connector()
    found = world.scan(connector)
    assert set(found.refs) == {"acme/api/a.md", "acme/api/b.md"}
    blob = connector.fetch(found.refs["acme/api/b.md"], None)
    assert isinstance(blob, Blob)
    assert blob.repo == "acme/interface", "the name of now, though nothing redirected"


def test_repository_deleted_and_its_name_taken_over_keeps_what_was_mirrored(world: World) -> None:
    world.repository().put({"a.md": "ours"})
    world.scan(world.connector())
    stranger_at(world, "acme/api").put({"evil.md": "theirs"})
    found = world.scan(world.connector())
    assert not found.refs
    assert not found.complete
    assert "another repository lies at acme/api now" in found.failed["acme/api/"]


def test_new_repository_under_a_former_name_gets_keys_of_its_own(world: World) -> None:
    world.repository().put({"a.md": "first"})
    world.scan(world.connector("acme/*"))
    world.server.rename("acme/api", "acme/interface")
    stranger_at(world, "acme/api").put({"a.md": "second"})
    found = world.scan(world.connector("acme/*"))
    assert set(found.refs) == {"acme/api~66/a.md"}
    assert found.complete == ["acme/api~66/"], "of the renamed one nothing changed"
    world.cursor = None
    assert set(world.scan(world.connector("acme/*")).refs) == {"acme/api/a.md", "acme/api~66/a.md"}


def test_server_that_tells_no_numbers_is_mirrored_by_name(world: World) -> None:
    repo = world.repository()
    repo.put({"a.md": "a"})

    def numberless(line: str, reply: Any) -> Any:
        if "/repositories/" in line:
            return type(reply).json({"message": "Not Found"}, 404)
        reply.body = re.sub(rb'"node_id": "[^"]*"', b'"node_id": "x"', reply.body)
        return reply

    world.server.tamper = numberless
    world.scan(world.connector())
    assert not world.scan(world.connector()).refs
    assert world.server.log == ["GET /repos/acme/api/commits/HEAD 304"]
    repo.put({"b.md": "b"})
    assert len(world.scan(world.connector()).refs) == 2
    world.cursor = None
    connector = world.connector("acme/*")
    (ref,) = (ref for ref in world.scan(connector).refs.values() if ref.key == "acme/api/b.md")
    assert isinstance(connector.fetch(ref, None), Blob), "though the listing of the owner tells its number"


def stranger_at(world: World, name: str) -> Any:
    """Another repository where one was before."""
    stranger = Repository.create(world.root / "elsewhere", name, 66)
    world.server.repositories[name] = stranger
    return stranger


def test_repository_that_vanished_keeps_everything(world: World) -> None:
    repo = world.repository()
    repo.put({"a.md": "a"})
    world.scan(world.connector())
    repo.visible = False
    gone = world.scan(world.connector())
    assert not gone.complete
    assert "deleted, or the credential may not see it" in gone.failed["acme/api/"]


def test_force_push_is_a_change_like_any_other(world: World, text: Text) -> None:
    repo = world.repository()
    repo.put({"a.md": "a", "b.md": "b"})
    world.scan(world.connector())
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.git("rm", "-rfq", ".")
    repo.put({"a.md": "anew"})
    repo.git("branch", "-M", "fresh", "main")
    repo.git("checkout", "-q", "main")
    connector = world.connector()
    pushed = world.scan(connector)
    assert set(pushed.refs) == {"acme/api/a.md"}
    assert pushed.complete == ["acme/api/"]
    assert text(connector, pushed.refs["acme/api/a.md"]) == "anew"


def test_change_of_the_default_branch_is_followed(world: World) -> None:
    repo = world.repository()
    repo.put({"a.md": "a"})
    world.scan(world.connector())
    repo.git("checkout", "-q", "-b", "next")
    repo.default_branch = "next"
    repo.put({"b.md": "b"})
    assert "acme/api/b.md" in world.scan(world.connector()).refs


def test_empty_repository_is_complete_and_a_missing_branch_is_not(world: World) -> None:
    repo = world.repository()
    assert world.scan(world.connector()).complete == [""]
    repo.put({"a.md": "a"})
    world.cursor = None
    missing = world.scan(world.connector(branch="gone"))
    assert "no commit found" in missing.failed["acme/api/"]


def test_pattern_that_matches_nothing_is_said(world: World) -> None:
    world.repository().put({"docs/a.md": "a"})
    found = world.scan(world.connector(paths=("docs/**", "handbook/**")))
    assert found.failed == {"!paths/handbook/**": "the pattern 'handbook/**' matches no file"}
    assert set(found.refs) == {"acme/api/docs/a.md"}


def test_cut_tree_is_walked_and_proves_nothing_where_it_fails(world: World) -> None:
    repo = world.repository(truncate=3)
    repo.put({"a/1.md": "1", "a/b/2.md": "2", "c/3.md": "3", "c/4.md": "4"})
    assert len(world.scan(world.connector()).refs) == 4
    sha = repo.git("rev-parse", "HEAD:a").decode().strip()
    world.cursor = None
    world.server.fail(f"git/trees/{sha}", 500, times=99)
    cut = world.scan(world.connector())
    assert set(cut.refs) == {"acme/api/c/3.md", "acme/api/c/4.md"}
    assert set(cut.failed) == {"acme/api/a/"}
    world.server.faults.clear()
    assert len(world.scan(world.connector()).refs) == 4, "what had gaps is listed again though the head is the same"


def test_links_are_resolved_inside_the_repository_only(world: World, text: Text) -> None:
    repo = world.repository()
    repo.put({"docs/real.md": "real", "plain.txt": "p"})
    for name, target in {
        "README.md": "docs/real.md",
        "loop.md": "loop.md",
        "out.md": "../../etc/passwd.md",
        "abs.md": "/etc/hosts",
        "dir": "docs",
        "through.md": "dir/real.md",
    }.items():
        (repo.path / name).symlink_to(target)
    repo.commit()
    connector = world.connector()
    refs = world.scan(connector).refs
    assert set(refs) == {f"acme/api/{name}" for name in ("docs/real.md", "plain.txt", "README.md", "through.md")}
    assert text(connector, refs["acme/api/README.md"]) == "real"
    world.cursor = None
    world.scan(world.connector())
    assert asked(world) == ["commits", "git/trees"], "links are read once"


def test_only_links_that_matter_are_read_and_one_that_fails_keeps_its_document(world: World) -> None:
    repo = world.repository()
    repo.put({"docs/real.md": "real", "logo.svg": "<svg/>"})
    for number in range(5):
        (repo.path / f"logo-{number}.svg").symlink_to("logo.svg")
        (repo.path / f"page-{number}.md").symlink_to(f"./{'././' * number}docs/real.md")
    repo.commit()
    world.server.fail("git/blobs", 500, times=4)
    first = world.scan(world.connector())
    assert set(first.failed) == {"acme/api/page-0.md"}, "the client tried it as often as it may"
    again = world.scan(world.connector())
    assert {key.rpartition("/")[2] for key in again.refs} == {"real.md", *(f"page-{i}.md" for i in range(5))}
    assert asked(world).count("git/blobs") == 1, "the others are known"


def test_document_behind_what_cannot_be_listed_is_not_called_gone(world: World) -> None:
    repo = world.repository(truncate=2)
    repo.put({"a/1.md": "1", "b/2.md": "2"})
    refs = world.scan(world.connector()).refs
    sha = repo.git("rev-parse", "HEAD:a").decode().strip()
    world.server.fail(f"git/trees/{sha}", 500, times=99)
    with pytest.raises(Unavailable):
        world.connector().fetch(refs["acme/api/a/1.md"], None)


def test_more_links_than_are_read_at_once_follow_at_the_next_sync(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.github.links._AT_ONCE", 3)
    repo = world.repository()
    repo.put({f"docs/{number}.md": str(number) for number in range(7)})
    for number in range(7):
        (repo.path / f"{number}.md").symlink_to(f"docs/{number}.md")
    repo.commit()
    counts = [len(world.scan(world.connector()).refs) for _ in range(3)]
    assert counts == [7 + 3, 7 + 6, 7 + 7]
    assert not world.scan(world.connector()).failed


def test_submodules_are_noted_and_not_read(world: World) -> None:
    repo = world.repository()
    repo.put({"a.md": "a"})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},docs/theme")
    repo.git("commit", "-q", "-m", "Add a submodule")
    told: list[str] = []
    for _ in range(2):
        connector = world.connector()
        connector.say = told.append
        world.cursor = None
        assert set(world.scan(connector).refs) == {"acme/api/a.md"}
    assert told == ["acme/api/docs/theme is a submodule and not read; name its repository to have it"]


def test_lfs_file_is_fetched_and_a_missing_one_is_set_aside(world: World) -> None:
    data = b"# large file\n"
    oid = hashlib.sha256(data).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(data)}\n"
    world.repository().put({"big.md": pointer, "lost.md": pointer.replace(oid, "0" * 64)})
    world.server.lfs[oid] = data
    connector = world.connector()
    refs = world.scan(connector).refs
    blob = connector.fetch(refs["acme/api/big.md"], None)
    assert isinstance(blob, Blob)
    assert blob.data == data
    with pytest.raises(DocumentRefused, match="does not have it"):
        connector.fetch(refs["acme/api/lost.md"], None)
    with pytest.raises(DocumentRefused, match="LFS, which is off"):
        world.connector(lfs=False).fetch(refs["acme/api/big.md"], None)


def test_file_over_the_limit_is_refused_without_a_request(world: World) -> None:
    world.repository().put({"big.txt": "x" * 3000})
    connector = world.connector(max_bytes=2000)
    (ref,) = world.scan(connector).refs.values()
    with pytest.raises(DocumentRefused, match="3,000 bytes"):
        connector.fetch(ref, None)
    assert asked(world) == ["commits", "git/trees"]


def test_odd_names_are_documents(world: World, text: Text) -> None:
    names = ["a\nb.md", "c#d?.md", "ö.md", "sp ace.md", "%41.md", "-x.md"]
    world.repository().put({name: name for name in names})
    connector = world.connector()
    refs = world.scan(connector).refs
    assert {text(connector, ref) for ref in refs.values()} == set(names)


def test_owner_pattern_takes_neither_forks_nor_archived(world: World) -> None:
    for name, traits in {
        "docs-a": {},
        "docs-b": {},
        "docs-f": {"fork": True},
        "docs-o": {"archived": True},
        "x": {},
    }.items():
        world.repository(f"acme/{name}", traits=traits).put({"a.md": name})
    assert set(world.scan(world.connector("acme/docs-*")).refs) == {"acme/docs-a/a.md", "acme/docs-b/a.md"}
    world.scan(world.connector("acme/docs-*"))
    assert [line.rpartition(" ")[2] for line in world.server.log] == ["304"] * 3


def test_archived_repository_leaves_an_owner_pattern_and_a_vanished_one_does_not(world: World) -> None:
    for name in "ab":
        world.repository(f"acme/{name}").put({"a.md": name})
    world.scan(world.connector("acme/*"))
    world.server.repositories["acme/a"].traits["archived"] = True
    assert world.scan(world.connector("acme/*")).complete == ["acme/a/"]
    world.server.repositories["acme/b"].visible = False
    world.repository("acme/c").put({"a.md": "c"})
    hidden = world.scan(world.connector("acme/*"))
    assert hidden.complete == ["acme/c/"]
    assert set(hidden.failed) == {"acme/b/"}
    world.cursor = None
    assert set(world.scan(world.connector("acme/*")).failed) == {"acme/b/"}


def test_owner_of_many_repositories_fits_into_notes(world: World) -> None:
    only = world.repository("acme/r0", traits={"name": "r0"})
    only.put({"a.md": "a"})
    for number in range(1, 200):
        name = f"a-repository-with-a-{'very-' * 80}long-name-{number}"  # as many bytes as thousands of usual ones
        world.server.repositories[f"acme/{name}"] = replace(only, name=name, number=number + 1)
    world.server.tamper = lambda line, reply: type(reply)(409) if "/commits/" in line else reply
    assert not world.scan(world.connector("acme/*")).failed
    world.server.repositories[f"acme/{name}"].visible = False
    assert set(world.scan(world.connector("acme/*")).failed) == {f"acme/{name}/"}


def test_one_broken_repository_costs_no_other(world: World) -> None:
    for name in "ab":
        world.repository(f"acme/{name}").put({"a.md": name})
    world.server.fail("acme/a/", 500, times=99)
    found = world.scan(world.connector("acme/a", "acme/b", "acme/nothing"))
    assert set(found.refs) == {"acme/b/a.md"}
    assert set(found.failed) == {"acme/a/", "acme/nothing/"}


def test_git_gives_what_the_api_gives(world: World, text: Text) -> None:
    repo = world.repository()
    repo.put({f"docs/{i}.md": f"[{i}](x.md)" for i in range(70)} | {"a.py": "", "ä.md": "ä"})
    (repo.path / "README.md").symlink_to("docs/1.md")
    repo.commit()
    ways = [world.connector(), world.connector(transport="git", git_url=f"file://{world.root}")]
    told = []
    for connector in ways:
        world.cursor = None
        refs = world.scan(connector).refs
        told.append({key: (ref.token, ref.url, text(connector, ref)) for key, ref in refs.items()})
    assert len(told[0]) == 72
    assert told[0] == told[1]


def test_scope_of_a_folder_lists_that_folder(world: World) -> None:
    world.repository().put({"docs/a.md": "a", "b.md": "b"})
    scoped = world.scan(world.connector(), "acme/api/docs/")
    assert set(scoped.refs) == {"acme/api/docs/a.md"}
    assert scoped.complete == ["acme/api/docs/"]


def test_document_deleted_since_the_scan_is_gone(world: World) -> None:
    repo = world.repository()
    repo.put({"a.md": "a", "b.md": "b"})
    connector = world.connector()
    refs = world.scan(connector).refs
    (repo.path / "a.md").unlink()
    repo.commit()
    world.now = world.now.replace(day=2)
    with pytest.raises(DocumentGone):
        connector.fetch(refs["acme/api/a.md"], None)


# -- limits and credentials


def test_bad_credentials_stop_the_source(world: World) -> None:
    world.repository().put({"a.md": "a"})
    world.server.tokens = {"good"}
    with pytest.raises(AuthError, match="refuses the credential"):
        world.scan(world.connector(token="bad"))
    assert world.scan(world.connector(token="good")).refs


def test_single_sign_on_is_told_and_costs_one_repository(world: World) -> None:
    world.repository().put({"a.md": "a"})
    world.server.fail("commits", 403, headers={"X-GitHub-SSO": "required; url=https://github.com/x"}, message="SSO")
    assert "single sign-on" in world.scan(world.connector()).failed["acme/api/"]


def test_reserve_is_kept_and_the_wait_is_told(world: World) -> None:
    for name in "ab":
        world.repository(f"acme/{name}").put({"a.md": name})
    world.server.budget.limit, world.server.budget.used = 100, 89
    connector = world.connector("acme/a", "acme/b")
    world.server.budget.reset = int(time.time()) + 1800
    with pytest.raises(BudgetSpent, match="kept in reserve") as caught:
        world.scan(connector)
    assert caught.value.retry_after_s is not None
    assert 1700 < caught.value.retry_after_s <= 1801
    assert world.server.budget.used == 90


@pytest.mark.parametrize(
    ("status", "headers", "waited"),
    [(429, {"Retry-After": "7"}, 7.0), (403, {"Retry-After": "9"}, 9.0), (429, {}, 60.0)],
)
def test_secondary_limit_is_waited_for(world: World, status: int, headers: dict[str, str], waited: float) -> None:
    world.repository().put({"a.md": "a"})
    world.server.fail("commits", status, headers=headers, message="You have exceeded a secondary rate limit.")
    assert world.scan(world.connector()).refs
    assert waited in world.slept


def test_secondary_limit_without_a_time_pauses_the_source_for_a_minute(world: World) -> None:
    world.repository().put({"a.md": "a"})
    message = "You have exceeded a secondary rate limit and have been temporarily blocked from content creation."
    world.server.fail("git/trees", 403, message=message)
    with pytest.raises(BudgetSpent) as caught:
        world.scan(world.connector())
    assert caught.value.retry_after_s == 60.0


def test_app_installation_gets_and_renews_its_token(world: World) -> None:
    pem = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    world.repository().put({"a.md": "a"})
    world.server.tokens = set()
    connector = world.connector(app_id=5, private_key=pem.decode())
    assert world.scan(connector).refs
    world.scan(connector)
    assert world.server.installation_tokens == 1
    credential = connector._transport._sender._credential
    credential._now = lambda: datetime.now(UTC) + timedelta(minutes=56)
    world.scan(connector)
    assert world.server.installation_tokens == 2, "five minutes before its end a token is renewed"


def test_no_secret_is_shown(world: World) -> None:
    world.repository()
    connector = world.connector(token="ghp_canary")
    with contextlib.suppress(AuthError):
        world.scan(connector)
    assert "canary" not in repr(connector) + repr(vars(connector))


def test_last_edit_is_told_on_request(world: World) -> None:
    repo = world.repository()
    repo.put({"a.md": "a"})
    repo.put({"b.md": "b"})
    connector = world.connector(edits=True)
    blob = connector.fetch(world.scan(connector).refs["acme/api/a.md"], None)
    assert isinstance(blob, Blob)
    assert (blob.tags, blob.modified) == (("by:Ada Example",), datetime(2026, 12, 1, 9, tzinfo=UTC))


def test_threads_that_share_a_connection_get_their_own_answers(world: World) -> None:
    for name in ("mine", "theirs"):
        world.repository(f"acme/{name}")
    world.connector()
    shared = requester_over(world.clients[0], world.server.url)._Requester__createConnection()  # type: ignore[attr-defined]  # private to PyGithub
    shared.request("GET", "/repos/acme/mine", None, {})
    other = threading.Thread(target=shared.request, args=("GET", "/repos/acme/theirs", None, {}))
    other.start()
    other.join()
    assert '"acme/mine"' in shared.getresponse().read()
