"""How far what is held answers: what retrieval found, as far as the answer has it. Pure.

The score of retrieval counts what was found. An answer that says nothing, or says it of another
name, is as weak as that, whatever was found beside it. Limits: `strength` of
knowledge/works/trust.yaml.
"""

from collections.abc import Collection, Sequence

from clinical_text.titles import same_title
from contracts.answer import Lead
from contracts.retrieval import Sufficiency
from knowledge.answering.policy import retrieval_policy
from knowledge.loader import load
from knowledge.works.anchors import ARTICLE
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
    limits = load("works/trust")["strength"]
    sources = _works(said)
    if lead.kind == "none":
        most, why = limits["none"], "nothing that is held answers"
    elif lead.kind == "beside" or unnamed:
        most, why = limits["beside"], "not all that is asked is answered"
    elif sources == 1:
        most, why = limits["one"], "1 source answers"
    else:
        most, why = 100, f"{sources} sources answer"
    score = min(found.score, most)
    basis = "; ".join(filter(None, (why, found.basis)))
    return Sufficiency(score=score, level=_level(score), basis=basis)


def _works(said: Sequence[Said]) -> int:
    """How many works speak: two records of one are one, whatever each of them says."""
    works: list[Said] = []
    for one in {one.claim.evidence_id: one for one in said}.values():
        if not any(_are_twins(one, other) for other in works):
            works.append(one)
    return len(works)


def _are_twins(one: Said, other: Said) -> bool:
    """Whether two records are of one work: a number of a publication is the same, or the title is
    and what is cited of the one stands in the other as well."""
    first, second = one.version, other.version
    if any(
        first.identifiers.get(kind, "").lower() == second.identifiers[kind].lower()
        for kind in ARTICLE & second.identifiers.keys()
    ):
        return True
    cited = (_cited(one) in _plain(second.text), _cited(other) in _plain(first.text))
    return any(cited) and same_title(first.title, second.title)


def _cited(one: Said) -> str:
    place = one.claim.place
    return _plain(one.version.text[place.start : place.end])


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _level(score: int) -> str:
    levels = retrieval_policy().sufficiency.levels
    at_least = {"excellent": levels.excellent, "good": levels.good, "limited": levels.limited}
    return next((name for name, least in at_least.items() if score >= least), "insufficient")
