"""What speaks against a pasted statement, and what its passage only does not say."""

import pytest

from tests.unit.verify.pasted.test_check import check

TRIAL = {
    "title": "ALPHA: drug X against placebo in stage II colon cancer",
    "text": "ALPHA is a randomized, open-label trial of drug X in stage II colon cancer. "
    "Thirty-seven centers took part. Relapse occurred in 12% with drug X and 20% with placebo. "
    "Hospital stay was shorter with drug X (2 against 3 days). "
    "Use of oxaliplatin was cut to 34.8% from 88.6%. "
    "Drug X did not prolong survival in ALPHA. She denied chest pain. "
    "The assay of ALPHA is a tissue-free test. Drug X is contraindicated in tuberculosis.",
}
OTHER = {
    "title": "BETA: another trial",
    "text": "BETA randomized 500 patients to drug Y or placebo. Survival was longer with drug Y.",
}


def codes(words: str) -> set[str]:
    (line,) = check(words, TRIAL, OTHER)["statements"]
    return {one["code"] for one in line["findings"]} - {"closeness", "omission", "connective"}


@pytest.mark.parametrize(
    "words",
    [
        "In ALPHA survival was no longer with drug X.",  # both deny, each in its words
        "Hospital stay was one day shorter with drug X in ALPHA.",  # the difference of two values
        "ALPHA spared patients oxaliplatin (34.8% vs 88.6%).",  # the passage's pair in its order
        "GAMMA did not prolong survival.",  # a trial that no source knows
        "ALPHA was stopped for futility.",  # the passage does not say how it ended
        "The DAPT score was used in ALPHA.",  # an abbreviation that is spelled nowhere
    ],
)
def test_what_the_passage_only_does_not_say_leaves_a_statement_unsure(words: str) -> None:
    assert codes(words) <= {"unsure", "no_passage"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("Relapse occurred in 14% with drug X in ALPHA.", "number"),  # 12% stands in its place
        ("Drug X prolonged survival in ALPHA.", "direction"),
        ("Relapse occurred in 20% with drug X and 12% with placebo.", "arm"),
    ],
)
def test_what_the_passage_says_otherwise_speaks_against_a_statement(words: str, code: str) -> None:
    assert code in codes(words)


def test_a_number_in_words_above_twelve_is_the_number() -> None:
    assert "number" not in codes("37 centers took part in ALPHA.")
    assert "“37”" not in str(check("37 centers took part.", TRIAL)["statements"][0]["findings"])


def test_the_title_and_the_trial_lead_to_the_record_that_is_spoken_of() -> None:
    (line,) = check("ALPHA was randomized.", OTHER, TRIAL)["statements"]
    assert "ALPHA" in line["citations"][0]["quote"]


def test_a_rare_word_leads_further_than_a_common_one() -> None:
    common = {"title": "", "text": "The patient was not told. The patient was not given advice."}
    rare = {"title": "", "text": "Metformin was never given."}
    (line,) = check("The patient was not given metformin.", common, rare)["statements"]
    assert line["citations"][0]["quote"] == "Metformin was never given."


BESPOKE = {
    "title": "BESPOKE CRC: study of ctDNA guided therapy in colorectal cancer",
    "text": "BESPOKE CRC (NCT04264702) is an observational cohort in colorectal cancer. "
    "It is registered and recruits no more. It is not one of the CIRCULATE trials.",
}


def test_a_known_trial_with_the_number_of_another_one_is_wrong_and_not_only_unsaid() -> None:
    (line,) = check("CIRCULATE-US is registered as NCT04264702.", BESPOKE)["statements"]
    assert "trial_identifier" in {one["code"] for one in line["findings"]}


def test_a_trial_that_nobody_knows_with_the_number_of_a_source_is_only_unsure() -> None:
    """A trial has several names, and a record need not print all of them."""
    (line,) = check("OMICRON-7 is registered as NCT04264702.", BESPOKE)["statements"]
    assert {one["code"] for one in line["findings"]} <= {"unsure", "closeness", "no_passage"}


@pytest.mark.parametrize("finding", ["palpitations", "weight loss", "dialysis", "haemoptysis"])
@pytest.mark.parametrize(
    "denial",
    [
        "She denies fever, {} and rash.",
        "No fever, {} or rash was noted.",
        "{}: none.",
        "He declined surgery, {} and transfusion.",
    ],
)
def test_what_the_passage_denies_is_contradicted(denial: str, finding: str) -> None:
    source = {"title": "", "text": denial.format(finding)}
    (line,) = check(f"The patient had {finding}.", source)["statements"]
    assert line["relation"] == "contradicted"
