"""Light paraphrases that stay true, of the kinds a careful language model writes. By rule and seed.

Each takes a `Subject` and gives a text and its quotation, or None where it does not apply. Only
what cannot change the meaning is done: words of reporting, connectors, writings of a value, the
order of a leading phrase, what stands in brackets.
"""

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.fakes.lies import Subject, put
from tests.fakes.lies_of_keys import with_pmid


@dataclass(frozen=True)
class Truth:
    """A claim that its quotation bears out."""

    text: str
    quote: str


Maker = Callable[[Subject, random.Random], Truth | None]
Edit = Callable[[str, random.Random], str | None]
VERBATIM = "verbatim"
PARAPHRASES: dict[str, Maker] = {}


def kind(name: str) -> Callable[[Edit], Edit]:
    """Register an edit of a sentence, whose quotation is the sentence."""

    def register(edit: Edit) -> Edit:
        def maker(subject: Subject, rng: random.Random) -> Truth | None:
            text = edit(subject.sentence, rng)
            if text is None or text == subject.sentence:
                return None
            return Truth(text, subject.sentence)

        PARAPHRASES[name] = maker
        return edit

    return register


def swaps(name: str, pairs: Mapping[str, str]) -> None:
    """Register the exchange of one word for one of the same meaning."""
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, pairs))})(?:(?<=\s)|(?![\w-]))")

    def edit(sentence: str, rng: random.Random) -> str | None:
        found = list(pattern.finditer(sentence))
        if not found:
            return None
        chosen = rng.choice(found)
        return put(sentence, chosen.span(), pairs[chosen[0]])

    kind(name)(edit)


def lowered(sentence: str) -> str:
    """The sentence as it goes on after a lead-in."""
    word = re.split(r"[\s,]", sentence, maxsplit=1)[0]
    known = word in _FIRST_WORDS
    return sentence[0].lower() + sentence[1:] if known else sentence


_FIRST_WORDS = {
    "The",
    "A",
    "An",
    "In",
    "We",
    "This",
    "These",
    "Our",
    "There",
    "Both",
    "All",
    "Among",
    "After",
    "During",
    "At",
    "For",
    "No",
    "Patients",
    "Overall",
    "It",
    "Median",
    "Mean",
    "Most",
    "Although",
    "When",
    "To",
    "As",
    "Of",
    "Two",
    "Three",
    "Compared",
    "Treatment",
    "Results",
    "Women",
    "Men",
}

swaps(
    "reporting words",
    {
        "showed": "demonstrated", "demonstrated": "showed", "was observed": "was seen",
        "were observed": "were seen", "revealed": "showed", "we found": "the authors found",
        "We found": "The authors found", "identified": "found", "reported": "described",
    },
)  # fmt: skip
swaps(
    "connectors",
    {
        "compared with": "versus", "compared to": "compared with", "versus": "compared with",
        "vs ": "versus ", "vs. ": "versus ", "in comparison with": "compared with",
        "due to": "because of",
    },
)  # fmt: skip
swaps(
    "synonyms",
    {
        "associated with": "linked to", "tumor": "tumour", "tumors": "tumours",
        "randomized": "randomised", "approximately": "about", "prior to": "before",
        "performed": "carried out", "subjects": "participants", "enrolled": "included",
        "women": "females", "renal": "kidney", "mortality": "death",
    },
)  # fmt: skip
swaps(
    "direction synonyms",
    {
        "reduced": "decreased", "decreased": "reduced", "higher": "greater", "greater": "higher",
        "reduction": "decrease", "elevated": "increased", "similar": "comparable",
        "enhanced": "increased", "increases": "raises", "lowered": "reduced",
    },
)  # fmt: skip
swaps(
    "contractions and spellings",
    {
        "did not": "didn't", "was not": "wasn't", "were not": "weren't", "does not": "doesn't",
        "is not": "isn't", "cannot": "can not", "analyzed": "analysed", "center": "centre",
    },
)  # fmt: skip
swaps("hedges", {"may": "might", "might": "may", "suggest that": "indicate that", "could": "might"})


