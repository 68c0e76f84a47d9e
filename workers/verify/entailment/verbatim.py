"""Claims that are sentences of the passage, word for word. Pure."""

from clinical_text.normalize import normalize
from store.core.spans import Span
from workers.verify.entailment.lexicon import lexicon
from workers.verify.entailment.passage import sentences

_ENDS = " .;"


def verbatim(claim: str, evidence: str) -> Span | None:
    """The sentence, or neighbouring sentences, of `evidence` that `claim` repeats.

    Only what `clinical_text.normalize` folds may differ, and a final stop. A part of a sentence
    is not enough: what was left out may turn it.
    """
    wanted = normalize(claim).text.strip(_ENDS)
    if not wanted:
        return None
    text = evidence[: lexicon().limits.evidence_characters]
    spans = sentences(text)
    plain = [normalize(text[span.start : span.end]).text for span in spans]
    for first, start in enumerate(plain):
        if not wanted.startswith(start.strip(_ENDS)):
            continue
        joined = ""
        for last in range(first, len(plain)):
            joined = f"{joined} {plain[last]}".strip()
            if joined.strip(_ENDS) == wanted:
                return Span(spans[first].start, spans[last].end)
            if len(joined) > len(wanted) + len(_ENDS):
                break
    return None
