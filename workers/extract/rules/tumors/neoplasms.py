"""Words that name a tumor, by how such words are built, and the diagnosis of a specimen. Pure.

No list of tumors says which there are: the tables of names do, a word that ends in "-oma" and is
no other word is one, and what a pathologist puts as the diagnosis of a specimen is its diagnosis
whatever its name.
"""

import re

from knowledge.names.spelling import key
from knowledge.names.tables import CAPITALS, tables

_GENERAL = re.compile(
    r"(?i)\b(?:tumou?rs?|cancers?|neoplas\w+|malignan\w+|metasta\w+|polyps?|lesions?|mass|nodules?|"
    r"in[ -]situ|differentiated)\b"
)
"""General words for a tumor, and for what may be one."""
_WORD = re.compile(r"[A-Za-z]{3,30}")
_NAMED_BY_FORM = re.compile(r"([a-z]{2,27}om)a(?:s|ta|tous)?")


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
