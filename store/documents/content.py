"""How much of a question a passage or a sentence covers. Pure."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache, cached_property

from knowledge.loader import load
from knowledge.matching.words import lowered
from knowledge.names.forms import forms
from knowledge.names.reading import names
from knowledge.subjects.drugs import brands, classes_at, drugs_at, names_one
from knowledge.subjects.products import has_products, is_narrow, products
from knowledge.subjects.tags import KINDS, Kind, mentions, tags, telling
from store.index.terms import term_set


@dataclass(frozen=True)
class Content:
    """The terms of a question that a passage or a sentence should have."""

    weights: Mapping[int, float]
    """Its terms with their idf, without words of asking."""
    tags: Mapping[int, frozenset[str]]
    """For a term that is part of a tag's name, the tags of which another name is as good: diseases,
    and decisions under a general name. A passage on apixaban covers a question about
    anticoagulation, but not one about warfarin."""
    kinds: tuple[Kind, ...] = KINDS
    """The kinds of these tags; tags of other kinds do not matter."""
    alike: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Per term, the terms that stand for it: brands of a drug, "pregnant" for "pregnancy"."""
    classes: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """For a term in a drug class's name, the classes. Each drug of the class is as good, but
    no other drug of the decision is: one that lowers glucose does not stand for GLP-1 agonists."""
    short: Sequence[tuple[re.Pattern[str], frozenset[int]]] = ()
    """The short forms of names of several words, and the terms that these stand for: ALS."""

    @cached_property
    def total(self) -> float:
        """The total weight of its terms."""
        return math.fsum(self.weights.values())

    @cached_property
    def _terms(self) -> frozenset[int]:
        return frozenset(self.weights)

    @cached_property
    def _telling(self) -> Mapping[int, tuple[str, ...]]:
        """Per term with tags, strings of which one occurs in any text that names such a tag."""
        return {
            term: tuple(marker for kind in self.kinds for marker in telling(kind, names))
            for term, names in self.tags.items()
        }

    def held(self, words: str) -> frozenset[int]:
        """Its own terms that `words` have, or have another name for."""
        return self._with_other_names(term_set(words), words) & self._terms

    def _with_other_names(self, own: frozenset[int], words: str) -> frozenset[int]:
        if self.alike:
            same = [term for term, others in self.alike.items() if not others.isdisjoint(own)]
            own = own.union(same)
        if self.classes:
            own = own.union(
                term for term, classes in self.classes.items() if names_one(words, NONE_OF, classes)
            )
        for short, terms in self.short:
            if not terms <= own and short.search(words):
                own = own.union(terms)
        lacking = self.tags.keys() - own
        if not lacking or not self._may_be_named(lacking, lowered(words)):
            return own
        named = {name for kind in self.kinds for name in tags(kind, words)}
        return own.union(term for term in lacking if not self.tags[term].isdisjoint(named))

    def _may_be_named(self, lacking: Iterable[int], lower: str) -> bool:
        for term in lacking:
            for marker in self._telling[term]:
                if marker in lower:
                    return True
        return False

    def covered(self, own: frozenset[int], words: str, source_type: str) -> float:
        """The share of the weight that a passage covers, 0..1.

        Args:
            own: the terms of the passage that are in question.
            words: the passage with its title and heading.
            source_type: a document answers the name of its own kind (`kind_words`).
        """
        named = self._with_other_names(own, words)
        return self.coverage(named | kind_terms(source_type))

    def coverage(self, found: AbstractSet[int]) -> float:
        """The share of its weight that these terms make up, 0..1."""
        if self.total <= 0:
            return 0.0
        # Exact sums are the same to the last bit, whatever the order of the terms.
        held = [weight for term, weight in self.weights.items() if term in found]
        return math.fsum(held) / self.total


def content_terms(question: str) -> frozenset[int]:
    """The terms of a question without its words of asking; all terms if it has no others."""
    terms = term_set(question)
    return terms - term_set(" ".join(load("questions/questions")["asking_words"])) or terms


def content(question: str, weighted: Mapping[int, float]) -> Content:
    """The content that an answer to `question` should have.

    Args:
        weighted: the idf of `terms_of_interest`; a term with a commoner name weighs as little as
            that name.
    """
    tagged: dict[int, frozenset[str]] = {}
    kinds: list[Kind] = []
    narrow = [match for match in classes_at(question) if is_narrow(match.name)]
    for kind in KINDS:
        for mention in mentions(kind, question, typed=True):
            words = question[mention.start : mention.end]
            if any(match.start < mention.end and mention.start < match.end for match in narrow):
                continue
            if kind == "diseases" or (has_products(mention.name) and not products(words)):
                kinds += [kind] if kind not in kinds else []
                for term in term_set(words):
                    tagged[term] = tagged.get(term, frozenset()) | {mention.name}
    kept = content_terms(question)
    same = alike(question)
    weights = {
        term: min([weighted[match] for match in (term, *same.get(term, ())) if match in weighted])
        for term in kept
    }
    classes = {
        term: frozenset({match.name})
        for match in narrow
        for term in term_set(question[match.start : match.end])
    }
    return Content(weights, tagged, tuple(kinds), same, classes, tuple(_short_forms(question)))


def _short_forms(question: str) -> Iterator[tuple[re.Pattern[str], frozenset[int]]]:
    """The short forms of the names of several words that the tables know, with their terms."""
    for one in names(question, typed=True):
        terms = term_set(question[one.start : one.end])
        if one.known and len(terms) > 1:
            short = forms(question[one.start : one.end]).written
            if short is not None:
                yield short, terms


def terms_of_interest(question: str) -> frozenset[int]:
    """The terms of a question and their equivalents."""
    return term_set(question).union(*alike(question).values())


def alike(question: str) -> Mapping[int, frozenset[int]]:
    """The equivalents of each term of a question: other names of its drugs, `same_words` and
    `same_phrases`."""
    equivalents: dict[int, frozenset[int]] = {}

    def add(group: frozenset[int]) -> None:
        for term in group & terms:
            equivalents[term] = equivalents.get(term, frozenset()) | group - {term}

    terms = term_set(question)
    for drug in drugs_at(question):
        written = question[drug.start : drug.end]
        add(
            _single(written, drug.name, *brands(drug.name)) if len(term_set(written)) == 1 else NONE
        )
    for group in _same_words():
        add(group)
    for phrase, groups in _same_phrases():
        if phrase.search(question):
            for group in groups:
                add(group)
    return equivalents


NONE = frozenset[int]()
NONE_OF = frozenset[str]()


def _single(*words: str) -> frozenset[int]:
    """The terms of the words that are one term each: one word does not match a longer name."""
    return NONE.union(*(terms for terms in map(term_set, words) if len(terms) == 1))


@cache
def _same_words() -> Sequence[frozenset[int]]:
    return [_single(*words) for words in load("questions/answers")["same_words"]]


@cache
def _same_phrases() -> Sequence[tuple[re.Pattern[str], Sequence[frozenset[int]]]]:
    return [
        (re.compile(rule["asked"], re.IGNORECASE), [_single(*words) for words in rule["words"]])
        for rule in load("questions/answers")["same_phrases"]
    ]


def share(asked: Iterable[Content], words: str) -> float:
    """The coverage of the part of a question that `words` cover best, 0..1."""
    return max((part.coverage(part.held(words)) for part in asked), default=0.0)


@cache
def kind_terms(source_type: str) -> frozenset[int]:
    """The terms that a document answers by being of this kind of source (`kind_words`)."""
    return term_set(" ".join(load("questions/questions")["kind_words"].get(source_type, ())))
