"""The words of `knowledge/lexicon/assertion.yaml`, indexed once per process."""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntFlag, auto
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from clinical_text.assertion.marks import Assertion
from clinical_text.sentences.tokens import tokens
from knowledge.loader import Policy, load

Phrase = Annotated[str, StringConstraints(min_length=1, to_lower=True)]
Side = Literal["before", "after", "either"]
Scope = Literal["noun", "predicate", "phrase", "clause", "condition", "next"]
Answer = Literal["no", "yes", "unknown"]
Trie = dict[str, Any]
LEAF = ""
"""Key of a trie under which what a phrase means stands."""


class Word(IntFlag):
    """What a word does in a sentence."""

    NONE = 0
    END = auto()
    VERB = auto()
    PRONOUN = auto()
    AUXILIARY = auto()
    BE = auto()
    PREPOSITION = auto()
    LISTING = auto()
    CARRIER = auto()
    RELATION = auto()
    CARRYING = auto()
    EXISTENTIAL = auto()
    LIGHT = auto()
    PERSONS = auto()
    TREATING = auto()


class Triggers(Policy):
    """Phrases that mean the same and reach alike."""

    means: Assertion
    side: Side
    scope: Scope
    source: Literal["negex", "context", "bioscope", "ours"]
    words: tuple[Phrase, ...]


class Grammar(Policy):
    """Words that end, join or carry a scope; the file says what each list does."""

    ends: frozenset[Phrase]
    verbs: frozenset[Phrase]
    pronouns: frozenset[Phrase]
    auxiliaries: frozenset[Phrase]
    be: frozenset[Phrase]
    prepositions: frozenset[Phrase]
    listing: frozenset[Phrase]
    carriers: frozenset[Phrase]
    relations: frozenset[Phrase]
    carrying: frozenset[Phrase]
    existential: frozenset[Phrase]
    light: frozenset[Phrase]
    persons: frozenset[Phrase]
    treating: frozenset[Phrase]
    holding: Mapping[Phrase, Phrase]
    asking: frozenset[Phrase]


class Lexicon(Policy):
    """`knowledge/lexicon/assertion.yaml`."""

    version: int
    triggers: tuple[Triggers, ...]
    relatives: frozenset[Phrase]
    informing: frozenset[Phrase]
    beside: frozenset[Phrase]
    nothing: tuple[Phrase, ...]
    answers: Mapping[Answer, tuple[Phrase, ...]]
    around: frozenset[Phrase]
    headings: Mapping[Assertion, tuple[Phrase, ...]]
    grammar: Annotated[Grammar, Field(repr=False)]

    @cached_property
    def trigger_trie(self) -> Trie:
        """Word by word to `Triggers`, to None for what is no trigger."""
        pairs = [(word, group) for group in self.triggers for word in group.words]
        return trie([*pairs, *((word, None) for word in self.nothing)])

    @cached_property
    def _denials(self) -> frozenset[str]:
        groups = (one for one in self.triggers if one.means is Assertion.NEGATED)
        return frozenset(word for one in groups for word in one.words)

    def denies(self, word: str) -> bool:
        """Whether a word alone denies something; apostrophes must be in their folded form."""
        word = word.lower()
        return word in self._denials or word.endswith("n't") or word == "cannot"

    @cached_property
    def _told_by(self) -> frozenset[str]:
        """A word of each phrase that denies, the longest."""
        phrases = (*self._denials, *self.grammar.holding)
        return frozenset(max(words_of(one), key=len) for one in phrases)

    def may_deny(self, words: Iterable[str]) -> bool:
        """Whether a sentence of these tokens, without a label or a title, can deny anything."""
        return any(
            word in self._told_by or word.endswith("n't") or word == "cannot" for word in words
        )

    @cached_property
    def answer_trie(self) -> Trie:
        """Word by word to the answer."""
        return trie((word, name) for name, words in self.answers.items() for word in words)

    @cached_property
    def heading_of(self) -> Mapping[str, Assertion]:
        """The `plain` name of a section to what it says of what stands in it."""
        return {plain(name): means for means, names in self.headings.items() for name in names}

    @cached_property
    def word_classes(self) -> Mapping[str, Word]:
        """What each word of the grammar does."""
        grammar, found = self.grammar, dict[str, Word]()
        for words, flag in (
            (grammar.ends, Word.END),
            (grammar.verbs, Word.VERB),
            (grammar.pronouns, Word.PRONOUN),
            (grammar.auxiliaries, Word.AUXILIARY),
            (grammar.be, Word.BE),
            (grammar.prepositions, Word.PREPOSITION),
            (grammar.listing, Word.LISTING),
            (grammar.carriers, Word.CARRIER),
            (grammar.relations, Word.RELATION),
            (grammar.carrying, Word.CARRYING),
            (grammar.existential, Word.EXISTENTIAL),
            (grammar.light, Word.LIGHT),
            (grammar.persons, Word.PERSONS),
            (grammar.treating, Word.TREATING),
        ):
            for word in words:
                found[word] = found.get(word, Word.NONE) | flag
        return found


def trie(phrases: Iterable[tuple[str, Any]]) -> Trie:
    """Phrases word by word; the first meaning of a phrase counts."""
    root: Trie = {}
    for phrase, meaning in phrases:
        node = root
        for word in words_of(phrase):
            node = node.setdefault(word, {})
        node.setdefault(LEAF, meaning)
    return root


def longest(root: Trie, words: Sequence[str], at: int) -> tuple[int, Any]:
    """How many words from `at` on the longest phrase has, and what it means; 0 for none."""
    node, length, meaning = root, 0, None
    for index in range(at, len(words)):
        following = node.get(words[index])
        if following is None:
            break
        node = following
        if LEAF in node:
            length, meaning = index - at + 1, node[LEAF]
    return length, meaning


def plain(title: str) -> str:
    """A title by its letters alone: "PAST MEDICAL HX:" is "pastmedicalhx"."""
    return "".join(filter(str.isalpha, title.lower()))


def words_of(phrase: str) -> list[str]:
    """The words of a phrase, as `clinical_text.assertion.sentence` has them."""
    return [token.word for token in tokens(phrase, 0, len(phrase)) if token.word != "-"]


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lexicon shipped with the product.

    Raises ValidationError when the file was edited into something invalid.
    """
    return Lexicon.model_validate(load("lexicon/assertion"))
