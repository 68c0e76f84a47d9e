"""The outcome, population and arms that the words around an effect name. Pure.

Only what a sentence itself says is read; what it leaves open stays None.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, NamedTuple

from clinical_text.effects.patterns import GAP, bounded
from knowledge.loader import load
from knowledge.matching.literals import Needs, ignoring_case, in_any_case, needs
from store.core.spans import Span

OUTCOME_WITHIN = 240
"""Code points before an effect in which its outcome may stand."""
_DETERMINERS = r"(?:the|an?|those|patients|participants|women|men|children|adults|people)"


_OPENS_ARM = bounded(
    r"(?i)(?:\s*(?:the|an?|those|while|with|in|only|both|all|given|receiving)\s){1,12}"
)
_ENDS_ARM = bounded(
    r"(?i)\s+(?:\d[\d/.]{0,40}|groups?|arms?|cohorts?|had|were|was|is|are|have|has|who|lives?|did|achieved|"
    r"received|experienced|developed|showed|reduced|lowered|increased|decreased|improved|"
    r"prolonged|resulted|led|at|during|within|by|compared|respectively)(?!\w)"
)
_NO_ARM = bounded(
    r"(?i)(?:[\d.]|(?:weeks?|months?|days?|years?|baseline|total|average|addition|from|more|less|lower|"
    r"higher|greater|fewer|better|worse|to|of|than|it|they|we|group|arm|patients|\w+ly)(?!\w))"
)
_ENDS_PEOPLE = bounded(
    r"\s(?:had|were|was|is|are|has|have|did|showed?|received?|compared|versus|vs\.?|than|the|to|\d.{0,400}|"
    r"reduced|increased|improved|significantly|there|demonstrated|achieved)(?=\s|$)"
)
_IN_BRACKETS = bounded(
    r"\s*(?:\([^()]{0,600}(?:\([^()]{0,200}\)[^()]{0,200}){0,12}\)|\[[^\[\]]{0,600}\])"
)
_FACTORS = bounded(r"(?i)multivaria|predictors?\b|risk factors?|independent(?:ly)?\b|covariate")
_GOVERNS = bounded(
    r"(?i)associated with|predict\w{0,12} (?:of|for)|(?:risk|rate|odds|hazard)s? (?:of|for)"
)
_NO_OUTCOME = bounded(r"(?i)(?:need|number|use|risks?|rates?|patients|subjects|women|men|total)")
_FOR = bounded(r"[\s\])]{0,20}(?:for|in)\s+(?:the\s+)?")
_OF_AN_ARM = bounded(r"\s+(?:groups?|arms?|treatment|therapy)\b")
_BEFORE_ARM = bounded(r"(?i)(?<!\w)(?:in|with|for|among|on|after|receiving|to|of|than)\s+")


class Arms(NamedTuple):
    """Places of the first-named arm and of what it is compared with."""

    first: Span | None = None
    second: Span | None = None


def _any_of(phrases: Iterable[str]) -> str:
    ordered = sorted(phrases, key=len, reverse=True)
    return "|".join(r"[\s-]+".join(map(re.escape, phrase.split())) for phrase in ordered)


def _by_first_letter(phrases: Iterable[str]) -> str:
    """`_any_of`, in any case, with one branch for each first letter: at most places none is tried.

    Whatever begins with another letter matches elsewhere, so that longer ones still come first.
    """
    rests: dict[str, list[str]] = {}
    for phrase in _any_of(phrases).split("|"):
        rests.setdefault(phrase[0], []).append(phrase[1:])
    # A class whose case counts is looked at before its branch is entered.
    return "|".join(
        f"(?-i:[{in_any_case(letter)}])(?:{'|'.join(rest)})" for letter, rest in rests.items()
    )


class _Patterns(NamedTuple):
    outcome: re.Pattern[str]
    opened: re.Pattern[str]
    survival: re.Pattern[str]
    population: re.Pattern[str]
    arms: re.Pattern[str]
    joint: re.Pattern[str]
    between: re.Pattern[str]
    associated: re.Pattern[str]
    second: re.Pattern[str]
    lowering: re.Pattern[str]
    raising: re.Pattern[str]
    other_p: re.Pattern[str]


@cache
def _needs(name: str) -> Needs:
    """What the pattern with this name cannot match without."""
    return needs(getattr(_patterns(), name))


@cache
def _patterns() -> _Patterns:
    words: dict[str, Any] = load("reading/effects")
    outcomes = words["outcomes"]
    heads = _by_first_letter(outcomes["heads"])
    modifiers = _by_first_letter(outcomes["modifiers"])
    one = rf"(?:(?:{modifiers})[\s/-]+){{0,5}}(?:{heads})(?:e?s)?(?![\w])"
    against = _any_of(words["against"])
    arms = _any_of(words["arms"])
    # An arm is a few words; it ends where a bracket, a mark or another part of the sentence begins.
    arm = (
        r"(?:[^\W_][\w/+'-]*)(?:\s+(?!(?:was|were|had|is|are|at|during|reduced|increased|and|or|in"
        r"|on|for|with|between|of|by|from|compared|than)\b)[\w/+'-]+){0,5}"
    )
    return _Patterns(
        outcome=bounded(
            rf"(?i)(?<![\w-])(?:{one}(?:(?:\s*[,/]\s*(?:(?:or|and)\s+)?|\s+(?:(?:or|and)\s+)?){one}){{0,4}}"
            rf"(?:\s+from\s+any\s+cause)?)(?!\s+analys)"
        ),
        opened=bounded(
            rf"(?i)(?<![\w-])(?:{_any_of(outcomes['openers'])})\s+(?:the\s+|an?\s+)?"
            rf"(?P<name>(?:(?!(?:with|in|among|for|was|were|by|between|than|compared|and|at|from|of)\b)"
            rf"[^\W\d_][\w'-]*\s*){{1,6}})"
        ),
        survival=bounded(rf"(?i)(?<![\w])(?:{_any_of(outcomes['survival'])})(?!\w)"),
        population=bounded(
            rf"(?i)(?<!\w)(?:in|among|of|for|enrolled|randomi[sz]ed|included)\s+(?:\d[\d,]{{0,20}}\s+)?"
            rf"(?P<who>(?:[^\W\d_][\w-]*\s+){{0,3}}(?P<people>{_any_of(words['people'])})"
            rf"\s+(?P<link>{_any_of(words['people_links'])})\s+[^,;:()\[\].]{{3,80}})"
        ),
        arms=bounded(
            rf"(?i)(?:^\W{{0,80}}|[:;,(]\s+|(?<!\w)(?:with|in|for|of|between|on|comparing|receiving|after|to|the)\s+)"
            rf"(?:{_DETERMINERS}\s+){{0,2}}(?:(?:with|in|receiving|on|assigned\s+to|given)\s+(?:the\s+)?)?"
            rf"(?P<first>{arm}?)(?:\s+(?:{arms}))?(?:\s*,)?\s+"
            rf"(?:{against}|and)(?=\s)\s+(?:(?:with|in|among|for|the|an?|those|patients|participants|receiving|on)\s+){{0,4}}"
            rf"(?P<second>{arm})"
        ),
        joint=bounded(rf"(?i)\s(?=(?:{_by_first_letter([*words['against'], 'and'])})\s)"),
        between=bounded(rf"(?i)(?<!\w)(?:{against})(?!\w)"),
        associated=bounded(
            rf"(?i)(?<![\w/+'-])(?P<first>[^\W_][\w/+'-]*(?:\s+[\w/+'-]+){{0,4}}?)\s+(?:\w+ly\s+)?"
            rf"(?:(?:was|were|is|are)\s+(?:\w+ly\s+){{0,2}}associated\s+with|{_any_of(words['does'])})"
            rf"(?!\w)"
        ),
        second=bounded(
            rf"(?i)(?<!\w)(?:{against})\s+(?:(?:with|in|among|for|the|an?|those|patients|participants|"
            rf"receiving|on)\s+){{0,4}}(?P<second>{arm})"
        ),
        lowering=bounded(rf"(?i)(?<!\w)(?:{_any_of(words['lowering'])})s?(?!\w)"),
        raising=bounded(rf"(?i)(?<!\w)(?:{_any_of(words['raising'])})s?(?!\w)"),
        other_p=bounded(rf"(?i){_any_of(words['p_of_other_questions'])}"),
    )


def outcome(sentence: str, at: int, about: Span | None, end: int) -> Span | None:
    """Where the outcome of the effect at `[at, end)` of `sentence` is named.

    First in the words between the name of the measure and its value (`about`: "HR for death, 0.6"),
    then right behind the effect ("for overall survival"), then the nearest before it.
    """
    patterns = _patterns()
    if about is not None and (match := patterns.outcome.search(sentence, *about)):
        return Span(*match.span())
    behind = _FOR.match(sentence, end, end + 20)
    if behind and (match := patterns.outcome.match(sentence, behind.end())):
        return Span(*match.span())
    start = max(0, at - OUTCOME_WITHIN)
    found = [Span(*match.span()) for match in patterns.outcome.finditer(sentence, start, at)]
    if found:
        nearest = _nearest(sentence, found)
        other = _belongs_elsewhere(sentence, nearest, at) or _is_factor(sentence, nearest)
        return None if other else nearest
    opened = [*patterns.opened.finditer(sentence, start, at)]
    if not opened:
        return None
    name = _trimmed(sentence, *opened[-1].span("name"))
    return None if _NO_OUTCOME.fullmatch(name.of(sentence)) else name


def _nearest(sentence: str, found: list[Span]) -> Span:
    """The last outcome that is no way of telling an arm: "in the treatment failure group"."""
    for span in reversed(found):
        if not _OF_AN_ARM.match(sentence, span.end):
            return span
    return found[-1]


def _belongs_elsewhere(sentence: str, span: Span, at: int) -> bool:
    """Whether a bracket right behind `span` is closed before `at`: what it tells of is in there."""
    behind = _IN_BRACKETS.match(sentence, span.end)
    return behind is not None and behind.end() <= at


def _is_factor(sentence: str, span: Span) -> bool:
    """Whether a list of what foretells an outcome names it, and so not as the outcome."""
    if not _FACTORS.search(sentence):
        return False
    return not _GOVERNS.search(sentence, max(0, span.start - 60), span.start)


def is_survival(name: str) -> bool:
    """Whether more of the outcome is better, and its hazard ratio one of the opposite."""
    return _patterns().survival.search(name) is not None


def population(sentence: str) -> Span | None:
    """Where the sentence tells whom it is about."""
    if not _needs("population").met(sentence, ignoring_case(sentence)):
        return None
    match = _patterns().population.search(sentence)
    if match is None:
        return None
    start, end = match.span("who")
    for before in re.finditer(
        r"\b(?:that|which|and|in|of)\s", sentence[start : match.start("people")]
    ):
        start = match.start("who") + before.end()
    cut = _ENDS_PEOPLE.search(sentence, match.start("people"), end)
    span = _trimmed(sentence, start, cut.start() if cut else end)
    return span if span.end > match.end("link") else None


_ARMS_BEHIND = 120
"""Code points behind an effect up to which two arms may begin that it compares."""
_SECOND_BEHIND = 80


def arms(sentence: str, at: int, end: int) -> Arms:
    """Where the sentence tells what is compared with what, nearest to the effect at `[at, end)`."""
    paired = _paired(sentence)
    index = bisect_right(paired, end + _ARMS_BEHIND, key=lambda one: one[0])
    if index:
        best = paired[index - 1][1]
        told = best.second is None or not _belongs_elsewhere(sentence, best.second, at)
        return best if told else Arms(best.first)
    linked = _within(_patterns().associated, sentence, _linked(sentence), at)
    if linked is None:
        return Arms()
    limit = end + _SECOND_BEHIND
    against = _within(_patterns().second, sentence, _second(sentence, linked.end()), limit)
    return Arms(
        side(sentence, *linked.span("first")),
        side(sentence, *against.span("second")) if against else None,
    )


# A sentence may hold many effects: what is the same for all of them is looked for once.


@lru_cache(maxsize=16)
def _paired(sentence: str) -> tuple[tuple[int, Arms], ...]:
    """Every pair of arms that the sentence compares, and where it begins, in order."""
    patterns = _patterns()
    if not _compares(sentence, ignoring_case(sentence)):
        return ()
    found = []
    for match in patterns.arms.finditer(sentence):
        paired = sentence[match.start() : match.start("first")].lower().startswith("between")
        if paired or patterns.between.search(sentence, match.end("first"), match.start("second")):
            one = Arms(side(sentence, *match.span("first")), side(sentence, *match.span("second")))
            found.append((match.start(), one))
    return tuple(found)


@lru_cache(maxsize=16)
def _linked(sentence: str) -> re.Match[str] | None:
    """The first words that link an arm with what it does."""
    if not _needs("associated").met(sentence, ignoring_case(sentence)):
        return None
    return _patterns().associated.search(sentence)


@lru_cache(maxsize=16)
def _second(sentence: str, since: int) -> re.Match[str] | None:
    """The first arm that something is compared with, from a place on."""
    return _patterns().second.search(sentence, since)


def _within(
    pattern: re.Pattern[str], sentence: str, first: re.Match[str] | None, end: int
) -> re.Match[str] | None:
    """The pattern's first match that ends at `end` or before; `first` is that of the sentence."""
    if first is None or first.end() <= end:
        return first
    return pattern.search(sentence, first.start(), end) if first.start() < end else None


