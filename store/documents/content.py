"""What words should hold of a question to speak to it. Pure."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache, cached_property

from knowledge.drugs import brands, classes_at, drugs_at, names_one
from knowledge.loader import load
from knowledge.products import has_products, is_narrow, products
from knowledge.tags import KINDS, Kind, mentions, tags, telling
from knowledge.words import lowered
from store.index.terms import term_set


@dataclass(frozen=True)
class Content:
    """What a passage or a sentence should hold of a question."""

    weights: Mapping[int, float]
    """Its terms with their idf, words of asking left out."""
    tags: Mapping[int, frozenset[str]]
    """The tags that a term is part of naming, where another name of the tag is as good: diseases,
    and decisions by a general name. Who asks about anticoagulation is told by a passage on
    apixaban; who asks about warfarin is not."""
    kinds: tuple[Kind, ...] = KINDS
    """Which kinds of tags these are: of others it does not matter what words name."""
    alike: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """The terms that stand for one of its own: brands of a drug, "pregnant" for "pregnancy"."""
    classes: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """The classes of drugs that a term is part of naming, where each of their drugs is as good, and
    no other one of the decision is: GLP-1 agonists are not told of by what lowers glucose."""

    @cached_property
    def total(self) -> float:
        """The weight of all its terms."""
        return math.fsum(self.weights.values())

    @cached_property
    def _terms(self) -> frozenset[int]:
        return frozenset(self.weights)

    @cached_property
    def _telling(self) -> Mapping[int, tuple[str, ...]]:
        """Of a term with tags, what stands in all words that name one of them."""
        return {
            term: tuple(one for kind in self.kinds for one in telling(kind, names))
            for term, names in self.tags.items()
        }

    def held(self, words: str) -> frozenset[int]:
        """The terms of its own that `words` have, or have another name for."""
        return self._with_other_names(term_set(words), words) & self._terms

    def _with_other_names(self, own: frozenset[int], words: str) -> frozenset[int]:
        if self.alike:
            same = [term for term, others in self.alike.items() if not others.isdisjoint(own)]
            own = own.union(same)
        if self.classes:
            own = own.union(
                term for term, classes in self.classes.items() if names_one(words, NONE_OF, classes)
            )
        lacking = self.tags.keys() - own
        if not lacking or not self._may_be_named(lacking, lowered(words)):
            return own
        named = {name for kind in self.kinds for name in tags(kind, words)}
        return own.union(term for term in lacking if not self.tags[term].isdisjoint(named))

    def _may_be_named(self, lacking: Iterable[int], lower: str) -> bool:
        for term in lacking:
            for one in self._telling[term]:
                if one in lower:
                    return True
        return False

    def covered(self, own: frozenset[int], words: str, source_type: str) -> float:
        """The share of the weight that a passage holds, 0..1.

        Args:
            own: those of its terms that are in question.
            words: the passage with its title and heading.
            source_type: a document answers what its kind is called by being one (`kind_words`).
        """
        named = self._with_other_names(own, words)
        return self.coverage(named | kind_terms(source_type))

    def coverage(self, found: AbstractSet[int]) -> float:
        """The share of its weight that these terms hold, 0..1."""
        if self.total <= 0:
            return 0.0
        # Exact sums are the same to the last bit in whatever order the terms come.
        held = [weight for term, weight in self.weights.items() if term in found]
        return math.fsum(held) / self.total


def content_terms(question: str) -> frozenset[int]:
    """The terms of a question without its words of asking; all, if it has no others."""
    asked = term_set(question)
    return asked - term_set(" ".join(load("questions")["asking_words"])) or asked


def content(question: str, weighted: Mapping[int, float]) -> Content:
    """What `question` asks words to hold.

    Args:
        weighted: the idf of `terms_of_interest`; what is known by a commoner name tells as little
            as that does.
    """
    tagged: dict[int, frozenset[str]] = {}
    kinds: list[Kind] = []
    narrow = [one for one in classes_at(question) if is_narrow(one.name)]
    for kind in KINDS:
        for mention in mentions(kind, question, typed=True):
            words = question[mention.start : mention.end]
            if any(one.start < mention.end and mention.start < one.end for one in narrow):
                continue
            if kind == "diseases" or (has_products(mention.name) and not products(words)):
                kinds += [kind] if kind not in kinds else []
                for term in term_set(words):
                    tagged[term] = tagged.get(term, frozenset()) | {mention.name}
    kept = content_terms(question)
    same = alike(question)
    weights = {
        term: min([weighted[one] for one in (term, *same.get(term, ())) if one in weighted])
        for term in kept
    }
    classes = {
        term: frozenset({one.name})
        for one in narrow
        for term in term_set(question[one.start : one.end])
    }
    return Content(weights, tagged, tuple(kinds), same, classes)


def terms_of_interest(question: str) -> frozenset[int]:
    """The terms of a question, and those that are as good as one of them."""
    return term_set(question).union(*alike(question).values())


def alike(question: str) -> Mapping[int, frozenset[int]]:
    """The terms of a question for which others are as good: names of the drugs that it names,
    `same_words` and `same_phrases`."""
    found: dict[int, frozenset[int]] = {}

    def add(group: frozenset[int]) -> None:
        for term in group & asked:
            found[term] = found.get(term, frozenset()) | group - {term}

    asked = term_set(question)
    for one in drugs_at(question):
        written = question[one.start : one.end]
        add(_single(written, one.name, *brands(one.name)) if len(term_set(written)) == 1 else NONE)
    for group in _same_words():
        add(group)
    for phrase, groups in _same_phrases():
        if phrase.search(question):
            for group in groups:
                add(group)
    return found


NONE = frozenset[int]()
NONE_OF = frozenset[str]()


def _single(*words: str) -> frozenset[int]:
    """The terms of those that are one: a name of several words is not told by one of them."""
    return NONE.union(*(one for one in map(term_set, words) if len(one) == 1))


@cache
def _same_words() -> Sequence[frozenset[int]]:
    return [_single(*words) for words in load("answers")["same_words"]]


@cache
def _same_phrases() -> Sequence[tuple[re.Pattern[str], Sequence[frozenset[int]]]]:
    return [
        (re.compile(one["asked"], re.IGNORECASE), [_single(*words) for words in one["words"]])
        for one in load("answers")["same_phrases"]
    ]


def share(asked: Iterable[Content], words: str) -> float:
    """The share of the part of a question that `words` hold most of, 0..1."""
    return max((one.coverage(one.held(words)) for one in asked), default=0.0)


@cache
def kind_terms(source_type: str) -> frozenset[int]:
    """The terms that a document of this kind of source answers by being one (`kind_words`)."""
    return term_set(" ".join(load("questions")["kind_words"].get(source_type, ())))
