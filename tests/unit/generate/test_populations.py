"""A line on other patients, another species or another country than asked about is no answer."""

import pytest

from store.documents.content import content
from store.index.terms import terms
from tests.grid import grid
from workers.generate.approvals import Approval
from workers.generate.extractive import Candidate, choose
from workers.generate.populations import Population
from workers.generate.scoring import Asked

MICE = "Ivermectin in a murine model of influenza"
LOWERED = "Ivermectin reduced mortality from influenza by 60%."


def is_another(question: str, title: str, line: str, text: str = "") -> bool:
    return Population([question]).is_another(line, title, text)


@grid(
    ("question", "title", "line"),
    [
        ("Does ivermectin reduce mortality in patients with influenza?", MICE, LOWERED),
        ("Does ivermectin reduce mortality from influenza?", MICE, LOWERED),
        (
            "Is ivermectin effective in patients with COVID-19?",
            "Ivermectin inhibits the replication of SARS-CoV-2 in vitro",
            "Ivermectin was effective within 48 hours.",
        ),
        (
            "Is secukinumab effective in children with psoriasis?",
            "Secukinumab in adults with plaque psoriasis",
            "Secukinumab was effective in plaque psoriasis.",
        ),
        (
            "Does semaglutide reduce weight in adults?",
            "Semaglutide versus placebo in adolescents with obesity",
            "Weight fell with semaglutide.",
        ),
        (
            "Is dolutegravir safe in pregnant women?",
            "Dolutegravir in HIV-infected men: a cohort study",
            "Dolutegravir was safe, with no birth defects among their children.",
        ),
        (
            "Does raloxifene help premenopausal women?",
            "Raloxifene in postmenopausal women",
            "Raloxifene lowered the risk of fractures.",
        ),
        (
            "Does dapagliflozin help in type 1 diabetes?",
            "Dapagliflozin and outcomes",
            "In patients with type 2 diabetes dapagliflozin lowered the risk.",
        ),
        (
            "Does bisoprolol help in heart failure with preserved ejection fraction?",
            "Bisoprolol in HFrEF",
            "Bisoprolol lowered mortality.",
        ),
        (
            "Does pembrolizumab prolong survival in lung cancer with negative PD-L1?",
            "Pembrolizumab for lung cancer with a PD-L1 score of 50% or more",
            "Pembrolizumab prolonged overall survival.",
        ),
    ],
)
def test_a_line_whose_work_is_on_others_only_does_not_answer(
    question: str, title: str, line: str
) -> None:
    assert is_another(question, title, line)


@grid(
    ("question", "title", "line"),
    [
        ("Does ivermectin reduce mortality in mice with influenza?", MICE, LOWERED),
        ("Does ivermectin bind the receptor of influenza?", MICE, LOWERED),
        ("Do adult neural stem cells renew?", "Stem cells in mice", "They renew themselves."),
        ("Does ivermectin help patients?", "Ivermectin in mice and patients", LOWERED),
        ("Does ivermectin help patients?", "Ivermectin in influenza", LOWERED),
        ("Does secukinumab help women?", "Secukinumab in women and men", "It helped the men."),
        ("Does apixaban help older adults?", "Apixaban in adults", "Apixaban helped."),
        ("Does apixaban help adults?", "Apixaban in the elderly", "Apixaban helped."),
        ("Does apixaban help?", "Apixaban in pregnant women", "Apixaban helped."),
        ("Does it help children and adults?", "It in adults", "It helped."),
        ("Does in vitro fertilization harm women?", "In vitro fertilization", "It harmed."),
    ],
)
def test_a_line_on_those_asked_about_or_on_nobody_in_particular_does(
    question: str, title: str, line: str
) -> None:
    assert not is_another(question, title, line)


def test_where_neither_line_nor_title_tells_the_organism_the_text_does() -> None:
    question, title = "Does ivermectin reduce mortality in influenza?", "Ivermectin in influenza"
    assert is_another(question, title, LOWERED, f"Mice were given ivermectin. {LOWERED}")
    assert not is_another(question, title, LOWERED, f"Patients took ivermectin. {LOWERED}")


US = "Is tebentafusp approved in the United States?"
EC = "European Commission decision on tebentafusp"
APPROVED = "Tebentafusp was approved for uveal melanoma in April 2022."


@grid(
    ("question", "title", "publisher", "line", "elsewhere"),
    [
        (US, EC, "", APPROVED, True),
        (US, "Tebentafusp", "European Medicines Agency", APPROVED, True),
        (US, "Tebentafusp", "FDA", APPROVED, False),
        (US, "Tebentafusp", "", APPROVED, False),
        (US, EC, "", f"The FDA had {APPROVED}", False),
        (US, EC, "", "Tebentafusp prolonged survival to 21.7 months.", False),
        ("Is tebentafusp approved?", EC, "", APPROVED, False),
        ("Tell us whether tebentafusp is approved", EC, "", APPROVED, False),
        ("Is tebentafusp approved in Europe?", EC, "", APPROVED, False),
    ],
)
def test_one_regulators_approval_does_not_answer_for_another(
    question: str, title: str, publisher: str, line: str, elsewhere: bool
) -> None:
    assert Approval([question]).is_elsewhere(line, title, publisher) is elsewhere


@pytest.mark.parametrize(
    ("question", "title", "line"),
    [
        ("Does ivermectin reduce mortality in patients with influenza?", MICE, LOWERED),
        (US, EC, APPROVED),
    ],
)
def test_no_claim_is_made_of_such_a_line(question: str, title: str, line: str) -> None:
    one = Candidate("E1", "pubmed", line, title, 0.5)
    asked = [content(question, dict.fromkeys(terms(question), 1.0))]
    assert choose([one], Asked("general", asked))
    assert not choose([one], Asked("general", asked, questions=[question]))


@pytest.mark.parametrize(
    ("asked", "title", "other"),
    [
        ("colon cancer", "NCCN: ctDNA in rectal cancer", True),
        ("rectal cancer", "NCCN: ctDNA in colon cancer", True),
        ("colon cancer", "ctDNA in colorectal cancer", False),
        ("colorectal cancer", "NCCN: ctDNA in rectal cancer", False),
        ("colon and rectal cancer", "NCCN: ctDNA in rectal cancer", False),
    ],
)
def test_colon_is_not_answered_with_rectal_though_they_share_a_tag(
    asked: str, title: str, other: bool
) -> None:
    question = f"Is ctDNA recommended in {asked}?"
    assert is_another(question, title, "It is not recommended for surveillance.") is other
