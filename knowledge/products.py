"""Drugs and tests to decide among (`products` of `vocabulary.yaml`), by all their names. Pure.

A question on one of them is not answered with what is said of another: no figure of apixaban for
dabigatran, no coverage of one laboratory's test for that of another.
"""

from collections.abc import Collection
from functools import cache, lru_cache

from knowledge.drugs import brands
from knowledge.guard_terms import drug_terms
from knowledge.loader import load
from knowledge.tags import tags
from knowledge.words import Words


@cache
def _words() -> Words:
    listed = load("vocabulary")["products"].values()
    names = {name: (name, *brands(name)) for some in listed for name in some}
    return Words(names, ordinary=())


@cache
def _decisions() -> dict[str, str]:
    return {name: tag for tag, some in load("vocabulary")["products"].items() for name in some}


def products(text: str) -> frozenset[str]:
    """Those that `text` names."""
    return frozenset(one.name for one in _words().mentions(text))


@lru_cache(maxsize=256)  # a text is that of many lines
def first_named(text: str) -> str | None:
    """The one that `text` names first."""
    return next((one.name for one in _words().mentions(text)), None)


def has_products(decision: str) -> bool:
    """Whether a decision is one among products, so that a general name for it stands for each."""
    return decision in load("vocabulary")["products"]


def are_on_others(words: str, asked: Collection[str]) -> bool:
    """Whether `words` name products to decide among with those `asked` about, and none of these."""
    if not asked:
        return False
    named = products(words)
    decisions = {_decisions()[name] for name in asked}
    return named.isdisjoint(asked) and any(_decisions()[name] in decisions for name in named)


@cache
def is_narrow(drug_class: str) -> bool:
    """Whether a class of drugs (guards/drugs.yaml) is one of several that a decision is among:
    statins are not all that lowers lipids, antibiotics nearly all that treats an infection."""
    members, shares = drug_terms().classes[drug_class].members, []
    for listed in load("vocabulary")["products"].values():
        told = sum(any(one in name.lower() for one in members) for name in listed)
        shares.append(told / len(listed))
    return 0 < max(shares) < float(load("answers")["general_class"])


def speak_to(words: str, asked: Collection[str]) -> bool:
    """Whether `words` speak to the products `asked` about: they name one, or the decision in
    general and no other of its products. Without any asked about all do."""
    if not asked or not products(words).isdisjoint(asked):
        return True
    decisions = {_decisions()[name] for name in asked}
    return not decisions.isdisjoint(tags("decisions", words)) and not are_on_others(words, asked)
