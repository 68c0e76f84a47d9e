"""The inputs of an answer beside question, retrieval and draft. They are stored, so that the same
bytes can be composed again without any request to a model or source.

They hold words of claims, as answers do: they are never shown, and are erased with the answer.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import sqlalchemy as sa
from pydantic_core import to_jsonable_python
from sqlmodel import Session

from contracts import Answer, AnswerInputs
from contracts.answer import Conflict
from contracts.inputs import Cured
from store.core.hashes import Hashed, hashed
from store.documents.documents import Version
from store.documents.publication_status import Standing


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
    conflicts: Sequence[Conflict],
    in_the_past: bool,
    cost_usd: str | None,
    held: Mapping[str, _Held],
    gate: Mapping[str, Any] | None = None,
    stances: Mapping[str, Any] | None = None,
) -> AnswerInputs:
    """The arguments of composing an answer, as they are stored. Pure.

    Args:
        checked: all drafted claims with their verdicts.
        keyless: the claims are those of the keyless draft, shown in place of a model's.
        contested: ids of claims that another source contradicts and that are not upheld.
        undecided: the contested claims in a conflict that nothing decides.
        conflicts: the conflicts as in the answer.
        in_the_past: the question was about a past time.
        held: the versions by evidence key, with the standing of their works and both clocks.
        gate: what names the gate that was passed, and what it did, in counts.
        stances: what the local verifier made of claims on a yes/no question.
    """
    body: dict[str, Any] = to_jsonable_python(
        {
            "checked": list(checked),
            "keyless": keyless,
            "contested": sorted(contested),
            "undecided": sorted(undecided),
            "in_the_past": in_the_past,
            "cost_usd": cost_usd,
            **({"gate": gate} if gate else {}),
            **({"stances": stances} if stances else {}),
            "held": {
                key: {
                    "version_id": evidence.cited.version.id,
                    "status": evidence.cited.version.status,
                    "standing": evidence.cited.standing,
                    "doubts": sorted(evidence.cited.doubts),
                    "cited_by": evidence.cited.cited_by,
                    "clocks": evidence.clocks,
                }
                for key, evidence in held.items()
            },
        }
    )
    return AnswerInputs.model_validate({**body, "conflicts": conflicts})


def to_keep(composed_from: AnswerInputs, answer: Answer, key: bytes | None) -> Hashed:
    """The inputs of an answer that is about to be stored, with their hash, for the audit.

    Args:
        answer: as stored, with the cure that the commit added.
        key: the key of the question's hashes.
    """
    cured = Cured(cure=answer.cure, cure_refreshes=answer.cure_refreshes)
    return hashed(composed_from.model_copy(update={"cured": cured}).as_body(), key)


@dataclass(frozen=True)
class Kept:
    """The stored inputs of an answer."""

    body: Mapping[str, Any]
    hash: str


def kept(session: Session, question_id: UUID) -> Kept | None:
    """The inputs of a question's answer; None for answers from before inputs were stored."""
    query = sa.text("SELECT body, hash FROM answer_inputs WHERE question_id = :id")
    row = session.execute(query, {"id": question_id}).one_or_none()
    return None if row is None else Kept(row.body, row.hash)
