"""Numbers of records, dates of birth, phones and addresses, by form and label. Pure."""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from clinical_text.identities.forms import (
    DATE,
    LETTER,
    PART,
    SPACES,
    UPPER,
    WINDOW,
    Identifier,
    Kind,
    any_of,
)
from knowledge.documents.persons import person_policy

_PUBLIC = re.compile(r"(?i)NCT\d|ISRCTN|PMC\d|10\.\d{4}|EUCTR|\d{4}-\d{6}-\d\d")
"""Numbers of trials and papers."""
_NUMBERED = re.compile(r"(?:number|nummer|no|nr|num|id|ref|#)[\s.:|*#=]{0,60}$")
_ROW = re.compile(r"(?:[ \t]{2,30}+|[ ]?\|[ ]{0,30}+)(?P<v>[A-Z]{0,3}\d{5,12})(?![\w.,])")
"""The next number of a table's row of numbers."""
_MEASURED = re.compile(r"[ ]?(?:%|[a-zµ]{1,4}(?:/|\b))")
_OF_SUBJECT = re.compile(
    r"(?i)(?<!\w)(?:(?:re|regarding|betreff|betr\.?|betreft|patient|name|pt)[ ]*[:.]"
    r"|(?:mr|mrs|ms|miss|master)\.?[ ]$)"
)
_BESIDE = re.compile(
    rf"[ ,;(*]{{1,5}}(?:geb\.?[ ]?|b\.?[ ]?)?(?P<v>{DATE})(?=[ ]*(?:[,;)|\n\"]|$))"
)
_POSTCODE = r"[A-Z]{1,2}\d[A-Z\d]?[ ]\d[A-Z]{2}"
_TOWN = rf"{PART}(?:[ ]{PART}){{0,2}}"
_NEXT_LABEL = re.compile(
    rf"[ ,.(-]{{1,3}}(?:{LETTER}{{2,12}}[ ]?){{1,2}}\.?$|[ ]{{3}}|\t|\.[ ][{UPPER}]"
)
_MOST_LOWER = 2
"""Words without a capital in an address; a sentence has more (ours)."""
_FEWEST = (3, 4)
"""Digits of a number behind a label of numbers, and behind any other (ours)."""


@cache
def _code_patterns() -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    words = person_policy()
    of = any_of(words.of_numbers)
    kind = r"(?:[ .-]{0,2}(?:number|nummer|no|nr|num|id|ref)\b\.?|[ ]?\#)"
    label = (
        rf"(?:(?:{any_of(words.numbers)})(?![a-z])|(?:{of}){kind}|(?:{of})[ ]{{0,30}}+(?=[:#|])"
        rf"|(?:{of})[ ](?=[A-Z]{{0,3}}\d{{6}}|\d{{2,4}}-\d{{3,6}})"
        rf"|{LETTER}{{3,20}}(?=[ .#-]){kind})"
        r"[ \t*]{0,30}+(?:\([^()\n]{1,20}\)[ \t*]{0,30}+)?[:|#.=]{0,2}[ \t*#]{0,30}+"
    )
    number = (
        r"(?P<v>(?=[A-Z0-9/.,-]{0,12}\d)[A-Za-z0-9]{1,20}"
        r"(?:(?:[ ]?[/.-][ ]?|,)[A-Za-z0-9]{1,12}){0,4}(?:[ ]\d{2,6}){0,4})"
    )
    born, phones = any_of(words.of_births), any_of(words.of_phones)
    return (
        ("EMAIL", re.compile(
            r"(?<![\w.+%-])(?P<v>[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5})")),
        ("DOB", re.compile(
            rf"(?i)(?<![\w.])(?:{born})(?!\w){SPACES}[:|.=]?[ \t*|(]{{0,30}}+"
            rf"(?:\n[ ]?)?(?P<v>{DATE})")),
        ("PHONE", re.compile(
            rf"(?i)(?<![\w.])(?:{phones})(?:[ ]?\([a-z]{{1,8}}\))?{SPACES}[.:|]{{0,2}}{SPACES}"
            r"(?P<v>\+?[(\d][\d ()/.-]{3,22}\d)")),
        ("NUMBER", re.compile(rf"(?i)(?<![\w-]){label}{number}")),
        ("PHONE", re.compile(
            r"(?<![\w.,/+-])(?P<v>"
            r"\+\d{1,3}[ .-]?(?:\(0?\d{0,4}\)[ .-]?)?\d{1,5}(?:[ .-]?\d{2,5}){1,4}"
            r"|\(\d{3}\)[ ]?\d{3}[ .-]\d{4}|\d{3}[.-]\d{3}[.-]\d{4}|0\d{1,4}[-/]\d{6,8}|0\d{10}"
            r"|\(?0\d{2,4}\)?[ ][/]?[ ]?\d{3,4}[ -]?\d{3,6}|[6-9]\d{4}[ -]?\d{5}"
            r")(?![\w/%]|[.,-]\d)")),
        ("NUMBER", re.compile(
            r"(?<![\w.,/-])(?P<v>\d{3}-\d{2}-\d{4}|\d{4}[ ]\d{4}[ ]\d{4}|\d{3}[ -]\d{3}[ -]\d{4}"
            r"|[A-Z]{1,3}[- ]?\d{2}-\d{4,8})(?![\w/-]|[.,]\d)")),
    )  # fmt: skip


