"""Guard: what a claim leaves out of its sentence, and the sentence that then takes its place."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_text.quotes import Source
from clinical_text.structure import segment
from store.core.spans import Span
from workers.verify.checking import check_claims
from workers.verify.claims import Basis, Checked, Drafted, Verdict
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.omissions import guard
from workers.verify.judging import Judged, Material
from workers.verify.locating import CitedText
from workers.verify.verdicts import Support


def found(passage: str, claim: str) -> list[str]:
    return [one.detail for one in guard(claim, Grounds(passage, text=passage))]


@pytest.mark.parametrize(
    ("passage", "claim", "lost"),
    [
        ("In the placebo group, 40% recovered.", "40% recovered.", "In the placebo group"),
        ("In patients younger than 40 years, A lowered B.", "A lowered B.", "In patients younger"),
        (
            "A should be used with caution in patients with renal impairment.",
            "A should be used in patients with renal impairment.",
            "with caution",
        ),
        ("A reduced stroke compared with warfarin.", "A reduced stroke.", "compared with warfarin"),
        ("Mortality was 12% at 5 years.", "Mortality was 12%.", "at 5 years"),
        ("A lowered the relative risk of stroke.", "A lowered the risk of stroke.", "relative"),
        ("A received accelerated approval.", "A received approval.", "accelerated"),
        ("A is safe outside pregnancy.", "A is safe in pregnancy.", "outside"),
        ("A was associated with lower mortality.", "A lowered mortality.", "associated"),
        ("A, but not B, lowered mortality in C.", "A lowered mortality in C.", "but not B"),
        ("Cancer of an unknown site (CUS) was rarer than cancer of a known site.",
         "Cancer of an unknown site (CUS) was rarer.", "than cancer"),
        ("A lowered pain; however, it raised mortality.", "A lowered pain.", "however, it raised"),
        ("It is found in infants and in adult mice.", "It is found in infants.", "adult mice"),
        ("Pain fell in 30% after surgery (in 20% before surgery).",
         "Pain fell in 30% after surgery (in 20%).", "before surgery"),
        ("The disease has effects that may add to its severity in individual patients.",
         "The disease has effects that may add to its severity.", "in individual patients"),
        ("Thrombosis was rare in these patients, although cholesterol emboli can be found.",
         "Thrombosis was rare, although cholesterol emboli can be found.", "in these patients"),
        ("Mortality was lower in this group, at 3%.", "Mortality was lower, at 3%.", "this group"),
    ],
)  # fmt: skip
def test_words_that_tell_how_far_something_holds_are_missed(
    passage: str, claim: str, lost: str
) -> None:
    assert any(lost in one for one in found(passage, claim)), found(passage, claim)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Pain was 4.2 and 5.1 (P = 0.38) in the arms.", "Pain was 4.2 and 5.1 in the arms."),
        ("Pain fell with A, not significantly so.", "Pain fell with A."),
        ("Pain fell with A (p>0.05) in adults.", "Pain fell with A in adults."),
        ("A raised survival, but did not reach significance.", "A raised survival."),
    ],
)
def test_that_a_result_may_be_chance_must_be_told(passage: str, claim: str) -> None:
    assert "the claim leaves out that it may be chance" in found(passage, claim)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Pain was similar with A and B (P = 0.38).", "Pain was similar with A and B."),
        ("Pain fell with A (p = 0.3).", "Pain fell with A (p = 0.3)."),
        ("Pain fell with A (p = 0.003) in adults.", "Pain fell with A in adults."),
    ],
)
def test_what_tells_that_it_may_be_chance_leaves_nothing_out(passage: str, claim: str) -> None:
    assert found(passage, claim) == []


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Eligible are people aged over 80 and weighing under 60 kg.",
         "Eligible are people aged over 80 or weighing under 60 kg."),
        ("Rofecoxib was approved for arthritis.", "Rofecoxib is approved for arthritis."),
        ("A was given during surgery to adults.", "A was given after surgery to adults."),
        ("Infection cleared despite late treatment.", "Infection cleared because late treatment."),
        ("Either drug lowered pain in adults.", "Both drugs lowered pain in adults."),
    ],
)  # fmt: skip
def test_a_word_of_grammar_that_says_something_else_is_found(passage: str, claim: str) -> None:
    codes = [one.code for one in guard(claim, Grounds(passage, text=passage))]
    assert "connective" in codes


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("We found that aspirin lowered fever in adults.", "Aspirin lowered fever in adults."),
        ("However, aspirin lowered fever in adults.", "Aspirin lowered fever in adults."),
        ("Finally, aspirin lowered fever in adults.", "Aspirin lowered fever in adults."),
        ("Aspirin lowered fever in adults (95% CI 1-2).", "Aspirin lowered fever in adults."),
        ("In adults, aspirin lowered fever.", "Aspirin lowered fever in adults."),
        ("Aspirin reduced mortality in adults.", "Aspirin decreased mortality in adults."),
        ("Aspirin lowered fever; the dose was 1 g.", "Aspirin lowered fever."),
        ("Aspirin lowered fever in adults versus placebo.",
         "Aspirin lowered fever in adults compared with placebo."),
        ("Myocardial infarction (MI) was rarer with A.", "MI was rarer with A."),
    ],
)  # fmt: skip
def test_a_paraphrase_that_keeps_what_is_told_leaves_nothing_out(passage: str, claim: str) -> None:
    assert found(passage, claim) == []


SOME = ("aspirin", "lowered", "fever", "in", "adults", "and", "(mice)", "not", "only", "5", "h")
WORDS = st.lists(st.sampled_from(SOME), min_size=3, max_size=20).map(
    lambda words: f"{' '.join(words)}."
)


@given(WORDS)
def test_a_sentence_leaves_nothing_of_itself_out(sentence: str) -> None:
    assert found(sentence, sentence) == []


@given(WORDS, WORDS)
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert all(finding.startswith(("the claim", "“")) for finding in found(one, other))


# What becomes of such a claim

TEXT = (
    "Warfarin was given to 90 people. Apixaban reduced stroke compared with warfarin in people "
    "with atrial fibrillation. It also reduced bleeding in people who were older than 65 years."
)
WHOLE = "Apixaban reduced stroke compared with warfarin in people with atrial fibrillation."


def lying(material: Sequence[Material]) -> Judged:
    return Judged({one.located.drafted.claim_id: Support.SUPPORTED for one in material})


def honestly(material: Sequence[Material]) -> Judged:
    """A judge that finds what stands in the passage in it, and nothing else."""
    found = {one.located.drafted.claim_id: one.located for one in material}
    return Judged(
        {
            key: Support.SUPPORTED if one.text in one.passage else Support.UNSUPPORTED
            for key, one in found.items()
        }
    )


def checked(claim: str, quote: str, *, honest: bool = False) -> Checked:
    cited = CitedText(Source(TEXT), segment(TEXT).sentences, "Apixaban in atrial fibrillation")

    drafted = Drafted("c1", claim, "E1", quote, "Evidence")
    judge = honestly if honest else lying
    (result,) = check_claims([drafted], {"E1": cited}, judge=judge).results
    return result


@pytest.mark.parametrize("honest", [True, False])
def test_mc_3_1_a_claim_that_only_leaves_out_is_shown_in_its_sources_whole_sentence(
    honest: bool,
) -> None:
    claim = "Apixaban reduced stroke in people with atrial fibrillation."
    result = checked(claim, WHOLE, honest=honest)
    assert (result.verdict, result.text, result.basis) == (Verdict.SUPPORTED, WHOLE, Basis.MODEL)
    assert result.place == Span(TEXT.index(WHOLE), TEXT.index(WHOLE) + len(WHOLE))
    assert (result.findings, result.also, result.rewritten_from) == ((), (), None)
    assert result.completed_from is not None
    assert result.completed_from.findings == ("omission",)
    assert claim not in str(result.completed_from.as_body())


def test_a_claim_that_also_says_something_else_is_not_completed() -> None:
    result = checked("Apixaban reduced stroke by 30% in people with atrial fibrillation.", WHOLE)
    assert (result.verdict, result.completed_from) == (Verdict.PARTIAL, None)


def test_a_claim_that_strays_is_shown_in_its_sources_whole_sentence() -> None:
    claim = (
        "Apixaban reduced strokes among patients whose hearts fibrillate, compared with warfarin."
    )
    result = checked(claim, WHOLE, honest=True)
    assert (result.verdict, result.text) == (Verdict.SUPPORTED, WHOLE)
    assert result.completed_from is not None
    assert "closeness" in result.completed_from.findings


IT = "It also reduced bleeding in people who were older than 65 years."


@pytest.mark.parametrize(
    "claim",
    [
        IT,
        "Apixaban also reduced bleeding in people.",
        "It reduced bleeding in people older than 65 years.",
    ],
    ids=["whole", "leaving out", "pointing"],
)
def test_a_sentence_that_points_at_the_one_before_is_shown_with_it(claim: str) -> None:
    result = checked(claim, IT)
    assert (result.verdict, result.text) == (Verdict.SUPPORTED, f"{WHOLE} {IT}")
    assert result.place == Span(TEXT.index(WHOLE), len(TEXT))
    assert result.completed_from is not None


def test_a_sentence_that_points_at_nothing_is_not_shown_as_supported() -> None:
    text = "It lowered fever in all of the adults. Aspirin was given to 90 people."
    cited = CitedText(Source(text), segment(text).sentences)
    drafted = Drafted("c1", text[:38], "E1", text[:38], "Evidence")
    (result,) = check_claims([drafted], {"E1": cited}, judge=lying).results
    assert (result.verdict, result.completed_from) == (Verdict.PARTIAL, None)


def test_a_claim_that_leaves_nothing_out_keeps_its_own_words() -> None:
    claim = "Apixaban decreased stroke compared with warfarin in people with atrial fibrillation."
    result = checked(claim, WHOLE)
    assert (result.verdict, result.text, result.completed_from) == (Verdict.SUPPORTED, claim, None)
