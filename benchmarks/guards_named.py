"""What the guards of arms, populations, names, dates and drugs veto, on real abstracts.

`python -m benchmarks.guards_named [--shared DIR] [--show KIND] [--itself] [--every N]`: sentences
of the corpora under `DIR` are edited (`benchmarks.guards_edits`, `benchmarks.guards_paraphrases`),
and for each kind of false edit and of true paraphrase the vetoes are counted; with `--itself` every
sentence is held against itself instead. Nothing here is fitted: it only counts.
"""

import argparse
import json
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rich.console import Console
from rich.table import Table

from benchmarks.guards_edits import FALSE
from benchmarks.guards_paraphrases import TRUE
from workers.verify.guards import arms, dates, drugs, named, numbers, population
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import fold, sentences
from workers.verify.guards.trials import identifiers_of

Guard = Callable[[str, Grounds], list[Finding]]
GUARDS: dict[str, Guard] = {
    "arms": arms.guard,
    "population": population.guard,
    "named": named.guard,
    "dates": dates.guard,
    "drugs": drugs.guard,
}
_EDITS = {**TRUE, **{kind: edit for kind, (_, edit) in FALSE.items()}}
SEED = 11


@dataclass(frozen=True)
class Abstract:
    """One document of a corpus."""

    corpus: str
    title: str
    sentences: tuple[str, ...]
    identifiers: dict[str, str]

    def grounds(self, at: int) -> Grounds:
        """What a claim on the sentence `at` leans on."""
        beside = self.sentences[max(0, at - 1) : at] + self.sentences[at + 1 : at + 2]
        text = " ".join(self.sentences)
        return Grounds(self.sentences[at], self.title, text, " ".join(beside), self.identifiers)


def corpora(shared: Path) -> Iterator[Abstract]:
    """The abstracts at hand; a corpus that is not there is left out."""
    for line in _lines(shared / "data/scifact/corpus.jsonl"):
        abstract = tuple(sentence.strip() for sentence in line["abstract"])
        yield Abstract("scifact", line["title"], abstract, {})
    for line in _lines(shared / "data/ctdna/abstracts.jsonl"):
        text = re.sub(r"\*\*[^*]+\*\*:?", "", line["abstract"])
        held = {key: line[key] for key in ("pmid", "pmcid", "doi", "journal") if line.get(key)}
        yield Abstract("ctdna", line["title"], tuple(sentences(fold(text))), held)
    for name, pattern in (
        ("evidence_inference", "data/evidence_inference/dev/txt/*.txt"),
        ("rct_numeric", "data/rct_numeric/dev/text/*.md"),
    ):
        for path in sorted(shared.glob(pattern)):
            text = path.read_text("utf-8")
            yield Abstract(name, text[:150].split("\n")[0], tuple(sentences(fold(text))), {})
    for path in sorted(shared.glob("data/pubmed_xml/**/*.xml")):
        text = path.read_text("utf-8", "replace")
        for abstract in re.findall(r"<Abstract>(.*?)</Abstract>", text, re.DOTALL):
            plain = fold(re.sub(r"<[^>]+>", " ", abstract)).strip()
            yield Abstract("pubmed_xml", "", tuple(sentences(plain)), {})


def _lines(path: Path) -> Iterator[dict[str, str]]:
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            yield json.loads(line)


def findings(claim: str, grounds: Grounds) -> dict[str, list[Finding]]:
    """What each guard that vetoes the claim says."""
    found = {name: guard(claim, grounds) for name, guard in GUARDS.items()}
    return {name: some for name, some in found.items() if some}


def measure(abstracts: Sequence[Abstract], show: str | None, limit: int) -> None:
    """Prints the matrix: for each kind the cases, and how many each guard vetoes."""
    rng = Random(SEED)
    counts: dict[str, Counter[str]] = {}
    times: list[float] = []
    shown = 0
    for abstract in abstracts:
        for at, sentence in enumerate(abstract.sentences):
            if not 40 < len(sentence) < 700:
                continue
            grounds = abstract.grounds(at)
            for kind, edit in _EDITS.items():
                count = counts.setdefault(kind, Counter())
                claim = edit(sentence, rng) if count["cases"] < limit else None
                if claim is None or (claim == sentence) != (kind == "verbatim"):
                    continue
                begin = time.process_time()
                found = findings(claim, grounds)
                times.append(time.process_time() - begin)
                others = bool(found) or bool(_numbers(claim, grounds))
                count.update({"cases": 1, "any": bool(found), "with numbers": others})
                count.update(dict.fromkeys(found, 1))
                if kind == show and bool(found) == (kind in TRUE) and shown < 40:
                    shown += 1
                    print(f"- {grounds.passage}\n  {claim}\n  {found}\n")
    _print(counts, times)


def _numbers(claim: str, grounds: Grounds) -> list[Finding]:
    return numbers.guard(claim, grounds.passage, frozenset(identifiers_of(grounds.identifiers)))


def _print(counts: dict[str, Counter[str]], times: Sequence[float]) -> None:
    table = Table(title="vetoed, by kind of edit")
    for heading in ("", "kind", "cases", "vetoed", "with numbers", *GUARDS):
        table.add_column(heading, justify="left" if heading in ("", "kind") else "right")
    for title, kinds in (("true", TRUE), ("false", FALSE)):
        total: Counter[str] = Counter()
        for kind in kinds:
            count = counts.get(kind, Counter())
            total.update(count)
            _row(table, title, kind, count)
        _row(table, title, "all", total)
        table.add_section()
    console = Console(width=140)
    console.print(table)
    if times:
        ordered = sorted(times)
        middle, high = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
        console.print(
            f"{len(ordered)} claims, median {middle * 1e3:.2f} ms, p99 {high * 1e3:.2f} ms"
        )


def _row(table: Table, title: str, kind: str, count: Counter[str]) -> None:
    cases = count["cases"]
    share = [f"{count[key] / cases:.1%}" if cases else "" for key in ("any", "with numbers")]
    table.add_row(title, kind, str(cases), *share, *(str(count[name] or "") for name in GUARDS))


def held_against_itself(abstracts: Sequence[Abstract]) -> None:
    """Prints how many sentences a guard vetoes against themselves, which must be none."""
    vetoed = 0
    total = 0
    for abstract in abstracts:
        for at, sentence in enumerate(abstract.sentences):
            total += 1
            alone = findings(sentence, Grounds(sentence))
            found = alone or findings(sentence, abstract.grounds(at))
            if found:
                vetoed += 1
                if vetoed <= 10:
                    print(f"- {sentence}\n  {found}\n")
    print(f"{vetoed} of {total} sentences are vetoed against themselves")


def main() -> None:
    """Runs everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--show", help="print up to 40 wrong outcomes of this kind of edit")
    parser.add_argument("--limit", type=int, default=1500, help="cases of one kind at most")
    parser.add_argument(
        "--itself", action="store_true", help="only hold sentences against themselves"
    )
    parser.add_argument("--every", type=int, default=1, help="take one document of so many")
    arguments = parser.parse_args()
    abstracts = list(corpora(arguments.shared))[:: arguments.every]
    print(Counter(abstract.corpus for abstract in abstracts))
    if not arguments.itself:
        Random(SEED).shuffle(abstracts)
        measure(abstracts, arguments.show, arguments.limit)
    else:
        held_against_itself(abstracts)


if __name__ == "__main__":
    main()
