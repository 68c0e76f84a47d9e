"""Words that name a tumor, by how such words are built, and the diagnosis of a specimen. Pure.

No list of tumors says which there are: the tables of names do, a word that ends in "-oma" and is
no other word is one, and what a pathologist puts as the diagnosis of a specimen is its diagnosis
whatever its name.
"""

import re
from collections.abc import Iterator
from functools import cache

from knowledge.names.spelling import key
from knowledge.names.tables import CAPITALS, tables
from workers.extract.fields import Found
from workers.extract.parts import Parts, Section
from workers.extract.rubrics import vocabulary
from workers.extract.rules.texts.negation import negated
from workers.extract.values import Words

_GENERAL = re.compile(
    r"(?i)\b(?:tumou?rs?|cancers?|neoplas\w+|malignan\w+|metasta\w+|polyps?|lesions?|mass|nodules?|"
    r"in[ -]situ|differentiated)\b"
)
"""General words for a tumor, and for what may be one."""
_WORD = re.compile(r"[A-Za-z]{3,30}")
_NAMED_BY_FORM = re.compile(r"([a-z]{2,27}om)a(?:s|ta|tous)?")
_CONCLUDES = re.compile(r"\b(?:diagnos[ie]s|impression|interpretation|conclusion|opinion)\b")
_NO_DIAGNOSIS = re.compile(r"\b(?:clinical|pre-?\s?op\w*|provisional|referr\w+|differential)\b")
_NAMES_A_SPECIMEN = re.compile(
    r"(?i)\b(?:biops\w+|excision\w*|resection\w*|\w{3,20}ectomy|\w{3,20}otomy|curett\w+|aspirat\w+|"
    r"fna|core|smear|shave|punch|cone|washings?|cytology|lletz|turp?b?t?|specimen|block)\b"
)
_ENTRY = re.compile(r"\S[^\n]*+")
_LETTER = re.compile(r"[ \t]*+(?:(?:part\s)?[A-Z0-9]{1,2}[.):]|[-•*–#])?[ \t]*+", re.IGNORECASE)
_ENDS = re.compile(r"[.;(\n]|,(?=\s(?:[a-z]{0,20}\s)?(?:\d|no\b|with(?:out)?\b))|\s[-–]\s")
_MOST_WORDS = 12
"""Words of a diagnosis that names what there is; more tell a story (ours)."""


def tumor_words(words: str) -> bool:
    """Whether words speak of a tumor: by a general word, a name that the tables have for one, or a
    word that ends in "-oma" and that nobody has for anything else ("hematoma", "diploma")."""
    if _GENERAL.search(words):
        return True
    return any(_names_a_tumor(one.group()) for one in _WORD.finditer(words))


def _names_a_tumor(word: str) -> bool:
    small = word.lower()
    formed = _NAMED_BY_FORM.fullmatch(small)
    small = f"{formed[1]}a" if formed else small
    senses = tables().senses(key(small))
    if any("tumor" in tables().kinds(one.entry) for one in senses):
        return word.isupper() or not any(one.flags & CAPITALS for one in senses)
    return formed is not None and not senses and not tables().is_word(small)


def diagnoses(parts: Parts) -> Iterator[Found]:
    """What stands as the diagnosis of a specimen; wide where nothing in it speaks of a tumor."""
    for one in parts.sections:
        if _CONCLUDES.search(one.title) and not _NO_DIAGNOSIS.search(one.title):
            yield from _diagnoses_in(parts, one)


def _diagnoses_in(parts: Parts, section: Section) -> Iterator[Found]:
    text = parts.text
    stop = _end(parts, section)
    for line in _ENTRY.finditer(text, section.start, stop):
        begin = _LETTER.match(text, line.start(), line.end())
        at = begin.end() if begin else line.start()
        # "CERVIX, BIOPSY: ..." names the specimen before its diagnosis
        colon = text.find(":", at, line.end())
        at = colon + 1 if colon >= 0 and _is_specimen(text[at:colon]) else at
        at += len(text[at : line.end()]) - len(text[at : line.end()].lstrip(" -•*\t"))
        ends = _ENDS.search(text, at, line.end())
        end = ends.start() if ends else line.end()
        words = text[at:end].rstrip(" ,:")
        if not words or _is_specimen(words) or len(words.split()) > _MOST_WORDS:
            continue
        if not words[:1].isalpha() or ":" in words or negated(text, at, at + len(words)):
            continue
        yield Found(Words(text=words), at, at + len(words), wide=not tumor_words(words))
        return


def _is_specimen(words: str) -> bool:
    return _NAMES_A_SPECIMEN.search(words) is not None and not _benign().search(words)


def _end(parts: Parts, section: Section) -> int:
    """Where the diagnoses of a heading end: with the next that is known or of its rank."""
    known = vocabulary().background | vocabulary().conclusive
    for later in parts.sections:
        if later.heading_start <= section.heading_start:
            continue
        if later.title in known or (later.alone and later.level < section.level):
            return later.heading_start
    return len(parts.text)


@cache
def _benign() -> re.Pattern[str]:
    return re.compile(r"(?i)\b(?:benign|malignan|carcinoma|positive|negative)\b")
