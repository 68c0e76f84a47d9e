"""The questions and targets of `regression.yaml`."""

from functools import cache

from pydantic import Field

from knowledge.loader import Policy, load


class Asked(Policy):
    """A question and its expected type; `general`: no particular type."""

    type: str
    text: str


class Target(Policy):
    """The bound that a figure must satisfy."""

    below: float | None = None
    at_least: float | None = None

    def met(self, figure: float | None) -> bool:
        """True if `figure` is not None and satisfies the target."""
        if figure is None:
            return False
        return (self.below is None or figure < self.below) and (
            self.at_least is None or figure >= self.at_least
        )


class Regression(Policy):
    """See the head of the file."""

    version: int
    questions: tuple[Asked, ...] = Field(min_length=1)
    targets: dict[str, Target]


@cache
def regression() -> Regression:
    """The file, validated."""
    return Regression.model_validate(load("operation/regression"))
