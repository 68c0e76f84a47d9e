"""The first line in each of its forms, made of verified claims and what their records say. Pure.

Nothing is asserted that no claim asserts: every line is a claim, a span of one, or its source's
name and year. What frames it stands in `lead` of knowledge/works/trust.yaml.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar, get_args

from clinical_text.names import forms
from clinical_text.quantities import Kind, quantities
from contracts.answer import Lead, Siding, Table
from contracts.draft import Lacks
from contracts.retrieval import Asked
from knowledge.feeds.sources import source_policy
from knowledge.loader import load
from knowledge.matching.caseless import Caseless
from knowledge.works.conflicts import conflict_policy
from store.documents.documents import Version
from workers.verify.answers.abstention import Abstention
from workers.verify.gate import Verified
from workers.verify.lead.proposition import Stance
from workers.verify.lead.stance import of_side, says, says_neither, stance

_GRADE = re.compile(
    r"\b(?:class|grade|category|level|strength)\s(?:of\s\w+\s)?(?:I{1,3}[ab]?|IV|[1-5][A-C]?|[A-D])\b"
    r"|\b(?:strong|weak|conditional)\srecommendation\b",
    re.IGNORECASE,
)
_FIELD = re.compile(r"(?P<label>[A-Z][\w ]{2,30}): (?P<value>.{1,120}?)\.?")
_NO_FIGURES = frozenset({Kind.DATE, Kind.PLAIN})
_ADVICE = ("recommendation", "contraindication")
"""Of the `facets` of knowledge/questions/answers.yaml those by which a claim says what to do."""
_FOUND = frozenset({Kind.PERCENT, Kind.RATIO, Kind.CI})
"""What a study found; a share from which on something is done has a bound (above 20%)."""
_LAST = 9
T = TypeVar("T")
_NEAR = 0.8
"""What holds so much of what the first claim holds answers about as well (ours)."""
_BETTER = 2.0
"""By how much more a claim must be worth as a first line, a logit, than the one that the order of
the answer puts first: below 2 exact answers of BioASQ 9B4 and 9B5 fall out of it (ours)."""
_INSTEAD = 2
"""Titles of what is held instead (ours)."""
_SURE = 0.85
"""How probable it is at least that a line of a policy says a side (ours, on 22 questions)."""
_CONDITIONS = 2
"""Further lines of a policy beside what it decides (ours)."""
_PAYER = "payer"


@dataclass(frozen=True)
class Said:
    """A verified claim with the version that it cites, and the share of the question it holds."""

    claim: Verified
    version: Version
    covers: float
    answers: int = 0
    """Its place, from 1, among the claims that its drafter calls the answer; 0: it is none."""
    begins: float | None = None
    """How well it begins the answer by what it says; None where nobody read that."""

    @property
    def source(self) -> str:
        """Who says so: its publisher or kind of source."""
        return self.version.publisher or source_policy(self.version.source_type).name

    @property
    def year(self) -> int:
        """Of publication; 0 if it is not known."""
        return self.version.published_at.year if self.version.published_at else 0

    @property
    def strength(self) -> tuple[int, int]:
        """Strongest design first, then newest."""
        found = conflict_policy().design_class(self.version.evidence_level)
        return (_LAST if found is None else found, -self.year)

    @property
    def advises(self) -> bool:
        """Whether its source is a body that recommends."""
        return self.version.source_type in conflict_policy().guideline_sources

    @property
    def decides_coverage(self) -> bool:
        """Whether its source is a payer's policy."""
        return self.version.source_type == _PAYER

    @property
    def decision(self) -> str:
        """Of a policy: whose it is, its number and its date, as far as they are known."""
        published, number = self.version.published_at, self.version.identifiers.get("lcd_id")
        date = published.date().isoformat() if published else ""
        return ", ".join(filter(None, (self.source, number, date)))


