"""The alignment head, measures and vetoes, without weights."""

from collections.abc import Sequence

import numpy as np
import pytest

from workers.verify.entailment.features import NAMES, Rarity, Text, features
from workers.verify.entailment.flags import FLAGS, token_flags
from workers.verify.entailment.head import Head, Tokens
from workers.verify.entailment.measure import SCORES, Measurer
from workers.verify.entailment.states import Reading
from workers.verify.entailment.verbatim import verbatim
from workers.verify.entailment.vetoes import vetoes

RARITY = Rarity({}, 5.0)


def _head(seed: int = 0) -> Head:
    rng = np.random.default_rng(seed)
    width, compared = 8, 4 * 8 + 2 * (FLAGS + 1)
    shapes = {
        "project": (12, width),
        "query": (width, width),
        "key": (width, width),
        "match": (2,),
        "compare_claim": (compared, width),
        "compare_passage": (compared, width),
        "bias_claim": (width,),
        "bias_passage": (width,),
        "pool_claim": (width, 2),
        "pool_passage": (width, 2),
        "hidden": (6 * width, 5),
        "hidden_bias": (5,),
        "out": (5, 3),
        "out_bias": (3,),
    }
    return Head({name: rng.normal(size=shape) for name, shape in shapes.items()})


def _tokens(count: int, seed: int) -> Tokens:
    rng = np.random.default_rng(seed)
    return Tokens(
        rng.normal(size=(count, 8)).astype(np.float32),
        rng.integers(0, 9, count),
        rng.integers(0, 2, (count, FLAGS)).astype(np.float32),
    )


def test_the_order_of_the_tokens_does_not_change_the_logits() -> None:
    claim, passage = _tokens(5, 1), _tokens(9, 2)
    order = np.random.default_rng(3).permutation(9)
    shuffled = Tokens(*(part[order] for part in passage))

    assert _head().logits(claim, passage) == pytest.approx(
        _head().logits(claim, shuffled), abs=1e-3
    )


def test_parts_joined_hold_all_tokens_in_order() -> None:
    parts = [_tokens(2, 1), _tokens(3, 2)]

    joined = Tokens.joined(parts)

    assert joined.ids.tolist() == [*parts[0].ids, *parts[1].ids]
    assert joined.states.shape == (5, 8)


class _Letters:
    """Reads each letter as a token whose state depends on the letter alone."""

    @property
    def vocabulary(self) -> dict[str, int]:
        return {chr(number): number for number in range(128)}

    def read(self, texts: Sequence[str]) -> list[Reading]:
        table = np.random.default_rng(9).normal(size=(128, 12)).astype(np.float32)
        rows = [np.array([min(ord(letter), 127) for letter in text]) for text in texts]
        return [Reading(table[row], table[row].mean(axis=0), row) for row in rows]


def test_several_heads_measure_the_mean_of_what_each_measures_and_the_features_once() -> None:
    pair = ("Aspirin lowered fever.", "Aspirin lowered fever in mice. Nothing else changed at all.")

    def measured(*heads: Head) -> np.ndarray:
        found = next(Measurer(heads, RARITY).measure_all([pair], _Letters()))
        assert found is not None
        return found.values

    first, second, both = measured(_head(1)), measured(_head(2)), measured(_head(1), _head(2))

    assert both[: len(NAMES)] == pytest.approx(first[: len(NAMES)])
    together = slice(len(NAMES), len(NAMES) + 2)  # of the single sentences the highest mean counts
    assert both[together] == pytest.approx((first[together] + second[together]) / 2, abs=1e-4)
    assert first[together] != pytest.approx(second[together], abs=1e-2)
    assert len(both) == len(NAMES) + len(SCORES)


def test_token_flags_say_what_a_word_is() -> None:
    table = token_flags({"not": 0, "increased": 1, "lower": 2, "12": 3, "the": 4, "aspirin": 6})

    assert table.shape == (7, FLAGS)
    assert table[0, 0] == 1
    assert table[1, 1] == 1
    assert table[2, 2] == 1
    assert table[3, 3] == 1
    assert table[4, 4] == 1
    assert table[6].tolist() == [0] * FLAGS


