"""Of two outcomes with opposite directions each keeps its own. Pure.

"Bleeding was lower and stroke was higher" is not "bleeding was higher and stroke was lower": all
words and both directions are the passage's, but they changed places. The direction guard looks at
one word of direction and the company it keeps, which in a short clause is the same for both; here
the words joined to each direction, between one conjunction and the next, are compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from knowledge.meaning import direction_policy
from workers.verify.guards.direction import Direction, crossed, directions
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.negation import directed_stems
from workers.verify.guards.statements import Statement, read

_PAIRS = (("up", "down"), ("better", "worse"))


@dataclass(frozen=True)
class _Side:
    """The stems of content that stand with directions of one sign, and these directions."""

    stems: frozenset[str]
    directions: tuple[Direction, ...]


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Directions of the claim that changed places. Empty: no veto, not support."""
    said, source = read(claim), read(grounds.passage)
    theirs = _sides(source, range(len(source.tokens)))
    findings = [
        finding for members in said.sentences for finding in _crossed(_sides(said, members), theirs)
    ]
    return [*findings, *_wrong_side(said, source)]


def _wrong_side(said: Statement, source: Statement) -> Iterator[Finding]:
    """ "A had more than B" does not say that B had more."""
    stated = directions(source)
    for one in directions(said):
        if one.left or one.right or one.negated:
            continue
        token = said.tokens[one.at]
        before = {
            said.stems[i]
            for i, other in enumerate(said.tokens[: one.at])
            if other.clause == token.clause and other.content
        }
        same = [other for other in stated if other.sign == one.sign]
        if same and all(before & other.right and not before & other.left for other in same):
            yield Finding("direction", f"“{one.word}” is said of the other side")


def _crossed(ours: Mapping[str, _Side], theirs: Mapping[str, _Side]) -> Iterator[Finding]:
    for one, other in _PAIRS:
        if not all(sign in sides for sides in (ours, theirs) for sign in (one, other)):
            continue
        if _told_from_the_other_side(ours, theirs, (one, other)):
            continue
        mine, its = _apart(ours, one, other), _apart(theirs, one, other)
        over = [len(mine[0] & its[1]), len(mine[1] & its[0])]
        straight = len(mine[0] & its[0]) + len(mine[1] & its[1])
        if all(over) and sum(over) > straight:
            yield Finding("direction", "two directions of the passage have changed places")


def _told_from_the_other_side(
    ours: Mapping[str, _Side], theirs: Mapping[str, _Side], signs: Sequence[str]
) -> bool:
    """Whether a comparison has exchanged its sides with its directions, which keeps it true."""
    return any(
        crossed(claimed, stated)
        for sign in signs
        for claimed in ours[sign].directions
        for other in signs
        for stated in theirs[other].directions
    )


def _apart(
    sides: Mapping[str, _Side], one: str, other: str
) -> tuple[frozenset[str], frozenset[str]]:
    both = sides[one].stems & sides[other].stems
    return sides[one].stems - both, sides[other].stems - both


def _sides(text: Statement, members: Sequence[int]) -> dict[str, _Side]:
    """By sign, what stands with its directions in parts of sentences that have one direction."""
    by_place = {one.at: one for one in directions(text)}
    found: dict[str, _Side] = {}
    for part in _parts(text, members):
        here = [by_place[i] for i in part if i in by_place]
        if len({one.sign for one in here}) != 1 or any(one.negated for one in here):
            continue
        stems = frozenset(
            text.stems[i]
            for i in part
            if text.tokens[i].content and text.stems[i] not in directed_stems()
        )
        known = found.get(here[0].sign, _Side(frozenset(), ()))
        found[here[0].sign] = _Side(known.stems | stems, (*known.directions, *here))
    return found


def _parts(text: Statement, members: Sequence[int]) -> Iterator[list[int]]:
    """Runs of words between conjunctions, and between the ends of clauses."""
    part: list[int] = []
    for i in members:
        token = text.tokens[i]
        joins = token.word in direction_policy().joins
        if part and (joins or token.clause != text.tokens[part[-1]].clause):
            yield part
            part = []
        if not joins:
            part.append(i)
    if part:
        yield part