def by_strength(said: Iterable[Said]) -> list[Said]:
    """Strongest design first, then newest; of the rest the order is kept."""
    return sorted(said, key=lambda one: one.strength)


def lead_of(
    asked: Asked | None,
    said: Sequence[Said],
    scores: Mapping[str, Siding],
    missing: Collection[str],
    *,
    on_coverage: bool = False,
) -> Lead:
    """The first line of an answer.

    Args:
        said: the verified claims, in the order of the answer; at least one.
        scores: what the verifier made of claims on a yes/no question.
        missing: what the question must be answered on and no source names.
        on_coverage: whether the question asks what a payer covers, in whatever form.
    """
    best = _named(said) or _answering(_in_force(said))
    words = load("works/trust")["lead"]
    if missing:
        text = words["beside"].format(names=", ".join(missing))
        return _lead("beside", [best[0]], text=f"{text} {best[0].claim.text}")
    if on_coverage and (policies := _policies(best) or _policies(said)):
        return _coverage(policies, scores)
    if on_coverage and asked and asked.type == "coverage":
        text = f"{words['no_policy']} {best[0].claim.text}"
        return _lead("beside", best[:1], text=text)
    if tells_no_advice(asked, said):
        return _lead("beside", best[:1], text=f"{words['no_advice']} {best[0].claim.text}")
    form = _FORMS.get(asked.type if asked else "")
    made = form(_begun(best), scores, asked) if form else None
    return made or (_sentences(best) if best[0].answers else _sentence(best))


def lead_of_none(reason: Abstention | None, lacks: Lacks | None, held: Sequence[str]) -> Lead:
    """The first line where what is held does not say: what it lacks, and what it is on instead.

    Args:
        reason: why the answer abstains; None where all that holds is contested.
        lacks: what the sources lack that speak to the question.
        held: the titles of these.
    """
    words = load("works/trust")["lead"]
    if lacks is None or lacks.who != "names":
        told = "" if reason is None or reason.reason == "no_evidence" else reason.detail
        return Lead(kind="none", text=told or words["none"])
    parts = [words["unnamed"].format(names=", ".join(lacks.asked))]
    if held:
        parts.append(words["instead"].format(titles="; ".join(held[:_INSTEAD])))
    return Lead(kind="none", text=" ".join(parts))


def tells_no_advice(asked: Asked | None, said: Iterable[Said]) -> bool:
    """Whether it is asked what to do, and all claims tell only what studies found: no body advises,
    and each states a share, a ratio or how sure it is, no dose, and neither for nor against."""
    if asked is None or asked.type != "recommendation":
        return False
    return all(not one.advises and _is_finding(one.claim.text) for one in said)


def _is_finding(text: str) -> bool:
    found = quantities(text)
    if any(one.kind is Kind.DOSE for one in found) or any(one.search(text) for one in _advice()):
        return False
    return any(one.kind in _FOUND and not one.comparator for one in found)


@cache
def _advice() -> tuple[Caseless, ...]:
    facets = load("questions/answers")["facets"]
    return tuple(Caseless(pattern) for name in _ADVICE for pattern in facets[name]["patterns"])


def _in_force(said: Sequence[Said]) -> list[Said]:
    """Without what a body said before it advised anew: a replaced edition is no advice."""
    last: dict[str, int] = {}
    for one in said:
        if one.advises:
            last[one.source] = max(last.get(one.source, 0), one.year)
    return [one for one in said if not one.advises or one.year == last[one.source]]


def _named(said: Sequence[Said]) -> list[Said]:
    """Those that their drafter says answer the question, in its order."""
    return sorted((one for one in _in_force(said) if one.answers), key=lambda one: one.answers)


def _answering(said: Sequence[Said]) -> list[Said]:
    """Those that hold nearly as much of the question as any, in their order."""
    least = load("questions/answers")["answers_from"] * max(one.covers for one in said)
    return [one for one in said if one.covers >= least]


