"""The evaluation cases as pairs to be read: `eval/written` and the three files of claims."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.claims.combine import folds
from benchmarks.claims.sources import read_corpus, read_scifact
from benchmarks.verifier.figures import Case
from benchmarks.verifier.pairs import FOLD_SEED, FOLDS, others, overlap
from benchmarks.verifier.twins import twins
from workers.verify.entailment.passage import sentences

SEED = 97  # of the twins and other quotations of the evaluation; training has its own
WINDOW, STEP, MOST = 4, 2, 8  # sentences a window, sentences between two, windows a text
FITS = 1300  # characters that fit the reader's window beside a claim


class Asked(NamedTuple):
    """A pair to be read and what it is for."""

    claim: str
    passage: str
    case: Case


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def written(folder: Path) -> Iterator[Asked]:
    """Each claim with its quotation, with another or its counter, with nothing, and its twins."""
    rng, claims = Random(SEED), list(_lines(folder / "claims.jsonl"))
    true: defaultdict[str, list[str]] = defaultdict(list)
    for claim in claims:
        if claim["label"] == "supported":
            true[claim["set_id"]].append(claim["quote"])
    quotes = [claim["quote"] for claim in claims]
    for one in claims:
        holds, text, quote = one["label"] == "supported", one["claim"], one["quote"]

        def asked(passage: str, form: str, bears: bool, claim: str = text, c: Any = one) -> Asked:
            return Asked(claim, passage, Case("written", form, c["id"], c["kind"], bears))

        yield asked(quote, "own" if holds else "quote", holds)
        yield asked("", "empty", holds)
        if not holds:
            if "counter" in one:
                yield asked(one["counter"], "counter", True)
            continue
        apart = others(text, quote, true[one["set_id"]])
        if apart:
            yield asked(rng.choice(apart), "other", False)
        elsewhere = " ".join(rng.sample(quotes, 12))
        for twin in twins(text, quote, elsewhere, rng):
            yield asked(quote, "twin-" + twin.kind, False, twin.claim)


def parts(claim: str, evidence: str) -> Iterator[tuple[str, str]]:
    """The passages of a text that are read for a claim, and the form of each."""
    said = [evidence[span.start : span.end] for span in sentences(evidence)]
    if len(said) <= WINDOW and len(evidence) < FITS:
        yield "all", evidence
        return
    if len(evidence) < FITS:
        yield "whole", evidence
    near = sorted(range(len(said)), key=lambda i: -overlap(claim, said[i]))[:WINDOW]
    yield "nearest", " ".join(said[i] for i in sorted(near))
    windows = [
        " ".join(said[i : i + WINDOW]) for i in range(0, max(1, len(said) - WINDOW + STEP), STEP)
    ]
    for window in sorted(windows, key=lambda w: -overlap(claim, w))[:MOST]:
        yield "window", window


def _fold_of(shared: Path) -> dict[tuple[str, str], int]:
    dev = shared / "data/scifact/dev"
    corpus = read_corpus(shared / "eval/retrieval_scifact/corpus.jsonl")
    expert = read_scifact(dev / "claims_train.jsonl", dev / "qrels_train.tsv", corpus)
    found = folds(expert, FOLDS, FOLD_SEED)
    return {(e.claim_key, e.abstract.key): f for e, f in zip(expert, found, strict=True)}


def claims(path: Path, name: str, shared: Path) -> Iterator[Asked]:
    """Every claim of a file beside the parts of its evidence."""
    fold_of = _fold_of(shared) if name == "scifact" else {}
    for one in _lines(path):
        fold = -1
        if fold_of:
            _, claim_key, document = one["id"].split("-")
            fold = fold_of[claim_key, document]
        fits = "fits" if len(one["evidence"]) < FITS else ""
        for form, passage in parts(one["claim"], one["evidence"]):
            case = Case(name, form, one["id"], fits, one["label"] == "supported", fold)
            yield Asked(one["claim"], passage, case)


def gather(shared: Path) -> list[Asked]:
    """All cases."""
    found = list(written(shared / "eval/written"))
    for name in ("scifact", "healthver", "nli4ct"):
        found += claims(shared / f"eval/claims_{name}.jsonl", name, shared)
    return found
