"""The stand-in answers as the recorded service does, and plays along when told."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from connectors.testing import notion_shapes as shapes
from connectors.testing.notion import made_up
from connectors.testing.notion_server import NotionServer

REPOSITORY = Path(__file__).parents[4]
RECORDED = REPOSITORY / "tests" / "recorded" / "notion"
BODIES = [
    json.loads(line)["body"]
    for name in ("blocks", "sdk")
    for line in (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8").strip().split("\n")
]
NAMES = {bool: "boolean", str: "string", int: "integer", list: "array", dict: "object", type(None): "null"}


def shaped(value: Any, found: dict[str, dict[str, set[str]]]) -> dict[str, dict[str, set[str]]]:
    """Which fields objects of each kind have, and of which types."""
    if isinstance(value, dict):
        kind = value.get("object")
        if isinstance(kind, str):
            fields = found.setdefault(kind, {})
            for name, inner in value.items():
                fields.setdefault(name, set()).add(NAMES[type(inner)])
        for inner in value.values():
            shaped(inner, found)
    elif isinstance(value, list):
        for inner in value:
            shaped(inner, found)
    return found


SHAPES: dict[str, dict[str, set[str]]] = {}
for body in BODIES:
    shaped(body, SHAPES)


def ask(server: NotionServer, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    sent = {"Authorization": "Bearer t", "Notion-Version": "2026-03-11", "Content-Type": "application/json", **headers}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data=data, method=method, headers=sent)  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:  # noqa: S310 - loopback
            return reply.status, json.loads(reply.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def replies(server: NotionServer) -> dict[str, tuple[int, Any]]:
    """One reply of every operation, by its name in the schema."""
    things = server.workspace.things
    page = next(key for key, one in things.items() if one["object"] == "page" and server.workspace.blocks[key])
    source = next(key for key, one in things.items() if one["object"] == "data_source")
    database = things[source]["parent"]["database_id"]
    block = server.workspace.blocks[page][0]["id"]
    server.workspace.add_comment(page, "words")
    return {
        "POST /v1/search": ask(server, "POST", "/v1/search", {"page_size": 5}),
        "POST /v1/data_sources/{data_source_id}/query": ask(server, "POST", f"/v1/data_sources/{source}/query", {}),
        "GET /v1/data_sources/{data_source_id}": ask(server, "GET", f"/v1/data_sources/{source}"),
        "GET /v1/databases/{database_id}": ask(server, "GET", f"/v1/databases/{database}"),
        "GET /v1/pages/{page_id}": ask(server, "GET", f"/v1/pages/{page}"),
        "GET /v1/pages/{page_id}/markdown": ask(server, "GET", f"/v1/pages/{page}/markdown"),
        "GET /v1/pages/{page_id}/properties/{property_id}": ask(server, "GET", f"/v1/pages/{page}/properties/title"),
        "GET /v1/blocks/{block_id}": ask(server, "GET", f"/v1/blocks/{block}"),
        "GET /v1/blocks/{block_id}/children": ask(server, "GET", f"/v1/blocks/{page}/children?page_size=2"),
        "GET /v1/comments": ask(server, "GET", f"/v1/comments?block_id={page}"),
        "GET /v1/users": ask(server, "GET", "/v1/users"),
        "GET /v1/users/me": ask(server, "GET", "/v1/users/me"),
    }


@pytest.fixture(scope="module")
def server() -> Any:
    with NotionServer(made_up(60, 4)) as running:
        yield running


def fits(value: Any, schema: Any) -> bool:
    """Whether a value fits the little of JSON Schema that Notion's description uses."""
    kind = schema.get("type")
    if isinstance(kind, str) and value is not None and NAMES[type(value)] != kind:
        return False
    if isinstance(value, dict):
        inner = schema.get("properties", {})
        return all(fits(value[name], inner[name]) for name in inner if name in value)
    return not isinstance(value, list) or all(fits(one, schema.get("items", {})) for one in value)


def test_every_reply_fits_the_published_schema(server: NotionServer) -> None:
    schemas = json.loads((RECORDED / "responses.json").read_text(encoding="utf-8"))
    found = replies(server)
    assert set(found) == set(schemas)
    for name, (status, body) in found.items():
        assert status == 200, name
        assert fits(body, schemas[name].get("200", {})), name
    markdown = schemas["GET /v1/pages/{page_id}/markdown"]["200"]["properties"]
    assert set(found["GET /v1/pages/{page_id}/markdown"][1]) == {*markdown, "request_id"}


def test_every_object_has_only_fields_that_were_recorded_and_of_their_types(server: NotionServer) -> None:
    found: dict[str, dict[str, set[str]]] = {}
    for _, body in replies(server).values():
        shaped(body, found)
    assert set(found) >= {"list", "page", "data_source", "database", "block", "user", "comment", "page_markdown"}
    for kind, fields in found.items():
        for name, kinds in fields.items():
            if name == "request_id":
                continue
            assert name in SHAPES[kind], f"no recorded {kind} has {name}"
            assert kinds <= SHAPES[kind][name] | {"null"}, f"{kind}.{name} is {kinds}, recorded {SHAPES[kind][name]}"


