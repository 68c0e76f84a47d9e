"""The guard that compares the numbers, names and identifiers of a claim with its passage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_text.quantities import quantities
from tests.grid import grid
from workers.verify.guards.numbers import guard

PASSAGE = (
    "Among 455 patients the hazard ratio was 0.60 (95% CI, 0.33 to 0.92; P<0.001) after twelve "
    "months; 50 percent had a 7·5 mg/kg dose, and pain changed by −1.2 points in EGFR T790M "
    "disease (NCT04068103, PMID 32482534)."
)


@pytest.mark.parametrize(
    "claim",
    [
        "In 455 patients HR was .6 (P < .001).",
        "50% of patients at 12 months (95% CI 0.33–0.92).",
        "A dose of 7.5 mg/kg was given to 50 per cent.",
        "Pain changed by -1.2 points in T790M disease.",
        "It worked (NCT 04068103).",
        "No number at all.",
    ],
)
def test_a_claim_that_keeps_its_numbers_passes(claim: str) -> None:
    assert guard(claim, PASSAGE) == []


@grid(
    ("claim", "code"),
    [
        ("HR 0.61", "number"),
        ("455.0001 patients", "number"),
        ("thirty-one of 455", "number"),
        ("eleven months", "number"),
        ("P > .001", "comparator"),
        ("P = .001", "comparator"),
        ("more than 50%", "comparator"),
        ("OR 0.60", "measure"),
        ("HR 0.92", "measure"),
        ("a dose of 7.5 mg", "unit"),
        ("a dose of 7.5 µg/kg", "unit"),
        ("12 weeks", "unit"),
        ("50 patients", "unit"),
        ("changed by 1.2 points", "sign"),
        ("in EGFR T791M disease", "name"),
        ("see NCT04068104", "identifier"),
        ("see PMID 32482535", "identifier"),
        ("see doi 10.1038/s41591-024-03254-6", "identifier"),
    ],
)
def test_a_claim_that_changes_one_is_vetoed(claim: str, code: str) -> None:
    assert [finding.code for finding in guard(claim, PASSAGE)] == [code]


@pytest.mark.parametrize(
    ("claim", "allowed"),
    [
        ("see PMID 123", "123"),
        ("see PMID: 123", "PMID 123"),
        ("see (doi:10.1000/AbC).", "10.1000/abc"),
        ("see ACTRN12615000381583", "ACTRN12615000381583"),
        ("see UMIN000039205", "UMIN000039205"),
        ("see ISRCTN12345678", "ISRCTN12345678"),
    ],
)
def test_an_identifier_of_the_cited_document_is_allowed(claim: str, allowed: str) -> None:
    assert [finding.code for finding in guard(claim, PASSAGE)] == ["identifier"]
    assert guard(claim, PASSAGE, frozenset({allowed})) == []


@given(
    st.one_of(
        st.text(max_size=80),
        st.text(alphabet="0159.,·-−–+<>≤± %pPmgkHRCIn=()/×⁶\u2009NTone ", max_size=60),
    )
)
def test_no_text_is_vetoed_against_itself(text: str) -> None:
    assert guard(text, text) == []


@given(st.data())
def test_any_changed_digit_of_a_quantity_is_a_finding(data: st.DataObject) -> None:
    digits = [i for q in quantities(PASSAGE) for i in range(q.start, q.end) if PASSAGE[i].isdigit()]
    at = data.draw(st.sampled_from(digits))
    new = data.draw(st.sampled_from([d for d in "0123456789" if d != PASSAGE[at]]))
    assert guard(PASSAGE[:at] + new + PASSAGE[at + 1 :], PASSAGE) != []


def test_a_comparator_is_not_turned_where_the_value_stands_twice() -> None:
    passage = "Disease (TSH >4.5 mIU/L) was compared with normal values (TSH <4.5 mIU/L)."
    turned = passage.replace(">4.5", "<4.5")
    assert [one.code for one in guard(turned, passage)] == ["comparator"]
    assert guard("Disease was TSH >4.5 mIU/L.", passage) == []


@pytest.mark.parametrize("written", ["PMID 32482534", "PubMed 32482534", "PubMed ID 32482534",
                                     "https://pubmed.ncbi.nlm.nih.gov/32482534/"])  # fmt: skip
def test_a_record_of_pubmed_is_one_however_it_is_written(written: str) -> None:
    claim = f"Pain changed by -1.2 points ({written})."
    assert guard(claim, PASSAGE) == []
    assert [one.code for one in guard(claim.replace("534", "535"), PASSAGE)] == ["identifier"]


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The drug doubles survival.", "The drug predicts survival."),
        ("Mortality was halved.", "Mortality was lower."),
        ("A quarter of the patients died.", "Some of the patients died."),
        ("The risk rose threefold.", "The risk rose twofold."),
        ("Half of the patients died.", "50% of the patients died."),
    ],
)
def test_a_multiple_that_the_passage_has_not_is_vetoed(claim: str, passage: str) -> None:
    assert "number" in {finding.code for finding in guard(claim, passage)}


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Survival doubled.", "Survival was twice as long."),
        ("The risk rose twofold.", "There was a 2-fold rise of the risk."),
        ("It was a double-blind trial with twice daily doses.", "It was a trial."),
        ("The half-life was long.", "It was long."),
    ],
)
def test_a_multiple_in_other_words_and_a_design_pass(claim: str, passage: str) -> None:
    assert guard(claim, passage) == []


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("IL-8 was elevated.", "IL-6 was elevated."),
        ("PD-L1 was expressed.", "PD-1 was expressed."),
        ("COVID-19 was severe.", "The 19 patients were severely ill."),
        ("SARS-CoV-1 was found.", "SARS-CoV-2 was found."),
        ("Omega-6 was given.", "Omega-3 was given."),
    ],
)
def test_another_number_in_a_name_is_another_name(claim: str, passage: str) -> None:
    assert [finding.code for finding in guard(claim, passage)] == ["name"]


def test_the_number_of_a_name_is_no_number_of_the_passage() -> None:
    found = guard("Of 19 patients, some died.", "Some patients with COVID-19 died.")
    assert [finding.code for finding in found] == ["number"]


def test_a_day_is_not_a_number_of_days() -> None:
    lasting = "She was discharged on oral treatment for 9 more days."
    assert [one.code for one in guard("She was discharged on day 9.", lasting)] == ["number"]
    assert guard("She was discharged on day 9.", "On day 9 she was discharged.") == []
    assert all(one.unsaid for one in guard("Gone at week 12.", "Gone after 12 weeks."))


@pytest.mark.parametrize(
    ("claim", "passage", "unsaid"),
    [
        ("It was seen in 14%.", "It was seen in 12%.", False),
        ("It was seen in 14%.", "It was seen in many.", True),
        ("The stay was 1 day shorter.", "The stay was 2 against 3 days.", True),
        ("It fell by 0.5 points.", "The difference was -0.5 points.", True),
        ("It rose by +0.5 points.", "The difference was -0.5 points.", False),
        ("Doses above 5 mg helped.", "Doses of 5 mg or more helped.", True),
    ],
)
def test_a_missing_number_speaks_against_a_claim_only_where_another_has_its_place(
    claim: str, passage: str, unsaid: bool
) -> None:
    assert {one.unsaid for one in guard(claim, passage)} == {unsaid}
