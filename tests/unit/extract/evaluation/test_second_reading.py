"""What the evaluator sees that the rules that extract cannot: leftovers, damage, doubts."""

from pathlib import Path
from statistics import correlation, mean

import pytest

from cli.evaluate.extraction_cases import Case, read_cases
from tests.grid import grid
from tests.unit.extract.made import ABSENT, REPORT, attempt, placed, placed_many
from workers.extract.evaluation.damage import damage, meant
from workers.extract.evaluation.doubts import doubts
from workers.extract.evaluation.evaluator import evaluate
from workers.extract.evaluation.signs import leftovers, signs_of
from workers.extract.evaluation.types import type_in_doubt
from workers.extract.fields import Attempt, FieldResult, Status
from workers.extract.gold import right
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rubrics import rubric
from workers.extract.rules.choosing import extract_field

_DOCUMENTS = Path(__file__).parents[4] / "benchmarks" / "documents"
UNSEEN = [_DOCUMENTS / one for one in ("strangers", "sealed", "held_back", "fresh")]
MANY_ABSENT = FieldResult(status=Status.NOT_PRESENT, many=True)


def _score(text: str, found: Attempt) -> float:
    return evaluate(Parts(text), rubric(found.document_type), found).score.overall


@pytest.mark.requirement("MV-2.3")
@grid(
    ("field", "words"),
    [
        ("tnm", "PATHOLOGIC STAGE PT2 PN1A"),
        ("discharge_date", "He went home on 2024-05-17."),
        ("diagnosis", "DIAGNOSES AT DISCHARGE: appendicitis"),
        ("blood_loss", "Blood lost: some 150 ml."),
        ("medications", "| Tamoxifen | 20 mg | one daily |"),
        ("lab_values", "Fibrinogen   2.2   (1.8 - 4.0)"),
        ("mutations", "A change was seen in KRAS."),
        ("ihc_markers", "The cells express CD20 and CD10."),
        ("lymph_nodes", "Metastasis in two of six nodes."),
    ],
)
def test_a_statement_that_no_value_covers_is_left_over(field: str, words: str) -> None:
    parts = Parts(f"Report\n{words}\n")
    none = MANY_ABSENT if field.endswith("s") and field != "lymph_nodes" else ABSENT
    assert leftovers(field, parts, Attempt(document_type="pathology", fields={field: none}))


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("mutations", "No mutation was found in KRAS, NRAS or BRAF."),
        ("tmb", "TMB: not performed"),
        ("grade", "Clinical history: grade 2 tumor in 2011"),
        ("tumor_size", "The specimen weighs 30 g."),
        ("lab_values", "The patient feels well."),
    ],
)
def test_what_is_denied_not_done_or_of_earlier_times_is_no_statement(
    field: str, words: str
) -> None:
    assert not signs_of(field, Parts(f"Report\n{words}\n"))


def test_what_a_value_covers_is_not_left_over() -> None:
    found = attempt(
        ihc_markers=placed_many(
            REPORT, "ihc_markers", "ER: Positive (95%)", "PR: Positive (40%)",
            "HER2: Negative (score 1+)", "Ki-67: 18%",
        ),
        grade=placed(REPORT, "grade", "Nottingham grade 2"),
    )  # fmt: skip
    assert not leftovers("ihc_markers", Parts(REPORT), found)
    assert not leftovers("grade", Parts(REPORT), found)


@pytest.mark.requirement("MV-2.3")
def test_a_missed_statement_costs_and_is_named_in_the_feedback() -> None:
    words = "LABORATORY REPORT\nHemoglobin: 9 g/dL\nZincate   2.2   (1.8 - 4.0)\n"
    one = attempt("lab-report", lab_values=placed_many(words, "lab_values", "Hemoglobin: 9 g/dL"))
    judged = evaluate(Parts(words), rubric("lab-report"), one)
    assert any("no value covers" in issue.description for issue in judged.feedback.issues)
    assert judged.score.accuracy < 0.6


