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
from workers.extract.values import Medication

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


@pytest.mark.parametrize("words", ["cohesive", "cohesive carcinoma", "poorly cohesive"])
def test_a_phrase_is_not_cut(monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    text = "Clinic\nDiagnosis: poorly cohesive carcinoma\nAllergies: latex\n"
    assert edges(monkeypatch, "diagnosis", text, words) == "poorly cohesive carcinoma"


def test_the_last_word_of_a_phrase_that_rules_do_not_read_is_not_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "Seen for gout.\nIt is acute gouty arthritis. Ice and rest.\n"
    assert edges(monkeypatch, "impression", text, "acute gouty") == "acute gouty arthritis"


def test_words_that_run_over_a_heading_are_those_under_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Clinic\nDiagnosis: gout\n\nImpression\nNo recurrence.\n"
    long = text[text.index("gout") : text.index(".\n") + 1]
    assert edges(monkeypatch, "impression", text, long) == "No recurrence."


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
    assert state_of("medications", parts, "clinical-notes").items == (kept,)


@pytest.mark.parametrize("field", ["ihc_markers", "mutations"])
def test_of_a_list_without_limits_the_rules_stand(
    monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    assert field not in policy().two_readers.lists
    found, _ = read(monkeypatch, field, {"Bees": 1.0})
    assert found == extract_field(field, Parts(TEXT))


def test_it_is_read_once_a_type(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = Parts(TEXT)
    assert two_readers.read(parts, "radiology") is two_readers.read(parts, "radiology")
    assert two_readers.read(parts, "pathology") is not two_readers.read(parts, "radiology")
