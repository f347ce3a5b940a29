"""The git transport over HTTP, as GitHub speaks it: credentials, redirects, refusals."""

import threading
from typing import Any

import pytest

from connectors.contract import Blob
from connectors.errors import AuthError, DocumentRefused, Unavailable
from connectors.http.errors import Stopped
from connectors.testing.github_repository import Repository

World = Any


def bytes_of(connector: Any, ref: Any) -> bytes:
    blob = connector.fetch(ref, None)
    assert isinstance(blob, Blob)
    assert isinstance(blob.data, bytes)
    return blob.data


def test_private_repository_is_read_with_the_token(world: World) -> None:
    world.repository().put({f"{i}.md": str(i) * 3000 for i in range(60)})
    world.server.tokens = {"good"}
    connector = world.connector(transport="git", token="good")
    refs = world.scan(connector).refs
    assert {bytes_of(connector, ref)[:1] for ref in refs.values()} == {str(i)[:1].encode() for i in range(60)}
    assert {line.partition(" ")[2] for line in world.server.log} == {
        "/acme/api.git/info/refs 200",
        "/acme/api.git/git-upload-pack 200",
    }, "nothing of the API's budget"
    with pytest.raises(AuthError, match="git is refused for acme/api") as caught:
        world.scan(world.connector(transport="git", token="bad"))
    assert "bad" not in str(caught.value)
    nobody = world.scan(world.connector("acme/api", "acme/nothing", transport="git"))
    assert set(nobody.failed) == {"acme/api/", "acme/nothing/"}
    assert "without a credential" in nobody.failed["acme/api/"]


def test_repository_that_moved_is_followed_by_git(world: World) -> None:
    repo = world.repository()
    repo.put({"a.md": "a"})
    world.scan(world.connector(transport="git"))
    world.server.rename("acme/api", "other/interface")
    repo.put({"b.md": "b"})
    connector = world.connector(transport="git")
    found = world.scan(connector)
    assert set(found.refs) == {"acme/api/a.md", "acme/api/b.md"}
    assert bytes_of(connector, found.refs["acme/api/b.md"]) == b"b"


def test_what_git_cannot_reach_is_told_and_kept(world: World) -> None:
    world.repository().put({"a.md": "a"})
    world.scan(world.connector(transport="git"))
    missing = world.scan(world.connector("acme/api", "acme/nothing", transport="git"))
    assert set(missing.failed) == {"acme/nothing/"}
    world.server.fail(r"\.git/", 500, times=9)
    failing = world.scan(world.connector(transport="git"))
    assert set(failing.failed) == {"acme/api/"}
    (event,) = (event for event in failing.events if hasattr(event, "error"))
    assert isinstance(event.error, Unavailable)
    assert "git cannot read acme/api" in event.error.message


@pytest.mark.parametrize(
    ("status", "error"),
    [(500, Unavailable), (503, Unavailable), (404, DocumentRefused), (401, AuthError), (403, AuthError)],
)
def test_what_git_says_is_told_from_what_a_repository_is_called(world: World, status: int, error: type) -> None:
    name = "acme/error-404-403-401-not-found"
    world.repository(name).put({"a.md": "a"})
    world.server.fail(r"\.git/", status, times=9)
    connector = world.connector(name, transport="git", token="t")
    if error is AuthError:
        with pytest.raises(AuthError):
            world.scan(connector)
        return
    (event,) = (event for event in world.scan(connector).events if hasattr(event, "error"))
    assert isinstance(event.error, error)


def test_wiki_is_read_over_http(world: World) -> None:
    world.repository().put({"a.md": "a"})
    world.repository("acme/api.wiki").put({"Home.md": "# Welcome"})
    world.server.tokens = {"good"}
    connector = world.connector(also=("wiki",), token="good")
    ref = world.scan(connector).refs["acme/api!wiki/Home.md"]
    assert bytes_of(connector, ref) == b"# Welcome"


def test_nobody_asks_for_a_wiki_that_is_not_there(world: World) -> None:
    world.repository().put({"a.md": "a"})
    world.server.fail(r"\.wiki\.git/", 401, times=9)
    found = world.scan(world.connector(also=("wiki",)))
    assert (set(found.refs), found.failed) == ({"acme/api/a.md"}, {})


def test_api_and_git_over_http_give_the_same(world: World) -> None:
    repo: Repository = world.repository()
    repo.put({f"docs/{i}.md": f"[{i}](x.md)" for i in range(70)} | {"ä.md": "ä", "large.txt": "x" * 2_000_000})
    told: list[dict[str, tuple[object, ...]]] = []
    for transport in ("api", "git"):
        world.cursor = None
        connector = world.connector(transport=transport)
        refs = world.scan(connector).refs
        told.append({key: (ref.token, ref.url, connector.fetch(ref, None)) for key, ref in refs.items()})
    assert len(told[0]) == 72
    assert told[0] == told[1]


def test_stop_ends_git_in_the_middle(world: World) -> None:
    world.repository().put({"a.md": "a"})
    connector = world.connector(transport="git")
    stop = connector.stop = threading.Event()
    reached, over = threading.Event(), threading.Event()

    def stuck(_: str, reply: Any) -> Any:
        reached.set()
        over.wait(60)
        return reply

    def stopping() -> None:
        if reached.wait(60):
            stop.set()

    world.server.tamper = stuck
    threading.Thread(target=stopping, daemon=True).start()
    with pytest.raises(Stopped):
        world.scan(connector)
    over.set()
