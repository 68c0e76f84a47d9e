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
_SENTENCE = r"(?:(?<=[.!?])[ \t]{1,9}+|(?:(?<=\n)|\A)[ \t]{0,9}+)"
_REST = r"(?P<value>(?:[^.;\n]|\.(?=\d)|\n(?![ \t]*(?:\n|[-•*\d]))){3,300})"
_IS = re.compile(
    rf"{_SENTENCE}(?:(?:[Ss]o|[Oo]verall|[Tt]oday),?[ ])?"
    r"(?:(?i:my|our|the|his|her|their|this)[ ])?"
    r"(?!(?i:if|when|should|whether|unless|until|as|in|no|not|none|neither|there|it|this|that)\b)"
    r"(?P<title>[A-Za-z][a-z-]+(?:[ ](?!(?:that|which|who|it|he|she|they|to)\b)[A-Za-z][a-z-]+)"
    r"{0,5}?)(?P<mark>,\s|\s(?:"
    r"is|was|are|were|will[ ]be|has[ ]been|consist(?:s|ed)[ ]of|includes?|included|remains?)\s)"
    rf"(?:(?:to|that|an?|the|as[ ]follows)\s)?{_REST}"
)
"""What is said to be something: "The diagnosis before surgery was sigmoid cancer"."""
_WHO = (
    r"(?:(?i:he|she|they|we|I|(?:the |this )?(?:\S{1,20}[ ]){0,3}?"
    r"(?:patient|man|woman|lady|gentleman|girl|boy)|this(?:[ ][\w-]{1,20}){1,4}?)|"
    r"(?:Mr|Mrs|Ms|Miss)\.?[ ][A-Z]\w{1,20}(?:[ ][A-Z]\w{1,20})?)"
)
_DID = r"(?:for|with|by|because[ ]of|due[ ]to|about|underwent|to[ ]have|found(?![ ]to))"
_DOES = re.compile(
    rf"{_SENTENCE}(?:[Tt]oday[ ])?{_WHO}[ ]"
    rf"(?P<title>(?:(?:(?:Mr|Mrs|Ms|Dr)\.|[\w'’-]{{1,20}},?)[ ]){{0,7}}?{_DID})[ ]"
    rf"(?:(?:an?|the|his|her)[ ])?{_REST}"
)
"""What somebody came for, was seen with, was found to have, or underwent."""
_PASSIVE = re.compile(
    r"\A(?:(?:not|then|also|being|well|\w{3,12}ly)\s){0,3}(?:\w{2,14}(?:ed|en)|done|made|sent|held|put|shown|kept|"
    r"left|begun|sold|told|met|cut|withdrawn)\b"
    r"(?=$|\W*$|,|\s(?:by|with|in|into|on|at|to|for|from|and|or|as|after|before|under|over|during|"
    r"through|until|again|because|when|twice|once|below|above|elsewhere|today)\b)"
)
"""What was done to a subject, which says not what it is: "The operation was postponed"."""
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
    surest first. Of a margin or a vessel what was done to it is what is asked."""
    done = field_policies()[field].kind in ("margin", "presence")
    sure = [(shares[field], one) for one, shares in _sayings(parts)
            if shares.get(field, 0.0) >= LEAST
            and (done or not _PASSIVE.match(one.unit.value))]  # fmt: skip
    return [one for _, one in sorted(sure, key=lambda pair: -pair[0])]


def _sayings(parts: Parts) -> Sequence[tuple[Placed, Mapping[str, float]]]:
    if parts not in _held:
        every = told_in(parts)
        _held[parts] = [(one, stated(one.unit)) for one in every]
    return _held[parts]


def told_in(parts: Parts) -> list[Placed]:
    """What every sentence says of its subject."""
    return [*_told(parts, _IS), *_told(parts, _DOES)]


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
            unit = Unit(" ".join(title).lower(), value[:_FIRST], "sentence")
            found.append(Placed(unit, start, start + len(value)))
    return found
