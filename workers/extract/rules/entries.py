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
from workers.extract.rules.tumors.markers import marker_named, own_result
from workers.extract.values import LabValue, Marker, Medication

_LONGEST = 160
"""Characters of an entry; what is longer holds several (ours)."""
_BULLET = re.compile(r"^(?:[^\w(%+]+|\d{1,2}[.)]\s+)+")
_FIGURE = re.compile(NUMBER)
_JOINT = re.compile(r"[\s|:=]|\.{2}")
"""Between the name of what was measured and its value stands one of these."""
_BEFORE = " \t\n|:=.,*↑↓<>≤≥-–—"
"""What else may stand there, and belongs to neither."""
_SIGN = re.compile(r"([<>≤≥]=?)\s?$")
_OF_A_RANGE = re.compile(r"\d\s?[-–]\s?$")
_NO_RESULT = re.compile(r"[\w:/]|[.,]\d|\s?[-–]\s?\d")
"""Behind a figure: it is of a name, a ratio, a day or a range."""
_UNIT = re.compile(rf"\s?({UNIT})")
_FORM = re.compile(
    r"(?:[^\W\d_]{1,4}\.\s*|(?:tab|cap|inj|syp|iv|im|sc|po)(?:let|sule|ection)?s?\s+)+", re.I
)
"""Before a drug's name: a form or a way, shortened ("T.", "Inj.")."""
_NAME = re.compile(r"[^\W\d_][\w'’+/-]*")
"""A word of a drug's name: it begins with a letter."""
_STAIN = re.compile(r"[^\W\d_][\w.'’/-]*\w|[^\W\d_]")
"""A word of a stain's name."""
_HOW = re.compile(r"[a-z]{1,20}ly|block|focal|diffuse|patchy|strong|weak")
"""A word of how much it stains, and none of its name."""
_COMMA = re.compile(r"^\s*,")
_UNIT_BEHIND = re.compile(r"^\s*[^\W\d_%]*%?(?:/\w+)?")
_MOST_WORDS = 5
"""Of a drug's name (ours)."""
_STRENGTH = re.compile(r"[\s,:(|–—-]{0,8}(?P<dose>\d{1,6}(?:[.,]\d{1,3})?)(?![\d/-])")


def entry(kind: str, words: str) -> LabValue | Marker | Medication | None:
    """What the words of an entry of labs, stains or medications say; None where they hold no name,
    or of the first two no result, and of other kinds."""
    plain = _BULLET.sub("", words.strip())
    if not any(map(str.isalnum, plain)) or len(plain) > _LONGEST:
        return None
    if kind == "lab":
        return _measured(plain)
    if kind == "marker":
        return _stained(" ".join(plain.split()))
    return _taken(" ".join(plain.split())) if kind == "medication" else None


def _stained(words: str) -> Marker | None:
    """The stain: words up to the first that is a result."""
    at = 0
    for _ in range(_MOST_WORDS):
        word = _STAIN.match(words, at)
        if word is None or _HOW.fullmatch(word[0]) or _result(f" {word[0]}", "x") is not None:
            break
        at = word.end() + (words[word.end() : word.end() + 1] == " ")
    name = words[:at].strip()
    if not name:
        return None
    known = marker_named(name) or name
    return _result(_COMMA.sub(" ", words[len(name) :]), known)


def _result(behind: str, name: str) -> Marker | None:
    """The result that stands behind a stain's name."""
    found = own_result(f"x{behind}", name, 0, 1, len(behind) + 1)
    return found.value if found is not None and isinstance(found.value, Marker) else None


def _measured(words: str) -> LabValue | None:
    """The test: words up to the first figure that stands for itself; or words behind a mark. What
    stands in a row without either may as well be no result ("clotted")."""
    for figure in _FIGURE.finditer(words):
        before = words[: figure.start()]
        name = before.rstrip(_BEFORE)
        joined = _JOINT.search(before, len(name)) is not None
        no_result = _OF_A_RANGE.search(before) or _NO_RESULT.match(words, figure.end())
        if not joined or no_result or not any(map(str.isalpha, name)):
            continue
        sign, unit = _SIGN.search(before), _UNIT.match(words, figure.end())
        plain = " ".join(name.lstrip(" (").split())
        row = Written(figure.group(), sign[1] if sign else None, unit[1] if unit else None)
        value = value_of(lab_named(plain) or plain, row)
        if value is not None:
            return value
    at = min((words.find(mark) for mark in ":=" if mark in words), default=-1)
    name, said = words[:at].strip(), words[at + 1 :].strip()
    if at < 0 or not said or not any(map(str.isalpha, name)):
        return None
    return LabValue(name=" ".join(name.split()), text=" ".join(said.split()))


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
    if not any(may_be_a_drug(word.lower()) for word in name.split()):
        return None  # "ORDER 1 of 3", "tablet 20 mg"
    return Medication(
        name=name,
        dose=dose[0] if dose else number,
        unit=dose[1] if dose else None,
        frequency=frequency,
        route=route,
    )
