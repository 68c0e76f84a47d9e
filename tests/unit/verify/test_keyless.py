"""Where the gate leaves too little of a model's draft, the keyless one takes its place."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import Draft
from store.core.hashes import text_hash
from store.core.spans import Span
from tests.bodies import filled
from workers.verify.answers.keyless import in_place_of, may_be_thinned, without_refused
from workers.verify.checking import Checking
from workers.verify.claims import Basis, Checked, Rewritten, Verdict
from workers.verify.gate import gate
from workers.verify.judges.judging import Judged, Reply, Support

KEYLESS = {"generator": "extractive", "prompt_version": "extractive.v1", "claims": []}


def claim(
    words: str, verdict: Verdict = Verdict.SUPPORTED, claim_id: str = "c1", **other: Any
) -> Checked:
    basis = Basis.WORDS if verdict is Verdict.SUPPORTED else Basis.NONE
    place = Span(0, len(words))
    known = (claim_id, words, "E1", "EVIDENCE", verdict, "verbatim", place)
    return Checked(*known, basis=basis, **other)


@given(
    drafted=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=14),
    beside=st.booleans(),
)
def test_a_draft_may_give_way_where_most_of_it_or_all_that_answers_fell(
    drafted: list[tuple[bool, bool]], beside: bool
) -> None:
    """Drafted are claims that hold or not and answer or not, however many the sources' are."""
    verdicts = (Verdict.UNSUPPORTED, Verdict.SUPPORTED)
    results = [claim("A.", verdicts[holds], f"c{n}") for n, (holds, _) in enumerate(drafted)]
    claims = [{"claim_id": f"c{n}", "answers": int(one)} for n, (_, one) in enumerate(drafted)]
    draft = filled(Draft, claims=claims, **({"keyless": KEYLESS} if beside else {}))
    answers = [holds for holds, answering in drafted if answering]
    fell = [not holds for holds, _ in drafted]
    emptied = sum(fell) > len(fell) / 2 or (bool(answers) and not any(answers))
    assert may_be_thinned(draft, gate(results)) is (beside and emptied)


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
