"""The trials that a question names in whatever letters it is typed. Pure.

In capitals every trial is told by its form (`names` of knowledge/questions/questions.yaml). In
lower case only those that are known: of the packs, and `trials` of
knowledge/questions/questions.yaml.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache

from knowledge.loader import load
from knowledge.subjects.naming import known_trials


def trials_called_so(question: str) -> Iterator[str]:
    """The known trials that a question calls a trial or study, those whose name has a number or is
    no other word, and those of which it says that they showed something, in any letters."""
    for pattern in (_called(), _numbered(), _unmistakable(), _told_of()):
        for match in pattern.finditer(question):
            yield _by_letters()[_letters(match["name"])]


def trials_of_two_words(question: str) -> tuple[str, ...]:
    """The known trials whose name has a hyphen for which the question has a space: CIRCULATE US is
    not CIRCULATE. As they are written: "improve it" is none."""
    found = (match.group().replace(" ", "-") for match in _of_two_words().finditer(question))
    return tuple(dict.fromkeys(found))


@cache
def _of_two_words() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w-])(?:{_any_of([n for n in known_trials().values() if '-' in n])})(?![\w-])"
    )


def _letters(name: str) -> str:
    return re.sub(r"[\s-]+", "", name.lower())


@cache
def _by_letters() -> Mapping[str, str]:
    return {_letters(written): name for written, name in known_trials().items()}


@cache
def _numbered() -> re.Pattern[str]:
    numbered = (
        re.fullmatch(r"(.{0,60}?)-?(\d{1,9}|ii{1,2})", one) for one in sorted(known_trials())[::-1]
    )
    names = (rf"{re.escape(one[1])}[\s-]?{one[2]}" for one in numbered if one is not None)
    return re.compile(rf"(?i)(?<![\w-])(?P<name>{'|'.join(names)})(?![\w-])")


@cache
def _called() -> re.Pattern[str]:
    names = _any_of(known_trials())
    beside = rf"(?:\s+(?:and|or|vs\.?|versus)\s+{names})?"
    return re.compile(rf"(?i)(?<![\w-])(?P<name>{names})(?={beside}\s+(?:trials?|study|studies)\b)")


@cache
def _unmistakable() -> re.Pattern[str]:
    names = _any_of(load("questions/questions")["trials"]["no_words"])
    return re.compile(rf"(?i)(?<![\w-])(?P<name>{names})(?![\w-])")


@cache
def _told_of() -> re.Pattern[str]:
    """What is found in a trial, and what a trial is said to have found: "in dynamic?"."""
    names = _any_of(load("questions/questions")["trials"]["words"])
    tells = rf"\s+(?:{load('questions/questions')['telling']})\b"
    asked_of = rf"(?:(?<=\bin )|(?<=\bof )|(?<=\bfrom ))(?={names}\s*(?:[?.,;]|$))"
    return re.compile(rf"(?i)(?<![\w-])(?:{asked_of}|(?={names}{tells}))(?P<name>{names})(?!\w)")


def _any_of(names: Collection[str]) -> str:
    written = sorted(names, key=lambda one: (-len(one), one))
    forms = (re.escape(one).replace(r"\-", r"[\s-]") for one in written)
    return f"(?:{'|'.join(forms)})"
