"""A name with digits in it stands in the cited document: IL-6, T790M, IMvigor011. Pure.

Such names are written one way, but for hyphens and raised or lowered digits, and another one is
another thing. What has no digits may have any number of names, and is only a doubt.
"""

import unicodedata

from clinical_text.quantities import names
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """The names with digits of the claim that the document has nowhere."""
    said = names(_plain(claim))
    if not said:
        return []
    told = _plain(
        "\n".join([grounds.title, grounds.text, grounds.passage, *grounds.known.values()])
    )
    held = names(told)
    glued = "".join(one for one in told.lower() if one.isalnum()) if said - held else ""
    return [
        Finding("name", f"“{name}” is not in the source")
        for name in sorted(said - held)
        if name not in glued
    ]


def _plain(text: str) -> str:
    """CO₂ as CO2, I² as I2."""
    return unicodedata.normalize("NFKC", text)
