"""Documents of more parts than are made: what is left is one part that a person looks at."""

from tests.unit.extract.made import MOST_PARTS
from workers.extract.documents import classify
from workers.extract.fields import Status
from workers.extract.loop.extraction import extract_text
from workers.extract.loop.steps import plan_of

_ENDS = ("ber", "der", "fer", "ger", "ker", "ler", "mer", "ner", "per", "ser", "ter", "ver")
NAMES = [f"Ann {a}{b}son" for a in ("Al", "Be", "Car", "Dor", "El") for b in _ENDS]


def pathology(number: int, name: str) -> str:
    return (
        f"SURGICAL PATHOLOGY REPORT\nPatient name: {name}\nDate of report: 2024-03-01\nDIAGNOSIS\n"
        f"Left breast: invasive ductal carcinoma, grade 2, tumor size {number}.5 cm.\n\n"
    )


def radiology(number: int) -> str:
    return (
        "RADIOLOGY REPORT\nDate of report: 2024-04-01\nCT chest with intravenous contrast.\n"
        f"FINDINGS\nA nodule of {number} mm in the left lung.\nIMPRESSION\nNodule {number}.\n\n"
    )


def test_documents_beyond_twenty_are_read_each_for_itself() -> None:
    pieces = [one for n in range(1, 14) for one in (pathology(n, "Ann Smith"), radiology(n))]
    found = extract_text("".join(pieces))
    assert len(found.parts) == len(pieces)
    last = found.parts[-1].outcome.best.attempt.fields["impression"].items[0].value
    assert last.key == ("words", "nodule 13")
    assert not found.needs_review


def test_every_patient_beyond_twenty_has_values_of_his_own() -> None:
    text = "".join(pathology(n, name) for n, name in enumerate(NAMES[:25], start=1))
    found = extract_text(text)
    assert found.patients == 25
    sizes = found.fields["tumor_size"]
    assert sizes.status is Status.AMBIGUOUS
    assert len(sizes.items) == 25


def test_what_is_left_beyond_the_most_parts_is_a_persons_to_look_at() -> None:
    pieces = [one for n in range(1, 31) for one in (pathology(n, "Ann Smith"), radiology(n))]
    found = extract_text("".join(pieces))
    assert len(found.parts) == MOST_PARTS
    assert [one.part.rest for one in found.parts] == [False] * (MOST_PARTS - 1) + [True]
    assert found.needs_review
    assert found.patients == 1
    assert found.as_body()["parts"][-1]["rest"]


def test_what_is_left_of_several_patients_is_of_none_of_those_before() -> None:
    text = "".join(pathology(n, name) for n, name in enumerate(NAMES, start=1))
    parts = classify(text).parts
    assert len(parts) == MOST_PARTS
    assert parts[-1].rest
    assert parts[-1].person not in {one.person for one in parts[:-1]}
    planned = plan_of(text, None, "batch", lambda _: None)
    assert [one.part for one in planned.parts] == list(parts)
