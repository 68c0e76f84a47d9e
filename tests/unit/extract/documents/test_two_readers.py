"""Rules and the learned reader read a document, and one value comes of both."""

from collections.abc import Mapping, Sequence

import pytest

from workers.encoder.tagging import Part
from workers.extract import two_readers
from workers.extract.fields import FieldResult, Status
from workers.extract.parts import Parts
from workers.extract.rubrics import policy
from workers.extract.rules.choosing import extract_field
from workers.extract.two_readers import state_of
from workers.extract.values import Amount, Day, Medication, Value, Words

TEXT = (
    "Report date: 4 May 2024. Seen on 9 May 2024 at Elm House.\nZyvoral.\nAllergies: latex\n"
    "Bees, too.\n"
)
WORDS, TYPED = policy().two_readers.words, policy().two_readers.typed
DRUGS = policy().two_readers.lists["medications"]


class Told:
    """A reader that says what a test wants: how sure it is of words, by field."""

    def __init__(
        self, shares: Mapping[str, Mapping[str, float]], every: Sequence[Part] = ()
    ) -> None:
        self.shares, self.every = shares, every

    def parts(self, field: str) -> list[Part]:
        found = self.every or (
            Part(TEXT.index(words), TEXT.index(words) + len(words), share)
            for words, share in self.shares.get(field, {}).items()
        )
        return sorted(found, key=lambda one: -one.share)

    def share(self, field: str, start: int, end: int) -> float | None:
        return self.shares.get(field, {}).get(TEXT[start:end], 0.0)

    def entries(self, field: str) -> list[Part]:
        return sorted(self.parts(field), key=lambda one: one.start)


def read(
    monkeypatch: pytest.MonkeyPatch, field: str, shares: Mapping[str, float]
) -> tuple[FieldResult, str]:
    """The field, and its words."""
    monkeypatch.setattr(two_readers, "read", lambda _, __: Told({field: shares}))
    monkeypatch.setattr(two_readers, "_reads", lambda *_: True)
    found = state_of(field, Parts(TEXT), "clinical-notes")
    return found, " ".join(TEXT[one.start : one.end] for one in found.items)


def test_words_that_the_reader_is_sure_of_are_a_value_where_rules_have_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert read(monkeypatch, "institution", {"Elm House": WORDS.fill_from})[1] == "Elm House"
    unsure = read(monkeypatch, "institution", {"Elm House": WORDS.fill_from - 0.01})[0]
    assert unsure.status is Status.NOT_PRESENT


def edges(monkeypatch: pytest.MonkeyPatch, field: str, text: str, words: str) -> str:
    """The words of a field of which the reader is sure that they are these, beside the rules."""
    start = text.index(words)
    told = Told({}, [Part(start, start + len(words), 1.0)])
    monkeypatch.setattr(two_readers, "read", lambda _, __: told)
    (item,) = state_of(field, Parts(text), "clinical-notes").items
    return text[item.start : item.end]


def test_the_reader_says_where_a_text_begins_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Clinic\nDiagnosis: ureteric colic. Had diclofenac, settled.\n"
    assert edges(monkeypatch, "diagnosis", text, "ureteric colic") == "ureteric colic"


def test_marks_around_words_are_none_of_them() -> None:
    text = "Seen: , ureter seen, and more.\n"
    told = Told({}, [Part(text.index(","), text.index(" and"), 0.9)])
    item, _ = two_readers.surest("findings", Parts(text), told)  # type: ignore[arg-type]
    assert item is not None
    assert text[item.start : item.end] == "ureter seen"


def test_words_that_are_no_value_of_the_kind_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(monkeypatch, "stage", {"Elm House": 1.0})[0].status is Status.NOT_PRESENT


def test_of_two_values_that_of_the_reader_stands_where_it_is_sure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = {"9 May 2024": TYPED.lead_from, "4 May 2024": TYPED.dropped_below}
    assert read(monkeypatch, "date", both)[1] == "9 May 2024"
    both |= {"9 May 2024": TYPED.lead_from - 0.01}
    assert read(monkeypatch, "date", both)[1] == "4 May 2024"


def test_what_the_reader_does_not_take_for_the_field_at_all_is_no_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert read(monkeypatch, "date", {"4 May 2024": 0.0})[0].status is Status.NOT_PRESENT
    assert read(monkeypatch, "date", {"9 May 2024": TYPED.fill_from})[1] == "9 May 2024"


@pytest.mark.parametrize(
    ("field", "scanned"),
    [("tnm", "pTla"), ("grade", "F1GO grade l"), ("date", "l7 0ctober 2O24"),
     ("assessment_category", "Bl-RADS 5")],
)  # fmt: skip
def test_a_value_that_a_scan_damaged_is_read(field: str, scanned: str) -> None:
    parts = Parts(f"Some words before.\n{scanned}\nSome words behind.\n")
    start = parts.printed.index(scanned)
    told = Told({}, [Part(start, start + len(scanned), 0.9)])
    item, share = two_readers.surest(field, parts, told)  # type: ignore[arg-type]
    assert item is not None
    assert share == 0.9


