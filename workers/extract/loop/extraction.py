"""A document from its words to its fields: readability, type, loop for each part, merging. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workers.extract.documents import Classification, Part, as_type, classify, parts_of
from workers.extract.evaluation.evaluator import Opinion, evaluate
from workers.extract.evaluation.scores import Evaluation
from workers.extract.fields import Attempt, FieldResult, Status, shifted
from workers.extract.intake.readability import Readability, Unreadable, require_readable
from workers.extract.loop.loop import Iteration, Outcome, run
from workers.extract.loop.proposing import Ask, prompt_for, proposed_attempt
from workers.extract.parts import Parts
from workers.extract.rubrics import Profile, Rubric, policy, rubric
from workers.extract.rules.choosing import markers_contradict
from workers.extract.two_readers import state_of


@dataclass(frozen=True)
class PartResult:
    """One part of a document with what its loop made of it; places count from the part's start."""

    part: Part
    outcome: Outcome


SPOKEN_OF = "the document speaks of it, but no value was read"
NOT_SPOKEN_OF = "the document does not speak of it"
"""Why a field is called not stated."""


@dataclass(frozen=True)
class Extraction:
    """All that was made of a document."""

    readability: Readability
    classification: Classification
    parts: Sequence[PartResult]
    fields: dict[str, FieldResult]
    """Of the whole document, in its places."""

    @property
    def score(self) -> float:
        """How likely a field is right: the mean over the parts."""
        best = [one.outcome.best.evaluation.score for one in self.parts]
        return sum(one.likelihood for one in best) / len(best)

    @property
    def iterations(self) -> int:
        """Those of the part that took most."""
        return max(one.outcome.iterations for one in self.parts)

    @property
    def met_threshold(self) -> bool:
        """Whether every part did."""
        return all(one.outcome.met_threshold for one in self.parts)

    @property
    def needs_review(self) -> bool:
        """Whether a person should look at it (seed marc_v1, section 9.3).

        So it is, too, where it is of several patients, or a field is ambiguous: which of the values
        is meant no score tells. And where the evaluator says so of a field, or a part is the rest
        of a document of too many.
        """
        best = [one.outcome.best for one in self.parts]
        every = [*self.fields.values(), *(f for one in best for f in one.attempt.fields.values())]
        if self.patients > 1 or any(one.status is Status.AMBIGUOUS for one in every):
            return True
        if any(one.part.rest for one in self.parts):
            return True
        return any(
            min(one.score, one.evaluation.score.likelihood) < policy().review_below
            or one.evaluation.feedback.review_fields
            for one in best
        )

    @property
    def patients(self) -> int:
        """Of how many patients it is, as far as names and numbers tell."""
        return len({one.part.person for one in self.parts})

    def _field(self, name: str, one: FieldResult) -> dict[str, Any]:
        """A field as JSON data; of one that is not stated, why it is called so."""
        body = one.as_body()
        if one.status is Status.NOT_PRESENT:
            feedback = (part.outcome.best.evaluation.feedback for part in self.parts)
            missed = any(name in said.missing_fields for said in feedback)
            body["reason"] = SPOKEN_OF if missed else NOT_SPOKEN_OF
        return body

    def as_body(self) -> dict[str, Any]:
        """As JSON data, with the loop's metadata for each part."""
        return {
            "type": self.classification.document_type,
            "confidence": self.classification.confidence,
            "composite": self.classification.is_composite,
            "readability": self.readability.model_dump(),
            "fields": {name: self._field(name, one) for name, one in self.fields.items()},
            "score": self.score,
            "iterations": self.iterations,
            "met_threshold": self.met_threshold,
            "needs_review": self.needs_review,
            "patients": self.patients,
            "parts": [
                {
                    "type": one.part.document_type,
                    "start": one.part.start,
                    "end": one.part.end,
                    "patient": one.part.person,
                    "rest": one.part.rest,
                    "reliability_loop": one.outcome.as_body(),
                }
                for one in self.parts
            ],
        }


def extract_by_rules(parts: Parts, wanted: Rubric, previous: Iteration | None) -> Attempt:
    """The attempt without a model: a strict reading, and a wide one of the fields that feedback
    names, each beside that of the learned reader."""
    named: set[str] = set()
    if previous is not None:
        feedback = previous.evaluation.feedback
        named = {*feedback.missing_fields, *feedback.priority_fields}
        named |= {one.field for one in feedback.issues}
    fields = {}
    for field in wanted.fields:
        before = previous.attempt.fields.get(field) if previous is not None else None
        if before is not None and field not in named:
            fields[field] = before
        else:
            fields[field] = state_of(field, parts, wanted.type, wide=field in named)
    return Attempt(document_type=wanted.type, fields=fields)


