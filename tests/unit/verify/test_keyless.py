"""Where the gate leaves too little of a model's draft, the keyless one takes its place."""

from typing import Any

import pytest

from contracts import Draft
from store.core.hashes import text_hash
from store.core.spans import Span
from tests.bodies import filled
from workers.verify.checking import Checking
from workers.verify.claims import Basis, Checked, Rewritten, Verdict
from workers.verify.gate import gate
from workers.verify.judging import Judged, Reply, Support
from workers.verify.keyless import in_place_of, may_be_thinned, without_refused

KEYLESS = {"generator": "extractive", "prompt_version": "extractive.v1", "claims": []}


def claim(words: str, verdict: Verdict = Verdict.SUPPORTED, **other: Any) -> Checked:
    basis = Basis.WORDS if verdict is Verdict.SUPPORTED else Basis.NONE
    place = Span(0, len(words))
    return Checked("c1", words, "E1", "EVIDENCE", verdict, "verbatim", place, basis=basis, **other)


@pytest.mark.parametrize(
    ("held", "fallen", "beside", "thinned"),
    [
        (2, 0, True, False),  # all of it holds, however little it is
        (2, 1, True, True),
        (0, 3, True, True),
        (0, 3, False, False),  # a draft of an earlier release, or one without a model
        (0, 0, True, False),  # a model that abstained
    ],
)
def test_only_what_the_gate_took_something_of_may_give_way(
    held: int, fallen: int, beside: bool, thinned: bool
) -> None:
    results = [claim("A.")] * held + [claim("B.", Verdict.UNSUPPORTED)] * fallen
    beside_it = {"keyless": KEYLESS} if beside else {}
    draft = filled(Draft, claims=[{}] * len(results), **beside_it)
    assert may_be_thinned(draft, gate(results)) is thinned


def test_what_takes_its_place_says_so() -> None:
    shown = in_place_of(filled(Draft, generator="anthropic", model="m", keyless=KEYLESS))
    assert shown.generator == "extractive"
    assert shown.fallback is not None
    assert shown.fallback.reason == "thinned"
    assert shown.model is None


@pytest.mark.parametrize("support", Support)
@pytest.mark.parametrize("hedged", [True, False])
def test_a_claim_that_a_judge_called_unsupported_is_not_shown_as_the_sources_own(
    support: Support, hedged: bool
) -> None:
    before = Rewritten(text_hash("A."), "unsupported", ())
    told = claim("“A.”", Verdict.PARTIAL, rewritten_from=before) if hedged else claim("A.")
    checking = Checking([told], Judged({"c1": (Reply(support),)}))
    one, other = without_refused([claim("A."), claim("B.")], checking)
    assert one.passes is (support is not Support.UNSUPPORTED)
    assert other.passes
