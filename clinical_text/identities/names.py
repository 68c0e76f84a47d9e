"""Names of persons by what stands beside them, and whether words there are a name. Pure."""

import re
from calendar import day_name, month_abbr, month_name
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from clinical_text.identities.forms import (
    LETTER,
    PART,
    SPACES,
    TOKEN,
    UPPER,
    WINDOW,
    WORD,
    any_of,
)
from knowledge.documents.notes import section_policy
from knowledge.documents.persons import person_policy
from knowledge.names.reading import names
from knowledge.names.spelling import fold
from knowledge.names.tables import tables


class _Context(NamedTuple):
    """What leads to a name."""

    pattern: re.Pattern[str]
    sure: bool = False
    """Whether what it leads to is a name whatever its words are."""
    least: int = 1
    """Words that a name without a given name has there."""
    enough: int = 9
    """Words that are a name there though a dictionary has them: "signed by Grace Hill"."""
    turned: bool = False
    """Whether a given name may stand behind a comma there."""


_VOWEL = re.compile(r"[aeiouä]")
_CONTRACTED = re.compile(r"['’](?:m|ve|ll|re|d|t)$")
_INITIAL_LAST = re.compile(rf"(?:^|\W)[{UPPER}]\.$")
_INITIALED = re.compile(rf"(?:[{UPPER}]\.[ ]?){{1,3}}{PART}")
_HEAD = re.compile(rf"(?:['’]s)?[ -]({LETTER}+)(?:[ -]({LETTER}+))?")
_LIKE_TITLES = frozenset(["MR", "MS", "MRS", "FR", "DON"])
"""Titles in capitals that are abbreviations as well: "MR ANGIOGRAPHY"."""
_MONTHS = frozenset(one.casefold() for one in (*month_name, *month_abbr) if one)
_DAY = re.compile(r"\W{0,2}\d")
_LIKE_WORDS = ("miss", "doctor")
_OCCUPATIONS = ("ology", "ologist", "ician", "iatry", "surgery", "medicine")
_NAMESAKES = frozenset(["gene", "protein", "organism"])
"""Kinds of things that share names with persons: Jasmine, Rose, Kim."""
_FEWEST_CAPITALS = 0.005
"""Share of capitals below which a text was written down without them (ours)."""
_CALLED = re.compile(
    r"(?<!\w)(?P<lead>(?:hi|hey|hello|bye|so|okay|well|thanks)[ ,]{1,3})?"
    r"(?:(?P<title>dr|mr|mrs|ms|miss|doctor)\.?[ ])?"
    rf"(?P<first>{LETTER}{{2,20}}+)(?=(?:[ ](?P<last>{LETTER}{{2,20}}+))?)"
)
_OF_AGE = re.compile(r"[ ](?:(?:is|was)[ ]an?[ ]|[,.])")
_MIXED = re.compile(rf"[{UPPER}]{{2,30}}-[{UPPER}](?![{UPPER}])")
"""A word half in capitals, as things are called and nobody is: "CIRCULATE-North"."""
_SHORTEST = 3
"""Letters of a name that only its place tells: "Doctor: Hm" names nobody (ours)."""
_SHORT = 5
"""Letters of a word in capitals from which on it is no degree or abbreviation (ours)."""


