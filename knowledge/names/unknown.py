"""Names that no table has, by how they are written and where they stand. Pure.

A new drug, a trial or a test is written as a name is: with capitals, with letters and digits, as a
word of no dictionary, or in a name's place. What it is, is unknown.
"""

import re
from collections.abc import Iterator, Sequence

from knowledge.names.name import Name
from knowledge.names.spelling import Word, fold
from knowledge.names.tables import tables

_CHUNK = re.compile(r"[^\W_]+(?:[-‐‑/'’][^\W_]+)*\+?")
_CODE = re.compile(r"[A-Z]{2,6}\s(?=\d{3,})\d+[A-Z]?(?![\w.,]*\d)")
_OPENING = "\"“'([•*-"
_BEGINS = '"“([•\n'
"""Those of them behind which a sentence begins, wherever they stand."""
_PLACE = re.compile(
    r"(?i)\b(?:treated with|treatment with|therapy with|receiv(?:e|es|ed|ing)|taking|given"
    r"|administration of|dos(?:e|es|age) of|action of|efficacy of|safety of|effects? of"
    r"|response to|versus|vs\.?)\s$"
)
_PREFIX = re.compile(
    r"(?:non|anti|pre|post|re|un|co|sub|multi|inter|intra|over|under|micro|bio|trans|peri|semi"
    r"|hyper|hypo|neuro|cardio|immuno|chemo|radio|geno|patho|photo|thermo|psycho|electro|sero)"
)
_SUFFIX = re.compile(r"(?:ed|ing|ly|al|ic|ity|able|ness|er|or|ically|isation|ise|ised)$")
_ROMAN = r"(?=[IVXLC])(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})[ab]?"
_ROMANS = re.compile(rf"{_ROMAN}(?:[-/‐‑]{_ROMAN})?")
_RARE = 5
"""Letters of a rare word, at least: shorter ones are often abbreviations of notes (ours)."""
_SHORT = 3
"""Letters of a word that titles do not write with a capital, at most (ours)."""
_BEFORE = 40
"""Characters before a word that tell its place (ours)."""


def unknown_names(
    text: str, said: Sequence[Word], known: Sequence[Name], *, typed: bool = False
) -> Iterator[Name]:
    """The names in `text` that overlap none of `known`, in order.

    Args:
        typed: a question, in which a capital in mid-sentence is that of a name.
    """
    marks = typed and not _is_in_title_case(text)
    taken = {at for name in known for at in range(name.start, name.end)}
    folded: dict[int, list[Word]] = {}
    chunks = [(m.start(), m.end()) for m in _CHUNK.finditer(text)]
    codes = {m.start(): m.end() for m in _CODE.finditer(text)}
    at_word = 0
    last = 0
    for start, end in chunks:
        while at_word < len(said) and said[at_word].start < start:
            at_word += 1
        parts = []
        while at_word < len(said) and said[at_word].start < end:
            parts.append(said[at_word])
            at_word += 1
        if start < last or not parts or any(at in taken for at in (start, end - 1)):
            continue
        if start in codes:
            end = codes[start]
            folded[start] = [word for word in said if start <= word.start < end]
        elif _is_name(text, start, end, parts, marks=marks):
            folded[start] = parts
        else:
            continue
        last = end
        yield Name(start, end, "".join(word.folded for word in folded[start]))


def _is_in_title_case(text: str) -> bool:
    """Whether more of the longer words of a text begin with a capital than do not."""
    longer = [word for word in text.split() if len(word) > _SHORT]
    return 2 * sum(word[0].isupper() for word in longer) > len(longer)


def _is_name(text: str, start: int, end: int, parts: Sequence[Word], *, marks: bool) -> bool:
    written = text[start:end]
    if not written[0].isalpha():
        return False
    capitals = sum(letter.isupper() for letter in written)
    if any(letter.isdecimal() for letter in written):
        return capitals > 0 and _is_alphanumeric(written)
    if text[end : end + 1] == ":" and capitals == sum(map(str.isalpha, written)):
        return False  # a heading
    if capitals >= 2 and _has_inner_capital(written):
        return not _is_shouted(text, start, end, written) and _ROMANS.fullmatch(written) is None
    if len(parts) > 1 or not parts[0].folded.isalpha():
        return False
    is_word = _is_word(parts[0].folded)
    if is_word and marks and written[0].isupper():  # Cardiosure is made like cardiorenal
        is_word = tables().is_word(parts[0].folded)
    if len(written) >= _RARE and not is_word:
        return True
    before = text[max(0, start - _BEFORE) : start]
    if not written[0].isupper() or _begins_sentence(before):
        return False
    return (not is_word and len(written) > 2) or _PLACE.search(before) is not None


def _begins_sentence(before: str) -> bool:
    """Whether a sentence begins behind these characters, but for what opens it."""
    at = len(before)
    while at and (before[at - 1].isspace() or before[at - 1] in _OPENING):
        at -= 1
    return at == 0 or before[at - 1] in ".!?:;" or not set(_BEGINS).isdisjoint(before[at:])


def _is_alphanumeric(written: str) -> bool:
    """T790M, IL-6, COVID-19 and Guardant360, not Day-7 nor Day7."""
    head = re.split(r"[-‐‑/]", written)[0]
    letters = head.rstrip("0123456789")
    if letters != head and letters.istitle() and len(letters) >= _RARE:
        return not tables().is_word(fold(letters))
    return len(written) > 1 and not (head.istitle() and len(head) > 1)


def _has_inner_capital(written: str) -> bool:
    return any(letter.isupper() for letter in written[1:]) and not all(
        part.istitle() for part in re.split(r"[-‐‑/'’]", written)
    )


def _is_shouted(text: str, start: int, end: int, written: str) -> bool:
    """An ordinary word in capitals, or a line of capitals. Capitals within a word (GenoCheck) are
    not for stress: of such words only those of a dictionary are none."""
    folded = fold(written.lower())
    if len(written) >= 4 and (_is_word(folded) if written.isupper() else tables().is_word(folded)):
        return True
    line = text[max(0, start - _BEFORE) : end + _BEFORE]
    return line.isupper()


def _is_word(folded: str) -> bool:
    table = tables()
    if table.is_word(folded):
        return True
    rest = _PREFIX.sub("", folded, count=1)
    stem = _SUFFIX.sub("", rest)
    return len(stem) > 3 and any(
        table.is_word(form) for form in (rest, stem, f"{stem}e", f"{stem}y", f"{stem}a")
    )
