"""What a heading is called. Pure."""

import re

MARKS = "#*_ \t=-•>"
_LEAD = re.compile(r"^(?:\d{1,2}|[A-Z])[.)]\s*+|\([^)]{0,200}\)")
_LOOKALIKES = str.maketrans({"0": "o", "1": "i", "5": "s", "|": "l"})
_DAMAGED = re.compile(r"(?i)[a-z][015|]|[015|][a-z]")
_SMALL_L = re.compile(r"(?<=[A-Z])l(?=[A-Z])")
"""In capitals an I that a scan took for another letter."""


def title(words: str) -> str:
    """A heading in small letters, without its number, brackets and marks."""
    bare = _LEAD.sub("", words.strip(MARKS + ":")).strip()
    return " ".join(bare.lower().replace("_", " ").split())


def lettered(words: str) -> bool:
    """Whether a letter counts the heading: of specimens, where it is not known."""
    return re.match(r"[A-Z][.)]", words) is not None


def known_title(words: str, known: frozenset[str]) -> str:
    """The title by which a heading is known; as it stands where it is not.

    Of a heading in two languages ("Motif / Reason for visit") the known half; of one in which a
    scan made digits of letters the word that was meant.
    """
    plain = title(words)
    if plain in known:
        return plain
    halves = {half for one in plain.split(" / ") if (half := one.strip()) in known}
    if " / " in plain and len(halves) == 1:
        return halves.pop()
    mended = title(_SMALL_L.sub("I", words))
    if _DAMAGED.search(mended):
        mended = mended.translate(_LOOKALIKES)
    return mended if mended in known else plain
