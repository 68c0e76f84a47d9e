"""Which of the diseases that a text names it says the patient has (NegEx, family history). Pure.

After Chapman WW et al., J Biomed Inform 2001;34:301-310; terms in `knowledge/questions.yaml`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from knowledge.loader import load
from knowledge.words import Mention
from workers.retrieve.understanding.sentences import Sentence, sentences


@dataclass(frozen=True)
class _Terms:
    before: re.Pattern[str]
    own_before: re.Pattern[str]
    pseudo: re.Pattern[str]
    after: re.Pattern[str]
    stop: re.Pattern[str]
    listing: frozenset[str]
    window: int


@cache
def _terms() -> _Terms:
    lists = load("questions")["negation"]
    return _Terms(
        before=_any([*lists["before"], *lists["family"]]),
        own_before=_any(lists["before"]),
        pseudo=_any(lists["pseudo"]),
        after=_any(lists["after"]),
        stop=_any(lists["stop"]),
        listing=frozenset([*lists["listing"], *lists["family"]]),
        window=lists["window"],
    )


_REACH = 400
"""Characters around a disease within which terms are looked for: time stays linear in the text."""


def _any(words: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    alternatives = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in longest_first)
    return re.compile(rf"(?<![\w-])(?:{alternatives})(?!\w)", re.IGNORECASE)


def asserted(text: str, mentions: Iterable[Mention]) -> list[Mention]:
    """Those of `mentions` that `text` neither denies nor tells of a relative, unless that relative
    is the patient."""
    found = sentences(text)
    before = _terms().own_before if _is_on_relative(text) else _terms().before

    def holds(one: Mention) -> bool:
        whole = found[bisect_right(found, one.start, key=lambda part: part.start) - 1]
        sentence = Sentence(
            max(whole.start, one.start - _REACH), min(whole.end, one.end + _REACH), whole.asks
        )
        return not (
            _non(text, one)
            or _denied_before(text, sentence, one, before)
            or _denied_after(text, sentence, one)
        )

    return [one for one in mentions if holds(one)]


def _non(text: str, mention: Mention) -> bool:
    """Whether "non" stands right before it, as in non-diabetic."""
    return (
        re.search(
            r"(?<!\w)non[- ]\Z", text[max(0, mention.start - 5) : mention.start], re.IGNORECASE
        )
        is not None
    )


def _is_on_relative(text: str) -> bool:
    """Whether a question is on a relative of whoever asks, and not on the asker's own risk."""
    lists = load("questions")["negation"]
    return bool(re.search(lists["relative_asked"], text[:_REACH], re.IGNORECASE)) and not re.search(
        lists["own_risk"], text, re.IGNORECASE
    )


def _denied_before(
    text: str, sentence: Sentence, mention: Mention, before: re.Pattern[str]
) -> bool:
    terms = _terms()
    pseudo = [match.span() for match in terms.pseudo.finditer(text, sentence.start, mention.end)]
    return any(
        _reaches(text, sentence, term, mention)
        # Up to the end of the mention: "no history of" is a term and "history of stroke" a word.
        for term in before.finditer(text, sentence.start, mention.end)
        if term.start() < mention.start
        and not any(start <= term.start() < end for start, end in pseudo)
    )


def _reaches(text: str, sentence: Sentence, term: re.Match[str], mention: Mention) -> bool:
    """Whether the scope of a term goes as far as the mention."""
    terms = _terms()
    between = text[term.end() : mention.start]
    if terms.stop.search(between) or re.search(r"[;:()]", between):
        return False
    if "," in between or re.search(r"\band\b", between):
        # A list: each item begins a new window, if the list ends with "or" ("and" after denies).
        scope = _until_stop(text, mention.end, sentence.end)
        joined = r"\b(?:or|nor|and)\b" if _listing(term) else r"\b(?:or|nor)\b"
        if not re.search(joined, between + scope):
            return False
        between = re.split(r",|\band\b|\bor\b", between)[-1]
    return len(between.split()) <= terms.window


def _until_stop(text: str, start: int, end: int) -> str:
    stop = _terms().stop.search(text, start, end)
    return text[start : stop.start() if stop else end]


def _listing(term: re.Match[str]) -> bool:
    return re.sub(r"\s+", " ", term.group().lower()) in _terms().listing


def _denied_after(text: str, sentence: Sentence, mention: Mention) -> bool:
    if sentence.asks:  # "how is pulmonary embolism ruled out?" denies nothing
        return False
    terms = _terms()
    term = terms.after.search(text, mention.end, sentence.end)
    if term is None:
        return False
    between = text[mention.end : term.start()]
    stop = terms.stop.search(between) or re.search(r"[,;:]", between)
    return stop is None and len(between.split()) <= terms.window
