"""Whom a claim is about is whom its passage is about (DESIGN section 2, invariant 6). Pure.

What the passage leaves out may come from the title or the text, unless the passage or they name
another population. What the passage says of a part of the patients is not said of all.
"""

import re
from collections.abc import Iterator, Mapping, Set
from functools import cache, lru_cache

from clinical_text.marker_statuses import marker_statuses
from knowledge.breadth import is_broader
from knowledge.guard_terms import population_terms
from knowledge.loader import load
from workers.verify.guards.binding import telling_words
from workers.verify.guards.extent import orders
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import Lexicon, fold, sentences, spelled_out, tokens
from workers.verify.guards.statements import read

_ROMAN = {"0": 0, "i": 1, "ii": 2, "iii": 3, "iv": 4, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5}
_NUMERAL = r"(?:III|II|IV|I|[0-5])(?:[ABCabc](?![A-Za-z]))?(?![\w.%])"
_LABELLED = re.compile(
    rf"(?i)(?<![\w-])(?P<label>stage|phase|grade|class)s?[\s-]+"
    rf"(?P<list>{_NUMERAL}(?:\s*(?:,|-|/|to|and|or|through|,\s*and|,\s*or)\s*{_NUMERAL})*)"
)
_JOINED = re.compile(rf"(?i)(?P<joint>-|to|through)?\s{{0,9}}(?P<numeral>{_NUMERAL})")
_CLAUSE = re.compile(r"(?i)[;:]|,?\s{1,9}(?:whereas|while|but|although|though)\s")
_HEADS = (
    r"(?:patients?|those|people|persons?|individuals?|participants?|subjects?|women|men|adults"
    r"|children|adolescents|infants|cases|tumou?rs|carriers|survivors|recipients)"
)
_BOUNDED = re.compile(
    rf"(?i)\b(?:in|among|amongst|for|within|of)\s+(?P<who>(?:(?!(?:in|for|among|within)\s)[^\s,;:()]+\s+){{0,6}}?{_HEADS}\b"
    r"(?:\s+(?:with|who|whose|aged|having|without|at|carrying|undergoing|receiving|in\s+the)\s+"
    r"(?P<what>(?:the\s)?(?:(?!\b(?:the|was|were|is|are|had|did|showed)\b)"
    r"[^,;:()\[\]]){2,80}))?)"
)
_STATUS = "status of "
# A subgroup is kept when the claim has this share of its words. Ours.
_KEPT = 0.7
# A clause of the passage is what a claim restates when it has this many words of it. Ours.
_RESTATED = 2


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Populations of `claim` that its source does not state, contradicts, or states of a part."""
    claim, passage = fold(claim), fold(grounds.passage)
    findings = _strange(_values(claim), _values(passage), grounds, passage)
    findings += _strange_diseases(claim, passage, grounds)
    return findings + _widened(claim, passage, grounds)


def _strange(
    said: Mapping[str, Set[str]], stated: Mapping[str, Set[str]], grounds: Grounds, passage: str
) -> list[Finding]:
    findings = []
    for category, values in said.items():
        here: Set[str] = stated.get(category, set())
        strange = values - here
        if "people" in strange and category == "organism" and _orders(passage):
            strange -= {"people"}  # whom else a label tells what to do
        if strange and category.startswith(_STATUS):
            strange -= _of_the_only_marker(category, strange, grounds, passage)
        if strange and not here:
            strange = _not_around(category, strange, grounds)
        findings += [
            Finding(
                "population",
                f"{category} “{value}” is not that of the passage",
                unsaid=not here or value in _bare_statuses(passage),
            )
            for value in sorted(strange)
        ]
    return findings


def _orders(passage: str) -> bool:
    source = read(passage)
    return any(orders(source, members) for members in source.sentences)


def _of_the_only_marker(
    category: str, values: Set[str], grounds: Grounds, passage: str
) -> Set[str]:
    """Those that the passage states of nothing in particular ("in negative patients"), where the
    source knows the status of no other marker."""
    around = _values_of_source(f"{grounds.title}\n\n{grounds.text}")
    known = {one for one in around if one.startswith(_STATUS)}
    if known != {category}:
        return set()
    return values & _bare_statuses(passage)


def _bare_statuses(passage: str) -> Set[str]:
    """The statuses that the passage states, whatever of ("in negative patients")."""
    words = {one.lower for one in tokens(passage)}
    status = population_terms().status.items()
    return {name for name, forms in status if not words.isdisjoint(forms)}


def _not_around(category: str, values: Set[str], grounds: Grounds) -> Set[str]:
    """Those that neither the title and the neighbours of the passage nor the text state alone."""
    for text in (f"{grounds.title}\n\n{grounds.neighbours}", grounds.text):
        around: Set[str] = _values_of_source(text).get(category, set())
        if around:
            return values if around - values else values - around
    return values - {population_terms().assumed.get(category)}


def _strange_diseases(claim: str, passage: str, grounds: Grounds) -> list[Finding]:
    said = _diseases(claim)
    stated = _diseases(passage) if said else set()
    strange = {one for one in said - stated if not is_broader({one}, stated)}
    if strange and stated <= said:
        around = _diseases(fold(f"{grounds.title}\n\n{grounds.neighbours}"))
        strange = {one for one in strange - around if not is_broader({one}, around)}
        strange -= _diseases_of_source(grounds.text)
    unsaid = stated <= said
    return [
        Finding("population", f"“{one}” is not in the passage", unsaid) for one in sorted(strange)
    ]


def _widened(claim: str, passage: str, grounds: Grounds) -> list[Finding]:
    """A subgroup to which the passage binds what the claim says, and which the claim leaves out."""
    words = telling_words(claim)
    title = telling_words(fold(grounds.title))
    best, bounds = 0, list[str]()
    for clause, who in _bounded_clauses(passage):
        shared = len(words & (telling_words(clause) - telling_words(who)))
        if shared > best:
            best, bounds = shared, []
        if shared == best:
            bounds.append(who)
    missing = [who for who in bounds if not _is_kept(who, claim, words, title)]
    if best < _RESTATED or not bounds or len(missing) < len(bounds):
        return []
    return [Finding("subgroup", f"the passage speaks of “{missing[0]}” only", unsaid=True)]


def _is_kept(who: str, claim: str, words: Set[str], title: Set[str]) -> bool:
    """Whether the claim has the subgroup in its own words, or the title has it for the whole."""
    own = telling_words(who) - title
    words |= telling_words(" ".join(spelled_out(claim)))
    if len(own & words) >= len(own) * _KEPT:
        return True
    mine, its = _values(claim), _values(who)
    its.pop("organism", None)
    return bool(its) and all(its[category] <= mine.get(category, set()) for category in its)


def _bounded_clauses(passage: str) -> Iterator[tuple[str, str]]:
    """Each clause of the passage with the subgroup that it is bound to, if any."""
    for sentence in sentences(passage):
        leading = ""
        for number, clause in enumerate(_CLAUSE.split(sentence)):
            found = list(_BOUNDED.finditer(clause))
            who = found[0]["who"] if found else ""
            is_leading = bool(found) and not telling_words(clause[: found[0].start()])
            if number == 0 and is_leading:
                leading = who
            # Two groups in one clause are compared: the clause is bound to neither.
            yield clause, who if len(found) == 1 or is_leading else leading


def _values(text: str) -> dict[str, set[str]]:
    """The values of each category that a folded text states."""
    found: dict[str, set[str]] = {}
    for category, lexicon in _categories().items():
        for mention in lexicon.find(text):
            found.setdefault(category, set()).add(mention.name)
    for label, numerals in _labels(text):
        found.setdefault(label, set()).add(numerals)
    for marker, status in marker_statuses(text):
        found.setdefault(f"{_STATUS}{marker}", set()).add(status)
    return found


@lru_cache(maxsize=64)
def _values_of_source(text: str) -> dict[str, set[str]]:
    return _values(fold(text))


def _labels(text: str) -> Iterator[tuple[str, str]]:
    """ "stages I to III" as ("stage", "1 2 3")."""
    for match in _LABELLED.finditer(text):
        numbers: list[str] = []
        for one in _JOINED.finditer(match["list"]):
            digits = one["numeral"].rstrip("ABCabc").lower()
            part = one["numeral"][len(digits) :].lower()
            value = _ROMAN[digits]
            if one["joint"] and numbers and numbers[-1].isdecimal():
                numbers += [str(number) for number in range(int(numbers[-1]) + 1, value)]
            numbers.append(f"{value}{part}")
        yield match["label"].lower(), " ".join(numbers)


def _diseases(text: str) -> set[str]:
    return {name for mention in _disease_words().find(text) for name in mention.name.split()} - {""}


@lru_cache(maxsize=64)
def _diseases_of_source(text: str) -> frozenset[str]:
    return frozenset(_diseases(fold(text)))


@cache
def _categories() -> dict[str, Lexicon]:
    return {name: Lexicon(values) for name, values in population_terms().categories.items()}


@cache
def _disease_words() -> Lexicon:
    """The words of vocabulary.yaml; one that stands for several diseases names them all, parted by
    spaces, and a phrase that names none has none."""
    vocabulary = load("vocabulary")
    tags: dict[str, list[str]] = {phrase: [] for phrase in vocabulary["no_tags"]["diseases"]}
    for tag, entry in vocabulary["diseases"].items():
        for word in entry["words"]:
            tags.setdefault(word, []).append(tag)
    names: dict[str, list[str]] = {}
    for word, some in tags.items():
        names.setdefault(" ".join(some), []).append(word)
    return Lexicon(names)
