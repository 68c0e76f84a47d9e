"""An effect must go the way the passage says, for the same outcome and the same sides. Pure.

Each word of direction in the claim is looked up in the passage: of the passage's words of direction
the one in the most similar company must agree. "Reduced mortality" agrees with "improved survival",
"A lower than B" with "B higher than A", "did not differ" with "similar"; "not reduced" agrees with
nothing that is "increased".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from clinical_text.vocabulary import vocabulary
from knowledge.guards.meaning import direction_policy
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.negation import negations
from workers.verify.guards.opposites import opposites
from workers.verify.guards.statements import Phrasebook, Statement, closeness, read, stem_of

Sign = Literal[
    "up", "down", "better", "worse", "same", "some", "superior", "noninferior", "inferior"
]
_REVERSED: dict[Sign, Sign] = {
    "up": "down",
    "down": "up",
    "better": "worse",
    "worse": "better",
    "superior": "inferior",
    "inferior": "superior",
}
_SIZES = frozenset[Sign](["up", "down"])
_NEAR_OUTCOME = 4.0
"""Words of content within which an outcome belongs to a direction (ours)."""
_SIDE_WORDS = 6
"""Words of content that a side of a comparison has at most (ours)."""
_NUMBER_BEFORE = 5
"""Words before "or lower" among which a number makes it a comparator (ours)."""
_BE = frozenset(["is", "are", "was", "were", "be", "been", "being"])


@dataclass(frozen=True, slots=True)
class Direction:
    """A word of direction at token `at`.

    `subject` and `good` are those of the outcome beside it, if it is a known one. `left` and
    `right` are the stems on the two sides of a comparison or of a verb, both empty otherwise.
    """

    at: int
    word: str
    sign: Sign
    negated: bool
    weak: bool
    subject: str | None
    good: bool | None
    left: frozenset[str]
    right: frozenset[str]


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Directions of the claim that the passage does not state. Empty: no veto, not support."""
    said, source = read(claim), read(grounds.passage)
    stated = directions(source)
    findings = [
        finding
        for direction in directions(said)
        if (finding := _compare(said, direction, source, stated)) is not None
    ]
    findings += opposites(said, source)
    return list(dict.fromkeys(findings))


def _compare(
    said: Statement, claimed: Direction, source: Statement, stated: Sequence[Direction]
) -> Finding | None:
    company = said.company(claimed.at)
    least = direction_policy().least_closeness * sum(company.values())
    best: dict[bool | None, float] = {True: -1.0, False: -1.0, None: -1.0}
    differing = -1.0
    for other in stated:
        agrees, close = _agree(claimed, other), closeness(company, source.company(other.at))
        best[agrees] = max(best[agrees], close)
        if agrees is False and _may_stand_beside(claimed, other):
            differing = max(differing, close)
    kept = best[True] if _is_denied_of_its_outcome(claimed, stated) else max(best[True], best[None])
    if best[False] > kept and not (best[False] == differing and best[True] >= least):
        detail = f"the passage says the opposite of “{claimed.word}”"
        return Finding("direction", detail, unsaid=_is_open(claimed, said, source, stated))
    if kept >= least or claimed.sign == "some" or claimed.weak:
        return None
    detail = f"the passage states no such direction as “{claimed.word}”"
    return Finding("direction", detail, unsaid=True)


def _is_open(
    claimed: Direction, said: Statement, source: Statement, stated: Sequence[Direction]
) -> bool:
    """Whether the opposite may only seem to be one: both texts deny, each in its words, or what the
    claim denies ("not more") the passage does not state, but less of it."""
    if claimed.negated and all(one.sign != claimed.sign for one in stated):
        return True
    return bool(negations(said).denying and negations(source).denying)


def _is_denied_of_its_outcome(claimed: Direction, stated: Sequence[Direction]) -> bool:
    """Whether the passage says the opposite of the same outcome: then nothing that it says of
    another one agrees."""
    if claimed.subject in (None, "any"):
        return False
    same = [_agree(claimed, one) for one in stated if one.subject == claimed.subject]
    return False in same and True not in same


def _may_stand_beside(claimed: Direction, stated: Direction) -> bool:
    """Whether a passage that says the first as well contradicts nothing: a difference within the
    margin is noninferior."""
    return _plain(claimed) == "noninferior" and _plain(stated) == "some"


