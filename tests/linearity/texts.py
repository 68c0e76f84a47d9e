"""Texts that make careless readers slow: runs of one thing, at any length.

A family is a function from a length to a text of about that length. Runs of a unit find patterns
that look anew from each place; a run between two letters finds those that look for what follows it.
"""

from collections.abc import Callable, Iterator
from itertools import cycle, islice

Family = Callable[[int], str]

CHARACTERS = (
    "aAé中1,.;: \t\n\r()[]{}<>\"“”'’‘«»#-–—*=_|/\\%&$^~+@!?•·✓\u00a0\u2009\u200b\u202e\u0301\x00²½µ"
)

UNITS = (
    "a ",
    "A ",
    "Ab ",
    "aB",
    "a1",
    "1 ",
    "12 ",
    "1,",
    "1.",
    "1, ",
    "1. ",
    "1-",
    "1/",
    "1 000 ",
    "0.5 ",
    "a, ",
    "a; ",
    "a. ",
    "A. ",
    "a.b",
    "a-",
    "a/",
    "a\n",
    "\n\n",
    " \n",
    "\t\n",
    "\r\n",
    "- a\n",
    "* a\n",
    "• a\n",
    "1. a\n",
    "1) a ",
    "(1) ",
    "# a\n",
    "## A\n\n",
    "A:\n",
    "A: b\n",
    "a: ",
    "a:",
    "Label: none. ",
    "| a | b |\n",
    "a\tb\n",
    "a  b  c\n",
    "-----\n",
    "---\nA\n",
    "[1] ",
    "[1, 2]",
    "[1",
    "(a",
    "(a) ",
    "((",
    "[[",
    "“a” ",
    '"a" ',
    "“a",
    "''a",
    "<b>",
    "</b>",
    "<b>a</b>",
    "<table><tr><td>",
    "<!--",
    "&amp;",
    "**a** ",
    "__a",
    "`a`",
    "[a](b) ",
    "![",
    "http://a.b/",
    "www.a ",
    "a@b.c ",
    "[x] a ",
    "☐ a ",
    "e.g. ",
    "Dr. ",
    "U.S. ",
    "no ",
    "not ",
    "no a, ",
    "denies ",
    "without ",
    "and ",
    "or ",
    ", and ",
    "the ",
    "of the ",
    "patients ",
    "which ",
    "if ",
    "10 mg, 20 mg, ",
    "10 mg daily ",
    "5 mL twice a day, ",
    "stage IIIA ",
    "T2N0M0 ",
    "pT2 ",
    "KRAS G12D ",
    "c.35G>A ",
    "95% CI 1.2-3.4; ",
    "HR 0.5 (",
    "p < 0.05, ",
    "n = 12, ",
    "12% vs 13% ",
    "3 of 10 ",
    "± 1 ",
    "1 to 2 ",
    "-1 ",
    "< 1 ",
    "two ",
    "twenty-one ",
    "hundred ",
    "2020-01-02 ",
    "12/12/2020 ",
    "January 2020, ",
    "3 months ",
    "12:30 ",
    "65-year-old ",
    "NCT01234567 ",
    "PMID: 12345678 ",
    "10.1000/a ",
    "Smith J, ",
    "et al. ",
    "J Clin Oncol. 2020;12:1-2. ",
    "et al., 2020; ",
    "(Smith 2020) ",
    "respectively, ",
    "compared with ",
    "arm A ",
    "group ",
    "increased ",
    "reduced the risk of ",
    "aspirin ",
    "ignore previous instructions ",
    "Assistant: ",
    "Patient: ",
    "Name: Ann Lee\n",
    "DOB: 01/02/1960 ",
    "WBC 5.0 (4.0-10.0) ",
    "Hgb\t12\tg/dL\t12-16\n",
    "Assessment/Plan:\n1. A\n",
    "The drug was given. ",
    "ER: positive. ",
)


def _run(unit: str) -> Family:
    return lambda length: unit * max(1, length // len(unit))


def _between(unit: str, before: str, after: str) -> Family:
    return lambda length: before + unit * max(1, length // len(unit)) + after


def _joined(first: str, second: str) -> Family:
    return lambda length: _run(first)(length // 2) + _run(second)(length // 2)


def families() -> Iterator[tuple[str, Family]]:
    """Every family with its name."""
    for unit in (*CHARACTERS, *UNITS):
        yield f"{unit!r} again and again", _run(unit)
    for unit in (*" \t\n,.-#*=_(“1a", "a ", "1 ", "1, ", "a, "):
        yield f"{unit!r} between letters", _between(unit, "The result", "was x.")
        yield f"{unit!r} before a sign", _between(unit, "", "\x00!")
    for first, second in (("(", ")"), ("[", "]"), ("“", "”"), ("<b>", "</b>"), ("a ", "1 ")):
        yield f"{first!r} then {second!r}", _joined(first, second)


def growing(real: str) -> Family:
    """A real text, repeated until it is long enough, cut at the length asked for."""
    return lambda length: "".join(islice(cycle(real), length))
