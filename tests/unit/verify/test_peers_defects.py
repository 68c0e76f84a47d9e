"""Defects found in the chat of the remediation plan (PEERS, section 1 a): ours has none."""

from datetime import UTC, datetime

import pytest

from clinical_text.quotes import Source, check
from workers.verify.pasted.report import checked
from workers.verify.pasted.sources import sent_along
from workers.verify.pasted.statements import statements

TEXT = (
    "Recurrence-free survival at three years was 91.7%   in the guided group and 92.4% with "
    "standard care. Adjuvant chemotherapy was given to 15% of guided patients."
)


def test_a_quotation_with_one_changed_number_is_not_the_old_one() -> None:
    found = check("Adjuvant chemotherapy was given to 16% of guided patients.", Source(TEXT))
    assert (found.verdict.value, found.accepted) == ("altered", False)


def test_the_first_fifty_characters_do_not_make_a_quotation() -> None:
    begun = TEXT[:50]
    found = check(f"{begun} in a group that nobody ever described anywhere.", Source(TEXT))
    assert not found.accepted


def test_a_quotation_at_the_very_beginning_keeps_its_place() -> None:
    found = check("Recurrence-free survival at three years", Source(TEXT))
    assert (found.start, found.end) == (0, 39)


def test_places_are_those_of_the_stored_text_and_not_of_a_collapsed_one() -> None:
    found = check("91.7% in the guided group and 92.4%", Source(TEXT))
    assert found.start is not None
    assert found.end is not None
    assert TEXT[found.start : found.end] == "91.7%   in the guided group and 92.4%"


def judge(text: str) -> list[str]:
    documents = [
        {"title": "A", "text": TEXT, "identifiers": {"pmid": "11111111"}},
        {"title": "B", "text": "Nobody said so.", "identifiers": {"pmid": "22222222"}},
    ]
    found = statements(text)
    along = sent_along(documents, found)
    at = datetime(2026, 11, 22, tzinfo=UTC)
    body = checked(text, found, along, against="documents", at=at)
    return [one["verification_status"] for one in body["statements"] if one["claims"]]


CITED = "Adjuvant chemotherapy was given to 15% of guided patients (PMID 11111111)."


@pytest.mark.parametrize("times", [1, 2, 3, 5])
def test_cited_sentences_in_a_row_are_all_seen_as_cited(times: int) -> None:
    assert judge(" ".join([CITED] * times)) == ["verified"] * times


def test_a_neighbours_citation_does_not_excuse_a_sentence() -> None:
    wrong = "Adjuvant chemotherapy was given to 15% of guided patients (PMID 22222222)."
    assert judge(f"{CITED} {wrong} {CITED}") == ["verified", "unverified", "verified"]