def _agree(claimed: Direction, stated: Direction) -> bool | None:
    """Whether two directions say the same; None when their words alone do not tell."""
    ours, theirs = _plain(claimed), _plain(stated)
    if ours == "same" or theirs == "same":
        return _agree_on_none(claimed, stated)
    if ours == "some":
        return True
    if theirs == "some":
        return None if claimed.weak else False
    if claimed.negated and theirs == "noninferior" and _value(ours, claimed.good) is False:
        return not stated.negated
    if (claimed.negated and ours == claimed.sign) != (stated.negated and theirs == stated.sign):
        return False
    if {ours, theirs} & {"superior", "noninferior", "inferior"}:
        return _agree_on_standing(ours, theirs, crossed=crossed(claimed, stated))
    if crossed(claimed, stated):
        theirs = _REVERSED[theirs]
    return _agree_on_sign(claimed, ours, stated, theirs)


def _plain(direction: Direction) -> Sign:
    if direction.negated and direction.sign in ("some", "superior", "inferior"):
        # "not inferior" is the one way to say noninferior; the others state no difference
        return "noninferior" if direction.sign == "inferior" else "same"
    if direction.negated and direction.sign == "same":
        return "some"
    return direction.sign


def _agree_on_none(claimed: Direction, stated: Direction) -> bool | None:
    """One of them says that there is no difference."""
    ours, theirs = _plain(claimed), _plain(stated)
    if ours == theirs:
        return True
    other = stated if ours == "same" else claimed
    if "noninferior" in (ours, theirs):
        return None if ours == "same" else False
    return other.negated and _plain(other) != "some"


def _agree_on_standing(ours: Sign, theirs: Sign, *, crossed: bool) -> bool | None:
    if crossed:
        theirs = _REVERSED.get(theirs, theirs)
        if theirs == "noninferior":
            return False
    if ours == theirs:
        return True
    good, bad = {"superior", "better"}, {"inferior", "worse"}
    if "noninferior" in (ours, theirs):
        return False
    if (ours in good and theirs in bad) or (ours in bad and theirs in good):
        return False
    return None


def _agree_on_sign(claimed: Direction, ours: Sign, stated: Direction, theirs: Sign) -> bool | None:
    if {ours, theirs} <= _SIZES:
        subjects = {claimed.subject, stated.subject}
        if len(subjects) == 1 and None not in subjects and claimed.good is not stated.good:
            return ours != theirs
        return ours == theirs
    if {ours, theirs} <= {"better", "worse"}:
        return ours == theirs
    first, second = _value(ours, claimed.good), _value(theirs, stated.good)
    return None if first is None or second is None else first == second


def _value(sign: Sign, good: bool | None) -> bool | None:
    """Whether it is an improvement."""
    if sign in ("better", "worse"):
        return sign == "better"
    return None if good is None else (sign == "up") is good


def crossed(claimed: Direction, stated: Direction) -> bool:
    """Whether what stands on one side in the claim stands on the other in the passage."""
    over, back = claimed.left & stated.right, claimed.right & stated.left
    return bool(over and back) and len(over) + len(back) >= len(claimed.right & stated.right)


@lru_cache(maxsize=64)
def directions(text: Statement) -> tuple[Direction, ...]:
    """The words of direction of `text`, in order."""
    denied = negations(text).odd
    known = outcomes(text)
    found, phrases, keys = [], [], _keys(text)
    for places in text.sentences:  # no phrase goes on in the next one
        of_one = _signs().find(keys[places[0] : places[-1] + 1])
        phrases += [(places[0] + at, length, meaning) for at, length, meaning in of_one]
    for first, length, meaning in phrases:
        if meaning is None:
            meaning = _of_comparator(text, first)
        if meaning is None:
            continue
        sign, weak = meaning
        at = first + length - 1
        following = " ".join(text.words[at + 1 : at + 3])
        if following.startswith("than ") and following[5].isdigit():
            continue  # a comparator: the numbers guard reads it
        subject, good = _outcome_beside(text, at, known)
        left, right = _sides(text, first, at)
        word = " ".join(text.words[first : at + 1])
        found.append(Direction(at, word, sign, denied[first], weak, subject, good, left, right))
    return tuple(found)


def _of_comparator(text: Statement, first: int) -> tuple[Sign, bool] | None:
    """What "or lower" says where no number before it makes it a comparator: "equal or lower"."""
    if text.words[first] != "or" or first + 1 == len(text.tokens):
        return None
    before = text.words[max(0, first - _NUMBER_BEFORE) : first]
    if any(word[0].isdigit() or word in vocabulary().number_words for word in before):
        return None
    found = _signs().find(_keys(text)[first + 1 : first + 2])
    return found[0][2] if found else None


def outcomes(text: Statement) -> list[tuple[int, str, bool]]:
    """The known outcomes: the place of each, its subject, and whether its rise is good."""
    return [
        (first + length - 1, *meaning) for first, length, meaning in _outcomes().find(text.stems)
    ]


