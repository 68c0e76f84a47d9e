"""A stage of another disease is no stage of a cancer."""

import pytest

from tests.grid import grid
from tests.unit.extract.made import ABSENT, attempt, placed
from workers.extract.evaluation.accuracy import accuracy
from workers.extract.fields import Status
from workers.extract.parts import Parts
from workers.extract.rubrics import rubric
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Stage

OTHERS = ["hypertension", "chronic kidney disease", "CKD", "pressure ulcer", "pressure injury",
          "sacral decubitus ulcer", "heart failure", "endometriosis", "sarcoidosis", "AKI",
          "Parkinson's disease", "liver fibrosis", "retinopathy of prematurity", "periodontitis",
          "lymphedema", "avascular necrosis", "COPD", "keratopathy", "Alzheimer's disease",
          "congestive heart failure", "uterine prolapse"]  # fmt: skip
FORMS = [
    "Stage {n} {disease}",
    "{disease} stage {n}",
    "{disease}, stage {n}",
    "{disease} (stage {n})",
    "{disease}: stage {n}",
    "{disease}, currently stage {n}",
    "Patient with stage {n} {disease}.",
    "Stage {n} of {disease}",
    "Stage {n} left-sided {disease}",
    "Breast cancer. Stage {n} {disease}",
]


@grid("n", ["2", "III"])
@grid("disease", OTHERS)
@grid("form", FORMS)
def test_a_stage_of_another_disease_is_none(form: str, disease: str, n: str) -> None:
    text = f"Assessment: {form.format(n=n, disease=disease)}\n"
    assert extract_field("stage", Parts(text)).status is Status.NOT_PRESENT


@grid(
    "words",
    [
        "Stage II breast cancer. Hypertension",
        "Hypertension. Stage II breast cancer",
        "Hypertension; stage II disease",
        "Stage II breast cancer and CKD",
        "Stage II lung adenocarcinoma with COPD",
        "Breast cancer stage II, stage 3 CKD, hypertension",
        "Hypertension and stage II melanoma",
        "Hypertension, stage II lung cancer",
        "Hypertension, CKD and colon cancer stage II",
        "AJCC stage II",
        "Stage: II",
        "Metastatic disease, stage II",
        "Stage II mycosis fungoides",
        "Stage II Hodgkin disease",
        "stage II liver cancer",
        "Pressure ulcer stage 3\nTumor stage II",
    ],
)
def test_a_stage_of_a_cancer_stands_beside_other_diseases(words: str) -> None:
    found = extract_field("stage", Parts(f"Assessment: {words}.\n"))
    assert [one.value for one in found.items] == [Stage(group="II")]


@pytest.mark.parametrize("disease", ["hypertension", "pressure ulcer"])
def test_a_stage_of_another_disease_is_neither_missed_nor_borne(disease: str) -> None:
    text = f"CLINIC NOTE\nAssessment: Stage 2 {disease}\n"
    absent = attempt("clinical-notes", stage=ABSENT)
    assert accuracy(Parts(text), rubric("clinical-notes"), absent) == (1.0, [])
    quoted = attempt("clinical-notes", stage=placed(text, "stage", "Stage 2"))
    _, (score,) = accuracy(Parts(text), rubric("clinical-notes"), quoted)
    assert score.score == 0.0
