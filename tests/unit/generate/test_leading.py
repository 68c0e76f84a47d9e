"""Which claim begins an answer: one that says what is asked, not one that has its words."""

import pytest

from store.documents.content import content, terms_of_interest
from workers.generate.candidates import Candidate
from workers.generate.leading import Leading
from workers.generate.scoring import Asked, Scorer

TITLE = "Renovastat in heart failure with reduced ejection fraction"


def claim(text: str, section: str = "", title: str = TITLE, *, named: bool = False) -> Candidate:
    return Candidate("E1", "pubmed", text, title, 0.0, section=section, asked_for=named)


def better(
    question: str, form: str, first: Candidate, second: Candidate, names: tuple[str, ...] = ()
) -> bool:
    """Whether the first is worth more."""
    weighed = content(question, dict.fromkeys(terms_of_interest(question), 1.0))
    scorer = Scorer(Asked("general", [weighed], questions=[question], names=names, type=form))
    scorer.read([first, second])
    leading = Leading([question], form, names, scorer)
    return leading.worth(first) > leading.worth(second)


@pytest.mark.parametrize(
    "aim",
    [
        ("We tested whether renovastat reduces death in heart failure.", "Objective"),
        ("Whether renovastat reduces death in heart failure is unknown.", "Background"),
        ("The aim was to assess if renovastat reduces death in heart failure.", ""),
        ("RENO-HF compared renovastat with placebo for death in heart failure.", "Methods"),
    ],
)
def test_a_finding_leads_before_an_aim_or_a_method(aim: tuple[str, str]) -> None:
    found = claim(
        "Mortality was 12% against 16% (hazard ratio 0.74; 95% CI 0.61 to 0.90).", "Results"
    )
    assert better("Does renovastat reduce death in heart failure?", "yesno", found, claim(*aim))


def test_a_figure_of_another_kind_does_not_lead() -> None:
    often = claim("In surveillance blood is drawn every 3 months.")
    ratio = claim("During surveillance the hazard ratio was 43.5 (95% CI 9.8 to 193.5).")
    assert better("How often should blood be drawn in surveillance?", "number", often, ratio)
    many = claim("They planned to screen 2,640 patients with heart failure.")
    share = claim("The size rests on 42.5% survival in heart failure (hazard ratio 0.62).")
    assert better("How many patients with heart failure were planned?", "number", many, share)


def test_the_work_that_is_asked_about_leads_before_one_that_mentions_it() -> None:
    own = claim("Clearance was 43% under surveillance and 11% with therapy.", named=True)
    other = claim("Like COBRA, this trial escalates therapy.", title="Design of another trial")
    assert better("What did COBRA find?", "explanation", own, other, names=("COBRA",))


def test_who_asks_what_a_trial_is_is_told_its_aim() -> None:
    aim = claim("RENO-HF tests whether renovastat lowers mortality in heart failure.", named=True)
    found = claim("Serum potassium rose by 0.2 mmol/L (P = 0.03).", named=True)
    assert better("What is RENO-HF?", "explanation", aim, found, names=("RENO-HF",))
