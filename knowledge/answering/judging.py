"""How a claim is judged (`judging.yaml`), checked. Pure."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated

from pydantic import Field

from knowledge.loader import Policy, load

Share = Annotated[float, Field(gt=0, lt=1)]


class Sure(Policy):
    """From when on the verifier is sure, below what it disagrees, and from when on it leans."""

    supported: Share
    contradicted: Share
    disagrees: Share
    likely: Share


class Planted(Policy):
    """How many controls a request holds."""

    false_ones: Annotated[int, Field(ge=1)]
    true_ones: Annotated[int, Field(ge=0)]


class Judging(Policy):
    """The whole policy."""

    version: int
    sure: Sure
    least_words: Annotated[int, Field(ge=1)]
    document_characters: Annotated[int, Field(gt=0)]
    controls: Planted
    doubts: Mapping[str, str]


@cache
def judging_policy() -> Judging:
    """`judging.yaml`. Raises ValidationError if the file is invalid."""
    return Judging.model_validate(load("answering/judging"))
