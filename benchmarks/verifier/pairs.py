"""`python -m benchmarks.verifier.pairs OUT`: every training pair, one JSON object a line.

Fields: `claim`, `passage`, `label` (supported, contradicted, not_enough, or none: only a teacher
labels it), `unit` (pairs that are ranked against each other: one claim, or one passage), `group`
(the text they come from: what is held out is held out by it), `source`, `fold` (of SciFact, else
-1).

Read are: written pairs (claims by people and models over texts, each with a passage that bears it
out and one that does not), SciFact's training claims, Evidence Inference, abstracts, and open sets
that were brought into the same fields. Nothing here shares thirteen words in a row with an
evaluation text, but for SciFact's claims, which are measured by folds.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.claims import pairs as made
from benchmarks.claims.folds import folds
from benchmarks.claims.sources import (
    Abstract,
    read_corpus,
    read_findings,
    read_original_findings,
    read_scifact,
)
from benchmarks.claims.stems import stems
from benchmarks.verifier.texts import Kept
from benchmarks.verifier.twins import twins
from benchmarks.verifier.written import Written
from benchmarks.verifier.written import written as written_pairs

SEED = 20261126
FOLDS, FOLD_SEED = 5, 1
BORNE_OUT = 0.6  # a quotation with so many of a claim's stems may bear it out: no false pair of it
LONGEST = 2400  # characters of claim and passage, about 600 tokens

_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z0-9(\[“\"])|\n+")


@dataclass(frozen=True)
class Pair:
    """One line of the list; see the module."""

    claim: str
    passage: str
    label: str | None
    unit: str
    group: str
    source: str
    fold: int = -1


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def split(text: str) -> list[str]:
    """Sentences and lines of `text`, roughly."""
    return [one.strip() for one in _SENTENCE.split(text) if one.strip()]


def overlap(claim: str, passage: str) -> float:
    """The share of the claim's stems that the passage has."""
    wanted = set(stems(claim))
    return len(wanted & set(stems(passage))) / max(1, len(wanted))


def others(claim: str, own: str, quotes: Iterable[str]) -> list[str]:
    """Quotations that lie apart from a claim's own and do not bear it out, the nearest first."""
    apart = [quote for quote in dict.fromkeys(quotes) if quote not in own and own not in quote]
    scored = [(overlap(claim, quote), quote) for quote in apart]
    return [quote for share, quote in sorted(scored, reverse=True) if share < BORNE_OUT]


def around(text: str, quote: str, rng: Random) -> str | None:
    """The quotation with up to two sentences before and after it, as the text has them."""
    at = text.find(quote)
    if at < 0:
        return None
    before, after = split(text[:at])[-2:], split(text[at + len(quote) :])[:2]
    first, last = len(before) - rng.randint(0, len(before)), rng.randint(0, len(after))
    parts = [*before[first:], quote, *after[:last]]
    return " ".join(parts) if len(parts) > 1 else None


def from_written(folder: Path, rng: Random) -> Iterator[Pair]:
    """The pairs of `data/pairs`; they were judged by whole texts and hold in a wider window."""
    texts = {row["set_id"]: row["text"] for row in lines(folder / "documents.jsonl")}
    claims = list(lines(folder / "claims.jsonl"))
    true: defaultdict[str, list[str]] = defaultdict(list)
    for row in claims:
        if row["label"] == "supported":
            true[row["set_id"]].append(row["quote"])
    for row in claims:
        group, label = row["set_id"], row["label"]
        first = Pair(row["claim"], row["quote"], label, "w:" + row["id"], group, "written")
        yield first
        wider = around(texts[group], row["quote"], rng)
        if label == "supported":
            yield from _beside_others(first, true[group], rng)
        elif "counter" in row:
            yield replace(first, passage=row["counter"], label="supported")
        if wider and rng.random() < 0.5:
            yield replace(first, passage=wider, source="written-wider")
        yield from unlabelled(first, texts[group], rng)


