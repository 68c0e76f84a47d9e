"""`python -m benchmarks.names FOLDER`: how many names of the tables' own sources are resolved.

Draws drugs (UNII) and diseases (MeSH, DOID, MONDO) at random from the packages that
`knowledge/names/manifest.yaml` names (`knowledge.names.compile` says how to fetch them), one name
of each: a brand, a code, a short form, a synonym or the preferred one; writes it as people do
(case, plural, hyphens, British or American, ™); and asks for it alone and in a sentence.

- drawn: it is resolved to one entry, that of the concept drawn;
- given: to one entry, to which some source gives this name. Sources differ on some ("CLL" is also
  a synonym of chronic leukemia). A name that stands for several things counts as wrong.
"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from clinical_text.names import names, resolve
from knowledge.names.compile.entries import merged
from knowledge.names.compile.terms import Concept, concepts
from knowledge.names.spelling import key

SENTENCES = {
    "drug": "The patient has been treated with {} for six weeks.",
    "disease": "She was diagnosed with {} and followed for two years.",
}
_SHORT = re.compile(r"[A-Z][A-Z0-9-]{1,6}")
_BRITISH = (("tumor", "tumour"), ("emia", "aemia"), ("edema", "oedema"), ("pedia", "paedia"))


def drawn(held: list[Concept], kind: str, count: int, chance: random.Random) -> list[Concept]:
    """So many concepts of a kind, each with a name that people may write."""
    of_kind = [
        one for one in held if kind in one.kinds and one.names and (kind != "drug" or _is_drug(one))
    ]
    return chance.sample(sorted(of_kind, key=lambda one: one.id), count)


def _is_drug(concept: Concept) -> bool:
    return concept.id.startswith("UNII:")


def classes(concept: Concept) -> dict[str, list[str]]:
    """The names of a concept by what they are: brand, short, synonym, preferred."""
    found: dict[str, list[str]] = {}
    for name, what in concept.names.items():
        short = what == "synonym" and _SHORT.fullmatch(name)
        plain = {"assigned": "preferred", "alias": "synonym"}.get(what, what)
        found.setdefault("short" if short else plain, []).append(name)
    return found


def _british(name: str) -> str:
    for american, british in _BRITISH:
        name = re.sub(rf"(?<!a)(?<!o){american}", british, name)
    return name


SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it stands": str,
    "small": str.lower,
    "capitals": str.upper,
    "title": str.title,
    "plural": lambda name: f"{name}s" if name[-1] != "s" and name[-2:].islower() else name,
    "British": _british,
    "hyphens": lambda name: name.replace(" ", "-", 1),
    "no hyphens": lambda name: name.replace("-", " "),
    "trade mark": lambda name: f"{name}™",
}


def spelling(what: str, kind: str, chance: random.Random) -> str:
    """A spelling that people use for such a name; a short form stays in capitals."""
    if what == "short":
        return chance.choice(["as it stands", "no hyphens"])
    if what == "brand":
        return chance.choice(["as it stands", "title", "capitals", "trade mark"])
    plain = ["as it stands", "small", "title", "capitals", "hyphens", "no hyphens", "British"]
    return chance.choice([*plain, "plural"] if kind == "disease" else plain)


def main() -> None:
    """Prints the shares by kind and by class of name, and the names that fail with `--failed`."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("packages", type=Path)
    asked.add_argument("--count", type=int, default=300)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--failed", action="store_true")
    options = asked.parse_args()
    held = list(concepts(options.packages))
    together = {one.id: {o.id for o in group} for group in merged(held) for one in group}
    givers: dict[str, set[str]] = {}
    for one in held:
        for name in one.names:
            givers.setdefault(key(name), set()).update(together[one.id])
    chance = random.Random(options.seed)
    for kind in SENTENCES:
        right, asked_for, failed = Counter[tuple[str, str]](), Counter[str](), []
        for concept in drawn(held, kind, options.count, chance):
            named = classes(concept)
            what = chance.choice(sorted(named))
            name = chance.choice(named[what])
            given = together[concept.id] | givers[key(name)]
            written = SPELLINGS[spelling(what, kind, chance)](name)
            expected = together[concept.id]
            alone = resolve(written)
            text = SENTENCES[kind].format(written)
            start = text.index(written)
            end = start + len(written.removesuffix("™"))
            inside = [one for one in names(text) if one.start <= start and one.end >= end]
            for way, found in (("alone", [alone]), ("in a sentence", inside)):
                entries = {entry for one in found for entry in one.entries}
                drawn_one = len(entries) == 1 and entries <= expected
                given_one = len(entries) == 1 and entries <= given
                for row in (way, f"{way}, {what}"):
                    asked_for[row] += 1
                    right[row, "drawn"] += drawn_one
                    right[row, "given"] += given_one
                if not given_one:
                    failed.append(
                        (way, what, written, concept.preferred, " ".join(sorted(entries)))
                    )
        shown = {
            row: {way: right[row, way] for way in ("drawn", "given")} | {"of": count}
            for row, count in sorted(asked_for.items())
        }
        print(json.dumps({kind: shown}))
        if options.failed:
            for fault in failed:
                print(" | ".join(fault))


if __name__ == "__main__":
    main()
