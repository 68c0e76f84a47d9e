"""The verdict on a located claim. Pure.

Without a language model: the claim's words are the passage's, and a rewording is not supported,
however true. With one: the model must say so. Either way no guard may speak against it, and
whatever else happens is no pass (invariant 6).
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from workers.verify.claims import Basis, Checked, Located, Verdict, checked


class Support(StrEnum):
    """What a judge says of a claim and its passage (MRD 3.1)."""

    SUPPORTED = "SUPPORTED"
    PARTIAL = "PARTIAL"
    UNSUPPORTED = "UNSUPPORTED"


_VERDICTS = {
    Support.SUPPORTED: Verdict.SUPPORTED,
    Support.PARTIAL: Verdict.PARTIAL,
    Support.UNSUPPORTED: Verdict.UNSUPPORTED,
}


def by_words(located: Sequence[Located]) -> list[Checked]:
    """Verdicts without a language model: only what is its passage's own words is supported."""
    return [
        checked(one, Verdict.SUPPORTED, Basis.WORDS)
        if one.may_pass and one.repeats
        else _fallen(one)
        for one in located
    ]


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
