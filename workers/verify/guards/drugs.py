"""A drug of a claim, with its dose, route and frequency, is the passage's (DESIGN section 2). Pure.

A brand stands for its generic name. A dose stays with the drug to which the passage gives it; what
the passage leaves without a drug may be stated of the drug that its title names.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache

from clinical_text.quantities import Quantity
from clinical_text.schedules import Schedule, schedules
from knowledge.guards.guard_terms import drug_terms
from knowledge.matching.words import Mention
from knowledge.subjects.drugs import drugs_at
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import Lexicon, fold, quantities_of, sentences

_TIMES = frozenset({"day", "week", "month", "year", "hour"})
# What may stand between a dose and the drug that it belongs to.
_DIRECT = re.compile(
    r"(?i)[\s,(\[:-]*(?:(?:of|at|a|the|an|dose|doses|dosage|daily|given|with|was|were|in)[\s,(-]*)*"
)
_FAR = 400
"""Characters between a dose and the drug that it belongs to, at most (ours)."""
_NEAR = 100
"""Characters before a drug in which its article stands (ours)."""
_JOINED = re.compile(r"[\s,(/-]{0,2}")
_ARTICLE = re.compile(r"(?i)\b(?:an?|the|this|another)\s{1,9}(?:[\w-]{1,60}\s{1,9})?$")


@dataclass(frozen=True, slots=True)
class _Given:
    """A dose, frequency or route (`what` in one spelling) and the drug it is said of."""

    what: str
    raw: str
    drug: str | None


@dataclass(frozen=True)
class _Reading:
    """What a text says of drugs."""

    drugs: frozenset[str]
    classes: tuple[Mention, ...]
    doses: tuple[_Given, ...]
    frequencies: tuple[_Given, ...]
    routes: tuple[_Given, ...]
    regimens: Mapping[str, Set[str]]


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """The drugs, classes, doses, routes and frequencies of `claim` that its passage has not."""
    claim = fold(claim)
    said = _read(claim)
    if not (said.drugs or said.classes or said.doses or said.frequencies or said.routes):
        return []
    passage = fold(grounds.passage)
    stated = _read(passage)
    findings = _strange_drugs(said, stated, passage, grounds)
    findings += _strange_classes(claim, said, stated, grounds)
    findings += _compare("dose", said.doses, stated.doses)
    findings += _compare("frequency", said.frequencies, stated.frequencies)
    findings += [
        Finding("regimen", f"{dose} is not given {time}")
        for dose, times in said.regimens.items()
        for time in sorted(times - stated.regimens.get(dose, times))
    ]
    routes = stated.routes or _read_around(grounds).routes if said.routes else ()
    return findings + _compare("route", said.routes, routes)


def _strange_drugs(
    said: _Reading, stated: _Reading, passage: str, grounds: Grounds
) -> list[Finding]:
    strange = said.drugs - stated.drugs
    if strange and stated.drugs <= said.drugs and (not stated.drugs or _stand_ins().find(passage)):
        strange -= _read_around(grounds).drugs
    strange -= _under_short_names(strange, passage, grounds)
    unsaid = stated.drugs <= said.drugs
    return [Finding("drug", f"“{name}” is not in the passage", unsaid) for name in sorted(strange)]


def _under_short_names(strange: Set[str], passage: str, grounds: Grounds) -> Set[str]:
    """Those for which the text defines a short name that the passage has: "methotrexate (MTX)"."""
    found = set()
    for name in strange:
        defined = re.findall(
            rf"(?i:\b{re.escape(name)})\s*\(([A-Z][A-Z0-9-]{{1,7}})\)", grounds.text
        )
        if any(re.search(rf"(?<!\w){re.escape(short)}(?!\w)", passage) for short in defined):
            found.add(name)
    return found


def _strange_classes(
    claim: str, said: _Reading, stated: _Reading, grounds: Grounds
) -> list[Finding]:
    named = {mention.name for mention in stated.classes}
    findings = []
    for mention in said.classes:
        if mention.name in named:
            continue
        members = drug_terms().classes[mention.name].members
        held = {drug for drug in stated.drugs if any(member in drug for member in members)}
        one_of_them = bool(
            _ARTICLE.search(claim[max(0, mention.start - _NEAR) : mention.start])
        ) or bool(held & said.drugs)
        if held and one_of_them:
            continue
        around = {one.name for one in _read_around(grounds).classes}
        if not (mention.name in around and not stated.drugs and not named):
            raw = claim[mention.start : mention.end]
            findings.append(Finding("drug_class", f"“{raw}” is not in the passage", unsaid=True))
    return findings


def _compare(code: str, said: Sequence[_Given], stated: Sequence[_Given]) -> list[Finding]:
    """Those of `said` that are not stated, or stated of other drugs only."""
    findings = []
    for one in said:
        same = [other.drug for other in stated if other.what == one.what]
        if not same:
            findings.append(Finding(code, f"“{one.raw}” is not in the passage", not stated))
        elif one.drug is not None and one.drug not in same and None not in same:
            findings.append(Finding(f"{code}_drug", f"“{one.raw}” is not that of “{one.drug}”"))
    return findings


def _read_around(grounds: Grounds) -> _Reading:
    return _read(fold(f"{grounds.title}.\n\n{grounds.neighbours}"))


@lru_cache(maxsize=64)
def _read(text: str) -> _Reading:
    drugs: set[str] = set()
    doses: list[_Given] = []
    frequencies: list[_Given] = []
    routes: list[_Given] = []
    regimens: dict[str, set[str]] = {}
    for sentence in sentences(text):
        named = drugs_at(sentence)
        drugs.update(mention.name for mention in named)
        taken = _doses(sentence)
        times = schedules(sentence)
        doses += _given(sentence, named, taken)
        frequencies += _given(sentence, named, times)
        routes += _given(sentence, named, _routes().find(sentence))
        for dose in taken:
            for time in times:
                if _JOINED.fullmatch(sentence[dose.end : time.start]):
                    regimens.setdefault(dose.name, set()).add(time.name)
    return _Reading(
        frozenset(drugs),
        tuple(_classes().find(text)),
        tuple(doses),
        tuple(frequencies),
        tuple(routes),
        regimens,
    )


def _given(
    sentence: str, drugs: Sequence[Mention], found: Sequence[Mention | Schedule]
) -> list[_Given]:
    owners = _owners(sentence, drugs, [(one.start, one.end) for one in found])
    return [
        _Given(one.name, sentence[one.start : one.end], drug)
        for one, drug in zip(found, owners, strict=True)
    ]


def _doses(sentence: str) -> list[Mention]:
    return [Mention(key, q.start, q.end) for q in quantities_of(sentence) for key in _keys(q)]


def _keys(quantity: Quantity) -> list[str]:
    """The one spelling of a dose, without "a day" (a frequency); none if it is no dose."""
    unit = quantity.unit or quantity.shared_unit or ""
    first, *per = unit.split("/")
    if first not in drug_terms().dose_units or set(per) & {"l", "dl", "ml"}:
        return []
    rest = "/".join([first, *(part for part in per if part not in _TIMES)])
    return [f"{quantity.value.normalize():f} {rest}"]


def _owners(
    sentence: str, drugs: Sequence[Mention], spans: Sequence[tuple[int, int]]
) -> list[str | None]:
    """The drug that each span is said of: the one beside it, else the last before it, else the
    next; in a list that ends in "respectively", the drug of the same rank."""
    if len(spans) == len(drugs) > 1 and "respectively" in sentence:
        return [drug.name for drug in drugs]
    return [_owner(sentence, drugs, span) for span in spans]


def _owner(sentence: str, drugs: Sequence[Mention], span: tuple[int, int]) -> str | None:
    start, end = span
    inside = next((d for d in drugs if start <= d.start < end), None)
    if inside is not None:
        return inside.name
    before = next((d for d in reversed(drugs) if d.end <= start), None)
    after = next((d for d in drugs if d.start >= end), None)
    if before is not None and _is_direct(sentence[before.end : start]):
        return before.name
    if after is not None and _is_direct(sentence[end : after.start]):
        return after.name
    nearest = before or after
    return nearest.name if nearest is not None else None


def _is_direct(between: str) -> bool:
    """Whether a dose and a drug, with these words between, belong together."""
    return len(between) <= _FAR and _DIRECT.fullmatch(_plain(between)) is not None


def _plain(between: str) -> str:
    """The words between a dose and a drug, without how it is given and other doses of the drug."""
    spans = [(one.start, one.end) for one in schedules(between)]
    spans += [(one.start, one.end) for one in _routes().find(between)]
    for start, end in spans:
        between = between[:start] + " " * (end - start) + between[end:]
    return between


@cache
def _classes() -> Lexicon:
    return Lexicon({name: terms.words for name, terms in drug_terms().classes.items()})


@cache
def _routes() -> Lexicon:
    return Lexicon(drug_terms().routes)


@cache
def _stand_ins() -> Lexicon:
    return Lexicon({"stand-in": drug_terms().stand_ins})
