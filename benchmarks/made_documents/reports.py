"""Writes synthetic clinical documents of all nine types with their gold fields.

    python -m benchmarks.made_documents.reports FOLDER
    attest evaluate extraction FOLDER

The same seed writes the same files. Every text is made up here: no patient, no hospital and no
report exists. Among them are documents in which fields are missing, that contradict themselves, that
are several in one, of more than 30,000 characters with the answer at the end, and that nobody can
read. The phrasings are meant to differ from what the rules list; where a rule misses one it stays
missed here, for this measures.
"""

# ruff: noqa: E501 - the lines of a made-up document are as long as it needs

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.made_documents.letters import discharge, labs, note, prescription, surgery
from benchmarks.made_documents.writing import PLACES, Report, written, written_date

SEED = 20260117
EACH = 7
"""Plain documents of each kind."""


def _breast(rng: random.Random, number: int) -> Report:
    date, iso = written_date(rng)
    place = rng.choice(PLACES)
    histology = rng.choice(["Invasive ductal carcinoma", "Invasive lobular carcinoma",
                            "Mucinous carcinoma", "Infiltrating ductal carcinoma"])  # fmt: skip
    grade = rng.choice([1, 2, 3])
    er, pr, ki = rng.choice([95, 80, 60]), rng.choice([70, 40, 15]), rng.choice([8, 22, 45])
    her2, score = rng.choice([("negative", "1+"), ("equivocal", "2+"), ("positive", "3+")])
    size = rng.choice(["1.8", "2.4", "3.1"])
    near = rng.choice(["2", "4", "6"])
    positive, examined = rng.randint(0, 2), rng.randint(3, 14)
    roman = ["I", "II", "III"][grade - 1]
    words = ["well", "moderately", "poorly"][grade - 1]
    n = "0" if positive == 0 else "1a"
    t = "1c" if float(size) <= 2 else "2"
    styles = [
        f"""SURGICAL PATHOLOGY REPORT
{place}
Date of report: {date}

SPECIMEN: Left breast, lumpectomy

FINAL DIAGNOSIS:
{histology}, Nottingham grade {grade} (tubules 3, nuclei 2, mitoses 1).
Tumor size: {size} cm.
Margins negative for carcinoma; closest margin (deep) {near} mm.
Lymphovascular invasion: not identified.
Lymph nodes: {positive}/{examined} positive.
Pathologic stage: pT{t} pN{n}

IMMUNOHISTOCHEMISTRY:
ER: Positive ({er}%)
PR: Positive ({pr}%)
HER2: {her2.capitalize()} (score {score})
Ki-67: {ki}%
""",
        f"""{place}
Histopathology report
Reported on {date}

Gross description: wide local excision, 65 g, inked.
Microscopic description: Sections show an {histology.lower()}, {words} differentiated, measuring {size} cm in greatest dimension. The resection margins are clear; the nearest is the superior margin at {near} mm. No lymphovascular invasion is seen. {positive} of {examined} axillary lymph nodes contain metastatic tumor.

Receptor status: estrogen receptor {er}% positive, progesterone receptor {pr}% positive, HER2 {score} ({her2}), Ki67 index {ki}%.

Conclusion: {histology}, grade {roman}. Stage pT{t}N{n}.
""",
        f"""PATHOLOGY REPORT
Institution: {place}
Report date: {date}
Diagnosis: {histology}
Histologic grade: {roman}
Greatest dimension: {size} cm
Surgical margins: free of tumor, {near} mm from the medial margin
LVI: absent
Nodes examined: {examined}; nodes positive: {positive}
TNM: pT{t} N{n} M0
ER {er}%, PR {pr}%, HER2 {her2} ({score}), Ki-67 proliferation index of {ki}%
""",
    ]
    fields = {
        "histology": histology,
        "grade": str(grade),
        "margins": f"negative, {near} mm",
        "ihcMarkers": {"ER": f"positive {er}%", "PR": f"{pr}%", "HER2": f"{her2} ({score})",
                       "Ki-67": f"{ki}%"},
        "tumorSize": f"{size} cm",
        "lymphNodes": f"{positive}/{examined}",
        "lymphovascularInvasion": "absent",
        "pT": t,
        "date": iso,
        "institution": place,
    }  # fmt: skip
    return Report(f"pathology_breast_{number}", styles[number % 3], "pathology", fields)