@pytest.mark.parametrize(
    ("token", "word"),
    [("lympboma", "lymphoma"), ("PATHOLOGICC", "pathologic"), ("uegative", "negative"),
     ("carcinoma", None), ("carcinomas", None), ("tissue", None), ("grade", None)],
)  # fmt: skip
def test_a_word_one_letter_from_a_known_one_is_damaged(token: str, word: str | None) -> None:
    assert meant(token) == word


def test_codes_of_tumors_and_genes_are_not_damaged() -> None:
    assert not damage("pT1c pN1a mrT3b CDKN2A p.Leu858Arg Ki-67 CD20 HER2 T2w").places
    assert damage("Invasi0n of the B1adder").share == 1.0


@pytest.mark.requirement("MV-2.3")
def test_a_damaged_text_scores_less_with_the_same_values() -> None:
    worn = REPORT.replace("Margins negative", "Margims uegative").replace("FINAL", "FlNAL")
    values = {"histology": "Invasive ductal carcinoma", "grade": "Nottingham grade 2"}
    scores = []
    for text in (REPORT, worn):
        fields = {name: placed(text, name, words) for name, words in values.items()}
        scores.append(_score(text, Attempt(document_type="pathology", fields=fields)))
    assert scores[1] < scores[0]


def test_a_value_that_runs_on_into_another_label_is_doubted() -> None:
    text = "Procedure: biopsy\nEstimated blood loss: 20 ml\n"
    item = placed(text, "procedure", "biopsy\nEstimated blood loss: 20 ml").items[0]
    said = [one.words for one in doubts("procedure", Parts(text), item, damage(text))]
    assert any("runs on" in words for words in said)
    item = placed(text, "procedure", "biopsy").items[0]
    assert not list(doubts("procedure", Parts(text), item, damage(text)))


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        ("Diagnoses of friends and neighbors: gout\n", "diagnosis", None),
        ("Diagnosis at the discharge: gout\nMore: text\n", "diagnosis", "gout"),
        ("Discharge\ndiognosis: gout\n", "diagnosis", "gout"),
        (
            "Hospitol course\nHe slept.\nHe ate.\n\nOther\nIt rained.\n",
            "hospital_course",
            "He slept.\nHe ate.",
        ),
        ("Date of admlssion: 2024-05-17, by car\n", "admission_date", "2024-05-17"),
    ],
)
def test_the_second_reading_knows_labels_in_other_words_and_damaged_ones(
    text: str, field: str, words: str | None
) -> None:
    parts = Parts(text)
    found = extract_field(field, parts, wide=True)
    spans = [text[one.start : one.end] for one in found.items[:1]]
    assert spans == ([words] if words else [])


def test_a_clinical_text_without_a_type_is_in_doubt_and_a_letter_is_not() -> None:
    stains = Parts("The cells express CD20 and CD10; BCL2 is negative and Ki-67 is 90%.")
    assert type_in_doubt(stains, rubric("unknown"))
    assert not type_in_doubt(Parts("Thank you for the pleasant afternoon."), rubric("unknown"))


def _truth(one: Case) -> tuple[float, float]:
    found = extract_text(one.text)
    kind = found.parts[0].part.document_type
    shares = [right(name, gold, found.fields, kind) for name, gold in one.fields.items()]
    return found.score, mean(share or 0.0 for share in shares)


@pytest.mark.requirement("MV-2.3")
def test_the_score_follows_the_truth_on_documents_that_nothing_was_tuned_to() -> None:
    pairs = [_truth(one) for folder in UNSEEN for one in read_cases(folder)]
    scores, shares = [one for one, _ in pairs], [one for _, one in pairs]
    assert correlation(scores, shares) > 0.3
    right_in_full = [score for score, share in pairs if share == 1.0]
    wrong = [score for score, share in pairs if share < 1.0]
    ordered = mean(a > b for a in right_in_full for b in wrong)
    assert ordered > 0.7, "the chance that of a document with a wrong field and one without"
    assert abs(mean(scores) - mean(shares)) < 0.05
