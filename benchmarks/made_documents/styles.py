"""Synthetic documents in further styles, for working on rules and evaluator.

    python -m benchmarks.made_documents.styles FOLDER
    attest evaluate extraction FOLDER

Unlike `heldout` these may be looked at one by one. No patient, no hospital and no report
exists.
"""

# ruff: noqa: E501 - the lines of a made-up document are as long as it needs

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.made_documents import styles_more as more
from benchmarks.made_documents.styles_more import PLACES
from benchmarks.made_documents.writing import Report, smudged, written, written_date

SEED = 4127
EACH = 2
"""Documents of each template; every third one also smudged."""

Maker = Callable[[random.Random], tuple[str, str, dict[str, Any]]]


def _gastric(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    place, size, pos, tot = (
        rng.choice(PLACES),
        rng.choice(["5.1", "7.4"]),
        rng.randint(1, 9),
        rng.randint(16, 31),
    )
    text = f"""{place}
Pathology no. 000-00    finalized {date}

MATERIAL: Distal gastrectomy
DIAGNOSIS
Stomach: poorly cohesive carcinoma with signet ring cells, G3, size {size} cm, infiltrating the subserosa.
Proximal margin 2.5 cm free, distal margin 4 cm free.
Metastases in {pos} out of {tot} regional lymph nodes.
LVI +, PNI +
pT3 pN{1 if pos < 3 else 2 if pos < 7 else "3a"} cM0
HER2 immunohistochemistry: 0
"""
    return text, "pathology", {
        "histology": "poorly cohesive carcinoma", "grade": "3", "tumorSize": f"{size} cm", "margins": "negative",
        "lymphNodes": f"{pos}/{tot}", "lymphovascularInvasion": "present", "perineuralInvasion": "present",
        "tnm": f"pT3 N{1 if pos < 3 else 2 if pos < 7 else '3a'} M0", "date": iso, "institution": place}  # fmt: skip


def _lung_bullets(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    size, gap, tps = rng.choice(["2.2", "3.9"]), rng.choice(["1.1", "0.4"]), rng.choice([5, 80])
    grade = rng.choice([1, 2, 3])
    text = f"""# Pathology Report
**Signed out:** {date}

## Final diagnosis
- Lobe of lung, left lower, lobectomy
  - Histology: lepidic-predominant adenocarcinoma
  - IASLC grade: {grade}
  - Greatest tumor dimension: {size} cm
  - Bronchial margin: uninvolved ({gap} cm)
  - Visceral pleural invasion: not identified
  - Lymphovascular invasion: indeterminate
  - Lymph nodes: 0 / 8
- Biomarkers: TTF-1 pos, p40 neg, PD-L1 TPS {tps} %, ALK neg
"""
    return text, "pathology", {
        "histology": "adenocarcinoma", "grade": grade, "tumorSize": f"{size} cm", "margins": f"negative, {gap} cm",
        "lymphovascularInvasion": "indeterminate", "lymphNodes": "0/8", "date": iso,
        "ihcMarkers": {"TTF-1": "positive", "p40": "negative", "PD-L1": f"{tps}%", "ALK": "negative"}}  # fmt: skip


def _lymphoma(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    ki = rng.choice([70, 90])
    place = rng.choice(PLACES)
    text = f"""Haematopathology, {place}
Report issued {date}

Sample: excised cervical lymph node, 24 mm
Description: The architecture is effaced by sheets of large blasts. They express CD20, CD10 and BCL6; CD3 marks few background cells. BCL2 is negative. The Ki-67 labelling index is {ki} to {ki + 5}%. EBER in situ hybridisation was negative.
Opinion: Diffuse large B-cell lymphoma, germinal centre type.
"""
    return text, "pathology", {
        "histology": "Diffuse large B-cell lymphoma", "date": iso, "institution": place, "grade": None, "margins": None,
        "ihcMarkers": {"CD20": "positive", "CD10": "positive", "BCL6": "positive", "BCL2": "negative", "Ki-67": f"{ki}-{ki + 5}%", "EBER": "negative"}}  # fmt: skip


def _thyroid(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    size = rng.choice(["0.9", "1.8"])
    status = rng.choice(["positive", "negative"])
    text = f"""PATHOLOGIC DIAGNOSIS ({date})
THYROID, TOTAL THYROIDECTOMY:
PAPILLARY THYROID CARCINOMA, CLASSIC TYPE, {size} CM, RIGHT LOBE.
SURGICAL RESECTION MARGINS ARE {"INVOLVED BY" if status == "positive" else "FREE OF"} CARCINOMA.
NO ANGIOLYMPHATIC INVASION.
TWO OF SIX CENTRAL LYMPH NODES POSITIVE FOR CARCINOMA (2/6).
PATHOLOGIC STAGE PT1{"A" if size == "0.9" else "B"} PN1A
"""
    return text, "pathology", {
        "histology": "papillary thyroid carcinoma", "tumorSize": f"{size} cm", "margins": status, "lymphNodes": "2/6",
        "lymphovascularInvasion": "absent", "tnm": f"pT1{'a' if size == '0.9' else 'b'} N1a", "date": iso}  # fmt: skip


def _bladder_uncertain(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    level = rng.choice(["high", "low"])
    text = f"""Histology report
date {date}
Clinical information: previous pTa G1 tumour in 2015
Bladder chippings, 3 g. Papillary urothelial carcinoma, {level} grade. Invasion of the lamina propria {"is present (pT1)" if level == "high" else "is not seen (pTa)"}. Detrusor muscle is not included. Lymphovascular invasion: cannot be excluded.
"""
    return text, "pathology", {"histology": "Papillary urothelial carcinoma", "grade": level, "pT": "1" if level == "high" else "a",
                               "lymphovascularInvasion": "indeterminate", "date": iso, "margins": None}  # fmt: skip


def _contradiction(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    text = f"""Surgical pathology report, {date}
Microscopic description: clear cell renal cell carcinoma of nuclear grade 2, 4.4 cm.
Final diagnosis: Clear cell renal cell carcinoma, nuclear grade 4, with the ureter margin free.
"""
    return text, "pathology", {"histology": "Clear cell renal cell carcinoma", "grade": "ambiguous", "tumorSize": "4.4 cm", "margins": "negative", "date": iso}  # fmt: skip


def _ultrasound(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    place, a, b, c = (
        rng.choice(PLACES),
        rng.choice(["1.4", "2.3"]),
        rng.choice(["0.9", "1.2"]),
        rng.choice(["3", "4"]),
    )
    text = f"""{place}
US THYROID ({date})
Indication: palpable lump

Right lobe: 4.9 x 1.6 x 1.5 cm. Solid hypoechoic nodule in the lower pole, {a} x {b} cm, TI-RADS {c}.
Left lobe: homogeneous, no nodule.

IMPRESSION: Solitary right thyroid nodule, TI-RADS {c}.
RECOMMENDATION: {"FNA" if c == "4" else "Repeat in one year"}
"""
    return text, "radiology", {"impression": f"Solitary right thyroid nodule, TI-RADS {c}.", "measurements": ["4.9 x 1.6 x 1.5 cm", f"{a} x {b} cm"],
                               "assessmentCategory": int(c), "date": iso, "institution": place}  # fmt: skip


def _followup_ct(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    now, before = rng.randint(18, 30), rng.randint(31, 45)
    text = f"""CT abdomen with contrast
Performed {date}. Compared with the scan of January 2018.
The segment VII deposit measures {now} mm (previously {before} mm). The segment IV deposit is unchanged at 11 mm. Common bile duct 5 mm. Free fluid: none.
In summary: partial response of the liver deposits.
"""
    return text, "radiology", {"impression": "partial response of the liver deposits.", "measurements": [f"{now} mm", "11 mm", "5 mm"], "date": iso}  # fmt: skip


def _mri_rectum(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    place, length = rng.choice(PLACES), rng.choice([36, 52])
    text = f"""MRI RECTUM  --  {place}  --  {date}
CLINICAL HISTORY: rectal cancer, staging
TECHNIQUE: T2w in three planes, 3 mm slices
FINDINGS: Semi-annular tumour of the mid rectum, length {length} mm, 8 cm from the anal verge. Extramural spread 6 mm. Mesorectal fascia clear. EMVI negative. Two suspicious nodes, the larger 7 mm.
IMPRESSION: mrT3b N1, mesorectal fascia not threatened.
"""
    return text, "radiology", {"impression": "mrT3b N1, mesorectal fascia not threatened.", "measurements": [f"{length} mm", "6 mm", "7 mm"],
                               "date": iso, "institution": place, "tnm": "T3b N1"}  # fmt: skip


def _genomic_prose(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    vaf, tmb = rng.choice(["5.5", "38"]), rng.choice(["2.9", "13"])
    text = f"""Molecular tumour profiling
{rng.choice(PLACES)}
Authorised on {date}

Sequencing showed a BRAF V600E substitution (NM_004333: c.1799T>A), present in {vaf}% of reads, and a truncating TP53 variant, p.Arg213Ter. CDKN2A was homozygously deleted. KRAS, NRAS and EGFR were wild-type.
The tumour is microsatellite stable with a TMB of {tmb} mut/Mb.
"""
    return text, "genomics", {"mutations": [{"gene": "BRAF", "hgvs": "p.V600E", "vaf": float(vaf)}, {"gene": "TP53", "hgvs": "p.R213*"}, "CDKN2A loss"],
                              "msiStatus": "MSS", "tmb": float(tmb), "date": iso}  # fmt: skip


def _liquid(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    date, iso = written_date(rng)
    place = rng.choice(PLACES)
    vaf = rng.choice(["0.3", "2.1"])
    text = f"""ctDNA ASSAY REPORT
Lab: {place}
Report Date: {date}

DETECTED ALTERATIONS
1. ESR1 D538G    {vaf}% cfDNA
2. PIK3CA E545K  1.4% cfDNA
3. FGFR1 amplification (copy number 6)

MSI-High: NOT DETECTED
Blood TMB: 8.6 mut/Mb
"""
    return text, "genomics", {"mutations": [{"gene": "ESR1", "hgvs": "D538G", "vaf": float(vaf)}, {"gene": "PIK3CA", "hgvs": "E545K", "vaf": 1.4}, "FGFR1 amplification"],
                              "msiStatus": "MSS", "tmb": 8.6, "date": iso, "institution": place}  # fmt: skip


MAKERS: list[Maker] = [
    _gastric, _lung_bullets, _lymphoma, _thyroid, _bladder_uncertain, _contradiction, _ultrasound, _followup_ct, _mri_rectum,
    _genomic_prose, _liquid, more.coag, more.indian_lab, more.rx_table, more.rx_plain, more.gp, more.progress, more.discharge, more.discharge_list,
    more.op_list, more.op_story, more.unknown,
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
