"""What a line leaves out its heading tells, then its paragraph: another disease or patient."""

import pytest

from store.documents.content import content
from store.index.terms import terms
from tests.grid import grid
from workers.generate.extractive import Candidate, choose
from workers.generate.populations import Population
from workers.generate.scoring import Asked, Scorer
from workers.generate.subjects import Subjects

LABEL = "LIPITOR (atorvastatin calcium) tablets: prescribing information"
MAXIMUM = "The maximum recommended dose is 20 mg/day."
CHILDREN = "2.2 Hypercholesterolemia in Pediatric Patients (10-17 years of age)"
COVERED = "Medicare coverage of Signatera in breast and ovarian cancer"
FOUND = "Testing every 6 months found relapse with 89% sensitivity."


def may_speak(
    question: str,
    line: str,
    title: str,
    heading: str,
    *,
    diseases: tuple[str, ...] = (),
    products: tuple[str, ...] = (),
    query_type: str = "general",
) -> bool:
    asked = [content(question, dict.fromkeys(terms(question), 1.0))]
    scorer = Scorer(Asked(query_type, asked, diseases, products, [question]))
    whole = f"## {heading}\n\n{line}"
    return scorer.may_speak(
        Candidate("E1", "payer", line, title, 0.5, section=heading, whole=whole)
    )


@pytest.mark.parametrize(
    ("question", "heading", "another"),
    [
        ("What is the maximum dose of atorvastatin?", CHILDREN, True),
        ("What is the maximum dose of atorvastatin?", "2.1 Hyperlipidemia", False),
        ("What is the maximum dose of atorvastatin in children?", CHILDREN, False),
        ("Is atorvastatin safe in pregnant women?", "8.4 Pediatric Use", True),
        ("What is the maximum dose of atorvastatin in adults?", CHILDREN, True),
        ("What is the maximum dose of atorvastatin?", "8.1 Pregnancy", True),
        ("Is atorvastatin teratogenic?", "8.1 Pregnancy", False),
    ],
)
def test_a_part_on_a_few_answers_who_asks_about_them(
    question: str, heading: str, another: bool
) -> None:
    assert Population([question]).is_another(MAXIMUM, LABEL, MAXIMUM, heading) is another


def test_a_line_that_names_them_itself_says_so_to_anybody() -> None:
    population = Population(["What is the maximum dose of atorvastatin?"])
    line = "In children the maximum recommended dose is 20 mg/day."
    assert not population.is_another(line, LABEL, line, CHILDREN)


@pytest.mark.parametrize(
    ("heading", "line", "speaks"),
    [
        ("Breast cancer, adjuvant and surveillance", FOUND, False),
        ("Ovarian cancer", FOUND, True),
        ("Evidence", FOUND, False),
        ("Evidence", f"In ovarian cancer: {FOUND}", True),
        ("Evidence", f"In many cancers: {FOUND}", True),
    ],
)
def test_what_is_covered_for_one_disease_is_not_told_of_another(
    heading: str, line: str, speaks: bool
) -> None:
    question = "Is Signatera covered by Medicare for ovarian cancer?"
    told = may_speak(
        question,
        line,
        COVERED,
        heading,
        diseases=("ovarian_cancer",),
        products=("Signatera",),
        query_type="coverage_policy",
    )
    assert told is speaks


def test_the_heading_of_another_drug_makes_its_lines_ones_on_that() -> None:
    question, title = "What is the dose of apixaban?", "Apixaban and rivaroxaban: dosing"
    asked, line = ("apixaban",), "The dose is 20 mg once daily."
    assert not may_speak(question, line, title, "Rivaroxaban", products=asked)
    assert may_speak(question, line, title, "Apixaban", products=asked)
    assert may_speak(question, "Apixaban: 5 mg.", title, "Rivaroxaban", products=asked)


