"""Which tags a text names: whole words, abbreviations in capitals, nothing denied."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.loader import load
from knowledge.subjects.tags import heading, known_words, label, mentions, ordinary_words, tags
from tests.grid import grid
from workers.retrieve.understanding.assertion import asserted
from workers.retrieve.understanding.read import query_type
from workers.retrieve.understanding.sentences import sentences

KINDS = ("diseases", "decisions")


def held(text: str) -> set[str]:
    """The diseases that a text names and does not deny."""
    return {one.name for one in asserted(text, mentions("diseases", text))}


def test_tags_are_whole_words_in_order_of_mention() -> None:
    assert tags("diseases", "bladder cancer after colon cancer") == (
        "bladder_cancer",
        "colorectal_cancer",
    )
    assert tags("diseases", "a capital question") == ()  # no pneumonia (CAP) in "capital"


@pytest.mark.parametrize(
    ("capitals", "tag", "plain"),
    [
        ("ALL in remission", "leukemia", "all in remission"),
        ("CAP in adults", "pneumonia", "put a cap on costs"),
        ("AF after surgery", "atrial_fibrillation", "af after surgery"),
        ("HF and ICS", "heart_failure", "hf and ics"),
    ],
)
def test_an_abbreviation_of_four_capitals_and_less_names_its_tag_only_in_capitals(
    capitals: str, tag: str, plain: str
) -> None:
    assert tags("diseases", capitals) == (tag,)
    assert tags("diseases", plain) == ()


@pytest.mark.requirement("EB-1.2")
@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("what is best for af", ("atrial_fibrillation",)),
        ("apixaban in Af and ckd", ("atrial_fibrillation", "chronic_kidney_disease")),
        ("copd, chf or dvt", ("copd", "heart_failure", "venous_thromboembolism")),
        ("do all patients need a cap on the dose", ()),
        ("Cap on costs for all", ()),
        ("a mis-diagnosis as such, or hr above 100", ()),
        ("CAP after ALL", ("pneumonia", "leukemia")),
    ],
)
def test_eb_1_2_a_question_may_have_its_abbreviations_in_lower_case_but_for_ordinary_words(
    typed: str, named: tuple[str, ...]
) -> None:
    assert tuple(one.name for one in mentions("diseases", typed, typed=True)) == named


def test_what_is_an_ordinary_word_is_an_abbreviation_of_the_vocabulary() -> None:
    words = known_words() | {
        word.lower() for some in load("subjects/vocabulary")["modalities"].values() for word in some
    }
    assert {word for word in ordinary_words() if not {word, word.removesuffix("s")} & words} == {
        "mis"
    } - words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DOACs after PCI", ("anticoagulation",)),
        ("left-atrial-appendage\nocclusion", ("left_atrial_appendage_occlusion",)),
        ("first line", ("drug_choice",)),
        ("Which anticoagulant?", ("drug_choice", "anticoagulation")),
        ("serial ctDNA monitoring", ("mrd_testing", "surveillance")),
        ("monitoring of potassium", ("monitoring",)),
        ("heparin-induced thrombocytopenia", ()),
    ],
)
def test_spaces_and_hyphens_are_alike_and_a_word_may_name_two_tags(
    text: str, expected: tuple[str, ...]
) -> None:
    assert tags("decisions", text) == expected


@grid(
    ("text", "expected"),
    [
        ("lung function in COPD", ("copd",)),
        ("a biliary stent", ()),
        ("pulmonary hypertension", ()),
        ("diabetes insipidus", ()),
        ("device-detected AF", ("device_detected_af",)),
        ("AHREs on a pacemaker", ("device_detected_af",)),
        ("C. difficile after antibiotics", ("clostridioides_difficile",)),
        ("EGFR-mutated NSCLC", ("lung_cancer",)),
    ],
)
def test_a_phrase_that_only_holds_a_word_of_a_tag_names_nothing(
    text: str, expected: tuple[str, ...]
) -> None:
    assert tags("diseases", text) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_every_word_of_the_vocabulary_names_its_tag(kind: str) -> None:
    for tag, entry in load("subjects/vocabulary")[kind].items():
        for word in (*entry["words"], *entry.get("search", ())):
            assert tag in tags(kind, f"x {word}, y"), word  # type: ignore[arg-type]


def test_a_label_that_is_ours_gives_no_heading() -> None:
    assert heading("decisions", "drug_choice") is None
    assert heading("decisions", "mrd_testing") == "Neoplasm, Residual"
    assert heading("diseases", "copd") == label("diseases", "copd")


@given(st.text(max_size=200), st.sampled_from(["CKD", "atrial fibrillation", "asthma"]))
def test_a_mention_is_where_it_says_and_always_in_a_sentence(before: str, word: str) -> None:
    text = f"{before} {word}"
    found = list(mentions("diseases", text))
    assert found
    for one in found:
        written = text[one.start : one.end]
        assert one.name in tags("diseases", written)
        assert any(part.holds(one.start) for part in sentences(text))
    asserted(text, found)


@grid(
    ("text", "expected"),
    [
        ("no history of diabetes", set()),
        ("AF without CKD.", {"atrial_fibrillation"}),
        ("denies diabetes, hypertension, and asthma", set()),
        ("no diabetes, hypertension or CKD", set()),
        ("neither diabetes nor CKD", set()),
        ("pulmonary embolism was ruled out.", set()),
        ("Asthma is unlikely; COPD.", {"copd"}),
        ("no evidence of lung cancer", set()),
        ("non-diabetic CKD", {"chronic_kidney_disease"}),
        ("safe in patients without cancer?", set()),
    ],
)
def test_a_denied_disease_is_no_tag(text: str, expected: set[str]) -> None:
    assert held(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no diabetes, atrial fibrillation since 2019", {"atrial_fibrillation"}),
        ("without diabetes but with CKD", {"chronic_kidney_disease"}),
        ("no prior GI bleed or stroke on apixaban for AF", {"atrial_fibrillation"}),
        ("No AF. CKD stage 4.", {"chronic_kidney_disease"}),
        ("no drug, dose, test or visit that anyone ever had for asthma", {"asthma"}),
        ("no diabetes; asthma", {"asthma"}),
    ],
)
def test_a_denial_reaches_as_far_as_its_list_and_no_further(text: str, expected: set[str]) -> None:
    assert held(text) == expected


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("patients with or without heart failure", "heart_failure"),
        ("apixaban is not recommended in atrial fibrillation", "atrial_fibrillation"),
        ("no recommended therapy for AF", "atrial_fibrillation"),
        ("no evidence for ctDNA in lung cancer", "lung_cancer"),
        ("How is pulmonary embolism ruled out?", "venous_thromboembolism"),
        ("non-small cell lung cancer", "lung_cancer"),
        ("No CKD in 2019. CKD since 2024.", "chronic_kidney_disease"),
    ],
)
def test_what_only_looks_like_a_negation_denies_nothing(text: str, tag: str) -> None:
    assert held(text) == {tag}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Family history of colon cancer; has AF", {"atrial_fibrillation"}),
        ("His mother had breast cancer and he has AF", {"atrial_fibrillation"}),
        ("family history of diabetes, asthma and colon cancer", set()),
    ],
)
def test_family_history_is_not_the_patients(text: str, expected: set[str]) -> None:
    assert held(text) == expected


@grid(
    ("text", "expected"),
    [
        ("My mother had colon cancer surgery and her Signatera is positive", {"colorectal_cancer"}),
        ("My father had bladder cancer, should he get atezolizumab?", {"bladder_cancer"}),
        ("our sister has breast cancer, can she skip chemo? What do I ask?", {"breast_cancer"}),
        ("My mother had colon cancer. Should I be screened?", set()),
        ("My father had colon cancer when he was 40, what is my risk?", set()),
        ("my brother with AF died, am I at risk, he smoked", set()),
        ("My mother had breast cancer", set()),
        ("My patient has AF, her mother had breast cancer, she is 70", {"atrial_fibrillation"}),
    ],
)
def test_who_asks_for_a_relative_asks_about_what_that_one_has(
    text: str, expected: set[str]
) -> None:
    assert held(text) == expected


def test_sentences_hold_all_words_and_a_short_form_ends_none() -> None:
    text = "Seen by Dr. Example vs. others. C. difficile? Yes.\nNext"
    parts = [text[one.start : one.end] for one in sentences(text)]
    assert parts == ["Seen by Dr. Example vs. others.", "C. difficile?", "Yes.", "Next"]
    assert [one.asks for one in sentences(text)] == [False, True, False, False]
    assert re.sub(r"\s", "", "".join(parts)) == re.sub(r"\s", "", text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Which antibiotic covers MRSA in CAP?", "general"),
        ("Is atypical coverage needed in CAP?", "general"),
        ("Does ceftriaxone cover against anaerobes?", "general"),
        ("Does Medicare cover ceftriaxone?", "coverage_policy"),
        ("Is Signatera covered for stage II?", "coverage_policy"),
        ("What is the coverage of ctDNA tests?", "coverage_policy"),
    ],
)
def test_what_antibiotics_cover_is_no_question_to_a_payer(text: str, kind: str) -> None:
    assert query_type(text) == kind
    assert ("coverage" in tags("decisions", "atypical coverage")) is False