def _better(first: Said, said: Sequence[Said]) -> Said:
    """The claim that begins the answer far better than the first does, where that was read."""
    best = max(said, key=lambda one: one.begins or 0.0)
    if best.begins is None or first.begins is None:
        return first
    return best if best.begins > first.begins + _BETTER else first


def _begun(best: Sequence[Said]) -> list[Said]:
    """In their order, but behind what begins the answer far better than the first."""
    first = _better(best[0], best)
    return [first, *(one for one in best if one is not first)]


def _lead(
    kind: str,
    said: Sequence[Said],
    *,
    text: str = "",
    value: str | None = None,
    table: Table | None = None,
) -> Lead:
    lines = text or "\n".join(one.claim.text for one in said)
    ids = tuple(one.claim.claim_id for one in said)
    return Lead(kind=kind, value=value, text=lines, claim_ids=ids, table=table)


def _sentence(best: Sequence[Said], *_: object) -> Lead:
    """The sentence that answers best; of studies that answer about as well the strongest's, unless
    it does not say what is asked for."""
    near = [one for one in best if one.covers >= _NEAR * best[0].covers]
    is_study = best[0].strength[0] < _LAST
    first = (by_strength(near) if is_study else near)[0]
    return _lead("sentence", [_better(first, best)])


def _sentences(named: Sequence[Said]) -> Lead:
    """All that are named, as far as there is room."""
    return _lead("sentence", list(_within(named, lambda one: one.claim.text)))


def _yesno(best: Sequence[Said], scores: Mapping[str, Siding], _: Asked) -> Lead | None:
    """Yes or no, where the sources of the strongest design that were read take a side together."""
    least = load("questions/answers")["sides_from"]
    read = by_strength(one for one in best if one.claim.claim_id in scores and one.covers >= least)
    # what poses a question, tells a plan or presents its work takes no side
    surest = max((one.begins for one in read if one.begins is not None), default=0.0)
    read = [one for one in read if one.begins is None or one.begins >= surest - _BETTER]
    if not read:
        return None
    first = [one for one in read if one.strength[0] == read[0].strength[0]]
    value = stance(scores[one.claim.claim_id] for one in first)
    words = load("works/trust")["lead"]
    if value is None:
        beside = not best[0].answers and says_neither(scores.values())
        text = f"{words['neither']} {best[0].claim.text}"
        return _lead("beside", [best[0]], text=text) if beside else None
    said = max(first, key=lambda one: of_side(scores[one.claim.claim_id], value))
    text = said.claim.text
    if not re.match(rf"(?i){value}\s*[:,;.]", text):
        text = words[value].format(claim=text)
    return _lead("yesno", [said], value=value, text=text)


def _number(best: Sequence[Said], *_: object) -> Lead | None:
    """The first claim with a figure; its value where it has one figure alone."""
    for one in best:
        found = [each for each in quantities(one.claim.text) if each.kind not in _NO_FIGURES]
        if found:
            words = one.claim.text
            value = words[found[0].start : found[0].end] if len(found) == 1 else None
            return _lead("number", [one], value=value)
    return None


def _list(best: Sequence[Said], *_: object) -> Lead | None:
    """A line a source, from as many as there is room for."""
    chosen = list(_within(_of_each_source(best), lambda one: one.claim.text))
    return _lead("list", chosen) if len(chosen) > 1 else None


def _recommendation(best: Sequence[Said], *_: object) -> Lead | None:
    """What the body that advised last says, with its year and the grade that it states."""
    advising = sorted((one for one in best if one.advises), key=lambda one: -one.year)
    if not advising:
        return None
    one, grade = advising[0], _GRADE.search(advising[0].claim.text)
    told = (one.source, str(one.year or ""), grade.group() if grade else "")
    value = ", ".join(filter(None, told))
    return _lead("recommendation", [one], value=value, text=f"{one.claim.text} ({value})")


def _policies(said: Sequence[Said]) -> list[Said]:
    return [one for one in said if one.decides_coverage]


