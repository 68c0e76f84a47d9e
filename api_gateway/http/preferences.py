"""What a client would like, in the header `Prefer` (RFC 7240). Pure."""

import re
from collections.abc import Sequence
from typing import Annotated

from fastapi import Header

Prefer = Annotated[
    list[str] | None,
    Header(
        description="`wait=N`: answer once it is finished if that is within N seconds, up to 60 "
        "(RFC 7240); what else stands here is ignored"
    ),
]
"""A route's parameter of this type is the header's lines."""

# An open quotation goes on to the end: looked for anew behind each sign, its end would take the
# square of what stands there.
_ONE = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*+(?:"|\\?\Z))++')
_MOST_DIGITS = 10


def preferred_wait(prefer: Sequence[str] | None, most: int) -> int | None:
    """For how many seconds the client would wait, `most` if it is more; None: it does not say so,
    or not as it is written, and then it is as if it said nothing (section 2)."""
    for preference in _ONE.findall(",".join(prefer or ())):
        name, _, value = preference.partition(";")[0].partition("=")
        if name.strip().lower() != "wait":
            continue
        digits = value.strip()
        if not (digits.isascii() and digits.isdecimal()):
            return None  # of several the first one counts
        return min(int(digits.lstrip("0")[:_MOST_DIGITS] or 0), most)
    return None
