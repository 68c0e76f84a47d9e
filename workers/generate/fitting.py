"""Which works a question can be answered from: those that have what it names, by any name. Pure.

Another drug, another form of a disease, another target is no answer (DESIGN section 9), however
near its words are.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from clinical_text.names import forms
from contracts.retrieval import Asked
from knowledge.subjects.breadth import meets
from knowledge.subjects.drugs import drugs
from knowledge.subjects.naming import tests_named
from knowledge.subjects.products import speak_to
from knowledge.subjects.tags import mentions, tags
from workers.generate.candidates import Candidate


class Fitting(NamedTuple):
    """The candidates of the works that may answer, and what none of them has."""

    candidates: Sequence[Candidate]
    missing: tuple[str, ...]
    """Names that no work has; all of them where each has one, and none has them together."""


def fitting(candidates: Sequence[Candidate], asked: Asked | None) -> Fitting:
    """The candidates that stand in a work with all of the names, or nothing but what is missing.

    Where no work has all, those are taken that lack only the name of a disease that they are on
    under another name, or one of two drugs to choose from; the answer says so.

    Args:
        asked: None for a question of an earlier release.
    """
    required = asked.required if asked else ()
    works = {
        one.evidence_id: "\n".join(
            (one.title, one.named, one.publisher, one.source_type, one.whole)
        )
        for one in candidates
    }
    held = {key: _held(required, text) for key, text in works.items()}
    whole = {key for key, names in held.items() if len(names) == len(required)}
    if not whole and held:
        either = frozenset(asked.either if asked else ())
        lacking = {
            key: set(required) - names - (either if either & names else frozenset())
            for key, names in held.items()
        }
        whole = {key for key, names in lacking.items() if _goes_by_tags(works[key], names)}
    if whole or not held:
        return Fitting([one for one in candidates if one.evidence_id in whole], ())
    return Fitting((), _missing(required, held))


def _held(required: Iterable[str], text: str) -> frozenset[str]:
    return frozenset(
        one for one in required if forms(one).stand_in(text) or _is_told_by_tag(one, text)
    )


def _is_told_by_tag(name: str, text: str) -> bool:
    """Whether a text is on what a general name of the vocabulary takes in: a disease by the name of
    its tag, a decision, a test by its kind; never a drug."""
    if tested := tests_named(name):
        return speak_to(text, tested)
    if drugs(name):
        return False
    named = [one for one in tags("diseases", name) if one.replace("_", " ") == name.lower()]
    if named and meets(tags("diseases", text), named):
        return True
    return not set(tags("decisions", name)).isdisjoint(tags("decisions", text))


def _goes_by_tags(text: str, lacking: Iterable[str]) -> bool:
    """Whether a work is on the diseases that these names are names of, as a whole, under others:
    the answer says that it is not by name. Ludwig's angina is no angina."""
    told = tags("diseases", text)
    whole = (
        [tag.name for tag in mentions("diseases", one) if tag.end - tag.start == len(one)]
        for one in lacking
    )
    return all(meets(told, named) for named in whole)


def _missing(required: Sequence[str], held: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    somewhere = frozenset[str]().union(*held.values())
    return tuple(one for one in required if one not in somewhere) or tuple(required)
