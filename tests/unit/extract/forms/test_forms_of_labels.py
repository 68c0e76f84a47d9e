"""Labels by the form of a document: its own marks, notations of programs, what is set in."""

from typing import Any

import pytest

from clinical_text.layouts.logs import plain_frames, plain_logs
from clinical_text.layouts.markup import plain_markup
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field

FIELDS = [
    ("Procedure", "Laparoscopic appendicectomy"),
    ("Anaesthesia", "General"),
    ("Complications", "None"),
    ("Blood loss", "20 ml"),
    ("Instruments", "Standard set"),
    ("Findings", "Inflamed appendix, no pus"),
]


def value(field: str, text: str) -> Any:
    items = extract_field(field, Parts(text)).items
    return items[0].value.model_dump().get("text") if items else None


@pytest.mark.parametrize("mark", [" = ", "=", " - ", " >> ", " -> ", "   ", "\t", ": ", " :: "])
def test_a_mark_that_the_document_sets_between_names_and_values_makes_labels(mark: str) -> None:
    text = "\n".join(f"{name}{mark}{said}" for name, said in FIELDS)
    assert value("procedure", text) == "Laparoscopic appendicectomy"
    assert value("anesthesia", text) == "General"
    assert value("findings", text) == "Inflamed appendix, no pus"


def test_a_list_of_drugs_with_dashes_has_no_labels() -> None:
    text = "Current medication\nLisinopril - 20 mg daily\nApixaban - 5 mg bd\nMetformin - 1 g bd\n"
    assert [one.title for one in Parts(text).sections] == ["current medication"]


def test_keys_of_json_are_labels() -> None:
    text = (
        '{"clinic": "Hill Street Clinic", "diagnosis": "Gout, left foot",\n'
        ' "items": [{"drug": "Allopurinol", "dose": "100 mg", "frequency": "once daily"}]}'
    )
    assert len(plain_markup(text)) == len(text)
    assert value("diagnosis", text) == "Gout, left foot"
    found = extract_text(text, document_type="prescription").fields["medications"].items
    drug = found[0].value.model_dump()
    assert (drug["name"], drug["dose"], drug["frequency"]) == ("Allopurinol", 100.0, "once daily")


def test_elements_of_xml_are_labels_and_other_text_stays() -> None:
    text = "<A>\n<Diagnosis>Tinea pedis</Diagnosis>\n<Plan>Cream</Plan>\n<Day>3 May</Day>\n</A>"
    assert len(plain_markup(text)) == len(text)
    assert value("diagnosis", text) == "Tinea pedis"
    for plain in ("CRP <5, Hb >10", 'He said "well": and left', "a [b] {c}"):
        assert plain_markup(plain) == plain


def test_a_line_over_what_is_set_in_below_it_is_a_heading() -> None:
    text = "Narrative: Treated for wheeze.\nTake home medicines\n   Salbutamol 100 mcg as needed\n"
    assert value("hospital_course", text) == "Treated for wheeze."


def test_a_value_ends_at_the_next_column() -> None:
    text = "Diagnosis: Pancreatic carcinoma      Height 172 cm  Weight 70 kg\nPlan: scan\n"
    assert value("diagnosis", text) == "Pancreatic carcinoma"


def test_a_row_of_a_form_ends_a_section_and_a_part_of_the_body_does_not() -> None:
    rows = "Operation: hip screw\nFindings: displaced fracture\nSteps: lateral approach, closed\n"
    assert value("findings", rows) == "displaced fracture"
    parts = "Examination: CT chest\nFindings: no embolus\nLiver: normal\nImpression: normal\n"
    assert value("findings", parts) == "no embolus\nLiver: normal"


def test_pairs_of_a_log_are_labels_and_its_hours_say_nothing() -> None:
    text = (
        '2025-02-03 10:12:44 ORDER facility="Hill Clinic" prescriber="N. Frost"\n'
        '2025-02-03 10:12:51 DRUG  name="apixaban" strength="5 mg"\n'
        '2025-02-03 10:13:07 DRUG  name="metoprolol" strength="25 mg"\n'
    )
    plain = plain_logs(text)
    assert len(plain) == len(text)
    assert "facility: Hill Clinic  prescriber: N. Frost" in plain
    assert "10:12" not in plain
    assert plain.startswith("2025-02-03")


def test_hours_of_few_lines_stay() -> None:
    text = "Clinic\n09:30 Appointment with Dr Low\nThe patient is well.\nNo change.\nHome.\nBye.\n"
    assert plain_logs(text) == text


def test_the_frame_of_a_table_is_no_word_of_it() -> None:
    text = "┌──────┬─────────┐\n│ Site │ Stomach │\n└──────┴─────────┘\n"
    plain = plain_frames(text)
    assert len(plain) == len(text)
    assert plain.split() == ["|", "Site", "|", "Stomach", "|"]
