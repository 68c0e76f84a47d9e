"""The hash encoder, which stands in for a model in load tests."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from workers.encoder import HashEncoder, hashing


def test_the_same_words_give_the_same_vector_in_every_process() -> None:
    program = (
        "import sys; from workers.encoder import HashEncoder;"
        "sys.stdout.buffer.write(HashEncoder().encode(['Tumour DNA']).tobytes())"
    )
    command = [sys.executable, "-c", program]
    root = Path(__file__).parents[3]
    run = subprocess.run(command, cwd=root, capture_output=True, check=True)
    there = np.frombuffer(run.stdout, np.float32)
    np.testing.assert_array_equal(HashEncoder().encode(["tumour dna"])[0], there)


def test_shared_words_bring_texts_nearer() -> None:
    a, b, c = HashEncoder().encode(
        ["ctDNA after colon surgery", "Colon surgery and ctDNA", "the train leaves at noon"]
    )
    assert a @ b > 0.6
    assert abs(a @ c) < 0.3


@pytest.mark.parametrize("text", ["", "  ", "…—…", "\ud800", "\U0001f9ec"])
def test_a_text_without_words_still_has_a_direction(text: str) -> None:
    vectors = HashEncoder(8).encode([text, "word"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_words_that_cancel_out_still_have_a_direction() -> None:
    encoder = HashEncoder(1)
    signs = {float(encoder.encode([word])[0, 0]): word for word in "abcdefgh"}
    both = f"{signs[1.0]} {signs[-1.0]}"
    assert encoder.encode([both]).tolist() == [[1.0]]


def test_many_texts_are_encoded_as_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_TEXTS_AT_ONCE", 3)
    texts = [f"word{i} word{i // 2} common" for i in range(10)]
    alone = np.concatenate([HashEncoder(16).encode([text]) for text in texts])
    np.testing.assert_array_equal(HashEncoder(16).encode(texts), alone)


def test_remembered_words_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_REMEMBERED_WORDS", 10)
    encoder, fresh = HashEncoder(), HashEncoder()
    for i in range(50):
        encoder.encode([f"w{i}"])
    assert len(encoder._buckets) <= 10
    np.testing.assert_array_equal(encoder.encode(["w3 w9"]), fresh.encode(["w3 w9"]))


def test_no_texts_give_no_rows_and_a_window_is_the_whole_text() -> None:
    encoder = HashEncoder(5)
    assert encoder.encode([]).shape == (0, 5)
    assert encoder.windows("x " * 5000) == [(0, 10000)]
