"""Where sources speak to all but whom a question asks about, that is told, and not that none do."""

import pytest

from knowledge.subjects.tags import tags
from store.documents.content import content
from store.index.terms import terms
from workers.generate.approvals import Coverage
from workers.generate.extractive import Candidate, Claim, choose, lacking
from workers.generate.scoring import Asked, Lacks

LINE = "Residual disease testing with ctDNA predicts relapse of patients with colorectal cancer."


def told(
    question: str, line: str = LINE, source_type: str = "pubmed", kind: str = "general"
) -> tuple[list[Claim], Lacks | None]:
    """What is chosen, and what is said to be lacking."""
    works = [Candidate("E1", source_type, line, "A work on colorectal cancer", 0.5, whole=line)]
    asked = [content(question, dict.fromkeys(terms(question), 1.0))]
    about = Asked(kind, asked, tags("diseases", question), questions=[question])
    return choose(works, about), lacking(works, about)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Does ctDNA predict relapse in women with colorectal cancer?", ("women",)),
        ("Does ctDNA predict relapse in children with colorectal cancer?", ("children",)),
        ("Does ctDNA predict relapse of colorectal cancer in pregnancy?", ("pregnant",)),
    ],
)
def test_whom_no_source_speaks_of_is_named(question: str, asked: tuple[str, ...]) -> None:
    claims, lacks = told(question)
    assert not claims
    assert lacks == ("patients", asked)


def test_the_payer_that_no_source_names_is_named() -> None:
    line = "Medicare covers ctDNA testing in colorectal cancer."
    claims, lacks = told(
        "Does Aetna cover ctDNA testing in colorectal cancer?", line, "payer", "coverage_policy"
    )
    assert not claims
    assert lacks == ("payers", ("Aetna",))


def test_the_regulator_of_whose_decision_no_source_tells_is_named() -> None:
    line = "The FDA approved atezolizumab in ctDNA-positive colorectal cancer."
    claims, lacks = told(
        "Has the EMA approved atezolizumab in ctDNA-positive colorectal cancer?", line
    )
    assert not claims
    assert lacks == ("regulators", ("ema",))


@pytest.mark.parametrize(
    "question",
    [
        "Does ctDNA predict relapse in children with asthma?",
        "Does chemotherapy cause neuropathy in women?",
    ],
)
def test_where_nothing_speaks_to_the_rest_either_nobody_is_named(question: str) -> None:
    claims, lacks = told(question)
    assert not claims
    assert lacks is None


def test_what_answers_lacks_nobody() -> None:
    claims, lacks = told("Does ctDNA predict relapse in colorectal cancer?")
    assert claims
    assert lacks is None


def test_the_agency_that_names_two_programs_is_that_of_medicare() -> None:
    works = [("It covers the test.", "A policy", "Centers for Medicare & Medicaid Services")]
    assert not Coverage(["Does Medicaid cover the test?"]).is_told(works)
    assert Coverage(["Does Medicare cover the test?"]).is_told(works)
