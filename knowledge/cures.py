"""What an abstention asks sources for (`cures.yaml`), in the words of the vocabulary alone."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from knowledge.loader import load
from knowledge.sources import connector_policies

Basis = Annotated[str, Field(min_length=1)]
Phrase = Annotated[str, Field(pattern=r"^[A-Za-z0-9]+(?:[ -][A-Za-z0-9]+)*$")]
"""Nothing that any source's language could take for an operator or a quotation mark."""


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceQuery(_Policy):
    """How one source is asked."""

    phrase: Annotated[str, Field(pattern=r"\{phrase\}")]
    only: str | None
    basis: Basis


class Texts(_Policy):
    """What the answer says."""

    under_way: str
    planned: str
    nobody: str


class CurePolicy(_Policy):
    """`cures.yaml`."""

    version: Literal[1]
    quiet_hours: Annotated[float, Field(gt=0)]
    quiet_basis: Basis
    most_an_hour: Annotated[int, Field(ge=1)]
    most_basis: Basis
    least_terms: Annotated[int, Field(ge=1)]
    most_terms: Annotated[int, Field(ge=1)]
    terms_basis: Basis
    sources: dict[str, SourceQuery]
    texts: Texts

    @model_validator(mode="after")
    def _names_sources_that_can_be_searched(self) -> Self:
        for name in self.sources:
            policy = connector_policies().get(name)
            if policy is None or policy.source_type is None:
                raise ValueError(f"cures.yaml: {name} is no source that can be searched")
        if self.most_terms < self.least_terms:
            raise ValueError("cures.yaml: most_terms is less than least_terms")
        return self


@cache
def cure_policy() -> CurePolicy:
    """The policy, validated, read once in a process.

    Raises pydantic.ValidationError if the file is not what it should be.
    """
    return CurePolicy.model_validate(load("cures"))


@cache
def _phrases() -> dict[str, dict[str, tuple[str, ...]]]:
    vocabulary = load("vocabulary")
    checked = TypeAdapter(tuple[Phrase, ...])
    return {
        kind: {
            tag: checked.validate_python(entry.get("search", ()), strict=False)
            for tag, entry in vocabulary[kind].items()
        }
        for kind in ("diseases", "decisions")
    }


def cure_query(source: str, recognized: Mapping[str, Sequence[str]]) -> str | None:
    """What to ask `source` for; None where too few terms were recognized to search for.

    Args:
        source: one of the policy's sources.
        recognized: tags by kind (`diseases`, `decisions`), in the order of their mention. A tag
            that the vocabulary does not have is left out, whoever wrote it there.
    """
    policy = cure_policy()
    found = [
        phrases
        for kind, by_tag in _phrases().items()
        for tag in recognized.get(kind, ())
        if (phrases := by_tag.get(tag))
    ]
    if len(found) < policy.least_terms:
        return None
    asked = policy.sources[source]
    groups = [
        " OR ".join(asked.phrase.format(phrase=phrase) for phrase in phrases)
        for phrases in found[: policy.most_terms]
    ]
    joined = " AND ".join(f"({group})" if " OR " in group else group for group in groups)
    return f"{joined} AND {asked.only}" if asked.only else joined
