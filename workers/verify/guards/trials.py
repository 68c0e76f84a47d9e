"""A trial's name goes with the numbers that the sources give it (DESIGN section 2, invariant 6).

Registry numbers are widely wrong in print, so a pair of name and number must be the passage's own,
or one that is known (`knowledge/guards/named.yaml`, confirmed entries of `knowledge/scenarios`), or
one that the rest of the source states. Pure.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import chain

from clinical_text.identifiers import identifiers, spans_of_identifiers
from knowledge.guards.guard_terms import named_terms
from knowledge.matching.words import Mention
from knowledge.scenarios import scenarios
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import Lexicon, fold, sentences

_ACRONYM = (
    r"(?:[a-z]-)?[A-Z](?=[A-Za-z]{0,40}[A-Z])[\w-]++(?:[ -](?:I{1,3}|IV|\d{1,3}|[A-Z]{2,4}))?"
)
_SUFFIX = re.compile(r"-(?:[A-Z][\w]*|I{1,3}|\d+)|[ -](?:I{2,3}|IV)\b")
"""What makes another trial's name of one: "DYNAMIC-Rectal", "DYNAMIC-III"."""
_OPENING = 400
"""Characters of a text in which it says what it is on (ours)."""
_LITERATURE = ("PMID ", "PMC", "DOI ")


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Identifiers and trials of `claim` that its source does not have, and trials under the number
    of another one."""
    claim = fold(claim)
    return [
        *strange_identifiers(claim, grounds),
        *mismatched(claim, grounds),
        *strange_trials(claim, grounds),
    ]


def strange_identifiers(claim: str, grounds: Grounds) -> list[Finding]:
    """Identifiers of the folded `claim` that its source does not print and does not have, or that
    belong to another trial than the source's own."""
    claimed = identifiers(claim)
    if not claimed:
        return []
    own = identifiers_of(grounds.identifiers)
    near = identifiers(fold(grounds.passage)) | identifiers(grounds.title) | own
    strange = claimed - near
    strange -= identifiers(grounds.text) if strange else set()
    findings = [Finding("identifier", f"{one} is not in the source") for one in sorted(strange)]
    registered = {one for one in own if _is_registered(one)}
    if registered and not trial_names(claim):
        others = {one for one in claimed - near - strange if _is_registered(one)}
        findings += [
            Finding("identifier", f"{one} is not the number of the source's own trial")
            for one in sorted(others)
        ]
    return findings


def strange_trials(claim: str, grounds: Grounds) -> list[Finding]:
    """Trials named in the folded `claim` that neither the passage nor its title speaks of, nor what
    stands around a passage that names none."""
    unsaid = _not_in_passage(claim, grounds)
    if not unsaid:
        return []
    stated, subject = trial_names(fold(grounds.passage)), _subject(grounds)
    around = trial_names(fold(f"{grounds.title}\n\n{grounds.neighbours}"))
    findings = []
    for name, raw in unsaid.items():
        elsewhere = name in around or (not around and _is_sole_trial(name, grounds.text))
        if not _stands_in(raw, subject) and (stated or not elsewhere):
            findings.append(Finding("trial", f"“{raw}” is not in the passage", unsaid=True))
    return findings


def _subject(grounds: Grounds) -> str:
    """What tells which study a source is on: its title and how it begins."""
    return fold(f"{grounds.title}\n\n{grounds.text[:_OPENING]}")


def _not_in_passage(claim: str, grounds: Grounds) -> dict[str, str]:
    """The trials that the folded claim names and the passage does not."""
    said = trial_names(claim)
    passage = fold(grounds.passage) if said else ""
    stated = trial_names(passage)
    return {
        name: raw
        for name, raw in said.items()
        if name not in stated and not _stands_in(raw, passage)
    }


def _stands_in(raw: str, passage: str) -> bool:
    """Whether the passage has the name, not as the first part of another one."""
    words = r"[\s-]+".join(map(re.escape, re.split(r"[\s-]+", raw)))
    return re.search(rf"(?i:(?<![\w-]){words}(?!\w))(?!{_SUFFIX.pattern})", passage) is not None


def mismatched(claim: str, grounds: Grounds) -> list[Finding]:
    """Pairs of a trial and an identifier in the folded `claim` that the sources do not make."""
    pairs = _pairs(claim)
    if not pairs:
        return []
    stated, written = _pairs(fold(grounds.passage)), trial_names(claim)
    return [
        Finding("trial_identifier", f"{identifier} is not given to “{written[name]}”")
        for name, identifier in sorted(pairs - stated)
        if not _goes_with(name, identifier, grounds)
    ]


def gives_away_a_known_number(claim: str) -> bool:
    """Whether a claim gives a trial a number that is known to be another's, or a known trial
    another number than its own."""
    return any(_is_known_pair(*pair) is False for pair in _pairs(fold(claim)))


def identifiers_of(held: Mapping[str, str]) -> set[str]:
    """The identifiers of a document, spelled as those found in texts."""
    found: set[str] = set()
    for name, value in held.items():
        kind = name.casefold().removesuffix("_id")
        if value.isdecimal():
            found.add(f"PMID {value}" if kind in ("pmid", "pubmed") else f"{kind.upper()}{value}")
        else:
            found |= identifiers(value)
    return found


