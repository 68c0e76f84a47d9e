"""Attempts made by hand, and a model that reads only what it is told to read."""

from collections.abc import Mapping, Sequence
from typing import Any

from knowledge.loader import load
from workers.extract.documents import classify
from workers.extract.fields import Attempt, FieldResult, Item, Status
from workers.extract.loop.proposing import ProposedField, ProposedFields
from workers.extract.parts import Parts
from workers.extract.rubrics import DOCUMENT_TYPES, rubric
from workers.extract.rules.reading import read_every, read_words
from workers.extract.two_readers import state_of
from workers.language_model.port import Prompt, Proposal, Usage

REPORT = """SURGICAL PATHOLOGY REPORT
Lakeside General Hospital
Date of report: 2024-05-17

FINAL DIAGNOSIS:
Invasive ductal carcinoma, Nottingham grade 2.
Margins negative; closest margin (deep) 3 mm.

IMMUNOHISTOCHEMISTRY:
ER: Positive (95%)
PR: Positive (40%)
HER2: Negative (score 1+)
Ki-67: 18%
"""
"""A report that nobody wrote about anybody."""

MOST_PARTS: int = load("rubrics/classification")["most_parts"]
"""How many parts a document is cut into at most."""

ABSENT = FieldResult(status=Status.NOT_PRESENT)


def placed(text: str, field: str, words: str) -> FieldResult:
    """The field with the value that `words` state, where they stand in `text`."""
    start = text.index(words)
    value = read_words(field, words)
    assert value is not None
    item = Item(value=value, start=start, end=start + len(words))
    return FieldResult(status=Status.FOUND, items=(item,))


def placed_many(text: str, field: str, *every: str) -> FieldResult:
    """The same for a field of many values."""
    items = tuple(
        Item(value=value, start=text.index(words), end=text.index(words) + len(words))
        for words in every
        for value in read_every(field, words)
    )
    return FieldResult(status=Status.FOUND, many=True, items=items)


def attempt(document_type: str = "pathology", **fields: FieldResult) -> Attempt:
    """An attempt of these fields; the others were not looked for."""
    return Attempt(document_type=document_type, fields=fields)


class Reader:
    """A model that quotes only the fields of `knows`, and one of `hidden` once it is named.

    It improves only when the feedback names the fault, as the issue asks of the fake.
    """

    def __init__(
        self,
        knows: Mapping[str, list[str]],
        hidden: Mapping[str, list[str]],
        fields: Sequence[str] = (),
    ) -> None:
        """`fields` are called not present where they are neither known nor hidden."""
        self.fields = fields
        self.knows = dict(knows)
        self.hidden = dict(hidden)
        self.prompts: list[str] = []

    def propose(self, prompt: Prompt[Any]) -> Proposal[Any]:
        """Propose what is known by now."""
        self.prompts.append(prompt.user)
        feedback = prompt.user.partition("--- FEEDBACK FROM QUALITY EVALUATION")[2]
        issues = feedback.partition("PREVIOUS ATTEMPT")[0]
        for field in list(self.hidden):
            if f"[{field}]" in issues:
                self.knows[field] = self.hidden.pop(field)
        fields = [
            ProposedField(field=field, status=Status.FOUND, words=words)
            for field, every in self.knows.items()
            for words in every
        ]
        fields += [
            ProposedField(field=field, status=Status.NOT_PRESENT, words="")
            for field in self.fields
            if field not in self.knows and field not in self.hidden
        ]
        return Proposal(ProposedFields(fields=fields), "fake", Usage(100, 50), "0" * 64, "0" * 64)


def stated(field: str, text: str, *, wide: bool = False) -> FieldResult:
    """A field as both readers have it, in a document of the type that it is, if that has the field,
    else of the first that does."""
    kinds = (part.document_type for part in classify(text).parts)
    kind = next(one for one in (*kinds, *DOCUMENT_TYPES) if field in rubric(one).fields)
    return state_of(field, Parts(text), kind, wide=wide)


def stated_words(field: str, text: str) -> str | None:
    """The words of a field as both readers have it."""
    items = stated(field, text).items
    return text[items[0].start : items[0].end] if items else None
