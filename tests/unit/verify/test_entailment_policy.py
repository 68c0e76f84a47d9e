"""From which probability on a claim is called supported: by the passage's length, never less for a
longer one, and never on odd input (docs/verification.md)."""

import json
import math
import os
import subprocess
import sys
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from benchmarks.claims import report
from store.core.spans import Span
from workers.verify.entailment.features import Text
from workers.verify.entailment.lexicon import Policy, lexicon
from workers.verify.entailment.measure import Measured, passage_length
from workers.verify.entailment.model import Model, load

STEPS = ((1, 0.6), (2, 0.6), (5, 0.7))
POLICY = Policy(supported=STEPS, contradicted=0.5)


@pytest.mark.parametrize(
    ("length", "needed"), [(1, 0.6), (2, 0.6), (4, 0.6), (5, 0.7), (6, 0.7), (10**9, 0.7)]
)
def test_the_step_at_or_below_the_length_decides(length: int, needed: float) -> None:
    assert POLICY.supported_from(length) == needed


@pytest.mark.parametrize("length", [0, -1, -(10**9)])
def test_a_passage_without_a_sentence_supports_nothing(length: int) -> None:
    assert POLICY.supported_from(length) == math.inf


@given(st.integers(-2, 5000), st.integers(0, 5000))
def test_a_longer_passage_never_needs_less(length: int, more: int) -> None:
    policy = lexicon().policy
    if length >= 1:
        assert policy.supported_from(length) <= policy.supported_from(length + more)


def test_every_threshold_of_the_policy_is_beyond_an_even_chance() -> None:
    assert all(share > 0.5 for _, share in lexicon().policy.supported)


@pytest.mark.parametrize(
    "steps",
    [
        (),
        ((2, 0.6),),
        ((0, 0.6),),
        ((1, 0.6), (1, 0.7)),
        ((1, 0.6), (5, 0.7), (3, 0.8)),
        ((1, 0.6), (5, 0.59)),
        ((1, 0.0),),
        ((1, 1.0),),
        ((1, math.nan),),
        ((1, 0.6), (2.5, 0.7)),
    ],
)
def test_steps_that_fall_or_miss_the_shortest_passage_are_refused(
    steps: tuple[tuple[int, float], ...],
) -> None:
    with pytest.raises(ValidationError):
        Policy.model_validate({"supported": steps, "contradicted": 0.5})


class _Sure(Model):
    """The committed model, but for the probabilities that a test gives."""

    def __init__(self, supported: float) -> None:
        self._supported = supported

    def probabilities(self, found: Measured) -> tuple[float, float]:
        return self._supported, 0.0


def _measured(length: int, vetoes: tuple[str, ...] = ()) -> Measured:
    return Measured(np.zeros(1, np.float32), Span(0, 1), vetoes, length)


def test_the_verdict_follows_the_length() -> None:
    steps = lexicon().policy.supported
    for (length, share), (longer, more) in pairwise(steps):
        between = _Sure((share + more) / 2)
        if share < more:
            assert between._judged(_measured(length)).label == "supported"
            assert between._judged(_measured(longer)).label == "not_enough"


@pytest.mark.parametrize("probability", [math.nan, -1.0, 0.0])
def test_a_probability_that_is_none_supports_nothing(probability: float) -> None:
    assert _Sure(probability)._judged(_measured(1)).label == "not_enough"


def test_certainty_does_not_help_without_a_sentence_or_against_a_veto() -> None:
    assert _Sure(1.0)._judged(_measured(0)).label == "not_enough"
    assert _Sure(1.0)._judged(_measured(1, ("number",))).label == "not_enough"
    assert _Sure(1.0)._judged(_measured(1)).label == "supported"


def test_a_line_without_stops_counts_as_many_sentences() -> None:
    longest = lexicon().limits.sentence_characters

    assert passage_length([Text("a" * longest)]) == 1
    assert passage_length([Text("a" * (longest + 1)), Text("b")]) == 3
    assert passage_length([]) == 0


def test_the_committed_weights_belong_to_the_measures() -> None:
    assert load() is load()


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 2), st.booleans(), st.integers(1, 30)),
        min_size=1,
        max_size=300,
    ),
    st.floats(0.01, 0.5),
)
def test_chosen_thresholds_make_a_policy_and_keep_the_bound_in_every_class(
    rows: list[tuple[float, int, bool, int]], most: float
) -> None:
    p, labels, vetoed, lengths = (np.array(column) for column in zip(*rows, strict=True))

    steps = report.thresholds(p, labels, vetoed, lengths, most)

    shares = [share for _, share in steps]
    assert shares == sorted(shares)
    accepted = (p >= report.needed(steps, lengths)) & ~vetoed
    for start, end in zip(report.LENGTHS, (*report.LENGTHS[1:], 99), strict=True):
        others = (lengths >= start) & (lengths < end) & (labels != 0)
        if others.any():
            assert accepted[others].mean() <= most


@pytest.mark.parametrize(
    ("count", "total", "confidence", "limit"),
    # none of n: 1 - (1 - confidence) ** (1 / n); n - 1 of n: confidence ** (1 / n)
    [
        (0, 10, 0.95, 1 - 0.05 ** (1 / 10)),
        (0, 500, 0.8, 1 - 0.2 ** (1 / 500)),
        (9, 10, 0.95, 0.95 ** (1 / 10)),
        (10, 10, 0.95, 1.0),
        (0, 0, 0.95, 1.0),
    ],
)
def test_the_upper_limit_is_that_of_clopper_and_pearson(
    count: int, total: int, confidence: float, limit: float
) -> None:
    assert report.upper_limit(count, total, confidence) == pytest.approx(limit, abs=1e-6)


def test_the_policy_is_that_of_the_training_report() -> None:
    text = files("workers.verify.entailment").joinpath("training.json").read_text(encoding="utf-8")

    assert json.loads(text)["thresholds"] == [list(step) for step in lexicon().policy.supported]


_COUNT = """
from workers.verify.entailment.features import Rarity, Text, features
claim = Text("Xalaban, yorvex, quiltane, zemprine, orlistor and vantocel lower blood pressure.")
passage = [Text("Xalaban, quiltane and orlistor lower blood pressure.")]
print(features(claim, passage, [0.5], [0], Rarity({}, 8.0)).tolist())
"""


def test_features_do_not_depend_on_the_order_of_sets() -> None:
    """Words of equal rarity come in one order, whatever the process's hash seed."""
    found = {
        subprocess.run(
            [sys.executable, "-c", _COUNT],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            check=True,
            capture_output=True,
        ).stdout
        for seed in range(4)
    }
    assert len(found) == 1
