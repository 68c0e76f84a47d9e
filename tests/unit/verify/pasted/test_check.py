"""A pasted text against documents that came with it: verdicts, spans, quotations, identifiers."""

from datetime import UTC, datetime
from typing import Any

from tests.grid import grid
from workers.verify.pasted.against import speaks_against
from workers.verify.pasted.report import checked
from workers.verify.pasted.sources import sent_along
from workers.verify.pasted.statements import statements

SOURCE = {
    "title": "A trial of the drug in adults",
    "text": "Mean systolic pressure fell by 9 mm Hg with the drug and by 2 mm Hg with placebo. "
    "Cough was seen in 12% of patients given the drug. Stroke was not studied.",
    "identifiers": {"pmid": "11111111"},
}
OTHER = {
    "title": "A trial of something else",
    "text": "Mean diastolic pressure rose by 4 mm Hg in children who were given nothing at all.",
    "identifiers": {"pmid": "22222222"},
}


def check(text: str, *documents: dict[str, Any]) -> dict[str, Any]:
    found = statements(text)
    along = sent_along(documents or (SOURCE, OTHER), found)
    at = datetime(2026, 11, 22, tzinfo=UTC)
    return checked(text, found, along, against="documents", at=at)


def test_a_sentence_of_the_source_is_verified_with_its_exact_place() -> None:
    words = "Cough was seen in 12% of patients given the drug."
    (line,) = check(words)["statements"]
    assert (line["verdict"], line["basis"]) == ("supported", "words")
    place = line["citations"][0]
    assert SOURCE["text"][place["start"] : place["end"]] == place["quote"] == words


def test_a_changed_number_is_not_verified_and_the_finding_says_which() -> None:
    (line,) = check("Cough was seen in 21% of patients given the drug.")["statements"]
    assert line["verification_status"] == "unverified"
    assert line["findings"][0]["code"] == "number"
    assert "21%" in line["findings"][0]["detail"]


def test_a_statement_that_names_its_source_is_held_to_that_source() -> None:
    words = "Cough was seen in 12% of patients given the drug"
    result = check(f"{words} (PMID 22222222). {words} (PMID 11111111).")
    states = [one["verification_status"] for one in result["statements"]]
    assert states == ["unverified", "verified"]


def test_a_claim_that_no_source_speaks_to_is_unchecked_and_no_pass() -> None:
    (line,) = check("Bananas contain considerable amounts of potassium.")["statements"]
    assert (line["verdict"], line["verification_status"]) == ("unchecked", "unverified")
    assert line["citations"] == []


def test_quotations_get_their_verdict_and_their_place() -> None:
    text = "They say “Stroke was not studied” and “Cough was seen in 13% of patients given”."
    quoted = check(text)["statements"][0]["quotations"]
    assert [one["quote_verdict"] for one in quoted] == ["verbatim", "altered"]
    found = quoted[0]["found"]
    assert SOURCE["text"][found["start"] : found["end"]] == "Stroke was not studied"


def test_a_quotation_of_another_source_than_the_one_named_is_misattributed() -> None:
    text = "They write “Stroke was not studied” in a report (PMID 22222222)."
    (quoted,) = check(text)["statements"][0]["quotations"]
    assert (quoted["quote_verdict"], quoted["source"]) == ("misattributed", "D1")


def test_identifiers_are_held_unknown_or_malformed() -> None:
    text = "As reported (PMID 11111111; PMID 33333333) and registered as NCT0517416."
    states = {one["identifier"]: one["state"] for one in check(text)["identifiers"]}
    assert states == {
        "PMID 11111111": "held",
        "PMID 33333333": "not_among_the_documents",
        "NCT0517416": "malformed",
    }


