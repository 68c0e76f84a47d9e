"""Held-out synthetic documents, in other styles than those of `reports`.

    python -m benchmarks.made_documents.heldout FOLDER
    attest evaluate extraction FOLDER

Written before the evaluator was last changed and not looked at while it was: only the figures of
the whole set were. Telegrams, letters, tables, lines without colons and smudged scans; no patient,
no hospital and no report exists. A rule that is changed because of a document here ends the set's
use: write another.
"""

# ruff: noqa: E501 - the lines of a made-up document are as long as it needs

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.made_documents import heldout_more as more
from benchmarks.made_documents.heldout_more import PLACES
from benchmarks.made_documents.writing import Report, smudged, written, written_date

SEED = 77031
EACH = 2
"""Documents of each template; every third one also smudged."""

Maker = Callable[[random.Random], tuple[str, str, dict[str, Any]]]


def _synoptic_breast(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    place = rng.choice(PLACES)
    grade, er, pr, ki = (
        rng.randint(1, 3),
        rng.choice([100, 85, 5]),
        rng.choice([0, 30, 75]),
        rng.choice([12, 34, 61]),
    )
    size, pos, tot, gap = (
        rng.choice([14, 22, 37]),
        rng.randint(0, 3),
        rng.randint(4, 17),
        rng.choice(["1.5", "7", "9"]),
    )
    text = f"""{place.upper()}
DEPARTMENT OF CELLULAR PATHOLOGY
Authorised {date}

Specimen type        Right mastectomy with sentinel node biopsy
Tumour type          Invasive lobular carcinoma, classical
Invasive tumour size {size} mm
Histological grade   Grade {grade} (T3 N{grade} M1)
Lymphovascular invasion   Not seen
Excision             Complete; nearest margin posterior, {gap} mm
Nodes                {pos} of {tot} contain metastasis
ER                   {"Positive" if er else "Negative"}, {er}% of nuclei
PR                   {"Positive, " + str(pr) + "% of nuclei" if pr else "Negative, 0%"}
HER2                 IHC 1+, negative
Ki67                 {ki}%
"""
    return text, "pathology", {
        "histology": "Invasive lobular carcinoma", "grade": grade, "tumorSize": f"{size} mm",
        "lymphovascularInvasion": "absent", "margins": f"negative, {gap} mm", "lymphNodes": f"{pos}/{tot}",
        "ihcMarkers": {"ER": f"{'positive' if er else 'negative'} {er}%", "PR": f"{pr}%", "HER2": "negative (1+)", "Ki-67": f"{ki}%"},
        "date": iso, "institution": place}  # fmt: skip


def _telegram_path(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    grade, size = (
        rng.choice([("2", "mod diff"), ("3", "poorly diff"), ("1", "well diff")]),
        rng.choice([31, 48]),
    )
    n, tot = rng.randint(0, 5), rng.randint(13, 29)
    text = f"""PATH REPORT {date}
R hemicolectomy. Caecal adenoca, {grade[1]}erentiated, {size} mm, through muscularis into subserosa.
Nodes {n}/{tot}. Apical node clear. EMVI not identified, PNI neg.
All margins clear, closest 12 mm (radial). pT3 N{"0" if n == 0 else "1b" if n < 4 else "2a"}.
MMR IHC: MLH1 lost, PMS2 lost, MSH2 retained, MSH6 retained. BRAF V600E on molecular.
"""
    return text, "pathology", {
        "histology": "adenocarcinoma", "grade": grade[0], "tumorSize": f"{size} mm", "lymphNodes": f"{n}/{tot}",
        "perineuralInvasion": "absent", "margins": "negative, 12 mm", "pT": "3", "date": iso,
        "ihcMarkers": {"MLH1": "lost", "PMS2": "lost", "MSH2": "intact", "MSH6": "intact"}}  # fmt: skip


def _letter_path(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    place, breslow = rng.choice(PLACES), rng.choice(["0.6", "1.9", "3.2"])
    gap = rng.choice(["2", "5", "11"])
    text = f"""{place}
Histopathology

{date}

Dear Dr Winter,

The ellipse from the left calf holds a superficial spreading melanoma with a Breslow thickness of {breslow} mm; it is not ulcerated. No vascular or perineural invasion was found. The lesion has been removed completely, with {gap} mm to the nearest peripheral edge. On immunostaining the cells were positive for S100, SOX10 and Melan-A.

In summary, superficial spreading melanoma, excised, pT{"1a" if breslow == "0.6" else "2a" if breslow == "1.9" else "3a"}.
"""
    return text, "pathology", {
        "histology": "superficial spreading melanoma", "margins": f"negative, {gap} mm", "perineuralInvasion": "absent",
        "ihcMarkers": {"S100": "positive", "SOX10": "positive", "Melan-A": "positive"},
        "pT": "1a" if breslow == "0.6" else "2a" if breslow == "1.9" else "3a", "date": iso,
        "institution": place, "grade": None}  # fmt: skip


def _needle_prostate(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    a, b = rng.choice([(3, 3), (3, 4), (4, 4), (4, 5)])
    psa = rng.choice(["6.2", "14.8"])
    cores = rng.randint(2, 7)
    text = f"""Prostate needle biopsies - histopathology
Received and reported: {date}

History: raised PSA ({psa} ng/ml), PI-RADS 4 lesion on the right.

A. right base, two cores - benign
B. right mid, four cores - acinar adenocarcinoma, Gleason {a} + {b} = {a + b}, {cores} mm of 14 mm
C. left, six cores - benign

Perineural invasion absent. No extraprostatic fat seen.

Summary: prostatic acinar adenocarcinoma, Gleason score {a + b} ({a}+{b}), in one of three sites.
"""
    return text, "pathology", {
        "histology": "acinar adenocarcinoma", "gleason": f"{a}+{b}={a + b}", "perineuralInvasion": "absent",
        "date": iso, "margins": None}  # fmt: skip


def _ct_staging(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    place, a, b, c = rng.choice(PLACES), rng.randint(21, 66), rng.randint(10, 20), rng.randint(4, 9)
    text = f"""{place} - Imaging
EXAMINATION CT thorax, abdomen and pelvis, {date}
CLINICAL DETAILS New diagnosis, staging please. Ultrasound showed 19 mm.

REPORT
There is a {a} x {b} mm soft tissue mass at the right hilum. It occludes the middle lobe bronchus. A further nodule of {c} mm lies in the left upper lobe and was not there before. Right paratracheal node, short axis {b + 1} mm. Left adrenal normal. No bone destruction.

CONCLUSION
Right hilar tumour with mediastinal nodal disease; indeterminate left upper lobe nodule. T2 N2 M1a if the nodule is a deposit.
"""
    return text, "radiology", {
        "impression": "Right hilar tumour with mediastinal nodal disease; indeterminate left upper lobe nodule. T2 N2 M1a if the nodule is a deposit.",
        "measurements": [f"{a} x {b} mm", f"{c} mm", f"{b + 1} mm"], "date": iso, "institution": place}  # fmt: skip


def _mammo(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    cat, size = rng.choice(["2", "4", "5"]), rng.randint(6, 25)
    text = f"""MAMMOGRAPHY, BOTH BREASTS
Done on {date}

Breast composition c. In the upper outer quadrant of the left breast there is a dense mass with an irregular outline of {size} mm. No suspicious calcification. The right breast is normal. No axillary adenopathy.

Assessment: BI-RADS {cat}.
Recommendation: {"routine screening" if cat == "2" else "core biopsy under ultrasound"}.
"""
    return text, "radiology", {"measurements": [f"{size} mm"], "birads": int(cat), "date": iso,
                               "plan": "routine screening" if cat == "2" else "core biopsy under ultrasound"}  # fmt: skip


def _pet(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    place, suv, size = rng.choice(PLACES), rng.choice(["6.4", "11.2"]), rng.choice(["1.7", "2.9"])
    ending = rng.choice(
        [
            "Complete metabolic response.",
            "Progressive disease with new hepatic uptake.",
            "Partial metabolic response.",
        ]
    )
    text = f"""FDG PET-CT
Nuclear Medicine, {place}
Scan date {date}
Blood glucose 5.8 mmol/l, 312 MBq given.

Findings
Neck: nothing abnormal.
Chest: subcarinal node {size} cm, SUVmax {suv}.
Abdomen: physiological uptake.

Impression
{ending}
"""
    return text, "radiology", {"impression": ending, "measurements": [f"{size} cm"], "date": iso, "institution": place}  # fmt: skip


def _renal_amended(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    first, amended = rng.choice([("2", "3"), ("3", "4")])
    text = f"""Surgical pathology, partial nephrectomy
Reported {date}
Diagnosis: Papillary renal cell carcinoma, ISUP grade {first}, 3.4 cm; margin of resection free.

ADDENDUM: After review of further sections the tumour is ISUP grade {amended}.
"""
    return text, "pathology", {"histology": "Papillary renal cell carcinoma", "grade": amended, "tumorSize": "3.4 cm", "margins": "negative", "date": iso}  # fmt: skip


def _contradicting(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    text = f"""Histology report, {date}
Wide local excision, right breast.
Microscopy: Invasive ductal carcinoma, grade {rng.choice("12")}. The inferior margin is involved by tumour.
Summary: Invasive ductal carcinoma of grade 3. The inferior margin is free of tumour.
"""
    return text, "pathology", {"histology": "Invasive ductal carcinoma", "grade": "ambiguous", "margins": "ambiguous", "date": iso}  # fmt: skip


MAKERS: list[Maker] = [
    _synoptic_breast, _telegram_path, _letter_path, _needle_prostate, _renal_amended, _contradicting, _ct_staging, _mammo, _pet,
    more.ngs_letter, more.ngs_table, more.germline, more.labs_two_columns, more.labs_csv, more.markers_blood, more.script, more.script_prose, more.soap, more.consult,
    more.discharge_short, more.discharge_table, more.operation, more.operation_prose, more.letter_unknown,
]  # fmt: skip


def reports(seed: int = SEED) -> list[Report]:
    """All of them; the same seed gives the same ones."""
    rng = random.Random(seed)
    every = []
    for make in MAKERS:
        for number in range(EACH):
            text, kind, fields = make(rng)
            name = f"{make.__name__.lstrip('_')}_{number}"
            every.append(Report(name, text, kind, fields))
            if len(every) % 3 == 0:
                worn = smudged(text, rng, rng.choice([0.01, 0.02, 0.04]))
                every.append(Report(f"{name}_smudged", worn, kind, fields))
    return every


if __name__ == "__main__":
    print(f"{written(Path(sys.argv[1]), reports())} documents")