def _beside_others(pair: Pair, quotes: Iterable[str], rng: Random) -> Iterator[Pair]:
    """The claim beside two quotations for other claims of its text: the nearest, and any."""
    apart = others(pair.claim, pair.passage, quotes)
    for quote in apart[:1] + rng.sample(apart[1:], min(1, len(apart[1:]))):
        yield replace(pair, passage=quote, label="not_enough", source="written-other")


def unlabelled(pair: Pair, text: str, rng: Random) -> Iterator[Pair]:
    """The claim beside windows of its own text, which only a teacher labels."""
    parts = split(text)
    for _ in range(4):
        length = rng.choice((1, 1, 2, 3, 4))
        begin = rng.randrange(max(1, len(parts) - length + 1))
        window = " ".join(parts[begin : begin + length])
        if window and window not in pair.passage:
            yield replace(pair, passage=window, label=None, source="pool")


def from_edited(rows: Iterable[Written], rng: Random) -> Iterator[Pair]:
    """Written pairs of which each claim has its passage as it was and minimally edited."""
    texts: defaultdict[str, list[Written]] = defaultdict(list)
    for row in rows:
        texts[row.document].append(row)
    for group, those in texts.items():
        plain = [row for row in those if not row.edited]
        for row in those:
            pair = Pair(row.claim, row.passage, row.label, "e:" + row.key, group, "written")
            yield pair
            if row.edited:
                continue
            if row.label == "supported":
                true = (other.passage for other in plain if other.label == "supported")
                yield from _beside_others(pair, true, rng)
            beside = [other.passage for other in those if other.key != row.key]
            for passage in rng.sample(beside, min(5, len(beside))):
                yield replace(pair, passage=passage, label=None, source="pool")


def from_file(path: Path, source: str) -> Iterator[Pair]:
    """Pairs of an open set; a small group is one unit, of a larger one each claim is."""
    rows = list(lines(path))
    sizes = Counter(str(row["group"]) for row in rows)
    for row in rows:
        group = f"{source}:{row['group']}"
        unit = group if sizes[str(row["group"])] <= 12 else f"{group}:{row['claim'][:80]}"
        yield Pair(row["claim"], row["passage"], row["label"], unit, group, source)


def turned(pairs: Sequence[Pair], rng: Random, most: int, source: str) -> Iterator[Pair]:
    """Twins by code of pairs that hold: false beside the passage, true beside the turned one. At
    most `most` kinds a pair, arms before others: they are the rarest and the hardest."""
    holding = [pair for pair in pairs if pair.label == "supported" and len(pair.passage) < 900]
    for pair in holding:
        strangers = rng.sample(holding, min(12, len(holding)))
        elsewhere = " ".join(f"{other.passage} {other.claim}" for other in strangers)
        found = list(twins(pair.claim, pair.passage, elsewhere, rng))
        rng.shuffle(found)
        for twin in sorted(found, key=lambda twin: twin.kind != "arm")[:most]:
            label = "not_enough" if twin.kind == "name" else "contradicted"
            unit = f"t:{pair.unit}:{twin.kind}"
            yield replace(pair, unit=unit, source=source)
            yield replace(pair, claim=twin.claim, label=label, unit=unit, source=source)
            if twin.passage and twin.passage != pair.passage:
                yield replace(
                    pair, claim=twin.claim, passage=twin.passage, unit=unit, source=source
                )
                yield replace(pair, passage=twin.passage, label=label, unit=unit, source=source)


def _taken(pairs: Iterable[made.Pair], source: str, unit: str = "passage") -> Iterator[Pair]:
    for pair in pairs:
        passage = " ".join(pair.evidence)
        key = passage if unit == "passage" else pair.claim
        group = f"{source}:{pair.group}"
        yield Pair(pair.claim, passage, pair.label, f"{group}:{key[:120]}", group, source)


