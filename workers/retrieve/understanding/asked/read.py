"""What a question asks for, read from its words: `read_asked`. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache

from knowledge.loader import load
from knowledge.words import Mention
from workers.retrieve.understanding.asked.answer_type import answer_type
from workers.retrieve.understanding.asked.constraints import constraints, exclusions
from workers.retrieve.understanding.asked.model import Asked
from workers.retrieve.understanding.asked.names import Named, named
from workers.retrieve.understanding.asked.places import Places
from workers.retrieve.understanding.asked.problem import problem
from workers.retrieve.understanding.asked.required import either, required
from workers.retrieve.understanding.assertion import asserted
from workers.retrieve.understanding.sentences import Sentence, sentences


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(load("asked")[name], re.IGNORECASE)


def read_asked(question: str) -> Asked:
    """The form of the answer, the problem, the names that it must be about, and the constraints."""
    parts = sentences(question)
    found = named(question)
    excluded = Places((one.start, one.end) for one in exclusions(question))
    names = _stated(question, found, excluded)
    about = problem(question, names, parts)
    asked_about = [one for one in names if one == about or _is_asked(one, question, parts)]
    others = [one for one in asked_about if one.kind == "condition" and one != about]
    form, needed = answer_type(question, parts), required(question, asked_about)
    return Asked(
        type=form,
        problem=_spelled_out(about) if about else "",
        names=tuple(_unique(asked_about)),
        constraints=tuple(
            one
            for one in constraints(question, found, others)
            if not (
                one.excludes and any(_is_non(name) and name.start == one.start for name in names)
            )
        ),
        required=needed,
        either=either(question, needed, compares=form == "comparison"),
    )


def _is_asked(one: Named, question: str, parts: Sequence[Sentence]) -> bool:
    """Whether an answer must be about a name: one of a sentence that asks, or what a sentence
    weighs or the next one refers to that names a choice; any where none asks."""
    if not any(part.asks for part in parts):
        return True
    n = bisect_right(parts, one.start, key=lambda part: part.start) - 1
    part, following = parts[n], parts[n + 1] if n + 1 < len(parts) else None
    if part.asks:
        return True
    is_meant = following is not None and (
        following.asks and _pattern("refers").search(question, following.start, following.end)
    )
    weighed = is_meant or _pattern("weighing").search(question, part.start, part.end)
    is_choice = one.kind == "drug" or (one.kind == "other" and one.text != one.text.lower())
    return bool(weighed) and is_choice


def _stated(question: str, names: Sequence[Named], excluded: Places) -> list[Named]:
    """The names that are neither left out nor denied nor a relative's."""
    kept = [one for one in names if not excluded.meet(one.start, one.end) or _is_non(one)]
    places = {(one.start, one.end): one for one in kept}
    held = asserted(question, [Mention(one.text, one.start, one.end) for one in kept])
    return [places[one.start, one.end] for one in held]


def _is_non(one: Named) -> bool:
    """Whether a name that tables have begins with what else leaves something out: non-Hodgkin."""
    return bool(one.also) and one.text.lower().startswith("non")


def _spelled_out(one: Named) -> str:
    """A name as written; of a short form what it stands for, where a table has that."""
    if one.text.isupper() and one.also:
        return " ".join(reversed(one.also[0].split(", ")))
    return one.text


def _unique(names: Iterable[Named]) -> Iterable[str]:
    told: dict[str, str] = {}
    for one in names:
        for name in (one.text, *one.also):
            told.setdefault(name.lower(), name)
    return told.values()
