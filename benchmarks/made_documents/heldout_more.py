"""The makers of `heldout` for all but pathology and radiology."""

# ruff: noqa: E501 - the lines of a made-up document are as long as it needs

import random
from typing import Any

from benchmarks.made_documents.writing import written_date

PLACES = ["Oakmere District Hospital", "Saltmarsh Infirmary", "Fernhill Medical Centre",
           "Kestrel Diagnostics", "University Hospital of Thornby", "Ashgrove Clinic"]  # fmt: skip


def ngs_letter(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: ngs letter."""
    date, iso = written_date(rng)
    vaf, tmb = rng.choice([7, 23, 41]), rng.choice([3, 9, 17])
    msi = rng.choice(["MSS", "MSI-H"])
    text = f"""Genomics laboratory, molecular tumour report
Issued {date}
Panel of 161 genes, FFPE, neoplastic cells 40%.

Pathogenic: KRAS p.(Gly12Val) at an allele frequency of {vaf}%; APC c.4348C>T p.(Arg1450*), {vaf + 8}%.
Not found: variants in BRAF, NRAS and PIK3CA.
Microsatellites: {"stable" if msi == "MSS" else "unstable (MSI-H)"}
Mutation load {tmb} per megabase
"""
    return text, "genomics", {
        "mutations": [{"gene": "KRAS", "hgvs": "p.G12V", "vaf": vaf}, {"gene": "APC", "hgvs": "p.R1450*", "vaf": vaf + 8}],
        "msiStatus": msi, "tmb": tmb, "date": iso}  # fmt: skip


def ngs_table(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: ngs table."""
    date, iso = written_date(rng)
    place, vaf = rng.choice(PLACES), rng.choice(["14.1", "33.0"])
    tmb = rng.choice(["6.1", "22.4"])
    text = f"""COMPREHENSIVE GENOMIC PROFILE
Performed by: {place}
Report date {date}

GENE      ALTERATION                 AF
EGFR      exon 19 deletion           {vaf}%
          (p.E746_A750del)
RB1       loss                       -
MET       amplification              -

BIOMARKERS
TMB       {tmb} muts/Mb
MSI       MS-Stable
PD-L1     TPS 20%
"""
    return text, "genomics", {
        "mutations": ["EGFR exon 19 deletion", "RB1 loss", "MET amplification"], "tmb": float(tmb),
        "msiStatus": "MSS", "date": iso, "institution": place}  # fmt: skip


def germline(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: germline."""
    date, iso = written_date(rng)
    gene, change, protein = rng.choice(
        [
            ("BRCA1", "c.68_69del", "p.Glu23Valfs*17"),
            ("BRCA2", "c.5946del", "p.Ser1982Argfs*22"),
            ("PALB2", "c.3113G>A", "p.Trp1038*"),
        ]
    )
    text = f"""Hereditary cancer panel: result
Reporting date: {date}
Result: POSITIVE. A pathogenic variant was identified.
{gene} (NM_000000.0) {change} ({protein}), heterozygous
No other reportable variant among the 24 genes tested. Microsatellite analysis was not part of this test.
"""
    return text, "genomics", {"mutations": [{"gene": gene, "hgvsc": change}], "msiStatus": None, "tmb": None, "date": iso}  # fmt: skip


def labs_two_columns(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: labs two columns."""
    date, iso = written_date(rng)
    place = rng.choice(PLACES)
    hb, wcc, plt, k, bili, alp = (
        rng.choice([94, 131]),
        rng.choice(["3.1", "14.6"]),
        rng.choice([71, 302]),
        rng.choice(["3.3", "5.6"]),
        rng.choice([9, 48]),
        rng.choice([77, 341]),
    )
    text = f"""{place} Biochemistry and Haematology
Report of {date}

FULL BLOOD COUNT
Haemoglobin {hb} g/L (115-165)
White cell count {wcc} 10^9/L (4.0-11.0)
Platelets {plt} 10^9/L (150-450)

UREA AND ELECTROLYTES
Potassium {k} mmol/L (3.5-5.3)

LIVER
Total bilirubin {bili} umol/L (<21)
Alkaline phosphatase {alp} IU/L (30-130)
"""
    return text, "lab-report", {
        "labValues": {"hemoglobin": f"{hb} g/L", "WBC": f"{wcc} 10^9/L", "platelets": f"{plt} 10^9/L", "potassium": f"{k} mmol/L",
                      "total bilirubin": f"{bili} umol/L", "ALP": f"{alp} IU/L"}, "date": iso, "institution": place}  # fmt: skip


def labs_csv(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: labs csv."""
    date, _iso = written_date(rng)
    glu, hba, ldl, crp, tsh = (
        rng.choice([88, 203]),
        rng.choice(["5.4", "8.9"]),
        rng.choice([96, 171]),
        rng.choice([3, 88]),
        rng.choice(["0.2", "2.7"]),
    )
    text = f"""LAB RESULTS
collected {date}
analyte;value;unit;reference
Glucose (fasting);{glu};mg/dL;70-99
HbA1c;{hba};%;4.0-5.6
LDL-C;{ldl};mg/dL;<130
C-reactive protein;{crp};mg/L;<5
TSH;{tsh};mIU/L;0.4-4.0
"""
    return text, "lab-report", {"labValues": {"glucose": f"{glu} mg/dL", "HbA1c": f"{hba} %", "LDL": f"{ldl} mg/dL", "CRP": f"{crp} mg/L", "TSH": f"{tsh} mIU/L"}}  # fmt: skip


def markers_blood(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: markers blood."""
    date, iso = written_date(rng)
    cea, ca, ldh = rng.choice(["2.2", "41.0"]), rng.choice([19, 880]), rng.choice([188, 610])
    text = f"""Tumour marker results
Sample reported {date}

CEA was {cea} ng/mL (upper limit 5). CA 19-9 was {ca} U/mL (0 to 37), and LDH {ldh} U/L (135 - 225).
"""
    return text, "lab-report", {"labValues": {"CEA": f"{cea} ng/mL", "CA 19-9": f"{ca} U/mL", "LDH": f"{ldh} U/L"}, "date": iso}  # fmt: skip


def script(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: script."""
    date, iso = written_date(rng)
    place, dose = rng.choice(PLACES), rng.choice([500, 1000])
    text = f"""{place}
PRESCRIPTION                      {date}
Rx
1) Metformin {dose} mg tab, 1-0-1 with food
2) Capecitabine 1500 mg orally twice daily, days 1 to 14
3) Ondansetron 8 mg po q8h prn
Review in three weeks.
"""
    return text, "prescription", {"medications": [f"Metformin {dose} mg", "Capecitabine 1500 mg", "Ondansetron 8 mg"], "date": iso, "institution": place}  # fmt: skip


def script_prose(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: script prose."""
    date, iso = written_date(rng)
    text = f"""Medication order, dated {date}
Please dispense letrozole 2.5 mg (one tablet each morning, 90 tablets), and calcium carbonate 1250 mg once daily.
Zoledronic acid 4 mg intravenously every 6 months.
Allergies: penicillin (rash)
"""
    return text, "prescription", {"medications": ["letrozole 2.5 mg", "calcium carbonate 1250 mg", "Zoledronic acid 4 mg"], "date": iso, "allergies": "penicillin (rash)"}  # fmt: skip


def soap(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: soap."""
    date, iso = written_date(rng)
    drug = rng.choice(["amlodipine 10 mg", "lisinopril 20 mg"])
    text = f"""Clinic note {date}
CC: breathlessness on stairs
S: 61 year old, two weeks of dyspnoea, sleeps on three pillows. Takes {drug} daily and aspirin 75 mg.
O: bp 162/95, HR 88, ankle oedema to mid shin.
A: decompensated heart failure
P: furosemide 40 mg every morning, echocardiogram, back in 5 days
NKDA
"""
    return text, "clinical-notes", {"date": iso, "chiefComplaint": "breathlessness on stairs", "assessment": "decompensated heart failure",
                                    "medications": [drug, "aspirin 75 mg", "furosemide 40 mg"],
                                    "plan": "furosemide 40 mg every morning, echocardiogram, back in 5 days"}  # fmt: skip


def consult(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: consult."""
    date, iso = written_date(rng)
    place, stage = rng.choice(PLACES), rng.choice(["IIB", "IIIA", "IV"])
    text = f"""{place}
ONCOLOGY CONSULTATION
Date seen: {date}

Reason for consultation: new non-small cell lung cancer

History of present illness: A 70-year-old former smoker with weight loss of 6 kg.

Allergies: none known

Impression:
Adenocarcinoma of the lung, stage {stage}, PD-L1 55%.

Recommendations:
Brain MRI. Discuss at the tumour board on Thursday.
"""
    return text, "clinical-notes", {"date": iso, "institution": place, "chiefComplaint": "new non-small cell lung cancer", "stage": stage,
                                    "allergies": "none known", "plan": "Brain MRI. Discuss at the tumour board on Thursday."}  # fmt: skip


def discharge_short(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: discharge short."""
    _date, iso = written_date(rng)
    day = int(iso[-2:])
    admitted = f"{iso[:-2]}{day - 9:02d}"
    place = rng.choice(PLACES)
    text = f"""Discharge letter
{place}
Admitted {admitted}, discharged {iso}

Main diagnosis
Community-acquired pneumonia, left lower lobe

Hospital course
Five days of intravenous ceftriaxone, then oral amoxicillin. Afebrile since day 3.

Medication at discharge
Amoxicillin 500 mg three times daily for 4 days
Pantoprazole 40 mg once daily

Follow-up
Chest film in six weeks with the family doctor.
"""
    return text, "discharge-summary", {"admissionDate": admitted, "dischargeDate": iso, "institution": place,
                                       "diagnosis": "Community-acquired pneumonia, left lower lobe",
                                       "hospitalCourse": "Five days of intravenous ceftriaxone, then oral amoxicillin. Afebrile since day 3.",
                                       "medications": ["Amoxicillin 500 mg", "Pantoprazole 40 mg"],
                                       "followUp": "Chest film in six weeks with the family doctor."}  # fmt: skip


def discharge_table(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: discharge table."""
    _date, iso = written_date(rng)
    day = int(iso[-2:])
    admitted = f"{iso[:-2]}{day - 5:02d}"
    hb = rng.choice(["7.9", "10.2"])
    text = f"""DISCHARGE SUMMARY
| Date of admission | {admitted} |
| Date of discharge | {iso} |
| Discharge diagnosis | Upper gastrointestinal bleeding, gastric ulcer |
| Procedure | Gastroscopy with clipping |

Course: Two units of red cells. Haemoglobin {hb} g/dL on the last day.
Discharge medications: omeprazole 40 mg twice daily; ferrous sulfate 325 mg daily
Follow-up: gastroscopy in 8 weeks
"""
    return text, "discharge-summary", {"admissionDate": admitted, "dischargeDate": iso, "diagnosis": "Upper gastrointestinal bleeding, gastric ulcer",
                                       "procedure": "Gastroscopy with clipping", "medications": ["omeprazole 40 mg", "ferrous sulfate 325 mg"],
                                       "followUp": "gastroscopy in 8 weeks"}  # fmt: skip


def operation(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: operation."""
    date, iso = written_date(rng)
    place, loss = rng.choice(PLACES), rng.choice([50, 120, 400])
    text = f"""OPERATIVE NOTE
{place}, {date}
Preop dx: sigmoid cancer
Postop dx: same
Operation: laparoscopic sigmoid resection with primary anastomosis
Anaesthesia: general
EBL: {loss} ml
Complications: none

The patient was placed supine. Medial to lateral dissection. The inferior mesenteric artery was divided at its origin. Both resection rings were complete. Specimen to pathology.
"""
    return text, "surgical-notes", {"date": iso, "institution": place, "preoperativeDiagnosis": "sigmoid cancer", "procedure": "laparoscopic sigmoid resection with primary anastomosis",
                                    "anesthesia": "general", "bloodLoss": loss, "complications": "none"}  # fmt: skip


def operation_prose(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: operation prose."""
    date, iso = written_date(rng)
    loss = rng.choice([80, 250])
    text = f"""Operation report of {date}
Title of operation: left modified radical mastectomy
Indication: invasive carcinoma of the left breast
Findings: A mobile lump of 3 cm behind the areola; nodes palpable at level I.
Details: Skin flaps were raised and the breast removed from the pectoral fascia. Blood loss was about {loss} mL. There were no complications.
Frozen section of the deep margin was negative.
"""
    return text, "surgical-notes", {"date": iso, "procedure": "left modified radical mastectomy", "bloodLoss": loss, "margins": "negative",
                                    "findings": "A mobile lump of 3 cm behind the areola; nodes palpable at level I."}  # fmt: skip


def letter_unknown(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: letter unknown."""
    text = f"Minutes of the allotment society. {rng.randint(9, 14)} members were present. The hedge will be cut in March, and the rent stays as it is. The treasurer thanked everybody for paying in time."
    return text, "unknown", {"histology": None, "grade": None, "medications": None}