def _other_pathology(rng: random.Random, number: int) -> Report:
    date, iso = written_date(rng)
    place = rng.choice(PLACES)
    size, distance = rng.choice(["4.2", "5.5"]), rng.choice(["1.2", "3.5"])
    positive, examined = rng.randint(1, 4), rng.randint(12, 24)
    volume = rng.choice([34, 47])
    makers: list[tuple[str, dict[str, Any]]] = [
        (f"""Pathology Report
{place}, {date}
Specimen type: sigmoid colon resection
Synoptic summary
  Histologic type: Adenocarcinoma
  Differentiation: moderate
  Tumor size: {size} x 3.0 x 1.1 cm
  Proximal and distal margins: uninvolved, distal margin {distance} cm
  Perineural invasion: present
  Lymph nodes: {positive} of {examined} involved by tumor
  pT3 pN1b
  Mismatch repair: intact nuclear expression of MLH1, PMS2, MSH2 and MSH6
""", {"histology": "Adenocarcinoma", "grade": "moderately differentiated",
      "margins": {"status": "negative", "distance": f"{distance} cm"}, "perineuralInvasion": True,
      "lymphNodes": {"positive": positive, "examined": examined}, "tnm": "pT3 N1b",
      "tumor_size": f"{size} x 3.0 x 1.1 cm",
      "ihcMarkers": dict.fromkeys(("MLH1", "PMS2", "MSH2", "MSH6"), "intact"), "date": iso}),
        (f"""PROSTATE BIOPSY - PATHOLOGY REPORT
Date signed out: {date}
{place}
Clinical data: PSA 9.1 ng/mL, prostate volume {volume} cc.
Microscopy: Cores A and B hold acinar adenocarcinoma occupying 40 % of the tissue.
Diagnosis: Prostatic adenocarcinoma, Gleason score 4+3=7. Perineural invasion is identified.
""", {"histology": "Prostatic adenocarcinoma", "gleason": "4+3=7", "perineuralInvasion": "present",
      "psa": 9.1, "prostateVolume": volume, "date": iso, "institution": place}),
        (f"""HISTOPATHOLOGY REPORT
Hospital: {place}
Date: {date}
Macroscopy: ellipse of skin 22 x 11 x 6 mm.
Microscopy: nodular basal cell carcinoma reaching the deep margin. The peripheral margins are free.
Conclusion: Basal cell carcinoma, incompletely excised (deep margin positive).
""", {"histology": "Basal cell carcinoma", "margins": "positive", "date": iso,
      "institution": place, "grade": None}),
        (f"""Biopsy report
{place}
Date of report: {date}
Clinical question: malignancy?
Diagnosis: Lung, right upper lobe, core biopsy: squamous cell carcinoma, poorly differentiated.
Immunohistochemistry: tumor cells are positive for p40 and p63, and negative for TTF-1 and Napsin A.
PD-L1 (TPS): 60%.
""", {"histology": "squamous cell carcinoma", "grade": "3", "ihcMarkers": [
      {"marker": "p40", "result": "positive"}, {"marker": "p63", "result": "positive"},
      {"marker": "TTF-1", "result": "negative"}, {"marker": "Napsin A", "result": "negative"},
      {"marker": "PD-L1", "percent": 60}], "date": iso, "margins": None}),
        (f"""SURGICAL PATHOLOGY
Meridian Reference Laboratories
Reported: {date}
Specimen: right nephrectomy
Final diagnosis: Clear cell renal cell carcinoma, WHO/ISUP grade 2, {size} cm.
Ureteral, vascular and soft tissue margins negative.
Pathologic staging: pT1b NX
""", {"histology": "Clear cell renal cell carcinoma", "grade": 2, "margins": "negative",
      "tumorSize": f"{size} cm", "tnm": {"T": "1b", "N": "X"}, "date": iso,
      "institution": "Meridian Reference Laboratories"}),
        (f"""PATHOLOGY REPORT  {place}
Report date: {date}
Bladder, transurethral resection: high-grade papillary urothelial carcinoma invading the lamina propria. Muscularis propria is present and not involved. Lymphovascular invasion is suspected but cannot be confirmed.
Stage pT1.
""", {"histology": "papillary urothelial carcinoma", "grade": "high", "pT": "1",
      "lymphovascularInvasion": "indeterminate", "date": iso}),
        (f"""Pathology consultation
{date}
Colon, polypectomy at 25 cm: tubulovillous adenoma. There is no evidence of malignancy. The stalk margin cannot be assessed.
{place}
""", {"histology": "tubulovillous adenoma", "margins": None, "grade": None, "institution": place}),
    ]  # fmt: skip
    text, fields = makers[number % len(makers)]
    return Report(f"pathology_other_{number}", text, "pathology", fields)