@cache
def _contexts() -> tuple[_Context, ...]:
    words, notes = person_policy(), section_policy()
    one = rf"(?:(?i:{any_of(words.particles)})[ ]){{0,3}}{WORD}"
    run = rf"(?P<v>{one}(?:(?:[ ]?,?[ ]|(?<=\.)){one}){{0,4}})"
    title = rf"(?:{any_of(_cases(words.honorifics))})"
    short = any_of(_cases(one for one in words.honorifics if not _VOWEL.search(one)))
    relatives, clinicians = any_of(notes.relatives), any_of(notes.clinicians)
    ending = rf"{LETTER}{{2,20}}(?:ologist|ician|iatrist|loog|arts|arzt|ärztin)"
    role = rf"(?:{clinicians}|{relatives}|{any_of(words.of_names)}|{ending})"
    age = r"\d{1,3}[ -]?(?:y\b|yo\b|yrs?\b|y/o|years?\b|months?[ -]old|M\b|F\b)"
    labels = rf"{any_of([*words.of_births, *words.numbers])}|(?:age|sex|gender)[ ]?[:/]"
    degrees = any_of(_cases(words.degrees))
    given = any_of(word.title() for word in notes.given_names)
    return (
        _Context(_of(
            rf"(?<![\w.])(?i:{any_of(words.names)})(?!\w){SPACES}[:|=-]?{SPACES}"
            rf"(?:{title}\.?[ ])?{run}"),
            sure=True, turned=True),
        _Context(_of(
            rf"(?<![\w./])(?:(?:{short}|[Pp]rof)\.[ ]?|{title}[ ])(?:\n[ ]?)?"
            rf"(?:(?:Dr|med|Prof|habil|Mr|Mrs)\.?[ ]){{0,3}}{run}"), sure=True),
        _Context(_of(
            rf"(?<![\w.])(?i:{any_of(words.unsure_names)}|pt|{role})s?(?:\(s\))?"
            rf"(?:[ ]?\([^()\n]{{1,30}}\))?(?:{SPACES}[:|]{SPACES}|[ \t]{{2,30}}+){run}"),
            enough=2, turned=True),
        _Context(_of(
            rf"(?<![\w.])(?i:{any_of(words.acts)})(?:[ ]electronically)?[ ](?:by|on[ ]behalf[ ]of)"
            rf"[ ]?:?[ ]{{0,3}}(?:\n[ ]?)?{run}"), enough=2),
        _Context(_of(
            rf"(?<![\w.])(?:(?i:{any_of(words.acts)})[ ]?:[ ]{{0,3}}(?:\n[ ]?)?"
            rf"|(?i:{any_of(words.meetings)})[ ]{{1,3}}){run}")),
        _Context(_of(
            rf"(?<![\w.])(?i:{relatives}),?(?:[ ](?:is|named|called))?[ ]{run}"), enough=1),
        _Context(_of(rf"(?<![\w.])(?i:patient|{clinicians}),?(?:[ ](?:is|named))?[ ]{run}")),
        _Context(_of(rf"(?<![\w.])(?i:pt)[ ]{run}"), enough=2),
        _Context(_of(
            r"(?<!\w)(?i:i[ ]am|i'm|my[ ]name[ ]is|this[ ]is|named|called|hi|hello|hey)"
            rf",?[ ]{run}")),
        _Context(_of(
            rf"(?<!\w)(?i:dear|re|regarding|betreff|betr\.?|betreft)[ ]?:?[ ]{{1,9}}+{run}"),
            turned=True),
        _Context(_of(rf"(?i:{any_of(words.valedictions)})[,.]?\s{{0,12}}{run}"), enough=2),
        _Context(_of(rf"(?<![\w.-]){run}(?=[ ](?:is|was)[ ]an?[ ](?:\w{{1,20}}[ ]){{0,2}}?{age})"),
            enough=2),
        _Context(_of(rf"(?<![\w.-]){run}(?=,?[ ]{{1,2}}(?:\w{{1,20}}[ ])?{age})"), least=2),
        _Context(_of(rf"(?<![\w.-]){run}(?=[ ,;(|\t-]{{1,20}}(?i:{labels})(?![a-z]))"),
            least=2, enough=2, turned=True),
        _Context(_of(
            rf"(?<![\w.-]){run}"
            rf"(?=,[ ]?(?:{degrees})(?!\w)|[ ]M\.?D\.?(?!\w)|[ ]\((?:{degrees})\))"),
            enough=2, turned=True),
        _Context(_of(rf"(?<![\w.-])(?P<v>(?:{given})(?:[ ]{one}){{1,3}})")),
        _Context(_of(rf"(?<=[a-z,][ ])(?P<v>{given})(?![\w-])")),
        _Context(_of(
            rf"(?m)^[ \"]{{0,3}}(?P<v>[{UPPER}][{UPPER}'’-]{{1,30}},[ ]{WORD}"
            rf"(?:[ ][{UPPER}]\b\.?)?)"), turned=True),
    )  # fmt: skip