@grid(
    ("kind", "written", "cited"),
    [
        ("pmid", "PMID: 12345678", "PMID 12345678"),
        ("pmid", " 12345678 ", "PMID: 12345678"),
        ("pmid", "https://pubmed.ncbi.nlm.nih.gov/12345678/", "PMID12345678"),
        ("pmcid", "1234567", "PMC1234567"),
        ("pmcid", "pmc 1234567", "PMC1234567"),
        ("doi", "https://doi.org/10.1000/Abc.1", "doi:10.1000/abc.1"),
        ("doi", "doi: 10.1000/ABC.1", "10.1000/abc.1"),
        ("nct_id", "nct 00000001", "NCT00000001"),
    ],
)
def test_an_identifier_of_a_document_may_be_written_in_any_form(
    kind: str, written: str, cited: str
) -> None:
    along = {**SOURCE, "identifiers": {kind: written}}
    result = check(f"Cough was seen in 12% of patients given the drug ({cited}).", along, OTHER)
    assert [one["state"] for one in result["identifiers"]] == ["held"]
    assert result["statements"][0]["verification_status"] == "verified"


def test_numbered_statements_with_identifiers_get_their_verdicts() -> None:
    words = "Cough was seen in {}% of patients given the drug (PMID: 11111111)."
    result = check(f"1. {words.format(12)}\n2. {words.format(99)}\n")
    states = [one["verification_status"] for one in result["statements"]]
    assert states == ["verified", "unverified"]


def test_a_word_is_never_verified_by_itself() -> None:
    result = check("Was stroke studied?\n\nNo.\n\n- Cough\n- Stroke was not studied.")
    asked, answered, word, sentence = result["statements"]
    assert (asked["not_judged"], asked["verdict"]) == ("question", None)
    for one in (answered, word):
        assert (one["verdict"], one["findings"][0]["code"]) == ("unchecked", "too_short")
    assert sentence["verification_status"] == "verified"


def test_a_table_without_stops_is_too_long_to_be_compared_unless_a_source_has_it() -> None:
    """The guards compare each part with each: 4,000 characters of numbers took half a minute."""
    table = f"Cough was seen in {'12 of 40 patients and ' * 100}none of the others."
    (judged,) = check(table)["statements"]
    assert (judged["verdict"], judged["findings"][0]["code"]) == ("unchecked", "too_long")
    assert not speaks_against({"too_long"})
    (judged,) = check(table, SOURCE | {"text": table})["statements"]
    assert (judged["verdict"], judged["basis"]) == ("supported", "words")


def test_what_is_not_judged_is_listed_with_its_reason_and_counted() -> None:
    result = check("# Safety\n\nIs it safe?\n\nStroke was not studied.\n\nSources: PMID 11111111\n")
    reasons = [one["not_judged"] for one in result["statements"]]
    assert reasons == ["heading", "question", None, "reference"]
    assert result["summary"]["not_judged"] == {"heading": 1, "question": 1, "reference": 1}


def test_the_summary_counts_and_holds_no_words() -> None:
    summary = check("Stroke was not studied. Bananas contain considerable potassium.")["summary"]
    assert (summary["claims"], summary["verified_count"], summary["unverified_count"]) == (2, 1, 1)
    assert not any(isinstance(value, str) for value in summary.values())


def test_every_statement_that_is_not_verified_says_why() -> None:
    (reworded,) = check("Nobody who was on the drug coughed.")["statements"]
    assert reworded["verification_status"] == "unverified"
    assert reworded["findings"]
    (strange,) = check("Bananas contain considerable amounts of potassium.")["statements"]
    assert [one["code"] for one in strange["findings"]] == ["no_passage"]
    assert (reworded["relation"], strange["relation"]) != ("supported", "supported")


def test_a_credit_of_authors_whom_no_source_names_is_told() -> None:
    words = "Cough was seen in 12% of patients given the drug (Smith et al., Lancet 2020)."
    (line,) = check(words)["statements"]
    assert line["verification_status"] == "unverified"
    assert "attribution" in {one["code"] for one in line["findings"]}