@pytest.mark.parametrize(
    ("question", "title", "heading", "missed"),
    [
        ("Does colchicine help?", "Colchicine and ibuprofen", "Ibuprofen", True),
        ("Does colchicine help?", "Colchicine", "Ibuprofen", False),  # its comparator
        ("Does colchicine help?", "Ibuprofen", "Colchicine", False),
        ("Does colchicine help?", "Drugs", "Ibuprofen", True),
        ("Does it help psoriasis?", "Psoriasis and colitis", "Colitis", True),
        ("Does it help psoriasis?", "Psoriasis", "Colitis", False),
        ("Does it help psoriasis?", "Colitis", "Psoriasis", False),
    ],
)
def test_a_line_that_names_none_is_on_what_its_heading_names(
    question: str, title: str, heading: str, missed: bool
) -> None:
    line = "Pain was relieved in most."
    text = f"Colchicine. Psoriasis. {line}"
    assert Subjects([question]).are_missed(line, title, text, heading) is missed


def test_a_line_that_names_nobody_is_on_those_named_before_it_in_its_paragraph() -> None:
    line = "Begin a maintenance dose of 40 mg every other week."
    adults = "The dose for adult patients is 160 mg initially."
    question = Population(["What is the dose of adalimumab for Crohn's disease in children?"])
    assert question.is_another(line, "HUMIRA", f"## 2.3 Crohn's Disease\n\n{adults} {line}")
    assert not question.is_another(line, "HUMIRA", f"{adults} Children get 80 mg. {line}")
    question = Population(["What is the dose of adalimumab in adults?"])
    assert question.is_another(line, "HUMIRA", f"Children get 80 mg. {line}")
    assert not question.is_another(line, "HUMIRA", f"Children get 80 mg.\n\n{line}")


@grid(
    ("question", "line", "title", "told"),
    [
        ("Can a pregnant woman receive drugamab?", "Survival was longer.", "Drugamab", False),
        ("Can a pregnant woman receive drugamab?", "It harms the fetus.", "Drugamab", True),
        ("Can a pregnant woman receive drugamab?", "It may.", "Drugamab in pregnancy", True),
        ("Is it safe in pregnancy?", "We exclude pregnant women.", "Drugamab", False),
        ("Does metformin work in children?", "It lowered glucose.", "Metformin", False),
        ("Does metformin work in children?", "It did in adolescents.", "Metformin", True),
        ("What is the dose of Humira in a 10-year-old?", "It is 160 mg.", "Humira", False),
        ("What is the dose of Humira in a 10-year-old?", "Pediatric dose: 80.", "Humira", True),
        ("What is the dose for a patient 6 months old?", "It is 160 mg.", "Humira", False),
        ("What is the dose for a 40-year-old?", "It is 160 mg.", "Humira", True),
        ("What is the dose for patients over 18 years old?", "It is 160 mg.", "Humira", True),
        ("Is alendronate effective in men?", "Fractures fell.", "Alendronate", False),
        ("Is alendronate effective in men?", "In men fractures fell.", "Alendronate", True),
        ("Is it effective in women with breast cancer?", "It is.", "Drugamab", True),
        ("Should a 70-year-old man with AF take apixaban?", "Stroke fell.", "Apixaban", True),
        ("Does metformin work?", "It lowered glucose.", "Metformin", True),
    ],
)
def test_nobodys_data_answer_for_those_whom_only_their_own_can_tell(
    question: str, line: str, title: str, told: bool
) -> None:
    population = Population([question])
    shown = not population.is_another(line, title, line) and population.is_told([line, title])
    assert shown is told


def test_a_short_work_on_those_asked_about_alone_tells_of_them_by_its_text() -> None:
    population = Population(["Does drugamab help children?"])
    line = "Fever fell."
    children, both = "We enrolled 90 children.\n\n", "We enrolled 90 adults and children.\n\n"
    assert not population.is_another(line, "Drugamab", children + line)
    assert population.is_another(line, "Drugamab", both + line)
    assert population.is_another(line, "Drugamab", "Children were excluded.\n\n" + line)
    assert population.is_another(line, "Drugamab", "Children were excluded. " + line)
    assert population.is_another(line, "Drugamab", children + "More. " * 1000 + "\n\n" + line)


def test_no_claim_is_made_of_the_data_of_others() -> None:
    def claims(question: str) -> int:
        one = Candidate("E1", "pubmed", "Atezolizumab prolonged survival.", "Atezolizumab", 0.5)
        asked = [content(question, dict.fromkeys(terms(question), 1.0))]
        return len(choose([one], Asked("general", asked, questions=[question])))

    assert claims("Does atezolizumab prolong survival?")
    assert not claims("Does atezolizumab prolong survival in pregnant women?")
