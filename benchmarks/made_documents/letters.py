"""The makers of `reports` for laboratories, prescriptions, notes and operations."""

# ruff: noqa: E501 - the lines of a made-up document are as long as it needs

import random
from typing import Any

from benchmarks.made_documents.writing import PLACES, Report, written_date


def prescription(rng: random.Random, number: int) -> Report:
    """A made-up prescription."""
    date, iso = written_date(rng)
    place = rng.choice(PLACES)
    drugs = rng.sample([("Letrozole", "2.5", "once daily"), ("Metformin", "500", "twice daily"),
                        ("Ondansetron", "8", "every 8 hours"), ("Capecitabine", "1500", "BID"),
                        ("Atorvastatin", "40", "at bedtime")], 2)  # fmt: skip
    lines = [
        "\n".join(f"{i}. {n} {d} mg tablet PO {f} x 30 days" for i, (n, d, f) in enumerate(drugs, 1)),
        "\n".join(f"Rx: Tab. {n} {d} mg, {f}\nDispense: 30 tablets. Refills: 2" for n, d, f in drugs),
    ][number % 2]  # fmt: skip
    text = f"""PRESCRIPTION
{place}
Date: {date}
Allergies: penicillin

{lines}

Sig: take with water. Prescriber on file.
"""
    fields = {
        "medications": [{"name": n, "dose": f"{d} mg", "frequency": f} for n, d, f in drugs],
        "date": iso,
        "institution": place,
        "allergies": "penicillin",
    }
    return Report(f"prescription_{number}", text, "prescription", fields)


def note(rng: random.Random, number: int) -> Report:
    """A made-up note."""
    date, iso = written_date(rng)
    place = rng.choice(PLACES)
    diagnosis = rng.choice(["Stage IIIA adenocarcinoma of the lung", "Metastatic colon cancer",
                            "Early breast cancer after lumpectomy"])  # fmt: skip
    plan = rng.choice(["Start adjuvant chemotherapy next week. CT in three months.",
                       "Continue letrozole. Review in clinic in six months."])  # fmt: skip
    text = [
        f"""ONCOLOGY CLINIC NOTE
{place}
Date of visit: {date}
Chief complaint: fatigue
History of present illness: The patient reports fatigue for two weeks. Denies fever.
Medications: Letrozole 2.5 mg daily
Physical examination: unremarkable.
Assessment: {diagnosis}
Plan: {plan}
""",
        f"""Progress note, {place}
Date: {date}
Reason for visit: fatigue
Subjective: tired, no pain. Takes letrozole 2.5 mg daily.
Objective: vital signs stable. Hemoglobin 11.2 g/dL.
Diagnosis: {diagnosis}
Treatment plan: {plan}
""",
    ][number % 2]
    fields = {"diagnosis": diagnosis, "plan": plan, "chiefComplaint": "fatigue",
              "medications": ["Letrozole 2.5 mg daily"], "date": iso, "institution": place}  # fmt: skip
    return Report(f"note_{number}", text, "clinical-notes", fields)


def discharge(rng: random.Random, number: int) -> Report:
    """A made-up discharge."""
    place = rng.choice(PLACES)
    day = rng.randint(13, 20)
    later = day + rng.randint(2, 7)
    course = "The patient underwent right hemicolectomy and recovered without events."
    text = f"""DISCHARGE SUMMARY
{place}
Date of admission: 2024-03-{day}
Date of discharge: 2024-03-{later}
{["Discharge diagnosis", "Principal diagnosis", "Final diagnosis"][number % 3]}: Adenocarcinoma of the ascending colon
Hospital course: {course}
Discharge medications:
1. Enoxaparin 40 mg SC once daily
2. Paracetamol 1000 mg PO every 6 hours
Follow-up: surgical clinic in two weeks
"""
    fields = {
        "diagnosis": "Adenocarcinoma of the ascending colon",
        "admissionDate": f"2024-03-{day}",
        "dischargeDate": f"2024-03-{later}",
        "hospitalCourse": course,
        "medications": [{"name": "Enoxaparin", "dose": 40, "unit": "mg"},
                        {"name": "Paracetamol", "dose": 1000, "unit": "mg"}],
        "followUp": "surgical clinic in two weeks",
        "institution": place,
    }  # fmt: skip
    return Report(f"discharge_{number}", text, "discharge-summary", fields)


