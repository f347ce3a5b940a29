"""Models of three well-known libraries, each behind an extra; the libraries download a model once, from its hub."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from corebrain.embed.missing import needs
from corebrain.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class FastEmbed:
    """Any dense model of fastembed (ONNX, no torch); `intfloat/multilingual-e5-large` and others know many languages.

    Args:
        model: Its name at fastembed.
        folder: Where models are kept; fastembed's own place when unset.
        threads: Of one call.

    Raises:
        ConfigError: the extra is not installed, or the model is unknown or cannot be downloaded.
    """

    def __init__(self, model: str, *, folder: str | None = None, threads: int = 1) -> None:
        with needs("fastembed"):
            import fastembed  # noqa: PLC0415  # heavy, of an extra
        self.name = f"fastembed:{model}"
        with _loading(self.name):
            self._model: Any = fastembed.TextEmbedding(model, cache_dir=folder, threads=threads)
        self.dimension = int(self._model.embedding_size)

    def embed(self, texts: Sequence[str]) -> "ArrayLike":
        return list(self._model.passage_embed(list(texts), batch_size=16))

    def embed_query(self, query: str) -> "ArrayLike":
        return list(self._model.query_embed([query]))


class Model2Vec:
    """A static model: word vectors without a network, hundreds of times faster than a transformer, and less exact.

    Args:
        model: Its name at the hub, or a folder.

    Raises:
        ConfigError: the extra is not installed, or the model is unknown or cannot be downloaded.
    """

    def __init__(self, model: str) -> None:
        with needs("model2vec"):
            import model2vec  # noqa: PLC0415  # heavy, of an extra
        self.name = f"model2vec:{model}"
        with _loading(self.name):
            self._model: Any = model2vec.StaticModel.from_pretrained(model, force_download=False)
        self.dimension = int(self._model.dim)

    def embed(self, texts: Sequence[str]) -> "ArrayLike":
        rows: ArrayLike = self._model.encode(list(texts), use_multiprocessing=False)
        return rows


class SentenceTransformers:
    """Any model of sentence-transformers (torch), with its own prompts for questions and passages.

    Args:
        model: Its name at the hub, or a folder.
        device: `cpu`, `cuda` and so on; the library chooses when unset.

    Raises:
        ConfigError: the extra is not installed, or the model is unknown or cannot be downloaded.
    """

    def __init__(self, model: str, *, device: str | None = None) -> None:
        with needs("sentence-transformers"):
            import sentence_transformers  # noqa: PLC0415  # heavy, of an extra
        self.name = f"sentence-transformers:{model}"
        with _loading(self.name):
            self._model: Any = sentence_transformers.SentenceTransformer(model, device=device)
        self.dimension = int(self._model.get_sentence_embedding_dimension())

    def embed(self, texts: Sequence[str]) -> "ArrayLike":
        rows: ArrayLike = self._model.encode_document(list(texts), show_progress_bar=False)
        return rows

    def embed_query(self, query: str) -> "ArrayLike":
        rows: ArrayLike = self._model.encode_query([query], show_progress_bar=False)
        return rows


class _loading:  # noqa: N801  # reads as a verb where it is used
    """Turns whatever a model library raises while it loads into a `ConfigError`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            raise ConfigError(
                f"{self._name} cannot be loaded ({type(error).__name__}): check the model's name, and that it can be"
                " downloaded once from here"
            ) from error
