"""Drugs and tests that a decision chooses among (`products` of `vocabulary.yaml`). Pure.

A question on one of them is not answered with statements on another: no figure of apixaban for
dabigatran, no coverage of one laboratory's test for that of another.
"""

from collections.abc import Collection
from functools import cache, lru_cache

from knowledge.guards.guard_terms import drug_terms
from knowledge.loader import load
from knowledge.matching.words import Words
from knowledge.subjects.drugs import brands
from knowledge.subjects.tags import tags


@cache
def _words() -> Words:
    listed = load("subjects/vocabulary")["products"].values()
    names = {name: (name, *brands(name)) for some in listed for name in some}
    return Words(names, ordinary=())


@cache
def _decisions() -> dict[str, str]:
    return {
        name: tag for tag, some in load("subjects/vocabulary")["products"].items() for name in some
    }


def products(text: str) -> frozenset[str]:
    """The products that `text` names, by any of their names."""
    return frozenset(mention.name for mention in _words().mentions(text))


@lru_cache(maxsize=256)  # many lines share a text
def first_named(text: str) -> str | None:
    """The product that `text` names first; None if it names none."""
    return next((mention.name for mention in _words().mentions(text)), None)


def has_products(decision: str) -> bool:
    """True if a decision chooses among products; then its general name stands for each of them."""
    return decision in load("subjects/vocabulary")["products"]


def are_on_others(words: str, asked: Collection[str]) -> bool:
    """True if `words` name other products of the decisions `asked` about, but none of `asked`."""
    if not asked:
        return False
    named = products(words)
    decisions = {_decisions()[name] for name in asked}
    return named.isdisjoint(asked) and any(_decisions()[name] in decisions for name in named)


@cache
def is_narrow(drug_class: str) -> bool:
    """True if a class of drugs (guards/drugs.yaml) is one of several that a decision chooses among:
    not only statins lower lipids, but nearly all drugs for infections are antibiotics."""
    members, shares = drug_terms().classes[drug_class].members, []
    for listed in load("subjects/vocabulary")["products"].values():
        members_listed = sum(any(member in name.lower() for member in members) for name in listed)
        shares.append(members_listed / len(listed))
    return 0 < max(shares) < float(load("questions/answers")["general_class"])


def speak_to(words: str, asked: Collection[str]) -> bool:
    """True if `words` are about the products `asked`: they name one of them, or the decision in
    general and no other of its products. Always True if `asked` is empty."""
    if not asked or not products(words).isdisjoint(asked):
        return True
    decisions = {_decisions()[name] for name in asked}
    return not decisions.isdisjoint(tags("decisions", words)) and not are_on_others(words, asked)