def from_scifact(shared: Path, rng: Random) -> Iterator[Pair]:
    """SciFact's training claims beside marked and nearest sentences and whole abstracts."""
    corpus = read_corpus(shared / "eval/retrieval_scifact/corpus.jsonl")
    dev = shared / "data/scifact/dev"
    expert = read_scifact(dev / "claims_train.jsonl", dev / "qrels_train.tsv", corpus)
    fold_of: dict[str, int] = {}
    for judged, fold in zip(expert, folds(expert, FOLDS, FOLD_SEED), strict=True):
        fold_of[judged.claim_key] = fold
    for pair in _taken(made.from_scifact(expert, rng), "scifact", "claim"):
        yield replace(pair, fold=fold_of[pair.group.split(":")[1]])
    for judged in expert:
        whole, key = f"{judged.abstract.title}. {judged.abstract.text}", judged.claim_key
        group, unit = f"scifact:{key}", f"scifact:{key}:whole"
        yield Pair(judged.claim, whole, judged.label, unit, group, "scifact-whole", fold_of[key])


def abstracts(shared: Path, inference: Path | None) -> Iterator[Abstract]:
    """Abstracts in no evaluation set: systematic reviews, PubMedQA's development half, trials."""
    for row in lines(shared / "data/pubmedrs200/dev/pubmedrs.jsonl"):
        yield Abstract("rev-" + row["pmid"], row["question"], row["abstract"])
    asked = json.loads((shared / "data/pubmedqa/dev/pqal_dev500.json").read_text(encoding="utf-8"))
    for key, one in asked.items():
        yield Abstract(
            "pqa-" + key, one["QUESTION"], " ".join([*one["CONTEXTS"], one["LONG_ANSWER"]])
        )
    if inference is None:
        return
    test = set((inference / "splits/ev2_test_article_ids.txt").read_text().split())
    for name in ("ev1_test_article_ids.txt", "test_article_ids.txt"):
        test |= set((inference / "splits" / name).read_text().split())
    test = {one.removeprefix("PMC") for one in test}
    for path in sorted((inference / "abstracts").glob("*.abst")):
        if path.stem.removeprefix("PMC") in test:
            continue
        title, _, body = (
            path.read_text(encoding="utf-8").removeprefix("TITLE:").partition("ABSTRACT")
        )
        body = re.sub(r"^(?:ABSTRACT)?[.A-Z/ &]*:+", "", body, flags=re.MULTILINE)
        text = " ".join(body.split())
        text = text[:2500].rpartition(". ")[0] + "."  # some files hold the whole article
        if len(text) > 300:
            yield Abstract("eia-" + path.stem, " ".join(title.split()), text)


def snippets(folder: Path) -> Iterator[Abstract]:
    """The passages that experts marked for questions (BioASQ 7B to 9B), one text a question."""
    for path in sorted(folder.glob("[789]B*_golden.json")):
        for one in json.loads(path.read_text(encoding="utf-8"))["questions"]:
            texts = dict.fromkeys(marked["text"].strip() for marked in one.get("snippets", ()))
            yield Abstract("bioasq-" + one["id"], one["body"], "\n".join(list(texts)[:12]))


def stated(abstracts: Iterable[Abstract], rng: Random) -> Iterator[Pair]:
    """Sentences, lightly reworded, beside themselves and neighbours: those with figures first."""
    for abstract in abstracts:
        said = split(abstract.text)
        usable = [place for place, sentence in enumerate(said) if 60 < len(sentence) < 350]
        rng.shuffle(usable)
        usable.sort(key=lambda place: -min(2, len(re.findall(r"\d+(?:\.\d+)?", said[place]))))
        for place in usable[:3]:
            begin, end = place - rng.choice((0, 0, 1)), place + rng.choice((1, 1, 2))
            passage = " ".join(said[max(0, begin) : end])
            claim, unit = made.light(said[place], rng), f"s:{abstract.key}:{place}"
            yield Pair(claim, passage, "supported", unit, abstract.key, "sentences")


def within(abstracts: Iterable[Abstract], rng: Random) -> Iterator[Pair]:
    """Conclusions and other sentences of a text beside windows of it, without labels."""
    for abstract in abstracts:
        said = split(abstract.text)
        usable = [place for place, sentence in enumerate(said) if 50 < len(sentence) < 300]
        chosen = dict.fromkeys([*usable[-2:], *rng.sample(usable, min(2, len(usable)))])
        for place in chosen:
            claim, unit = made.light(said[place], rng), f"p:{abstract.key}:{place}"
            for _ in range(3):
                length = rng.choice((1, 1, 2, 3))
                begin = rng.randrange(max(1, len(said) - length + 1))
                passage = " ".join(said[begin : begin + length])
                if not begin <= place < begin + length:
                    yield Pair(claim, passage, None, unit, abstract.key, "pool")


