"""Where sentences end in clinical English: rules over the full stops, in one pass.

The rules are ours. Each stop is looked at once, with a bounded number of characters before and
after it, so time is linear in the text whatever it holds. Vocabulary:
knowledge/reading/abbreviations.yaml.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from knowledge.loader import load

# A run of stops and what may close after it: quotation marks, brackets, emphasis, superscript
# references. Possessive, and it always matches what it consumes: no backtracking, no rescanning.
# Points within numbers (0.05) and before letters (e.g, ClinicalTrials.gov) end nothing.
_STOP = re.compile(
    r"[.!?…。！？｡](?!(?<=\.)[^\W\d_¹²³⁰⁴-⁹]|(?<=\d\.)\d)[.!?…。！？｡]*+[)\]}\"'”’»›*_¹²³⁰⁴-⁹]*+"
)
_WIDE_STOPS = frozenset("。！？｡")  # these end a sentence without a space after them
_BRACKET_REFERENCE = re.compile(r" ?\[\d[\d,;\-–— ]{0,60}\](?=\s|\Z)")
_GLUED_REFERENCE = re.compile(r"\d{1,3}(?:[,\-–]\d{1,3}){0,9}(?=\s|\Z)")
_SPACE = re.compile(r"\s*+")
_WORD = re.compile(r"\w{1,20}")
_LETTERS_WITH_STOPS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_LABEL = re.compile(r"\d{1,3}(?:\.\d{1,3}){0,4}|[A-Za-z]|[IVXivx]{1,5}")
_LETTER_BEFORE = re.compile(r"(?<![^\W_])[^\W\d_]\.[ \u00a0\u202f]\Z")  # "V. a.", "z. B."
_LOOK_BACK = 24  # characters; longer words are no abbreviations
_OPENING = "([{<\"'“‘«-–—/*_"


class _Vocabulary(NamedTuple):
    never_last: frozenset[str]
    before_number: frozenset[str]
    before_opener: frozenset[str]
    before_lower_case: frozenset[str]
    also_in_capitals: frozenset[str]
    sentence_openers: frozenset[str]


def _vocabulary() -> _Vocabulary:
    lists = load("reading/abbreviations")
    return _Vocabulary(*(frozenset(lists[name]) for name in _Vocabulary._fields))


_WORDS = _vocabulary()
_SHORT_FORMS = _WORDS.never_last | _WORDS.before_number | _WORDS.before_opener
_LONGEST_LABEL = 5  # letters: see _LABEL


def sentence_spans(
    text: str, start: int, end: int, *, label_from: int
) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]`, a stretch that begins and ends with a visible character.

    `label_from` is where its words begin, behind a list marker: no sentence ends before it.
    Yields ranges of code points, trimmed, in order, together holding every visible character.
    """
    begin = start
    for stop in _STOP.finditer(text, label_from, end):
        at = stop.end()
        if at < end:
            at = _boundary(text, begin, stop.start(), at, end)
        if at <= begin:
            continue
        yield begin, at
        if at == end:
            return
        begin = _visible(text, at, end)
        if begin >= end:
            return
    yield begin, end


def _visible(text: str, at: int, end: int) -> int:
    """The first visible character from `at` on; `end` if there is none."""
    if not text[at].isspace():
        return at
    at += 1
    if at >= end or not text[at].isspace():  # one space, as nearly always
        return at
    space = _SPACE.match(text, at, end)
    return space.end() if space else at


def _boundary(text: str, begin: int, stop: int, after: int, end: int) -> int:
    """Where the sentence ends whose possible stop is `text[stop:after]`; -1 if it goes on."""
    mark = text[stop]
    reference = (
        _BRACKET_REFERENCE.match(text, after, end) if "[" in text[after : after + 2] else None
    )
    if reference:
        after = reference.end()
    elif not text[after].isspace():
        if mark in _WIDE_STOPS:
            return after
        glued = _GLUED_REFERENCE.match(text, after, end)
        if not glued or not _can_carry_reference(text, begin, stop):
            return -1
        after = glued.end()
    if after >= end:
        return end
    following = _visible(text, after, end)
    if following >= end:
        return after
    if following == end - 1 and text[following] in "\"'”’»)]":
        return end  # «dementia. "»
    if mark == "." and text[stop + 1] not in ".!?…":
        ends = _full_stop_ends(text, begin, stop, following)
    else:
        ends = _other_mark_ends(text, stop, after, following)
    return after if ends else -1


