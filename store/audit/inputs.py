"""What an answer was composed from, beside question, retrieval and draft: kept, so that the same
bytes can be composed again without asking anybody.

It holds words of claims, as answers do: it is shown to nobody, and goes where they go.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import sqlalchemy as sa
from pydantic_core import to_jsonable_python
from sqlmodel import Session

from store.core.hashes import Hashed, hashed
from store.documents.documents import Version
from store.documents.publication_status import Standing

CURED = ("cure", "cure_refreshes")
"""What a commit may add to a composed answer: the refreshes that it asked for have ids."""


class _Cited(Protocol):
    @property
    def version(self) -> Version: ...
    @property
    def standing(self) -> Standing: ...
    @property
    def doubts(self) -> Collection[str]: ...
    @property
    def cited_by(self) -> int | None: ...


class _Held(Protocol):
    @property
    def cited(self) -> _Cited: ...
    @property
    def clocks(self) -> Any: ...


def inputs(
    *,
    checked: Sequence[Any],
    keyless: bool = False,
    contested: Collection[str],
    undecided: Collection[str],
    conflicts: Sequence[Mapping[str, Any]],
    in_the_past: bool,
    cost_usd: str | None,
    held: Mapping[str, _Held],
) -> dict[str, Any]:
    """The arguments of composing an answer as JSON. Pure.

    Args:
        checked: all drafted claims with their verdicts.
        keyless: whether they are those of the keyless draft, shown in the place of a model's.
        contested: ids of claims that another source contradicts and that do not stand.
        undecided: those of them in a conflict that nothing decides.
        conflicts: as they stand in the answer.
        in_the_past: whether the question was about a time that was over.
        held: the versions by evidence key, with what became of their works and both clocks.
    """
    body: dict[str, Any] = to_jsonable_python(
        {
            "checked": list(checked),
            "keyless": keyless,
            "contested": sorted(contested),
            "undecided": sorted(undecided),
            "conflicts": list(conflicts),
            "in_the_past": in_the_past,
            "cost_usd": cost_usd,
            "held": {
                key: {
                    "version_id": one.cited.version.id,
                    "status": one.cited.version.status,
                    "standing": one.cited.standing,
                    "doubts": sorted(one.cited.doubts),
                    "cited_by": one.cited.cited_by,
                    "clocks": one.clocks,
                }
                for key, one in held.items()
            },
        }
    )
    return body


def to_keep(
    composed_from: Mapping[str, Any], answer: Mapping[str, Any], key: bytes | None
) -> Hashed:
    """The inputs of an answer that is about to be stored, with their hash, for the audit.

    Args:
        answer: its body as it is stored, with the cure that the commit named.
        key: of the question's hashes.
    """
    return hashed({**composed_from, "cured": {name: answer[name] for name in CURED}}, key)


@dataclass(frozen=True)
class Kept:
    """Inputs as they are stored."""

    body: Mapping[str, Any]
    hash: str


def kept(session: Session, question_id: UUID) -> Kept | None:
    """The inputs of a question's answer; None for answers from before they were kept."""
    query = sa.text("SELECT body, hash FROM answer_inputs WHERE question_id = :id")
    row = session.execute(query, {"id": question_id}).one_or_none()
    return None if row is None else Kept(row.body, row.hash)
