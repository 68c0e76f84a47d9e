"""What sentences say of a subject, as values without labels: "The diagnosis was X". Pure.

The subject, or what somebody did, is read as the title of a label by the learned reader, so that
no list of verbs and nouns decides: "She came in with X" and "Reason for visit: X" are one to it.
"""

import re
from collections.abc import Iterator

from workers.extract.field_reader import SENTENCE, Unit
from workers.extract.parts import Parts, labels
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
    r"is|was|are|were|will[ ]be|has[ ]been|consist(?:s|ed)[ ]of|compris(?:es|ed)|includes?|"
    r"included|remains?|show(?:s|ed)|reveal(?:s|ed)|proved[ ]to[ ]be|amounted[ ]to|came[ ]to)\s)"
    rf"(?P<joined>(?:to|that|an?|the|as[ ]follows)\s)?{_REST}"
)
"""What is said to be something: "The diagnosis before surgery was sigmoid cancer"."""
_WHO = (
    r"(?:(?i:he|she|they|we|I|(?:the |this )?(?:\S{1,20}[ ]){0,3}?"
    r"(?:patient|man|woman|lady|gentleman|girl|boy)|this(?:[ ][\w-]{1,20}){1,4}?)|"
    r"(?:Mr|Mrs|Ms|Miss)\.?[ ][A-Z]\w{1,20}(?:[ ][A-Z]\w{1,20})?)"
)
_DID = (
    r"(?:for|with|by|because[ ]of|due[ ]to|about|underwent|to[ ]have|had(?![ ]\w{2,12}(?:ed|en)\b)|"
    r"performed|carried[ ]out|(?:complain\w{0,3}|suffer\w{0,3}|diagnosis|history)[ ](?:of|from)|"
    r"found(?![ ]to))"
)
_DOES = re.compile(
    rf"{_SENTENCE}(?:[Tt]oday[ ])?{_WHO}[ ]"
    rf"(?P<title>(?:(?:(?:Mr|Mrs|Ms|Dr)\.|[\w'’-]{{1,20}},?)[ ]){{0,7}}?{_DID})[ ]"
    rf"(?P<joined>(?:an?|the|his|her)[ ])?{_REST}"
)
"""What somebody came for, was seen with, was found to have, or underwent."""
_WAS_DONE = re.compile(
    rf"{_SENTENCE}(?:(?:[Tt]hen|[Tt]oday|[Aa]fter[ ][^,\n]{{3,40}}),?[ ])?"
    r"(?P<joined>(?i:an?|the)[ ])?"
    r"(?P<value>[A-Za-z][^.,;:\n]{3,120}?)[ ](?:was|were)[ ]"
    r"(?P<title>(?:then[ ])?(?:done|performed|carried[ ]out|undertaken|made|taken|lost|received))\b"
)
"""What was done: "A right orchidectomy was done"."""
_GOES_ON = re.compile(
    r",?\s(?:and|but|so|for|because|which|who|that)[ ](?:he|she|it|they|we|I|was|were|is|has|had|"
    r"after|before|an?|the|his|her|this)\b|,\s(?:which|who|so|but|taken|done)\b|"
    r"\sfor[ ](?:an?|his|her|the)\b"
)
"""Where a sentence goes on with something else."""


def told_in(parts: Parts) -> list[Placed]:
    """What every sentence says of its subject; of one that says what somebody did, only that."""
    did = [*_told(parts, _DOES), *_told(parts, _WAS_DONE)]
    begun = {begin for begin, _ in did}
    said_to_be = [one for begin, one in _told(parts, _IS) if begin not in begun]
    return [*said_to_be, *(one for _, one in did)]


def _told(parts: Parts, pattern: re.Pattern[str]) -> Iterator[tuple[int, Placed]]:
    """What the sentences of a form say, each with where its sentence begins."""
    for one in pattern.finditer(parts.text):
        words = one["value"]
        ends = _GOES_ON.search(words, 2)
        value = words[: ends.start()].strip() if ends else words.strip()
        title = one["title"].split()
        if pattern is _DOES:  # names and days that stand within what was done
            title = [word for word in title if not (word[:1].isupper() or word[:1].isdigit())]
        joined = f"{one['mark'] if pattern is _IS else ''} {one['joined'] or ''}"
        if joined.startswith(",") and one["title"].lower() not in labels():
            continue  # "Operation performed, total thyroidectomy" is dictated; others are lists
        if value:
            start = parts.text.index(value, one.start("value"))
            place = " ".join(joined.lower().split())
            unit = Unit(" ".join(title).lower(), value[:_FIRST], SENTENCE, place)
            yield one.start(), Placed(unit, start, start + len(value))