def _can_carry_reference(text: str, begin: int, stop: int) -> bool:
    """Whether a number glued to this stop is a reference, not a decimal or a version."""
    if text[stop - 1].isspace():
        return False  # "p = .05"
    word = _word_before(text, begin, stop)
    return len(word) >= 3 and (word[-1] in ")]%" or word.isalpha()) and not _is_short_form(word)


def _word_before(text: str, begin: int, stop: int) -> str:
    words = text[max(begin, stop - _LOOK_BACK) : stop].rsplit(None, 1)
    return words[-1].lstrip(_OPENING) if words else ""


def _is_short_form(word: str) -> bool:
    lower = word.lower()
    return any(lower in group for group in _WORDS[:4])


def _full_stop_ends(text: str, begin: int, stop: int, following: int) -> bool:
    """Whether a single full stop ends its sentence, given the visible character that follows."""
    word = _word_before(text, begin, stop)
    first = text[following]
    lower = word.lower()
    plain = len(word) > _LONGEST_LABEL and word.isalpha() and lower not in _SHORT_FORMS
    if plain and first.isupper():
        return True  # as the rules below would find
    if not word.strip(".…") or first in ",;:)]}%=<>.!?…":
        return False  # also the dots of a leader, ". . . ."
    if len(word) == stop - begin and _LABEL.fullmatch(word):
        return False  # "2. " at the head of a sentence is its number
    if len(word) > 1 and word.isupper() and lower not in _WORDS.also_in_capitals:
        lower = ""  # an acronym; U.S and the like have their own rule below
    if lower in _WORDS.never_last:
        return False
    if lower in _WORDS.before_number and (first.isdigit() or _is_figure_label(text, following)):
        return False
    if (
        lower in _WORDS.before_opener
        or (len(word) == 1 and (word.isupper() or word in "pc"))
        or _LETTERS_WITH_STOPS.fullmatch(word)
        or (len(word) == 1 and _LETTER_BEFORE.search(text, max(begin, stop - 4), stop - 1))
    ):
        return _opens_sentence(text, following)
    if first.islower():
        return _lower_case_opens(text, following, word, lower)
    return True


def _is_figure_label(text: str, at: int) -> bool:
    """S1, A, 3B and the like."""
    label = _WORD.match(text, at)
    return (
        label is not None
        and len(label[0]) <= 3
        and label[0][0] in "ABCDESX"
        and (len(label[0]) == 1 or label[0][-1].isdigit())
    )


def _opens_sentence(text: str, at: int) -> bool:
    word = _WORD.match(text, at)
    return word is not None and word[0][0].isupper() and word[0].lower() in _WORDS.sentence_openers


def _lower_case_opens(text: str, at: int, before: str, lower_before: str) -> bool:
    """Whether a sentence may begin in lower case here.

    Yes for names such as ctDNA or p53, and after a plain word long enough not to be a short form.
    """
    word = _WORD.match(text, at)
    if word is not None and any(c.isupper() or c.isdigit() for c in word[0][1:]):
        return True
    if lower_before in _WORDS.before_lower_case:
        return False
    return not before[-1:].isalpha() or (len(before) >= 4 and before.isalpha() and before.islower())


def _other_mark_ends(text: str, stop: int, after: int, following: int) -> bool:
    """Whether `?`, `!` or an ellipsis ends its sentence."""
    first = text[following]
    if first == "(" and text[following + 1 : following + 2].islower():
        return False  # "lidocaine? (unsure)"
    if not first.islower():
        return first not in ",;:)]}"
    if text[stop] in ".…":
        return False
    # «"Why?" he asked» goes on, and so does the lone query mark of notes: «? pneumonia»
    closed = text[after - 1] in "\"'”’»)"
    return not closed and stop > 0 and not text[stop - 1].isspace()
