"""What a model calls the things that it was shown: keys, ids, words of an enumeration. Pure.

Models write "[E1]", "e1.", "evidence E1" or "E1, E3" for keys that were shown as E1 and E3. That is
read here, for all stages. A key that was not shown is never taken for one that was.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

V = TypeVar("V")

_TOKEN = re.compile(r"[^\W_]+")
_RANGE = re.compile(r"[^\W_]\s?[-\u2010-\u2015\u2212]\s?[^\W_]")
_WORD = re.compile(r"[^\W\d_]+")


def named(written: str, known: Collection[str]) -> tuple[str, ...]:
    """The known keys in what a model wrote, in its order and each once.

    None where it wrote anything with a digit that is no known key, a range ("E1-E3": of which keys
    would be guessing), or no key at all. Words around keys ("source E1") tell nothing.

    Args:
        known: keys of letters and digits, told apart without their case.
    """
    folded = {key.casefold(): key for key in known}
    written = " ".join(written.split())
    if len(folded) < len(known) or _RANGE.search(written):
        return ()
    found = []
    for token in _TOKEN.findall(written):
        key = folded.get(token.casefold())
        if key is not None:
            found.append(key)
        elif any(map(str.isdecimal, token)):
            return ()
    return tuple(dict.fromkeys(found))


def the_one_named(written: str, known: Collection[str]) -> str | None:
    """The same of a place for one key; None for several too."""
    found = named(written, known)
    return found[0] if len(found) == 1 else None


def meant(written: Any, words: Mapping[str, V]) -> Any:
    """What a word of an enumeration stands for, whatever its case and the marks around it; what is
    none of `words` comes back as it is, for the shape to refuse."""
    if not isinstance(written, str):
        return written
    return words.get(" ".join(_WORD.findall(written.casefold())), written)


def joined(written: Any, between: str) -> Any:
    """A list of texts as one text: some models write several keys or quotations so."""
    if isinstance(written, Sequence) and all(isinstance(one, str) for one in written):
        return written if isinstance(written, str) else between.join(written)
    return written


def without_keys(text: str, known: Collection[str]) -> str:
    """A statement without the keys in square brackets that a model put behind it."""
    return _BRACKETS.sub(lambda one: "" if named(one.group(), known) else one.group(), text)


_BRACKETS = re.compile(r" ?\[[^\[\]]{1,60}\]")
