"""Fits the reader of kinds of works and measures it on works that it did not see.

    python -m benchmarks.kinds SHARED            # figures: fitted on half, read of the other half
    python -m benchmarks.kinds SHARED --write    # knowledge/works/kinds.npz, fitted on all

SHARED/data has the labelled sets. Labels come from those who indexed or chose the works:
publication types and MeSH of PubMed's records and of PubMedQA, the trials of Evidence Inference and
the systematic reviews of PubMedRS-200. Kinds of which these have too few are works of SciFact and
BioASQ that we read, titles of guidelines of the scenario packs, and own abstracts (`kinds.yaml`).
What is held out is told by the SHA-256 of its id; EBM-NLP, reports of trials, is never learned
from. No text is kept: the reader is words with weights.
"""

import gzip
import hashlib
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from benchmarks.likeness import Example, fitted, write
from knowledge.matching.likeness import TextReader
from knowledge.scenarios import scenarios
from knowledge.works.kinds import LEARNED, features_of, kind_by_reading, kind_of
from workers.ingest.parsers.pubmed.records import parse

HERE = Path(__file__).parent
TO = HERE.parent / "knowledge" / "works" / "kinds.npz"
OWN = yaml.safe_load((HERE / "kinds.yaml").read_text())
OWN_EACH, OF_OWN = 60, 1.0
"""Own abstracts of a kind, and what one weighs; a real work weighs 1."""
OF_TITLE, OF_TEXT = 0.6, 0.4
"""What a title and a text alone weigh: many records have no abstract, many files no title."""
BENCH = 500
"""Works of laboratories, told by what they name: they are of none of these kinds."""
KEPT = 6000
_ANIMALS = re.compile(
    r"\b(?:mice|murine|rats?|pigs|rabbits|dogs|zebrafish|drosophila|yeast|in vitro|knockout"
    r"|c\. elegans|cell lines?)\b",
    re.IGNORECASE,
)
_PEOPLE = re.compile(
    r"\b(?:patients?|participants|women|men|children|individuals|people|persons|review|guideline"
    r"|meta-analysis)\b",
    re.IGNORECASE,
)
_RANDOM = {"Double-Blind Method", "Single-Blind Method", "Random Allocation"}


class Work(NamedTuple):
    """A work of a kind, `none` where it is of none that is learned."""

    held_in: str
    id: str
    kind: str
    title: str
    text: str
    weight: float = 1.0

    @property
    def is_held_out(self) -> bool:
        """Half of the works are."""
        return hashlib.sha256(self.id.encode()).digest()[0] % 2 == 1


def works(data: Path) -> list[Work]:
    """All works of a known kind but EBM-NLP's."""
    scifact = [json.loads(line) for line in (data / "scifact/corpus.jsonl").open()]
    return [
        *_trials(data / "evidence_inference/dev"),
        *(
            Work("pubmedrs", one["pmid"], "systematic_review", one["title"], one["abstract"])
            for one in map(json.loads, (data / "pubmedrs200/dev/pubmedrs.jsonl").open())
        ),
        *_pubmedqa(json.loads((data / "pubmedqa/dev/pqal_dev500.json").read_text())),
        *_pubmed(data / "pubmed_xml"),
        *_marked("scifact", {one["_id"]: (one["title"], one["abstract"]) for one in scifact}),
        *_marked("bioasq", _snippets(data / "bioasq/dev")),
        *_bench(scifact),
        *_packs(),
    ]


def _trials(folder: Path) -> Iterator[Work]:
    for file in sorted(folder.glob("*txt/*.txt")):
        head, _, rest = file.read_text().partition("ABSTRACT")
        abstract = re.sub(r"^\.?(?:ABSTRACT)?\.?([A-Z&/, ]*):\s*$", r"## \1", rest, flags=re.M)
        title = head.removeprefix("TITLE:").strip()
        text = abstract.partition("BODY")[0]
        yield Work("evidence_inference", file.stem, "randomized_trial", title, text)


def _pubmedqa(records: dict[str, Any]) -> Iterator[Work]:
    """Titles are questions. "Prospective Studies" are trials, too."""
    for key, one in records.items():
        headings = set(one["MESHES"])
        parts = zip(
            (*one["LABELS"], "CONCLUSION"), (*one["CONTEXTS"], one["LONG_ANSWER"]), strict=True
        )
        text = "\n\n".join(f"## {label}\n\n{part}" for label, part in parts)
        kind = None
        if "Animals" in headings:
            kind = None if "Humans" in headings else "none"
        elif headings & _RANDOM:
            kind = "randomized_trial"
        elif "Prospective Studies" not in headings:
            kind = kind_of("pubmed", "Journal Article", None, subjects=headings)
        if kind:
            yield Work("pubmedqa", key, kind, one["QUESTION"], text)


def _pubmed(folder: Path) -> Iterator[Work]:
    for file in sorted(folder.rglob("*")):
        if file.suffix not in (".gz", ".xml"):
            continue
        content = file.read_bytes()
        try:
            found = parse(gzip.decompress(content) if file.suffix == ".gz" else content).records
        except ValueError:
            continue
        for one in found:
            headings = set(one.subjects)
            kind: str | None = kind_of(
                "pubmed", one.publication_type, one.evidence_level, subjects=headings
            )
            if "Animals" in headings and "Humans" not in headings:
                kind = None if kind else "none"
            if kind in (*LEARNED, "none") and one.text != one.title:
                yield Work(
                    "pubmed_xml", one.identifiers.pmid or one.title, kind, one.title, one.text
                )


