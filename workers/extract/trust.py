"""How far a model's reply is believed: as far as it agrees with what the rules are sure of. Pure.

What rules and a model both read in a document is where its reply can be tested. One that quotes
there what the rules read, and whose other words all stand in the document, is most likely right
where the rules only guess; one that does not is not believed there either.
"""

from collections.abc import Collection, Mapping
from statistics import fmean

from workers.extract.evaluation.evaluator import evaluate
from workers.extract.fields import Attempt, FieldResult, Status
from workers.extract.parts import Parts
from workers.extract.rubrics import Rubric, field_policies
from workers.extract.rules.choosing import compatible

_BEFORE = (1.0, 1.0)
"""Answers right and wrong that a model is given credit for before any was looked at (ours)."""
_SHOWN = 0.8
"""How likely right a reply is that a list is cut by to what it reads in full, and by which a value
begins and ends (ours)."""
_TESTED = 0.6
"""A reply of which less than one answer agreed with what is sure is not preferred (ours)."""
_NOWHERE = 0.5
"""What an answer of words that stand nowhere weighs against a model (ours)."""


def likelihoods_of(parts: Parts, rubric: Rubric, rules: Attempt) -> Mapping[str, float]:
    """Of each field how likely the rules' value is right, 0-1."""
    return evaluate(parts, rubric, rules).score.likely


class Trust:
    """How likely what a reply says is right, by what the rest of it says."""

    def __init__(
        self,
        answered: Collection[str],
        located: Mapping[str, FieldResult],
        rules: Attempt,
        likely: Mapping[str, float],
    ) -> None:
        """Test each answer.

        Args:
            answered: the fields that the reply gives words for.
            located: what it says by words that stand in the document.
            rules: what the rules found.
            likely: of each field how likely the rules' value is right, 0-1.
        """
        self._likely = likely
        self._tested = {one: _tested(one, located.get(one), rules, likely) for one in answered}

    def of(self, field: str) -> float:
        """How likely what the reply says of a field is right, 0-1, by its other answers."""
        others = [one for name, one in self._tested.items() if name != field]
        right = _BEFORE[0] + sum(one[0] for one in others)
        return right / (right + _BEFORE[1] + sum(one[1] for one in others))

    def prefers(self, field: str) -> bool:
        """Whether the reply is likelier right in a field than the rules are; in a list, whether it
        has shown itself right, for there the likelihood is that of most entries."""
        if field_policies()[field].many:
            return self.of(field) >= _SHOWN
        return self.of(field) > max(_TESTED, self._likely.get(field, 1.0))

    def bounds(self, field: str) -> bool:
        """Whether of words that the rules take for the field, too, those of the reply count: it has
        shown itself right, and the likelihood is that of the place rather than of its ends."""
        return self.of(field) >= _SHOWN


def _tested(
    field: str, said: FieldResult | None, rules: Attempt, likely: Mapping[str, float]
) -> tuple[float, float]:
    """What an answer weighs for a reply, and against it."""
    held = rules.fields.get(field)
    if said is None or not said.items:
        return 0.0, _NOWHERE
    if held is None or held.status is not Status.FOUND or not held.items:
        return 0.0, 0.0
    weight, agreed = likely.get(field, 0.0), _agreed(field, said, held)
    return weight * agreed, weight * (1.0 - agreed)


def _agreed(field: str, said: FieldResult, held: FieldResult) -> float:
    """The share of what a model says of a field that the rules read there."""
    places = held.many or field_policies()[field].kind == "words"
    return fmean(
        any(
            compatible(one.value, other.value)
            or (places and one.start < other.end and other.start < one.end)
            for other in held.items
        )
        for one in said.items
    )