def _outcome_beside(
    text: Statement, at: int, known: Iterable[tuple[int, str, bool]]
) -> tuple[str | None, bool | None]:
    """The outcome that token `at` speaks of: rather one after it than one before it, rather a
    thing than its risk, else the nearest."""
    here, tokens = text.tokens[at], text.tokens
    near = [
        (i < at, subject == "any", abs(tokens[i].place - here.place), subject, good)
        for i, subject, good in known
        if i != at
        and tokens[i].clause == here.clause
        and abs(tokens[i].place - here.place) <= _NEAR_OUTCOME
    ]
    return min(near)[-2:] if near else (None, None)


def _sides(text: Statement, first: int, at: int) -> tuple[frozenset[str], frozenset[str]]:
    """The two sides of the comparison that a direction makes, else of its verb."""
    tokens = text.tokens
    for begin, length, _ in _versus().find(text.words[at + 1 : at + 40]):
        start = at + 1 + begin
        if tokens[start].sentence != tokens[at].sentence:
            break
        if any(tokens[i].clause != tokens[start].clause for i in range(at, start)):
            break
        before, after = range(start - 1, -1, -1), range(start + length, len(tokens))
        left = _content(text, before, tokens[at].sentence, None)
        right = _content(text, after, tokens[at].sentence, tokens[start].clause)
        return _apart(left, right)
    return _sides_of_verb(text, first, at)


def _sides_of_verb(text: Statement, first: int, at: int) -> tuple[frozenset[str], frozenset[str]]:
    """Who acts and what is acted on: "A inhibits B" is not "B inhibits A"."""
    tokens, words = text.tokens, text.words
    clause = tokens[at].clause
    before = [words[i] for i in range(max(0, first - 3), first)]
    after = words[at + 1] if at + 1 < len(words) else ""
    verb = tokens[at].word.endswith(("s", "ed")) and before[-1:] != ["of"]
    left = _content(text, range(first - 1, -1, -1), tokens[at].sentence, clause)
    right = _content(text, range(at + 1, len(tokens)), tokens[at].sentence, clause)
    if not verb or not left or not right:
        return frozenset(), frozenset()
    if _BE.intersection(before):
        acted, actor = _apart(left, right)
        return (actor, acted) if after == "by" else (frozenset(), frozenset())
    if after in ("in", "with", "from", "by", "to", "of", "and", "or", "at", "for"):
        return frozenset(), frozenset()
    return _apart(left, right)


def _apart(left: Sequence[str], right: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The stems nearest to the middle on either side that do not stand on the other as well."""
    return (
        frozenset(left[:_SIDE_WORDS]) - frozenset(right),
        frozenset(right[:_SIDE_WORDS]) - frozenset(left),
    )


def _content(
    text: Statement, places: Iterable[int], sentence: int, clause: int | None
) -> list[str]:
    """The stems of content at `places`, as long as they are in the sentence, and the clause."""
    found: list[str] = []
    for i in places:
        token = text.tokens[i]
        if token.sentence != sentence or (clause is not None and token.clause != clause):
            break
        if token.content and token.stem not in _sign_stems():
            found.append(token.stem)
    return found


def _stem(word: str) -> str:
    return stem_of(word)[0]


def _key(word: str) -> str:
    """What a word of direction is known by: its stem, unless that is another word's too."""
    return f"={word}" if word in _exact() else _stem(word)


def _keys(text: Statement) -> list[str]:
    exact = _exact()
    return [f"={token.word}" if token.word in exact else token.stem for token in text.tokens]


@cache
def _exact() -> frozenset[str]:
    return frozenset(direction_policy().exact)


@cache
def _signs() -> Phrasebook[tuple[Sign, bool] | None]:
    policy = direction_policy()
    weak = {tuple(map(_key, word.split())) for word in policy.weak}
    names: list[tuple[str, tuple[Sign, bool] | None]] = [(p, None) for p in policy.nothing]
    groups: list[tuple[Sign, tuple[str, ...]]] = [*policy.standing.items(), *policy.signs.items()]
    for sign, words in groups:
        names += [(word, (sign, tuple(map(_key, word.split())) in weak)) for word in words]
    return Phrasebook(names, _key)


@cache
def _sign_stems() -> frozenset[str]:
    groups = direction_policy().signs.values()
    return frozenset(_key(word) for words in groups for word in words if " " not in word)


@cache
def _outcomes() -> Phrasebook[tuple[str, bool]]:
    names = []
    for subject, words in direction_policy().outcomes.items():
        names += [(word, (subject, True)) for word in words.good]
        names += [(word, (subject, False)) for word in words.bad]
    return Phrasebook(names, _stem)


@cache
def _versus() -> Phrasebook[None]:
    return Phrasebook([(phrase, None) for phrase in direction_policy().versus])
