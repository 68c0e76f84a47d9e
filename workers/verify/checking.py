"""Drafted claims through all checks, in their order: place, guards, verdict, hedging."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from workers.language_model.port import ModelError
from workers.verify.claims import Checked, Drafted, Located
from workers.verify.completing import completed
from workers.verify.guards.vetoes import objections, objections_of_model, vetoes_of_model
from workers.verify.judging import Judged, Material
from workers.verify.locating import CitedText, locate
from workers.verify.own_words import own_words
from workers.verify.rewriting import hedged
from workers.verify.verdicts import by_model, by_words

log = structlog.get_logger(__name__)

Judge = Callable[[Sequence[Material]], Judged]
"""Asks a language model; raises ModelError where it gives nothing usable."""


@dataclass(frozen=True)
class Checking:
    """All drafted claims with their verdicts, and what a model had to do with them."""

    results: Sequence[Checked]
    judged: Judged = field(default_factory=Judged)


def check_claims(
    drafted: Sequence[Drafted],
    texts: Mapping[str, CitedText],
    *,
    judge: Judge | None = None,
    not_citable: Collection[str] = (),
) -> Checking:
    """Check every claim (MRD 3.1); what does not hold is hedged around its quotation or falls, and
    what a model's claim leaves out is put back.

    Args:
        texts: the versions by evidence key.
        judge: where given, its word is needed for each claim that the guards let through. Where it
            has none to give, or without one, only the source's own words pass, and the result says
            so.
        not_citable: keys of versions that were retracted or replaced meanwhile.
    """
    citable = {key: one for key, one in texts.items() if key not in not_citable}
    located = [
        locate(
            one,
            citable if one.evidence_id in citable else texts,
            objections if judge is None else objections_of_model,
            citable=one.evidence_id not in not_citable,
        )
        for one in drafted
    ]
    judged, results = Judged(), None
    if judge is not None:
        located = [
            completed(one, texts.get(one.drafted.evidence_id), vetoes_of_model) for one in located
        ]
        try:
            judged = judge(_material(located, texts))
            results = by_model(located, judged.said)
        except ModelError as error:
            log.warning("judge_failed", error=type(error).__name__, claims=len(located))
            judged = Judged(note=f"by the sources' words: {type(error).__name__}")
            located = [_in_own_words(one, texts) for one in located]
    if results is None:
        results = by_words(located)
    return Checking(hedged(located, results), judged)


def _in_own_words(one: Located, texts: Mapping[str, CitedText]) -> Located:
    """The claim as a model wrote it, which may be a line without what it stands under."""
    if one.place is None:
        return one
    cited = texts[one.drafted.evidence_id]
    return replace(one, repeats=own_words(one.text, cited, one.place) is not None)


def _material(located: Sequence[Located], texts: Mapping[str, CitedText]) -> list[Material]:
    """What a judge is shown: only claims that could still pass."""
    shown = []
    for one in located:
        if one.may_pass and one.place is not None:
            grounds = texts[one.drafted.evidence_id].grounds(one.place)
            shown.append(Material(one, grounds.title, grounds.neighbours))
    return shown