def _of(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _cases(words: Iterable[str]) -> Iterator[str]:
    """Words as they are written before and behind names: Dr, DR."""
    for one in words:
        yield one.upper()
        yield one[0].upper() + one[1:]


def named(text: str) -> Iterator[tuple[tuple[int, int], bool]]:
    """Where names stand by what is beside them, and whether that leads to nothing but names."""
    if text and sum(map(str.isupper, text)) < len(text) * _FEWEST_CAPITALS:
        text = _with_capitals(text)
    lower = frozenset(one for one in TOKEN.findall(text) if one.islower())
    for context in _contexts():
        for match in context.pattern.finditer(text):
            span = _trimmed(text, *match.span("v"), turned=context.turned)
            if span is None or _is_abbreviation(text, match, span):
                continue
            if context.sure or _is_name(text, *span, context, lower):
                yield span, context.sure


def _with_capitals(text: str) -> str:
    """A text that was written down without capitals, with those of titles and of names behind them,
    of given names that are no words, where somebody is addressed also of others, and of the name
    behind one; as long as it was."""
    letters = list(text)
    for match in _CALLED.finditer(text):
        first, last = match["first"], match["last"]
        given = is_given([first])
        told = match["lead"] or text.startswith((" is a ", " was a "), match.end())
        unsure = match["title"] in (None, *_LIKE_WORDS)
        if unsure and not ((given or match["title"]) and (told or not is_word(first))):
            continue
        groups = ["first", "title"] if match["title"] else ["first"]
        if last and given and (not is_word(last) or _OF_AGE.match(text, match.end("last"))):
            groups.append("last")
        for at in map(match.start, groups):
            raised = letters[at].upper()
            letters[at] = raised if len(raised) == 1 else letters[at]
    return "".join(letters)


def _is_abbreviation(text: str, match: re.Match[str], span: tuple[int, int]) -> bool:
    """Whether what looks like a title is none: "MR ANGIOGRAPHY", "MS Contin"."""
    if text[match.start() : match.start("v")].strip() not in _LIKE_TITLES:
        return False
    words = TOKEN.findall(text[span[0] : span[1]])
    known = any(one.known and one.start == 0 for one in names(text[match.start() : span[1]]))
    return known or (all(is_word(one) for one in words) and not is_given(words))


def _trimmed(text: str, start: int, end: int, *, turned: bool) -> tuple[int, int] | None:
    """The words of a run that can be a person's, from its first; None without one.

    Behind a comma a given name may stand, or what somebody is: "Patel, Priya", "Patel, Registrar".
    """
    first, last = -1, start
    for n, token in enumerate(re.finditer(r"[^\s,]+", text[start:end])):
        bare = token[0].strip(".'’-")
        behind = text[start + token.end() : start + token.end() + 3]
        low = bare.casefold()
        is_month = low in _MONTHS and _DAY.match(behind) is not None
        is_end = is_month or (_ends(low) and not (len(bare) == 1 and bare.isupper()))
        if first < 0 and is_end and low not in person_policy().verbs:
            continue
        if first >= 0 and text[last : last + 2].lstrip(" ")[:1] == ",":
            is_post = bare.isupper() and 1 < len(bare) < _SHORT and not text[first:last].isupper()
            if n > 1 or is_post or not turned:
                break
        if is_end or token[0] == "I" or _CONTRACTED.search(bare):
            break
        first = start + token.start() if first < 0 else first
        last = start + token.end()
    if first < 0:
        return None
    while text[last - 1] in ".,-" and not _INITIAL_LAST.search(text[max(first, last - 3) : last]):
        last -= 1
    return (first, last) if any(map(str.isalpha, text[first:last])) else None


@cache
def _stops() -> frozenset[str]:
    """Words at which a name ends, or before which it has not begun."""
    words, notes = person_policy(), section_policy()
    others = (
        words.ends, words.titles, words.honorifics, words.degrees, words.of_names, words.of_births,
        words.of_phones, words.of_addresses, words.acts, words.verbs, notes.clinicians,
        notes.placeholders, (one for one in notes.identity_words if len(one) > 3),
        (one.casefold() for one in day_name),
    )  # fmt: skip
    return frozenset(one for some in others for one in some).difference(words.particles)


def _ends(word: str) -> bool:
    return word in _stops() or word.endswith(_OCCUPATIONS)


@lru_cache(maxsize=4096)
def is_word(word: str) -> bool:
    """Whether a dictionary has a word, or a terminology."""
    return tables().is_word(fold(word))


def is_given(words: Sequence[str]) -> bool:
    """Whether one of the words is a given name."""
    return any(one.casefold() in section_policy().given_names for one in words)


def _is_name(text: str, start: int, end: int, context: _Context, lower: frozenset[str]) -> bool:
    """Whether words in a name's place are a name: not of a disease, a drug or a sign, and not of a
    dictionary, but for a given name beside them.

    Args:
        context: where they stand.
        lower: words that the text also has without a capital.
    """
    said = text[start:end]
    words = [one for one in TOKEN.findall(said) if one.casefold() not in person_policy().particles]
    long = [one for one in words if len(one) > 1]
    if text[end : end + 1] == ":" and not is_given(long):
        return False  # a label
    if _MIXED.match(said) and not (context.sure or is_given(long)):
        return False
    if not long or section_policy().complaint.search(said.lower()) or is_eponym(text, start, end):
        return False
    if is_given(long):
        return True
    known = [one for one in names(said) if one.kinds - _NAMESAKES]
    if any(one.end - one.start >= len(said) for one in known):
        return False
    if _INITIALED.match(said) and not (said.isupper() and all(map(is_word, long))):
        return True
    new = any(one.casefold() not in lower for one in long)
    if len(words) >= context.enough and new and not said.isupper() and len(said) >= _SHORTEST:
        return True
    if len(words) < context.least or len(said) < _SHORTEST or any(not one.start for one in known):
        return False
    strange = [
        one
        for one in long
        if not (is_word(one) or one.casefold() in lower or (one.isupper() and len(one) < _SHORT))
    ]
    return bool(strange) and (len(strange) == len(long) or not said.isupper())


def is_eponym(text: str, start: int, end: int) -> bool:
    """Whether a sign, a test or an illness follows that is called by the name."""
    behind = text[end : end + WINDOW]
    heads = person_policy().eponym_heads
    head = _HEAD.match(behind)
    if head and (head[1].casefold() in heads or (head[2] or "").casefold() in heads):
        return True
    return any(
        one.known and one.start == 0 and one.end > end - start
        for one in names(text[start:end] + behind)
    )
