"""How far what is held answers: what retrieval found, as far as the answer has it. Pure.

The score of retrieval counts what was found. An answer that says nothing, or says it of another
name, is as weak as that, whatever was found beside it. Limits: `strength` of knowledge/trust.yaml.
"""

from collections.abc import Collection, Sequence

from contracts.answer import Lead
from contracts.retrieval import Sufficiency
from knowledge.loader import load
from knowledge.policy import retrieval_policy
from workers.verify.lead.forms import Said


def strength(
    found: Sufficiency, lead: Lead, said: Sequence[Said], unnamed: Collection[str]
) -> Sufficiency:
    """The strength of an answer.

    Args:
        found: that of the evidence.
        said: the verified claims.
        unnamed: names of the question that no source of the answer has.
    """
    if found.score is None:
        return found
    limits = load("trust")["strength"]
    sources = len({one.claim.evidence_id for one in said})
    if lead.kind == "none":
        most, why = limits["none"], "nothing that is held answers"
    elif lead.kind == "beside" or unnamed:
        most, why = limits["beside"], "not all that is asked about is named"
    elif sources == 1:
        most, why = limits["one"], "1 source answers"
    else:
        most, why = 100, f"{sources} sources answer"
    score = min(found.score, most)
    basis = "; ".join(filter(None, (why, found.basis)))
    return Sufficiency(score=score, level=_level(score), basis=basis)


def _level(score: int) -> str:
    levels = retrieval_policy().sufficiency.levels
    at_least = {"excellent": levels.excellent, "good": levels.good, "limited": levels.limited}
    return next((name for name, least in at_least.items() if score >= least), "insufficient")
