"""The evaluation cases as pairs to be read: `eval/written` and the three files of claims."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.claims.folds import folds
from benchmarks.claims.sources import read_corpus, read_scifact
from benchmarks.verifier.figures import Case
from benchmarks.verifier.pairs import FOLD_SEED, FOLDS, others
from benchmarks.verifier.twins import twins
from workers.verify.entailment import passages
from workers.verify.entailment.passages import parts

SEED = 97  # of the twins and other quotations of the evaluation; training has its own


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
    for row in claims:
        holds, text, quote = row["label"] == "supported", row["claim"], row["quote"]

        def asked(passage: str, form: str, bears: bool, claim: str = text, row: Any = row) -> Asked:
            return Asked(claim, passage, Case("written", form, row["id"], row["kind"], bears))

        yield asked(quote, "own" if holds else "quote", holds)
        yield asked("", "empty", holds)
        if not holds:
            if "counter" in row:
                yield asked(row["counter"], "counter", True)
            continue
        apart = others(text, quote, true[row["set_id"]])
        if apart:
            yield asked(rng.choice(apart), "other", False)
        elsewhere = " ".join(rng.sample(quotes, 12))
        for twin in twins(text, quote, elsewhere, rng):
            yield asked(quote, "twin-" + twin.kind, False, twin.claim)


def _fold_of(shared: Path) -> dict[tuple[str, str], int]:
    dev = shared / "data/scifact/dev"
    corpus = read_corpus(shared / "eval/retrieval_scifact/corpus.jsonl")
    expert = read_scifact(dev / "claims_train.jsonl", dev / "qrels_train.tsv", corpus)
    found = folds(expert, FOLDS, FOLD_SEED)
    return {
        (judged.claim_key, judged.abstract.key): fold
        for judged, fold in zip(expert, found, strict=True)
    }


def claims(path: Path, name: str, shared: Path) -> Iterator[Asked]:
    """Every claim of a file beside the parts of its evidence."""
    fold_of = _fold_of(shared) if name == "scifact" else {}
    for row in _lines(path):
        fold = -1
        if fold_of:
            _, claim_key, document = row["id"].split("-")
            fold = fold_of[claim_key, document]
        fits = "fits" if len(row["evidence"]) < passages.FITS else ""
        for form, passage in parts(row["claim"], row["evidence"]):
            case = Case(name, form, row["id"], fits, row["label"] == "supported", fold)
            yield Asked(row["claim"], passage, case)


def gather(shared: Path) -> list[Asked]:
    """All cases."""
    found = list(written(shared / "eval/written"))
    for name in ("scifact", "healthver", "nli4ct"):
        found += claims(shared / f"eval/claims_{name}.jsonl", name, shared)
    return found
