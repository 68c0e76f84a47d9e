"""Paraphrases of sentences that stay true, for `benchmarks.guards`. By rule, no model.

An edit gets a case and gives a claim, or None where it does not apply.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

Edit = Callable[["Case", random.Random], str | None]
TRUE: dict[str, Edit] = {}
FALSE: dict[str, Edit] = {}


@dataclass(frozen=True)
class Case:
    """A sentence of a document, and what stands around it."""

    sentence: str
    title: str
    text: str
    before: str
    after: str
    other: str
    """A sentence of another document."""


def true(kind: str) -> Callable[[Edit], Edit]:
    """Register an edit that keeps a sentence true."""
    return lambda edit: TRUE.setdefault(kind, edit)


def false(kind: str) -> Callable[[Edit], Edit]:
    """Register an edit that the sentence does not support."""
    return lambda edit: FALSE.setdefault(kind, edit)


# True claims


def _swaps(pairs: dict[str, str]) -> Edit:
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, pairs))})\b")

    def edit(case: Case, _rng: random.Random) -> str | None:
        changed = pattern.sub(lambda found: pairs[found[0]], case.sentence)
        return changed if changed != case.sentence else None

    return edit


true("reporting words")(
    _swaps(
        {
            "showed": "demonstrated", "demonstrated": "showed", "We found that": "The study found",
            "we found that": "the authors found that", "was observed": "was seen",
            "were observed": "were seen", "were found": "were observed", "revealed": "showed",
            "patients": "individuals", "subjects": "participants", "identified": "found",
        }
    )
)  # fmt: skip
true("compared with")(
    _swaps(
        {
            "compared with": "versus", "compared to": "relative to", "versus": "compared with",
            "in comparison with": "compared with", "vs. ": "versus ", " vs ": " versus ",
        }
    )
)  # fmt: skip
true("direction synonym")(
    _swaps(
        {
            "increased": "elevated", "reduced": "decreased", "decreased": "reduced",
            "reduction": "decrease", "decrease": "reduction", "elevated": "increased",
            "higher": "greater", "greater": "higher", "increases": "raises", "improved": "better",
            "similar": "comparable", "reduces": "lowers",
        }
    )
)  # fmt: skip
true("other synonym")(
    _swaps(
        {
            "associated with": "linked to", "mortality": "death", "women": "females",
            "treatment": "therapy", "therapy": "treatment", "renal": "kidney", "tumor": "tumour",
            "randomized": "randomised", "effect on": "impact on", "began": "started",
            "did not": "didn't", "due to": "because of", "hepatic": "liver",
        }
    )
)  # fmt: skip
true("tense")(
    _swaps(
        {
            "was": "is", "were": "are", "is": "was", "are": "were", "showed": "shows",
            "increased": "increases", "reduced": "reduces", "had": "have", "suggests": "suggested",
        }
    )
)  # fmt: skip
true("hedge synonym")(
    _swaps({"may": "might", "might": "could", "could": "may", "suggest that": "suggests that"})
)
true("more careful")(
    _swaps({"reduces": "may reduce", "increases": "may increase", "improves": "might improve",
            "is associated": "may be associated", "was associated": "appeared to be associated"})
)  # fmt: skip
true("negation synonym")(
    _swaps(
        {
            "did not improve": "failed to improve", "no significant": "no really significant",
            "did not reduce": "failed to reduce", "were not": "weren't", "was not": "wasn't",
            "not significantly different": "not significantly different at all",
            "No difference": "No significant difference", "did not differ": "were not different",
        }
    )
)  # fmt: skip


@true("opener dropped")
def _opener(case: Case, _rng: random.Random) -> str | None:
    pattern = (
        r"^(?:However|Moreover|Furthermore|In conclusion|In addition|Finally|Thus|Therefore|Here"
        r"|In this study|Importantly|Interestingly|Overall|Additionally|Notably|Also), "
    )
    changed = re.sub(pattern, "", case.sentence)
    return changed[0].upper() + changed[1:] if changed != case.sentence else None


@true("subordinate clause dropped")
def _subordinate(case: Case, _rng: random.Random) -> str | None:
    changed = re.sub(
        r", (?:which|although|while|whereas|where|who)\b[^,;()]*\.$", ".", case.sentence
    )
    return changed if changed != case.sentence and len(changed) > 40 else None


@true("brackets dropped")
def _brackets(case: Case, _rng: random.Random) -> str | None:
    changed = re.sub(r"\s+\([^()]*\)(?=[\s.,;])", "", case.sentence)
    return changed if changed != case.sentence and len(changed) > 40 else None


@true("word order")
def _order(case: Case, _rng: random.Random) -> str | None:
    found = re.match(
        r"^((?:In|Among|After|During|At|For) [^,]{8,80}), ([^,;]{20,200})\.$", case.sentence
    )
    if found is None:
        return None
    head, rest = found.groups()
    return f"{rest[0].upper()}{rest[1:]} {head[0].lower()}{head[1:]}."


@true("abbreviation expanded")
def _abbreviation(case: Case, _rng: random.Random) -> str | None:
    for long, short in re.findall(r"\b([a-z]+ [a-z]+(?: [a-z]+)?) \(([A-Z]{2,5})\)", case.text):
        initials = "".join(word[0] for word in long.split()).upper()
        if initials == short and re.search(rf"(?<![(\w-]){short}(?![)\w-])", case.sentence):
            return re.sub(rf"(?<![(\w-]){short}(?![)\w-])", long, case.sentence)
    return None


@true("sides swapped, word reversed")
def _reversed(case: Case, _rng: random.Random) -> str | None:
    return swapped_sides(case.sentence, reverse=True)


@true("outcome reversed")
def _outcome(case: Case, _rng: random.Random) -> str | None:
    pairs = {
        r"\breduced mortality\b": "improved survival",
        r"\bimproved survival\b": "reduced mortality",
        r"\blower mortality\b": "higher survival", r"\bincreased mortality\b": "reduced survival",
        r"\bhigher mortality\b": "lower survival", r"\bincreased survival\b": "decreased mortality",
        r"\breduced survival\b": "increased mortality", r"\bpoor survival\b": "increased mortality",
    }  # fmt: skip
    for pattern, other in pairs.items():
        changed = re.sub(pattern, other, case.sentence)
        if changed != case.sentence:
            return changed
    return None


@true("first clause alone")
def _first_clause(case: Case, _rng: random.Random) -> str | None:
    found = re.match(r"^([^,;()]{40,160}), (?:and|but) [a-z]+ [^.]*\.$", case.sentence)
    return f"{found[1]}." if found else None


@true("that-clause of a finding")
def _that_clause(case: Case, _rng: random.Random) -> str | None:
    found = re.match(
        r"^(?:[^,;()]{0,60}\b(?:show|showed|found|find|demonstrate|demonstrated|report|reported)) "
        r"that ([^;]{30,})$",
        case.sentence,
    )
    return found[1][0].upper() + found[1][1:] if found else None


# What both kinds use

FLIPS = {
    "increased": "decreased", "increase": "decrease", "increases": "decreases",
    "decreased": "increased", "decrease": "increase", "reduced": "increased",
    "reduces": "increases",
    "reduction": "increase", "higher": "lower", "lower": "higher", "improved": "worsened",
    "improves": "worsens", "improvement": "worsening", "longer": "shorter", "shorter": "longer",
    "greater": "smaller", "superior": "inferior", "inferior": "superior", "better": "worse",
    "worse": "better", "enhanced": "suppressed", "inhibits": "promotes", "inhibited": "stimulated",
    "promotes": "inhibits", "more": "less", "fewer": "more", "elevated": "reduced",
    "beneficial": "harmful", "benefit": "harm", "favorable": "unfavorable", "positive": "negative",
    "negative": "positive", "upregulated": "downregulated", "prevents": "causes", "early": "late",
}  # fmt: skip


def swapped_sides(sentence: str, *, reverse: bool) -> str | None:
    """The sides of a comparison exchanged, and its word too if `reverse`."""
    words = "|".join(word for word in ("higher", "lower", "longer", "shorter", "greater", "better"))
    found = re.search(
        rf"\b({words}) ([a-z ]{{0,30}}?)(in|with|for|among) (?:the )?([\w -]{{3,40}}?) "
        r"(than|compared with|compared to|versus) "
        r"(?:in|with|for|among) (?:the )?([\w-]{3,40}(?: group)?)(?=[.,;(])",
        sentence,
    )
    if found is None:
        return None
    word, between, before, one, than, other = found.groups()
    said = FLIPS[word] if reverse and word in FLIPS else word
    if reverse and said == word:
        return None
    changed = f"{said} {between}{before} {other} {than} {before} {one}"
    return sentence[: found.start()] + changed + sentence[found.end() :]
