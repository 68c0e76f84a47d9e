"""Verdicts on quotations: what is accepted, and what each kind of wrong is called."""

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clinical_text.normalize import normalize
from clinical_text.quotes import MAX_QUOTE_CHARS, QuoteCheck, Source, Verdict, check
from tests.fuzz.properties import (
    a_part_is_found_back_to_the_letter,
    what_is_accepted_is_what_the_source_says,
)
from tests.grid import grid

TRIAL = (
    "BACKGROUND. Adjuvant chemotherapy of stage II colon cancer is debated.\n\n"
    "RESULTS. Among 455 patients, 15% of the ctDNA-guided group and 28% of the standard group "
    "received chemotherapy (relative risk, 1.82; 95% CI, 1.25 to 2.65). Two-year recurrence-free "
    "survival was not inferior: 93.5% vs. 92.4% (absolute difference, 1.1 percentage points; "
    "95% CI, −4.1 to 6.2). Three-year survival did not differ signi\ufb01cantly "
    "(p\u2009<\u20090.05).\nPain changed by −1.2 points. The dose–response curve was flat; "
    "toxicity was ≥ grade 3 in 12%. "
    "CONCLUSIONS. A ctDNA-guided approach reduced the use of adjuvant chemotherapy without "
    "compromising recurrence-free survival."
)
OTHER = "Esomeprazole healed more ulcers than placebo in 24 of 30 patients (p = 0.03)."


def verdict(quote: str, source: str = TRIAL) -> QuoteCheck:
    return check(quote, Source(source), {"other": Source(OTHER)})


def test_a_quotation_to_the_letter_is_verbatim_with_its_place() -> None:
    quote = "15% of the ctDNA-guided group and 28% of the standard group"
    result = verdict(quote)
    assert result.verdict == "verbatim"
    assert result.accepted
    assert TRIAL[result.start : result.end] == quote


@pytest.mark.parametrize(
    ("quote", "passage"),
    [
        (
            "did not differ significantly (p < 0.05).",
            "did not differ signi\ufb01cantly (p\u2009<\u20090.05).",
        ),
        ("  The dose-response curve was flat ", "The dose–response curve was flat"),
        ("changed by -1.2 points", "changed by −1.2 points"),
        ("p < 0.05).\n\nPain changed", "p\u2009<\u20090.05).\nPain changed"),
    ],
)
def test_a_typographic_variant_is_normalized_and_points_at_the_raw_passage(
    quote: str, passage: str
) -> None:
    result = verdict(quote)
    assert result.verdict == "normalized"
    assert result.accepted
    assert TRIAL[result.start : result.end] == passage


@grid(
    ("quote", "told"),
    [
        ("received chemotherapy (relative risk, 1.28; 95% CI, 1.25 to 2.65)", "1.28"),
        ("received chemotherapy (relative risk, 182; 95% CI, 1.25 to 2.65)", "182"),
        ("did not differ significantly (p > 0.05)", ">"),
        ("Two-year recurrence-free survival was inferior: 93.5%", "not"),
        ("Pain changed by 1.2 points.", "leaves out “−”"),
        ("toxicity was ≤ grade 3 in 12%", "≤"),
        ("95% CI, 4.1 to 6.2", "leaves out “−”"),
        ("A ctDNA-guided approach increased the use of adjuvant chemotherapy", "increased"),
        ("28% of the ctDNA-guided group and 28% of the standard group", "28"),
        ("Adjuvant Chemotherapy of stage II colon cancer", "Chemotherapy"),
        ("(p<0.05)", "spacing"),
    ],
)
def test_an_altered_quotation_is_refused_and_the_change_named(quote: str, told: str) -> None:
    result = verdict(quote)
    assert result.verdict == "altered"
    assert not result.accepted
    assert told in result.detail
    assert result.start is not None
    assert "\n\n" not in TRIAL[result.start : result.end]


def test_the_closest_passage_of_an_altered_quotation_is_located_exactly() -> None:
    result = verdict("Pain changed by 1.2 points.")
    assert TRIAL[result.start : result.end] == "Pain changed by −1.2 points."


@pytest.mark.parametrize(
    "quote",
    [
        "Among 455 patients … without compromising recurrence-free survival.",
        "Among 455 patients [...] without compromising recurrence-free survival.",
        "Among 455 patients, 15% of the ctDNA-guided group without compromising "
        "recurrence-free survival",
    ],
)
def test_parts_joined_into_one_quotation_are_stitched(quote: str) -> None:
    result = verdict(quote)
    assert result.verdict == "stitched"
    assert not result.accepted
    assert TRIAL[result.start : result.end].startswith("Among 455")
    assert TRIAL[result.start : result.end].rstrip(".").endswith("recurrence-free survival")


def test_a_quotation_of_another_source_is_misattributed_with_its_place_there() -> None:
    quote = "healed more ulcers than placebo"
    result = verdict(quote)
    assert (result.verdict, result.source) == ("misattributed", "other")
    assert not result.accepted
    assert OTHER[result.start : result.end] == quote


