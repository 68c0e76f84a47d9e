"""The reader of (claim, passage): weights as small as can be, made here."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from benchmarks.verifier.export import converted
from workers.encoder.int8_graph import HEADS
from workers.encoder.minilm import model_folder
from workers.verify.entailment.reader import FACTS, WEIGHTS, PairReader, judge_all

WIDTH, INNER, LAYERS = 384, 48, 2

Raw = dict[str, NDArray[np.float32]]

CLAIM = "Stroke was rarer with apixaban."
PASSAGE = "Apixaban reduced stroke by 21% compared with warfarin. Bleeding was rarer as well."


def raw_weights() -> Raw:
    """Random weights as training writes them: matrices (outputs, inputs)."""
    rng = np.random.default_rng(5)

    def linear(name: str, outputs: int, inputs: int) -> Raw:
        matrix = rng.standard_normal((outputs, inputs)).astype(np.float32) * 0.08
        return {
            f"{name}.weight": matrix,
            f"{name}.bias": rng.standard_normal(outputs).astype(np.float32) * 0.1,
        }

    def norm(name: str) -> Raw:
        return {
            f"{name}.weight": np.ones(WIDTH, np.float32),
            f"{name}.bias": np.zeros(WIDTH, np.float32),
        }

    raw: Raw = {"types.weight": rng.standard_normal((2, WIDTH)).astype(np.float32) * 0.02}
    checkpoint = load_file(model_folder() / "model.safetensors")
    for part in ("weight", "bias"):  # it tames the few very large numbers that words have
        raw[f"norm.{part}"] = checkpoint[f"embeddings.LayerNorm.{part}"]
    raw |= linear("pooler", WIDTH, WIDTH) | linear("head", 3, WIDTH)
    for i in range(LAYERS):
        at = f"layer.{i}."
        raw |= linear(at + "qkv", 3 * WIDTH, WIDTH) | linear(at + "out", WIDTH, WIDTH)
        raw |= linear(at + "up", INNER, WIDTH) | linear(at + "down", WIDTH, INNER)
        raw |= norm(at + "norm1") | norm(at + "norm2")
    return raw


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> PairReader:
    folder: Path = tmp_path_factory.mktemp("reader")
    save_file(converted(raw_weights()), folder / WEIGHTS)
    (folder / FACTS).write_text(json.dumps({"temperature": 1.0}), encoding="utf-8")
    return PairReader(folder / WEIGHTS, folder / FACTS)


def expected(reader: PairReader, claim: str, passage: str) -> NDArray[np.float32]:
    """The same in numpy, with the weights as they were before they became int8."""
    raw = raw_weights()

    def linear(x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        return x @ raw[name + ".weight"].T + raw[name + ".bias"]

    def norm(x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        centred = x - x.mean(-1, keepdims=True)
        even = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return even * raw[name + ".weight"] + raw[name + ".bias"]

    ((ids, types),) = reader._rows([(claim, passage)])
    x = norm(reader._words[ids] + reader._places[: len(ids)] + raw["types.weight"][types], "norm")
    for i in range(LAYERS):
        at = f"layer.{i}."
        parts = linear(x, at + "qkv").reshape(len(ids), 3, HEADS, -1).transpose(1, 2, 0, 3)
        scores = parts[0] @ parts[1].transpose(0, 2, 1) / math.sqrt(WIDTH / HEADS)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        found = (shares @ parts[2]).transpose(1, 0, 2).reshape(len(ids), WIDTH)
        x = norm(x + linear(found, at + "out"), at + "norm1")
        grown = linear(x, at + "up")
        grown = grown * 0.5 * (1 + np.vectorize(math.erf)(grown / math.sqrt(2)))
        x = norm(x + linear(grown, at + "down"), at + "norm2")
    return linear(np.tanh(linear(x[0], "pooler")), "head")


def test_computes_bert(reader: PairReader) -> None:
    got = reader.logits([(CLAIM, PASSAGE)])[0]
    wanted = expected(reader, CLAIM, PASSAGE)
    assert np.abs(got - wanted).max() < 0.1 * np.abs(wanted).max()


def test_readings_are_probabilities_in_the_order_of_the_pairs(reader: PairReader) -> None:
    pairs = [(CLAIM, PASSAGE), (PASSAGE, CLAIM), ("Bleeding was rarer.", PASSAGE), (CLAIM, PASSAGE)]
    readings = reader.judge_all(pairs)
    assert [sum(one) for one in readings] == pytest.approx([1.0] * 4)
    assert readings[0] == pytest.approx(readings[3])
    for pair, reading in zip(pairs, readings, strict=True):
        assert reader.judge_all([pair])[0] == reading  # whatever stands beside it


@pytest.mark.parametrize("pair", [(CLAIM, ""), ("", PASSAGE), (" \n", PASSAGE)])
def test_what_has_no_words_is_not_enough(reader: PairReader, pair: tuple[str, str]) -> None:
    assert reader.judge_all([pair])[0].not_enough > 0.99


def test_a_long_passage_is_cut(reader: PairReader) -> None:
    long = PASSAGE * 200
    assert reader.judge_all([(CLAIM, long)]) == reader.judge_all([(CLAIM, long + " More.")])


def test_the_digest_is_that_of_the_weights(reader: PairReader) -> None:
    assert len(reader.digest) == 64


def test_a_contraction_is_read_as_its_words() -> None:
    passage = "The mechanism is not understood, and patients cannot be told apart in the trial."
    full = "Patients in the trial {} be told apart, and how it works {} known."
    for short, long in (("can't", "can not"), ("won't", "will not"), ("Couldn’t", "Could not")):
        pairs = [
            (full.format(short, "isn't"), passage),
            (full.format(long, "is not"), passage),
        ]
        assert len(set(judge_all(pairs))) == 1, short


def test_of_a_passage_longer_than_is_seen_the_sentences_nearest_to_the_claim_are_read() -> None:
    before = "The device was described at length by its makers in the supplement of the report. "
    told = "Two-year survival was 93.5% with the guided treatment and 92.4% with the standard one."
    claim = "With guidance 93.5% survived two years, against 92.4% with standard treatment."
    short, long = judge_all([(claim, told), (claim, before * 40 + told)])
    assert long.supported > short.supported / 2
    assert long.contradicted < short.contradicted + 0.2


def test_weights_of_upper_layers_take_the_place_of_those_below_them(tmp_path: Path) -> None:
    own = converted(raw_weights())
    save_file(own, tmp_path / WEIGHTS)
    (tmp_path / FACTS).write_text(json.dumps({"temperature": 1.0}), encoding="utf-8")
    save_file({"head.bias": own["head.bias"] + np.float32([9, 0, 0])}, tmp_path / "above")
    plain = PairReader(tmp_path / WEIGHTS, tmp_path / FACTS)
    above = PairReader(tmp_path / WEIGHTS, tmp_path / FACTS, above=tmp_path / "above")
    pair = [(CLAIM, PASSAGE)]
    assert (above.logits(pair) - plain.logits(pair)).round(3).tolist() == [[9, 0, 0]]
    assert above.digest != plain.digest
