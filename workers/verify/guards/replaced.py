"""What a claim put in the place of a sentence's words, and what it left out between them. Pure.

Where a claim repeats a sentence but for a few words, each word that was put in the place of another
must be known to say the same: a direction stays the same direction, no word is replaced by its
opposite ("stable" by "unstable"), and none by one of which nothing is known ("rare" for "common":
no list has all opposites). And what is left out in the middle may not join the head of one clause
to the end of another: "A activates B, which represses C" is not "A activates C".
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from knowledge.guard_terms import arm_terms
from knowledge.loader import load
from knowledge.meaning import direction_policy
from workers.verify.guards.finding import Finding
from workers.verify.guards.negation import directed_stems
from workers.verify.guards.statements import Statement, Token, stem_of

_LIKE = 0.6
"""Share of its words by which a claim repeats a sentence (ours)."""
_FEW = 3
"""Words put in the place of others at most, where the two are compared one with one (ours)."""
_NUMBER = re.compile(r"\d+(?:[.,·]\d+)*")
_REVERSED = {"up": "down", "down": "up", "better": "worse", "worse": "better"}


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int
    denying: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    opposites: tuple[tuple[str, str], ...]
    alike: tuple[frozenset[str], ...]
    apart: tuple[frozenset[str], ...]
    outcomes: tuple[tuple[str, ...], ...]
    shortest: Annotated[int, Field(ge=4)]


def replaced(
    ours: Sequence[Token], theirs: Sequence[Token], known: Callable[[Token], bool]
) -> Iterator[Finding]:
    """What speaks against a claim's sentence, given the sentence that it repeats.

    Args:
        ours, theirs: the words of the two; what stands in brackets there is left out.
        known: whether a word of the claim is one of its sentence's, in whatever form.
    """
    words, its = [one.word for one in ours], [one.word for one in theirs]
    blocks = SequenceMatcher(None, words, its, autojunk=False).get_opcodes()
    if sum(end - begin for code, begin, end, _, _ in blocks if code == "equal") < _LIKE * len(ours):
        return
    lost, gained = Counter(its) - Counter(words), Counter(words) - Counter(its)
    yield from _relabelled(words, its, blocks)
    for code, begin, end, its_begin, its_end in blocks:
        inside = its_begin > 0 and its_end < len(theirs)
        if code in ("insert", "replace") and inside and _joins_two(theirs, its_begin, its_end):
            yield Finding("closeness", "joins what its sentence says of two things")
        if code != "replace" or max(end - begin, its_end - its_begin) > _FEW:
            continue
        old = [one for one in theirs[its_begin:its_end] if lost[one.word]]
        new = [one for one in ours[begin:end] if gained[one.word]]
        yield from _opposites(new, old)
        yield from _other_outcomes(new, old, its)
        if end - begin == its_end - its_begin:
            for mine, other in zip(ours[begin:end], theirs[its_begin:its_end], strict=True):
                if not other.content:
                    continue
                if mine in new and other in old:
                    yield from _exchanged(mine, other, known)
                elif mine not in new and mine.content and mine.stem != other.stem:
                    yield Finding("closeness", f"“{mine.word}” was moved to “{other.word}”'s place")


def _relabelled(
    words: Sequence[str], its: Sequence[str], blocks: Sequence[tuple[str, int, int, int, int]]
) -> Iterator[Finding]:
    """ "Group A" in the place of "group B", where no number changed its place with it."""
    pairs = [
        (at, its_at)
        for code, begin, end, its_begin, its_end in blocks
        if code == "replace" and end - begin == its_end - its_begin
        for at, its_at in zip(range(begin, end), range(its_begin, its_end), strict=True)
    ]
    if any(_NUMBER.fullmatch(words[at]) and _NUMBER.fullmatch(its[its_at]) for at, its_at in pairs):
        return
    for at, its_at in pairs:
        if not (at and its_at) or len(words[at]) + len(its[its_at]) > len("AB"):
            continue
        if words[at - 1] == its[its_at - 1] in arm_terms().labelled:
            detail = f"“{words[at - 1]} {words[at]}” stands in the place of another one"
            yield Finding("closeness", detail)


def _joins_two(theirs: Sequence[Token], begin: int, end: int) -> bool:
    """Whether the words between leave one clause and enter another: a conjunction stands among
    them. A clause set off by commas as a whole may go, and so may an item of a list."""
    left_out = theirs[begin:end]
    joins = [at for at, one in enumerate(left_out) if one.word in direction_policy().joins_clauses]
    if not joins or joins in ([0], [len(left_out) - 1]):
        return False
    opens = left_out[0].clause != theirs[begin - 1].clause
    return not (opens and theirs[end].clause != left_out[-1].clause)


def outside_brackets(text: Statement, places: Sequence[int]) -> list[Token]:
    """The words at `places` that stand in no bracket."""
    return [text.tokens[i] for i in places if not text.tokens[i].depth]


def _opposites(new: Sequence[Token], old: Sequence[Token]) -> Iterator[Finding]:
    for one in new:
        if any(are_opposites(one.word, other.word) for other in old):
            yield Finding("closeness", f"“{one.word}” is the opposite of what its sentence says")


def _other_outcomes(
    new: Sequence[Token], old: Sequence[Token], its: Sequence[str]
) -> Iterator[Finding]:
    """An outcome that the sentence does not have, in the place of one that it has."""
    lost = {_outcome(one.word) for one in old} - {None}
    for one in new if lost else ():
        kind = _outcome(one.word)
        if kind is not None and all(_outcome(word) != kind for word in its):
            yield Finding("closeness", f"“{one.word}” is another outcome than its sentence tells")


def _outcome(word: str) -> int | None:
    lines = enumerate(_policy().outcomes)
    return next((number for number, line in lines if word in line), None)


def _exchanged(new: Token, old: Token, known: Callable[[Token], bool]) -> Iterator[Finding]:
    """One word for one: neither a direction that came, went or became another one, nor another
    number (of a name such as "12-hydroxy", too), nor a word of which nothing is known, nor a word
    of reporting for one that tells something."""
    ours, theirs = _signs_of(new.word), _signs_of(old.word)
    is_told = {new.stem, old.stem} <= directed_stems()  # the direction guard compares the two
    is_told = is_told or any({new.word, old.word} <= line for line in _policy().alike)
    apart = {_kind(one.word) for one in (new, old)}
    is_other = None not in apart and len(apart) > 1  # "randomized" for "included"
    if is_other or (new.frame and not old.frame and not is_told):  # "patients" for "relapses"
        yield Finding("closeness", f"“{new.word}” stands in the place of “{old.word}”")
    elif _NUMBER.fullmatch(new.word) and _NUMBER.fullmatch(old.word):
        if _value(new.word) != _value(old.word):
            yield Finding("closeness", f"“{new.word}” stands in the place of “{old.word}”")
    elif bool(ours) != bool(theirs) or not (ours & theirs or new.stem == old.stem or known(new)):
        yield Finding("closeness", f"“{new.word}” stands in the place of “{old.word}”")


def _kind(word: str) -> int | None:
    return next((n for n, line in enumerate(_policy().apart) if word in line), None)


def _value(number: str) -> str:
    """A number without the marks of thousands, and without noughts that say nothing."""
    whole, _, part = re.sub(r",(?=\d{3}(?!\d))", "", number).replace("·", ".").partition(".")
    return f"{whole.lstrip('0')}.{part.rstrip('0')}"


def are_opposites(one: str, other: str) -> bool:
    """Whether two words in lower case differ in a beginning that makes them opposites, or point
    opposite ways."""
    signs, others = _signs_of(one), _signs_of(other)
    if signs and others and not signs & others:
        return any(_REVERSED[sign] in others for sign in signs)
    policy = _policy()
    if (one, other) in policy.opposites or (other, one) in policy.opposites:
        return True
    for short, long in ((one, other), (other, one)):
        rest = len(short) >= policy.shortest and long.endswith(short)
        if rest and long.removesuffix(short).rstrip("-") in policy.denying:
            return True
    return any(
        _has_pair(one, other, *pair) or _has_pair(other, one, *pair) for pair in policy.pairs
    )


def _has_pair(one: str, other: str, first: str, second: str) -> bool:
    if not (one.startswith(first) and other.startswith(second)):
        return False
    rest = one.removeprefix(first)
    return len(rest) >= _policy().shortest and rest == other.removeprefix(second)


def _signs_of(word: str) -> frozenset[str]:
    return _signs().get(stem_of(word)[0], frozenset())


@cache
def _policy() -> _Policy:
    return _Policy.model_validate(load("guards/replaced"))


@cache
def _signs() -> Mapping[str, frozenset[str]]:
    """The ways that each stem points."""
    found: dict[str, frozenset[str]] = {}
    signs = direction_policy().signs
    for sign in ("up", "down", "better", "worse"):
        for word in signs[sign]:
            stem = stem_of(word)[0]
            found[stem] = found.get(stem, frozenset()) | {sign}
    return found