def test_a_quotation_of_no_source_is_fabricated() -> None:
    result = verdict("Pembrolizumab doubled overall survival in metastatic melanoma.")
    assert (result.verdict, result.start, result.end) == ("fabricated", None, None)
    assert not result.accepted


@pytest.mark.parametrize("quote", ["", " \n", "x" * (MAX_QUOTE_CHARS + 1), "\u200b"])
def test_what_cannot_be_checked_is_never_accepted(quote: str) -> None:
    result = verdict(quote, "y" + TRIAL)
    assert result.verdict == "unchecked"
    assert not result.accepted


def test_only_verbatim_and_normalized_are_accepted() -> None:
    accepted = {v for v in Verdict if QuoteCheck(v).accepted}
    assert accepted == {Verdict.VERBATIM, Verdict.NORMALIZED}


def test_half_a_ligature_is_no_passage() -> None:
    assert not check("signif", Source("signi\ufb01cant")).accepted
    assert check("signifi", Source("signi\ufb01cant")).accepted


def test_a_range_does_not_lend_its_dash_as_a_sign() -> None:
    assert not check("\u221292.4 points", Source("from 80–92.4 points")).accepted
    assert not check("-92.4 points", Source("from 80–92.4 points")).accepted


def test_the_place_that_cuts_nothing_off_is_preferred() -> None:
    text = "a dose of 15 mg, then of 5 mg"
    result = check("5 mg", Source(text))
    assert (result.start, result.cuts) == (text.rindex("5 mg"), ())


def test_an_acceptance_with_cuts_says_what_is_cut_off() -> None:
    result = check("effective in adults", Source("The drug was not effective in adults."))
    assert result.accepted
    assert result.cuts == ("negation",)


# Texts of words and numbers in which a changed token cannot occur by chance: the letters of a
# change are not those of the text.
clinical = st.lists(
    st.one_of(
        st.text(alphabet="abcdefg\ufb01\u00e9", min_size=1, max_size=6),
        st.decimals(min_value=0, max_value=999, places=2).map(str),
        st.sampled_from(["<", ">", "≤", "≥", "−3.5", "not", "without", "5 mg", "–", "“", "’", "%"]),
    ),
    min_size=1,
    max_size=25,
).flatmap(
    lambda words: st.lists(
        st.sampled_from([" ", "\n", "\u00a0", "\u2009 "]), min_size=len(words), max_size=len(words)
    ).map(lambda gaps: "".join(w + g for w, g in zip(words, gaps, strict=True)))
)


@given(st.one_of(clinical, st.text(max_size=60)), st.data())
def test_every_part_of_a_text_is_accepted_as_a_quotation(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assume(text[start:end].strip())
    a_part_is_found_back_to_the_letter(text, start, end)


@given(st.one_of(clinical, st.text(max_size=60)), st.text(max_size=20), st.data())
def test_what_is_accepted_is_what_its_place_says(
    text: str, other: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    what_is_accepted_is_what_the_source_says(text[start:end] + other, text)


@given(clinical)
def test_a_folded_text_is_accepted_and_points_at_what_it_was_folded_from(text: str) -> None:
    quote = normalize(text).text.strip()
    assume(quote)
    result = check(quote, Source("Before. " + text + " After."))
    assert result.accepted
    assert result.start is not None
    assert normalize(("Before. " + text + " After.")[result.start : result.end]).text == quote


def _squashed(text: str) -> str:
    """An independent, coarser folding: NFKC-like letters aside, only white space is removed."""
    return "".join(text.replace("\u2212", "-").replace("–", "-").split())


@given(clinical, st.data())
def test_no_changed_digit_sign_or_comparator_is_accepted(text: str, data: st.DataObject) -> None:
    places = [i for i, c in enumerate(text) if c in string.digits + "<>≤≥−"]
    assume(places)
    at = data.draw(st.sampled_from(places))
    pool = string.digits if text[at].isdigit() else "<>≤≥=±+"
    new = data.draw(st.sampled_from([c for c in pool if c != text[at]] + [""]))
    quote = (text[:at] + new + text[at + 1 :]).strip()
    assume(quote and _squashed(quote) not in _squashed(text))
    assert not check(quote, Source(text)).accepted


@given(clinical, st.data())
def test_no_added_or_dropped_negation_is_accepted(text: str, data: st.DataObject) -> None:
    words = text.split()
    at = data.draw(st.integers(0, len(words) - 1))
    changed = words[:at] + words[at + 1 :] if words[at] in ("not", "without") else None
    quote = " ".join(changed if changed is not None else [*words[:at], "never", *words[at:]])
    assume(quote.strip() and _squashed(quote) not in _squashed(text))
    assert not check(quote, Source(text)).accepted


def test_a_soft_hyphen_that_may_be_a_minus_sign_is_kept_and_mapped() -> None:
    text = "changed by \u00ad5\u00a0points"
    result = check("by \u00ad5 points", Source(text))
    assert result.verdict == "normalized"
    assert text[result.start : result.end] == "by \u00ad5\u00a0points"
    assert not check("by 5 points", Source(text)).accepted
