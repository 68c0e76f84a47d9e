"""Values of other patients, other times, other tumors and other sides are not this tumor's."""

import pytest

from workers.extract.evaluation.consistency import consistency
from workers.extract.fields import Status
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Grade, Margin, Mutation, Value


def values(field: str, text: str, *, wide: bool = False) -> list[Value]:
    return [one.value for one in extract_field(field, Parts(text), wide=wide).items]


@pytest.mark.parametrize(
    "text",
    [
        "In a trial, patients with EGFR C797S did not respond.",
        "Osimertinib is approved for EGFR L858R.",
        "Tumors harboring KRAS G12C respond to sotorasib.",
    ],
)
def test_a_variant_of_patients_of_trials_and_labels_is_none_of_this_one(text: str) -> None:
    assert values("mutations", text, wide=True) == []


def test_a_variant_beside_what_a_label_says_is_kept() -> None:
    text = "EGFR L858R, VAF 12%. Osimertinib is approved for EGFR T790M."
    (found,) = values("mutations", text)
    assert isinstance(found, Mutation)
    assert found.protein == "L858R"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Variants of uncertain significance: ATM p.V2424G, NF1 p.R1809C",
         ["uncertain", "uncertain"]),
        ("VARIANTS OF UNKNOWN SIGNIFICANCE\nATM p.V2424G\nNF1 p.R1809C\n\nTMB: 5 mut/Mb",
         ["uncertain", "uncertain"]),
        ("TP53 p.R273H (pathogenic)\nATM p.V2424G (VUS)", [None, "uncertain"]),
        ("VUS:\nATM p.V2424G\n\nPathogenic variants:\nTP53 p.R273H", ["uncertain", None]),
        ("TP53 p.R273H\nNo variants of uncertain significance.", [None]),
    ],
)  # fmt: skip
def test_a_variant_of_uncertain_significance_says_so(text: str, expected: list[str | None]) -> None:
    found = values("mutations", text)
    assert [one.significance for one in found if isinstance(one, Mutation)] == expected


def test_a_gene_without_a_fusion_is_no_stain() -> None:
    assert values("ihc_markers", "No ALK, ROS1 or RET fusions.", wide=True) == []
    assert len(values("ihc_markers", "Negative for ALK, ROS1.", wide=True)) == 2


def test_the_grade_of_what_is_in_situ_does_not_take_the_place_of_a_number() -> None:
    text = "DIAGNOSIS\nHigh grade DCIS, 0.5 mm from the margin.\nInvasive carcinoma NST, grade 2.\n"
    found = extract_field("grade", Parts(text))
    assert found.status is Status.FOUND
    (value,) = (one.value for one in found.items)
    assert isinstance(value, Grade)
    assert value.level == "2"


@pytest.mark.parametrize(
    ("text", "distance"),
    [
        ("Invasive carcinoma, margins negative, tumor size 2.2 cm", None),
        ("Margins negative; tumor measures 3.1 x 2.0 cm", None),
        ("Melanoma, Breslow depth 1.2 mm, margins clear", None),
        ("Tumor of 2.2 cm, margins negative, closest 3 mm", 3.0),
        ("The tumor is 4 mm from the deep margin", 4.0),
        ("Deep margin negative (2 mm)", 2.0),
    ],
)
def test_the_size_of_a_tumor_is_no_distance_to_a_margin(text: str, distance: float | None) -> None:
    (found,) = values("margins", text)
    assert isinstance(found, Margin)
    assert found.distance_mm == distance


def test_sizes_of_the_examination_before_are_no_measurements() -> None:
    text = "Nodule of 6 mm (previously 4 mm). Node 1.4 cm, 9 mm on the prior."
    assert [one.key for one in values("measurements", text, wide=True)] == [
        ("measurement", 6.0),
        ("measurement", 14.0),
    ]


OPERATION = """OPERATION NOTE
Northfield Hospital, date of operation: 2024-05-12
Preoperative diagnosis: {before} inguinal hernia
Operation: {done} inguinal hernia repair
Margins: not applicable
Complications: none
"""


def test_an_operation_on_the_other_side_than_the_diagnosis_is_a_persons_to_look_at() -> None:
    same = extract_text(OPERATION.format(before="Left", done="Left"))
    other = extract_text(OPERATION.format(before="Right", done="LEFT"))
    assert not same.needs_review
    assert other.needs_review
    said = consistency(other.parts[0].outcome.best.attempt, lambda _: False)
    assert any("side" in one.description and one.severity == "critical" for one in said)


def test_an_operation_on_both_sides_contradicts_nothing() -> None:
    assert not extract_text(OPERATION.format(before="Right", done="Bilateral")).needs_review


@pytest.mark.parametrize(
    "drug",
    [
        "Enoxaparin 40 mg SC HELD (platelets 48)",
        "Alendronate 70 mg weekly | on hold until dental review",
        "Tamoxifen 20 mg daily until 2020",
        "Tamoxifen 20 mg daily (2015-2020)",
        "STOPPED: metformin 1 g BD (restart if eGFR > 45), ramipril 5 mg",
        "If her blood pressure rises above 160, increase losartan to 100 mg",
    ],
)
def test_a_drug_that_is_held_ended_or_only_supposed_is_none(drug: str) -> None:
    assert values("medications", f"MEDICATIONS\n{drug}\n", wide=True) == []


@pytest.mark.parametrize(
    "drug",
    [
        "Paracetamol 1 g QDS if needed",
        "Losartan 50 mg daily, increase if blood pressure above 160",
        "Apixaban 5 mg BD (warfarin was stopped)",
        "Prednisolone 5 mg daily until review",
    ],
)
def test_a_drug_with_a_condition_behind_it_is_taken(drug: str) -> None:
    assert len(values("medications", f"MEDICATIONS\n{drug}\n")) == 1


@pytest.mark.parametrize("often", ["QDS", "nocte", "mane", "each second evening", "in the morning"])
def test_frequencies_of_other_countries_are_read(often: str) -> None:
    (found,) = values("medications", f"Atorvastatin 20 mg {often}")
    assert getattr(found, "frequency", None) == often.lower()
