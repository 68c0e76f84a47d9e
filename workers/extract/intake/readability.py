"""Can a text be read at all? Asked before the loop, for no loop mends a bad scan. Pure."""

import re
from itertools import pairwise

from pydantic import BaseModel, ConfigDict, Field

from clinical_text.language import other_language
from clinical_text.layouts.logs import FRAME
from knowledge.reading.languages import seems_english
from workers.extract.rubrics import policy
from workers.extract.rules.laboratory.lab_parts import lab_named
from workers.extract.rules.laboratory.labs import lab_values

_WORD = re.compile(r"[^\W\d_]+")
_FRAME = re.compile(f"[{FRAME}]")
_VOWEL = re.compile(r"(?i)[aeiouyäöüáéíóúàèìòù]")
_PLAIN = re.compile(r"[\w\s.,;:()\[\]/%+\-–—'\"’“”<>=*&#|°²³µμα-ω×≥≤~^@?!$€£•·±→]")


class Unreadable(ValueError):
    """The text is too bad to extract from; the message is the one that the seed states."""

    def __init__(self, readability: "Readability") -> None:
        """Keeps what was found, so that a caller can show what to do."""
        limits = policy().readability
        super().__init__(limits.error if readability.language is None else limits.not_english)
        self.readability = readability


_OF_A_TABLE = re.compile(
    r"(?<![A-Za-zµμ])[A-Za-zµμ]++/[A-Za-z]++|(?<![^\s;,|<(\[])[HLN](?![^\s;,|>)\]])"
)
"""Units and flags of results: letters of theirs stand alone in the best of scans."""


class Readability(BaseModel):
    """How well a text can be read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    readable: bool
    confidence: float
    issues: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    language: str | None = Field(default=None, exclude=True)
    """Of a text that is not in English, as ISO 639-1: no rule reads its words."""


def assess(text: str, *, ocr_confidence: float | None = None) -> Readability:
    """Whether the text has words, or the debris of a scan (seed marc_v1, section 7.1).

    Args:
        ocr_confidence: how sure the program that read a scan is of its words, 0-1; the text can be
            no better than that.
    """
    limits = policy().readability
    words = _WORD.findall(text)
    issues: list[str] = []
    confidence = 1.0
    stripped = _FRAME.sub("", "".join(text.split()))
    if len(text.strip()) < limits.least_characters or len(words) < limits.least_words:
        issues.append("there is hardly any text")
        confidence -= 0.6
    if stripped and _share(stripped, str.isalpha) < limits.letters_share:
        # a table of numbers has few letters and is no debris: its words are whole
        issues.append("few of the characters are letters")
        confidence -= 0.2
    odd = sum(_PLAIN.match(one) is None for one in stripped)
    if stripped and odd / len(stripped) > limits.odd_characters_share:
        issues.append("many characters belong to no text")
        confidence -= min(0.6, 4 * odd / len(stripped))
    if words:
        strange = sum(_is_odd(one) for one in words) / len(words)
        if strange > limits.odd_words_share:
            issues.append("many words are none")
            confidence -= min(0.7, 0.2 + strange)
        alone = sum(len(one) == 1 for one in _WORD.findall(_OF_A_TABLE.sub(" ", text))) / len(words)
        if alone > limits.single_letters_share:
            issues.append("letters stand alone, as in a bad scan")
            confidence -= min(0.6, 0.1 + alone)
    if ocr_confidence is not None:
        if ocr_confidence < limits.sure_scan:
            issues.append("the scan is hard to read")
        confidence = min(confidence, ocr_confidence)
    confidence = round(max(0.0, confidence), 3)
    language = None if _is_table(text) else other_language(text)
    if language is not None and (confidence >= limits.readable_from or not seems_english(text)):
        return Readability(
            readable=False,
            confidence=0.0,
            issues=(f"the text is in another language than English ({language})",),
            suggestions=("Send a translation into English",),
            language=language,
        )
    suggestions = ("Upload a clearer scan", "Use a PDF with text in place of a photo")
    return Readability(
        readable=confidence >= limits.readable_from,
        confidence=confidence,
        issues=tuple(issues),
        suggestions=suggestions if issues else (),
    )


def _is_table(text: str) -> bool:
    """Whether most lines are rows of results whose names are known: their heads may be in any
    language."""
    known = sum(one.value.kind == "lab" and lab_named(one.value.name) is not None
                for one in lab_values(text))  # fmt: skip
    return known * 2 > sum(bool(one.strip()) for one in text.split("\n"))


def require_readable(text: str, *, ocr_confidence: float | None = None) -> Readability:
    """The same.

    Raises:
        Unreadable: the confidence is below the limit.
    """
    found = assess(text, ocr_confidence=ocr_confidence)
    if not found.readable:
        raise Unreadable(found)
    return found


def _share(text: str, test: object) -> float:
    assert callable(test)
    return sum(bool(test(one)) for one in text) / len(text)


def _is_odd(word: str) -> bool:
    """No vowel in a longer word that is not all capitals, or capitals inside small letters."""
    if len(word) < 4:
        return False
    if word.isupper():
        return len(word) > 6 and _VOWEL.search(word) is None
    inside = any(a.islower() and b.isupper() for a, b in pairwise(word))
    return _VOWEL.search(word) is None or (inside and sum(map(str.isupper, word)) > 2)
