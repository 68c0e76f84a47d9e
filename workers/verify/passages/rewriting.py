"""What becomes of a claim that does not hold: hedged words around its quotation, or nothing. Pure.

MRD 3.1 asks for hedged text that says what the source does discuss. Ours says it in the source's
own words, so that the rewriting can be verified like any claim; it adds nothing that could be
wrong.
"""

from collections.abc import Sequence
from dataclasses import replace

from clinical_text.quotes import Source, check
from knowledge.loader import load
from store.core.spans import Span
from workers.verify.claims import Checked, Located, Verdict


def hedged(located: Sequence[Located], results: Sequence[Checked]) -> list[Checked]:
    """The results, each claim that fell replaced by a hedged one where its quotation holds.

    A hedged claim is `partial`: it is shown as such and never enters the summary. It is left out
    where its words are shown already by a claim that holds, or by another hedged one.
    """
    shown = [(one.evidence_id, one.place) for one in results if one.passes and one.place]
    rewritten = []
    for before, result in zip(located, results, strict=True):
        if not _can_be_hedged(before, result) or _is_shown(result, shown):
            rewritten.append(result)
            continue
        assert result.place is not None
        shown.append((result.evidence_id, result.place))
        rewritten.append(_hedge(before, result))
    return rewritten


def _can_be_hedged(located: Located, result: Checked) -> bool:
    judged = result.verdict in (Verdict.PARTIAL, Verdict.UNSUPPORTED)
    allowed = not set(result.findings) & set(load("answering/rewriting")["never_after"])
    return judged and allowed and len(located.parts) == 1


def _is_shown(result: Checked, shown: Sequence[tuple[str, Span]]) -> bool:
    place = result.place
    assert place is not None
    return any(
        key == result.evidence_id and other.start < place.end and place.start < other.end
        for key, other in shown
    )


def _hedge(located: Located, result: Checked) -> Checked:
    """The claim in hedged words, verified again: what stands between its marks is the passage."""
    words = " ".join(located.passage.split())
    text = load("answering/rewriting")["hedged"].format(quote=words)
    if not check(words, Source(located.passage)).accepted:
        return result
    return replace(
        result,
        text=text,
        verdict=Verdict.PARTIAL,
        findings=(),
        rewritten_from=result.origin(),
    )
