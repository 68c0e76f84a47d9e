"""A line on another stage, or on patients of another marker status, is no answer."""

from tests.grid import grid
from workers.generate.approvals import Coverage
from workers.generate.illness import Illness, stages

NEGATIVE = "Does chemotherapy help in ctDNA-negative colon cancer?"


@grid(
    ("text", "found"),
    [
        ("stage III colon cancer", {3}),
        ("Stages I to III and IVB", {1, 2, 3, 4}),
        ("stage II–III or recurrent disease", {2, 3}),
        ("high-risk stage II or low-risk stage III", {2, 3}),
        ("stage II or III", {2, 3}),
        ("stage 0, I and IIIA", {0, 1, 3}),
        ("breast cancer of stage IIb or higher", {2, 3, 4}),
        ("resected stage II to stage IV disease", {2, 3, 4}),
        ("end-stage renal disease", set()),
        ("a phase II trial, at this stage", set()),
        ("stage in 3 patients", set()),
    ],
)
def test_stages_are_read_with_those_between_them(text: str, found: set[int]) -> None:
    assert stages(text) == found


@grid(
    ("question", "line", "title", "another"),
    [
        ("Chemotherapy in stage III colon cancer?", "It was safe.", "Stage II cancer", True),
        ("Chemotherapy in stage III colon cancer?", "It was safe.", "Stage II-IV cancer", False),
        ("Chemotherapy in stage III colon cancer?", "In stage III it was.", "Stage II", False),
        ("Chemotherapy in stage III colon cancer?", "It was safe.", "Colon cancer", False),
        ("Chemotherapy in colon cancer?", "It was safe.", "Stage II cancer", False),
        ("Chemotherapy in early-stage colon cancer?", "It was safe.", "Stage IV cancer", True),
        ("Chemotherapy in early-stage colon cancer?", "It was safe.", "Stage II cancer", False),
        ("Is it safe in metastatic colon cancer?", "It was safe.", "Stage II cancer", True),
        ("Does it prevent metastatic relapse?", "It does.", "Stage II cancer", False),
    ],
)
def test_a_line_on_other_stages_alone_does_not_answer(
    question: str, line: str, title: str, another: bool
) -> None:
    assert Illness(question).is_another(line, "", title, line) is another


def test_where_nothing_nearer_tells_the_stage_the_text_of_a_short_work_does() -> None:
    illness = Illness("Chemotherapy in stage II colon cancer?")
    assert illness.is_another("It was safe.", "Results", "A trial", "In stage III. It was safe.")
    long = "In stage III. It was safe. " + "More. " * 1000
    assert not illness.is_another("It was safe.", "Results", "A trial", long)


def test_what_stages_are_covered_answers_for_those_that_are_not() -> None:
    question, line = "Is it covered in stage I?", "Covered are stage II and III."
    assert Illness(question).is_another(line, "", "", line)
    assert not Illness(question, on_coverage=True).is_another(line, "", "", line)


@grid(
    ("line", "title", "another"),
    [
        ("In ctDNA-positive patients survival was longer.", "", True),
        ("Survival was 90% in ctDNA-negative and 50% in ctDNA-positive patients.", "", False),
        (
            "De-escalation spares patients, and more is no answer for the ctDNA-positive.",
            "",
            False,
        ),
        ("ctDNA-positive patients relapsed, and their survival was shorter.", "", True),
        ("Survival was longer, but only in ctDNA-positive patients.", "", True),
        ("It is listed for patients who are ctDNA-MRD positive.", "", True),
        ("Survival was longer, and it was safe.", "ctDNA-positive colon cancer", True),
        ("Survival was longer.", "Colon cancer", False),
        ("In ctDNA-negative patients it was not.", "ctDNA-positive colon cancer", False),
    ],
)
def test_the_status_of_a_marker_is_told_clause_by_clause(
    line: str, title: str, another: bool
) -> None:
    assert Illness(NEGATIVE).is_another(line, "", title, line) is another


@grid(
    ("question", "line", "title", "elsewhere"),
    [
        ("Does BCBS of Texas cover it?", "It is covered.", "Blue Cross of Louisiana", True),
        ("Does BCBS of Texas cover it?", "It is covered.", "Blue Cross of Texas", False),
        ("Does BCBS of Texas cover it?", "Medicare covers it.", "", True),
        ("Does Medicare cover it?", "It is covered.", "Aetna: coverage", True),
        ("Does Medicare cover it?", "It is covered.", "Local coverage determination", False),
        ("Does Medicare cover it?", "It is covered.", "A policy", False),
        ("Is it covered?", "It is covered.", "Aetna: coverage", False),
        ("How common is asthma in Texas?", "It is common.", "Asthma in Louisiana", False),
    ],
)
def test_what_one_payer_covers_does_not_answer_for_another(
    question: str, line: str, title: str, elsewhere: bool
) -> None:
    assert Coverage([question]).is_elsewhere(line, title, "") is elsewhere


def test_a_payer_is_answered_for_by_what_names_it_but_for_medicare() -> None:
    study = [("Survival was longer.", "A trial", "")]
    assert not Coverage(["Does Aetna cover it?"]).is_told(study)
    assert Coverage(["Does Aetna cover it?"]).is_told([("It is covered.", "A policy", "Aetna")])
    assert Coverage(["Does Medicare cover it?"]).is_told(study)
