"""What a question asks for, as the answer object tells it (`asked`, DESIGN section 5). Pure."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

AnswerType = Literal[
    "yesno",
    "number",
    "list",
    "comparison",
    "recommendation",
    "mechanism",
    "trials",
    "coverage",
    "explanation",
]
ANSWER_TYPES: tuple[AnswerType, ...] = get_args(AnswerType)

ConstraintKind = Literal[
    "age",
    "sex",
    "weight",
    "dose",
    "kidney_function",
    "pregnancy",
    "status",
    "date",
    "duration",
    "other",
]


@dataclass(frozen=True)
class Constraint:
    """A condition on what answers a question, in the question's words at `[start, end)`.

    `value` is a figure as it can be compared, in `unit`, a bound if `comparator` is set (`<`, `>`,
    `≤`, `≥`); a date's is a year. `excludes`: what is named is to be left out.
    """

    kind: ConstraintKind
    text: str
    start: int
    end: int
    value: float | None = None
    unit: str | None = None
    comparator: str | None = None
    excludes: bool = False

    @property
    def told(self) -> str:
        """The constraint in words, with what its kind says: "age 82", "no thrombosis"."""
        unit = self.unit if self.unit and self.unit not in self.text.split() else ""
        kind = "" if self.kind == "other" else self.kind.replace("_", " ")
        words = ["no" if self.excludes else "", kind, self.text, unit]
        return " ".join(word for word in words if word)

    def as_body(self) -> dict[str, Any]:
        """As it stands in an answer, without its place."""
        return {
            "kind": self.kind,
            "text": self.text,
            "value": self.value,
            "unit": self.unit,
            "comparator": self.comparator,
            "excludes": self.excludes,
        }


@dataclass(frozen=True)
class Asked:
    """What is asked: the form of the answer, the problem that it is about, the names that an answer
    must be about, and what restricts it. `problem` is empty where the question names none."""

    type: AnswerType
    problem: str = ""
    names: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    required: tuple[str, ...] = ()
    """Those of the names without which no source answers."""
    either: tuple[str, ...] = ()
    """Drugs among these to choose from, of which one will do."""

    def as_body(self) -> dict[str, Any]:
        """As it stands in an answer."""
        return {
            "type": self.type,
            "problem": self.problem or None,
            "names": list(self.names),
            "constraints": [one.as_body() for one in self.constraints],
            "required": list(self.required),
            "either": list(self.either),
        }


NOTHING_ASKED = Asked("explanation")
"""What a question is taken for before it is read."""
