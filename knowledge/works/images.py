"""Which images may be shown with an answer, as a validated model (`images.yaml`)."""

from functools import cache

from pydantic import Field

from knowledge.loader import Policy, load


class ImagePolicy(Policy):
    """The rules and limits for images (EB-6); the file names their sources."""

    most: int = Field(ge=1)
    candidates: int = Field(ge=1)
    seconds: float = Field(gt=0)
    tags: int = Field(ge=1, description="of each kind in a query")
    algorithms: tuple[str, ...] = Field(min_length=1)
    teaching: tuple[str, ...] = Field(min_length=1)
    decision_type: str
    other_type: str
    types: dict[str, str]
    collection: str
    licenses: dict[str, str]


@cache
def image_policy() -> ImagePolicy:
    """The image policy."""
    return ImagePolicy.model_validate(load("works/images"))
