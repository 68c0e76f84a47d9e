"""Whether what a claim says of one thing is what its passage says of another. Pure."""

from collections.abc import Iterable, Set

from knowledge.guards.guard_terms import arm_terms
from workers.verify.guards.lexing import tokens

_OVERALL = ("survival", "response")
_ROMAN = frozenset({"i", "ii", "iii", "iv", "iia", "iib", "iiia", "iiib"})


def telling_words(text: str) -> frozenset[str]:
    """The stems of those words of a folded text that can tell one thing from another.

    A number or letter counts only as the label of what stands before it ("group 2", "arm B").
    """
    empty = arm_terms().empty
    labelled = arm_terms().labelled
    found: set[str] = set()
    before = ""
    words = tokens(text)
    for at, word in enumerate(words):
        lower = word.lower
        is_label = word.text[0].isdigit() or (len(word.text) == 1 and word.text.isupper())
        if before in labelled and (is_label or lower in _ROMAN):
            found.add(f"{before} {lower}")
        elif before == "non":
            found.add(f"non {word.stem}")
        elif lower == "overall" and words[at + 1 : at + 2] and words[at + 1].lower in _OVERALL:
            found.add(lower)  # "overall survival" is a name
        elif not is_label and lower != "non" and not empty & {word.stem, lower}:
            found.add(word.stem)
        before = word.stem
    return frozenset(found)


def crossed(said: Set[str], own: Iterable[Set[str]], rivals: Iterable[Set[str]]) -> bool:
    """Whether words `said` of a thing are rather those that the passage says of a rival.

    `own` are the sets of words at the places where the passage has the thing, `rivals` those where
    it has another. Words that both have tell nothing. One own place that fits is enough.
    """
    places, others = list(own), list(rivals)
    return bool(places) and not any(
        all(len(said & (other - place)) <= len(said & (place - other)) for other in others)
        for place in places
    )
