"""The readers of verifying, drafting, retrieving and anchoring, each as a function of a text.

What reads two texts is tried with the text on each side.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from clinical_text.names import forms
from clinical_text.structure import segment
from knowledge.loader import load
from store.core.spans import Span
from workers.anchor.signals import anchors, score
from workers.generate import facets, wording
from workers.generate.findings import finding
from workers.generate.illness import stages
from workers.generate.restrictions import ranges
from workers.generate.selector import selector
from workers.generate.subjects import trials_called
from workers.retrieve.understanding.read import names, understand
from workers.verify.conflicts.found import contradictions
from workers.verify.conflicts.types import Witness
from workers.verify.doubts import doubts
from workers.verify.entailment.passages import sentences
from workers.verify.guards.grounds import Grounds
from workers.verify.hard_facts import hard_facts
from workers.verify.lead.proposition import sides
from workers.verify.lead.stance import asking
from workers.verify.passages.marks import quotations
from workers.verify.pasted.report import checked
from workers.verify.pasted.sources import sent_along
from workers.verify.pasted.statements import TooLong, statements

_CLAIM = "The drug reduced mortality in patients with stroke (HR 0.5, 95% CI 0.3 to 0.8)."
_PASSAGE = "The drug reduced mortality in 138 patients (HR 0.5, 95% CI 0.3 to 0.8; 12% vs. 13%)."
_ASKED = "Does the drug reduce mortality in stroke?"
_AT = datetime(2026, 1, 1, tzinfo=UTC)
_MOST_OF_A_QUESTION = 4000
_MOST_OF_A_DOCUMENT = 1000
"""Each statement is compared with each sentence of its sources. Where both grow, their product
does, up to what `compared_*` of knowledge/answering/verifying.yaml allow
(`pasted/test_bounds.py`)."""


def pasted(text: str, document: str) -> object:
    """All that a pasted text goes through, with a document sent along; why not, if it is not."""
    try:
        found = statements(text)
        sources = sent_along([{"title": "A drug in stroke", "text": document}], found)
    except TooLong as error:
        return str(error)
    return checked(text, found, sources, against="documents", at=_AT)


def _guards(claim: str, passage: str) -> object:
    grounds = Grounds(passage, "A drug in stroke", f"{passage} {_PASSAGE}", "", {}, {})
    return hard_facts(claim, grounds), doubts(claim, grounds)


def _conflicts(text: str) -> object:
    spans = segment(text).sentences
    witnesses = [
        Witness(f"E{n}", f"d{n}", f"v{n}", "A drug", words, parts, (), "pubmed")
        for n, (words, parts) in enumerate(((text, spans), (_CLAIM, [Span(0, len(_CLAIM))])))
    ]
    return contradictions(witnesses, "Does the drug reduce mortality?")


def _drafting(sentence: str) -> object:
    told = (wording.is_whole(sentence), wording.leans(sentence), wording.takes_side(sentence))
    own = [facets.rank(name, sentence) for name in load("questions/answers")["facets"]]
    return told, own, finding(sentence), stages(sentence), facets.compares_arms(sentence)


READERS: Mapping[str, Callable[[str], object]] = {
    "a pasted text": lambda text: pasted(f"{_CLAIM} {text}", _PASSAGE),
    "a document beside a pasted text": lambda text: pasted(_CLAIM, f"{_PASSAGE} {text}"),
    "a pasted text and its document": lambda text: pasted(text, text[:_MOST_OF_A_DOCUMENT]),
    "facts and doubts, of a claim": lambda text: _guards(f"{_CLAIM} {text}", _PASSAGE),
    "facts and doubts, of a passage": lambda text: _guards(_CLAIM, f"{_PASSAGE} {text}"),
    "sides of a claim": lambda text: sides(_ASKED, f"{_CLAIM} {text}"),
    "sides on a question": lambda text: sides(f"{text} {_ASKED}", _CLAIM),
    "the quotations of a text": quotations,
    "the verifier's sentences": sentences,
    "conflicts": _conflicts,
    "a drafted sentence": _drafting,
    "a question": lambda text: understand(f"Does {text[:_MOST_OF_A_QUESTION]} reduce mortality?"),
    "names in a question": lambda text: (names(text), trials_called(text)),
    "the forms of a name": lambda text: forms("Hodgkin lymphoma").stand_in(text),
    "ranges of ages and of kidney function": lambda text: (
        ranges("age", text),
        ranges("kidney_function", text),
    ),
    "the sentence of a question that asks": asking,
    "a sentence, its title and its text for a question": lambda text: selector().scores(
        text[:_MOST_OF_A_QUESTION], [(text, text, text)]
    ),
    "an anchor": score,
    "the anchors of a text": lambda text: anchors(text, segment(text)),
}
