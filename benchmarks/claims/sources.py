"""Reads the two sets the verifier may be trained on: SciFact and Evidence Inference 2.0.

SciFact (Wadden et al., EMNLP 2020): claims CC BY 4.0, abstracts ODC-By 1.0. Evidence Inference 2.0
(DeYoung et al., BioNLP 2020): annotations MIT, articles PMC Open Access.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Effect = Literal["increased", "decreased", "none"]
Label = Literal["supported", "contradicted", "not_enough"]
LABELS: tuple[Label, ...] = ("supported", "contradicted", "not_enough")


@dataclass(frozen=True)
class Abstract:
    """A title and the text below it."""

    key: str
    title: str
    text: str


@dataclass(frozen=True)
class SciFactPair:
    """A claim and one abstract it cites.

    `rationales` are the sets of sentence numbers that an annotator found to decide the claim, in
    the authors' own division into sentences, which ours need not equal.
    """

    claim_key: str
    claim: str
    abstract: Abstract
    label: Label
    rationales: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Finding:
    """One doctor's judgment of an article: what an intervention did to an outcome."""

    article: str
    intervention: str
    comparator: str
    outcome: str
    effect: Effect
    quote: str


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def read_corpus(path: Path) -> dict[str, Abstract]:
    """The abstracts of SciFact in BEIR layout (`corpus.jsonl`) by their key."""
    return {row["_id"]: Abstract(row["_id"], row["title"], row["text"]) for row in _lines(path)}


def read_scifact(claims: Path, qrels: Path, corpus: dict[str, Abstract]) -> list[SciFactPair]:
    """Every claim with every abstract it cites; one without annotation is not_enough.

    That is how allenai/scifact defines NOT_ENOUGH_INFO for a cited abstract.
    """
    rows = {str(row["id"]): row for row in _lines(claims)}
    cited: defaultdict[str, list[str]] = defaultdict(list)
    with qrels.open(encoding="utf-8") as file:
        for row in csv.reader(file, delimiter="\t"):
            if row[0] in rows:
                cited[row[0]].append(row[1])
    names: dict[str, Label] = {"SUPPORT": "supported", "CONTRADICT": "contradicted"}
    pairs = []
    for key, documents in cited.items():
        evidence = rows[key]["evidence"]
        for document in documents:
            marked = evidence.get(document, ())
            label = names[marked[0]["label"]] if marked else "not_enough"
            rationales = tuple(tuple(rationale["sentences"]) for rationale in marked)
            claim = rows[key]["claim"]
            pairs.append(SciFactPair(key, claim, corpus[document], label, rationales))
    return pairs


_EFFECTS: dict[str, Effect] = {
    "significantly increased": "increased",
    "significantly increase": "increased",  # as some lines of the original spell it
    "significantly decreased": "decreased",
    "no significant difference": "none",
}


def _finding(
    article: str, question: dict[str, str], label: str, valid: bool, quote: str
) -> Finding | None:
    if not valid or label not in _EFFECTS or not quote.strip():
        return None
    parts = (question["intervention"], question["comparator"], question["outcome"])
    intervention, comparator, outcome = (" ".join(part.split()) for part in parts)
    return Finding(
        article, intervention, comparator, outcome, _EFFECTS[label], " ".join(quote.split())
    )


def read_findings(folder: Path) -> list[Finding]:
    """The valid judgments of joined files (`*annotations.jsonl`), each once."""
    found = (
        _finding(row["pmcid"], row, row["label"], row["valid_label"] == "True", row["quote"])
        for path in sorted(folder.glob("*annotations.jsonl"))
        for row in _lines(path)
    )
    return list(dict.fromkeys(finding for finding in found if finding))


def read_original_findings(annotations: Path) -> list[Finding]:
    """The valid judgments of the authors' `annotations` folder, each once; never the test split."""
    articles = {
        line.strip()
        for split in ("train", "validation")
        for path in [annotations / f"splits/ev2_{split}_article_ids.txt"]
        if path.exists()
        for line in path.read_text(encoding="utf-8").splitlines()
    }
    with (annotations / "prompts_merged.csv").open(encoding="utf-8", newline="") as file:
        prompts = {
            row["PromptID"]: {name.lower(): text for name, text in row.items()}
            for row in csv.DictReader(file)
        }
    found = []
    with (annotations / "v2_annotations.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["PMCID"].removeprefix("PMC") in articles and row["PromptID"] in prompts:
                valid = row["Valid Label"] == "True"
                found.append(
                    _finding(
                        "PMC" + row["PMCID"],
                        prompts[row["PromptID"]],
                        row["Label"],
                        valid,
                        row["Annotations"],
                    )
                )
    return list(dict.fromkeys(finding for finding in found if finding))
