"""A claim is made of what its passage is about, and names nothing that its source does not.

And for all guards of meaning: what stands in the passage is never vetoed."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clinical_text.assertion.lexicon import lexicon
from knowledge.meaning import direction_policy, modality_policy
from tests.grid import grid
from workers.verify.comparable import is_quoted_whole
from workers.verify.doubts import doubts
from workers.verify.guards import content, direction, modality, negation
from workers.verify.guards.content import abbreviations, guard
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import read
from workers.verify.hard_facts import QUOTED, hard_facts

PASSAGE = "Recurrence-free survival was longer with osimertinib than with placebo in EGFR disease."
TEXT = f"We studied circulating tumor DNA (ctDNA) in stage II colon cancer. {PASSAGE}"


def codes(claim: str, **around: str) -> set[str]:
    return {finding.code for finding in guard(claim, Grounds(PASSAGE, **around))}


def test_a_sentence_about_something_else_is_vetoed() -> None:
    assert codes("Children with asthma should avoid tobacco smoke at home.") == {"content"}


@pytest.mark.parametrize(
    "claim",
    [
        "Osimertinib gave longer recurrence-free survival than placebo in EGFR disease.",
        "The study showed that, versus placebo, survival without recurrence was longer with"
        " osimertinib.",
    ],
)
def test_another_order_and_words_of_reporting_stand(claim: str) -> None:
    assert codes(claim) == set()


@pytest.mark.parametrize(
    "claim",
    [
        "Recurrence-free survival was longer with gefitinib than with placebo in EGFR disease.",
        "Recurrence-free survival was longer with osimertinib than with placebo in KRAS disease.",
        "In ADAURA, recurrence-free survival was longer with osimertinib than with placebo.",
        "Recurrence-free survival was longer with osimertinib than with placebo in Japan.",
    ],
)
def test_a_name_that_the_source_has_nowhere_is_vetoed(claim: str) -> None:
    assert "name" in codes(claim, text=PASSAGE)


def test_a_name_may_come_from_the_title_or_the_rest_of_the_version() -> None:
    claim = "In ADAURA, recurrence-free survival was longer with osimertinib than with placebo."
    assert codes(claim, title="Final results of ADAURA") == set()
    assert codes(claim, text=f"ADAURA was a trial. {PASSAGE}") == set()


@pytest.mark.parametrize("spelling", ["EGFR", "Egfr", "EGFR-mutated"])
def test_a_name_may_be_written_otherwise(spelling: str) -> None:
    claim = f"Recurrence-free survival was longer with osimertinib in {spelling} disease."
    assert codes(claim) == set()


def test_an_outcome_may_be_told_by_its_other_side() -> None:
    assert guard("Aspirin improved survival.", Grounds("Aspirin reduced mortality.")) == []


def test_abbreviations_are_read_from_the_version() -> None:
    assert abbreviations(TEXT) == {"ctdna": ("circul", "tumor", "dna")}
    grounds = Grounds("Relapse followed positive ctDNA.", text=TEXT)
    assert guard("Positive circulating tumor DNA preceded relapse.", grounds) == []
    grounds = Grounds("Relapse followed positive circulating tumor DNA.", text=TEXT)
    assert guard("Positive ctDNA preceded relapse.", grounds) == []


CUES = sorted(
    {
        *(word for cues in modality_policy().cues.values() for word in cues.words),
        *(word for words in direction_policy().signs.values() for word in words),
        *(word for pair in direction_policy().opposites for word in pair),
        *(word for group in lexicon().triggers for word in group.words),
        *lexicon().nothing,
        *modality_policy().conditions.words,
        *modality_policy().quantifiers.narrow,
        *(word for words in modality_policy().quantifiers.wide.values() for word in words),
        *modality_policy().settings["preclinical"],
        *(word for level in modality_policy().recommendations for word in level),
        *("not", "no", "without", "than", "and", "or", "nor", ",", "but", "was", "patients"),
        *("mortality", "survival", "aspirin", "placebo", "relapse", "risk", "women", "stage"),
    }
)
sentences = (
    st.lists(st.sampled_from(CUES), min_size=3, max_size=14)
    # "no." is a number's, and ends no sentence
    .filter(lambda words: not " ".join(words).rstrip(" ,").endswith("no"))
    .filter(lambda words: words[0].isalnum())  # a comma begins none
    .map(lambda words: " ".join(words).capitalize() + ".")
)


@given(sentences, sentences, sentences)
@example("The rest.", "Statins abolish the raise.", "To analyse this, doses were compared.")
def test_a_whole_sentence_of_the_passage_is_vetoed_by_no_guard_of_meaning(
    before: str, sentence: str, after: str
) -> None:
    for passage in (sentence, f"{before} {sentence} {after}"):
        for one in (direction, negation, content):
            assert one.guard(sentence, Grounds(passage)) == []
        assert hard_facts(sentence, Grounds(passage, text=passage)) == ()
        assert doubts(sentence, Grounds(passage, text=passage)) == ()
    assert modality.guard(sentence, Grounds(sentence)) == []


_NAMING = st.sampled_from(
    [
        "NCT04089631",
        "CIRCULATE",
        "the DYNAMIC trial",
        "PMID 35657320",
        "DYNAMIC-III",
        "not",
        "(",
        ")",
        "study COBRA,",
        "In",
        "NCT00000001:",
        "COBRA",
        "10.1000/xyz",
        "fell.",
        "BESPOKE study (",
    ]
)


@given(st.lists(_NAMING, min_size=1, max_size=12).map(" ".join), st.sampled_from(["", "A title"]))
def test_what_asks_of_names_and_numbers_finds_nothing_between_a_passage_and_itself(
    passage: str, title: str
) -> None:
    assert [one for ask in QUOTED for one in ask(passage, Grounds(passage, title, passage))] == []
    assert bool(read(passage).tokens) == any(map(str.isalnum, passage))


@grid(
    ("claim", "passage", "whole"),
    [
        ("A fell.", "A fell. B rose.", True),
        ("B rose.", "A fell. B rose.", True),
        ("A fell. B rose.", "A fell. B rose.", True),
        ("fell.", "A fell. B rose.", False),
        ("A fell", "A fell in no trial.", False),
        ("a fell.", "A fell.", False),
        ("A fell", "A fell?", False),
        ("", "A fell.", False),
    ],
)
def test_only_whole_sentences_count_as_quoted(claim: str, passage: str, whole: bool) -> None:
    assert is_quoted_whole(claim, passage) is whole


def test_a_doubt_of_a_kind_is_told_once_and_in_one_order() -> None:
    claim = "Gefitinib did not increase survival in 12 mice."
    found = doubts(claim, Grounds(PASSAGE, text=PASSAGE))
    kinds = [one.kind for one in found]
    assert len(kinds) == len(set(kinds))
    assert kinds.index("direction") < kinds.index("name")
    assert all(one.question.endswith("?") for one in found)


@pytest.mark.parametrize(
    "claim",
    [
        "Vancomycin cures sepsis.",
        "Vancomycin causes sepsis.",
        "Vancomycin kills patients with sepsis.",
        "Vancomycin prevents sepsis in patients.",
    ],
)
def test_that_people_received_a_drug_does_not_say_what_it_does(claim: str) -> None:
    passage = "Patients with sepsis received vancomycin."
    assert [one.code for one in guard(claim, Grounds(passage))] == ["content"]


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Vancomycin cured sepsis.", "Sepsis resolved with vancomycin."),
        ("Obesity causes diabetes.", "Obesity leads to diabetes."),
        ("Drug A killed tumor cells.", "Drug A induced apoptosis of tumor cells."),
        ("Aspirin prevented strokes.", "Aspirin reduced the risk of stroke."),
        ("Vancomycin was given for sepsis.", "Patients with sepsis received vancomycin."),
    ],
)
def test_an_effect_that_the_passage_bears_out_stands(claim: str, passage: str) -> None:
    assert guard(claim, Grounds(passage)) == []


def test_a_known_short_form_is_its_long_one_where_the_passage_spells_it_out() -> None:
    passage = "Overall survival was alike: 93.8% against 93.3%, hazard ratio 1.05 (P = 0.887)."
    assert guard("Overall survival was alike (HR 1.05).", Grounds(passage)) == []
    assert guard("OS was alike: 93.8% against 93.3%, hazard ratio 1.05.", Grounds(passage)) == []
    found = guard("Overall survival was alike (RR 1.05).", Grounds(passage))
    assert [one.code for one in found] == ["name"]


def test_a_short_form_that_is_also_a_word_is_not_told_by_that_word() -> None:
    passage = "Survival or relapse was recorded in all patients."
    found = guard("Survival had an odds ratio recorded in all patients.", Grounds(passage))
    plain = guard("Survival had a strange value recorded in all patients.", Grounds(passage))
    assert [one.code for one in found] == [one.code for one in plain]


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Guided atezolizumab is approved in bladder cancer.",
         "We studied guided atezolizumab in bladder cancer."),
        ("The FDA approved the test in cancer.",
         "The FDA granted the test in cancer a breakthrough designation."),
        ("Fewer guided patients had toxic effects of chemotherapy.",
         "Fewer guided patients received chemotherapy."),
        ("The test had a specificity of 87.5% for relapse.",
         "The test identified 14 of 16 relapses (87.5%)."),
        ("The test had a sensitivity of 98.2%.", "The specificity of the test was 98.2%."),
        ("The positive predictive value for relapse was 87.5%.",
         "The test identified 14 of 16 relapses (87.5%)."),
    ],
)  # fmt: skip
def test_approval_toxicity_and_accuracy_need_a_passage_that_tells_of_them(
    claim: str, passage: str
) -> None:
    assert "content" in [one.code for one in guard(claim, Grounds(passage, text=passage))]


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The drug is licensed for bladder cancer.", "The drug was approved for bladder cancer."),
        ("Toxicity was less frequent with guidance.",
         "Adverse events were less frequent with guidance."),
        ("The sensitivity for relapse was 87.5%.",
         "The test identified 14 of 16 relapses (87.5%)."),
        ("A positive test was predictive of relapse.", "A positive test predicted relapse."),
    ],
)  # fmt: skip
def test_they_may_be_told_in_other_words(claim: str, passage: str) -> None:
    assert guard(claim, Grounds(passage, text=passage)) == []


def test_what_it_points_at_is_told_by_the_sentence_before() -> None:
    before = "Sensitivity for recurrence was 81%."
    passage = "It depended on the place: 100% for liver and 53% for lung recurrence."
    claim = "Sensitivity was 100% for liver and 53% for lung recurrence."
    grounds = Grounds(passage, text=f"{before} {passage}", neighbours=before)
    assert "content" not in [one.code for one in guard(claim, grounds)]
