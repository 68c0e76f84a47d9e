"""`python -m benchmarks.guards`: what the guards of claims let through and what they veto.

From the sentences of real abstracts (ctDNA, PubMed, SciFact; read from `--shared`) true claims are
made by light paraphrase and false ones by edits that turn the meaning, all by rule and seed. Each
is put through `vetoes` with its sentence, or its sentence amid two more, as the passage. Printed: a
row a kind with how many survive, and the CPU time of a claim. Also every sentence against itself
(none may be vetoed; `--verbatim`), and the claims of SciFact, written by people.

More kinds: `@true("kind")` in `benchmarks/guard_edits.py`, `@false("kind")` in
`benchmarks/guard_falsehoods.py`.
"""

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

import benchmarks.guard_falsehoods  # noqa: F401  (registers its edits)
from benchmarks.guard_edits import FALSE, TRUE, Case, Edit
from workers.ingest.parsers.pubmed.records import parse
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.vetoes import FACTS, MEANINGS, vetoes

console = Console(width=110)
_SENTENCE = re.compile(r"(?<=[a-z0-9)%\]][.?!])\s+(?=[A-Z*])|\n+")


# The measure


def documents(shared: Path, scifact: int) -> Iterator[tuple[str, list[str]]]:
    """Titles and sentences."""
    for line in (shared / "data/ctdna/abstracts.jsonl").open(encoding="utf-8"):
        paper = json.loads(line)
        yield paper["title"], _sentences(paper["abstract"].replace("**", ""))
    for path in sorted((shared / "data/pubmed_xml").rglob("*.xml")):
        payload = path.read_bytes()
        if b"<PubmedArticleSet" not in payload:
            continue
        for record in parse(payload).records:
            yield record.title, _sentences(record.text)
    lines = (shared / "data/scifact/corpus.jsonl").read_text(encoding="utf-8").splitlines()
    for line in lines[:scifact]:
        paper = json.loads(line)
        yield paper["title"], [s.strip() for s in paper["abstract"] if len(s) > 30]


def _sentences(text: str) -> list[str]:
    return [s.strip() for s in _SENTENCE.split(text) if len(s.strip()) > 30]


def cases(shared: Path, scifact: int, rng: random.Random) -> list[Case]:
    """Every sentence of every document."""
    docs = [doc for doc in documents(shared, scifact) if doc[1]]
    found = []
    for title, parts in docs:
        text = " ".join(parts)
        for i, sentence in enumerate(parts):
            others = rng.choice(docs)[1]
            before = parts[i - 1] if i else ""
            after = parts[i + 1] if i + 1 < len(parts) else ""
            other = rng.choice(others)
            if other in parts:
                continue
            found.append(Case(sentence, title, text, before, after, other))
    return found


def grounds_of(case: Case, *, wide: bool) -> Grounds:
    """The sentence alone as the passage, or with the one before and the one after."""
    if wide:
        passage = " ".join(_ended(s) for s in (case.before, case.sentence, case.after) if s)
        return Grounds(passage, case.title, case.text)
    around = " ".join(filter(None, (case.before, case.after)))
    return Grounds(case.sentence, case.title, case.text, around)


def _ended(sentence: str) -> str:
    return sentence if sentence[-1] in ".?!" else f"{sentence}\n\n"


@dataclass
class Row:
    """How one kind fared."""

    claims: int = 0
    passed: int = 0
    codes: Counter[str] | None = None


def measure(
    edits: dict[str, Edit], sample: list[Case], limit: int, rng: random.Random, shown: list[str]
) -> dict[str, Row]:
    """Each kind over at most `limit` sentences; what went against expectation goes to `shown`."""
    rows: dict[str, Row] = {}
    expected = edits is TRUE
    for kind, edit in edits.items():
        row = rows[kind] = Row(codes=Counter())
        for case in sample:
            claim = edit(case, rng)
            if claim is None or claim == case.sentence or claim in case.text:
                continue
            wide = row.claims % 2 == 1
            found = vetoes(claim, grounds_of(case, wide=wide))
            row.claims += 1
            row.passed += not found
            assert row.codes is not None
            row.codes.update({one.code for one in found})
            if expected is bool(found):
                shown.append(_shown(kind, case, claim, found))
            if row.claims == limit:
                break
    return rows