def test_what_a_document_states_in_two_ways_stays_ambiguous(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "FINAL DIAGNOSIS\nAdenocarcinoma, grade 2.\nComment: the tumor is grade 3.\n"
    parts = Parts(text)
    assert extract_field("grade", parts).status is Status.AMBIGUOUS
    monkeypatch.setattr(two_readers, "read", lambda _, __: Told({"grade": {"4 May 2024": 1.0}}))
    assert state_of("grade", parts, "pathology") == extract_field("grade", parts)


def test_an_entry_that_the_rules_do_not_know_is_read_where_the_reader_is_sure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, _ = read(monkeypatch, "medications", {"Zyvoral": DRUGS.added_from})
    assert [one.value for one in found.items] == [Medication(name="Zyvoral")]
    unsure, _ = read(monkeypatch, "medications", {"Zyvoral": DRUGS.added_from - 0.01})
    assert unsure.status is Status.NOT_PRESENT


def test_an_entry_that_the_reader_does_not_take_for_one_of_now_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = Parts("Medications:\n- metformin 500 mg bd\n- ramipril 5 mg od\n")
    by_rules = extract_field("medications", parts)
    kept, _ = by_rules.items
    told = Told({"medications": {}})
    told.share = lambda _, start, __: 0.9 if start == kept.start else 0.0  # type: ignore[method-assign]
    monkeypatch.setattr(two_readers, "read", lambda _, __: told)
    monkeypatch.setattr(two_readers, "_reads", lambda *_: True)
    assert state_of("medications", parts, "clinical-notes").items == (kept,)


def test_of_a_list_without_limits_the_rules_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = policy().two_readers.model_copy(update={"lists": {}})
    without = policy().model_copy(update={"two_readers": limits})
    monkeypatch.setattr(two_readers, "policy", lambda: without)
    found, _ = read(monkeypatch, "medications", {"Zyvoral": 1.0})
    assert found == extract_field("medications", Parts(TEXT))


@pytest.mark.parametrize("taken", [True, False])
def test_a_reader_that_takes_nothing_else_of_a_document_drops_nothing(
    monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    parts = Parts(TEXT)
    allergies = extract_field("allergies", parts).items[0]
    told = Told({})
    told.share = lambda field, start, _: (  # type: ignore[method-assign]
        float(taken and field == "allergies" and start == allergies.start)
    )
    monkeypatch.setattr(two_readers, "read", lambda _, __: told)
    found = state_of("date", parts, "clinical-notes")
    assert found.status is (Status.NOT_PRESENT if taken else Status.FOUND)


@pytest.mark.parametrize("text", ["She had AKI grade 2 after surgery.\n", "Fatigue grade 2.\n"])
def test_a_grade_of_something_else_is_none_of_the_tumor(text: str) -> None:
    start = text.index("grade 2")
    told = Told({}, [Part(start, start + 7, 1.0)])
    item, _ = two_readers.surest("grade", Parts(text), told)  # type: ignore[arg-type]
    assert item is None


def test_a_day_has_the_order_of_the_document_s_others(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Admitted 03/04/2024\nDischarged 03/25/2024\n"
    parts = Parts(text)
    start = text.index("03/04/2024")
    told = Told({}, [Part(start, start + 10, 1.0)])
    item, _ = two_readers.surest("admission_date", parts, told)  # type: ignore[arg-type]
    assert item is not None
    assert item.value == Day(iso="2024-03-04")


def test_a_day_of_a_stay_without_its_year_is_the_last_before_the_document() -> None:
    text = "Cedar Hospital\nDischarge summary, 12 March 2024\nAdmitted on 2nd of March.\n"
    parts = Parts(text)
    start = text.index("2nd of March")
    told = Told({}, [Part(start, start + len("2nd of March"), 1.0)])
    item, _ = two_readers.surest("admission_date", parts, told)  # type: ignore[arg-type]
    assert item is not None
    assert item.value == Day(iso="2024-03-02")


@pytest.mark.parametrize(
    ("words", "told"),
    [("minimal", Words(text="minimal")), ("thirty mL", Amount(number=30.0, unit="mL"))],
)  # fmt: skip
def test_a_loss_of_blood_is_read_as_it_is_told(words: str, told: Value | None) -> None:
    assert two_readers.value_in("blood_loss", words) == told


def test_it_is_read_once_a_type(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = Parts(TEXT)
    assert two_readers.read(parts, "radiology") is two_readers.read(parts, "radiology")
    assert two_readers.read(parts, "pathology") is not two_readers.read(parts, "radiology")
