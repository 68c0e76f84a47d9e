"""A question on a drug or disease without a tag is answered by works that name it."""

import pytest

from store.documents.content import content
from store.index.terms import terms
from tests.grid import grid
from workers.generate.extractive import Candidate, choose
from workers.generate.scoring import Asked
from workers.generate.subjects import Subjects

LABEL = "Methotrexate injection: prescribing information"
LEUKEMIA = "Acute lymphoblastic leukemia: The recommended dose of methotrexate is 20 mg/m2."
PSORIASIS = "Psoriasis: The recommended dose of methotrexate is 10 to 25 mg once weekly."
SECUKINUMAB = "Secukinumab was effective and well tolerated in plaque psoriasis."
TRIAL = "Secukinumab in plaque psoriasis"
ASPIRIN = "Aspirin reduced vascular mortality by 15%."


@grid(
    ("question", "title", "line", "text"),
    [
        ("What dose of methotrexate in rheumatoid arthritis?", LABEL, LEUKEMIA, PSORIASIS),
        ("What dose of methotrexate in psoriasis?", LABEL, LEUKEMIA, PSORIASIS),
        ("Is secukinumab effective for Crohn's disease?", TRIAL, SECUKINUMAB, ""),
        ("Is secukinumab safe in patients with tuberculosis?", TRIAL, SECUKINUMAB, ""),
        ("Does colchicine reduce mortality?", "Aspirin: a meta-analysis", ASPIRIN, ""),
        ("Does colchicine reduce mortality?", "A review", ASPIRIN, "Colchicine is discussed."),
        ("Does colchicine reduce mortality?", "A review", "Mortality fell by 15%.", ""),
        ("Can a pregnant woman take adalimumab?", "A case", "She was given heparin.", ""),
        ("Should she be taking Humira?", "A case", "She recovered.", ""),
        ("Does taking adalimumab cause pain?", "A trial of naproxen", "Pain was common.", ""),
        ("Can patients on warfarin take ibuprofen?", "Warfarin", "Warfarin causes bleeding.", ""),
        ("Can a patient on warfarin take Lipitor?", "Warfarin", "Warfarin causes bleeding.", ""),
        ("What is the dose of varenicline?", "A label", "The dose is 10 mg.", ""),
        ("What is the dose of Chantix?", "A label", "The dose is 10 mg.", ""),
        ("Do statins lower mortality?", "Blood pressure lowering", "Mortality fell.", ""),
        ("Do statins lower mortality?", "A trial", "Folic acid lowered mortality.", "Statins."),
        ("Which antibiotic helps?", "A trial of aspirin", "It helps.", ""),
        ("GLP-1 for weight loss", "Glucose", "Poor glycaemic control adds to it.", ""),
        ("when to draw blood for mrd", "Sleep in women", "Blood draws disturbed sleep.", ""),
        ("Does azithromycin help in COPD?", "Susceptibility in COPD", "Few relapsed.", "None."),
        ("Does Zithromax help in COPD?", "Susceptibility in COPD", "Few relapsed.", "None."),
    ],
)
def test_a_line_of_a_work_on_another_drug_or_disease_does_not_answer(
    question: str, title: str, line: str, text: str
) -> None:
    assert Subjects([question]).are_missed(line, title, f"{line} {text}")


