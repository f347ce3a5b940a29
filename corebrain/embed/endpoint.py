"""Embeddings of any server that speaks OpenAI's `POST /embeddings`: hosted, or on this machine (Ollama, vLLM, TEI).

The request is `{"model", "input": [text, …], "encoding_format": "float"}`, the reply `{"data": [{"index", "embedding"},
…]}` (platform.openai.com/docs/api-reference/embeddings). What is embedded leaves this process for that server.
"""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from corebrain.errors import ConfigError, CorebrainError, EngineError, InvalidRequest, Unauthorized, Unavailable

if TYPE_CHECKING:
    import httpx
    from numpy.typing import ArrayLike

_BATCH = 64  # texts of one request; servers take from some hundred to 2,048
_REPLY_BYTES = 64 << 20
_ERROR_BYTES = 8_192


class OpenAICompatible:
    """A model behind an endpoint. Nothing is tried again here, and redirects are not followed.

    Args:
        model: The model's name at the server.
        base_url: Where `/embeddings` lies: `https://api.openai.com/v1`, `http://127.0.0.1:11434/v1`.
        key: A bearer key, or what gives one at every call; none for a local server.
        dimension: Numbers of a vector, asked of models that can shorten theirs; the model's own when unset.
        query_prefix: Put before a question (`query: ` for e5).
        text_prefix: Put before what is stored (`passage: ` for e5).
        timeout_s: Longest silence of the server.

    Raises:
        ConfigError: *base_url* is no http(s) address, holds a password, or sends a key over plain http elsewhere.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        key: str | Callable[[], str] | None = None,
        dimension: int | None = None,
        query_prefix: str = "",
        text_prefix: str = "",
        timeout_s: float = 30.0,
    ) -> None:
        self._url = _checked(base_url, secret=key is not None)
        self._where = f"the embedding server {urlsplit(self._url).hostname}"
        self._model = model
        self._key = key
        self._asked_dimension = dimension
        self._dimension = dimension
        self._prefixes = (query_prefix, text_prefix)
        self._timeout_s = timeout_s
        self._client: httpx.Client | None = None
        parts = ("openai", model, *([str(dimension)] if dimension else []), *filter(None, self._prefixes))
        self.name = ":".join(parts)

    def __repr__(self) -> str:
        return f"OpenAICompatible({self._model!r}, {self._url!r})"

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            self.embed(["dimension"])
        return self._dimension or 0

    def embed(self, texts: Sequence[str]) -> "ArrayLike":
        return self._embedded([self._prefixes[1] + text for text in texts])

    def embed_query(self, query: str) -> "ArrayLike":
        return self._embedded([self._prefixes[0] + query])

    def close(self) -> None:
        """Close the connections; a later call opens them anew."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _embedded(self, texts: Sequence[str]) -> list[Sequence[float]]:
        rows: list[Sequence[float]] = []
        for start in range(0, len(texts), _BATCH):
            part = texts[start : start + _BATCH]
            rows += _rows(self._answer(part), len(part), self._where)
        self._dimension = self._dimension or len(rows[0])
        return rows

    def _answer(self, texts: Sequence[str]) -> bytes:
        import httpx  # noqa: PLC0415  # heavy, for who has an endpoint

        if self._client is None:
            self._client = httpx.Client(timeout=self._timeout_s, trust_env=False)
        asked: dict[str, object] = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if self._asked_dimension is not None:
            asked["dimensions"] = self._asked_dimension
        content = json.dumps(asked, ensure_ascii=False).encode("utf-8", "replace")
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", **self._authorization()}
        try:
            with self._client.stream("POST", self._url, content=content, headers=headers) as response:
                body = _whole(response, self._where)
        except httpx.HTTPError as error:
            raise Unavailable(f"{self._where} could not be reached or was cut off ({type(error).__name__})") from None
        if not response.is_success:
            raise _refusal(response, self._where)
        return body

    def _authorization(self) -> dict[str, str]:
        if self._key is None:
            return {}
        key = (self._key() if callable(self._key) else self._key).strip()
        if not key or not all("!" <= character <= "~" for character in key):
            raise Unauthorized("the key of the embedding server is blank or holds what a header may not: renew it")
        return {"Authorization": f"Bearer {key}"}


def _checked(base_url: str, *, secret: bool) -> str:
    try:
        parts = urlsplit(base_url.rstrip("/"))
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme not in {"http", "https"} or parts.query or parts.fragment:
        raise ConfigError("the address of the embedding server is not one: give such as https://api.openai.com/v1")
    if parts.username is not None or parts.password is not None:
        raise ConfigError("the address of the embedding server holds a credential: give it as its key")
    if secret and parts.scheme == "http" and host not in {"localhost", "127.0.0.1", "::1"}:
        raise ConfigError(f"a key would go to {host} unencrypted: use https")
    return f"{parts.geturl()}/embeddings"


def _whole(response: "httpx.Response", where: str) -> bytes:
    most = _REPLY_BYTES if response.is_success else _ERROR_BYTES
    held = bytearray()
    for chunk in response.iter_raw():
        held += chunk
        if len(held) > most:
            if response.is_success:
                raise EngineError(f"{where} answered more than {most} bytes")
            break
    return bytes(held)


def _refusal(response: "httpx.Response", where: str) -> CorebrainError:
    """Return the typed error; a server's own words may repeat the text or the key, so none of them is in it."""
    status = response.status_code
    if status in {401, 403}:
        return Unauthorized(f"{where} refuses the key ({status}): renew it")
    if status in {400, 413, 422}:
        return InvalidRequest(f"{where} refuses a text ({status}): it may be too long for the model")
    if status in {408, 425, 429} or status >= 500:
        wait = response.headers.get("Retry-After", "")
        seconds = float(wait[:6]) if wait.isascii() and wait.isdecimal() else None
        return Unavailable(f"{where} is busy or down ({status})", retry_after_s=seconds)
    return EngineError(f"{where} answers {status}: check base_url and the model's name")


def _rows(body: bytes, count: int, where: str) -> list[Sequence[float]]:
    try:
        data: list[Any] = json.loads(body)["data"]
        ordered = sorted(data, key=lambda each: int(each["index"]))
        rows = [[float(number) for number in each["embedding"]] for each in ordered]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise EngineError(f"{where} answered no embeddings ({type(error).__name__}): check base_url") from None
    if [each["index"] for each in ordered] != list(range(count)):
        raise EngineError(f"{where} answered {len(rows)} embeddings for {count} texts")
    return list(rows)
