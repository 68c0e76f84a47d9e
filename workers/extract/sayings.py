"""What sentences say of a subject, as values without labels: "The diagnosis was X". Pure.

The subject, or what somebody did, is read as the title of a label by the learned reader, so that
no list of verbs and nouns decides: "She came in with X" and "Reason for visit: X" are one to it.
"""

import re
from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from workers.extract.field_reader import LEAST, Unit, stated
from workers.extract.parts import Parts, labels
from workers.extract.rubrics import field_policies
from workers.extract.units import Placed

_FIRST = 160
"""Characters of a value that are read (ours)."""
_HOW_IT_WENT = (
    r"(?:uneventful|uncomplicated|unremarkable|unknown|well|not|to|explained|discussed|reviewed|"
    r"obtained|completed?|carried|performed|terminated|abandoned|uncertain|unclear|made|given|"
    r"induced|topped|reversed|started|considered|seen)\b"
)
"""How something went, and not what it was."""
_SENTENCE = r"(?:(?<=[.!?])[ \t]*\n?[ \t]*|(?<=\n)[ \t]*|\A[ \t]*)"
_REST = r"(?P<value>(?:[^.;\n]|\.(?=\d)|\n(?![ \t]*(?:\n|[-•*\d]))){3,300})"
_IS = re.compile(
    rf"{_SENTENCE}(?:(?:[Ss]o|[Oo]verall|[Tt]oday),?[ ])?"
    r"(?:(?i:my|our|the|his|her|their|this)[ ])?"
    r"(?!(?i:if|when|should|whether|unless|until|as|in|no|not|none|neither|there|it|this|that)\b)"
    r"(?P<title>[A-Za-z][a-z-]+(?:[ ](?!(?:that|which|who|it|he|she|they|to)\b)[A-Za-z][a-z-]+)"
    r"{0,5}?)(?P<mark>,\s|\s(?:"
    r"is|was|are|were|will[ ]be|has[ ]been|consist(?:s|ed)[ ]of|includes?|included|remains?)\s)"
    rf"(?:(?:to|that|an?|the|as[ ]follows)\s)?(?!{_HOW_IT_WENT}){_REST}"
)
"""What is said to be something: "The diagnosis before surgery was sigmoid cancer"."""
_WHO = (
    r"(?:(?i:he|she|they|we|I|(?:the |this )?(?:\S+[ ]){0,3}?"
    r"(?:patient|man|woman|lady|gentleman|girl|boy))|"
    r"(?:Mr|Mrs|Ms|Miss)\.?[ ][A-Z]\w+(?:[ ][A-Z]\w+)?)"
)
_DID = r"(?:for|with|by|because[ ]of|due[ ]to|about|underwent|to[ ]have|found(?![ ]to))"
_DOES = re.compile(
    rf"{_SENTENCE}(?:[Tt]oday[ ])?{_WHO}[ ](?P<title>(?:[\w'’-]+[.,]?[ ]){{0,7}}?{_DID})[ ]"
    rf"(?:(?:an?|the|his|her)[ ])?{_REST}"
)
"""What somebody came for, was seen with, was found to have, or underwent."""
_GOES_ON = re.compile(
    r",?\s(?:and|but|so|for|because|which|who|that)[ ](?:he|she|it|they|we|I|was|were|is|has|had|"
    r"after|before|an?|the|his|her|this)\b|,\s(?:which|who|so|but|taken|done)\b|"
    r"\sfor[ ](?:an?|his|her|the)\b"
)
"""Where a sentence goes on with something else."""
_held: "WeakKeyDictionary[Parts, Sequence[tuple[Placed, Mapping[str, float]]]]" = (
    WeakKeyDictionary()
)


def said(parts: Parts, field: str) -> list[Placed]:
    """What sentences say of what a field is, or of what the patient came with and underwent; the
    surest first."""
    own = field_policies()[field].labels
    every = [
        (1.0 if one.unit.title in own else shares.get(field, 0.0), one)
        for one, shares in _sayings(parts)
    ]
    sure = [(share, one) for share, one in every if share >= LEAST]
    return [one for _, one in sorted(sure, key=lambda pair: -pair[0])]


def _sayings(parts: Parts) -> Sequence[tuple[Placed, Mapping[str, float]]]:
    if parts not in _held:
        every = [*_told(parts, _IS), *_told(parts, _DOES)]
        _held[parts] = [(one, stated(one.unit)) for one in every]
    return _held[parts]


def _told(parts: Parts, pattern: re.Pattern[str]) -> list[Placed]:
    found = []
    for one in pattern.finditer(parts.text):
        words = one["value"]
        ends = _GOES_ON.search(words, 2)
        value = words[: ends.start()].strip() if ends else words.strip()
        title = one["title"].split()
        if pattern is _DOES:  # names and days that stand within what was done
            title = [word for word in title if not (word[:1].isupper() or word[:1].isdigit())]
        if pattern is _IS and one["mark"][0] == "," and one["title"].lower() not in labels():
            continue  # "Operation performed, total thyroidectomy" is dictated; others are lists
        if value:
            start = parts.text.index(value, one.start("value"))
            unit = Unit(" ".join(title).lower(), value[:_FIRST])
            found.append(Placed(unit, start, start + len(value)))
    return found