@grid(
    ("question", "title", "line", "text"),
    [
        ("What dose of methotrexate in psoriasis?", LABEL, PSORIASIS, ""),
        (
            "Does methotrexate help in psoriasis?",
            "Methotrexate in psoriatic plaques",
            "It did.",
            "",
        ),
        ("Does acetaminophen help in migraine?", "Paracetamol for migraines", "It did.", ""),
        ("Does simvastatin lower mortality?", "Statins", "Statins lowered mortality.", ""),
        ("Does colchicine lower mortality?", "A trial", "Mortality fell.", "Colchicine was given."),
        ("Which diuretic helps patients on lithium?", "Diuretics", "Amiloride helps.", ""),
        ("Does apixaban help?", "Anticoagulation", "Warfarin helps.", ""),
        ("Does apixaban help?", "Warfarin or not", "Anticoagulation helps.", ""),
        ("Does apixaban help?", "Stroke", "It helps.", "Apixaban was given."),
        ("Does treatment reverse anaemia?", "A trial", "It raised hemoglobin.", ""),
        ("Does LDL cholesterol cause disease?", "A trial", "Coronary events fell.", ""),
        ("Does it induce apoptosis?", "A trial", "Cells died.", ""),
        ("Is a diet enough in Celiac disease?", "Coeliac disease", "A diet is enough.", ""),
        ("Is surgery recommended?", "A trial", "Surgery was better.", ""),
        ("Can a pregnant woman take adalimumab?", "Humira: label", "It may be given.", ""),
        ("Which antibiotic helps patients who take methotrexate?", "Antibiotics", "It helps.", ""),
        ("Do statins lower mortality?", "A trial of atorvastatin", "Mortality fell.", ""),
        ("Do TNF blockers harm?", "Humira: label", "HUMIRA may harm.", ""),
        ("Which anticoagulant helps in AF?", "AF", "Oral anticoagulation helps.", ""),
        ("What is the dose of Lipitor?", "Atorvastatin", "The dose is 80 mg.", ""),
    ],
)
def test_a_line_on_it_by_any_of_its_names_does(
    question: str, title: str, line: str, text: str
) -> None:
    assert not Subjects([question]).are_missed(line, title, f"{line} {text}")


def test_no_claim_is_made_of_a_dose_for_another_disease() -> None:
    question = "What is the recommended dose of methotrexate for rheumatoid arthritis?"
    lines = [Candidate("E1", "label", one, LABEL, 0.5, whole=PSORIASIS) for one in (LEUKEMIA,)]
    asked = [content(question, dict.fromkeys(terms(question), 1.0))]
    assert choose(lines, Asked("general", asked))
    assert not choose(lines, Asked("general", asked, questions=[question]))


@pytest.mark.parametrize(
    ("line", "title", "missed"),
    [
        ("Apixaban was superior to warfarin.", "A trial", True),
        ("Vitamin K antagonists prevent stroke.", "Apixaban versus warfarin", True),
        ("Rivaroxaban was noninferior to warfarin.", "A trial", False),
        ("Rivaroxaban and warfarin were alike.", "Apixaban versus warfarin", False),
        ("Warfarin and apixaban were compared with rivaroxaban.", "A trial", False),
        ("Patients given warfarin were older.", "A registry", False),
    ],
)
def test_a_comparison_with_another_drug_is_not_the_one_asked_for(
    line: str, title: str, missed: bool
) -> None:
    asked = Subjects(["Is rivaroxaban superior to warfarin?"], compares=True)
    assert asked.are_missed(line, title, line) is missed


@pytest.mark.parametrize(
    ("question", "title", "line", "text", "missed"),
    [
        ("ctDNA in gastric cancer", "Staging of gastric cancer", "T4 is worse.", "", True),
        ("ctDNA in gastric cancer", "Gastric cancer", "T4 is worse.", "MRD predicts it.", False),
        ("ctDNA in gastric cancer", "Signatera", "It predicts relapse.", "", False),
        ("Is staging of gastric cancer useful?", "Gastric cancer", "It is useful.", "", False),
        ("When is surveillance of gastric cancer useful?", "Gastric cancer", "Often.", "", False),
    ],
)
def test_a_work_without_a_word_of_the_decision_asked_about_does_not_answer(
    question: str, title: str, line: str, text: str, missed: bool
) -> None:
    assert Subjects([question]).are_missed(line, title, f"{line} {text}") is missed


def test_what_a_work_on_many_things_says_of_others_is_no_answer_on_its_decision() -> None:
    question = "ctDNA in gastric cancer"
    asked = [content(question, dict.fromkeys(terms(question), 1.0))]
    line = "Durvalumab improved survival in gastric cancer."
    whole = f"{line} ctDNA guided therapy in colon cancer."
    for title, told in (("Trials of the year", False), ("ctDNA of the year", True)):
        work = Candidate("E1", "pubmed", line, title, 0.5, whole=whole)
        assert bool(choose([work], Asked("general", asked, questions=[question]))) is told


def test_a_decision_that_no_drug_or_test_is_named_by_need_not_stand_in_a_line() -> None:
    subjects = Subjects(["Does adjuvant therapy lengthen survival in colon cancer?"])
    assert not subjects.are_missed("Survival was longer with it.", "Colon cancer", "")
    among = Subjects(["Does MRD testing lengthen survival in colon cancer?"])
    assert among.are_missed("Survival was longer with it.", "Colon cancer", "")
