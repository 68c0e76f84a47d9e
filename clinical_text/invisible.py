"""Characters that no reader sees and that can carry words past one. Pure.

Unicode Technical Report 36 (sections 2.10 and 3.7) and Technical Standard 39 name them as a means
to hide or reorder text. What is typography is left alone: the soft hyphen, white space of any
width, and the emoji and text variation selectors.
"""

import re

_RANGES = (
    "\u061c"  # Arabic letter mark
    "\u180e"  # Mongolian vowel separator
    "\u200b-\u200f"  # zero-width space and joiners, direction marks
    "\u202a-\u202e"  # embeddings and overrides of direction
    "\u2060-\u206f"  # word joiner, invisible operators, isolates, deprecated controls
    "\ufeff"  # byte order mark within a text
    "\ufff9-\ufffb"  # interlinear annotation
    "\U000e0000-\U000e0fff"  # tags, and variation selectors 17 to 256: one for each byte
)
_INVISIBLE = re.compile(f"[{_RANGES}]")
# No text of a source needs them: a tag letter spells out words unseen, an override reverses them.
_SMUGGLING = re.compile("[\u202d\u202e\U000e0020-\U000e007f\U000e0100-\U000e01ef]")


def visible(text: str) -> str:
    """`text` without the characters that are never seen.

    For texts that are read in, before their version is fixed: places count what is left. Joiners
    go too; words of scripts that join by them are spelled without.
    """
    return text if text.isascii() else _INVISIBLE.sub("", text)


def smuggles(text: str) -> bool:
    """Whether `text` holds invisible characters whose only use is to hide or reverse words."""
    return not text.isascii() and _SMUGGLING.search(text) is not None
