"""What the place of a value says against it, and what the rules read there. Pure."""

import re
from collections.abc import Sequence
from functools import cache
from weakref import WeakKeyDictionary

from workers.extract.fields import Found
from workers.extract.parts import Parts, clause
from workers.extract.patients import patients
from workers.extract.places import first_within
from workers.extract.rubrics import alternatives, any_of, field_policies
from workers.extract.rules.drugs.hospital_drugs import in_hospital_only
from workers.extract.rules.drugs.medicines import refused
from workers.extract.rules.texts.numbers import of_earlier
from workers.extract.rules.texts.others import inside, of_a_relative
from workers.extract.rules.tumors.stages import of_another_disease

_TEXTS = frozenset(["words", "day"])
"""Kinds that are what a label says, whoever it tells of."""

_PARTICULAR = ("medications", "stage", "measurements", "mutations", "lab_values",
               "assessment_category")  # fmt: skip
"""Fields with reasons of their own."""

_EARLIER = re.compile(r"(?:old|previous|prior|earlier) (?!to )")
"""A label below which stands what was before."""
_DENIES = re.compile(
    r"\bnot (?:detected|found|identified|present|mutated|altered)\b|\bnegative\b|\bwild[ -]?type|"
    r"\b(?:no|without) (?:\w+ ){0,2}(?:variant|alteration|mutation|change|fusion)"
)
"""A label below which genes stand that have not changed."""
_ALL_DENIED = re.compile(
    r"(?:(?!\bdetected|\bpresent|\bfound)[^.;:\n|(]){0,200}?\s?[-–—:.]{1,20}\s?"
    r"(?:(?:all\s)?not\s(?:detected|found|identified|present|seen)|negative|absent|none\s(?:detected|found))\b"
)
"""Behind a gene: others of a list, and that none of them has changed."""
_FROM = re.compile(r"\bfrom\s$")
_TO = re.compile(r"\s(?:in)?to\s")
_AMOUNTS = ("medications", "lab_values")
"""Fields that read a change themselves."""
_LONGEST_LINE = 400
"""Characters of a line that says at its beginning that it was copied (ours)."""
_told: "WeakKeyDictionary[Parts, dict[tuple[int, int, str], str | None]]" = WeakKeyDictionary()


def set_aside(field: str, parts: Parts, start: int, end: int) -> str | None:
    """Why what stands there is no value of the patient's; None where nothing says so."""
    if field_policies()[field].kind in _TEXTS and field != "histology":
        return None
    place = (start, end, field if field in _PARTICULAR else "")
    held = _told.setdefault(parts, {})
    if place not in held:
        held[place] = _why(parts, *place)
    return held[place]


def _why(parts: Parts, start: int, end: int, field: str) -> str | None:
    if of_a_relative(parts, start, end):
        return "told of a relative"
    if (told := _why_of_field(parts, start, end, field)) is not None:
        return told
    if _EARLIER.match(parts.label_at(start) or ""):
        return "of an earlier time by its label"
    if (
        field not in _AMOUNTS
        and _FROM.search(parts.text, max(0, start - 6), start)
        and (_TO.match(parts.text, end))
    ):
        return "what it was before"
    if _copied(parts.text, start) or inside(_copied_blocks(parts), start):
        return "copied from an earlier note"
    if _of_other_patients(parts, start, end):
        return "told of other patients"
    return None


def _why_of_field(parts: Parts, start: int, end: int, field: str) -> str | None:
    """The reasons that only one field has."""
    if field == "medications" and refused(parts, start, end):
        return "stopped, forbidden or not borne"
    if field == "medications" and in_hospital_only(parts, start, end):
        return "given in hospital only"
    if field == "stage" and of_another_disease(parts.text, start, end):
        return "of another disease"
    if field == "measurements" and of_earlier(parts.text, start, end):
        return "of an earlier examination"
    if field == "assessment_category" and _compared(parts, start):
        return "of an examination that this one is compared with"
    if field == "mutations" and _ALL_DENIED.match(parts.text, end, end + _LONGEST_LINE):
        return "denied with others"
    if field == "mutations" and _DENIES.search(parts.label_at(start) or ""):
        return "denied by its label"
    return None


def _compared(parts: Parts, start: int) -> bool:
    """Whether a category stands in background, and not behind a label of its own."""
    own = field_policies()["assessment_category"].labels
    return parts.rank(start) == 0 and parts.label_at(start) not in own


