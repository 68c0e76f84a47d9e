"""A name that is known stands in the cited document, by any of its names. Pure.

Names with digits in them (IL-6, T790M, IMvigor011) are written one way, but for hyphens and raised
or lowered digits, and another one is another thing. Drugs and genes have many names; the tables of
`clinical_text.names` know them. What they do not know, and what people call in many ways (diseases,
procedures), is only a doubt.
"""

import re
import unicodedata
from calendar import month_name
from dataclasses import dataclass
from functools import lru_cache

from clinical_text.names import Name
from clinical_text.names import names as names_in
from clinical_text.quantities import names as names_with_digits
from knowledge.names.spelling import key
from knowledge.names.tables import tables
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds

_CERTAIN = frozenset({"drug", "gene"})
"""Kinds of things whose names the tables hold nearly all of."""
_ALSO = frozenset({"chemical", "protein", "tumor"})
"""What such a name may be besides: other homonyms (a body's own substance, a test) make it soft."""
_HYPHEN = re.compile("[-‐‑]")
_INITIAL = re.compile(r"\b[a-z]")


@dataclass(frozen=True)
class _Named:
    """What a text names: words with digits, entries of the tables, and all its letters and digits
    as they are written and as names are spelled."""

    digits: frozenset[str]
    entries: frozenset[int]
    glued: str
    spelled: str
    initials: str


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """The names of the claim that the document has nowhere."""
    digits = names_with_digits(_plain(claim))
    known = [name for name in names_in(claim) if _is_certain(name)]
    if not (digits or known):
        return []
    told = _told(grounds)
    strange = [
        *(name for name in sorted(digits) if not any(_has_digits(one, name) for one in told)),
        *(claim[one.start : one.end] for one in known if not any(_has(part, one) for part in told)),
    ]
    return [Finding("name", f"“{name}” is not in the source") for name in dict.fromkeys(strange)]


def unknown(claim: str, grounds: Grounds) -> list[Finding]:
    """The names of the claim that no table has, nor the document: it may have them otherwise."""
    asked = [name for name in names_in(claim) if not (name.known or _is_month(claim, name))]
    told = _told(grounds) if asked else []
    written = [(one, claim[one.start : one.end]) for one in asked]
    return [
        Finding("name", f"“{said}” is nowhere in the source", unsaid=True)
        for one, said in written
        if not any(_has(part, one) or _has_parts(part, said) for part in told)
    ]


def _has_parts(told: _Named, name: str) -> bool:
    """Whether a text has each part of a compound, but for plain words ("ctDNA-positive"), or the
    words of which capitals are the first letters: HR for its hazard ratio."""
    parts = _HYPHEN.split(name)
    if len(parts) > 1:
        keys = [(part, key(part)) for part in parts]
        return any(one in told.spelled and not tables().is_word(one) for _, one in keys) and all(
            one in told.spelled or (part.islower() and tables().is_word(one)) for part, one in keys
        )
    return name.isalpha() and name.isupper() and name.lower() in told.initials


def _told(grounds: Grounds) -> list["_Named"]:
    parts = [grounds.title, grounds.text, *grounds.known.values()]
    if grounds.passage not in grounds.text:
        parts.append(grounds.passage)
    return [_named(part) for part in parts if part]


@lru_cache(maxsize=64)  # a document is asked for the names of each claim
def _named(text: str) -> _Named:
    plain = _plain(text)
    return _Named(
        names_with_digits(plain),
        frozenset(sense for name in names_in(text) for sense in name.senses),
        "".join(one for one in plain.lower() if one.isalnum()),
        key(text),
        "".join(_INITIAL.findall(plain.lower())),
    )


def _has_digits(told: _Named, name: str) -> bool:
    return name in told.digits or name in told.glued


def _has(told: _Named, name: Name) -> bool:
    return not told.entries.isdisjoint(name.senses) or name.key in told.spelled


def _is_certain(name: Name) -> bool:
    return bool(name.kinds & _CERTAIN) and name.kinds <= _CERTAIN | _ALSO


def _is_month(text: str, name: Name) -> bool:
    return text[name.start : name.end] in month_name


def _plain(text: str) -> str:
    """CO₂ as CO2, I² as I2."""
    return unicodedata.normalize("NFKC", text)
