"""The outcome, population and arms that the words around an effect name. Pure.

Only what a sentence itself says is read; what it leaves open stays None.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from knowledge.literals import Needs, ignoring_case, in_any_case, needs
from knowledge.loader import load
from store.spans import Span

OUTCOME_WITHIN = 240
"""Code points before an effect in which its outcome may stand."""
_DETERMINERS = r"(?:the|an?|those|patients|participants|women|men|children|adults|people)"


_OPENS_ARM = re.compile(
    r"(?i)(?:\s*(?:the|an?|those|while|with|in|only|both|all|given|receiving)\s)+"
)
_ENDS_ARM = re.compile(
    r"(?i)\s+(?:\d[\d/.]*|groups?|arms?|cohorts?|had|were|was|is|are|have|has|who|lives?|did|achieved|"
    r"received|experienced|developed|showed|reduced|lowered|increased|decreased|improved|"
    r"prolonged|resulted|led|at|during|within|by|compared|respectively)(?!\w)"
)
_NO_ARM = re.compile(
    r"(?i)(?:[\d.]|(?:weeks?|months?|days?|years?|baseline|total|average|addition|from|more|less|lower|"
    r"higher|greater|fewer|better|worse|to|of|than|it|they|we|group|arm|patients|\w+ly)(?!\w))"
)
_ENDS_PEOPLE = re.compile(
    r"\s(?:had|were|was|is|are|has|have|did|showed?|received?|compared|versus|vs\.?|than|the|to|\d.*|"
    r"reduced|increased|improved|significantly|there|demonstrated|achieved)(?=\s|$)"
)
_IN_BRACKETS = re.compile(r"\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_FACTORS = re.compile(r"(?i)multivaria|predictors?\b|risk factors?|independent(?:ly)?\b|covariate")
_GOVERNS = re.compile(
    r"(?i)associated with|predict\w* (?:of|for)|(?:risk|rate|odds|hazard)s? (?:of|for)"
)
_NO_OUTCOME = re.compile(r"(?i)(?:need|number|use|risks?|rates?|patients|subjects|women|men|total)")
_BEFORE_ARM = re.compile(r"(?i)(?<!\w)(?:in|with|for|among|on|after|receiving|to|of|than)\s+")


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
    words: dict[str, Any] = load("effects")
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
        outcome=re.compile(
            rf"(?i)(?<![\w-])(?:{one}(?:(?:\s*[,/]\s*(?:(?:or|and)\s+)?|\s+(?:(?:or|and)\s+)?){one}){{0,4}}"
            rf"(?:\s+from\s+any\s+cause)?)(?!\s+analys)"
        ),
        opened=re.compile(
            rf"(?i)(?<![\w-])(?:{_any_of(outcomes['openers'])})\s+(?:the\s+|an?\s+)?"
            rf"(?P<name>(?:(?!(?:with|in|among|for|was|were|by|between|than|compared|and|at|from|of)\b)"
            rf"[^\W\d_][\w'-]*\s*){{1,6}})"
        ),
        survival=re.compile(rf"(?i)(?<![\w])(?:{_any_of(outcomes['survival'])})(?!\w)"),
        population=re.compile(
            rf"(?i)(?<!\w)(?:in|among|of|for|enrolled|randomi[sz]ed|included)\s+(?:\d[\d,]*\s+)?"
            rf"(?P<who>(?:[^\W\d_][\w-]*\s+){{0,3}}(?P<people>{_any_of(words['people'])})"
            rf"\s+(?P<link>{_any_of(words['people_links'])})\s+[^,;:()\[\].]{{3,80}})"
        ),
        arms=re.compile(
            rf"(?i)(?:^\W*|[:;,(]\s+|(?<!\w)(?:with|in|for|of|between|on|comparing|receiving|after|to|the)\s+)"
            rf"(?:{_DETERMINERS}\s+){{0,2}}(?:(?:with|in|receiving|on|assigned\s+to|given)\s+(?:the\s+)?)?"
            rf"(?P<first>{arm}?)(?:\s+(?:{arms}))?\s*,?\s+"
            rf"(?:{against}|and)(?=\s)\s+(?:(?:with|in|among|for|the|an?|those|patients|participants|receiving|on)\s+){{0,4}}"
            rf"(?P<second>{arm})"
        ),
        joint=re.compile(rf"(?i)\s(?=(?:{_by_first_letter([*words['against'], 'and'])})\s)"),
        between=re.compile(rf"(?i)(?<!\w)(?:{against})(?!\w)"),
        associated=re.compile(
            rf"(?i)(?<![\w/+'-])(?P<first>[^\W_][\w/+'-]*(?:\s+[\w/+'-]+){{0,4}}?)\s+(?:\w+ly\s+)?"
            rf"(?:(?:was|were|is|are)\s+(?:\w+ly\s+){{0,2}}associated\s+with|{_any_of(words['does'])})"
            rf"(?!\w)"
        ),
        second=re.compile(
            rf"(?i)(?<!\w)(?:{against})\s+(?:(?:with|in|among|for|the|an?|those|patients|participants|"
            rf"receiving|on)\s+){{0,4}}(?P<second>{arm})"
        ),
        lowering=re.compile(rf"(?i)(?<!\w)(?:{_any_of(words['lowering'])})s?(?!\w)"),
        raising=re.compile(rf"(?i)(?<!\w)(?:{_any_of(words['raising'])})s?(?!\w)"),
        other_p=re.compile(rf"(?i){_any_of(words['p_of_other_questions'])}"),
    )


def outcome(sentence: str, at: int, about: Span | None, end: int) -> Span | None:
    """Where the outcome of the effect at `[at, end)` of `sentence` is named.

    First in the words between the name of the measure and its value (`about`: "HR for death, 0.6"),
    then right behind the effect ("for overall survival"), then the nearest before it.
    """
    patterns = _patterns()
    if about is not None and (match := patterns.outcome.search(sentence, *about)):
        return Span(*match.span())
    behind = re.match(r"[\s\])]*(?:for|in)\s+(?:the\s+)?", sentence[end : end + 20])
    if behind and (match := patterns.outcome.match(sentence, end + behind.end())):
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
        if not re.match(r"\s+(?:groups?|arms?|treatment|therapy)\b", sentence[span.end :]):
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


def arms(sentence: str, at: int, end: int) -> Arms:
    """Where the sentence tells what is compared with what, nearest to the effect at `[at, end)`."""
    patterns = _patterns()
    lower = ignoring_case(sentence)
    best: Arms | None = None
    for match in patterns.arms.finditer(sentence) if _compares(sentence, lower) else ():
        if match.start() > end + 120:
            break
        paired = sentence[match.start() : match.start("first")].lower().startswith("between")
        if paired or patterns.between.search(sentence, match.end("first"), match.start("second")):
            best = Arms(side(sentence, *match.span("first")), side(sentence, *match.span("second")))
    if best is not None:
        told = best.second is None or not _belongs_elsewhere(sentence, best.second, at)
        return best if told else Arms(best.first)
    if not _needs("associated").met(sentence, lower):
        return Arms()
    linked = patterns.associated.search(sentence, 0, at)
    if linked is None:
        return Arms()
    against = patterns.second.search(sentence, linked.end(), end + 80)
    return Arms(
        side(sentence, *linked.span("first")),
        side(sentence, *against.span("second")) if against else None,
    )


def _compares(sentence: str, lower: str) -> bool:
    """Whether two arms can stand side by side in the sentence: without a word between them that
    compares, behind one that can be an arm's last, all of it would be searched for nothing."""
    if "between" not in lower and not _needs("between").met(sentence, lower):
        return False
    for joint in _patterns().joint.finditer(sentence):
        before = sentence[: joint.start()].rstrip().removesuffix(",").rstrip()
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