def _shown(kind: str, case: Case, claim: str, found: tuple[Finding, ...]) -> str:
    why = "; ".join(f"{one.code}: {one.detail}" for one in found) or "passed"
    return f"[{kind}] {why}\n  S: {case.sentence}\n  C: {claim}\n"


def _print(title: str, rows: dict[str, Row], good: str) -> None:
    table = Table(title=title)
    for column in ("kind", "claims", good, "share", "vetoed by"):
        table.add_column(column)
    claims = passed = 0
    for kind, row in rows.items():
        claims, passed = claims + row.claims, passed + row.passed
        codes = ", ".join(
            f"{code} {count}" for code, count in (row.codes or Counter()).most_common(5)
        )
        share = f"{row.passed / row.claims:.1%}" if row.claims else "-"
        table.add_row(kind, str(row.claims), str(row.passed), share, codes)
    table.add_row("all", str(claims), str(passed), f"{passed / max(1, claims):.1%}", "")
    console.print(table)


def verbatim(sample: list[Case], shown: list[str]) -> tuple[int, dict[str, int]]:
    """Every sentence against itself and against itself amid its neighbours."""
    bad: Counter[str] = Counter()
    for case in sample:
        for wide in (False, True):
            grounds = grounds_of(case, wide=wide)
            for guard in (*FACTS, *MEANINGS):
                found = guard(case.sentence, grounds)
                if found:
                    bad[found[0].code] += 1
                    shown.append(_shown("verbatim", case, case.sentence, tuple(found)))
    return 2 * len(sample), dict(bad)


def people(shared: Path) -> dict[str, Row]:
    """Claims of SciFact written by people, with the whole abstract as the passage."""
    rows: dict[str, Row] = {}
    for line in (shared / "eval/claims_scifact.jsonl").open(encoding="utf-8"):
        record = json.loads(line)
        row = rows.setdefault(record["label"], Row(codes=Counter()))
        title, _, text = record["evidence"].partition("\n\n")
        found = vetoes(record["claim"], Grounds(text, title, text))
        row.claims += 1
        row.passed += not found
        assert row.codes is not None
        row.codes.update({one.code for one in found})
    return rows


def pace(sample: list[Case], rng: random.Random) -> tuple[float, float]:
    """CPU milliseconds a claim, median and 95th percentile, each against a new passage of three
    sentences."""
    times = []
    for case in rng.sample(sample, min(2000, len(sample))):
        grounds = grounds_of(case, wide=True)
        begun = time.thread_time()
        vetoes(case.sentence, grounds)
        times.append((time.thread_time() - begun) * 1000)
    times.sort()
    return times[len(times) // 2], times[int(len(times) * 0.95)]


def main() -> None:
    """Print the matrix."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--shared", type=Path, default=Path("../shared"))
    arguments.add_argument("--scifact", type=int, default=5183, help="documents of SciFact")
    arguments.add_argument("--limit", type=int, default=400, help="claims a kind")
    arguments.add_argument(
        "--verbatim", action="store_true", help="all sentences against themselves"
    )
    arguments.add_argument("--show", type=Path, help="write here what went against expectation")
    arguments.add_argument("--seed", type=int, default=7)
    options = arguments.parse_args()
    rng = random.Random(options.seed)
    sample = cases(options.shared, options.scifact, rng)
    rng.shuffle(sample)
    shown: list[str] = []
    _print("true light paraphrases", measure(TRUE, sample, options.limit, rng, shown), "survive")
    _print("false edits", measure(FALSE, sample, options.limit, rng, shown), "pass")
    _print("SciFact, written by people", people(options.shared), "pass")
    median, most = pace(sample, rng)
    console.print(f"ms of CPU a claim, median and 95 %: {median:.2f}, {most:.2f}")
    if options.verbatim:
        checked, bad = verbatim(sample, shown)
        console.print(f"verbatim: {checked} checked, vetoed {sum(bad.values())} {bad}")
    if options.show:
        options.show.write_text("\n".join(shown), encoding="utf-8")


if __name__ == "__main__":
    main()
