"""Which sentences can be shown in an answer, and what they lean on."""

import pytest

from tests.grid import grid
from workers.generate.wording import (
    is_about_itself,
    is_whole,
    leans,
    on_one_line,
    refers_back,
    stands_alone,
)


@grid(
    "sentence",
    [
        "They were treated for six months with oral drugs.",
        "It is not randomized and is not one of the trials of the group.",
        "That suggestion has yet to be tested in a trial.",
        "However, survival did not differ between the groups.",
        "In contrast, relapse was more frequent with placebo.",
        "Both arms had a similar rate of adverse events.",
        "Reports call it the first guideline to do so.",
        "Five-year overall survival was also alike in both arms.",
        "Detecting recurrence earlier is therefore no proof of benefit.",
        "This was not seen in the cohort of the trial.",
        "Patients with resected stage III disease should be offered it.",
        "The panel recommends it for patients with stage III disease.",
        "Most hospitals in the region do not perform it at all, for reasons of cost.",
        "After surgery it was positive in a third of the patients.",
        "Among older adults, they were stopped early because of toxicity.",
        "Two weeks later (Day 29) begin a maintenance dose of 40 mg every other week.",
        "Thereafter the dose is 40 mg every other week.",
        "Subsequently, the dose may be doubled in adults with asthma.",
        "By then the company listed two other cancers.",
        "Concomitant stable doses of steroids were permitted in the trial.",
        "The decision rested mainly on one study with 89% sensitivity.",
        "The cited study, with 163 samples of 69 patients, reports a lead time of 10 months.",
        "Here, relapse was halved.",
        "Here we show that they were covered in the adjuvant setting.",
        "At the same time they were covered in the adjuvant setting.",
        "At the same time the rate of relapse was halved.",
    ],
)
def test_a_sentence_that_needs_the_one_before_it_leans(sentence: str) -> None:
    assert leans(sentence)
    assert not stands_alone(sentence)


@grid(
    "sentence",
    [
        "In this double-blind phase 3 trial, relapse was halved.",
        "This randomized trial shows that relapse was halved.",
        "Our findings show no gain, and this study was large.",
        "Italian centers enrolled most of the patients.",
        "Thesaurus terms were used to find the studies.",
        "The assay was validated before hospitals offered it.",
        "In stage III disease, it is recommended that patients be tested.",
        "Here, we present RCandy, a package that shows recombination in bacterial genomes.",
        "Here we show that relapse was halved.",
        "Early testing makes it possible to treat sooner.",
        "The drug was stopped in patients who did not tolerate it.",
        "At the same time ovarian cancer was covered in the adjuvant setting.",
        "The decision to treat depends on the stage of the disease.",
        "Concomitant use of cyclosporine increases the exposure to drug X.",
        "Two weeks of treatment were as good as four in adults with pneumonia.",
        "Three years after surgery relapse was seen in 12% of the patients.",
    ],
)
def test_a_work_that_speaks_of_itself_leans_on_nothing(sentence: str) -> None:
    assert not leans(sentence)


@grid(
    "words",
    [
        "## Results of the trial and of its extension",
        "The following endpoints were reported in the trial:",
        "Previous evidence of small cell components was excluded;",
        "| Arm | Events were counted | Ratio |",
        "and 12 months of treatment were given to the others.",
        "Median survival (in the control arm was shorter than expected.",
        "Recurrence-free survival at three years in the negative cohort.",
        "© 2024 The Authors. This work is published by the society.",
        "Funded by the national research council; the sponsor was not involved.",
        "The authors declare that they have no competing interests.",
        "Trial registration: the trial was registered at NCT00000000.",
        "This is an open-access article that was published under a licence.",
        "See ![Figure](figure.png) for what was found in the arms.",
        "Not reported.",
    ],
)
def test_headings_fragments_and_boilerplate_are_no_sentences(words: str) -> None:
    assert not is_whole(words)


@pytest.mark.parametrize(
    "words",
    [
        "ctDNA was found in 12 of 40 patients (30%; 95% CI, 17 to 47).",
        "- Overall status: recruiting.",
        "- Enrollment: 450 participants (actual).",
        "Primary: disease-free survival at three years.",
        "Consider testing after surgery in patients with stage III disease.",
    ],
)
def test_findings_and_fields_of_a_registry_are_whole(words: str) -> None:
    assert is_whole(words)


