"""The preferences of a client in the header `Prefer` (RFC 7240). Pure."""

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
"""The type of a route's parameter for the lines of the header."""

# An unclosed quotation extends to the end; searching for its end after each character would take
# quadratic time.
_ONE = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*+(?:"|\\?\Z))++')
_MOST_DIGITS = 10


def preferred_wait(prefer: Sequence[str] | None, most: int) -> int | None:
    """The seconds that the client would wait, at most `most`; None if it does not say, or not in
    the valid form, which is ignored (section 2)."""
    for preference in _ONE.findall(",".join(prefer or ())):
        name, _, value = preference.partition(";")[0].partition("=")
        if name.strip().lower() != "wait":
            continue
        digits = value.strip()
        if not (digits.isascii() and digits.isdecimal()):
            return None  # of several, only the first counts
        return min(int(digits.lstrip("0")[:_MOST_DIGITS] or 0), most)
    return None