def _radiology(rng: random.Random, number: int) -> Report:
    date, iso = written_date(rng)
    place = rng.choice(PLACES)
    a, b, c = rng.randint(12, 48), rng.randint(8, 30), rng.randint(5, 9)
    impressions = [
        f"Spiculated mass in the left lower lobe, {a} mm, suspicious for primary malignancy.",
        "Stable disease. No new lesion.",
        f"Enlarging hepatic metastasis, now {a} mm.",
    ]
    impression = impressions[number % 3]
    sizes = [f"{a} x {b} mm", f"{c} mm"]
    if str(a) in impression:
        sizes.append(f"{a} mm")
    styles = [
        (f"""CT CHEST WITH CONTRAST
{place}
Exam date: {date}
Technique: 5 mm axial slices after intravenous contrast.
Comparison: CT of last year, lesion then 9 mm.

FINDINGS:
Lungs: Mass in the left lower lobe measuring {a} x {b} mm. Nodule in the right upper lobe of {c} mm.
Mediastinum: no enlarged lymph nodes.
Liver: unremarkable.

IMPRESSION:
{impression}
""", sizes, {}),
        (f"""Radiology report
Date of study: {date}
Indication: follow-up of known cancer.
Report: There is a lesion of {a / 10:.1f} x {b / 10:.1f} cm in segment VI of the liver. A small {c}-mm nodule is seen at the lung base. No ascites, no pleural effusion.
Conclusion: {impression}
Signed: radiologist on duty, {place}
""", sizes, {}),
        (f"""MRI OF THE PROSTATE
{place}
Date: {date}
Clinical information: PSA 7.4 ng/mL.
Findings: The prostate volume is 52 mL. In the left peripheral zone a lesion of {c} x 6 mm, PI-RADS 4. No extraprostatic extension.
Impression: {impression if str(a) not in impression else 'PI-RADS 4 lesion in the left peripheral zone.'}
""", [f"{c} x 6 mm"], {"psa": 7.4, "prostateVolume": 52, "pirads": 4}),
    ]  # fmt: skip
    text, measured, more = styles[number % 3]
    if number % 3 == 2 and str(a) in impression:
        impression = "PI-RADS 4 lesion in the left peripheral zone."
    fields = {"impression": impression, "measurements": measured, "date": iso} | more
    if number % 3 != 1:
        fields["institution"] = place
    return Report(f"radiology_{number}", text, "radiology", fields)


def _genomics(rng: random.Random, number: int) -> Report:
    date, iso = written_date(rng)
    place = rng.choice(PLACES)
    vaf, tmb = rng.choice(["12.4", "31", "45.2"]), rng.choice(["4.2", "11.6", "28"])
    msi, written = rng.choice([("MSS", "MSS"), ("MSI-H", "MSI-High"), ("MSS", "Stable (MSS)")])
    styles: list[tuple[str, dict[str, Any]]] = [
        (f"""GENOMIC PROFILING REPORT
{place}
Report date: {date}
Method: next-generation sequencing of 324 genes.

Results
EGFR  c.2573T>G  p.Leu858Arg  VAF {vaf}%
TP53  c.524G>A  p.Arg175His  VAF 18.0%
KRAS: wild type

MSI status: {written}
Tumor mutational burden: {tmb} mut/Mb
""", {"mutations": [{"gene": "EGFR", "hgvs": "p.L858R", "vaf": float(vaf)},
                    {"gene": "TP53", "hgvs": "p.R175H", "vaf": 18.0}]}),
        (f"""Molecular pathology report, {place}
Date: {date}
Somatic variants were sought by NGS. A KRAS G12C mutation was detected (variant allele frequency {vaf}%). ERBB2 amplification was found. No mutation was detected in BRAF or NRAS.
Microsatellite instability: {'not detected' if msi == 'MSS' else 'high'}. TMB was {tmb} mutations/megabase.
""", {"mutations": [f"KRAS G12C, VAF {vaf}%", "ERBB2 amplification"]}),
        (f"""Next generation sequencing report
Laboratory: {place}
Reported: {date}
| Gene | Variant | Protein | VAF |
| BRAF | c.1799T>A | p.V600E | {vaf}% |
| PIK3CA | c.3140A>G | p.H1047R | 9.5% |
Fusions: EML4-ALK fusion detected
MSI: {written}
TMB: {tmb} Muts/Mb
""", {"mutations": [{"gene": "BRAF", "variant": "p.V600E", "vaf": vaf},
                    {"gene": "PIK3CA", "variant": "p.H1047R", "vaf": "9.5%"},
                    {"gene": "EML4-ALK", "event": "fusion"}]}),
        (f"""Molecular diagnostics report
{place}
{date}
No clinically significant mutations were detected in the 50 genes analyzed.
Microsatellite status: {written}. Tumor mutational burden {tmb} mut/Mb.
""", {"mutations": []}),
    ]  # fmt: skip
    text, fields = styles[number % 4]
    if number % 4 == 1 and msi == "MSI-H":
        text = text.replace("instability: high", "instability: high (MSI-H)")
    fields = fields | {"msiStatus": msi, "tmb": float(tmb)}
    if number % 4 < 3:
        fields |= {"date": iso, "institution": place}
    return Report(f"genomics_{number}", text, "genomics", fields)


