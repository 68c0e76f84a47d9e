"""Which of the eligible candidates make the list of references (EB-5.4 to 5.7, MC-1.2, 1.3). Pure.

Where rules conflict the one that stands first here wins, and what could not be kept is recorded:

1. what may be evidence at all (`assessment`): on the disease, relevant, no notice; never relaxed;
2. the size of the list;
3. caps of the kinds of source (MC-1.2), but for the fallback below three, and for places that are
   left when every work has been looked at: a cap that is not hard leaves none of these empty;
4. of each trial or body that the question names its own best works; then the kinds of source that
   the type of question needs (MC-1.3): a question on trials is answered with trials, even one whose
   tags say less than those of other works;
5. at least 80 % on topic (EB-5.4). Of fewer than five the list is filled up to five with broader
   works (EB-5.5), best first;
6. two primary studies on topic, where there are (EB-5.6);
7. of each kind the best of the works outside the pack that are more relevant than all of the
   pack's: a pack goes first (EB-5.2), and does not crowd out what alone answers the question. As
   many of the pack's guidelines as make good evidence keep their places (EB-4.2);
8. the score.

Works with another focus (EB-5.3) take no part, but in the fallback: below three references what
is left fills the list up to three, whatever caps and focus say. The list is never padded beyond
that: a short one says so.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from knowledge.answering.policy import retrieval_policy
from workers.retrieve.ranking.assessment import Assessed
from workers.retrieve.ranking.diversity import KEPT, Room, need_of

OFF_TOPIC = "dropped: not on topic, and the list has its share of such works (EB-5.4)"
OFF_FOCUS = "dropped: its focus is another disease (EB-5.3)"
NOT_CONSIDERED = "dropped: not among the first {considered}"


@dataclass(frozen=True)
class Composition:
    """What was decided on each candidate, in the order given."""

    outcomes: tuple[str, ...]
    """`kept`, or `dropped: ` and why."""
    moves: tuple[str | None, ...]
    """Which rule gave a candidate its place, where it was not its score."""
    relaxations: tuple[str, ...]


class _List:
    """A list of references in the making; candidates are told by their place in `found`."""

    def __init__(self, found: Sequence[Assessed], query_type: str, most: int, off: int) -> None:
        """An empty one for `most` references, `off` of them not on topic."""
        self.found = found
        self.room = Room(query_type, most)
        self.outcomes: dict[int, str] = {}
        self.moves: dict[int, str] = {}
        self._off = off

    @property
    def kept(self) -> list[int]:
        return [n for n, outcome in self.outcomes.items() if outcome == KEPT]

    def count(self, holds: Callable[[Assessed], bool]) -> int:
        """How many of the kept ones are such."""
        return sum(holds(self.found[n]) for n in self.kept)

    def take(self, n: int, move: str | None = None, *, freely: bool = False) -> None:
        """Keep a candidate if there is room.

        Args:
            move: the rule that gives it its place.
            freely: whether works that are not on topic are taken beyond their share.
        """
        if self.outcomes.get(n) == KEPT:
            return
        if not (freely or _on_topic(self.found[n])) and self._off <= self.count(_off_topic):
            self.outcomes[n] = self.room.refuses(self.found[n].candidate.counts_as) or OFF_TOPIC
            return
        self.outcomes[n] = self.room.take(self.found[n].candidate.counts_as)
        if move and self.outcomes[n] == KEPT:
            self.moves[n] = move

    def keep(self, n: int, move: str) -> None:
        """Keep a candidate whether there is room or not."""
        self.outcomes[n], self.moves[n] = KEPT, move

    def reserve(self, among: Iterable[int], least: int, move: str, *, freely: bool = False) -> None:
        """Take the first of `among` until `least` of them are kept."""
        among = list(among)
        for n in among:
            if sum(self.outcomes.get(one) == KEPT for one in among) >= least:
                return
            self.take(n, move, freely=freely)

    def fill(self, among: Iterable[int]) -> None:
        """Give places that are left to those that only a cap kept out."""
        for n in among:
            if self.outcomes.get(n, KEPT) != KEPT and _on_topic(self.found[n]):
                self.outcomes[n] = self.room.take(self.found[n].candidate.counts_as, past_caps=True)

    @property
    def share_holds(self) -> bool:
        """Whether enough of the list is on topic (EB-5.4)."""
        share = retrieval_policy().ranking.on_topic.share
        return self.count(_on_topic) >= share * len(self.kept)


def _on_topic(one: Assessed) -> bool:
    return one.topic.on_topic


def _off_topic(one: Assessed) -> bool:
    return not one.topic.on_topic


def _primary(one: Assessed) -> bool:
    return one.primary_study


def compose(found: Sequence[Assessed], query_type: str, *, most: int) -> Composition:
    """Choose at most `most` of the eligible candidates `found`, which stand best first."""
    ranking = retrieval_policy().ranking
    focused = [n for n, one in enumerate(found) if not one.topic.off_focus]
    # The most works off topic that the share allows: the fewer, the more the list is on topic.
    for off in range(most, -1, -1):
        chosen = _strict(found, focused, query_type, most, off)
        if chosen.share_holds:
            break
    fewest = ranking.on_topic.relaxed_below
    if len(chosen.kept) < fewest:
        chosen.reserve(focused, fewest, "one of few: broader works let in (EB-5.5)", freely=True)
    chosen.fill(focused[: ranking.considered])
    least = min(ranking.fallback_below, most, len(found))
    fallback = len(chosen.kept) < least
    if fallback:
        rest = [n for n in range(len(found)) if chosen.outcomes.get(n) != KEPT]
        for n in rest[: least - len(chosen.kept)]:
            chosen.keep(n, f"fallback below {ranking.fallback_below} references")
    dropped = NOT_CONSIDERED.format(considered=ranking.considered)
    return Composition(
        outcomes=tuple(
            chosen.outcomes.get(n, OFF_FOCUS if one.topic.off_focus else dropped)
            for n, one in enumerate(found)
        ),
        moves=tuple(chosen.moves.get(n) for n in range(len(found))),
        relaxations=tuple(_relaxations(chosen, query_type, most, fallback=fallback)),
    )


def _strict(
    found: Sequence[Assessed], focused: Sequence[int], query_type: str, most: int, off: int
) -> _List:
    """A list that keeps all rules as far as it can, with at most `off` works not on topic.

    Places are reserved among all; the rest go to the first thirty by score.
    """
    ranking, need = retrieval_policy().ranking, need_of(query_type)
    chosen = _List(found, query_type, most, off)
    outside = [n for n in focused if found[n].outdoes_pack]
    studies = [n for n in focused if _primary(found[n]) and _on_topic(found[n])]
    studies.sort(key=lambda n: n not in outside)
    for name in sorted({name for one in found for name in one.own_names}):
        named = [n for n in focused if name in found[n].own_names]
        move = "place reserved: work that the question names"
        chosen.reserve(named, ranking.of_each_name, move, freely=True)
    if need is not None:
        needed = [n for n in focused if found[n].candidate.counts_as in need.of]
        needed.sort(key=lambda n: (_off_topic(found[n]), n not in outside))
        move = "place reserved: kind of source that the question needs (MC-1.3)"
        # What serves both rules first, so that neither takes the other's room.
        both = [n for n in studies if n in needed]
        chosen.reserve(both, min(ranking.primary_studies, need.least), move)
        chosen.reserve(needed, need.least, move, freely=True)
    chosen.reserve(studies, ranking.primary_studies, "place reserved: primary study (EB-5.6)")
    if outside:
        floor = retrieval_policy().sufficiency.anchored.floor.guidelines
        leading = [n for n in focused if found[n].leads and found[n].anchor == "guideline"]
        chosen.reserve(leading, floor, "place reserved: guideline of the pack (EB-4.2)")
        chosen.reserve(outside, len(outside), "place reserved: more relevant than the pack's works")
    for n in focused[: ranking.considered]:
        chosen.take(n)
    return chosen


def _relaxations(chosen: _List, query_type: str, most: int, *, fallback: bool) -> Iterable[str]:
    """Each rule that the list does not keep, and why."""
    ranking, found, size = retrieval_policy().ranking, chosen.found, len(chosen.kept)
    if fallback:
        yield f"fallback below {ranking.fallback_below} references: caps and focus set aside"
    for name, used in chosen.room.exceeded.items():
        yield f"cap on {name}: {used} references; no other kind of source wants the places"
    need = need_of(query_type)
    if need is not None:
        held = sum(one.candidate.counts_as in need.of for one in found)
        kept = chosen.count(lambda one: one.candidate.counts_as in need.of)
        if kept < min(need.least, held):
            yield f"needed kinds of source: {kept} of {need.least}, for size, caps or focus"
    if not chosen.share_holds:
        on_topic = chosen.count(_on_topic)
        why = (
            f"fewer than {ranking.on_topic.relaxed_below} are"
            if on_topic < ranking.on_topic.relaxed_below
            else "the needed kinds of source go first"
        )
        yield f"on topic: {on_topic} of {size} references; {why} (EB-5.5)"
    studies = chosen.count(_primary)
    if studies < min(ranking.primary_studies, sum(map(_primary, found))):
        yield f"primary studies: {studies} of {ranking.primary_studies}, for size, caps or topic"
    if size < ranking.references.fewest:
        why = f"the list was to have {most} at most" if size == most else "no more may be cited"
        yield f"size: {size} references, fewer than {ranking.references.fewest}; {why}"
