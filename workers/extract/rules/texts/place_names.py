"""May words be the name of a hospital or a laboratory, or of a person? By their form. Pure."""

import re

_WORD = re.compile(r"[^\W\d_][\w'’.&/-]*")
_SMALL = 4
"""Letters of a word from which it is written large in a name: "of", "and", "für", "am" are not
(ours)."""
_LEAST_LARGE = 0.6
"""Share of the longer words of a name that are written large (ours)."""
_MOST_WORDS = 14
_NUMBERED = re.compile(r"\d[\dOol]{2}|\d[/-]\d")
"""A number of a street's code, a telephone or a day: no name has it."""
_PERSON = re.compile(
    r"(?:Dr|Prof|Mr|Mrs|Ms|Dra|Drs)\.?\s[A-Z](?!.{0,80}['’]s\s)|"
    r".{0,80}[,\s](?:M\.?D|D\.?O|Ph\.?D|FRC[A-Z]{1,3}|MB\s?BS|MBChB|MRC[A-Z]{1,3}|FACS|RN|NP|PA-C)\.?$"
)
"""A person, by title or degree."""
_SENTENCE = re.compile(r".{0,160}[a-z]{2}\.$")


def may_be_a_place(words: str) -> bool:
    """Whether words have the form of a place's name: written large, and neither a sentence, an
    address with its number, nor a person."""
    plain = " ".join(words.split())
    named = _WORD.findall(plain)
    if not named or len(named) > _MOST_WORDS or _NUMBERED.search(plain) or _PERSON.match(plain):
        return False
    long = [one for one in named if len(one) >= _SMALL]
    large = sum(one[0].isupper() for one in long)
    if plain[0].islower() and plain != plain.lower():
        return False
    if plain == plain.lower():  # a spoken or typed line without capitals
        return len(named) <= _MOST_WORDS // 2 and not plain.endswith(".")
    return large >= _LEAST_LARGE * len(long) and not (_SENTENCE.match(plain) and large < len(long))