def test_errors_are_as_recorded(server: NotionServer) -> None:
    gone = f"/v1/pages/{server.workspace.new_id()}"
    for method, path, status, code in (
        ("GET", "/v1/invalid", 400, "invalid_request_url"),
        ("GET", gone, 404, "object_not_found"),
        ("POST", "/v1/search", 400, "validation_error"),
    ):
        answered, body = ask(server, method, path, {"page_size": 500} if method == "POST" else None)
        assert (answered, body["status"], body["code"], body["object"]) == (status, status, code, "error")
        assert body["request_id"]
    status, body = ask(server, "GET", "/v1/users/me", Authorization="Bearer ")
    assert (status, body["code"], body["message"]) == (401, "unauthorized", "API token is invalid.")
    status, body = ask(server, "GET", "/v1/users/me", **{"Notion-Version": ""})
    assert (status, body["code"]) == (400, "missing_version")


def test_times_are_told_to_the_minute() -> None:
    for thing in made_up(30, 3).things.values():
        assert thing["last_edited_time"].endswith(":00.000Z")


def test_a_workspace_has_exactly_the_documents_asked_for() -> None:
    for count in (1, 9, 10, 50, 109, 110, 500):
        things = made_up(count, 7).things.values()
        assert sum(thing["object"] in {"page", "data_source"} for thing in things) == count


def test_the_same_seed_makes_the_same_workspace() -> None:
    assert list(made_up(40, 9).things) == list(made_up(40, 9).things)
    assert list(made_up(40, 9).things) != list(made_up(40, 8).things)


def test_people_can_play_with_it() -> None:
    workspace = made_up(12, 1)
    first = next(iter(workspace.things))
    with NotionServer(workspace) as server:
        assert ask(server, "POST", "/_edit", {"text": "new words"}) == (200, {"id": first})
        assert "new words" in ask(server, "GET", f"/v1/pages/{first}/markdown")[1]["markdown"]
        ask(server, "POST", "/_edit", {"id": first, "title": "New title"})
        assert workspace.things[first]["properties"]["title"]["title"][0]["plain_text"] == "New title"
        ask(server, "POST", "/_fail", {"match": "search", "status": 429, "retry_after": "7", "reason": "connection"})
        status, body = ask(server, "POST", "/v1/search", {})
        assert (status, body["additional_data"]) == (429, {"rate_limit_reason": "connection"})
        ask(server, "POST", "/_fail", {"match": "search", "status": 529})
        assert ask(server, "POST", "/v1/search", {})[1]["code"] == "service_overload"
        ask(server, "POST", "/_unshare", {"id": first})
        assert ask(server, "GET", f"/v1/pages/{first}")[0] == 404
        status, log = ask(server, "GET", "/_log")
        assert log[0] == f"GET /v1/pages/{first}/markdown"
        assert all(line.split()[1].startswith("/v1/") for line in log)
        assert ask(server, "POST", "/_nonsense", {})[0] == 400


def test_trash_hides_a_page_from_search_and_marks_it() -> None:
    workspace = made_up(12, 1)
    page = next(iter(workspace.things))
    with NotionServer(workspace) as server:
        ask(server, "POST", "/_trash", {"id": page})
        assert ask(server, "GET", f"/v1/pages/{page}")[1]["in_trash"] is True
        results = ask(server, "POST", "/v1/search", {})[1]["results"]
        assert page not in [one["id"] for one in results]
        assert ask(server, "GET", f"/v1/pages/{page}/markdown")[0] == 404


def test_signed_files_die() -> None:
    workspace = made_up(3, 1)
    page = next(iter(workspace.things))
    workspace.files["a.txt"] = b"words"
    workspace.add_block(page, "file", {"type": "file", "file": {"url": "notion-file:a.txt"}, "caption": []})
    with NotionServer(workspace) as server:
        blocks = ask(server, "GET", f"/v1/blocks/{page}/children")[1]["results"]
        url = blocks[-1]["file"]["file"]["url"]
        with urllib.request.urlopen(url, timeout=10) as reply:  # noqa: S310 - loopback
            assert reply.read() == b"words"
        dead = url.replace("X-Amz-Expires=", "X-Amz-Expires=1&x=")
        with pytest.raises(urllib.error.HTTPError) as caught, urllib.request.urlopen(dead, timeout=10):  # noqa: S310
            pass
        caught.value.close()
        assert caught.value.code == 403


def test_it_starts_by_hand_and_prints_its_address_first() -> None:
    command = [sys.executable, "-m", "connectors.testing.notion", "--pages", "5", "--seed", "1"]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            with urllib.request.urlopen(f"{url}/_log", timeout=10) as reply:  # noqa: S310 - loopback
                assert json.loads(reply.read()) == []
        finally:
            process.terminate()


def test_mentions_have_the_recorded_shape() -> None:
    recorded = [
        item
        for body in BODIES
        for block in body.get("results", [])
        for item in (block.get(block.get("type", ""), {}) or {}).get("rich_text", [])
        if item["type"] == "mention"
    ]
    made = shapes.mention("page", {"id": "x"}, "Plan", "https://x.example")
    assert recorded
    assert all(set(made) == set(item) for item in recorded)
