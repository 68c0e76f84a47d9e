"""No pattern tries every way of sharing out the same characters: reading stays linear."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from clinical_text import persons
from tests.grid import grid
from workers.extract import field_reader, heads, parts, units
from workers.extract.evaluation import completeness, damage, doubts, signs
from workers.extract.evaluation.signs_policy import signs_policy
from workers.extract.intake import readability
from workers.extract.rubrics import field_policies
from workers.extract.rules import choosing, placing, reading
from workers.extract.rules.drugs import drugs, hospital_drugs, medicines
from workers.extract.rules.laboratory import lab_parts, lab_tables, labs
from workers.extract.rules.texts import (
    days,
    dictated,
    negation,
    numbers,
    others,
    tick_boxes,
    titles,
    words,
)
from workers.extract.rules.tumors import (
    genomes,
    hybridization,
    margins,
    markers,
    stages,
    staging,
    times,
    tumors,
)

MODULES = [choosing, completeness, damage, days, dictated, doubts, drugs, field_reader, genomes,
           heads, hospital_drugs, hybridization, lab_parts, lab_tables, labs, margins,
           markers, medicines, negation, numbers, others, parts, persons, placing, readability,
           reading, signs, stages, staging, tick_boxes, times, titles, tumors, units,
           words]  # fmt: skip
BUILT = {
    drugs: ["_ahead", "_verb"],
    labs: ["_known"],
    words: ["_examination"],
    medicines: ["_condition", "_ended", "_ended_next", "_next", "_turns"],
    margins: ["_answers_no", "_denied_behind", "_denies", "_results"],
    others: ["_back", "_behind", "_companions", "_relative"],
    persons: ["_labelled"],
    placing: ["_copied_block", "_copied_line"],
    times: ["_present"],
}
"""Functions without arguments that make a pattern of lists of words."""
MANY = 1000
"""A repetition of so many or more counts as without end."""
BACKTRACKING = ("MAX_REPEAT", "MIN_REPEAT")


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Every pattern that a rule or the evaluator searches a whole document with."""
    for module in MODULES:
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                yield f"{module.__name__}.{name}", value
            elif isinstance(value, list):
                for index, one in enumerate(value):
                    if isinstance(one, re.Pattern):
                        yield f"{module.__name__}.{name}[{index}]", one
    for field, policy in field_policies().items():
        for kind, pattern in (("cue", policy.cue), ("shape", policy.shaped)):
            if pattern is not None:
                yield f"{field}.{kind}", pattern
    for field, sign in signs_policy().fields.items():
        for index, pattern in enumerate(sign.compiled):
            yield f"signs.{field}[{index}]", pattern


def built() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Those that are made of lists of words."""
    for module, made in BUILT.items():
        for name in made:
            yield f"{module.__name__}.{name}", getattr(module, name)()


EVERY = dict([*patterns(), *built()])


def _inside(node: Any) -> Iterator[Any]:
    """The parsed patterns inside a parsed pattern's item."""
    if isinstance(node, re._parser.SubPattern):  # type: ignore[attr-defined]
        yield node
    elif isinstance(node, (list, tuple)):
        for one in node:
            yield from _inside(one)


def _nested(parsed: Any, inside: bool) -> bool:
    """Whether an endless repetition that can give back stands inside an endless one."""
    for operation, argument in parsed:
        endless = str(operation) in (*BACKTRACKING, "POSSESSIVE_REPEAT") and argument[1] >= MANY
        if inside and endless and str(operation) in BACKTRACKING:
            return True
        if any(_nested(one, inside or endless) for one in _inside(argument)):
            return True
    return False


def _spaces(item: Any) -> bool:
    """Whether an item repeats a class with the space without end, and can give back."""
    operation, argument = item
    if str(operation) not in BACKTRACKING or argument[1] < MANY:
        return False
    inner = list(argument[2])
    if len(inner) != 1 or str(inner[0][0]) != "IN":
        return False
    return any(
        str(kind) == "CATEGORY" and str(value) == "CATEGORY_SPACE"
        for kind, value in inner[0][1]
    )  # fmt: skip


def _adjacent(parsed: Any) -> bool:
    """Whether two endless repetitions of spaces stand side by side."""
    items = list(parsed)
    if any(_spaces(one) and _spaces(other) for one, other in pairwise(items)):
        return True
    return any(_adjacent(one) for _, argument in items for one in _inside(argument))


@grid("name", EVERY)
def test_no_endless_repetition_stands_inside_another(name: str) -> None:
    pattern = EVERY[name]
    parsed = re._parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)  # type: ignore[attr-defined]
    assert not _nested(parsed, inside=False)
    assert not _adjacent(parsed)


@pytest.mark.parametrize("bad", [r"(?:a+)+b", r"(?:\w+\s+)*x", r"\s*\s+x"])
def test_the_check_finds_what_it_looks_for(bad: str) -> None:
    parsed = re._parser.parse(bad)  # type: ignore[attr-defined]
    assert _nested(parsed, inside=False) or _adjacent(parsed)
