"""A name that is known stands in the cited document, by any of its names. Pure.

Names with digits in them (IL-6, T790M, IMvigor011) are written one way, but for hyphens and raised
or lowered digits, and another one is another thing. Drugs and genes have many names; the tables of
`clinical_text.names` know them. What they do not know, and what people call in many ways (diseases,
procedures), is only a doubt.
"""

import unicodedata

from clinical_text.names import Name
from clinical_text.names import names as names_in
from clinical_text.quantities import names as names_with_digits
from knowledge.names.spelling import key
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds

_CERTAIN = frozenset({"drug", "gene"})
"""Kinds of things whose names the tables hold nearly all of."""
_ALSO = frozenset({"chemical", "protein", "tumor"})
"""What such a name may be besides: other homonyms (a body's own substance, a test) make it soft."""


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """The names of the claim that the document has nowhere."""
    told = "\n".join([grounds.title, grounds.text, grounds.passage, *grounds.known.values()])
    strange = [*_strange_digits(claim, told), *_strange_known(claim, told)]
    return [Finding("name", f"“{name}” is not in the source") for name in dict.fromkeys(strange)]


def _strange_digits(claim: str, told: str) -> list[str]:
    said = names_with_digits(_plain(claim))
    if not said:
        return []
    told = _plain(told)
    held = names_with_digits(told)
    glued = "".join(one for one in told.lower() if one.isalnum()) if said - held else ""
    return [name for name in sorted(said - held) if name not in glued]


def _strange_known(claim: str, told: str) -> list[str]:
    said = [name for name in names_in(claim) if _is_certain(name)]
    if not said:
        return []
    held = {sense for name in names_in(told) for sense in name.senses}
    lacking = [name for name in said if held.isdisjoint(name.senses)]
    spelled = key(told) if lacking else ""
    return [claim[name.start : name.end] for name in lacking if name.key not in spelled]


def _is_certain(name: Name) -> bool:
    return bool(name.kinds & _CERTAIN) and name.kinds <= _CERTAIN | _ALSO


def _plain(text: str) -> str:
    """CO₂ as CO2, I² as I2."""
    return unicodedata.normalize("NFKC", text)