def _compares(sentence: str, lower: str) -> bool:
    """Whether two arms can stand side by side in the sentence: without a word between them that
    compares, behind one that can be an arm's last, all of it would be searched for nothing."""
    if "between" not in lower and not _needs("between").met(sentence, lower):
        return False
    for joint in _patterns().joint.finditer(sentence):
        before = sentence[max(0, joint.start() - 2 * GAP) : joint.start()]
        before = before.rstrip().removesuffix(",").rstrip()
        if before and (before[-1].isalnum() or before[-1] in "_/+'-"):
            return True
    return False


def side(sentence: str, start: int, end: int) -> Span | None:
    """An arm's name at `[start, end)`, cut where the sentence goes on, without article and "group".

    None where the words are a time, a number or a manner of speaking.
    """
    opened = _OPENS_ARM.match(sentence, start, end)
    start = opened.end() if opened else start
    cut = _ENDS_ARM.search(sentence, start, end)
    span = _trimmed(sentence, start, cut.start() if cut else end)
    name = span.of(sentence)
    is_none = not name or _NO_ARM.match(name) or _patterns().outcome.fullmatch(name)
    return None if is_none else span


def last_arm(sentence: str, start: int, end: int) -> Span | None:
    """The arm that the words at `[start, end)` end with: "… was lower in the A group"."""
    begin = start
    for match in _BEFORE_ARM.finditer(sentence, start, end):
        begin = match.end()
    return side(sentence, begin, end)


def said_direction(words: str) -> str | None:
    """What the words say an effect does: "lower", "higher"; None: nothing, or both."""
    patterns = _patterns()
    lower, higher = patterns.lowering.search(words), patterns.raising.search(words)
    if (lower is None) == (higher is None):
        return None
    return "lower" if lower else "higher"


def asks_otherwise(words: str) -> bool:
    """Whether a p value with these words before it is not about the difference of the arms."""
    return _patterns().other_p.search(words) is not None


def _trimmed(sentence: str, start: int, end: int) -> Span:
    words = sentence[start:end]
    start += len(words) - len(words.lstrip())
    return Span(start, max(start, start + len(words.strip())))
