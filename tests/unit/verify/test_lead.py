"""The first line of an answer, in the form of the question."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.answer import Lead, Siding
from contracts.draft import Lacks
from contracts.retrieval import Asked, Sufficiency
from knowledge.loader import load
from store.core.spans import Span
from store.models import DocumentVersion
from tests.grid import grid
from workers.verify.answers.abstention import abstention
from workers.verify.gate import Verified
from workers.verify.lead.forms import Said, lead_of, lead_of_none, tells_no_advice
from workers.verify.lead.proposition import Stance
from workers.verify.lead.stance import asking, read_stances, stance
from workers.verify.lead.strength import strength

TRIAL, COHORT = "randomized controlled trial", "observational study"


def said(
    text: str,
    number: int = 1,
    *,
    covers: float = 1.0,
    answers: int = 0,
    begins: float | None = None,
    year: int = 2020,
    **of: Any,
) -> Said:
    given: dict[str, Any] = {
        **{"n": 1, "content_hash": "0" * 64, "title": f"Work {number}", "text": text},
        **{"source_type": "pubmed", "identifiers": {}, "authors": [], "labels": []},
        "published_at": datetime(year, 1, 1, tzinfo=UTC),
    }
    claim = Verified(
        *(f"c{number}", text, f"E{number}", "EVIDENCE", "verbatim"), Span(0, len(text)), "words"
    )
    return Said(claim, DocumentVersion(**(given | of)), covers, answers, begins)


def first(
    kind: str,
    *claims: Said,
    scores: Mapping[str, Siding] | None = None,
    missing: Sequence[str] = (),
    required: Sequence[str] = (),
) -> Lead:
    asked = Asked(type=kind, required=tuple(required))
    return lead_of(asked, claims, scores or {}, missing)


def score(yes: float, no: float) -> Siding:
    return Siding(supported=yes, contradicted=no, digest="0")


def test_what_its_drafter_calls_the_answer_is_shown_first_in_its_order() -> None:
    claims = [
        said("Aspirin was studied in a trial.", 1, evidence_level=TRIAL, year=2024),
        said("It cut death by a tenth.", 2, answers=2),
        said("It prevents stroke.", 3, answers=1),
    ]
    assert first("explanation", *claims).text == "It prevents stroke.\nIt cut death by a tenth."
    assert first("trials", *claims).claim_ids == ("c3", "c2")
    assert first("number", *claims[:2]).claim_ids == ("c2",)


def test_what_studies_found_is_not_shown_as_what_to_do() -> None:
    found = (
        said("Disease-free survival was 92.4% with the drug and 83.7% without.", 1),
        said("Interstitial lung disease occurred in 9.6% and 1.6%.", 2),
    )
    told = first("recommendation", *found)
    assert told.kind == "beside"
    assert told.text == f"{load('works/trust')['lead']['no_advice']} {found[0].claim.text}"
    assert tells_no_advice(Asked(type="recommendation"), found)
    assert first("number", *found).kind == "number"


@pytest.mark.parametrize(
    "text",
    [
        "The drug is stopped for good at grade 2 or higher.",
        "Prednisolone 1 mg/kg was given, and 12% needed infliximab.",
        "Prophylaxis should be given where the risk is 20%.",
        "Prophylaxis is advised where the risk is about 20% or higher.",
        "A drain was placed only at saturation below 90% on air.",
    ],
)
def test_a_claim_that_says_what_to_do_answers_whatever_stands_beside_it(text: str) -> None:
    claims = (said("Pneumonitis occurred in 9.6% and 1.6%.", 1), said(text, 2))
    assert first("recommendation", *claims).kind != "beside"
    assert not tells_no_advice(Asked(type="recommendation"), claims)


def test_a_body_that_advises_is_never_said_to_advise_nothing() -> None:
    claim = said("Response was 42% with it.", source_type="nccn")
    assert first("recommendation", claim).kind == "recommendation"


def test_a_replaced_edition_is_no_answer_whatever_its_drafter_calls_it() -> None:
    old, new = (
        said(f"Aspirin is advised since {year}.", n, answers=n, year=year, source_type="nccn")
        for n, year in ((1, 2019), (2, 2024))
    )
    assert first("explanation", old, new).claim_ids == ("c2",)


def test_yes_is_said_with_the_claim_that_says_so() -> None:
    lead = first("yesno", said("Aspirin prevents stroke."), scores={"c1": score(0.9, 0.0)})
    assert (lead.value, lead.text) == ("yes", "Yes: Aspirin prevents stroke.")
    assert lead.claim_ids == ("c1",)


def test_a_claim_that_begins_with_the_side_itself_does_not_get_it_twice() -> None:
    for words, text in (
        ("Yes: aspirin prevents stroke.", "Yes: aspirin prevents stroke."),
        ("yes, it does.", "yes, it does."),
        ("Yesterday's trial found that it does.", "Yes: Yesterday's trial found that it does."),
    ):
        assert first("yesno", said(words), scores={"c1": score(0.9, 0.0)}).text == text, words


def test_a_trial_is_not_outvoted_by_cohorts() -> None:
    cohorts = [said(f"It lowered death {n}.", n, evidence_level=COHORT) for n in range(1, 5)]
    trial = said("It did not lower death.", 5, evidence_level=TRIAL)
    scores = {f"c{n}": score(0.9, 0.0) for n in range(1, 5)} | {"c5": score(0.1, 0.9)}
    lead = first("yesno", *cohorts, trial, scores=scores)
    assert (lead.value, lead.claim_ids) == ("no", ("c5",))


def test_what_no_source_says_surely_nobody_says_together() -> None:
    assert stance([score(0.4, 0.1)] * 5) is None


def test_claims_that_are_on_something_else_are_no_no_however_many() -> None:
    assert stance([score(0.05, 0.3)] * 5) is None
    beside = said("It does.", 1, covers=0.3)
    assert first("yesno", beside, scores={"c1": score(0.9, 0.0)}).kind == "sentence"


@grid(
    ("supported", "contradicted", "sides", "side"),
    [
        (0.1, 0.45, ("yes", "no"), "yes"),
        (0.1, 0.6, ("yes", "no"), None),
        (0.1, 0.6, (), None),
        (0.1, 0.6, ("yes",), None),
    ],
)
def test_a_side_stands_unless_another_claim_rather_says_the_contrary(
    supported: float, contradicted: float, sides: tuple[Stance, ...], side: Stance | None
) -> None:
    other = score(supported, contradicted).model_copy(update={"sides": sides})
    assert stance([score(0.9, 0.02), other]) == side


def test_words_that_go_the_way_asked_about_say_yes_from_less() -> None:
    one = score(0.45, 0.1)
    assert stance([one]) is None
    assert stance([one.model_copy(update={"sides": ("yes",)})]) == "yes"


def test_what_says_neither_for_certain_is_told_as_no_answer() -> None:
    claim, other = said("It was studied.", 1), said("It is taken daily.", 2)
    lead = first("yesno", claim, scores={"c1": score(0.02, 0.03)})
    assert (lead.kind, lead.value, lead.claim_ids) == ("beside", None, ("c1",))
    assert lead.text.startswith("What was found says neither yes nor no to this.")
    unsure = {"c1": score(0.02, 0.03), "c2": score(0.4, 0.1)}
    assert first("yesno", claim, other, scores=unsure).kind == "sentence"
    drafted = said("It was studied.", 1, answers=1)
    assert first("yesno", drafted, scores={"c1": score(0.02, 0.03)}).kind == "sentence"


def test_an_older_trial_that_says_otherwise_is_heard() -> None:
    new, old = (
        said("It does.", n, year=year, evidence_level=TRIAL) for n, year in ((1, 2024), (2, 2015))
    )
    lead = first("yesno", new, old, scores={"c1": score(0.9, 0.0), "c2": score(0.0, 0.9)})
    assert lead.kind == "sentence"


def test_sources_that_take_both_sides_are_no_yes_and_no_no() -> None:
    both = {"c1": score(0.9, 0.0), "c2": score(0.0, 0.9)}
    lead = first("yesno", said("It does.", 1), said("It does not.", 2), scores=both)
    assert (lead.kind, lead.value) == ("sentence", None)


def test_a_number_has_its_context_and_is_its_value_where_it_stands_alone() -> None:
    lead = first("number", said("It is common.", 1), said("The dose is 5 mg.", 2))
    assert (lead.value, lead.text, lead.claim_ids) == ("5 mg", "The dose is 5 mg.", ("c2",))


def test_a_list_has_a_line_a_source() -> None:
    lead = first("list", said("One causes it.", 1), said("Two causes it.", 2))
    assert lead.text == "One causes it.\nTwo causes it."


def test_a_recommendation_has_its_body_year_and_grade_and_no_replaced_edition_speaks() -> None:
    of: dict[str, Any] = {"source_type": "guideline", "publisher": "NICE"}
    old = said("It should be stopped.", 1, year=2012, **of)
    new = said("It should be continued (grade 1B).", 2, year=2022, **of)
    lead = first("recommendation", old, new)
    assert lead.claim_ids == ("c2",)
    assert lead.value == "NICE, 2022, grade 1B"
    assert first("sentence", old, new).claim_ids == ("c2",)


POLICY: dict[str, Any] = {
    "source_type": "payer",
    "publisher": "MolDX",
    "identifiers": {"lcd_id": "L38290"},
}


def on_coverage(*claims: Said, scores: Mapping[str, Siding] | None = None) -> Lead:
    return lead_of(Asked(type="coverage"), claims, scores or {}, (), on_coverage=True)


def test_a_coverage_question_is_answered_by_the_policy_with_its_body_number_and_date() -> None:
    study = said("The test finds relapse early.", 1)
    policy = said("The test is covered in stage II.", 2, **POLICY)
    lead = on_coverage(study, policy, scores={"c2": score(0.9, 0.0)})
    assert (lead.kind, lead.claim_ids) == ("coverage", ("c2",))
    assert lead.value == "covered, under the conditions of the policy"
    assert lead.text == (
        "Covered, under the conditions of the policy: The test is covered in stage II. "
        "(MolDX, L38290, 2020-01-01)"
    )


def test_what_a_policy_denies_is_not_covered_and_both_are_told() -> None:
    denied = said("The test is not covered for screening.", 1, **POLICY)
    covered = said("The test is covered after surgery.", 2, **POLICY)
    assert on_coverage(denied, scores={"c1": score(0.0, 0.9)}).value == "not covered"
    both = on_coverage(denied, covered, scores={"c1": score(0.0, 0.9), "c2": score(0.9, 0.0)})
    assert (both.value, both.claim_ids) == ("covered for one use and not for another", ("c2", "c1"))


def test_a_policy_that_is_not_sure_to_say_either_is_shown_without_a_verdict() -> None:
    lead = on_coverage(said("The test must be registered.", 1, **POLICY))
    assert (lead.kind, lead.value) == ("coverage", None)
    assert lead.text == "The test must be registered. (MolDX, L38290, 2020-01-01)"


def test_the_line_that_is_likeliest_to_decide_stands_first() -> None:
    order = said("A written order is needed.", 1, **POLICY)
    denied = said("It will be denied as not reasonable and necessary.", 1, **POLICY)
    denied = replace(denied, claim=replace(denied.claim, claim_id="c2"))
    lead = on_coverage(order, denied, scores={"c1": score(0.1, 0.1), "c2": score(0.1, 0.5)})
    assert (lead.value, lead.claim_ids) == (None, ("c2", "c1"))


def test_lines_of_the_same_policy_stand_beside_what_it_decides() -> None:
    lines = [said(f"Condition {n}.", 1, **POLICY) for n in range(4)]
    lead = on_coverage(*lines)
    assert len(lead.text.splitlines()) == 3
    other = said("Another policy.", 2, **POLICY)
    assert "Another policy." not in on_coverage(lines[0], other).text


def test_where_no_policy_is_held_the_first_line_says_so() -> None:
    lead = on_coverage(said("The test finds relapse early.", 1))
    assert (lead.kind, lead.claim_ids) == ("beside", ("c1",))
    assert lead.text.startswith("What was found has no decision of a payer on this.")


def test_a_comparison_is_a_table_of_sentences_with_both_sides() -> None:
    both = said("Apixaban caused less bleeding than warfarin.", 1)
    one = said("Apixaban is given twice daily.", 2)
    lead = first("comparison", both, one, required=("apixaban", "warfarin"))
    assert lead.table is not None
    assert lead.table.rows == (("Work 1", "2020", both.claim.text),)


def test_trials_are_a_table_of_the_fields_of_their_records() -> None:
    fields = ("Overall status: Recruiting.", "Enrollment: 90 participants.")
    trial = [said(text, 1, covers=1.0) for text in fields]
    lead = first("trials", *trial)
    assert lead.table is not None
    assert lead.table.columns == ("Source", "Year", "Overall status", "Enrollment")
    assert lead.table.rows == (("Work 1", "2020", "Recruiting", "90 participants"),)


def test_what_is_near_is_told_as_near() -> None:
    lead = first("yesno", said("Durvalumab helps in SCLC."), missing=["NSCLC"])
    assert lead.kind == "beside"
    assert lead.text.startswith("The sources of this answer do not name NSCLC. They say:")


def test_what_is_held_instead_is_named_where_nothing_answers() -> None:
    reason = abstention("no_evidence", worded="other_names", asked=["apremilast"])
    lead = lead_of_none(reason, Lacks(who="names", asked=("apremilast",)), ["A", "B", "C"])
    assert lead.text == "What was found does not speak of apremilast. It speaks of: A; B"
    assert lead_of_none(abstention("no_evidence"), None, ["A"]).text == (
        "What was found does not say."
    )


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.sampled_from(["list", "trials"]))
def test_a_first_line_is_short_and_made_of_claims_alone(lengths: list[int], kind: str) -> None:
    claims = [said(f"w{n} " * length + "end.", n) for n, length in enumerate(lengths, start=1)]
    lead = first(kind, *claims)
    texts = {one.claim.claim_id: one.claim.text for one in claims}
    assert lead.text == "\n".join(texts[one] for one in lead.claim_ids)
    words = sum(len(texts[one].split()) for one in lead.claim_ids)
    assert len(lead.claim_ids) == 1 or words <= load("works/trust")["lead"]["words"]


@grid(
    ("question", "asked"),
    [
        ("Does aspirin prevent stroke?", "Does aspirin prevent stroke?"),
        ("He is 70. Should he take aspirin?", "Should he take aspirin?"),
        ("Is aspirin safe? She is 70.", "Is aspirin safe?"),
        ("aspirin safe in pregnancy", "aspirin safe in pregnancy"),
    ],
)
def test_the_sentence_that_asks_is_read(question: str, asked: str) -> None:
    assert asking(question) == asked


@pytest.mark.parametrize(
    ("claim", "side"),
    [
        ("Aspirin significantly reduced the risk of stroke (HR 0.8, 95% CI 0.7 to 0.9).", "yes"),
        ("Aspirin reduced the risk of stroke in patients with diabetes.", None),
        ("Aspirin did not reduce the risk of stroke.", "no"),
        ("Aspirin did not reduce the risk of stroke in patients with diabetes.", None),
        ("The aim was to determine whether aspirin reduces the risk of stroke.", None),
    ],
)
def test_the_reader_and_the_words_say_which_side_a_claim_takes(
    claim: str, side: str | None
) -> None:
    read = read_stances("Does aspirin reduce the risk of stroke?", [said(claim).claim])
    assert stance(read.values()) == side


def test_an_answer_is_as_strong_as_what_it_says() -> None:
    found = Sufficiency(score=90, level="excellent", basis="3 documents")
    none, beside = Lead(kind="none", text=""), Lead(kind="beside", text="")
    sentence, claims = Lead(kind="sentence", text=""), [said("One.", 1), said("Two.", 2)]
    assert strength(found, none, [], []).score == load("works/trust")["strength"]["none"]
    assert strength(found, beside, claims, []).level == "limited"
    assert strength(found, sentence, claims, ["NSCLC"]).level == "limited"
    assert strength(found, sentence, claims[:1], []).level == "good"
    assert strength(found, sentence, claims, []).score == 90


TEXT = "Of 41 patients 12 died. Survival was 14 months."
BESIDE = "Of 41 patients 12 died, and 3 withdrew."


@grid(
    ("one", "other", "score"),
    [
        ({"identifiers": {"doi": "10.1/A"}}, {"identifiers": {"doi": "10.1/a"}}, 75),
        ({"identifiers": {"nct_id": "NCT1"}}, {"identifiers": {"nct_id": "NCT1"}}, 90),
        ({"title": "Drug X in gout"}, {"title": "Drug X in gout", "text": f"{TEXT} More."}, 75),
        ({"title": "Drug X in gout"}, {"title": "Drug X in gout", "text": BESIDE}, 90),
        ({"title": "Drug X in gout"}, {"title": "Drug Y in asthma of children"}, 90),
    ],
)
def test_two_records_of_one_work_are_one_source(
    one: dict[str, Any], other: dict[str, Any], score: int
) -> None:
    found = Sufficiency(score=90, level="excellent", basis="3 documents")
    claims = [said(TEXT, 1, **one), said(**{"text": TEXT, "number": 2, **other})]
    lead = Lead(kind="sentence", text="")
    assert strength(found, lead, claims, []).score == score
    assert strength(found, lead, claims[::-1], []).score == score


@pytest.mark.parametrize("kind", ["explanation", "yesno", "number", "recommendation"])
def test_what_says_far_better_what_is_asked_leads_of_what_holds_enough_of_it(kind: str) -> None:
    aim = said("It was asked whether it cuts death in 2 of 10.", 1, begins=0.5)
    found = said("Death fell by 10%.", 2, covers=0.7, begins=3.0)
    beside = said("Cost fell by 50%.", 3, covers=0.3, begins=4.0)
    assert first(kind, aim, found, beside).claim_ids == ("c2",)


def test_what_says_it_a_little_better_does_not_upset_the_order() -> None:
    trial = said("Death fell.", 1, begins=1.5, evidence_level=TRIAL)
    cohort = said("Death fell by 10%.", 2, begins=3.0, evidence_level=COHORT)
    assert first("explanation", trial, cohort).claim_ids == ("c1",)


def test_without_that_reading_the_order_of_the_answer_stands() -> None:
    aim, found = said("It was asked whether.", 1), said("Death fell.", 2, begins=9.0)
    assert first("explanation", aim, found).claim_ids == ("c1",)


def test_of_a_source_the_line_that_stands_first_is_shown() -> None:
    one, other, again = said("A first.", 1), said("B first.", 2), said("A again.", 3)
    again = replace(again, claim=replace(again.claim, evidence_id="E1"))
    assert first("list", one, other, again).claim_ids == ("c1", "c2")
