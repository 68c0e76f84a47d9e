"""How fast the MiniLM encoder is on this machine: `python -m benchmarks.encoder [--threads N]`.

Prints seconds to load, texts per second beside a numpy forward pass (in turns, so that the ratio
holds on a busy machine too), texts of mixed lengths, a sweep of the tokens that one run computes
at once, the time of one short question, and the hash encoder's texts per second.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from workers.encoder import HashEncoder, MiniLM, minilm

Array = NDArray[Any]

QUESTION = "Does postoperative ctDNA status predict recurrence in stage II colon cancer?"
# Each is one token of the model's vocabulary.
WORDS = ["patients", "with", "colon", "cancer", "whose", "plasma", "held", "dna", "surgery"]


def sample_texts(tokens: Sequence[int]) -> list[str]:
    """One text for each number of tokens, [CLS] and [SEP] included: every word here is a token."""
    random = np.random.default_rng(0)
    return [" ".join(random.choice(WORDS, count - 2)) for count in tokens]


class NumpyBert:
    """The forward pass with numpy alone, in batches of equal length."""

    def __init__(self, folder: Path) -> None:
        self.weights = load_file(folder / "model.safetensors")
        self.config = json.loads((folder / "config.json").read_text())

    def __call__(self, ids: Array) -> Array:
        texts, length = ids.shape
        heads = self.config["num_attention_heads"]
        embedded = (
            self.weights["embeddings.word_embeddings.weight"][ids]
            + self.weights["embeddings.position_embeddings.weight"][:length]
            + self.weights["embeddings.token_type_embeddings.weight"][0]
        )
        x = self._norm(embedded, "embeddings.LayerNorm")
        for layer in range(self.config["num_hidden_layers"]):
            at = f"encoder.layer.{layer}."
            query, key, value = (
                self._dense(x, f"{at}attention.self.{part}")
                .reshape(texts, length, heads, -1)
                .transpose(0, 2, 1, 3)
                for part in ("query", "key", "value")
            )
            scores = query @ key.swapaxes(-1, -2) / np.float32(np.sqrt(query.shape[-1]))
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = (scores / scores.sum(-1, keepdims=True)) @ value
            mixed = mixed.transpose(0, 2, 1, 3).reshape(x.shape)
            x = self._norm(
                x + self._dense(mixed, at + "attention.output.dense"),
                at + "attention.output.LayerNorm",
            )
            inner = _gelu(self._dense(x, at + "intermediate.dense"))
            x = self._norm(x + self._dense(inner, at + "output.dense"), at + "output.LayerNorm")
        mean = x.mean(axis=1)
        return np.asarray(mean / np.linalg.norm(mean, axis=1, keepdims=True))

    def _dense(self, x: Array, name: str) -> Array:
        return np.asarray(x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"])

    def _norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        scaled = centred / deviation * self.weights[name + ".weight"]
        return np.asarray(scaled + self.weights[name + ".bias"])


def _gelu(x: Array) -> Array:
    """x times the normal distribution function: Abramowitz & Stegun 7.1.26, error 1.5e-7."""
    z = np.abs(x) * np.float32(np.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * z)
    tail = np.exp(-z * z) * t
    factors = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
    tail = tail * np.polyval(np.array(factors, np.float32), t)
    return np.asarray(x * np.where(x < 0, tail / 2, 1 - tail / 2))


def best_seconds(rounds: int, *works: Callable[[], object]) -> list[float]:
    """The fastest run of each work, all of them in turns, after one run to warm up."""
    best = [float("inf")] * len(works)
    for number in range(rounds + 1):
        for i, work in enumerate(works):
            begin = time.perf_counter()
            work()
            if number:
                best[i] = min(best[i], time.perf_counter() - begin)
    return best


def load(folder: Path, threads: int) -> MiniLM:
    """The encoder, loaded twice: without and with its packed weights."""
    for state in ("first time", "afterwards"):
        begin = time.perf_counter()
        encoder = MiniLM(folder, threads)
        print(f"load, {state}: {time.perf_counter() - begin:.2f} s")
    return encoder


def compare(encoder: MiniLM, rounds: int) -> None:
    """Beside numpy on 158-token texts."""
    folder = minilm.model_folder()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = sample_texts([158] * 24)
    ids = np.array([tokenizer.encode(text).ids for text in texts])
    bert = NumpyBert(folder)
    batches = [ids[i : i + 8] for i in range(0, len(ids), 8)]
    ours, numpy = best_seconds(
        rounds, lambda: encoder.encode(texts), lambda: [bert(batch) for batch in batches]
    )
    difference = np.abs(encoder.encode(texts) - np.concatenate([*map(bert, batches)])).max()
    rates = f"{len(texts) / ours:.1f} texts/s, numpy {len(texts) / numpy:.1f}"
    ratio = f"{numpy / ours:.1f} times as fast, largest difference {difference:.0e}"
    print(f"{ids.shape[1]} tokens a text: {rates} ({ratio})")


def sweep(encoder: MiniLM, rounds: int) -> None:
    """Tokens a run, on texts of equal length and of mixed lengths."""
    random = np.random.default_rng(1)
    kinds = {
        "158 tokens": [158] * 32,
        "mixed, 8 to 256": np.clip(random.normal(150, 70, 48), 8, 256).astype(int).tolist(),
        "short, 8 to 40": random.integers(8, 41, 200).tolist(),
    }
    sizes = (128, 256, 512, 1024, 2048)
    for kind, tokens in kinds.items():
        texts = sample_texts(tokens)
        works = [partial(encode_with, encoder, texts, size) for size in sizes]
        rates = [len(texts) / seconds for seconds in best_seconds(rounds, *works)]
        shown = "  ".join(f"{size}: {rate:.1f}" for size, rate in zip(sizes, rates, strict=True))
        print(f"texts/s by tokens a run, {kind}: {shown}")


def encode_with(encoder: MiniLM, texts: list[str], tokens_per_run: int) -> None:
    """Encodes with another number of tokens a run."""
    with patch.object(minilm, "TOKENS_PER_RUN", tokens_per_run):
        encoder.encode(texts)


def question_milliseconds(encoder: MiniLM) -> float:
    """The median time of one short question on an idle encoder."""
    seconds = []
    for _ in range(100):
        begin = time.perf_counter()
        encoder.encode([QUESTION])
        seconds.append(time.perf_counter() - begin)
        time.sleep(0.005)
    return median(seconds) * 1000


def main() -> None:
    """Runs everything and prints one line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        encoder = load(Path(folder), arguments.threads)
        print(f"{encoder.name}, {arguments.threads} threads")
        compare(encoder, arguments.rounds)
        sweep(encoder, arguments.rounds)
        print(f"one short question, p50: {question_milliseconds(encoder):.1f} ms")
    hashing, texts = HashEncoder(), [text[:1000] for text in sample_texts([300] * 2000)]
    (seconds,) = best_seconds(arguments.rounds, lambda: hashing.encode(texts))
    print(f"hash encoder, 1,000 characters a text, one core: {len(texts) / seconds:.0f} texts/s")


if __name__ == "__main__":
    main()
