"""What speaks against a pasted statement, and what its passage only does not say. Pure.

Either forbids that it is verified. But only the first makes it wrong: a passage of another trial,
or one that is silent on a number, says nothing against a statement.
"""

from collections.abc import Collection, Sequence

from clinical_text.quantities import names
from knowledge.loader import load
from workers.verify.guards import content
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import fold
from workers.verify.guards.statements import read
from workers.verify.guards.trials import gives_away_a_known_number, trial_names
from workers.verify.pasted.statements import plain

Detail = tuple[str, str]

_STRAYING = frozenset(load("rewriting")["completed"])
"""What tells only that a statement is not its sentence."""
_OPENING = 300
"""Code points at the beginning of a source in which it names what it is about (ours)."""
_PAIR = "trial_identifier"
_IN_ITS_PLACE = {"number"}
_CLOSE = 0.7
"""Share of a statement's other words by which a number of its passage stands in the place of its
own (ours)."""
_UNSURE = "unsure"
_TOO_FAR = (
    _UNSURE,
    "nothing speaks against it, but it is not in its source's own words, and no judge read it",
)


def speaks_against(codes: Collection[str]) -> bool:
    """Whether one of the codes of a statement's findings makes it wrong."""
    return not {*codes} <= _STRAYING | {_UNSURE, "no_passage", "too_short", "too_long", "too_much"}


def is_of_other_matter(statement: str, grounds: Grounds) -> bool:
    """Whether the source does not know what the statement names, the passage hardly a word, or
    neither it nor the opening of its source the trials."""
    if content.guard(statement, grounds):
        return True
    told = fold(" ".join([grounds.title, grounds.text[:_OPENING], grounds.passage]))
    trials = trial_names(fold(statement)).keys() - trial_names(told).keys()
    return bool(trials or names(statement) - names(told))


def details(statement: str, findings: Sequence[Finding], grounds: Grounds) -> tuple[Detail, ...]:
    """Codes and words of what was found of an unsupported statement. What is only unsaid, and
    all that a passage of another matter seems to say, leaves it unsure; whose a known number is
    does not hang on the passage."""
    words = plain(statement)
    if is_of_other_matter(words, grounds):
        kept = _STRAYING | ({_PAIR} if gives_away_a_known_number(statement) else set())
        findings = [one for one in findings if one.unsaid or one.code in kept]
    silent = _silent(findings)
    if not _is_close(words, grounds):
        silent |= _IN_ITS_PLACE
    told = [
        (_UNSURE if one.unsaid or one.code in silent else one.code, one.detail) for one in findings
    ]
    told = sorted(dict.fromkeys(told), key=lambda one: not speaks_against([one[0]]))
    return tuple(told if {code for code, _ in told} - _STRAYING else [*told, _TOO_FAR])


def _silent(findings: Sequence[Finding]) -> set[str]:
    """A passage that lacks something of the statement does not say the rest more carefully."""
    return {"modality"} if any(one.unsaid for one in findings) else set()


def _is_close(statement: str, grounds: Grounds) -> bool:
    """Whether the passage tells of the same but for the numbers."""
    words = {
        one.stem for one in read(statement).tokens if one.content and not one.word[0].isdigit()
    }
    held = {*read(grounds.passage).stems, *read(grounds.title).stems}
    return bool(words) and len(words & held) >= _CLOSE * len(words)