@kind("lead-in")
def _lead_in(sentence: str, rng: random.Random) -> str | None:
    if sentence.startswith(("We ", "Here", "Our ")):
        return None
    lead = ("The study found that", "The authors report that", "According to the source,")
    return f"{rng.choice(lead)} {lowered(sentence)}"


@kind("opening word dropped")
def _opener(sentence: str, _: random.Random) -> str | None:
    words = (
        "However|Moreover|Furthermore|In conclusion|In addition|Finally|Thus|Therefore|Here|Overall"
        "|Importantly|Interestingly|Additionally|Notably|Together|Conversely|Taken together"
    )
    changed = re.sub(rf"^(?:{words}), (?!we\b)", "", sentence)
    return changed[0].upper() + changed[1:] if changed != sentence else None


@kind("brackets dropped")
def _brackets(sentence: str, _: random.Random) -> str | None:
    changed = re.sub(r"\s+\([^()]*\)(?=[\s.,;])", "", sentence)
    return changed if changed != sentence and len(changed) > 50 else None


@kind("leading phrase moved")
def _moved(sentence: str, _: random.Random) -> str | None:
    found = re.match(
        r"^((?:In|Among|After|During|At|For) [^,;()]{8,70}), ((?:the|we|there) [^,;:]{20,200})\.$",
        sentence,
    )
    if found is None:
        return None
    return f"{found[2][0].upper()}{found[2][1:]} {found[1][0].lower()}{found[1][1:]}."


@kind("finding without its frame")
def _unframed(sentence: str, _: random.Random) -> str | None:
    found = re.match(
        r"^(?:We|Here,? we|Our (?:results|data|findings|study)|These (?:results|data|findings)|The "
        r"(?:results|study)) (?:also )?(?:show|showed|found|find|demonstrate|demonstrated|report"
        r"|reported|reveal|revealed)(?: here)? that ([^;]{30,})$",
        sentence,
    )
    return found[1][0].upper() + found[1][1:] if found else None


@kind("first of two clauses")
def _clause(sentence: str, _: random.Random) -> str | None:
    head, found, _rest = sentence.partition("; ")
    whole = found and len(head) > 60 and head.count("(") == head.count(")")
    return f"{head}." if whole and not re.search(r"(?i)respectively|whether|either", head) else None


@kind("values written otherwise")
def _written(sentence: str, rng: random.Random) -> str | None:
    changes = (
        (r"(?<=\d)%(?=[\s,.;)])(?! CI)", " percent"),
        (r"(?<=\d) %(?=[\s,.;)])", "%"),
        (r"\bP ?< ?(?=0?\.\d)", "p < "),
        (r"\bhazard ratio \[HR\]", "HR"),
        (r"(?<=\d) years of age\b", " years old"),
        (r"(?<=\d)-year\b(?= [a-z])", " year"),
    )
    options = [one for one in (re.sub(*change, sentence) for change in changes) if one != sentence]
    return rng.choice(options) if options else None


@kind("quoted in marks")
def _marked(sentence: str, rng: random.Random) -> str | None:
    if any(mark in sentence for mark in '"“”'):
        return None
    lead = rng.choice(("The authors write:", "In the words of the source:"))
    return f"{lead} “{sentence}”"


def _two(subject: Subject, _: random.Random) -> Truth | None:
    if not subject.following:
        return None
    both = subject.sentence + subject.following
    return Truth(" ".join(both.split()), both) if len(both) < 550 else None


def _own_number(subject: Subject, rng: random.Random) -> Truth | None:
    number = subject.source.identifiers.get("pmid")
    if not number:
        return None
    return Truth(with_pmid(subject.sentence, number, rng), subject.sentence)


def verbatim(subject: Subject, _: random.Random) -> Truth:
    """The sentence itself."""
    return Truth(subject.sentence, subject.sentence)


PARAPHRASES["two sentences"] = _two
PARAPHRASES["its own PMID named"] = _own_number
