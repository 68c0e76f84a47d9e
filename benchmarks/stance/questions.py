"""Claims and findings of trials asked as yes/no questions. Pure, seeded."""

import re
from collections.abc import Iterator
from random import Random

_FRONTED = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "can",
        "may",
        "should",
        "does",
        "did",
        "do",
        "will",
        "could",
        "would",
    ]
)
_BEFORE = frozenset(
    ["who", "which", "that", "when", "if", "whether", "where", "because", "while", "although"]
)
_PAST = {
    "reduced": "reduce", "increased": "increase", "improved": "improve", "lowered": "lower",
    "raised": "raise", "prevented": "prevent", "caused": "cause", "led": "lead",
    "predicted": "predict", "decreased": "decrease", "delayed": "delay", "prolonged": "prolong",
    "produced": "produce", "inhibited": "inhibit", "affected": "affect",
    "lengthened": "lengthen", "shortened": "shorten", "worked": "work", "had": "have",
    "showed": "show", "remained": "remain", "rose": "rise", "fell": "fall",
    "differed": "differ", "received": "receive", "gave": "give", "went": "go",
    "outperformed": "outperform",
}  # fmt: skip
_PRESENT = {
    "reduces": "reduce", "increases": "increase", "improves": "improve", "lowers": "lower",
    "prevents": "prevent", "causes": "cause", "predicts": "predict", "inhibits": "inhibit",
    "affects": "affect", "leads": "lead", "has": "have", "requires": "require", "binds": "bind",
}  # fmt: skip
_NO_SUBJECT = frozenset(
    ["the", "a", "an", "of", "in", "with", "by", "and", "or", "for", "to", "was", "were"]
)
_FORMS = {
    "increased": (
        "Does {i} increase {o}?", "Does {i} increase {o} compared with {c}?",
        "Is {o} higher with {i} than with {c}?", "Can {i} raise {o}?",
    ),
    "decreased": (
        "Does {i} reduce {o}?", "Does {i} decrease {o} compared with {c}?",
        "Is {o} lower with {i} than with {c}?", "Can {i} lower {o}?",
    ),
    "any": (
        "Does {i} affect {o}?", "Does {i} have an effect on {o}?",
        "Is there a difference in {o} between {i} and {c}?",
    ),
    "none": ("Is {o} similar with {i} and with {c}?", "Is {o} the same with {i} as with {c}?"),
}  # fmt: skip


def asked(claim: str) -> tuple[str, bool] | None:
    """A claim as a question, and whether the question asks for the contrary; None where its verb is
    not found."""
    words = claim.rstrip(". ").split()
    for at, word in enumerate(words[1:18], 1):
        if word in _BEFORE or words[at - 1].endswith((",", ";", ":")):
            return None
        rest = words[at + 1 :]
        if not rest or words[at - 1].lower() in _NO_SUBJECT:
            continue
        if word in _FRONTED:
            turned = rest[0] == "not"
            tail = rest[1:] if turned else rest
            return _question([word, _small(words[0]), *words[1:at], *tail]), turned
        verb = _PAST.get(word) or _PRESENT.get(word)
        if verb:
            auxiliary = "did" if word in _PAST else "does"
            return _question([auxiliary, _small(words[0]), *words[1:at], verb, *rest]), False
    return None


def _small(word: str) -> str:
    return word if word[1:] != word[1:].lower() else word[0].lower() + word[1:]


def _question(words: list[str]) -> str:
    text = " ".join(words)
    return text[0].upper() + text[1:] + "?"


def of_finding(
    intervention: str, comparator: str, outcome: str, effect: str, rng: Random
) -> Iterator[tuple[str, bool]]:
    """Two questions on what a trial found, and whether it answers with yes. `effect` is increased,
    decreased or none."""
    for form in rng.sample(tuple(_FORMS), 2):
        text = rng.choice(_FORMS[form]).format(i=intervention, c=comparator, o=_small(outcome))
        yield text, effect == form or (form == "any" and effect != "none")


_FLIPS = (
    ("increase", "decrease"), ("reduce", "increase"), ("higher", "lower"), ("better", "worse"),
    ("shorter", "longer"), ("more", "less"), ("activate", "inhibit"), ("dominant", "recessive"),
    ("agonist", "antagonist"), ("upregulate", "downregulate"), ("superior", "inferior"),
    ("improve", "worsen"), ("increased", "decreased"), ("monoclonal", "polyclonal"),
    ("higher", "lower"), ("promote", "suppress"), ("safe", "unsafe"), ("effective", "ineffective"),
)  # fmt: skip


def flipped(question: str) -> str | None:
    """A question with one word of direction turned round."""
    for one, other in _FLIPS:
        for word, contrary in ((one, other), (other, one)):
            found = re.sub(rf"\b{word}\b", contrary, question, count=1)
            if found != question:
                return found
    return None
