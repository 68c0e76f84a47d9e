"""The verdict on a located claim. Pure.

Without a language model: the claim's words are the passage's, or the learned verifier finds it
supported. With one: the model must say so. Either way no guard may speak against it, and whatever
else happens is no pass (invariant 6).
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from workers.verify.claims import Basis, Checked, Located, Verdict, checked


class Support(StrEnum):
    """What a judge says of a claim and its passage (MRD 3.1)."""

    SUPPORTED = "SUPPORTED"
    PARTIAL = "PARTIAL"
    UNSUPPORTED = "UNSUPPORTED"


class Verifier(Protocol):
    """Judges claims against passages without a language model."""

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Support]:
        """For each (claim, passage) what the passage does for the claim."""
        ...


_VERDICTS = {
    Support.SUPPORTED: Verdict.SUPPORTED,
    Support.PARTIAL: Verdict.PARTIAL,
    Support.UNSUPPORTED: Verdict.UNSUPPORTED,
}


def by_verifier(located: Sequence[Located], verifier: Verifier) -> list[Checked]:
    """Verdicts without a language model; the verifier is asked only about reworded claims.

    What only leaves out words of its sentence is partly supported at most.
    """
    reworded = [one for one in located if (one.may_pass and not one.repeats) or one.only_leaves_out]
    said = verifier([(one.text, one.passage) for one in reworded]) if reworded else ()
    judged = {id(one): support for one, support in zip(reworded, said, strict=True)}
    results = []
    for one in located:
        if id(one) in judged and one.place is not None:
            support = judged[id(one)]
            if not one.may_pass and support is Support.SUPPORTED:
                support = Support.PARTIAL
            results.append(checked(one, _VERDICTS[support], Basis.VERIFIER))
        elif not one.may_pass:
            results.append(_fallen(one))
        else:
            results.append(checked(one, Verdict.SUPPORTED, Basis.WORDS))
    return results


def by_model(located: Sequence[Located], said: Mapping[str, Support]) -> list[Checked]:
    """Verdicts of a language model by claim id; what it does not name stays unchecked."""
    results = []
    for one in located:
        support = said.get(one.drafted.claim_id)
        if not one.may_pass:
            results.append(_fallen(one))
        elif support is None:
            results.append(checked(one, Verdict.UNCHECKED, Basis.NONE))
        else:
            results.append(checked(one, _VERDICTS[support], Basis.MODEL))
    return results


def _fallen(located: Located) -> Checked:
    return checked(located, Verdict.UNSUPPORTED, Basis.NONE)