def from_questions(folder: Path, rng: Random) -> Iterator[Pair]:
    """Sentences of experts' answers (BioASQ 7B to 9B) beside snippets, without labels."""
    for path in sorted(folder.glob("[789]B*_golden.json")):
        for one in json.loads(path.read_text(encoding="utf-8"))["questions"]:
            answers = one.get("ideal_answer") or []
            answer = answers if isinstance(answers, str) else " ".join(answers[:1])
            marked = [snippet["text"] for snippet in one.get("snippets", ())]
            marked = [text for text in marked if len(text) > 60]
            for claim in [sentence for sentence in split(answer) if 40 < len(sentence) < 300][:2]:
                for snippet in rng.sample(marked, min(5, len(marked))):
                    group = "bioasq-" + one["id"]
                    yield Pair(claim, snippet, None, f"{group}:{claim[:60]}", group, "pool")


def gather(options: argparse.Namespace) -> list[Pair]:
    """All pairs, clean of evaluation texts and without doubles."""
    rng, shared = Random(SEED), options.shared
    kept = Kept(shared / "eval")
    written = list(from_written(shared / "data/pairs", rng))
    written += from_edited(written_pairs(shared / "data"), rng)
    written = _clean(written, kept)
    held = [pair for pair in written if pair.source == "written"]
    pairs = [*written, *turned(held, rng, 4, "twins")]
    findings = read_findings(shared / "data/evidence_inference/dev")
    if options.annotations:
        findings = list(dict.fromkeys(findings + read_original_findings(options.annotations)))
    pairs += _clean(_taken(made.from_findings(findings, rng), "findings"), kept)
    free = [one for one in abstracts(shared, options.annotations) if not kept.shares(one.text)]
    pairs += _taken(made.from_abstracts(free, rng, 1), "abstracts", "claim")
    free += [one for one in snippets(shared / "data/bioasq/dev") if not kept.shares(one.text)]
    pairs += turned(list(stated(free, rng)), rng, 2, "sentences")
    pairs += within(free, rng)
    pairs += _clean(from_questions(shared / "data/bioasq/dev", rng), kept)
    for path in options.open:
        pairs += _clean(from_file(path, "open-" + path.stem), kept)
    pairs += from_scifact(shared, rng)
    unique = {(pair.claim, pair.passage, pair.unit): pair for pair in pairs if pair.passage.strip()}
    return [pair for pair in unique.values() if len(pair.claim) + len(pair.passage) < LONGEST]


def _clean(pairs: Iterable[Pair], kept: Kept) -> list[Pair]:
    pairs = list(pairs)
    texts = {text for pair in pairs for text in (pair.claim, pair.passage)}
    bad = {text for text in texts if kept.shares(text)}
    found = [pair for pair in pairs if pair.claim not in bad and pair.passage not in bad]
    if len(found) < len(pairs):
        gone = Counter(pair.source for pair in pairs) - Counter(pair.source for pair in found)
        print("left out, as they share words with evaluation texts:", dict(gone))
    return found


def main() -> None:
    """Writes the list and prints what is in it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--open", type=Path, nargs="*", default=[], help="open sets")
    parser.add_argument("--annotations", type=Path, help="Evidence Inference's own `annotations`")
    options = parser.parse_args()
    pairs = gather(options)
    with options.out.open("w", encoding="utf-8") as file:
        for pair in pairs:
            file.write(json.dumps(asdict(pair), ensure_ascii=False) + "\n")
    counts: dict[str, Counter[str]] = {}
    for pair in pairs:
        counts.setdefault(pair.source, Counter())[pair.label or "none"] += 1
    for source, labels in counts.items():
        print(source, dict(labels))


if __name__ == "__main__":
    main()
