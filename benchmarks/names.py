"""`python -m benchmarks.names FOLDER [SEED]`: how many names of drugs and diseases are resolved.

Draws 300 drugs and 300 diseases from the terminologies in FOLDER (as `knowledge.names.compile`
takes them), writes each by one of its names in a way that people write (brand, inflected, British
or American, hyphens, Greek letters, ®, an abbreviation that the text defines) into a sentence, and
asks for the name there. Prints what fails, and the rates.
"""

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from clinical_text.names import names
from knowledge.names.compile.entries import merged
from knowledge.names.compile.terms import Concept, concepts
from knowledge.names.spelling import key

_DRAWN = 300
_BRITISH = (
    ("tumor", "tumour"),
    ("anemia", "anaemia"),
    (r"\bedema", "oedema"),
    (r"\bhem", "haem"),
    ("leukemia", "leukaemia"),
    (r"\besophag", "oesophag"),
    ("pediatric", "paediatric"),
)
_GREEK = (("alpha", "α"), ("beta", "β"), ("gamma", "γ"), ("alfa", "alpha"))
_SENTENCES = {
    "drug": "In this trial, patients were treated with {} for twelve weeks.",
    "disease": "We enrolled adults with {} at nine sites.",
}


def _spelled(pairs: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    def spell(name: str) -> str:
        for one, other in pairs:
            if re.search(one, name, re.IGNORECASE):
                return re.sub(one, other, name, flags=re.IGNORECASE)
        return name

    return spell


_WAYS: dict[str, Callable[[str], str]] = {
    "as it is": lambda name: name,
    "lower case": lambda name: name if re.search(r"\b[A-Z0-9-]{2,5}\b", name) else name.lower(),
    "plural": lambda name: f"{name}s" if re.search(r"[a-z]{3}[a-rt-w]$", name) else name,
    "hyphens as spaces": lambda name: name.replace("-", " "),
    "spaces as hyphens": lambda name: re.sub(r"(?<=[a-z]) (?=[a-z])", "-", name, count=1),
    "no apostrophe": lambda name: name.replace("'s", "s"),
    "possessive": lambda name: re.sub(
        r"^([A-Z][a-z]+n|[A-Z][a-z]+r) (disease|syndrome)", r"\1's \2", name
    ),
    "british": _spelled(_BRITISH),
    "greek": _spelled(_GREEK),
    "registered": lambda name: f"{name}®",
}


def _drawn(held: list[Concept], kind: str, draw: random.Random) -> list[Concept]:
    prefix = {"drug": ("UNII:",), "disease": ("MESH:", "DOID:", "MONDO:")}[kind]
    return draw.sample([c for c in held if kind in c.kinds and c.id.startswith(prefix)], _DRAWN)


@dataclass(frozen=True)
class _Case:
    text: str
    name: str
    """As written in the text."""
    base: str
    """As a terminology has it."""
    way: str


def _written(concept: Concept, kind: str, draw: random.Random) -> _Case:
    """A sentence with one of the concept's names, written in one of the ways."""
    base, what = draw.choice(list(concept.names.items()))
    name = base
    if (
        re.fullmatch(r"[A-Za-z]?[a-z]?[A-Z][A-Z0-9-]{1,8}", name)
        and what != "code"
        and (len(name) < 5 or kind == "disease")
    ):
        text = (
            f"Adults with {concept.preferred} ({name}) were seen. Of these, {name} was the first."
        )
        return _Case(text, name, base, "defined")
    if kind == "drug" and what != "code":
        name = name.title() if what == "brand" else name.lower()
    way = draw.choice([w for w, change in _WAYS.items() if w == "as it is" or change(name) != name])
    name = _WAYS[way](name)
    return _Case(_SENTENCES[kind].format(name), name, base, way)


def _outcome(case: _Case, holders: Mapping[str, set[str]]) -> str:
    """Whether the whole name is resolved to one entry, of those that have the name."""
    at = case.text.rindex(case.name)
    found = next((one for one in names(case.text) if one.start <= at < one.end), None)
    if found is None or not found.known:
        return "unknown"
    if holders[key(case.base)].isdisjoint(found.entries):
        return "other"
    if found.end < at + len(case.name.rstrip("®")) - 2:
        return "part"
    return "one" if len(found.entries) == 1 else "several"


def main(folder: str, seed: int) -> None:
    """Prints what fails, and one JSON object on the last line."""
    groups = merged(concepts(Path(folder)))
    holders: dict[str, set[str]] = {}
    for group in groups:
        for name in {key(name) for concept in group for name in concept.names}:
            holders.setdefault(name, set()).update(concept.id for concept in group)
    held = [concept for group in groups for concept in group if concept.names]
    draw = random.Random(seed)
    figures: dict[str, object] = {"seed": seed}
    for kind in _SENTENCES:
        outcomes: Counter[str] = Counter()
        for concept in _drawn(held, kind, draw):
            case = _written(concept, kind, draw)
            outcome = _outcome(case, holders)
            outcomes[outcome] += 1
            if outcome != "one":
                print(f"{outcome:8} {kind:8} {case.way:18} {case.name!r} {concept.id}")
        figures[kind] = dict(outcomes) | {"one entry": round(outcomes["one"] / _DRAWN, 3)}
    print(json.dumps(figures))


if __name__ == "__main__":
    main(
        sys.argv[1],
        int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**6),
    )
