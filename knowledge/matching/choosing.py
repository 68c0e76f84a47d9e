"""What to write instead of a name that is none. Pure."""

import difflib
from collections.abc import Iterable


def one_of(name: str, known: Iterable[str]) -> str:
    """The names that there are, and first the one that `name` is most like, if it is like any."""
    there = sorted(known)
    meant = difflib.get_close_matches(name[:60].lower(), there, 1, 0.75)
    asked = f"did you mean {meant[0]!r}? " if meant else ""
    return f"{asked}use one of {', '.join(there)}"
