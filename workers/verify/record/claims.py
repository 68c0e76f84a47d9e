"""What an answer and its record say of its claims: read, never judged anew. Pure.

The answer has the words and places of every claim that it shows; its inputs have how each was
judged. Releases before this one kept less: what they did not keep is None or empty here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from workers.verify.claims import Basis, Drafted, Opinions
from workers.verify.judges.judging import Reply, Support

_HELD = ("supported", "conflicting")
"""The verdicts of claims that their own source bears out."""


@dataclass(frozen=True)
class Recorded:
    """A claim that an answer shows as held, as it was judged.

    `drafted` has its words, and as quotations the words that it cites. `judged` is what the judges
    said; None if that was not kept. `keyless`: no language model drafted it, and none judges it.
    """

    drafted: Drafted
    verdict: str
    basis: Basis
    judged: Opinions | None
    keyless: bool

    @property
    def replies(self) -> tuple[Reply, ...]:
        """What a language model replied, in the order in which it was asked.

        Of a claim that a model let through before replies were kept, that it said SUPPORTED is all
        that is known: no doubt was put to it.
        """
        if self.judged is None or not self.judged.replies:
            return (Reply(Support.SUPPORTED),) if self.basis is Basis.MODEL else ()
        *before, last = (Support(one) for one in self.judged.replies)
        settled = frozenset(self.judged.doubts) - frozenset(self.judged.standing)
        answered = frozenset(self.judged.answered) | settled
        return (*(Reply(one) for one in before), Reply(last, settled, answered))


def recorded(answer: Mapping[str, Any], inputs: Mapping[str, Any] | None) -> list[Recorded]:
    """The claims that an answer shows as held.

    Args:
        answer: its body.
        inputs: what it was composed from; None if that was not kept.

    Raises:
        KeyError, ValueError: it is in no form that this release reads.
    """
    opinions = {
        str(one["claim_id"]): _opinions(one.get("judged"))
        for one in (inputs or {}).get("checked", ())
    }
    keyless = answer["provenance"]["generator"] == "extractive"
    return [
        Recorded(
            _drafted(claim),
            str(claim["verdict"]),
            Basis(claim["basis"]),
            opinions.get(str(claim["claim_id"])),
            keyless,
        )
        for claim in answer["claims"]
        if claim["verdict"] in _HELD
    ]


def cited(claims: Sequence[Mapping[str, Any]]) -> dict[str, tuple[UUID, int]]:
    """Document and number of the version behind each evidence key that claims cite."""
    return {
        str(place["evidence_id"]): (UUID(place["document_id"]), int(place["version"]))
        for claim in claims
        for place in claim["citations"]
    }


def _drafted(claim: Mapping[str, Any]) -> Drafted:
    first, *others = claim["citations"]
    return Drafted(
        claim_id=str(claim["claim_id"]),
        text=str(claim["text"]),
        evidence_id=str(first["evidence_id"]),
        quote=str(first["quote"]),
        heading="",
        also=tuple((str(one["evidence_id"]), str(one["quote"])) for one in others),
    )


def _opinions(body: Mapping[str, Any] | None) -> Opinions | None:
    if body is None:
        return None
    lists = ("doubts", "standing", "replies", "answered")
    return Opinions(
        supported=body.get("supported"),
        contradicted=body.get("contradicted"),
        digest=body.get("digest"),
        **{name: tuple(map(str, body.get(name, ()))) for name in lists},
    )
