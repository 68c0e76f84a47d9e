"""`python -m benchmarks.claims.written [--show]`: hand-written claims through the gate, judged by a
judge that calls everything supported. What the lines of the sets mean: `written/README.md`.

Printed for each set: how many false claims come out supported ("told") and how many stop; the same
for the true ones.
"""

import argparse
import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from clinical_text.quotes import Source
from clinical_text.structure import segment
from workers.ingest.parsers.clinicaltrials.study import parse as parse_studies
from workers.ingest.parsers.pubmed.records import parse
from workers.ingest.parsers.spl.label import parse_spl
from workers.verify.checking import check_claims
from workers.verify.claims import Drafted
from workers.verify.judges.judging import Judged, Material, Reply, Support
from workers.verify.passages.locating import CitedText

SETS = Path(__file__).parent / "written"
SAMPLES = Path("samples/records")
_SAMPLES = {
    "P": "publications",
    "R": "regulator",
    "G": "guidelines",
    "T": "trials",
    "V": "coverage",
}


@dataclass(frozen=True)
class Written:
    """A claim as it was written down; a true one has no kind."""

    record: str
    kind: str
    text: str
    quote: str


def documents(shared: Path) -> dict[str, tuple[str, str]]:
    """Titles and texts of the records by their keys."""
    data = shared / "data"
    found = {}
    for n, line in enumerate((data / "ctdna/abstracts.jsonl").open(encoding="utf-8")):
        one = json.loads(line)
        found[f"C{n}"] = (one["title"], one["abstract"].replace("**", ""))
    for path in sorted((data / "pubmed_xml").rglob("*.xml")):
        payload = path.read_bytes()
        if b"<PubmedArticleSet" in payload:
            for record in parse(payload).records:
                found[f"PX:{record.identifiers.pmid}"] = (record.title, record.text)
    for key, name in _SAMPLES.items():
        for n, line in enumerate((SAMPLES / f"{name}.jsonl").open(encoding="utf-8")):
            one = json.loads(line)
            found[f"{key}{n}"] = (one["title"], one["text"])
    for path in sorted((data / "evidence_inference/dev").glob("*/PMC*.txt")):
        title, _, text = path.read_text(encoding="utf-8").partition("\n")
        abstract = re.sub(r"ABSTRACT\.?([A-Z/ ]*):+", r"\1:", text.split("BODY.")[0])
        found[f"EI:{path.stem}"] = (title.replace("TITLE:", "").strip(), abstract.strip())
    asked = json.loads((data / "pubmedqa/dev/pqal_dev500.json").read_text(encoding="utf-8"))
    for pmid, one in asked.items():
        text = "\n\n".join([*one["CONTEXTS"], one["LONG_ANSWER"]])
        found[f"QA:{pmid}"] = (one["QUESTION"], text)
    return found | _not_abstracts(data)


def _not_abstracts(data: Path) -> dict[str, tuple[str, str]]:
    """Drug labels, registry records and chunks of coverage policies by their keys."""
    found = {}
    for path in sorted((data / "openfda/spl").glob("*.xml")):
        (label,) = parse_spl(path.read_bytes()).records
        found[f"SPL:{path.stem.removesuffix('-orig')}"] = (label.title, label.text)
    for path in sorted((data / "ctgov_v2").glob("*/*[Nn][Cc][Tt]0*.json")):
        for study in parse_studies(path.read_bytes()).records:
            found[f"CT:{study.identifiers.nct_id}"] = (study.title, study.text)
    policies = json.loads((data / "cms_lcd/lcd_list.json").read_text(encoding="utf-8"))
    titles = {one["document_display_id"]: one["title"] for one in policies}
    for line in (data / "cms_lcd/chunks.jsonl").open(encoding="utf-8"):
        one = json.loads(line)
        found[f"LCD:{one['id']}"] = (titles[one["source"]], html.unescape(one["text"]))
    return found


def written(path: Path, held: Mapping[str, tuple[str, str]]) -> Iterator[Written]:
    """The claims of a set.

    Raises:
        ValueError: a record does not have the words that a claim leans on.
    """
    record = quote = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("@"):
            record = line[1:]
        elif line.startswith("> "):
            quote = _quoted(held[record][1], line[2:].split(" ++ "))
            if not quote:
                raise ValueError(f"{path.name}: {record} has no “{line[2:]}”")
        elif line.strip():
            kind, _, text = line.partition(": ")
            yield Written(record, "" if kind == "T" else kind, text, quote)


def _quoted(text: str, parts: Sequence[str]) -> str:
    """The whole sentences that have the parts, and what stands between."""
    flat, found = re.sub(r"\s", " ", text).lower(), []
    for part in parts:
        at = flat.find(part.lower())
        over = [s for s in segment(text).sentences if s.start < at + len(part) and at < s.end]
        found += over if at >= 0 else []
    if not found:
        return ""
    return text[min(one.start for one in found) : max(one.end for one in found)]


def fate(one: Written, title: str, text: str) -> tuple[str, Sequence[str]]:
    """Where a claim ends with a judge that calls everything supported, and what spoke against."""
    cited = CitedText(Source(text), segment(text).sentences, title)
    drafted = Drafted("c", one.text, "E1", one.quote, "EVIDENCE")
    (result,) = check_claims([drafted], {"E1": cited}, judge=_lying).results
    if result.passes:
        return "told", ()
    before = result.rewritten_from
    return "stopped", before.findings if before else result.findings


def _lying(material: Material) -> Judged:
    """Supports everything, and is believed: what is left is the hard facts and the verifier."""
    return Judged(
        {
            one.drafted.claim_id: (
                Reply(Support.SUPPORTED, frozenset(doubt.kind for doubt in one.doubts)),
            )
            for one in material.claims
        }
    )


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--show", action="store_true", help="false ones told, true ones stopped")
    options = parser.parse_args()
    held = documents(options.shared)
    for path in sorted(SETS.glob("*.txt")):
        counts: Counter[tuple[bool, str]] = Counter()
        for one in written(path, held):
            where, codes = fate(one, *held[one.record])
            counts[not one.kind, where] += 1
            if options.show and where == ("told" if one.kind else "stopped"):
                print(f"{one.record} [{one.kind or 'true'}] {', '.join(codes)}: {one.text}")
        for true in (False, True):
            ends = ", ".join(f"{counts[true, e]} {e}" for e in ("told", "stopped"))
            print(f"{path.stem}: {sum(n for (t, _), n in counts.items() if t is true)}", end=" ")
            print(f"{'true' if true else 'false'}: {ends}")


if __name__ == "__main__":
    main()
