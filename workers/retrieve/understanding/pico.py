"""Patient, intervention, comparison, outcome and condition, in the question's own words. Pure.

A part that the question does not state is None. Intervention, comparison and outcome are read from
the sentences that ask: a note's history is no question.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from knowledge.loader import load
from knowledge.matching.words import Mention, Words
from knowledge.questions.classification import is_aspect
from knowledge.subjects.tags import label
from workers.retrieve.understanding.model import Pico
from workers.retrieve.understanding.patient import age_at
from workers.retrieve.understanding.sentences import sentences

_AGAINST = re.compile(
    r"\b(?:versus|vs\.?(?!\w)|compared? (?:with|to|against)|rather than|instead of|"
    r"(?:safer|better|worse|superior|non-?inferior|inferior|preferable|preferred|"
    r"(?:more|less) \w+) (?:than|to|over))\s",
    re.IGNORECASE,
)
_OVER = re.compile(r"\b(?:advantages?|benefits?) of (?P<one>[^?.,;]{2,60}?) over ", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween (?P<one>[^?.,;]{2,60}?) and ", re.IGNORECASE)
# Where a noun phrase ends, seen from the words between the two that are compared.
_EDGE = re.compile(
    r"[?.,;:()\n]|\b(?:what|which|who|how|why|when|where|should|would|could|can|may|might|will|"
    r"do|does|did|is|are|was|were|be|been|has|have|had|in|on|for|of|to|at|by|from|with|without|"
    r"after|before|during|about|as|than|if|and|or|but|that|there|between|trials?|stud(?:y|ies)|"
    r"compar\w+|us(?:e|es|ed|ing)|start\w*|giv\w+|choos\w+|prefer\w*|evidence|"
    r"(?:improv|reduc|increas|lower|affect|chang|help|prevent|lead|result|show)\w*)\b",
    re.IGNORECASE,
)
_MOST_WORDS = 7
_TAIL = re.compile(
    r"(?:-\w{1,80})?(?:\s{1,40}(?:therap(?:y|ies)|treatments?|testing|tests?|assays?|management|strateg\w+))?"
)
_CASE_END = re.compile(
    r"\.(?=\s|$)|[?!;\n]|\b(?:present\w*|is|was|are|has|had|comes?|came|admitted|takes?|who|currently|should|"
    r"would|could|what|which|when|how|does|do|can)\b",
    re.IGNORECASE,
)


@cache
def _outcomes() -> Words:
    return Words({phrase: (phrase,) for phrase in load("subjects/vocabulary")["outcomes"]})


@cache
def _population() -> re.Pattern[str]:
    nouns = "|".join(load("questions/questions")["populations"])
    return re.compile(
        r"\b(?:in|for|among|of|do|does|can|should|are)\s+"
        rf"(?P<who>(?:(?!in\b|for\b|of\b|with\b|and\b|to\b)[\w-]+\s+){{0,3}}?(?:{nouns})\b"
        r"(?:\s+(?:with|who|on|after|under|undergoing|without|aged|having|in|at|treated|receiving)\b"
        r"[^?.,;]{0,80})?)",
        re.IGNORECASE,
    )


def read_pico(
    question: str, diseases: Sequence[Mention], decisions: Sequence[Mention], condition: str | None
) -> Pico:
    """The five parts (EB-1.1).

    Args:
        question: the whole of it.
        diseases: what it names and does not deny, in order.
        decisions: likewise.
        condition: the primary disease tag.
    """
    asking = [one for one in sentences(question) if one.asks] or sentences(question)
    parts = [question[one.start : one.end] for one in asking]
    pairs = [pair for part in parts if (pair := _compared(part))]
    asked = [one for one in decisions if any(part.holds(one.start) for part in asking)]
    intervention, comparison = pairs[0] if pairs else _alternatives(question, asked)
    return Pico(
        patient=_case(question) or _group(parts) or _stated_condition(question, diseases),
        intervention=intervention or _intervention(question, [*asked, *decisions]),
        comparison=comparison,
        outcome=_outcome(question, diseases, asking_only=[(one.start, one.end) for one in asking]),
        condition=label("diseases", condition) if condition else None,
    )


def _compared(sentence: str) -> tuple[str | None, str | None] | None:
    """What stands before and after the words that compare."""
    for pattern in (_OVER, _BETWEEN):
        if found := pattern.search(sentence):
            return found["one"].strip(), _first_phrase(sentence[found.end() :])
    if found := _AGAINST.search(sentence):
        return _last_phrase(sentence[: found.start()]), _first_phrase(sentence[found.end() :])
    return None


def _first_phrase(words: str) -> str | None:
    edge = _EDGE.search(words)
    return _phrase(words[: edge.start()] if edge else words)


def _last_phrase(words: str) -> str | None:
    return _phrase(_EDGE.split(words)[-1])


def _phrase(words: str) -> str | None:
    words = re.sub(r"^(?:the|an?)\s+", "", words.strip(" \"'"), flags=re.IGNORECASE)
    return words if 0 < len(words.split()) <= _MOST_WORDS else None


def _alternatives(question: str, decisions: Sequence[Mention]) -> tuple[str | None, str | None]:
    """Two decisions with nothing but "or" or "over" between them: apixaban or warfarin."""
    for one, other in pairwise(decisions):
        if re.fullmatch(r"\s+(?:or|over)\s+", question[one.end : other.start]):
            return question[one.start : one.end], question[other.start : other.end]
    return None, None


def _intervention(question: str, decisions: Sequence[Mention]) -> str | None:
    """The first decision that is one, with the noun that it belongs to: ctDNA-guided therapy."""
    for one in decisions:
        if not is_aspect(one.name):
            tail = _TAIL.match(question, one.end)
            words = question[one.start : tail.end() if tail else one.end]
            return re.sub(r"^(?:which|choice of|preferred)\s+", "", words, flags=re.IGNORECASE)
    return None


def _case(question: str) -> str | None:
    """The patient whose age is stated, up to what happened or is asked."""
    at = age_at(question)
    if at is None:
        return None
    end = _CASE_END.search(question, at[1])
    words = question[at[0] : end.start() if end else len(question)]
    return words[:200].rsplit(" ", 1)[0].strip(" ,:") if len(words) > 200 else words.strip(" ,:")


def _group(sentences: Sequence[str]) -> str | None:
    found = (match for one in sentences if (match := _population().search(one)))
    match = next(found, None)
    if match is None:
        return None
    words = match["who"]
    verb = re.search(
        r"\s+(?:(?:improv|reduc|increas|lower|affect|chang|help|tak|need|hav|receiv|benefit)\w*|what|which|does|is|are|be|get)\b",
        words,
    )
    return (words[: verb.start()] if verb else words).strip()


def _stated_condition(question: str, diseases: Sequence[Mention]) -> str | None:
    """The disease as written, with what stands between it and a preposition: stage III cancer."""
    for one in diseases:
        before = re.search(
            r"\b(?:in|for|with|of)\s+((?:(?!(?:in|for|with|of)\b)[\w-]+\s+){0,3})\Z",
            question[max(0, one.start - 100) : one.start],  # longer than any three words
            re.IGNORECASE,
        )
        if before:
            return (before[1] + question[one.start : one.end]).strip()
    return question[diseases[0].start : diseases[0].end] if diseases else None


def _outcome(
    question: str, diseases: Sequence[Mention], asking_only: Sequence[tuple[int, int]]
) -> str | None:
    """The outcomes that are asked about; "prior stroke" is a history and none."""
    named = [
        one.name
        for one in _outcomes().mentions(question)
        if any(start <= one.start < end for start, end in asking_only)
        and not any(history.start <= one.start < history.end for history in diseases)
    ]
    return ", ".join(dict.fromkeys(named)) or None
