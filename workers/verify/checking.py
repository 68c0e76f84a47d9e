"""Drafted claims through all checks, in their order: place, guards, verdict, hedging."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from workers.language_model.port import ModelError
from workers.verify.claims import Checked, Drafted, Located
from workers.verify.completing import completed
from workers.verify.guards.vetoes import objections, objections_of_model, vetoes_of_model
from workers.verify.judging import Judged, Material
from workers.verify.locating import CitedText, locate
from workers.verify.rewriting import hedged
from workers.verify.verdicts import Verifier, by_model, by_verifier

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
    verifier: Verifier,
    *,
    judge: Judge | None = None,
    not_citable: Collection[str] = (),
) -> Checking:
    """Check every claim (MRD 3.1); what does not hold is hedged around its quotation or falls, and
    what a model's claim leaves out is put back.

    Args:
        texts: the versions by evidence key.
        verifier: gives the verdicts where no model does.
        judge: where given, its word is needed for each claim that the guards let through. Where it
            has none to give, the verifier decides, and the result says so.
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
            judged = Judged(note=f"by the verifier: {type(error).__name__}")
    if results is None:
        results = by_verifier(located, verifier)
    return Checking(hedged(located, results), judged)


def _material(located: Sequence[Located], texts: Mapping[str, CitedText]) -> list[Material]:
    """What a judge is shown: only claims that could still pass."""
    shown = []
    for one in located:
        if one.may_pass and one.place is not None:
            grounds = texts[one.drafted.evidence_id].grounds(one.place)
            shown.append(Material(one, grounds.title, grounds.neighbours))
    return shown
