"""What one entry of a list says, whatever its drug or test is called. Pure.

The learned reader says which words are an entry of a list (ADR 0065); that they are one is no
question here, so that no name need be known. What is read of them: a name, and what stands behind
it by its form.
"""

import re

from workers.extract.rules.drugs.drugs import dose_of
from workers.extract.rules.drugs.drugs import told as how_taken
from workers.extract.rules.drugs.listed_drugs import may_be_a_drug
from workers.extract.rules.laboratory.lab_parts import NUMBER, UNIT, Written, lab_named, value_of
from workers.extract.values import LabValue, Medication

_LONGEST = 160
"""Characters of an entry; what is longer holds several (ours)."""
_BULLET = re.compile(r"^(?:[^\w(%+]+|\d{1,2}[.)]\s+)+")
_JOINT = r"(?:\s*[|:=]+\s*|\s*\.{2,}\s*|\s*,\s+|\s+[-–—]\s+|\s+)"
"""Between the name of what was measured and its value."""
_RESULT = re.compile(
    rf"(?P<name>[^\n]*?[^\W\d_][^\n]*?){_JOINT}(?:[↑↓*]\s*)?(?P<sign>[<>≤≥]=?)?\s*"
    rf"(?P<n>{NUMBER})(?![\w:/]|[.,]\d|\s?[-–]\s?\d)\s*(?P<unit>{UNIT})?"
)
_OF_A_RANGE = re.compile(r"\d\s*[-–]\s*$")
_SAID = re.compile(r"(?P<name>[^\n:=|]*[^\W\d_][^\n:=|]*?)\s*[:=]+\s*(?P<text>\S.*)")
"""A result in words, behind a mark; what stands in a row may as well be no result ("clotted")."""
_FORM = re.compile(
    r"(?:[^\W\d_]{1,4}\.\s*|(?:tab|cap|inj|syp|iv|im|sc|po)(?:let|sule|ection)?s?\s+)+", re.I
)
"""Before a drug's name: a form or a way, shortened ("T.", "Inj.")."""
_NAME = re.compile(r"[^\W\d_][\w'’+/-]*")
"""A word of a drug's name: it begins with a letter."""
_UNIT_BEHIND = re.compile(r"^\s*[^\W\d_%]*%?(?:/\w+)?")
_MOST_WORDS = 5
"""Of a drug's name (ours)."""
_STRENGTH = re.compile(r"\s*[,:(|–—-]*\s*(?P<dose>\d{1,6}(?:[.,]\d{1,3})?)(?![\d/-])")


def entry(kind: str, words: str) -> LabValue | Medication | None:
    """What the words of an entry of labs or medications say; None where they hold no name, or of a
    lab no result."""
    plain = _BULLET.sub("", words.strip())
    if not any(map(str.isalnum, plain)) or len(plain) > _LONGEST:
        return None
    return _measured(plain) if kind == "lab" else _taken(" ".join(plain.split()))


def _measured(words: str) -> LabValue | None:
    found = _RESULT.match(words)
    if found is not None and not _OF_A_RANGE.search(words, 0, found.start("n")):
        name = " ".join(found["name"].strip(" .,-(").split())
        known = lab_named(name)
        value = value_of(known or name, Written(found["n"], found["sign"], found["unit"]))
        if value is not None:
            return value
    said = _SAID.match(words)
    if said is None:
        return None
    return LabValue(name=" ".join(said["name"].split()), text=" ".join(said["text"].split()))


def _taken(words: str) -> Medication | None:
    """The drug: words up to a figure, a mark, or how it is taken; then its dose."""
    form = _FORM.match(words)
    begin = at = form.end() if form else 0
    for _ in range(_MOST_WORDS):
        word = _NAME.match(words, at)
        if word is None or (at > begin and any(how_taken(words[at:])[:2])):
            break
        at = word.end() + (words[word.end() : word.end() + 1] == " ")
    name = words[begin:at].strip()
    if not name:
        return None
    strength = _STRENGTH.match(words, at)
    dose = dose_of(words[strength.start("dose") :]) if strength else None
    number = float(strength["dose"].replace(",", ".")) if strength else None
    behind = words[strength.end() if strength else at :]
    frequency, route, _ = how_taken(_UNIT_BEHIND.sub("", behind) if dose else behind)
    if not (strength or frequency or route or may_be_a_drug(name.split()[0].lower())):
        return None
    return Medication(
        name=name,
        dose=dose[0] if dose else number,
        unit=dose[1] if dose else None,
        frequency=frequency,
        route=route,
    )
