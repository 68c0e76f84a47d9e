"""What a pasted text states: its sentences, quotations, identifiers and references."""

from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
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
        assert written.removeprefix("## ").removeprefix("4. ") == one.words or "[" in written


def test_headings_questions_and_references_claim_nothing() -> None:
    claims = [one.words for one in statements(ANSWER) if one.claims]
    assert [one.split(" ")[0] for one in claims] == ["The", "It", "In"]


def test_a_statement_cites_its_own_identifiers_and_those_of_its_markers() -> None:
    by_words = {one.words.split(" ")[0]: one for one in statements(ANSWER) if one.claims}
    assert by_words["The"].cited == ("PMID 11111111", "DOI 10.1000/abc.1")
    assert by_words["It"].cited == ("PMID 35657320",)
    assert by_words["In"].cited == ("NCT05174169", "NCT00000001")


SAYS_NOTHING = {
    "heading": (
        "# Adverse events of the drug",
        "## 2. Efficacy and safety",
        "## KEYNOTE-024",
        "## Results of two trials in 2024",
        "### 5 things to know",
        "## What the evidence shows",
        "## Stage III disease: options",
        "**Adverse events in adults**",
        "Mechanism of action\n-------------------",
        "Here are the key findings:",
        "The evidence is as follows:",
        "Common adverse events include:",
        "Common adverse events in young adults with advanced cancer were:",
        "Adverse events of the drug in adults:",
        "Introduction",
        "**Safety.**",
        "Further reading",
    ),
    "question": (
        "Does the drug prevent stroke?",
        "What is known of the drug in adults?",
        "In adults, does it prevent stroke?",
        "How many of 100 patients died?",
        "Is it 90% effective?",
        "## How safe is it?",
        "**Is it safe in children?**",
        "Any adverse events in children?",
    ),
    "no_statement": ("Certainly!", "---", "https://example.org/a-page", "PMID: 11111111"),
}
SAYS_SOMETHING = (
    "# The drug doubles survival to 30 months in all patients",
    "## Mortality: 12% against 20%",
    "## The drug is safe in pregnancy",
    "## Smoking causes cancer",
    "## No adverse events",
    "**The drug cured adults with cancer**",
    "The drug kills\n--------------",
    "COUGH KILLED EVERYONE",
    "The drug killed 90% of patients:",
    "The drug is contraindicated in:",
    "The drug is safe and effective:",
    "Common adverse events, in 90% of patients, include:",
    "Yes, in 90% of patients?",
    "Did you know that the drug kills 90% of patients?",
    "Why does the drug kill 90% of patients?",
    "The drug cures cancer, is it not wonderful?",
    "Isn't the drug safe in adults?",
    "It works.",
    "- Death",
    "| Cough | 12% |",
    "> Everyone died of it.",
    "- [ ] Nobody died of it",
    "```\nEveryone died of it.\n```",
    "[Everyone died of it](https://example.org/a)",
    "Cured.",
    "90%.",
    "None",
    "Recommended",
    "# Ten of ten patients alive",
    "## Evidence: mortality down by half",
    "# Survival: 30 months vs 10",
    "✅ Safe",
    "## What cures cancer: the drug",
    "The drug obliterates advanced cancer in young adults:",
    "Term\n: everyone died of it",
    "The drug cures cancer, right?",
)


@grid(("why", "words"), [(why, one) for why, some in SAYS_NOTHING.items() for one in some])
def test_what_says_nothing_is_not_judged_and_the_reason_is_told(why: str, words: str) -> None:
    assert [one.not_judged for one in statements(words)] == [why]


@grid("words", SAYS_SOMETHING)
def test_whatever_states_something_is_judged_in_any_form(words: str) -> None:
    assert any(one.claims for one in statements(words))


def test_a_word_that_answers_a_question_states_something() -> None:
    for answer in ("Yes.", "No!", "Certainly.", "Never", "- Death", "It is."):
        asked, answered = statements(f"Does it prevent stroke?\n\n{answer}")
        assert (asked.not_judged, answered.claims) == ("question", True)
        assert not answered.is_comparable


def test_the_head_of_a_table_and_its_rule_state_nothing_but_its_rows_do() -> None:
    table = "| Outcome | Drug | Placebo |\n|:---|---:|---|\n| Cough | 12% | 3% |\n| Death | 0 | 0 |"
    assert [one.claims for one in statements(table)] == [False, False, True, True]
    told = "| Mortality fell by 9% | with the drug |\n|---|---|\n| x | y |"
    assert statements(told)[0].claims


def test_the_marks_of_markdown_are_no_words() -> None:
    text = "- **Stroke** was `not` *studied* in [the trial](https://example.org/a_b_(c)?n=12)."
    assert statements(text)[0].words == "Stroke was not studied in the trial."
    assert (
        statements("CYP2C19*2 and 5 * 3 and a_b stay.")[0].words
        == "CYP2C19*2 and 5 * 3 and a_b stay."
    )


def test_a_spread_in_square_brackets_is_no_citation() -> None:
    (one,) = statements(
        "Survival was 9 [3-12] months and [50]% recovered [1, 2] in 2016 [3-4] only."
    )
    assert one.words == "Survival was 9 (3-12) months and [50]% recovered in 2016 only."


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
