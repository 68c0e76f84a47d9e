"""The questions and targets of `regression.yaml`."""

from functools import cache

from pydantic import BaseModel, ConfigDict, Field

from knowledge.loader import load


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Asked(_Policy):
    """A question and the type that it must be taken for; `general`: none in particular."""

    type: str
    text: str


class Target(_Policy):
    """What a figure must be."""

    below: float | None = None
    at_least: float | None = None

    def met(self, figure: float | None) -> bool:
        """Whether `figure` is there and is what it must be."""
        if figure is None:
            return False
        return (self.below is None or figure < self.below) and (
            self.at_least is None or figure >= self.at_least
        )


class Regression(_Policy):
    """See the head of the file."""

    version: int
    questions: tuple[Asked, ...] = Field(min_length=1)
    targets: dict[str, Target]


@cache
def regression() -> Regression:
    """The file, validated."""
    return Regression.model_validate(load("regression"))
