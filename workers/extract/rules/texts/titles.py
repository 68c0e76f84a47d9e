"""What a heading is called. Pure."""

import re
from collections.abc import Mapping
from functools import cache

MARKS = "#*_ \t=-•>"
_LEAD = re.compile(r"^(?:\d{1,2}[.)]|[A-Z][.)](?![A-Z01]\b))\s*+|\([^)]{0,200}\)")
_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])|(?<=[A-Za-z]{3})\.(?=[A-Za-z]{3})")
_LOOKALIKES = str.maketrans({"0": "o", "1": "i", "5": "s", "|": "l"})
_DAMAGED = re.compile(r"(?i)[a-z][015|]|[015|][a-z]")
_PARTED = re.compile(r"\s?[/&+]\s?")
_NO_LETTER = re.compile(r"[^a-zà-ÿ0-9]")
_SMALL_L = re.compile(r"(?<=[A-Z])l(?=[A-Z])")
"""In capitals an I that a scan took for another letter."""


def title(words: str) -> str:
    """A heading in small letters, without its number, brackets and marks."""
    bare = _LEAD.sub("", words.strip(MARKS + ":")).strip()
    if " " not in bare:
        # "Encounter.reasonCode": a name of a program's
        bare = _JOINT.sub(" ", bare)
    return " ".join(bare.lower().replace("_", " ").split())


def lettered(words: str) -> bool:
    """Whether a letter counts the heading: of specimens, where it is not known."""
    return re.match(r"[A-Z][.)]", words) is not None


def known_title(words: str, known: frozenset[str]) -> str:
    """The title by which a heading is known; as it stands where it is not.

    Points and hyphens tell nothing apart ("D.O.A", "Followup"). Of a heading in two languages
    ("Motif / Reason for visit") the known half; of one in which a scan made digits of letters the
    word that was meant.
    """
    plain = title(words)
    if plain in known:
        return plain
    halves = {half for one in plain.split(" / ") if (half := one.strip()) in known}
    if " / " in plain and len(halves) == 1:
        return halves.pop()
    mended = title(_SMALL_L.sub("I", words))
    readings = [plain, mended]
    if _DAMAGED.search(mended):
        readings += [mended.translate(_LOOKALIKES), mended.translate(_LOOKALIKES | {ord("1"): "l"})]
    if any(map(str.isdigit, plain)) and "." in plain:
        readings.append(squashed(plain).translate(_LOOKALIKES))
    readings += [_joined(plain)] if _joined(plain) != plain else []
    for one in readings:
        if (meant := _squashed(known).get(squashed(one))) is not None:
            return meant
    return plain


def _joined(plain: str) -> str:
    """A heading of two parts as it is written out: "assessment/plan", "findings & opinion"."""
    return " and ".join(_PARTED.split(plain))


def squashed(words: str) -> str:
    """A title without what is no letter and no digit."""
    return _NO_LETTER.sub("", words)


@cache
def _squashed(known: frozenset[str]) -> Mapping[str, str]:
    return {squashed(one): one for one in sorted(known, reverse=True)}
