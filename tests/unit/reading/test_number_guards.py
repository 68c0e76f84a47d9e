"""What is looked at before a pattern is tried changes nothing of what is found."""

import re
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from clinical_text.effects import arms, patterns, words
from clinical_text.normalize import fold_dashes
from clinical_text.numbers import patterns as written
from clinical_text.quantities import Numbers, quantities
from clinical_text.vocabulary import vocabulary
from knowledge.matching.literals import ignoring_case

_PIECES = [
    *(
        spelling
        for kinds in vocabulary().units.values()
        for one in kinds.values()
        for spelling in one
    ),
    *vocabulary().comparator_of,
    *vocabulary().comparator_after_of,
    *vocabulary().counted,
    *(name for names in vocabulary().measures.values() for name in names),
    *(
        "p",
        "P value",
        "p-values",
        "CI",
        "CrI",
        "confidence interval",
        "for death",
        "was",
        "of",
        "=",
    ),
    *("n =", "May", "Sept.", "×10", "10^6", "12", "0.5", ".5", "·5", "1,234", "1 234", "19.9%"),
    *("32% vs 28%", "15% in A and 28% in B", "5%", "between", "and", "versus", "compared with"),
    *(
        "the drug",
        "placebo",
        "associated with",
        "(",
        ")",
        "[",
        "]",
        ",",
        ";",
        ".",
        "-",
        "–",
        "−",
        "+",
    ),
    *(
        "$",
        "€5",
        "mean difference",
        "hazard ratio",
        "HR",
        "one",
        "five percent",
        "patıents",
        "ſ",
        "K",
    ),
]
_TEXTS = st.lists(
    st.tuples(
        st.sampled_from(_PIECES) | st.text(max_size=2), st.sampled_from(["", " ", "  ", "\n"])
    ),
    max_size=14,
).map(lambda parts: "".join(piece + gap for piece, gap in parts))
_OLD_NUMBER = re.compile(
    r"(?<!\w)(?:(?P<whole>\d{1,3}(?:,\d{3})+(?!\d)|\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})+(?!\d)|\d+)"
    r"(?:[.·](?P<part>\d+))?|[.·](?P<point>\d+))"
)

_PLAIN_MEASURE = re.compile(
    r"""
    (?<![\w-])(?:
      (?P<HR> (?i:hazards?[\s-]ratios?) | (?:a|adj|s|u|c)?HRs? )
    | (?P<OR> (?i:odds[\s-]ratios?) | (?:a|adj|u|c|MH-)?ORs? )
    | (?P<RR> (?i:(?:relative[\s-]risks?(?!\s+(?:reduction|increase)) | risk[\s-]ratios?
        | (?:incidence[\s-])?rate[\s-]ratios? | incidence[\s-]risk[\s-]ratios?))
        | (?:a|adj|I|aI)?RRs? )
    | (?P<SMD> (?i:standardi[sz]ed\s+(?:mean\s+)?(?:mean\s+)?differences?) | SMDs? )
    | (?P<RD> (?i:(?:absolute\s+)?(?:risk|rate)[\s-]differences? | absolute\s+(?:risk\s+|rate\s+)?
        (?:reductions?|increases?|differences?) ) | a?RDs? | ARDs? | ARRs? )
    | (?P<MD> (?i:(?:(?:weighted|adjusted|estimated|least[\s-]squares?|between[\s-]group|treatment
        |pooled)\s+){0,3}(?:mean\s+)?(?:treatment\s+)?differences?(?:\s+in\s+means)?)
        | [aW]?MDs? )
    )(?![\w-])
    """,
    re.VERBOSE,
)
_NAMES = (
    *(
        "hazard",
        "Hazards",
        "ratio",
        "ratios",
        "odds",
        "relative",
        "risk",
        "RISKS",
        "reduction",
        "rate",
    ),
    *("incidence", "ıncidence", "standardized", "ſtandardised", "mean", "Differences", "absolute"),
    *(
        "increase",
        "weighted",
        "adjusted",
        "least-squares",
        "between-group",
        "treatment",
        "in means",
    ),
    *(
        "a",
        "adj",
        "s",
        "u",
        "c",
        "I",
        "aI",
        "W",
        "MH",
        "HR",
        "HRs",
        "OR",
        "ORs",
        "RR",
        "SMDs",
        "RD",
    ),
    *("ARD", "ARRs", "MD", "x", ""),
)


