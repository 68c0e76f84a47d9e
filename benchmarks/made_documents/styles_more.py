"""The makers of `styles` for all but pathology, radiology and genomics."""

# ruff: noqa: E501 - the lines of a made-up document are as long as it needs

import random
from typing import Any

from benchmarks.made_documents.writing import written_date

PLACES = ["Brackwater Teaching Hospital", "Linden Park Clinic", "Tarnbrook Cancer Institute",
           "Upland Reference Laboratory", "St. Aldhelm Hospital"]  # fmt: skip


def coag(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: coag."""
    date, iso = written_date(rng)
    inr, fib, dd = (
        rng.choice(["1.1", "3.4"]),
        rng.choice(["2.2", "5.9"]),
        rng.choice(["0.3", "4.1"]),
    )
    text = f"""LABORATORY REPORT            Printed: {date}
COAGULATION
Prothrombin time     13.1 sec        (11.0 - 14.5)
INR                  {inr}             (0.8 - 1.2)
aPTT                 31 sec          (25 - 37)
Fibrinogen           {fib} g/L         (1.8 - 4.0)
D-dimer              {dd} mg/L        (< 0.5)
"""
    return text, "lab-report", {"labValues": {"PT": "13.1 sec", "INR": inr, "aPTT": "31 sec", "Fibrinogen": f"{fib} g/L", "D-dimer": f"{dd} mg/L"}, "date": iso}  # fmt: skip


def indian_lab(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: indian lab."""
    date, iso = written_date(rng)
    place, hb, tlc, plt = (
        rng.choice(PLACES),
        rng.choice(["8.4", "12.7"]),
        rng.choice(["3,400", "11,200"]),
        rng.choice(["1.1", "2.6"]),
    )
    text = f"""{place}
Patient report. Reported on : {date}
TEST NAME              RESULT      BIOLOGICAL REF INTERVAL    UNIT
Haemoglobin            {hb}        13.0 - 17.0                g/dL
Total Leucocyte Count  {tlc}      4000 - 10000               /cumm
Platelet Count         {plt}        1.5 - 4.1                  lakh/cumm
ESR                    42          0 - 15                     mm/hr
S. Creatinine          1.3         0.7 - 1.3                  mg/dL
"""
    return text, "lab-report", {"labValues": {"Hemoglobin": f"{hb} g/dL", "WBC": tlc.replace(",", ""), "ESR": "42 mm/hr", "Creatinine": "1.3 mg/dL", "Platelets": plt},
                                "date": iso, "institution": place}  # fmt: skip


def rx_table(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: rx table."""
    date, iso = written_date(rng)
    text = f"""OUTPATIENT PRESCRIPTION
Prescribed: {date}
| Drug | Strength | Directions |
| Tamoxifen | 20 mg | one tablet daily |
| Atorvastatin | {rng.choice([10, 40])} mg | at night |
| Paracetamol | 500 mg | up to four times daily as needed |
"""
    dose = "10" if "| Atorvastatin | 10 mg" in text else "40"
    return text, "prescription", {"medications": ["Tamoxifen 20 mg", f"Atorvastatin {dose} mg", "Paracetamol 500 mg"], "date": iso}  # fmt: skip


def rx_plain(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: rx plain."""
    date, iso = written_date(rng)
    place = rng.choice(PLACES)
    text = f"""{place}, oncology outpatients
Prescription of {date}

Imatinib 400mg OD
Levothyroxine 75 mcg before breakfast
Inj. pegfilgrastim 6 mg s.c. once

Signature: on file
"""
    return text, "prescription", {"medications": ["Imatinib 400 mg", "Levothyroxine 75 mcg", "pegfilgrastim 6 mg"], "date": iso, "institution": place}  # fmt: skip


def gp(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: gp."""
    date, iso = written_date(rng)
    text = f"""{date} - face to face consultation
Presenting complaint: sore throat for three days
History: no cough, fever to 38.6
Examination: tonsils enlarged with exudate
Impression: bacterial tonsillitis
Plan: phenoxymethylpenicillin 500 mg four times daily for 10 days; safety net given
Allergy: none
"""
    return text, "clinical-notes", {"date": iso, "chiefComplaint": "sore throat for three days", "diagnosis": "bacterial tonsillitis",
                                    "plan": "phenoxymethylpenicillin 500 mg four times daily for 10 days; safety net given", "allergies": "none",
                                    "medications": ["phenoxymethylpenicillin 500 mg"]}  # fmt: skip


def progress(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: progress."""
    date, iso = written_date(rng)
    place = rng.choice(PLACES)
    text = f"""PROGRESS NOTE
Date of service {date}
{place}

SUBJECTIVE
Feels better after cycle 3. Neuropathy grade 1.

OBJECTIVE
Weight 71 kg. Hemoglobin 10.9 g/dL, platelets 141 x10^9/L.

ASSESSMENT
1. Stage III colon cancer on adjuvant FOLFOX
2. Mild anemia

PLAN
Continue cycle 4 at full dose. CEA next visit.
"""
    return text, "clinical-notes", {"date": iso, "institution": place, "stage": "III", "labValues": {"hemoglobin": "10.9 g/dL", "platelets": "141 x10^9/L"},
                                    "plan": "Continue cycle 4 at full dose. CEA next visit.", "grade": None}  # fmt: skip


def discharge(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: discharge."""
    _date, iso = written_date(rng)
    admitted = f"{iso[:-2]}{int(iso[-2:]) - 6:02d}"
    place = rng.choice(PLACES)
    text = f"""{place}
SUMMARY OF HOSPITAL STAY

The patient was admitted on {admitted} and went home on {iso}.

DIAGNOSES AT DISCHARGE: Acute appendicitis, perforated
PROCEDURES: Laparoscopic appendectomy
COURSE: Uneventful recovery after surgery. Drain out on day 3.
MEDICATIONS: co-amoxiclav 625 mg every 8 hours for 5 days, ibuprofen 400 mg as needed
INSTRUCTIONS: No lifting for two weeks. Wound check on day 10.
"""
    return text, "discharge-summary", {"admissionDate": admitted, "dischargeDate": iso, "institution": place, "diagnosis": "Acute appendicitis, perforated",
                                       "procedure": "Laparoscopic appendectomy", "medications": ["co-amoxiclav 625 mg", "ibuprofen 400 mg"],
                                       "hospitalCourse": "Uneventful recovery after surgery. Drain out on day 3."}  # fmt: skip


def discharge_list(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: discharge list."""
    _date, iso = written_date(rng)
    admitted = f"{iso[:-2]}{int(iso[-2:]) - 3:02d}"
    text = f"""DISCHARGE SUMMARY
Admit date: {admitted}    Discharge date: {iso}
Principal diagnosis: Unstable angina
Secondary diagnoses: type 2 diabetes

Brief hospital course: Troponin stayed normal. A stent was placed in the LAD.

Discharge meds:
- Clopidogrel 75 mg PO daily
- Atorvastatin 80 mg PO nightly
- Metoprolol succinate 50 mg PO daily

Follow up: cardiology in 2 weeks
"""
    return text, "discharge-summary", {"admissionDate": admitted, "dischargeDate": iso, "diagnosis": "Unstable angina",
                                       "hospitalCourse": "Troponin stayed normal. A stent was placed in the LAD.",
                                       "medications": ["Clopidogrel 75 mg", "Atorvastatin 80 mg", "Metoprolol succinate 50 mg"],
                                       "followUp": "cardiology in 2 weeks"}  # fmt: skip


def op_list(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: op list."""
    date, iso = written_date(rng)
    place, loss = rng.choice(PLACES), rng.choice([30, 350])
    text = f"""{place} - OPERATION RECORD
Date of operation: {date}
Pre-operative diagnosis: gallstones
Post-operative diagnosis: chronic cholecystitis
Procedure performed: laparoscopic cholecystectomy
Type of anaesthesia: general endotracheal
Estimated blood loss: {loss} cc
Drains: none. Complications: small tear of the liver capsule, sealed
Specimens: gallbladder
"""
    return text, "surgical-notes", {"date": iso, "institution": place, "preoperativeDiagnosis": "gallstones", "postoperativeDiagnosis": "chronic cholecystitis",
                                    "procedure": "laparoscopic cholecystectomy", "anesthesia": "general endotracheal", "bloodLoss": loss,
                                    "complications": "small tear of the liver capsule, sealed", "specimen": "gallbladder"}  # fmt: skip


def op_story(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: op story."""
    date, iso = written_date(rng)
    text = f"""Surgical note, {date}

Through a midline incision the right colon was mobilised and removed with its mesentery. An ileocolic anastomosis was stapled. We lost roughly {rng.choice([150, 300])} ml of blood. The resection margins were clear macroscopically. No complications occurred during surgery.

Operation: right hemicolectomy
"""
    loss = 150 if "150 ml" in text else 300
    return text, "surgical-notes", {"date": iso, "procedure": "right hemicolectomy", "bloodLoss": loss, "margins": "negative"}  # fmt: skip


def unknown(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Made up: unknown."""
    text = f"Invoice {rng.randint(100, 999)}. Two office chairs and a desk lamp were delivered on the third floor. Payment is due within thirty days of receipt. Thank you for your custom and come again."
    return text, "unknown", {"histology": None, "medications": None}
