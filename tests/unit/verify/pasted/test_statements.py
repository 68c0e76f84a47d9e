"""What a pasted text states: its sentences, quotations, identifiers and references."""

from hypothesis import given
from hypothesis import strategies as st

from workers.verify.pasted.identifiers import is_malformed, kind_and_value
from workers.verify.pasted.statements import plain, statements

ANSWER = """## Findings

The drug lowered blood pressure in adults [1, 2]. It was “well tolerated by most” (PMID 35657320).
Does it prevent stroke? In CIRCULATE-US (NCT05174169) patients are still followed [3-4].

References
[1] First A. A trial of the drug.
    J Med 2020. PMID: 11111111
[2] Second B. Another one. doi:10.1000/Abc.1
4. Fourth D. Registered as NCT00000001.
"""


def test_every_statement_is_its_place_in_the_text() -> None:
    for one in statements(ANSWER):
        written = " ".join(ANSWER[one.start : one.end].split())
        assert one.words == written or "[" in written


def test_headings_questions_and_references_claim_nothing() -> None:
    claims = [one.words for one in statements(ANSWER) if one.claims]
    assert [one.split(" ")[0] for one in claims] == ["The", "It", "In"]


def test_a_statement_cites_its_own_identifiers_and_those_of_its_markers() -> None:
    by_words = {one.words.split(" ")[0]: one for one in statements(ANSWER) if one.claims}
    assert by_words["The"].cited == ("PMID 11111111", "DOI 10.1000/abc.1")
    assert by_words["It"].cited == ("PMID 35657320",)
    assert by_words["In"].cited == ("NCT05174169", "NCT00000001")


def test_quotations_are_found_inside_their_marks() -> None:
    (quoted,) = [place.of(ANSWER) for one in statements(ANSWER) for place in one.quotations]
    assert quoted == "well tolerated by most"


def test_a_statement_is_judged_without_its_citations() -> None:
    assert plain("It works (PMID: 12, doi:10.1000/x).") == "It works."
    assert plain("It works [NCT05174169] in adults.") == "It works in adults."


@given(st.text(alphabet="ab [1](2)“”.\n#?PMID10", max_size=200))
def test_statements_stand_in_order_and_do_not_overlap_whatever_the_text(text: str) -> None:
    at = 0
    for one in statements(text):
        assert at <= one.start < one.end <= len(text)
        assert all(one.start <= quoted.start <= quoted.end <= one.end for quoted in one.quotations)
        at = one.end


def test_identifiers_that_cannot_exist_are_malformed() -> None:
    assert kind_and_value("NCT05174169") == ("nct_id", "NCT05174169")
    assert not is_malformed("NCT05174169")
    assert is_malformed("NCT0517416")
    assert is_malformed("PMID 123456789")
    assert is_malformed("ACTRN1234")
    assert not is_malformed("DOI 10.1000/x")
    assert not is_malformed("DRKS00000001")