@settings(max_examples=500, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(_NAMES), st.sampled_from(["", " ", "  ", "-", ", "])), max_size=8
    ).map(lambda parts: "".join(name + gap for name, gap in parts))
)
def test_a_measure_is_found_as_by_its_names_written_plainly(text: str) -> None:
    found = [(match.span(), match.lastgroup) for match in patterns.MEASURE.finditer(text)]
    plain = [(match.span(), match.lastgroup) for match in _PLAIN_MEASURE.finditer(text)]
    assert found == plain


@settings(max_examples=300, deadline=None)
@given(_TEXTS)
def test_a_number_is_found_as_by_a_pattern_that_looks_at_each_place(text: str) -> None:
    found = [match.span() for match in written.NUMBER.finditer(text)]
    assert found == [match.span() for match in _OLD_NUMBER.finditer(text)]


@settings(max_examples=300, deadline=None)
@given(_TEXTS)
def test_what_stands_behind_a_number_is_what_the_whole_patterns_find(text: str) -> None:
    for number in written.NUMBER.finditer(text):
        end = number.end()
        unit, whole = written.unit_after(text, end), written.UNIT_AFTER.match(text, end)
        assert (unit and (unit.span(), unit["unit"])) == (whole and (whole.span(), whole["unit"]))
        assert written.counted_after(text, end) == bool(written.COUNTED_AFTER.match(text, end))
        assert written.month_after(text, end) == bool(written.MONTH_AFTER.match(text, end))
        later = written.OR_MORE_AFTER.match(text, end) or written.OR_MORE_BEHIND.match(text, end)
        assert not later or written.has_or_more(text, ignoring_case(text))


@settings(max_examples=300, deadline=None)
@given(_TEXTS)
@example("less than\n or equal to ")
def test_what_stands_before_a_number_is_what_the_whole_patterns_find(text: str) -> None:
    comparator = written.COMPARATOR_BEFORE.search(text)
    expected = (comparator.start(), comparator["comparator"]) if comparator else None
    assert written.comparator_before(text) == expected
    since = max((match.end() for match in re.finditer(r"\d", text)), default=0)
    assert written.comparator_before(text, since) == expected
    measure, whole = written.measure_before(text, since), written.MEASURE_BEFORE.search(text)
    assert (measure and measure.span()) == (whole and whole.span())
    found, everywhere = written.P_BEFORE.search(text, since), written.P_BEFORE.search(text)
    assert (found and found.span()) == (everywhere and everywhere.span())


@settings(max_examples=300, deadline=None)
@given(_TEXTS)
@example("It was $\n5% vs 7%")
@example("Five percent vs 7%, 8%")
def test_percentages_that_are_a_pair_can_be_one_by_the_words_between_them(text: str) -> None:
    folded = fold_dashes(text)
    if [*arms.percentages(folded, Numbers(text, folded))]:
        assert arms.may_compare(folded)


@settings(max_examples=300, deadline=None)
@given(_TEXTS)
@example(") as compared with placebo ")
@example("with drug, and versus placebo ")
def test_arms_that_are_compared_are_looked_for(text: str) -> None:
    found = words._patterns()
    for match in found.arms.finditer(text):
        told = text[match.start() : match.start("first")].lower().startswith("between")
        if told or found.between.search(text, match.end("first"), match.start("second")):
            assert words._compares(text, ignoring_case(text))


@settings(max_examples=300, deadline=None)
@given(_TEXTS, st.integers(0, 60))
@example("10^6 5 ×10 7\u207b8 9", 5)
def test_a_number_is_the_same_whether_those_before_it_are_read_or_not(text: str, at: int) -> None:
    behind = [replace(one, shared_unit=None) for one in quantities(text) if one.start >= at]
    assert [*Numbers(text, fold_dashes(text)).since(at)] == behind


def test_what_may_stand_behind_a_number_holds_no_other_one() -> None:
    kinds = vocabulary().units.values()
    units = (one for kind in kinds for spellings in kind.values() for one in spellings)
    for behind in (*units, *vocabulary().comparator_after_of):
        assert not written.NUMBER.search(behind)
