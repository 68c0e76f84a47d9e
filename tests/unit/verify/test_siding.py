"""Whether claims say yes or no to a question is learned; how it must not err is told here."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from store.core.spans import Span
from workers.verify.gate import Verified
from workers.verify.lead.proposition import sides
from workers.verify.lead.stance import read_stances, stance

DRUGS = (("zelotride", "marovirumab"), ("quillanib", "imatinib"), ("aspirin", "lodaxifen"))
OUTCOMES = ("stroke", "kidney stones", "delirium", "hip fracture", "gout flares", "hearing loss")
ASKED = "Does {drug} reduce {outcome}?"
SAID = {
    "yes": ("{Drug} reduced {outcome}.",),
    "no": (
        "{Drug} did not reduce {outcome}.",
        "There was no difference in {outcome} between {drug} and placebo.",
    ),
    None: (
        "{Drug} did not reduce fatal {outcome}.",
        "In women, {drug} did not reduce {outcome}.",
        "In patients older than 70 years, {drug} did not reduce {outcome}.",
        "{Drug} did not reduce {outcome} more than {other}.",
        "{Drug} did not reduce {outcome} after surgery.",
        "{Drug} did not reduce hospital admissions.",
        "{Other} did not reduce {outcome}.",
        "Adding {other} to {drug} did not reduce {outcome}.",
        "No patient stopped {drug} because of {outcome}.",
        "{Other} reduced {outcome}.",
        "{Drug} reduced hospital admissions.",
        "The aim was to determine whether {drug} reduces {outcome}.",
    ),
}
ALLOWED, COVERED = 0.03, {"yes": 0.3, "no": 0.6}
"""Shares of a learned reader: wrong sides of what says neither, and sides said where one is."""


def said(question: str, claim: str) -> str | None:
    verified = Verified(*("c1", claim, "E1", "EVIDENCE", "verbatim"), Span(0, len(claim)), "words")
    return stance(read_stances(question, [verified]).values())


def filled(form: str, drug: str, other: str, outcome: str) -> str:
    capitals = {"Drug": drug.capitalize(), "Other": other.capitalize()}
    return form.format(drug=drug, other=other, outcome=outcome, **capitals)


def test_what_is_narrower_wider_or_beside_takes_no_side() -> None:
    counts: Counter[tuple[str | None, str | None]] = Counter()
    for drug, other in DRUGS:
        for outcome in OUTCOMES:
            words = (drug, other, outcome)
            for side, claims in SAID.items():
                for claim in claims:
                    counts[side, said(filled(ASKED, *words), filled(claim, *words))] += 1
    told: Counter[str | None] = Counter()
    for (side, _), count in counts.items():
        told[side] += count
    wrong = sum(count for (side, found), count in counts.items() if found not in (side, None))
    assert wrong <= ALLOWED * told[None], counts
    for side, least in COVERED.items():
        assert counts[side, side] >= least * told[side], counts


@given(st.sampled_from(DRUGS), st.sampled_from(OUTCOMES))
def test_words_that_deny_all_that_is_asked_say_no_alone(
    drugs: tuple[str, str], outcome: str
) -> None:
    asked = filled(ASKED, *drugs, outcome)
    for claim in SAID["no"]:
        assert sides(asked, filled(claim, *drugs, outcome)) == ("no",)
    for claim in SAID[None]:
        assert sides(asked, filled(claim, *drugs, outcome)) != ("no",), claim


def test_a_claim_on_another_name_of_the_kind_takes_no_side() -> None:
    asked = "Does imatinib reduce stroke?"
    for claim in (
        "Aspirin reduced stroke.",
        "Aspirin did not reduce stroke.",
        "Marovirumab did not reduce stroke.",
    ):
        assert sides(asked, claim) == (), claim
    asked = "Does aspirin prevent atrial fibrillation?"
    assert sides(asked, "Acetylsalicylic acid prevented AF.") == ("yes",)


def test_a_claim_that_names_no_other_of_the_kind_may_lack_a_name() -> None:
    asked = "Does imatinib reduce stroke?"
    assert sides(asked, "The drug did not reduce stroke.") == ("yes", "no")
    assert sides(asked, "Treatment reduced stroke and headache.") == ("yes",)


def test_what_goes_the_way_that_is_asked_about_is_no_no() -> None:
    asked = "Does aspirin reduce stroke?"
    for claim in (
        "Aspirin halved stroke.",
        "Aspirin lowered the rate of stroke, and bleeding was noninferior.",
        "Stroke fell by a third with aspirin.",
    ):
        assert "no" not in sides(asked, claim), claim
    for claim in ("Aspirin did not reduce stroke.", "Aspirin increased stroke."):
        assert "no" in sides(asked, claim), claim
