"""What a question takes for granted of a trial is told where the trial's work says otherwise."""

import pytest

from store.core.spans import Span
from workers.verify.answers.presuppositions import Work, contradicted, taken_for_granted


def work(title: str, *sentences: str) -> Work:
    text, places = "", []
    for one in sentences:
        places.append(Span(len(text), len(text) + len(one)))
        text += f"{one} "
    return Work("E1", title, text, places)


MET = "The trial met its primary endpoint of disease-free survival."
MISSED = "The primary endpoint was not met (hazard ratio 0.79)."
OPENING = "IMvigor011 tested adjuvant atezolizumab after cystectomy."
NEGATIVE = "Since IMvigor011 was negative, should atezolizumab be stopped?"
POSITIVE = "Should it be given now that IMvigor011 met its primary endpoint?"


def told(question: str, *works: Work) -> list[str]:
    texts = {one.key: one.text for one in works}
    return [
        one.place.of(texts[one.key]) for one in contradicted(question, ["IMvigor011"], list(works))
    ]


@pytest.mark.parametrize(("question", "says"), [(NEGATIVE, MET), (POSITIVE, MISSED)])
def test_a_source_that_states_the_opposite_outright_is_quoted(question: str, says: str) -> None:
    assert told(question, work("A phase 3 trial", OPENING, says)) == [says]


@pytest.mark.parametrize(("question", "says"), [(NEGATIVE, MISSED), (POSITIVE, MET)])
def test_a_source_that_says_the_same_is_no_remark(question: str, says: str) -> None:
    assert told(question, work("A phase 3 trial", OPENING, says)) == []


def test_sources_that_say_both_decide_nothing() -> None:
    assert told(NEGATIVE, work("IMvigor011: results", MET, MISSED)) == []


@pytest.mark.parametrize(
    "held",
    [
        work("IMvigor010: results", "IMvigor010 tested it before IMvigor011 began.", MET),
        work("A review", "Of trials in bladder cancer IMvigor011 came last.", MET),
        work("IMvigor011", "The trial met its secondary endpoint and overall survival grew."),
        work("IMvigor011", "In an exploratory analysis the trial met its primary endpoint."),
        work("IMvigor011", "It was run since the TOMBOLA trial met its primary endpoint."),
        work("IMvigor011", "Disease-free survival was longer (hazard ratio 0.64)."),
    ],
)
def test_what_is_of_another_trial_or_of_a_part_of_it_is_no_remark(held: Work) -> None:
    assert told(NEGATIVE, held) == []


@pytest.mark.parametrize(
    "question",
    [
        "Was IMvigor011 negative?",
        "Did IMvigor011 fail?",
        "If IMvigor011 failed, what follows?",
        "Why did IMvigor011 fail to enroll?",
        "Since IMvigor011 was negative in ctDNA-negative patients, what now?",
        "What did IMvigor011 show since it was published?",
        "Since IMvigor011 was published, have guidelines changed?",
    ],
)
def test_a_question_that_asks_or_supposes_takes_nothing_for_granted(question: str) -> None:
    assert taken_for_granted(question, ["IMvigor011"]) == []


@pytest.mark.parametrize(
    "question",
    [
        "Why did IMvigor011 fail?",
        "Because the IMvigor011 trial showed no benefit, is it stopped?",
        "Is it used even though IMvigor011 did not meet its endpoint?",
    ],
)
def test_a_reason_or_a_why_takes_its_clause_for_granted(question: str) -> None:
    assert [one.outcome for one in taken_for_granted(question, ["IMvigor011"])] == ["failed"]
