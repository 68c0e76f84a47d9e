"""From the words of a question to its type, tags and PICO, by vocabulary and rules. Pure."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from clinical_text.names import names as names_in
from clinical_text.names import resolve
from knowledge.loader import load
from knowledge.matching.words import Mention, Words
from knowledge.names.abbreviations import definitions
from knowledge.questions.classification import (
    belongs,
    classify,
    is_aspect,
    mesh_of,
    without_general,
)
from knowledge.reading.languages import seems_english
from knowledge.subjects.labs import Reading
from knowledge.subjects.misspelt import Meant, respelled, words_meant
from knowledge.subjects.naming import is_regulator, known_trials, tests_named, trials
from knowledge.subjects.payers import named as payers
from knowledge.subjects.products import asked_for
from knowledge.subjects.tags import known_words, mentions, ordinary_words
from workers.language_model.port import LanguageModel
from workers.retrieve.understanding.asked.read import read_asked
from workers.retrieve.understanding.asked.words import is_english
from workers.retrieve.understanding.assertion import asserted
from workers.retrieve.understanding.decomposition import decompose, is_long
from workers.retrieve.understanding.model import Understanding
from workers.retrieve.understanding.patient import read_patient
from workers.retrieve.understanding.pico import read_pico
from workers.retrieve.understanding.proposal import Additions, ask, merged_pico
from workers.retrieve.understanding.scope import names_something
from workers.retrieve.understanding.sentences import Sentence, sentences
from workers.retrieve.understanding.trial_names import trials_called_so, trials_of_two_words

_CALLED = re.compile(r"(?<![\w-])[\w-]{2,60}+(?=\s(?:trial|study)\b)")
_TRIAL = re.compile(r"(?i)\b(?:trial|study)$")
_KIND, _MANY = re.compile(r"[a-z]{1,5}([A-Z]{2,6})"), re.compile(r"[A-Z]s$")
_SHOUTED = 3
"""Of a question in capitals so many words that might be names are its words."""


@cache
def _rules() -> list[tuple[str, re.Pattern[str]]]:
    types = load("questions/questions")["query_types"]
    return [(rule["type"], re.compile(rule["pattern"], re.IGNORECASE)) for rule in types]


@cache
def _current_state(name: str) -> re.Pattern[str]:
    return re.compile(load("questions/questions")["current_state"][name], re.IGNORECASE)


def asks_for_today(question: str) -> bool:
    """Whether `question` asks for the present state, by words that do not say who the patients
    are."""
    plain = _current_state("of_patients").sub(" ", question)
    return _current_state("pattern").search(plain) is not None


def query_type(question: str) -> str:
    """The type whose words occur first in the order of `knowledge/questions/questions.yaml`."""
    return next(name for name, pattern in _rules() if pattern.search(question))


@cache
def _names() -> re.Pattern[str]:
    return re.compile(load("questions/questions")["names"])


@cache
def _no_names() -> frozenset[str]:
    """Words that name no trial and no body, in lower case; of phrases each word."""
    words = known_words() | {word.lower() for word in load("questions/questions")["no_names"]}
    return words | {part for word in words for part in word.split()}


@cache
def _no_name_forms() -> re.Pattern[str]:
    return re.compile(load("questions/questions")["no_name_forms"])


def names(question: str) -> tuple[str, ...]:
    """The proper names that `question` asks about, such as trials and societies, as written, and
    the identifiers of publications."""
    identifiers = [match[match.lastindex or 0] for match in _identifiers().finditer(question)]
    plain = _identifiers().sub(" ", question)
    for one in payers(plain)[::-1]:  # who pays is not asked for as a trial is
        plain = plain[: one.start] + plain[one.end :]
    found = [match.group().replace(" ", "-") for match in _names().finditer(plain)]
    things = _known_things(found, plain)
    named = [
        name
        for name in found
        if not _qualifies(name)
        and not _parts(name) <= _no_names()
        and not _no_name_forms().fullmatch(name)
        and name not in things
    ]
    if not any(map(str.islower, plain)):  # capitals throughout tell nothing
        few = len(named) < _SHOUTED
        medical = any(one.known for one in names_in(plain, typed=True))
        named = [name for name in named if name.lower() in known_trials() or (few and not medical)]
    whole = trials_of_two_words(plain)
    called = [*named, *trials_called_so(plain)]
    called = [one for one in called if not any(f"-{one}-" in f"-{name}-" for name in whole)]
    return tuple(dict.fromkeys([*called, *whole, *tests_named(plain), *identifiers]))


def _without_regulators(called: Sequence[str], *, covered: bool) -> tuple[str, ...]:
    """The names without a regulator's, where a trial or test is named as well: who asks whether the
    FDA approved a test is not told what it said of another. Nor does it decide on coverage.

    Args:
        covered: whether it is asked if drugs or tests are covered.
    """
    others = tuple(one for one in called if not is_regulator(one))
    return others if covered or trials(others) else tuple(called)


def _qualifies(name: str) -> bool:
    """Whether it says how something is, is of many, or a kind of what is known: PDL1-positive,
    GPU-accelerated, SNPs and lincRNA are no trials."""
    of, _, said = name.rpartition("-")
    kind = _KIND.fullmatch(name)
    of_known = kind is not None and resolve(kind[1]).known
    return (
        of_known
        or bool(_MANY.search(name))
        or (said.islower() and (resolve(of).known or (len(said) > 1 and is_english(said))))
    )


def _known_things(found: Sequence[str], question: str) -> frozenset[str]:
    """Those that the tables have, by themselves or by what the question spells them out as, so that
    they are genes, drugs or diseases sooner than trials; not a word of English, nor what is called
    a trial: STING and SPRINT may be both. What is spelled out in small letters is no trial."""
    called = {*_CALLED.findall(question), *known_trials().values()}
    spelled_out = {
        question[slice(*one.short)]
        for one in definitions(question)
        if _is_thing(question[slice(*one.long)])
    }
    known = {one for one in found if resolve(one).known and not is_english(one.lower())}
    return frozenset((known | spelled_out) - called)


def _is_thing(long: str) -> bool:
    return resolve(long).known or (long[0].islower() and not _TRIAL.search(long))


@cache
def _identifiers() -> re.Pattern[str]:
    return re.compile(load("questions/questions")["identifiers"], re.IGNORECASE)


def _parts(name: str) -> set[str]:
    """What makes a name of a word, in lower case: of a compound (MRD-guided, post-PCI) the parts
    that would be names themselves."""
    capital = [part for part in name.split("-") if part != part.lower()]
    if {name.lower(), "-".join(capital).lower()} & _no_names():
        return set()
    return {part.lower() for part in capital if _names().fullmatch(part)}


@cache
def _modalities() -> Words:
    return Words(load("subjects/vocabulary")["modalities"], ordinary=ordinary_words())


def modalities(question: str) -> tuple[str, ...]:
    """The imaging modalities that `question` names (EB-6.1)."""
    return tuple(dict.fromkeys(one.name for one in _modalities().mentions(question)))


@dataclass(frozen=True)
class _Named:
    """Where a question names tags; what its patient context names comes after all of it."""

    diseases: tuple[Mention, ...]
    decisions: tuple[Mention, ...]
    asking: tuple[Sentence, ...]

    def asked(self, mention: Mention) -> bool:
        """Whether a mention stands in a sentence that asks."""
        return any(sentence.holds(mention.start) for sentence in self.asking)


def _read(question: str) -> _Named:
    return _Named(
        diseases=tuple(asserted(question, mentions("diseases", question, typed=True))),
        decisions=tuple(mentions("decisions", question, typed=True)),
        asking=tuple(one for one in sentences(question) if one.asks),
    )


def _decisions(named: _Named) -> tuple[str, ...]:
    """What is asked comes before what is told, what is decided before when and how (EB-1.3)."""
    found = sorted(
        named.decisions, key=lambda one: (not named.asked(one), is_aspect(one.name), one.start)
    )
    return _unique(_tags(found))


def _diseases(named: _Named) -> tuple[str, ...]:
    """What is asked about comes before what is told."""
    return _unique(_tags(sorted(named.diseases, key=lambda one: (not named.asked(one), one.start))))


def _by_decision(diseases: Sequence[str], decisions: Sequence[str]) -> tuple[str, ...]:
    """First what the primary decision is about: anticoagulation is not for a kidney (EB-1.5)."""
    if not decisions or is_aspect(decisions[0]):
        return tuple(diseases)
    return tuple(sorted(diseases, key=lambda tag: not belongs(tag, decisions[0])))


def search_terms(question: str) -> dict[str, list[str]]:
    """The tags that the question itself names: what other places may be asked for (invariant 11).

    Tags that only a patient's context names are not among them, nor those that are read from a
    measured value or proposed by a model.
    """
    named = _read(question)
    decisions = _decisions(named)
    return {
        "diseases": list(_by_decision(_diseases(named), decisions)),
        "decisions": list(decisions),
    }


def understand(
    question: str,
    patient_context: str = "",
    model: LanguageModel | None = None,
    not_held: Callable[[Sequence[Meant]], tuple[Meant, ...]] = tuple,
) -> Understanding:
    """Read a question; the patient context adds tags but does not decide the type.

    Args:
        question: as asked.
        patient_context: what is known of the patient besides.
        model: proposes what the rules may have missed; rules alone where there is none or it fails.
        not_held: which of these words stand in no text that is held: only they are misspelt.
    """
    is_read = seems_english(question) and not is_long(question)
    read_as = not_held(words_meant(question)) if is_read else ()
    question = respelled(question, read_as)
    named = _read(question)
    added, part = ask(model, question) if model else (Additions(), None)
    missed = added.without(_tags((*named.diseases, *named.decisions)))
    named = replace(
        named,
        diseases=(*named.diseases, *missed.diseases),
        decisions=(*named.decisions, *missed.decisions),
    )
    context, patient = _read(patient_context), read_patient(f"{question}\n{patient_context}")
    decisions = _unique(_decisions(named), _tags(context.decisions))
    told = _unique(_diseases(named), _tags(context.diseases), _measured(patient.values))
    diseases = _by_decision(without_general(told), decisions)
    asked = _asked_text(question, named.asking)
    read = read_asked(question)
    kind, named_so = query_type(asked), names(asked)
    found = asked_for(asked, read.required, named_so)
    called = _without_regulators(named_so, covered=kind == "coverage_policy" and bool(found))
    condition = diseases[0] if diseases else None
    stated = read_pico(question, named.diseases, named.decisions, condition)
    pico, filled = merged_pico(stated, added.pico, question)
    taken = (*_unique(_tags(missed.diseases), _tags(missed.decisions)), *filled)
    return Understanding(
        query_type=kind,
        classification=classify(diseases, decisions, kind),
        pico=pico,
        diseases=diseases,
        decisions=decisions,
        names=called,
        asks_for_today=asks_for_today(asked),
        mesh=mesh_of(diseases, decisions),
        sub_queries=decompose(question, kind, diseases, decisions, called),
        products=found,
        modalities=modalities(asked),
        patient=patient,
        language_model=replace(part, added=taken) if part else None,
        names_something=names_something(asked),
        asked=read,
        is_english=seems_english(question),
        read_as=read_as,
    )


def _tags(named: Sequence[Mention]) -> tuple[str, ...]:
    return tuple(one.name for one in named)


def _measured(values: Sequence[Reading]) -> tuple[str, ...]:
    return tuple(one.tag for one in values if one.tag)


def _unique(*tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for part in tags for tag in part))


def _asked_text(question: str, asking: Sequence[Sentence]) -> str:
    """The question; of a long one the sentences that ask: the others tell of the past."""
    if not (asking and is_long(question)):
        return question
    return "\n".join(question[one.start : one.end] for one in asking)