def codes(text: str) -> Iterator[Identifier]:
    """Numbers of records, dates of birth, phones and mail addresses, in no order."""
    for kind, pattern in _code_patterns():
        for match in pattern.finditer(text):
            if kind == "NUMBER" and not _is_number(text, match):
                continue
            yield Identifier(*match.span("v"), kind)
            row = _ROW.match(text, match.end()) if kind == "NUMBER" else None
            while row:
                yield Identifier(*row.span("v"), kind)
                row = _ROW.match(text, row.end())


def _is_number(text: str, match: re.Match[str]) -> bool:
    """Whether what stands behind a label is a record's number: no date, trial, count or measure."""
    value, label = match["v"], text[match.start() : match.start("v")].casefold()
    digits = sum(map(str.isdigit, value))
    if _PUBLIC.match(value) or (re.fullmatch(DATE, value) and digits < len(value)):
        return False
    sure = not label or label.startswith(person_policy().numbers) or _NUMBERED.search(label)
    if sure:
        return digits >= _FEWEST[0]
    return digits >= _FEWEST[1] and not _MEASURED.match(text, match.end())


def born_beside(text: str, names: Iterable[tuple[int, int]]) -> Iterator[Identifier]:
    """Dates straight behind the name of whom a letter or a report is about."""
    for start, end in names:
        lead = text[max(0, start - WINDOW) : start].rpartition("\n")[2]
        if _OF_SUBJECT.search(lead) and (date := _BESIDE.match(text, end)):
            yield Identifier(*date.span("v"), "DOB")


@cache
def _address_patterns() -> tuple[re.Pattern[str], ...]:
    words = person_policy()
    house = (
        r"(?:(?:Flat|Apt|Apartment|Unit|Suite|House|Door|Plot|H\.?|D\.?)(?:[ ]?No)?\.?[ ]?#?"
        r"\w{1,6},?[ ])?"
    )
    short = r"(?:St|Dr|Ct|Pl|Ln)(?=\.?(?:,|[ ]?\n|$|\"))"
    endings = any_of(words.street_endings)
    tail = (
        r"(?:,?\s(?:(?:Apt|Apartment|Flat|Unit|Suite|Ste)\.?[ ]?#?\w{1,5}\b))?"
        r"(?:(?:,[ ]?\n?[ ]?|[ ]?\n[ ]?)(?:\d{4,5}(?:[ ]?[A-Z]{2})?[ ])?"
        rf"{_TOWN}(?=[ ]*(?:[,.;|\n\"]|$)|[ ]{{2}}|[ ]?-?[ ]?\d)){{0,4}}"
        rf"(?:,?[ ]?\n?[ ]?(?:[A-Z]{{2}}[ ]\d{{5}}(?:-\d{{4}})?|{_POSTCODE}"
        r"|-?[ ]?\d{3}[ ]?\d{3}|\d{5})(?![\w.]))?"
    )
    return (
        re.compile(
            rf"(?<![\w.:/-])(?P<v>{house}\d{{1,5}}[A-Za-z]?(?:[/-]\d{{1,4}})?,?[ ]"
            rf"(?:(?:[NSEW]\.?|\d{{1,3}}(?:st|nd|rd|th))[ ])?(?:{PART}[ ]){{1,4}}"
            rf"(?:(?i:{any_of(words.streets)})(?!\w)|{short})\.?{tail})"
        ),
        re.compile(
            rf"(?<!\w)(?P<v>(?:{PART}[ -])?{LETTER}{{2,30}}?[ -]?(?i:{endings})"
            rf"[ ]\d{{1,4}}[ ]?[a-zA-Z]?(?![\w.,]*\d){tail})"
        ),
        re.compile(rf"(?<![\w-])(?P<v>(?:{_TOWN},?[ ])?{_POSTCODE})(?!\w)"),
        re.compile(rf"(?<![\w-])(?P<v>{_TOWN},[ ][A-Z]{{2}}[ ]\d{{5}}(?:-\d{{4}})?)(?!\w)"),
    )


@cache
def _labelled_address() -> re.Pattern[str]:
    return re.compile(
        rf"(?i)(?<![\w.])(?:{any_of(person_policy().of_addresses)})(?!\w)"
        rf"(?P<colon>{SPACES}[:|])?{SPACES}"
        r"(?P<v>(?=[^\n]{0,20}(?-i:[A-Z\d]))[^\n;|:\"]{3,120})"
    )


def addresses(text: str) -> Iterator[Identifier]:
    """Streets with their towns, postcodes, and what stands behind a label of addresses."""
    for pattern in _address_patterns():
        for match in pattern.finditer(text):
            yield Identifier(*match.span("v"), "ADDRESS")
    for match in _labelled_address().finditer(text):
        cut = _NEXT_LABEL.search(match["v"])
        said = match["v"][: cut.start() if cut else None].rstrip(" ,.-(")
        lower = sum(
            one[:1].islower() and one not in person_policy().particles for one in said.split()
        )
        if lower <= _MOST_LOWER and (match["colon"] or any(map(str.isdigit, said))):
            yield Identifier(match.start("v"), match.start("v") + len(said), "ADDRESS")
