"""Queries to sources after an abstention (`cures.yaml`), made only of vocabulary words."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, TypeAdapter, model_validator

from knowledge.feeds.sources import connector_policies
from knowledge.loader import Policy, load
from knowledge.questions.classification import mesh_of
from knowledge.subjects.tags import KINDS, Kind, heading, tags

Basis = Annotated[str, Field(min_length=1)]


def _without_operator(phrase: str) -> str:
    if {"AND", "OR", "NOT"}.intersection(phrase.split()):
        raise ValueError("a phrase to search for has an operator in it")
    return phrase


Phrase = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9]+(?:[ -][A-Za-z0-9]+)*$"),
    AfterValidator(_without_operator),
]
"""Excludes everything that a source's query language could read as operator or quotation mark."""


IdentifierKind = Literal["pmid", "pmcid", "doi", "nct_id"]
_IDENTIFIERS: Mapping[IdentifierKind, re.Pattern[str]] = {
    "pmid": re.compile(r"[1-9][0-9]{0,8}"),
    "pmcid": re.compile(r"PMC[1-9][0-9]{0,11}"),
    "doi": re.compile(r"10\.[0-9]{4,9}/[A-Za-z0-9.;()/:_-]{1,200}"),
    "nct_id": re.compile(r"NCT[0-9]{8}"),
}
"""DOIs as Crossref recommends them; none has a character that a source could read as operator."""


class SourceQuery(Policy):
    """How queries to one source are written."""

    phrase: Annotated[str, Field(pattern=r"\{phrase\}")]
    only: str | None
    identifiers: dict[IdentifierKind, Annotated[str, Field(pattern=r"\{value\}")]]
    title: Annotated[str, Field(pattern=r"\{title\}")] | None = None
    heading: Annotated[str, Field(pattern=r"\{heading\}")] | None = None
    joint: str
    basis: Basis


class Texts(Policy):
    """Texts of the answer."""

    under_way: str
    planned: str
    nobody: str
    past: str


class CurePolicy(Policy):
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
    """The policy, validated, read once per process."""
    return CurePolicy.model_validate(load("questions/cures"))


def is_identifier(kind: IdentifierKind, value: str) -> bool:
    """True if `value` has the form of such an identifier and may be used in a query."""
    return _IDENTIFIERS[kind].fullmatch(value) is not None


@cache
def _phrases() -> dict[Kind, dict[str, tuple[str, ...]]]:
    vocabulary = load("subjects/vocabulary")
    checked = TypeAdapter(tuple[Phrase, ...])
    return {
        kind: {
            tag: checked.validate_python(entry.get("search", ()), strict=False)
            for tag, entry in vocabulary[kind].items()
        }
        for kind in KINDS
    }


def search_phrases(recognized: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """The phrases by which literature names each of these tags; tags without phrases are omitted.

    Args:
        recognized: tags by kind (`diseases`, `decisions`), in the order of their mention. Tags
            that are not in the vocabulary are left out, wherever they come from.
    """
    return [_phrases()[kind][tag] for kind, tag in _searchable(recognized)]


def _searchable(recognized: Mapping[str, Sequence[str]]) -> list[tuple[Kind, str]]:
    return [
        (kind, tag)
        for kind in KINDS
        for tag in dict.fromkeys(recognized.get(kind, ()))
        if _phrases()[kind].get(tag)
    ]


def _headings(
    recognized: Mapping[str, Sequence[str]], asked: Sequence[tuple[Kind, str]]
) -> dict[tuple[Kind, str], list[str]]:
    """The MeSH headings beside the phrases of each tag `asked`: only those of the question's class
    (EB-3.2 to 3.4), each with the tag that it names, else with the decision."""
    known = {
        kind: [tag for tag in recognized.get(kind, ()) if tag in _phrases()[kind]] for kind in KINDS
    }
    by_tag: dict[tuple[Kind, str], list[str]] = {one: [] for one in asked}
    decision = next((one for one in asked if one[0] == "decisions"), None)
    for name in mesh_of(known["diseases"], known["decisions"]):
        place = next(
            (one for one in asked if name == heading(*one) or one[1] in tags(one[0], name)),
            decision,
        )
        if place is not None:
            by_tag[place].append(name)
    return by_tag


def cure_query(source: str, recognized: Mapping[str, Sequence[str]]) -> str | None:
    """The query to `source`; None if too few terms were recognized.

    Args:
        source: one of the policy's sources.
        recognized: as for `search_phrases`.
    """
    policy = cure_policy()
    asked = _searchable(recognized)[: policy.most_terms]
    if len(asked) < policy.least_terms:
        return None
    source_policy = policy.sources[source]
    headings = _headings(recognized, asked) if source_policy.heading else {}
    groups = [
        " OR ".join(
            [
                *(source_policy.phrase.format(phrase=one) for one in _phrases()[kind][tag]),
                *(
                    str(source_policy.heading).format(heading=one)
                    for one in headings.get((kind, tag), ())
                ),
            ]
        )
        for kind, tag in asked
    ]
    joined = " AND ".join(f"({group})" if " OR " in group else group for group in groups)
    return f"{joined} AND {source_policy.only}" if source_policy.only else joined


def record_query(source: str, identifiers: Mapping[str, Sequence[str]]) -> str | None:
    """The query to `source` for the records with these identifiers; None if it knows none of these
    kinds.

    Args:
        source: one of the policy's sources.
        identifiers: values by kind. Values without the form of an identifier are left out.
    """
    source_policy = cure_policy().sources[source]
    parts = [
        pattern.format(value=value)
        for kind, pattern in source_policy.identifiers.items()
        for value in dict.fromkeys(identifiers.get(kind, ()))
        if is_identifier(kind, value)
    ]
    return source_policy.joint.join(parts) or None