def _of_other_patients(parts: Parts, start: int, end: int) -> bool:
    """Whether the sentence speaks of patients of trials and labels before it comes to the place."""
    begin, stop = clause(parts.text, start, end)
    if first_within(any_of(patients().others), parts, begin, start) is not None:
        return True
    if first_within(_OF_ANOTHER, parts, begin, stop) is not None:
        return True
    return _IN_GENERAL.match(parts.text, end) is not None or inside(_of_samples(parts), start)


_OF_ANOTHER = re.compile(r"(?i)\b(?:previous|another|different|wrong|other) (?:patient|case)\b")
"""In a clause: a patient of whom the document is not."""
_IN_GENERAL = re.compile(
    r"(?i)(?:[\s-]{1,40}+(?:mutant|mutated|mutations?|positive|negative|altered))?"
    r"\s{1,40}+(?:patients|tumou?rs|cancers|carcinomas|cell\s++lines)\b"
)
"""Behind a value: it is told of all who have it."""
_samples: "WeakKeyDictionary[Parts, list[tuple[int, int]]]" = WeakKeyDictionary()


def _of_samples(parts: Parts) -> list[tuple[int, int]]:
    """Blocks of lines, up to a blank one, headed by whose they are: a donor's, a control's."""
    if parts not in _samples:
        _samples[parts] = [one.span() for one in _sample_blocks().finditer(parts.text)]
    return _samples[parts]


@cache
def _sample_blocks() -> re.Pattern[str]:
    words = alternatives(patients().other_samples)
    return re.compile(
        rf"(?im)^[ \t*#-]*+(?:{words})\b(?![^\n]*[.;]$)[^\n]{{0,60}}\n"
        r"(?:[ \t]*+\S[^\n]*+(?:\n|$))++"
    )


def _copied(text: str, start: int) -> bool:
    """Whether the line says at its beginning that it is of an earlier note."""
    begin = text.rfind("\n", max(0, start - _LONGEST_LINE), start) + 1
    if begin == 0 and start > _LONGEST_LINE:
        return False
    return _copied_line().match(text, begin, start) is not None


_blocks: "WeakKeyDictionary[Parts, list[tuple[int, int]]]" = WeakKeyDictionary()


def _copied_blocks(parts: Parts) -> list[tuple[int, int]]:
    """Blocks of lines, up to a blank one, whose heading says in brackets that they were copied."""
    if parts not in _blocks:
        every = (*_copied_block().finditer(parts.text), *_between_marks().finditer(parts.text))
        _blocks[parts] = [one.span() for one in every]
    return _blocks[parts]


@cache
def _copied_block() -> re.Pattern[str]:
    # "medications (copied from GP's letter)" says only by whom they are told
    words = tuple(one for one in patients().copied if not one.endswith("from"))
    return re.compile(
        rf"(?im)^(?:[^\n(\[\d]{{2,50}}[(\[][ ]?(?:{alternatives(words)})\b[^\n)\]]*+[)\]]|"
        r"[ \t]{0,9}(?:previous|prior|earlier)\b[^\n:;]{0,40}:(?=[ \t]*+\n))"
        r"[ \t:]*+\n(?:[ \t]*+\S[^\n]*+(?:\n|$))++"
    )


@cache
def _between_marks() -> re.Pattern[str]:
    """Lines between two that marks set apart, of which the first says that what follows was copied
    and the second that it ends; or up to a blank line."""
    words = alternatives(patients().copied)
    return re.compile(
        rf"(?im)^[ \t]*+[^\w\s\n]{{1,6}}[ \t]*+(?:{words})\b"
        r"[^\n]*[^\w\s.,;:][ \t]*\n"
        r"(?:(?![ \t]*+[^\w\s\n]{1,6}[ \t]*+end\b)[^\n]*\n){1,40}?"
        r"(?=[ \t]*+[^\w\s\n]{1,6}[ \t]*+end\b|[ \t]*\n|\Z)"
    )


@cache
def _copied_line() -> re.Pattern[str]:
    return re.compile(rf"(?i)[ \t\[(*>•-]{{0,80}}+(?:{alternatives(patients().copied)})\b")


def of_the_patient(field: str, parts: Parts, found: Sequence[Found]) -> list[Found]:
    """The places that are not set aside."""
    return [one for one in found if set_aside(field, parts, one.start, one.end) is None]