def _of(claim: str, *sentences: str) -> dict[str, float]:
    texts = [Text(sentence) for sentence in sentences]
    found = features(Text(claim), texts, [0.5] * len(texts), range(len(texts)), RARITY)
    return dict(zip(NAMES, found.tolist(), strict=True))


def test_coverage_is_the_share_of_the_claims_words_that_a_sentence_has() -> None:
    found = _of("Aspirin prevents strokes.", "Aspirin was studied.", "Strokes are prevented.")

    assert found["best_coverage"] == pytest.approx(1 / 3)
    assert found["all_coverage"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("claim", "sentence", "name"),
    [
        ("Aspirin lowered risk.", "Aspirin raised risk.", "direction_opposed"),
        ("Aspirin lowered risk.", "Aspirin lowered risk.", "direction_same"),
        ("Risk was 12%.", "Risk was 21%.", "numbers_missing"),
        ("The CD34 marker.", "The CD8 marker.", "names_missing"),
        ("BRAF matters.", "KRAS matters.", "capitals_missing"),
        ("Aspirin did not work.", "Aspirin worked.", "negation_added"),
        ("Aspirin worked.", "Aspirin did not work.", "negation_lost"),
        ("Aspirin works.", "Aspirin may work.", "hedge_lost"),
        ("All patients died.", "Patients died.", "absolute_added"),
        ("Smoking causes cancer.", "Smoking is linked to cancer.", "cause_added"),
    ],
)
def test_each_kind_of_difference_has_a_feature(claim: str, sentence: str, name: str) -> None:
    assert _of(claim, sentence)[name] == 1.0


@pytest.mark.parametrize(
    ("claim", "sentence", "rule"),
    [
        ("Response was 12%.", "Response was 21%.", "number"),
        ("Response was 12 mg.", "Response was 12 ml.", "number"),
        ("Statins did not lower the risk of stroke.", "Statins lower stroke risk.", "negation"),
        ("Statins lower the risk of stroke.", "Statins had no effect on risk of stroke.",
         "negation"),
        ("Statins raise the risk of stroke.", "Risk of stroke fell with statins.", "direction"),
        ("Arm A did better than arm B.", "Arm B did better than arm A.", "small_change"),
        ("It was safe.", "It was not safe.", "small_change"),
        ("Statins lower the risk of stroke.", "Statins may lower the risk of stroke.",
         "small_change"),
        ("Statins lower stroke risk in adults.",
         "We suggest that statins lower stroke risk in adults.", "small_change"),
        ("Survival was longer and cost higher.", "Survival was longer and cost lower.",
         "small_change"),
    ],
)  # fmt: skip
def test_vetoes_name_the_rule(claim: str, sentence: str, rule: str) -> None:
    assert rule in vetoes(Text(claim), [Text(sentence)], sentence, RARITY)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Statins lower the risk of stroke.", "Statins lower the risk of stroke (HR 0.8)."),
        ("Statins had no effect on stroke.", "Stroke did not differ between statins and placebo."),
        ("Death was rarer with statins.", "Fewer died with statins than without."),
    ],
)
def test_what_agrees_is_not_vetoed(claim: str, sentence: str) -> None:
    assert vetoes(Text(claim), [Text(sentence)], sentence, RARITY) == ()


@pytest.mark.parametrize(
    ("claim", "evidence", "found"),
    [
        ("Stroke was rare", "We saw 9 cases. Stroke was rare. It ended.", "Stroke was rare."),
        ("A b c. D e f.", "X y. A b c. D e f. Z.", "A b c. D e f."),
        ("Stroke was", "Stroke was rare.", None),
        ("Stroke was rare", "Stroke was rare but death was not.", None),
        ("", "", None),
    ],
)
def test_verbatim_finds_whole_sentences_only(claim: str, evidence: str, found: str | None) -> None:
    span = verbatim(claim, evidence)

    assert (span and evidence[span.start : span.end]) == found
