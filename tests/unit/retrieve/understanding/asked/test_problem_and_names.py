"""What a question is about, as against what it only mentions, and what an answer must be about."""

from itertools import product

import pytest

from workers.retrieve.understanding.asked.read import read_asked

CONDITIONS = ("gout", "myasthenia gravis", "IgA nephropathy", "psoriasis", "carotid stenosis")
BESIDE = ("asthma", "migraine", "hypothyroidism")
DRUGS = ("quoxatinib", "allopurinol", "zanubrutinib", "BLU-9931")
TOLD = (
    "58-year-old man with a history of {beside}. Is {drug} of use in {condition}?",
    "She takes {drug} for {condition}. Her mother had {beside}. Should it be stopped?",
    "No {beside}. Does {drug} work in {condition}?",
    "Does {drug} help in {condition} without {beside}?",
)
ALLOWED = 0.1
"""Share of plain questions that a learned reader may misread."""


def test_the_problem_is_what_is_asked_about_and_not_what_is_mentioned() -> None:
    cases = list(product(TOLD, CONDITIONS, BESIDE))
    wrong = []
    for told, condition, beside in cases:
        asked = read_asked(told.format(condition=condition, beside=beside, drug="allopurinol"))
        if condition.lower() not in asked.problem.lower() or beside in asked.names:
            wrong.append((told, condition, beside, asked.problem, asked.names))
    assert len(wrong) <= ALLOWED * len(cases), wrong


def test_what_is_denied_or_left_out_is_never_asked_about() -> None:
    for condition, beside in product(CONDITIONS, BESIDE):
        for told in ("Does it help in {} without {}?", "Drugs for {}, no {}"):
            asked = read_asked(told.format(condition, beside))
            assert beside not in {*asked.names, asked.problem, *asked.required}, asked


def test_a_name_is_named_whether_or_not_a_table_has_it() -> None:
    for drug, condition in product(DRUGS, CONDITIONS):
        question = f"Does {drug} work in {condition}?"
        names = [one.lower() for one in read_asked(question).names]
        assert drug.lower() in names, (question, names)
        assert condition.lower() in names, (question, names)


@pytest.mark.parametrize("drug", ["Limuprost", "Arnestal", "Oralcefin"])
def test_a_name_is_without_the_words_that_stand_before_it(drug: str) -> None:
    for form in ("What is the effect of {} on tinnitus?", "What is the dose of {} in a newborn?"):
        names = read_asked(form.format(drug)).names
        assert drug in names, names
        assert not [one for one in names if one.startswith(("of ", "the ", "in ", "a "))], names


def test_a_brand_is_named_by_its_drug_too() -> None:
    assert {"eliquis", "apixaban"} <= set(read_asked("is eliquis used for nvaf").names)


def test_the_body_of_an_answer_has_all_of_it() -> None:
    body = read_asked("Does finerenone help in heart failure without CKD?").as_body()
    assert (body["type"], body["problem"]) == ("yesno", "heart failure")
    assert body["names"][0] == "finerenone"
    assert body["required"] == ["finerenone", "heart failure"]
    assert [one["excludes"] for one in body["constraints"] if "CKD" in one["text"]] == [True]


def test_a_class_of_conditions_and_what_a_name_is_said_to_be_need_not_be_named() -> None:
    for question, required in (
        ("Which autoimmune diseases are treated with rituximab?", ()),
        (
            "What eye disease(s) are associated with ocular toxoplasmosis?",
            ("ocular toxoplasmosis",),
        ),
        ("Is impetigo a viral infection that affects the skin?", ("impetigo",)),
        ("Is impetigo (IM) a viral infection that affects the skin?", ("impetigo",)),
        ("What is the dose of colchicine in acute gout?", ("colchicine", "gout")),
        ("How is gestational diabetes treated?", ("gestational diabetes",)),
    ):
        assert read_asked(question).required == required, question


@pytest.mark.parametrize("word", ["carbonylated", "sialylated", "phopshorylated"])
def test_a_participle_names_nothing(word: str) -> None:
    for form in ("Are {} proteins raised in gout?", "Is ZNF521 {} in gout?"):
        assert word not in read_asked(form.format(word)).required


@pytest.mark.parametrize("name", ["zelotrenic", "quoxanal"])
def test_a_name_with_the_ending_of_an_adjective_stays(name: str) -> None:
    for form in ("Is {} a monoclonal antibody?", "Does {} acid lower urate?"):
        assert name in "".join(read_asked(question := form.format(name)).required), question


@pytest.mark.parametrize("word", ["biomarker", "prodrug", "zelotide", "pseudomarker"])
def test_what_something_is_said_to_be_or_is_asked_for_need_not_be_named(word: str) -> None:
    for form in (
        "LINC00339 is a prognostic {} for what disease?",
        "Is YKL-40 used as a {} for gout?",
        "Which {}s are raised in gout?",
        "What {}s are available for gout?",
    ):
        required = read_asked(question := form.format(word)).required
        assert not [one for one in required if word in one], (question, required)


@pytest.mark.parametrize("word", ["zelotride", "mitosome", "zelotrate"])
def test_a_name_that_is_asked_about_stays_whatever_stands_before_it(word: str) -> None:
    for form in (
        "What is a {}?",
        "Is a {} of use in gout?",
        "Can I take a {} with food?",
        "Which {} dose is right in gout?",
        "Which drug is an antibody targeting {}?",
        "What causes {}?",
        "Does {} lower urate?",
    ):
        assert word in read_asked(question := form.format(word)).required, question


def test_the_verb_of_an_act_that_has_a_word_names_nothing() -> None:
    for verb, act in (("methylate", "RNA"), ("ubiquitinate", "p53"), ("phosphorylate", "p53")):
        assert verb not in read_asked(f"Can METTL3 {verb} {act}?").required


def test_a_name_ends_before_the_verb_that_asks_of_it() -> None:
    names = ("DYNAMIC", "CIRCULATE PRODIGE 70", "CheckMate 816", "EMPEROR", "VISION", "SOLO 2")
    asking = ("What did {} show?", "what did the {} trial find", "Who did {} enrol in 2021?")
    taken = [
        (question, asked.names)
        for name, form in product(names, (*asking, "How many patients did {} plan?"))
        if (asked := read_asked(question := form.format(name)))
        and {"show", "find", "enrol", "plan", "did"} & set(" ".join(asked.names).lower().split())
    ]
    assert taken == []


def test_what_is_no_verb_stays_with_its_name() -> None:
    asked = read_asked("Does EGFR testing help in lung cancer?")
    assert "EGFR testing" in asked.names
