"""Taking out of a text what a pattern finds, and the white space before it. Pure."""

import re


def without(found: re.Pattern[str], text: str) -> str:
    """`text` without what `found` finds, nor the white space before each.

    A pattern that began with `\\s*` would look for its end from each place of a run of spaces.
    """
    kept, at = [], 0
    for one in found.finditer(text):
        kept.append(text[at : one.start()].rstrip())
        at = one.end()
    return "".join([*kept, text[at:]]) if kept else text
