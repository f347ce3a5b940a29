"""An OpenAI-compatible endpoint, over real HTTP on loopback."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from corebrain.embed import Embedder, EmbedsQueries
from corebrain.embed.endpoint import OpenAICompatible
from corebrain.errors import ConfigError, CorebrainError, EngineError, InvalidRequest, Unauthorized, Unavailable

KEY = "sk-canary-0123456789"
Answer = tuple[int, Any]


class Quiet(ThreadingHTTPServer):
    """Says nothing of clients that left before they were answered."""

    def handle_error(self, *_: object) -> None:
        """Say nothing."""


class Server:
    """Answers `/v1/embeddings` as told; notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answer: Callable[[dict[str, Any]], Answer] = right
        self.headers: dict[str, str] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append({**body, "path": self.path})
                outer.keys.append(self.headers["Authorization"])
                status, answer = outer.answer(body)
                raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(raw)))
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def right(body: dict[str, Any]) -> Answer:
    rows = [{"index": n, "embedding": [float(len(text)), 1.0, 0.0]} for n, text in enumerate(body["input"])]
    return 200, {"data": rows[::-1], "model": body["model"], "usage": {"total_tokens": 1}}


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def test_rows_come_in_the_order_of_the_texts(server: Server) -> None:
    embedder: Embedder = OpenAICompatible("m", server.url)
    assert isinstance(embedder, EmbedsQueries)
    assert embedder.embed(["a", "bbb"]) == [[1.0, 1.0, 0.0], [3.0, 1.0, 0.0]]
    assert server.asked == [{"path": "/v1/embeddings", "model": "m", "input": ["a", "bbb"], "encoding_format": "float"}]
    assert server.keys == [None]


def test_many_texts_go_in_several_requests(server: Server) -> None:
    embedder = OpenAICompatible("m", server.url)
    rows: Any = embedder.embed([str(number) for number in range(150)])
    assert len(rows) == 150
    assert [len(asked["input"]) for asked in server.asked] == [64, 64, 22]
    embedder.close()


def test_prefixes_key_and_dimension_are_sent(server: Server) -> None:
    embedder = OpenAICompatible(
        "m", f"{server.url}/", key=lambda: KEY, dimension=3, query_prefix="query: ", text_prefix="passage: "
    )
    embedder.embed_query("a")
    embedder.embed(["b"])
    assert [asked["input"] for asked in server.asked] == [["query: a"], ["passage: b"]]
    assert {asked["dimensions"] for asked in server.asked} == {3}
    assert server.keys == [f"Bearer {KEY}"] * 2
    assert embedder.name == "openai:m:3:query: :passage: "
    embedder.close()


def test_the_dimension_is_asked_when_it_is_not_given(server: Server) -> None:
    embedder = OpenAICompatible("m", server.url)
    assert embedder.dimension == 3
    assert embedder.dimension == 3
    assert len(server.asked) == 1
    embedder.close()


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, InvalidRequest),
        (401, Unauthorized),
        (403, Unauthorized),
        (404, EngineError),
        (413, InvalidRequest),
        (307, EngineError),
        (429, Unavailable),
        (500, Unavailable),
        (503, Unavailable),
    ],
)
def test_a_refusal_is_told_by_its_kind_and_without_the_servers_words(
    server: Server, status: int, error: type[CorebrainError]
) -> None:
    server.answer = lambda body: (status, {"error": {"message": f"no: {body['input']} {KEY}"}})
    server.headers = {"Location": "/elsewhere", "Retry-After": "7"}
    embedder = OpenAICompatible("m", server.url, key=KEY)
    with pytest.raises(error) as caught:
        embedder.embed(["a secret text"])
    assert KEY not in str(caught.value)
    assert "a secret text" not in str(caught.value)
    if isinstance(caught.value, Unavailable):
        assert caught.value.retry_after_s == 7.0
    embedder.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"data": null}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 1, "embedding": [1.0]}]}',
        b'{"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_is_no_embedding_is_told(server: Server, answer: bytes) -> None:
    server.answer = lambda _: (200, answer)
    embedder = OpenAICompatible("m", server.url)
    with pytest.raises(EngineError):
        embedder.embed(["a"])
    embedder.close()


def test_a_server_that_is_not_there_is_unavailable() -> None:
    embedder = OpenAICompatible("m", "http://127.0.0.1:9/v1", key=KEY)
    with pytest.raises(Unavailable) as caught:
        embedder.embed(["a"])
    assert KEY not in str(caught.value)
    embedder.close()


def test_a_server_that_keeps_silent_is_unavailable(server: Server) -> None:
    silent = threading.Event()

    def wait(_: dict[str, Any]) -> Answer:
        silent.wait(10)
        return 500, {}

    server.answer = wait
    embedder = OpenAICompatible("m", server.url, timeout_s=0.05)
    with pytest.raises(Unavailable):
        embedder.embed(["a"])
    silent.set()
    embedder.close()


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("", None),
        ("127.0.0.1:80/v1", None),
        ("ftp://example.org/v1", None),
        ("http://[::1/v1", None),
        ("http://h:x/v1", None),
        ("https://user:pass@example.org/v1", None),
        ("https://example.org/v1?key=1", None),
        ("http://example.org/v1", KEY),
    ],
)
def test_an_address_that_cannot_be_is_refused(url: str, key: str | None) -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAICompatible("m", url, key=key)
    assert "pass@" not in str(caught.value)


def test_a_key_that_no_header_may_hold_is_refused(server: Server) -> None:
    embedder = OpenAICompatible("m", server.url, key="a\nb")
    with pytest.raises(Unauthorized):
        embedder.embed(["a"])
    assert KEY not in repr(OpenAICompatible("m", server.url, key=KEY))
    assert server.asked == []


def test_a_lone_surrogate_is_sent_as_a_mark(server: Server) -> None:
    embedder = OpenAICompatible("m", server.url)
    embedder.embed(["a\ud800b"])
    assert server.asked[0]["input"] == ["a?b"]
    embedder.close()
