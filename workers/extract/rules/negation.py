"""Is what stands here denied? Pure.

Cues before are those of `clinical_text` (NegEx); cues after are few and follow the same paper.
"""

import re
from functools import cache

from clinical_text.vocabulary import vocabulary

_WORD = re.compile(r"[A-Za-z]+(?:['’]t)?")
_STOP = re.compile(r"[.;:\n]|(?<=\s)(?:but|however|although|whereas|except)\b")
_AFTER = re.compile(
    r"(?i)^[^.;:\n]{0,40}?\b(?:(?:is|are|was|were|has been|have been)\s+)?"
    r"(?:not\s+(?:identified|seen|present|detected|found|demonstrated|observed|noted)|absent|"
    r"excluded|ruled\s+out|negative\s+for)\b"
)
_DOUBT = re.compile(
    r"(?i)\b(?:suspected|suspicious for|suspicion of|rule out|r/o|possible|possibly|"
    r"probable|suggests?|suggestive of|"
    r"questionable|history of|previous|previously|formerly|prior|versus|vs\.?|cannot exclude|"
    r"differential)\b[^.;:\n]*$"
)
REACH = 60
"""Characters before a value in which a cue negates it (ours; about NegEx's five to six words)."""
REACH_BEHIND = 80
"""Characters behind a value in which words deny it (ours)."""


@cache
def _single() -> frozenset[str]:
    # "fails", "rather" and the like negate verbs of trials, not findings of a report.
    return frozenset(["no", "not", "without", "never", "neither", "nor", "absent", "absence",
                      "denies", "denied", "negative", "free", "excludes", "excluded", "lack",
                      "lacks", "none"])  # fmt: skip


def negated(text: str, start: int, end: int) -> bool:
    """Whether a cue before or after denies what `[start, end)` states."""
    before = text[max(0, start - REACH) : start]
    stops = list(_STOP.finditer(before))
    if stops:
        before = before[stops[-1].end() :]
    words = _WORD.findall(before)[-vocabulary().negation_window_words - 3 :]
    for word in words:
        plain = word.lower().replace("’", "'")
        if plain in _single() or (plain.endswith("n't") and vocabulary().negates(plain)):
            return True
    return _AFTER.match(text[end : end + REACH_BEHIND]) is not None


def doubted(text: str, start: int) -> bool:
    """Whether the clause only suspects it, or tells of earlier times."""
    before = text[max(0, start - 80) : start]
    stops = list(re.finditer(r"[.;:\n]", before))
    return _DOUBT.search(before[stops[-1].end() :] if stops else before) is not None
