"""Which fields stand under a heading that no list has, by the noun that it is about. Pure.

"Discharge / transfer medications" and "Medicines that you take" are about medicines, "Family
history of allergies" is about a history. A heading of several nouns ("Impression/Report/Plan") is
of each; one that the reading of its words says is of another time or person is of none.
"""

import re
from functools import cache

from clinical_text.assertion.marks import Assertion
from clinical_text.doc import doc
from workers.extract.rubrics import field_policies

_AND = re.compile(r" ?(?:[/&,+]|\band\b|\bor\b) ?")
_CUT = re.compile(
    r" (?:on|at|in|for|from|to|by|with|upon|before|after|during|when|that|which|you|taken|"
    r"performed|received|submitted|sent)\b| ?\("
)
"""Behind the noun that a heading is about."""
_OTHERWISE = frozenset({Assertion.NEGATED, Assertion.HISTORICAL, Assertion.OTHER})
"""What the reading of a heading says where it is about another time or another person."""
_SUPPOSED = re.compile(r"\b(?:differential|provisional|planned|proposed|intended)\b")
"""What a heading is about is not so yet; the reading of texts has no cue for these."""
_HEADED = ("words", "medication")
_OF_LISTS_ONLY = frozenset(["institution", "modality", "histology", "primary_site", "anesthesia"])
"""Fields whose labels are too general to be the noun of another heading."""
_GENERAL = frozenset(["description", "report", "test", "source", "material", "sample", "problem"])
"""Labels that say too little as the noun of another heading."""
_SHORT = 4


@cache
def _nouns() -> dict[str, frozenset[str]]:
    """The nouns by which fields are headed: their labels of one word."""
    found: dict[str, set[str]] = {}
    for name, one in field_policies().items():
        if one.kind in _HEADED and name not in _OF_LISTS_ONLY:
            for label in one.labels:
                one_word = " " not in label and "/" not in label and len(label) >= _SHORT
                if one_word and label not in _GENERAL:
                    found.setdefault(label, set()).add(name)
    return {noun: frozenset(names) for noun, names in found.items()}


@cache
def fields_of(title: str) -> frozenset[str]:
    """The fields that a heading in small letters is about; none where its noun is none of ours."""
    read = doc(title.capitalize())
    if _SUPPOSED.search(title) or any(cue.means in _OTHERWISE for cue in read.cues(0, len(title))):
        return frozenset()
    found: set[str] = set()
    for part in _AND.split(title):
        words = _CUT.split(part, maxsplit=1)[0].split()
        if words:
            noun = words[-1]
            found |= next((_nouns()[one] for one in (noun, f"{noun}s", noun.removesuffix("s"))
                           if one in _nouns()), frozenset())  # fmt: skip
    return frozenset(found)