def _special(rng: random.Random) -> Iterator[Report]:
    """Missing, contradictory, composite, long, unreadable and unknown documents."""
    base = _breast(rng, 0)
    for number, drop in enumerate(("Nottingham grade", "Margins negative", "ER:", "HER2:")):
        lines = [one for one in base.text.splitlines() if drop not in one]
        gone = {"Nottingham grade": ("grade", "histology"), "Margins negative": ("margins",),
                "ER:": (), "HER2:": ()}[drop]  # fmt: skip
        fields = {k: (None if k in gone else v) for k, v in base.fields.items()}
        marker = drop.rstrip(":")
        if marker in ("ER", "HER2"):
            held = base.fields["ihcMarkers"]
            fields["ihcMarkers"] = {k: v for k, v in held.items() if k != marker}
        yield Report(f"missing_{number}", "\n".join(lines), "pathology", fields)
    for number in range(4):
        one = _breast(rng, 2)
        roman = one.text.split("Histologic grade: ")[1].split("\n")[0]
        other = {"I": "III", "II": "I", "III": "II"}[roman]
        extra = [f"Comment: the tumor is grade {other}.\n",
                 "Conclusion: the medial margin is positive.\n",
                 f"Conclusion: {one.fields['histology']}, grade {other}.\n",
                 "Addendum: TNM pT4b N2a M0 in the tumor board's list.\n"][number]  # fmt: skip
        wrong = ["grade", "margins", "grade", None][number]
        fields = dict(one.fields)
        if wrong:
            fields[wrong] = "ambiguous"
        else:
            fields.pop("pT")
        yield Report(f"contradictory_{number}", one.text + extra, "pathology", fields)
    for number in range(4):
        first, second = _breast(rng, 0), [_radiology(rng, 1), _genomics(rng, 0), labs(rng, 1),
                                          _radiology(rng, 0)][number]  # fmt: skip
        if number == 3:
            second = second._replace(text="RADIOLOGY REPORT\n" + second.text)
        if number == 2:
            second = second._replace(text="LABORATORY REPORT\n" + second.text)
        fields = dict(first.fields)
        fields |= {k: v for k, v in second.fields.items() if k not in fields}
        text = first.text + "\n\n" + second.text
        yield Report(f"composite_{number}", text, f"pathology+{second.type}", fields)
    padding = "The sections were reviewed together and the findings discussed at the meeting. "
    for number in range(4):
        one = [_breast(rng, 2), _genomics(rng, 0), _radiology(rng, 0), _breast(rng, 1)][number]
        head, _, rest = one.text.partition("\n")
        text = head + "\n" + padding * 420 + "\n\n" + rest
        assert len(text) > 30_000
        yield Report(f"long_{number}", text, one.type, one.fields)
    for number in range(3):
        text = base.text
        if number == 0:
            text = "".join(rng.choice("~^}{|\\¬§¤¦") if rng.random() < 0.4 else c for c in text)
        elif number == 1:
            text = " ".join(c for c in text if not c.isspace())
        else:
            text = "".join(rng.choice("bcdfghjklmnpqrstvwxz") if c.isalpha() else c for c in text)
        yield Report(f"unreadable_{number}", text, "unreadable", {})
    yield Report("unknown_0", "Dear colleague, thank you for the pleasant afternoon at the lake. "
                 "The boat will be ready in spring and everybody is welcome to come along.",
                 "unknown", {"histology": None, "grade": None})  # fmt: skip


def reports(seed: int = SEED) -> list[Report]:
    """All of them; the same seed gives the same ones."""
    rng = random.Random(seed)
    makers: list[Callable[[random.Random, int], Report]] = [
        _breast, _other_pathology, _radiology, _genomics, labs, prescription, note, discharge,
        surgery,
    ]  # fmt: skip
    plain = [make(rng, number) for make in makers for number in range(EACH)]
    return [*plain, *_special(rng)]


def write(folder: Path, seed: int = SEED) -> int:
    """Write `NAME.txt` beside `NAME.json` for each; returns how many."""
    return written(folder, reports(seed))


if __name__ == "__main__":
    print(f"{write(Path(sys.argv[1]))} documents")
