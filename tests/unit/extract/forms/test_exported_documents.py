"""Documents as systems export them are read, their spans hold, and what is denied stays so."""

from typing import Any

import pytest

from workers.extract.fields import Status
from workers.extract.loop.extraction import Extraction, extract_text

ROWS = """ID|DAY|PLACE|N|PART|WORDS
88|20250301|Hill Street Clinic|1|REASON FOR VISIT|Pain in the foot
88|20250301|Hill Street Clinic|2|FAMILY HISTORY|Sister with breast carcinoma, stage II
88|20250301|Hill Street Clinic|3|MEDICATIONS|Allopurinol 100 mg daily
88|20250301|Hill Street Clinic|3|MEDICATIONS|Colchicine 0.5 mg twice daily
88|20250301|Hill Street Clinic|4|STOPPED|Indometacin 50 mg
88|20250301|Hill Street Clinic|5|ASSESSMENT|Gout of the left foot
88|20250301|Hill Street Clinic|6|PLAN|Review in a month, bloods before
"""
ORDERS = """site = "Hill Street Clinic"
diagnosis = "Gout"
[order.1]
{first}
{second}
[order.2]
product = "Allopurinol 100 mg tablets"
state = "active"
"""


def read(text: str, kind: str) -> Extraction:
    return extract_text(text, document_type=kind)


def words(found: Extraction, field: str) -> Any:
    items = found.fields[field].items
    return items[0].value.model_dump().get("text") if items else None


def drugs(found: Extraction) -> set[str]:
    return {one.value.model_dump()["name"] for one in found.fields["medications"].items}


def test_rows_of_sections_are_read_and_their_spans_are_the_documents_own_words() -> None:
    found = read(ROWS, "clinical-notes")
    assert words(found, "diagnosis") == "Gout of the left foot"
    assert words(found, "institution") == "Hill Street Clinic"
    assert found.fields["date"].items[0].value.model_dump()["iso"] == "2025-03-01"
    assert drugs(found) == {"Allopurinol", "Colchicine"}, "what was stopped is not taken"
    assert found.fields["stage"].status is Status.NOT_PRESENT, "a sister's stage is nobody's here"
    item = found.fields["plan"].items[0]
    assert ROWS[item.start : item.end] == "Review in a month, bloods before"


def test_a_record_that_says_it_ended_gives_no_drug_wherever_it_says_so() -> None:
    drug = 'product = "Indometacin 50 mg capsules"'
    for said in ("stopped", "CANCELLED", "entered-in-error", "on-hold", "DC"):
        for first, second in ((drug, f'state = "{said}"'), (f'state = "{said}"', drug)):
            text = ORDERS.format(first=first, second=second)
            assert drugs(read(text, "prescription")) == {"Allopurinol"}, text
    text = ORDERS.format(first=drug, second='state = "new"')
    assert drugs(read(text, "prescription")) == {"Allopurinol", "Indometacin"}


DENIED = {
    "a list of settings": "clinic: Hill\norders:\n  - drug: Aspirin 75 mg\n    status: active\n"
    "  - drug: Tramadol 50 mg\n    status: completed\n",
    "rows": "site,date,drug,dose,state\nHill,2025-03-01,Aspirin,75 mg,Active\n"
    "Hill,2025-03-01,Tramadol,50 mg,Inactive\n",
    "objects": '{"clinic":"Hill","date":"2025-03-01","drugs":[{"drug":"Aspirin","dose":"75 mg",'
    '"active":true},{"drug":"Tramadol","dose":"50 mg","active":false}]}',
    "elements": "<rx><clinic>Hill</clinic><current>Aspirin 75 mg daily</current>"
    "<discontinued>Tramadol 50 mg daily</discontinued></rx>",
    "a group of its own": 'site = "Hill"\ndate = 2025-03-01\n[current]\ndrugs = "Aspirin 75 mg"\n'
    '[stopped]\ndrugs = "Tramadol 50 mg"\n',
    "one line": "SITE=Hill|DATE=2025-03-01|RX=Aspirin 75 mg daily|STOPPED=Tramadol 50 mg|PLAN=rest",
    "segments": "MSH|^~\\&|A\nPID|1||7\nOBX|1|TX|M^Medications||Aspirin 75 mg||||||F\n"
    "OBX|2|TX|S^Stopped medications||Tramadol 50 mg||||||F\n",
    "speech": "note of hill clinic period new paragraph\nmedications colon aspirin 75 mg daily new "
    "line\nstopped colon tramadol 50 mg comma dizziness period end of dictation\n",
    "paths": "Org.name: Hill\nMed[0].text: Aspirin 75 mg\nMed[0].status: active\n"
    "Med[1].text: Tramadol 50 mg\nMed[1].status: cancelled\n",
}


@pytest.mark.parametrize("layout", DENIED)
def test_of_two_drugs_the_one_that_ended_is_not_taken_and_the_other_is(layout: str) -> None:
    found = read(DENIED[layout], "prescription")
    assert {one.lower() for one in drugs(found)} == {"aspirin"}


def test_genes_below_a_label_that_denies_them_have_not_changed() -> None:
    for label in ("NotDetected", "negative", "wildType", "genes_without_alteration"):
        text = (
            "<report><lab>Hill Genomics</lab><specimen>Blood</specimen>\n"
            '<variant gene="EGFR" protein="p.L858R" vaf="4.1"/>\n'
            f"<{label}>KRAS p.G12D, BRAF V600E, ALK fusion</{label}></report>\n"
        )
        items = read(text, "genomics").fields["mutations"].items
        assert [one.value.model_dump()["protein"] for one in items] == ["L858R"], label
        assert items[0].value.model_dump()["vaf"] == 4.1


def test_days_of_eight_digits_are_read_behind_labels_and_numbers_of_files_are_none() -> None:
    text = "Case 20230111\nReport date: 20250301\nSpecimen: skin of the arm, block 20240202-7\n"
    text += "Diagnosis: compound naevus, completely excised, no atypia seen\n"
    items = read(text, "pathology").fields["date"].items
    assert [one.value.model_dump()["iso"] for one in items] == ["2025-03-01"]


def test_a_spoken_report_is_read_by_its_first_words() -> None:
    text = (
        "operative report hill street surgery center period date of surgery 9/5/2024 new line\n"
        "preoperative diagnosis inguinal hernia comma right new line\n"
        "complications none new line\nfindings an indirect sac new paragraph\n"
        "plan period home today comma clinic in two weeks period end of dictation\n"
    )
    found = read(text, "surgical-notes")
    assert words(found, "findings") == "an indirect sac"
    assert words(found, "complications") == "none"
    assert "right" in words(found, "preoperative_diagnosis")


def test_a_value_is_named_by_the_head_of_its_column() -> None:
    text = (
        "site,op_date,preop_dx,procedure,anesthesia,specimen\n"
        "Hill Day Surgery,2025-05-13,Cholelithiasis,Laparoscopic cholecystectomy,General,None\n"
    )
    found = read(text, "surgical-notes")
    assert words(found, "procedure") == "Laparoscopic cholecystectomy"
    assert words(found, "preoperative_diagnosis") == "Cholelithiasis"
