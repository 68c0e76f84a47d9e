"""What reads clinical documents and notes: the rules, the evaluator, and the two stages whole."""

from collections.abc import Callable, Mapping

from workers.extract.documents import classify, parts_of
from workers.extract.evaluation.evaluator import evaluate
from workers.extract.evaluation.scores import Evaluation, EvaluationFailed
from workers.extract.fields import Attempt
from workers.extract.intake.readability import Readability, assess
from workers.extract.loop.extraction import extract_by_rules
from workers.extract.loop.loop import Iteration, iterate
from workers.extract.loop.steps import TooLong, extraction_of, next_of, plan_of, result_body
from workers.extract.parts import Parts
from workers.extract.rubrics import Rubric, field_policies, rubric
from workers.extract.rules.choosing import extract_field
from workers.extract.rules.reading import read_every, read_words
from workers.summarize.summary import summarize

READABLE = Readability(readable=True, confidence=1.0)
"""Hostile texts are seldom readable: what would come behind the check is tried all the same."""


PROVENANCE = {"generator": "rules", "knowledge_version": "0"}


def extraction(text: str, document_type: str | None = None) -> object:
    """All steps of an extraction by rules, as the stage makes them: each with its parts anew.

    Of the profile with the most iterations, and with what is stored between the steps read again.
    """
    try:
        plan = plan_of(text, document_type, "clinical", lambda _: None, READABLE)
    except TooLong:
        return None
    histories: list[list[Iteration]] = [[]]
    while True:
        planned, held = plan.parts[len(histories) - 1], histories[-1]
        try:
            made = iterate(
                parts_of(text, planned.part), rubric(planned.type), held[-1] if held else None,
                extract_by_rules, _judged,
            )  # fmt: skip
        except EvaluationFailed:
            return None
        held.append(Iteration.model_validate(made.model_dump(mode="json")))
        following = next_of(plan, len(histories) - 1, held, 0.0)
        if following is None:
            return result_body(extraction_of(plan, histories, [0.0] * len(histories)), PROVENANCE)
        if following.part == len(histories):
            histories.append([])


def _judged(parts: Parts, wanted: Rubric, attempt: Attempt) -> Evaluation:
    return evaluate(parts, wanted, attempt)


def every_field(text: str) -> object:
    """Each field that there is, extracted and judged, whatever the type of the document."""
    wanted = Rubric(version=1, type="lab-report", required=tuple(field_policies()))
    return iterate(Parts(text), wanted, None, extract_by_rules, _judged) if text.strip() else None


def widely(text: str) -> object:
    """Each field with what only a second reading accepts."""
    parts = Parts(text)
    return [extract_field(field, parts, wide=True) for field in field_policies()]


def quoted(text: str) -> object:
    """Words that a model quotes for each field."""
    return [
        read_every(field, text) if one.many else read_words(field, text)
        for field, one in field_policies().items()
    ]


READERS: Mapping[str, Callable[[str], object]] = {
    "readability": assess,
    "type of a document": classify,
    "all fields, judged": every_field,
    "all fields, widely": widely,
    "quoted words of all fields": quoted,
    "an extraction": extraction,
    "a summary of a note": summarize,
}