def test_marks_of_lists_and_labels_of_parts_are_not_shown() -> None:
    assert on_one_line("- Overall\n  status: recruiting.") == "Overall status: recruiting."
    assert on_one_line("MAIN RESULTS: Relapse was halved.") == "Relapse was halved."
    assert on_one_line("METHODS/FINDINGS: Relapse was halved.") == "Relapse was halved."
    assert on_one_line("HR: 0.5 was found.") == "HR: 0.5 was found."


@pytest.mark.parametrize(
    "label", ["MYTH", "DO NOT DO", "NOT RECOMMENDED", "NO EVIDENCE", "CHILDREN", "PLACEBO"]
)
def test_a_label_that_says_something_stays(label: str) -> None:
    sentence = f"{label}: Antibiotics are effective against the common cold."
    assert on_one_line(sentence) == sentence


def test_what_only_its_document_explains_refers_back() -> None:
    assert refers_back("The trial is closed to recruitment.")
    assert refers_back("Primary: disease-free survival.")
    assert refers_back("That study enrolled adults with asthma.")
    assert refers_back("The decision was published in May.")
    assert not refers_back("ABC-1 is closed to recruitment.")


def test_what_a_work_did_is_told_from_what_it_found() -> None:
    assert is_about_itself("We aimed to compare the two regimens.")
    assert is_about_itself("This review summarizes the trials of the last years.")
    assert not is_about_itself("The trial showed that the regimens do not differ.")


@pytest.mark.parametrize(
    ("sentence", "whole"),
    [
        ("Metformin is contraindicated in pregnancy.", True),
        ("Tizanidine is contraindicated with fluvoxamine.", True),
        ("Do not use in pregnancy.", True),
        ("Aspirin is cheap today.", False),
        ("Contraindicated in pregnancy:", False),
        ("Not recommended.", False),
    ],
)
def test_a_short_sentence_is_whole_if_it_speaks_for_or_against_a_use(
    sentence: str, whole: bool
) -> None:
    assert is_whole(sentence) is whole


@pytest.mark.parametrize(
    "line",
    [
        "† Use with caution and with the lowest dose necessary (12.3)",
        "‡Dose adjustments were required in patients with renal disease.",
        "- † Ratios are given as changes of the area under the curve.",
        "*Increases are shown for the highest dose that was tested.",
        "** Values were adjusted for the age of the patients.".replace("** ", "**"),
    ],
)
def test_a_footnote_of_a_table_is_no_sentence(line: str) -> None:
    assert not is_whole(line)


def test_marks_of_lists_and_emphasis_are_no_footnotes() -> None:
    assert is_whole("* Use with meals was tolerated better by most of the patients.")
    assert is_whole("*Warning*: drug X is contraindicated in pregnancy.")


@pytest.mark.parametrize(
    ("words", "whole"),
    [
        (
            "Adverse Reactions Reported by Patients Treated With Drug X During Controlled Trials",
            False,
        ),
        ("Laboratory tests were abnormal in trials ** Does not include pain or swelling", False),
        (
            "Tell your doctor if you have any side effect that bothers you or does not go away.",
            False,
        ),
        ("You may report side effects to the FDA at 1-800-FDA-1088.", False),
        ("These are not all the possible side effects of drug X.", False),
        ("Adverse reactions were reported by patients treated with drug X in trials", True),
        ("Tell your doctor if you have heart failure before you use drug X.", True),
    ],
)
def test_titles_of_tables_and_what_every_leaflet_says_are_no_findings(
    words: str, whole: bool
) -> None:
    assert is_whole(words) is whole


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("Disease-free survival: hazard ratio 0.64 (95% CI 0.47 to 0.87).", True),
        ("Overall response rate: 42% against 31% (P = 0.02).", True),
        ("Median progression-free survival: 9.9 months.", True),
        ("Stage III: 120 patients.", False),
        ("Blood: two tubes of plasma.", False),
    ],
)
def test_an_outcome_with_its_figure_says_enough_without_a_verb(line: str, whole: bool) -> None:
    assert is_whole(line) is whole
    assert refers_back(line) is whole  # it needs its trial to be named
