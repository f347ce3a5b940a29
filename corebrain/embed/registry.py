"""Embedders by the name a configuration gives them, such as `minilm` or `fastembed:BAAI/bge-small-en-v1.5`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from corebrain.embed.contract import Embedder
from corebrain.errors import ConfigError


def _minilm(model: str) -> Embedder:
    from corebrain.embed.minilm import MiniLM  # noqa: PLC0415  # imported when it is asked for

    if model:
        raise ConfigError('minilm is one model: write embedder = "minilm", without a name behind it')
    return MiniLM()


def _fastembed(model: str) -> Embedder:
    from corebrain.embed.downloaded import FASTEMBED_MODEL, FastEmbed  # noqa: PLC0415  # likewise

    return FastEmbed(model or FASTEMBED_MODEL)


def _model2vec(model: str) -> Embedder:
    from corebrain.embed.downloaded import MODEL2VEC_MODEL, Model2Vec  # noqa: PLC0415  # likewise

    return Model2Vec(model or MODEL2VEC_MODEL)


def _sentence_transformers(model: str) -> Embedder:
    from corebrain.embed.downloaded import SENTENCE_MODEL, SentenceTransformers  # noqa: PLC0415  # likewise

    return SentenceTransformers(model or SENTENCE_MODEL)


EMBEDDERS: Mapping[str, Callable[[str], Embedder]] = MappingProxyType(
    {
        "minilm": _minilm,
        "fastembed": _fastembed,
        "model2vec": _model2vec,
        "sentence-transformers": _sentence_transformers,
    }
)
"""Kind -> what makes it from the model's name, which may be empty. An endpoint has settings of its own."""


def build_embedder(name: str) -> Embedder:
    """Make the embedder *name* means: a kind, or a kind, a colon and a model.

    Raises:
        ConfigError: the kind is unknown, its extra is not installed, or the model cannot be loaded.
    """
    kind, _, model = name.partition(":")
    make = EMBEDDERS.get(kind)
    if make is None:
        raise ConfigError(f"unknown embedder {name[:60]!r}, known are {', '.join(EMBEDDERS)}")
    return make(model)
