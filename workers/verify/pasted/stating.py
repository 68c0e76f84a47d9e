"""Whether words state something. Pure. Word lists: knowledge/answering/verifying.yaml.

A sentence is taken to state something. Headings, lines that lead on, questions and titles do not,
unless they hold a number that is measured, a verb, or a word that says how things are.
"""

import re
from functools import cache

from knowledge.loader import load
from store.index.terms import term_set

_YEAR = r"(?:19|20)\d\d(?:\s*[–-]\s*(?:19|20)?\d\d)?(?![\d.%]|\s*%)"
_COUNT = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|half)"
_ASKING_HEADING = re.compile(
    r"(?i)(?:what|which|who|where|how\s+(?:to|it|this|these|is|are|was|were|do|does|did|we|should))\b"
)


def _any_of(group: str) -> str:
    ordered = sorted(load("answering/verifying")[group], key=len, reverse=True)
    return "|".join(r"\s+".join(map(re.escape, one.split())) for one in ordered)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    counted, named = _any_of("announcing"), _any_of("numbered_things")
    number = rf"(?<![\w.-])(?!{_YEAR})\d[\d.,·]{{0,40}}+(?!\s{{1,40}}(?:{counted})\b)"
    return {
        "measured": re.compile(
            rf"(?i)(?<!\b(?:x)\s)(?:{number}|\d\s?%|\b(?:{_COUNT})\s+(?:out\s+)?(?:of|in)\s+(?:{_COUNT}|\d)|\bper\s?cent\b|[<>≤≥=]\s?\d)"
        ),
        "share": re.compile(r"(?i)\d\s?%|\bper\s?cent\b|[<>≤≥=]\s?\d"),
        "named": re.compile(rf"(?i)\b(?:{named})\s+\d+(?:[.,]\d+)?[a-z]?\b"),
        "numbering": re.compile(r"^\W*\d{1,2}(?:\.\d{1,2}){0,3}[.)]?\s+(?=[A-Z])"),
        "verb": re.compile(rf"(?i)(?<![\w-])(?:{_any_of('verbs')})(?![\w-])"),
        "noun_or_verb": re.compile(
            rf"(?i)(?<=\w\s)(?:{_any_of('verbs_or_nouns')})(?=\s+(?!(?:of|in|and|or|for|by|to|with|from|at|on"
            rf"|rates?|groups?|after|during|among)\b)\w)"
        ),
        "judging": re.compile(rf"(?i)(?<![\w-])(?:{_any_of('judging')})(?![\w-])"),
        "participle": re.compile(rf"\b(?!(?:{_any_of('participles')})\b)[a-z]{{2,}}ed\b(?!-)"),
        "announcing": re.compile(rf"(?i)(?<![\w-])(?:{counted})(?![\w-])"),
        "asking": re.compile(
            rf"(?i)(?:^|[,:;—–]\s+)(?:(?:and|but|so|or|then)\s+)?(?:{_any_of('asking')})(?!\w|n['’]t)"
        ),
        "tells": re.compile(rf"(?i)(?<!\w)(?:{_any_of('telling_questions')})(?!\w)"),
        "presumes": re.compile(
            r"(?i)^\W*(?:why|how(?!\s+(?:many|much|often|long|likely|large))|when)\b"
        ),
        "ends_open": re.compile(r"(?i)\b(?:is|are|was|were|includ(?:es?|ed|ing))\s*$"),
    }


def measures(words: str) -> bool:
    """Whether words hold a number that is no year, no part of a name and no number of a list."""
    patterns = _patterns()
    words = patterns["named"].sub(" ", patterns["numbering"].sub("", words))
    return patterns["measured"].search(words) is not None


def asserts(words: str) -> bool:
    """Whether a heading or a title says how things are."""
    return measures(words) or has_predicate(words)


def has_predicate(words: str) -> bool:
    """Whether words hold a verb that states, or a word of judging: "no", "safe", "superior"."""
    patterns = _patterns()
    return any(patterns[one].search(words) for one in ("verb", "noun_or_verb", "judging"))


def names_as_a_title(words: str) -> bool:
    """Whether words may be the title of a source, which says what was studied, not what was found;
    a dose or a count may stand in one, a share may not."""
    patterns = _patterns()
    said = has_predicate(words) or patterns["participle"].search(words)
    return not said and not patterns["share"].search(words)


def leads_on(words: str) -> bool:
    """Whether words that end in a colon only announce what follows: few of them are left without
    those that name or count it, and none measures or says how things are."""
    patterns = _patterns()
    rest = words.rstrip(" :*_")
    is_open = patterns["ends_open"].search(rest)
    rest = rest[: is_open.start()] if is_open else rest
    if measures(rest):
        return False
    content = len(term_set(patterns["announcing"].sub(" ", patterns["verb"].sub(" ", rest))))
    if has_predicate(rest):
        return content < int(load("answering/verifying")["least_terms"])
    return is_open is not None or content <= int(load("answering/verifying")["leading_terms"])


def heads(words: str) -> bool:
    """Whether a heading only says what it stands over: "Safety", "What the trials show"."""
    asks = _ASKING_HEADING.match(words) and ":" not in words and not measures(words)
    return bool(asks) or not asserts(words)


def only_asks(words: str) -> bool:
    """Whether words that end in a question mark ask and state nothing.

    "Did you know that it cures 90%?" and "Yes, in 90% of patients?" state something.
    """
    patterns = _patterns()
    asking = patterns["asking"].search(words)
    if asking is None:
        return not asserts(words)
    if asserts(words[: asking.start()]):
        return False
    told = patterns["tells"].search(words)
    if told is not None:
        return not asserts(words[told.end() :])
    return not (patterns["presumes"].search(words) and measures(words))


def is_courtesy(words: str) -> bool:
    """Whether words are nothing but a manner of speaking ("Certainly!")."""
    plain = " ".join(re.sub(r"[^\w\s]", " ", words).casefold().split())
    return plain in load("answering/verifying")["courtesies"]
