"""Where the gate leaves too little of a language model's draft, the keyless one is shown. Pure.

A draft that is emptied or thinned must not tell less than the sources' own sentences, which need no
model: those stand beside it in the draft (`keyless`), and the answer says that they took its place.
"""

from collections.abc import Sequence
from dataclasses import replace

from contracts import Draft
from contracts.draft import Fallback, Proposal
from knowledge.answering.generation import generation_policy
from store.core.hashes import text_hash
from workers.verify.checking import Checking
from workers.verify.claims import Checked, Verdict
from workers.verify.gate import Passed
from workers.verify.judges.judging import Support


def may_be_thinned(draft: Draft, passed: Passed) -> bool:
    """Whether the gate took most of a draft beside which there is a keyless one: more than half of
    its claims, or all that its drafter calls the answer. Which of the two has more claims does not
    tell that: one of a model's holds what several sentences of a source hold."""
    held = {one.claim_id for one in passed.held}
    answers = {one.claim_id for one in draft.claims if one.answers}
    none_answers = bool(answers) and held.isdisjoint(answers)
    return draft.keyless is not None and (none_answers or len(held) < len(draft.claims) / 2)


def in_place_of(draft: Draft) -> Proposal:
    """The keyless draft as it is shown in the place of the model's, with the reason.

    Raises:
        ValueError: there is none.
    """
    if draft.keyless is None:
        raise ValueError("the draft has no keyless one beside it")
    note = generation_policy().fallbacks["thinned"]
    return draft.keyless.model_copy(update={"fallback": Fallback(reason="thinned", note=note)})


def without_refused(keyless: Sequence[Checked], checking: Checking) -> list[Checked]:
    """The keyless claims; one in the words of a claim that a judge called unsupported is so too."""
    refused = {
        one.rewritten_from.text_hash if one.rewritten_from else text_hash(one.text)
        for one in checking.results
        if checking.judged.believed and checking.judged.said(one.claim_id) is Support.UNSUPPORTED
    }
    return [
        replace(one, verdict=Verdict.UNSUPPORTED) if text_hash(one.text) in refused else one
        for one in keyless
    ]