def with_model(ask: Ask, *, target: float, base: str | None = None) -> "Extractor":
    """An extractor that asks a model and lets the rules fill in and object.

    Args:
        target: the score that is asked for, as the prompt says.
        base: a prompt that did well before for this type.
    """

    def extract(parts: Parts, wanted: Rubric, previous: Iteration | None) -> Attempt:
        rules = extract_by_rules(parts, wanted, previous)
        prompt = prompt_for(
            parts,
            wanted,
            previous=previous.attempt if previous else None,
            feedback=previous.evaluation.feedback if previous else None,
            iteration=previous.number if previous else 0,
            target=target,
            base=base,
        )
        return proposed_attempt(parts, wanted, ask(prompt), rules)

    return extract


Extractor = Callable[[Parts, Rubric, Iteration | None], Attempt]


def extract_text(
    text: str,
    *,
    profile: str | Profile = "batch",
    document_type: str | None = None,
    ask: Ask | None = None,
    opinions: Sequence[Opinion] = (),
    progress: Callable[[Part, Iteration], None] | None = None,
    readability: Readability | None = None,
) -> Extraction:
    """Extract a document in this process.

    Args:
        readability: as it was found when the text was read from a file.

    Raises:
        Unreadable: the text is too bad.
        EvaluationFailed: an attempt could not be judged.
        ValueError: there is no such profile or type.
        ModelError: the model gave nothing usable.
    """
    readability = readable(text, readability)
    limits = policy().profile(profile) if isinstance(profile, str) else profile
    found = classify(text) if document_type is None else as_type(text, document_type)
    extractor = extract_by_rules if ask is None else with_model(ask, target=limits.threshold)

    def judge(parts: Parts, wanted: Rubric, attempt: Attempt) -> Evaluation:
        return evaluate(parts, wanted, attempt, opinions=opinions)

    results = []
    for part in found.parts:

        def tell(iteration: Iteration, part: Part = part) -> None:
            if progress is not None:
                progress(part, iteration)

        outcome = run(
            parts_of(text, part), rubric(part.document_type), limits, extractor, judge,
            progress=tell,
        )  # fmt: skip
        results.append(PartResult(part, outcome))
    return Extraction(readability, found, results, merged(results))


def readable(text: str, found: Readability | None = None) -> Readability:
    """The readability of a text, assessed where it was not before.

    Raises:
        Unreadable: the text is too bad.
    """
    if found is None:
        return require_readable(text)
    if not found.readable:
        raise Unreadable(found)
    return found


def merged(results: Sequence[PartResult]) -> dict[str, FieldResult]:
    """The fields of all parts, in places of the whole document.

    Of two parts that give a field, the one for whose type it matters more is taken, then the
    first; many values are put together. Where the parts are of several patients every field that
    one of them states is ambiguous, with the values of all: no record mixes two patients unsaid.
    """
    rank = {"required": 0, "important": 1, "optional": 2}
    fields: dict[str, tuple[int, FieldResult]] = {}
    for one in results:
        wanted = rubric(one.part.document_type)
        for name, result in one.outcome.best.attempt.fields.items():
            placed = shifted(result, one.part.start)
            order = rank[wanted.tier(name)] + (3 if result.status is Status.NOT_PRESENT else 0)
            if name not in fields:
                fields[name] = (order, placed)
                continue
            held_order, held = fields[name]
            if held.many and held.items and placed.items:
                fields[name] = (min(order, held_order), _joined(held, placed))
            elif order < held_order:
                fields[name] = (order, placed)
    if len({one.part.person for one in results}) > 1:
        return {name: _of_all(name, results, held) for name, (_, held) in fields.items()}
    return {name: result for name, (_, result) in fields.items()}


def _of_all(name: str, results: Sequence[PartResult], held: FieldResult) -> FieldResult:
    """A field of a document of several patients: every value that one of them has."""
    placed = [
        shifted(found, one.part.start)
        for one in results
        if (found := one.outcome.best.attempt.fields.get(name)) is not None
    ]
    items = {one.value.key: one for result in placed for one in result.items}
    if not items:
        return held
    return FieldResult(
        status=Status.AMBIGUOUS, many=held.many, items=tuple(items.values()), origin=held.origin
    )


def _joined(a: FieldResult, b: FieldResult) -> FieldResult:
    keys = {one.value.key for one in a.items}
    items = (*a.items, *(one for one in b.items if one.value.key not in keys))
    opposed = markers_contradict(one.value for one in items)
    status = Status.AMBIGUOUS if opposed else a.status
    return a.model_copy(update={"items": items, "status": status})
