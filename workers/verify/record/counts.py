"""What the gate did to a draft, in counts: kept with the answer's inputs, measured when it is
sealed. Pure; no word of a claim is in it (invariant 11)."""

from collections import Counter
from collections.abc import Sequence

from contracts.inputs import GateCounts
from knowledge.answering.judging import judging_policy
from workers.verify.claims import Basis, Checked, Opinions
from workers.verify.judges.judging import Judged, Support


def count(
    results: Sequence[Checked], judged: Judged, *, by_model: bool, set_aside: bool
) -> GateCounts:
    """Count what became of a draft; all but `stops` are of a language model's.

    `drafted` claims end as `own_words` (shown as they were drafted), as `source_words` (words of
    their sources are shown in their place) or not at all. `mended` went back to their drafter;
    `repaired` of these are shown. `doubts` were put to a judge, who answered `doubts_answered`;
    `doubts_standing` were settled by nobody. Of `both_judged` both judges spoke; they `disagreed`
    about some. The judge passed `controls_missed` of the false `controls`. `stops` are those that
    fell, by what stopped them (`stopped_by`); one may be stopped by several.

    Args:
        results: its claims; of a model's draft that is set aside, those of that draft.
        by_model: whether a language model drafted it.
        set_aside: whether the sources' own sentences are shown in its place.
    """
    stops = Counter(stop for one in results if not one.passes for stop in stopped_by(one))
    if not by_model:
        return GateCounts(stops=dict(sorted(stops.items())))
    own = [] if set_aside else [one for one in results if one.passes]
    hedged = [one for one in results if one.rewritten_from is not None]
    asked = [one.judged for one in results if one.judged is not None and one.judged.replies]
    both = [one for one in asked if one.supported is not None]
    return GateCounts(
        drafted=len(results),
        own_words=len(own),
        source_words=len(results) if set_aside else len(hedged),
        mended=judged.mended,
        repaired=sum(one.repaired_from is not None for one in own),
        doubts=sum(len(one.doubts) for one in asked),
        doubts_answered=sum(len(one.answered) for one in asked),
        doubts_standing=sum(len(one.standing) for one in asked),
        both_judged=len(both),
        disagreed=sum(_disagree(one) for one in both),
        controls=judged.controls,
        controls_missed=judged.missed,
        believed=judged.believed if judged.controls else None,
        stops=dict(sorted(stops.items())),
    )


def stopped_by(one: Checked) -> list[str]:
    """What stopped a claim: hard facts by their codes, else doubts or a judge."""
    findings = one.rewritten_from.findings if one.rewritten_from else one.findings
    if findings:
        return list(findings)
    told = one.judged or Opinions()
    if told.standing:
        return [f"doubt {kind}" for kind in told.standing]
    return ["judge" if told.replies and one.basis is not Basis.VERIFIER else "verifier"]


def _disagree(told: Opinions) -> bool:
    """Whether the first reply of the model and the verifier contradict each other."""
    sure, supported = judging_policy().sure, told.supported or 0.0
    if told.replies[0] == Support.SUPPORTED:
        return supported < sure.disagrees or (told.contradicted or 0.0) >= sure.contradicted
    return supported >= sure.supported