def _marked(name: str, texts: Mapping[str, tuple[str, Sequence[str]]]) -> Iterator[Work]:
    for kind, ids in OWN["marked"][name].items():
        for key in map(str, ids):
            title, parts = texts[key]
            yield Work(f"marked {name}", key, kind, title, " ".join(parts))


def _snippets(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Title and snippets of each document, in their order."""
    titles: dict[str, str] = {}
    parts: dict[str, set[tuple[int, str]]] = {}
    for file in sorted(folder.glob("*.json")):
        for question in json.loads(file.read_text())["questions"]:
            for one in question.get("snippets", ()):
                key = one["document"].rpartition("/")[2]
                if one["beginSection"] == "title":
                    titles[key] = one["text"]
                else:
                    parts.setdefault(key, set()).add((one["offsetInBeginSection"], one["text"]))
    return {
        key: (title, [text for _, text in sorted(parts.get(key, ()))])
        for key, title in titles.items()
    }


def _bench(scifact: Iterable[dict[str, Any]]) -> Iterator[Work]:
    marked = {str(one) for ids in OWN["marked"]["scifact"].values() for one in ids}
    found = []
    for one in scifact:
        title, text = one["title"], " ".join(one["abstract"])
        whole = f"{title} {text}"
        if one["_id"] not in marked and _ANIMALS.search(whole) and not _PEOPLE.search(whole):
            found.append(Work("bench", one["_id"], "none", title, text))
    random.Random(3).shuffle(found)
    yield from found[:BENCH]


def _packs() -> Iterator[Work]:
    titles = {
        entry.title for pack in scenarios() for entry in pack.entries if entry.kind == "guideline"
    }
    for title in sorted(titles):
        yield Work("packs", title, "guideline", title, "")


def own() -> Iterator[Work]:
    """Abstracts made of the lines of `kinds.yaml`."""
    chance = random.Random(7)

    def filled(line: str, **same: str) -> str:
        words = {name: chance.choice(some) for name, some in OWN["words"].items()}
        return line.format(**words | same)

    for kind, given in OWN["kinds"].items():
        for number in range(OWN_EACH):
            same = {name: chance.choice(OWN["words"][name]) for name in ("d", "x", "b")}
            title = filled(chance.choice(given["titles"]), **same)
            count = min(len(given["lines"]), chance.randint(4, 8))
            lines = [filled(one, **same) for one in chance.sample(given["lines"], count)]
            yield Work("own", f"{kind}{number}", kind, title, " ".join(lines), OF_OWN)


def reader_of(known: Sequence[Work]) -> TextReader:
    """A reader of these works: whole, by their titles alone, and by their texts alone."""
    examples = [
        Example(features_of(title, text), one.kind, one.weight * weight)
        for one in known
        for title, text, weight in (
            (one.title, one.text, 1.0 if one.text else 0.0),
            (one.title, "", OF_TITLE),
            ("", one.text, OF_TEXT if one.text else 0.0),
        )
        if weight
    ]
    return fitted(examples, LEARNED, KEPT)


def trials_never_learned(file: Path) -> Iterator[Work]:
    """EBM-NLP: its first sentence is the title."""
    for part in file.read_text().split("-DOCSTART- ")[1:]:
        number, _, rest = part.partition("\n")
        words = " ".join(line.split(" ")[0] for line in rest.split("\n") if line)
        title, _, text = words.partition(" . ")
        yield Work("ebm_nlp", number.strip("()"), "randomized_trial", title, text)


def figures(name: str, held: Sequence[Work], reader: TextReader) -> str:
    """Of each kind how many of those read as such are, and how many of those that are are read."""
    right, read = Counter[str](), Counter[str]()
    there = Counter(one.kind for one in held)
    for one in held:
        kind = kind_by_reading(one.title, one.text, reader) or "none"
        read[kind] += 1
        right[kind] += kind == one.kind
    kinds = sorted((there.keys() | read.keys()) - {"none"})
    told = [f"{kind} {right[kind]}/{read[kind]} {right[kind]}/{there[kind]}" for kind in kinds]
    return f"{name}: {'; '.join(told)}; none {right['none']}/{there['none']}\n"


def main(shared: Path, *, writes: bool) -> None:
    """Print the figures, or write the reader."""
    known = works(shared / "data")
    if writes:
        write(reader_of([*known, *own()]), TO)
        return
    reader = reader_of([*(one for one in known if not one.is_held_out), *own()])
    held = [one for one in known if one.is_held_out]
    sys.stdout.write("kind, right of those read as such, right of those that are\n")
    for name in dict.fromkeys(one.held_in for one in held):
        sys.stdout.write(figures(name, [one for one in held if one.held_in == name], reader))
    sys.stdout.write(figures("all", held, reader))
    others = list(trials_never_learned(shared / "data/ebm_nlp/dev/dev.txt"))
    sys.stdout.write(figures("ebm_nlp", others, reader))


if __name__ == "__main__":
    main(Path(sys.argv[1]), writes="--write" in sys.argv)
