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
from collections.abc import Callable, Sequence
from pathlib import Path

from clinical_text.names import names
from knowledge.names.compile.entries import merged
from knowledge.names.compile.terms import Concept, concepts

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


def _written(concept: Concept, kind: str, draw: random.Random) -> tuple[str, str, str, str]:
    """A sentence with a name, the name as written, what name it is and how it is written."""
    name, what = draw.choice(list(concept.names.items()))
    if (
        re.fullmatch(r"[A-Za-z]?[a-z]?[A-Z][A-Z0-9-]{1,8}", name)
        and what != "code"
        and (len(name) < 5 or kind == "disease")
    ):
        text = (
            f"Adults with {concept.preferred} ({name}) were seen. Of these, {name} was the first."
        )
        return text, name, what, "defined"
    if kind == "drug" and what != "code":
        name = name.title() if what == "brand" else name.lower()
    way = draw.choice([w for w, change in _WAYS.items() if w == "as it is" or change(name) != name])
    name = _WAYS[way](name)
    return _SENTENCES[kind].format(name), name, what, way


def main(folder: str, seed: int) -> None:
    """Prints what fails, and one JSON object on the last line."""
    groups = merged(concepts(Path(folder)))
    place = {concept.id: number for number, group in enumerate(groups) for concept in group}
    ids = {
        concept.id: {one.id for one in groups[place[concept.id]]}
        for group in groups
        for concept in group
    }
    held = [concept for group in groups for concept in group if concept.names]
    draw = random.Random(seed)
    figures: dict[str, object] = {"seed": seed}
    for kind in _SENTENCES:
        outcomes: Counter[str] = Counter()
        for concept in _drawn(held, kind, draw):
            text, name, what, way = _written(concept, kind, draw)
            at = text.rindex(name)
            found = [one for one in names(text) if one.start <= at < one.end]
            meant = found[0].entries if found else ()
            right = bool(set(meant) & ids[concept.id])
            whole = right and found[0].end >= at + len(name.rstrip("®")) - 2
            outcome = (
                "one"
                if whole and len(meant) == 1
                else "several"
                if whole
                else "part"
                if right
                else "other"
                if meant
                else "unknown"
            )
            outcomes[outcome] += 1
            if outcome != "one":
                print(f"{outcome:8} {kind:8} {what:9} {way:18} {name!r} {concept.id} {meant[:3]}")
        figures[kind] = dict(outcomes) | {"one entry": round(outcomes["one"] / _DRAWN, 3)}
    print(json.dumps(figures))


if __name__ == "__main__":
    main(
        sys.argv[1],
        int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**6),
    )