def _coverage(policies: Sequence[Said], scores: Mapping[str, Siding]) -> Lead:
    """What policies decide, with whose they are, their numbers and dates, and what the first of
    them says beside it: the line first that is likeliest to decide."""
    words = load("works/trust")["lead"]
    policies = sorted(policies, key=lambda one: -_decides(scores.get(one.claim.claim_id)))
    sides = {side: _first_on(side, policies, scores) for side in get_args(Stance)}
    found = {side: one for side, one in sides.items() if one}
    shown = list(found.values()) or list(policies[:1])
    lines = [f"{one.claim.text} ({one.decision})" for one in shown]
    value = words["covered"].get("both" if len(found) == len(sides) else next(iter(found), None))
    if value:
        lines[0] = f"{value[0].upper()}{value[1:]}: {lines[0]}"
    first = shown[0].claim.evidence_id
    beside = [one for one in policies if one.claim.evidence_id == first and one not in shown]
    shown += beside[:_CONDITIONS]
    lines += [one.claim.text for one in beside[:_CONDITIONS]]
    return _lead("coverage", shown, value=value, text="\n".join(lines))


def _decides(read: Siding | None) -> float:
    """How probable it is that a line says a side, the likelier one."""
    return max(read.supported, read.contradicted) if read else 0.0


def _first_on(side: Stance, policies: Sequence[Said], scores: Mapping[str, Siding]) -> Said | None:
    """The first of the policies that says yes, or no, by itself and for certain: what a policy
    tells beside its decision is near to one."""
    read = ((one, scores.get(one.claim.claim_id)) for one in policies)
    sure = ((one, of) for one, of in read if of and says(of, side))
    return next((one for one, of in sure if of_side(of, side) >= _SURE), None)


def _comparison(best: Sequence[Said], _: object, asked: Asked) -> Lead | None:
    """What was found with both sides in one sentence, a row a source."""
    sides = [forms(one) for one in asked.required]
    both = [one for one in best if sum(each.stand_in(one.claim.text) for each in sides) > 1]
    return _rows("comparison", by_strength(_of_each_source(both)))


def _trials(best: Sequence[Said], *_: object) -> Lead | None:
    return _rows("trials", best)


def _rows(kind: str, said: Sequence[Said]) -> Lead | None:
    """A table with a row a source: its title and year, its fields, what it found."""
    rows: dict[str, dict[str, str]] = {}
    first: dict[str, Said] = {}
    for one in said:
        key = one.claim.evidence_id
        row = rows.setdefault(key, {"Source": one.version.title, "Year": str(one.year or "")})
        first.setdefault(key, one)
        field = _FIELD.fullmatch(one.claim.text)
        name, value = (field["label"], field["value"]) if field else ("Finding", one.claim.text)
        row.setdefault(name, value)
    if not rows:
        return None
    kept = list(_within(rows, lambda key: " ".join(rows[key].values())))
    columns = dict.fromkeys(name for key in kept for name in rows[key])
    table = Table(
        columns=tuple(columns),
        rows=tuple(tuple(rows[key].get(name, "") for name in columns) for key in kept),
    )
    shown = [first[key] for key in kept]
    return _lead(kind, shown, table=table)


def _of_each_source(said: Iterable[Said]) -> list[Said]:
    first: dict[str, Said] = {}
    for one in said:
        first.setdefault(one.claim.evidence_id, one)
    return list(first.values())


def _within(parts: Iterable[T], words: Callable[[T], str]) -> Iterator[T]:
    """As many of the parts, from the first on, as have room in a first line."""
    room = load("works/trust")["lead"]["words"]
    for number, one in enumerate(parts):
        room -= len(words(one).split())
        if number and room < 0:
            return
        yield one


_FORMS: Mapping[str, Callable[..., Lead | None]] = {
    "yesno": _yesno,
    "number": _number,
    "list": _list,
    "recommendation": _recommendation,
    "comparison": _comparison,
    "trials": _trials,
}