def trial_names(text: str) -> dict[str, str]:
    """The trials that a folded text names, each with its words there."""
    return {mention.name: text[mention.start : mention.end] for mention in _mentions(text)}


def _is_known_pair(name: str, identifier: str) -> bool | None:
    """Whether the knowledge of this project makes the pair; None where it knows nothing of it."""
    numbers = _known()
    families = {key for key in numbers if key == name} or {
        key for key in numbers if key.startswith(f"{name} ")
    }
    known = set(chain.from_iterable(numbers[key] for key in families))
    if identifier in known:
        return True
    if any(identifier in some for some in numbers.values()):
        return False
    if _is_registered(identifier) and any(map(_is_registered, known)):
        return False
    return None


def _goes_with(name: str, identifier: str, grounds: Grounds) -> bool:
    known = _is_known_pair(name, identifier)
    if known is not None:
        return known
    source = fold(f"{grounds.title}\n\n{grounds.text}")
    pairs = _pairs(source, identifier)
    if pairs:
        return (name, identifier) in pairs
    own = identifier in identifiers_of(grounds.identifiers)
    named = name in trial_names(fold(grounds.title)) or _is_sole_trial(name, grounds.text)
    return own and (named or not _is_registered(identifier))


def _is_sole_trial(name: str, text: str) -> bool:
    return _trials_of(text) == {name}


@lru_cache(maxsize=64)  # a document is asked for each claim
def _trials_of(text: str) -> frozenset[str]:
    return frozenset(trial_names(fold(text)))


def _is_registered(identifier: str) -> bool:
    return not identifier.startswith(_LITERATURE)


def _pairs(text: str, identifier: str | None = None) -> set[tuple[str, str]]:
    """Each identifier of a folded text (or the one given) with the trial named nearest before it in
    its sentence, else the first after it."""
    if not spans_of_identifiers(text):
        return set()
    found: set[tuple[str, str]] = set()
    for sentence in sentences(text):
        spans = spans_of_identifiers(sentence)
        named = list(_mentions(sentence)) if spans else []
        for start, end in spans if named else ():
            before = [one for one in named if one.end <= start]
            nearest = before[-1] if before else named[0]
            for one in identifiers(sentence[start:end]):
                if identifier in (None, one):
                    found.add((nearest.name, one))
    return found


def _mentions(text: str) -> Iterable[Mention]:
    """Known trials, and acronyms beside a word such as "trial" or a registry number, in order."""
    found = {mention.start: _in_full(text, mention) for mention in _lexicon().find(text)}
    taken = [range(mention.start, mention.end) for mention in found.values()]
    for match in _beside_a_noun().finditer(text):
        name = str(match.lastgroup)
        start, end = match.span(name)
        is_no_trial = match[name].upper() in named_terms().not_trials
        if not is_no_trial and not any(start < span.stop and span.start < end for span in taken):
            found[start] = Mention(_key(match[name]), start, end)
    identified = spans_of_identifiers(text)
    for start in sorted(found):
        if not any(low <= start < high for low, high in identified):
            yield found[start]


def _in_full(text: str, mention: Mention) -> Mention:
    """A known trial with what makes another trial's name of it."""
    suffix = _SUFFIX.match(text, mention.end)
    if suffix is None:
        return mention
    return Mention(_key(text[mention.start : suffix.end()]), mention.start, suffix.end())


def _key(name: str) -> str:
    return re.sub(r"[\s-]+", " ", name).casefold()


@cache
def _beside_a_noun() -> re.Pattern[str]:
    nouns = "|".join(sorted(named_terms().trial_nouns))
    return re.compile(
        rf"(?<![\w-])(?:(?P<before>{_ACRONYM})\s+(?:\([^)]{{0,40}}\)\s+)?(?:{nouns})(?!\w)"
        rf"|(?:trial|study)\s+(?P<after>{_ACRONYM})(?!\w)"
        rf"|(?P<numbered>{_ACRONYM})\s*\)?\s*[(\[,:;]\s*"
        r"(?:NCT|ACTRN|UMIN|ISRCTN|EudraCT|jRCT|DRKS|ChiCTR))"
    )


@cache
def _known() -> dict[str, frozenset[str]]:
    """Each known trial's identifiers by each of its names."""
    numbers: dict[str, set[str]] = {}
    for name, held in _written():
        numbers.setdefault(_key(name), set()).update(held)
    return {name: frozenset(held) for name, held in numbers.items()}


def _written() -> Iterable[tuple[str, set[str]]]:
    for trial in named_terms().trials.values():
        for name in trial.names:
            yield name, set(chain.from_iterable(map(identifiers, trial.numbers)))
    for scenario in scenarios():
        for entry in scenario.usable():
            if entry.trial is not None:
                yield entry.trial, identifiers_of(entry.identifiers())


@cache
def _lexicon() -> Lexicon:
    return Lexicon({_key(name): (name,) for name, _ in _written()}, cased=True)
