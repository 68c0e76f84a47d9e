"""Scores sentences by signals of clinical weight and chooses a document's anchors (MC-3.3a-c).

Anchors are ranges of whole sentences in the stored text, so they are verbatim by construction.
Signals, weights and limits: knowledge/reading/signals.yaml.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from knowledge.loader import load
from knowledge.matching.literals import needs, needs_digit
from store.core.spans import Section, Structure

_POLICY = load("reading/signals")
AT_LEAST: int = _POLICY["anchors"]["at_least"]
AT_MOST: int = _POLICY["anchors"]["at_most"]
_MORE_THAN_CHARS: int = _POLICY["anchors"]["more_than_chars"]
_AT_LEAST_WORDS: int = _POLICY["anchors"]["at_least_words"]
_AT_MOST_CHARS: int = _POLICY["anchors"]["at_most_chars"]
_NEAR_DUPLICATE: float = _POLICY["anchors"]["near_duplicate"]
_SECTIONS_LAST = frozenset(_POLICY["sections_last"])


class _Guarded(NamedTuple):
    """A pattern with a cheap test: strings of which every match holds one, and whether every match
    holds a digit."""

    needed: tuple[str, ...]
    needs_digit: bool
    pattern: re.Pattern[str]


class _Signal(NamedTuple):
    name: str
    weight: int
    patterns: tuple[_Guarded, ...]
    case_sensitive: bool


def _signals() -> list[_Signal]:
    """The signals of the policy, strongest first."""
    signals = [
        _Signal(
            name,
            signal["weight"],
            _compiled(signal["patterns"]),
            signal.get("case_sensitive", False),
        )
        for name, signal in _POLICY["signals"].items()
    ]
    return sorted(signals, key=lambda signal: -signal.weight)


def _compiled(patterns: list[str]) -> tuple[_Guarded, ...]:
    """The patterns with their cheap tests. Those that begin with a word share one word boundary.

    The boundary then fails at most places before any alternative is tried: some three times faster.
    """
    joined: dict[bool, list[str]] = {}
    others: list[str] = []
    for pattern in patterns:
        if pattern.startswith(r"\b"):
            joined.setdefault(needs_digit(re.compile(pattern)), []).append(f"(?:{pattern[2:]})")
        else:
            others.append(pattern)
    words = [rf"\b(?:{'|'.join(alike)})" for alike in joined.values()]
    compiled = map(re.compile, words + others)
    return tuple(_Guarded(needs(regex).exact, needs_digit(regex), regex) for regex in compiled)


_SIGNALS = _signals()
_KINDS: dict[str, str] = _POLICY["kinds"]
KINDS: tuple[str, ...] = tuple(dict.fromkeys(_KINDS.values()))
_VERB = re.compile(_POLICY["verbs"], re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2,}")
_TOKEN = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"[-−<>≤≥=\d](?:(?<=\d)|\d)[\d.,]*")
_MARKS = "#*_=-: \t\n"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A quotable sentence: its range `[start, end)` in code points, its score and signals."""

    start: int
    end: int
    score: int
    signals: tuple[str, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of sentence that its signals indicate, strongest first; empty without any."""
        return tuple(dict.fromkeys(_KINDS[name] for name in self.signals))


def score(sentence: str) -> tuple[int, tuple[str, ...]]:
    """The sum of the weights of a sentence's signals, and their names, the strongest first.

    Each signal counts once, whatever the number of its matches.
    """
    lower = sentence.lower()
    digit = _DIGIT.search(sentence) is not None
    total, names = 0, []
    for name, weight, patterns, case_sensitive in _SIGNALS:
        if _is_given(patterns, sentence if case_sensitive else lower, digit):
            total += weight
            names.append(name)
    return total, tuple(names)


def _is_given(patterns: tuple[_Guarded, ...], sentence: str, digit: bool) -> bool:
    for needed, needs_a_digit, pattern in patterns:
        if needs_a_digit and not digit:
            continue
        for string in needed:
            if string in sentence:
                if pattern.search(sentence):
                    return True
                break
    return False


def anchors(
    text: str, structure: Structure, *, at_least: int = AT_LEAST, at_most: int = AT_MOST
) -> list[Anchor]:
    """The `at_least` to `at_most` sentences of highest signal, in document order.

    Beyond `at_least`, only sentences with a signal are taken. There are fewer only if the document
    has fewer distinct sentences: headings, table rows and fragments (up to 20 characters, or fewer
    than four words and no verb) do not count. Equal scores are ordered by position; very long
    sentences and those of parts such as References only fill up to `at_least`. No anchor repeats
    another.
    """
    candidates = sorted(_candidates(text, structure), key=lambda entry: (entry[0], -entry[1].score))
    chosen: list[Anchor] = []
    keys: dict[tuple[str, ...], list[frozenset[str]]] = {}
    for last, anchor in candidates:
        if len(chosen) >= at_most or (len(chosen) >= at_least and (last or not anchor.score)):
            break
        sentence = text[anchor.start : anchor.end]
        words = frozenset(_TOKEN.findall(sentence.casefold()))
        # Sentences with different numbers state different facts, whatever their words.
        chosen_words = keys.setdefault(_numbers(sentence), [])
        if any(_repeats(words, earlier) for earlier in chosen_words):
            continue
        chosen_words.append(words)
        chosen.append(anchor)
    return sorted(chosen, key=lambda anchor: anchor.start)


def too_few(text: str, structure: Structure, found: int) -> str | None:
    """Why a document has only `found` anchors; None if it has enough."""
    if found >= AT_LEAST:
        return None
    real = sum(1 for _ in _candidates(text, structure))
    if real > found:
        return f"{real} sentences, which repeat each other"
    if not structure.sentences:
        return "no text"
    rest = len(structure.sentences) - real
    reason = "1 whole sentence" if real == 1 else f"{real} whole sentences"
    return reason + (f" ({rest} headings, rows, fragments)" if rest else "")


def _candidates(text: str, structure: Structure) -> Iterator[tuple[bool, Anchor]]:
    """Each real sentence with its score, and whether it only serves to reach `at_least`."""
    sections = iter(structure.sections)
    section = Section(title="", start=0, end=0)
    last = False
    for start, end in structure.sentences:
        while start >= section.end:
            section = next(sections)
            last = _comes_last(section.title)
        sentence = text[start:end]
        if _is_real(sentence) and not _is_heading(sentence, section.title):
            yield last or len(sentence) > _AT_MOST_CHARS, Anchor(start, end, *score(sentence))


def _comes_last(title: str) -> bool:
    name = title.casefold()
    return name in _SECTIONS_LAST or name.rsplit(".", 1)[-1] in _SECTIONS_LAST


def _is_real(sentence: str) -> bool:
    if len(sentence) <= _MORE_THAN_CHARS or sentence[0] == "|" or " | " in sentence:
        return False
    words = 0
    for words, _ in enumerate(_WORD.finditer(sentence), 1):
        if words >= _AT_LEAST_WORDS:
            return True
    return words > 0 and _VERB.search(sentence) is not None


def _is_heading(sentence: str, title: str) -> bool:
    if sentence[0] == "#" or sentence.rstrip("=-") != sentence.rstrip():
        return True
    return sentence.strip(_MARKS) == title or (sentence.isupper() and sentence[-1] not in ".!?")


def _numbers(sentence: str) -> tuple[str, ...]:
    return tuple([number.rstrip(".,") for number in _NUMBER.findall(sentence)])


def _repeats(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sentences have nearly the same words."""
    union = len(one | other)
    return union == 0 or len(one & other) / union >= _NEAR_DUPLICATE
