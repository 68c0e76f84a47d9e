"""Rules and the learned reader read a document, and one value comes of both."""

from collections.abc import Mapping

import pytest

from workers.encoder.tagging import Part
from workers.extract import two_readers
from workers.extract.fields import FieldResult, Status
from workers.extract.parts import Parts
from workers.extract.rubrics import policy
from workers.extract.rules.choosing import extract_field
from workers.extract.two_readers import state_of

TEXT = "Report date: 4 May 2024. Seen on 9 May 2024 at Elm House.\nAllergies: latex\nBees, too.\n"
SURE = policy().two_readers


class Told:
    """A reader that says what a test wants: how sure it is of words, by field."""

    def __init__(self, shares: Mapping[str, Mapping[str, float]]) -> None:
        self.shares = shares

    def parts(self, field: str) -> list[Part]:
        found = (
            Part(TEXT.index(words), TEXT.index(words) + len(words), share)
            for words, share in self.shares.get(field, {}).items()
        )
        return sorted(found, key=lambda one: -one.share)

    def share(self, field: str, start: int, end: int) -> float | None:
        return self.shares.get(field, {}).get(TEXT[start:end], 0.0)


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
    assert read(monkeypatch, "institution", {"Elm House": SURE.fill_from})[1] == "Elm House"
    unsure = read(monkeypatch, "institution", {"Elm House": SURE.fill_from - 0.01})[0]
    assert unsure.status is Status.NOT_PRESENT


def test_words_that_are_no_value_of_the_kind_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(monkeypatch, "stage", {"Elm House": 1.0})[0].status is Status.NOT_PRESENT


def test_of_two_values_the_rules_stand_unless_the_reader_takes_theirs_for_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert read(monkeypatch, "date", {"9 May 2024": 0.9})[1] == "9 May 2024"
    both = {"9 May 2024": 0.9, "4 May 2024": SURE.instead_below}
    assert read(monkeypatch, "date", both)[1] == "4 May 2024"
    assert read(monkeypatch, "date", {"9 May 2024": SURE.instead_from - 0.01})[1] == "4 May 2024"


def test_what_a_document_states_in_two_ways_stays_ambiguous(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "FINAL DIAGNOSIS\nAdenocarcinoma, grade 2.\nComment: the tumor is grade 3.\n"
    parts = Parts(text)
    assert extract_field("grade", parts).status is Status.AMBIGUOUS
    monkeypatch.setattr(two_readers, "read", lambda _, __: Told({"grade": {"4 May 2024": 1.0}}))
    assert state_of("grade", parts, "pathology") == extract_field("grade", parts)


def test_a_list_is_the_rules_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = read(monkeypatch, "medications", {"Bees": 1.0})
    assert found == extract_field("medications", Parts(TEXT))


def test_it_is_read_once_a_type(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = Parts(TEXT)
    assert two_readers.read(parts, "radiology") is two_readers.read(parts, "radiology")
    assert two_readers.read(parts, "pathology") is not two_readers.read(parts, "radiology")
