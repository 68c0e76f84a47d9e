"""Which sides a claim may take on a yes/no question by its words. Pure.

The reader of sides takes a name that it does not know for another, and is unsure of short plain
sentences. So a claim that lacks a name of the question takes a side only if it names no other of
the kind ("the drug did not reduce stroke"); and one that denies all that is asked, and has no word
of content more (fatal, routine, after surgery), may only say no, whereof the reader need not be as
sure.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from clinical_text.doc import doc
from clinical_text.names import Name, forms, names
from clinical_text.names import same as is_same
from clinical_text.quantities import Kind, quantities
from clinical_text.vocabulary import vocabulary
from knowledge.guards.guard_terms import arm_terms
from workers.verify.guards import direction
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.negation import directed_stems
from workers.verify.guards.population import is_limited
from workers.verify.guards.statements import Token, read
from workers.verify.passages.comparable import too_much

Stance = Literal["yes", "no"]
_SUBSTANCES = frozenset({"drug", "chemical", "gene", "protein"})
_LIMITS = frozenset({Kind.DOSE, Kind.DURATION, Kind.DATE})


def sides(asked: str, claim: str) -> tuple[Stance, ...]:
    """Those that it may take: either, no alone where it denies all that is asked and nothing else,
    yes alone where it goes the way that is asked about, or none."""
    if too_much(asked, Grounds(claim)) is not None:
        return ()
    found = names(asked, typed=True)
    missing = [one for one in found if not forms(_of(asked, one)).stand_in(claim)]
    if missing and _names_another(asked, claim, found, missing):
        return ()
    if _goes_its_way(asked, claim):
        return ("yes",)
    if missing:
        return ("yes", "no")
    return ("no",) if _denies_it_all(asked, claim, found) else ("yes", "no")


def _goes_its_way(asked: str, claim: str) -> bool:
    """Whether the one direction that a claim tells is that asked about, and nothing is denied: it
    may fall short of a yes, and is no no ("halved" is no denial of "reduce")."""
    wanted = {one.sign for one in direction.directions(read(asked)) if not one.negated}
    told = direction.directions(read(claim))
    signs = {one.sign for one in told} - {"noninferior", "some"}
    negated = any(one.negated for one in told) or any(doc(claim).denials)
    return len(wanted) == 1 and signs == wanted and not negated


def _names_another(asked: str, claim: str, found: Sequence[Name], missing: Sequence[Name]) -> bool:
    """Whether a claim names something of the kind of what it does not name, that the question does
    not name either: then it may be on that. A name that no table has may be a substance."""
    kinds = frozenset[str]().union(*(one.kinds or _SUBSTANCES for one in missing))
    return any(
        not kinds.isdisjoint(one.kinds or _SUBSTANCES)
        and not any(is_same(_of(claim, one), _of(asked, other)) for other in found)
        for one in names(claim)
    )


def _denies_it_all(asked: str, claim: str, found: Sequence[Name]) -> bool:
    missing = list(_missing(asked, claim, found))
    if len(missing) > 1 or not all(one.stem in directed_stems() for one in missing):
        return False
    if (missing and not direction.directions(read(claim))) or is_limited(claim, asked):
        return False
    denied = _denies(asked, claim) or direction.guard(asked, Grounds(claim))
    return bool(denied) and not _says_more(asked, claim, found)


def _denies(asked: str, claim: str) -> bool:
    """Whether a claim denies a word of the question that the question does not."""
    text, said = doc(claim), read(asked)
    return any(
        text.is_negated(one.start, one.end)
        and not any(
            said.doc.is_negated(said.tokens[at].start, said.tokens[at].end)
            for at in said.by_stem[one.stem]
        )
        for one in read(claim).tokens
        if one.content and one.stem in said.by_stem
    )


def _missing(asked: str, claim: str, found: Sequence[Name]) -> Iterator[Token]:
    """Words of the question that the claim has not, by no other name either."""
    held = read(claim).by_stem
    for one in read(asked).tokens:
        named = any(name.start <= one.start and one.end <= name.end for name in found)
        if one.content and not one.frame and one.stem not in held and not named:
            yield one


def _says_more(asked: str, claim: str, found: Sequence[Name]) -> bool:
    """Whether a claim has a word of content, or an amount, that the question has not: brackets
    and what every comparison has are none."""
    held, named = read(asked).by_stem, [_of(asked, one) for one in found]
    same = [one for one in names(claim) if any(is_same(_of(claim, one), other) for other in named)]
    if any(one.kind in _LIMITS and one.raw not in asked for one in quantities(claim)):
        return True
    return any(
        one.content
        and not (one.frame or one.depth or one.word[0].isdigit())
        and one.stem not in held
        and one.stem not in directed_stems()
        and one.word not in _of_any_comparison()
        and not any(name.start <= one.start and one.end <= name.end for name in same)
        for one in read(claim).tokens
    )


def _of(text: str, name: Name) -> str:
    return text[name.start : name.end]


@cache
def _of_any_comparison() -> frozenset[str]:
    measures = " ".join(name for names in vocabulary().measures.values() for name in names)
    return arm_terms().empty | {*measures.lower().split(), "placebo", "control", "controls"}