def surgery(rng: random.Random, number: int) -> Report:
    """A made-up surgery."""
    date, iso = written_date(rng)
    place = rng.choice(PLACES)
    blood = rng.choice([50, 150, 400])
    procedure = rng.choice(["Left modified radical mastectomy", "Laparoscopic right hemicolectomy",
                            "Video-assisted left lower lobectomy"])  # fmt: skip
    margin, written = rng.choice([
        ("negative", "Frozen section margins were negative."),
        ("positive", "Frozen section showed tumor at the bronchial margin, which was positive."),
        ("negative 5 mm", "Frozen section: margins clear by 5 mm."),
    ])  # fmt: skip
    text = f"""{["OPERATIVE REPORT", "Operation note"][number % 2]}
{place}
Date of surgery: {date}
Preoperative diagnosis: Malignant tumor
Postoperative diagnosis: Same
{["Procedure performed", "Operation"][number % 2]}: {procedure}
Anesthesia: General endotracheal
Estimated blood loss: {blood} mL
Complications: None apparent
Description of procedure: After induction the field was prepped and draped. The specimen was removed. {written} Hemostasis was secured and the wound closed in layers.
"""
    fields = {
        "procedure": procedure,
        "margins": margin,
        "bloodLoss": blood,
        "anesthesia": "General endotracheal",
        "complications": "None apparent",
        "preoperativeDiagnosis": "Malignant tumor",
        "date": iso,
        "institution": place,
    }
    return Report(f"surgery_{number}", text, "surgical-notes", fields)


def labs(rng: random.Random, number: int) -> Report:
    """Made-up laboratory results."""
    date, iso = written_date(rng)
    place = rng.choice(PLACES)
    hb, wbc, plt = rng.choice([9.8, 13.1]), rng.choice([4.2, 11.9]), rng.choice([88, 245])
    cr, na, alt = rng.choice([0.9, 1.7]), rng.choice([128, 139]), rng.choice([22, 86])
    styles = [
        f"""LABORATORY REPORT
{place}
Reported: {date}
Test            Result   Unit      Reference range   Flag
Hemoglobin      {hb}     g/dL      12.0-16.0         {"L" if hb < 12 else ""}
WBC             {wbc}    x10^9/L   4.0-11.0          {"H" if wbc > 11 else ""}
Platelets       {plt}    x10^9/L   150-400           {"L" if plt < 150 else ""}
Creatinine      {cr}     mg/dL     0.6-1.2           {"H" if cr > 1.2 else ""}
Sodium          {na}     mmol/L    135-145           {"L" if na < 135 else ""}
ALT             {alt}    U/L       7-55              {"H" if alt > 55 else ""}
""",
        f"""Clinical chemistry report
Laboratory: {place}
Date: {date}
Hemoglobin: {hb} g/dL (ref 12.0 - 16.0)
WBC: {wbc} x10^9/L (4.0 - 11.0)
Platelet count: {plt} x10^9/L (150 - 400)
Serum creatinine: {cr} mg/dL (0.6 - 1.2)
Na: {na} mmol/L (135 - 145)
ALT (SGPT): {alt} U/L (7 - 55)
""",
        f"""Laboratory results of {date}
{place}
| Hemoglobin | {hb} | g/dL | 12.0-16.0 |
| White blood cell count | {wbc} | x10^9/L | 4.0-11.0 |
| Platelets | {plt} | x10^9/L | 150-400 |
| Creatinine | {cr} | mg/dL | 0.6-1.2 |
| Sodium | {na} | mmol/L | 135-145 |
| ALT | {alt} | U/L | 7-55 |
""",
    ]
    fields: dict[str, Any] = {
        "labValues": {"Hemoglobin": f"{hb} g/dL", "WBC": f"{wbc} x10^9/L",
                      "Platelets": f"{plt} x10^9/L", "Creatinine": f"{cr} mg/dL",
                      "Sodium": f"{na} mmol/L", "ALT": f"{alt} U/L"},
        "date": iso,
        "institution": place,
    }  # fmt: skip
    return Report(f"labs_{number}", styles[number % 3], "lab-report", fields)
