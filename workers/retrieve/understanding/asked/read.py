"""What a question asks for, read from its words: `read_asked`."""

import re
from collections.abc import Iterable, Iterator, Sequence

from clinical_text.names import Name, names
from workers.retrieve.understanding.asked import reader
from workers.retrieve.understanding.asked.constraints import constraints, is_left_out
from workers.retrieve.understanding.asked.model import Asked
from workers.retrieve.understanding.asked.reader import Marked, Part, Role
from workers.retrieve.understanding.asked.required import either, required
from workers.retrieve.understanding.assertion import is_asserted

_MOST_PROBLEMS = 2
"""A problem may be one thing in the presence of another."""
_CONDITIONS = frozenset({"disease", "tumor"})
_DOES = re.compile(
    r"\b(?P<do>[Dd]id|[Dd]oes|[Dd]o)\s(?:the\s)?(?P<name>(?:[A-Z0-9][\w/-]{0,40}\s){1,5})(?P<verb>[a-z]{2,20})"
    r"(?=\W{0,3}$|[,.;:?]|\s(?:in|on|about|for|with|to|of|at|among|after|before|from|by|as)\b)"
)
"""What did DYNAMIC show? English asks by do, the subject and a verb; here nothing but a preposition
is behind that verb, so the name before it ends there."""
_BEFORE_NAMES = re.compile(
    r"(?i)(?:(?:of|in|on|with|without|for|to|from|by|at|after|before|during|or|and|the|an?)\s{1,9})+"
)
"""Prepositions, articles and conjunctions of English: nothing is called "of Eliquis"."""
_AS_SURE = 0.7
"""Share of the surest problem's that the second one must have (ours)."""


def read_asked(question: str) -> Asked:
    """The form of the answer, the problem, the names that it must be about, and the constraints."""
    marked = reader.read(question)
    form = marked.type(question)
    known = names(question, typed=True)
    problems = list(_asked_about(question, marked, "problem", known))
    told = list(_asked_about(question, marked, "names", known))
    problems = problems or [one for one in told if _is_condition(one, known)][:1]
    asked = sorted({*told, *problems}, key=lambda one: (one.start, one.end))
    surest = sorted(problems, key=lambda one: -one.share)[:_MOST_PROBLEMS]
    surest = surest[:1] + [one for one in surest[1:] if one.share >= _AS_SURE * surest[0].share]
    asking = marked.parts["asking"]
    needed = required(
        question, [one for one in asked if not asking or any(_meet(one, each) for each in asking)]
    )
    restricting = [_whole(one, known) for one in marked.parts["constraints"]]
    denied = [
        part
        for part in (Part(one.start, one.end, 1.0) for one in known)
        if is_left_out(question, part) and not any(_meet(part, one) for one in restricting)
    ]
    return Asked(
        type=form,
        problem=", ".join(
            _unique(
                _spelled_out(question, one, known)
                for one in sorted(surest, key=lambda one: one.start)
            )
        ),
        names=tuple(_unique(name for one in asked for name in _called(question, one, known))),
        constraints=constraints(question, [*restricting, *denied]),
        required=needed,
        either=either(question, needed, compares=form == "comparison"),
    )


def _asked_about(
    question: str, marked: Marked, role: Role, known: Sequence[Name]
) -> Iterator[Part]:
    """The parts of a role, each as long as the name that it is of, that are neither denied, past or
    another's nor rather told beside."""
    for one in _without_verbs(question, marked.parts[role]):
        if any(
            _meet(one, beside) and beside.share > one.share for beside in marked.parts["background"]
        ):
            continue
        whole = _whole(_bare(question, one), known)
        if is_asserted(question, whole.start, whole.end):
            yield whole


def _without_verbs(question: str, parts: Sequence[Part]) -> Iterator[Part]:
    """The parts without the verbs that ask of a name: nothing is called "DYNAMIC show"."""
    asking = [found.span(one) for found in _DOES.finditer(question) for one in ("do", "verb")]
    for part in parts:
        start, end = part.start, part.end
        for first, last in asking:
            if first <= start < last:
                start = last + 1
            if first < end <= last:
                end = first - 1
        if start < end:
            yield Part(start, end, part.share)


def _bare(question: str, part: Part) -> Part:
    """A part without what stands before a name and is none of it."""
    found = _BEFORE_NAMES.match(question, part.start, part.end)
    return Part(found.end(), part.end, part.share) if found else part


def _is_condition(part: Part, known: Sequence[Name]) -> bool:
    return any(_meet(part, one) and one.kinds & _CONDITIONS for one in known)


def _whole(part: Part, known: Sequence[Name]) -> Part:
    """A part as long as the names that it has a word of."""
    met = [one for one in known if _meet(part, one)]
    start = min([part.start, *(one.start for one in met)])
    return Part(start, max([part.end, *(one.end for one in met)]), part.share)


def _meet(one: Part | Name, other: Part | Name) -> bool:
    return one.start < other.end and other.start < one.end


def _spelled_out(question: str, part: Part, known: Sequence[Name]) -> str:
    """Words as written; of a short form what it stands for, where a table has that."""
    text = question[part.start : part.end]
    return next(_also(text, part, known), text) if text.isupper() else text


def _called(question: str, part: Part, known: Sequence[Name]) -> Iterator[str]:
    """A name as written and what else it is known by."""
    text = question[part.start : part.end]
    yield text
    yield from _also(text, part, known)


def _also(text: str, part: Part, known: Sequence[Name]) -> Iterator[str]:
    for one in known:
        if one.known and part.start <= one.start and one.end <= part.end:
            name = " ".join(reversed(one.preferred.split(", ")))
            if not text.isupper() or _is_short_for(text, name):
                yield name


def _is_short_for(written: str, name: str) -> bool:
    """Whether the letters of a short form, which may mean much, stand in a name in their order."""
    letters = iter(name.lower())
    return name[:1].lower() == written[:1].lower() and all(
        one in letters for one in written.lower()
    )


def _unique(told: Iterable[str]) -> Iterable[str]:
    found: dict[str, str] = {}
    for one in told:
        found.setdefault(one.lower(), one)
    return found.values()
