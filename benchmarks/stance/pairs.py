"""`python -m benchmarks.stance.pairs OUT`: sentences beside yes/no questions, a JSON object a line.

Fields are those of `benchmarks.verifier.pairs`; supported is yes, contradicted no, not_enough
neither. Sources: sentences of BioASQ 7B to 9B3 and of PubMedQA's development half that were read
and marked one by one (`marked.tsv`: id of the question, SHA-256 of the sentence, what it says),
questions that were written to such sentences (`asked.tsv`: SHA-256, what it says, the question),
families that were written (`families.txt`), written claims of the verifier asked as questions,
findings of Evidence Inference, and what is made of these: another name, the contrary asked, a near
sentence of another question, an aim. What is measured is in no pair: BioASQ 9B4 and 9B5, every
second family, a third of the sentences asked about, and that quarter of PubMedQA whose number says
so.
"""

import argparse
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.claims.sources import Finding, read_findings, read_original_findings
from benchmarks.stance.families import members
from benchmarks.stance.questions import asked, flipped, of_finding
from benchmarks.verifier.pack import spread
from benchmarks.verifier.pairs import Pair, from_edited, from_written, overlap
from benchmarks.verifier.texts import Kept
from benchmarks.verifier.written import written
from clinical_text.names import names
from store.index.terms import term_set
from workers.verify.entailment.passages import sentences

SEED = 20261127
LABELS = {"yes": "supported", "no": "contradicted", "neither": "not_enough"}
MEASURED = ("9B4", "9B5")
LONGEST = 420  # characters of a sentence
_DRAWS = 4
_FILE = Path(__file__).parent / "marked.tsv"
_ASKED = Path(__file__).parent / "asked.tsv"
_OF_SOME = (
    "In women", "In men over 75 years", "Among patients with diabetes", "In current smokers",
    "In the subgroup with an ejection fraction below 30 %", "At the lower of two doses",
    "In patients of Asian origin", "In children under two years", "In those who had surgery before",
    "In the first week", "In the third trimester", "In patients with renal failure",
    "In the post hoc analysis of carriers of the variant", "In mild cases", "In severe cases",
)  # fmt: skip
_LABEL = re.compile(r"^[A-Z]{4,}:?\s")
_AIMS = (
    "aim",
    "objective",
    "whether",
    "to determine",
    "to evaluate",
    "investigate",
    "to assess",
    "purpose",
)


@dataclass(frozen=True)
class Marked:
    """A sentence beside a question of an open set; `label` is yes, no or neither."""

    question: str
    sentence: str
    label: str
    key: str
    measured: bool


def _flat(text: str) -> str:
    return " ".join(text.split())


def said_in(text: str) -> list[str]:
    """The sentences of a text, on one line each."""
    return [_flat(span.of(text)) for span in sentences(text)]


def bioasq(shared: Path) -> Iterator[tuple[str, str, bool, list[str]]]:
    """Yes/no questions of BioASQ 7B to 9B: id, question, whether it is measured, its sentences."""
    for one, held in _bioasq(shared):
        if one["type"] == "yesno":
            yield one["id"], _flat(one["body"]), held, _sentences(one)


def _bioasq(shared: Path) -> Iterator[tuple[dict[str, Any], bool]]:
    for path in sorted((shared / "data/bioasq/dev").glob("[789]B*_golden.json")):
        for one in json.loads(path.read_text(encoding="utf-8"))["questions"]:
            yield one, path.name.startswith(MEASURED)


def _sentences(one: dict[str, Any]) -> list[str]:
    said = [line for snippet in one["snippets"] for line in said_in(snippet["text"])]
    return list(dict.fromkeys(said))


def pubmedqa(shared: Path) -> Iterator[tuple[str, str, bool, list[str], dict[str, Any]]]:
    """Questions of PubMedQA's development half: id, question, whether it is measured, the sentences
    of its conclusion, and all that is held of it."""
    path = shared / "data/pubmedqa/dev/pqal_dev500.json"
    for key, one in json.loads(path.read_text(encoding="utf-8")).items():
        held = spread(key, 4, "stance") == 0
        yield key, _flat(one["QUESTION"]), held, said_in(one["LONG_ANSWER"]), one


def marked(shared: Path, annotations: Path | None = None) -> list[Marked]:
    """All sentences that were read and marked; those of Evidence Inference's own `annotations` only
    where these are given."""
    label: dict[tuple[str, str], str] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        key, digest, side = line.split("\t")
        label[key, digest] = side
    every = list(bioasq(shared))
    for key, question, held, said, whole in pubmedqa(shared):
        results = [line for text in whole["CONTEXTS"] for line in said_in(text)]
        every.append((key, question, held, list(dict.fromkeys([*said, *results]))))
    return list(_asked_about(shared, annotations)) + [
        Marked(question, sentence, label[key, digest], key, held)
        for key, question, held, said in every
        for sentence in said
        if (key, digest := _digest(sentence)) in label
    ]


def _asked_about(shared: Path, annotations: Path | None = None) -> Iterator[Marked]:
    """Sentences of learned texts with the questions that were written to them."""
    texts = [_sentences(one) for one, held in _bioasq(shared) if not held]
    for _, _, held, _, whole in pubmedqa(shared):
        texts += [said_in(text) for text in whole["CONTEXTS"]] if not held else []
    if annotations:
        abstracts = sorted((annotations / "abstracts").glob("*"))
        texts += [said_in(path.read_text(encoding="utf-8")) for path in abstracts]
    known = {_digest(line): line for said in texts for line in said}
    for row in _ASKED.read_text(encoding="utf-8").splitlines():
        digest, label, question = row.split("\t")
        if digest in known:
            measured = spread(digest, 3, "stance") == 0
            yield Marked(question, known[digest], label, digest, measured)


def _digest(sentence: str) -> str:
    return hashlib.sha256(sentence.encode()).hexdigest()[:10]


def _pair(question: str, sentence: str, label: str, key: str, source: str, unit: str = "") -> Pair:
    return Pair(question, sentence, LABELS[label], unit or key, key, source)


def learned(shared: Path, annotations: Path | None, rng: Random) -> Iterator[Pair]:
    """Marked sentences, and what is made of them."""
    rows = [one for one in marked(shared, annotations) if not one.measured]
    every: defaultdict[str, list[str]] = defaultdict(list)
    for one in rows:
        for name, kind in _own_names(one.question):
            every[kind].append(name)
    for one in rows:
        yield _pair(one.question, one.sentence, one.label, one.key, "marked")
        if one.label == "neither":
            continue
        for name, kind in _own_names(one.question):
            if name.lower() in one.sentence.lower() and rng.random() < 0.6:
                new = rng.choice(every[kind])
                other = one.question.replace(name, new)
                if other != one.question and new.lower() not in one.sentence.lower():
                    yield _pair(other, one.sentence, "neither", one.key, "renamed", one.key + name)
        if one.label == "no":
            yield from _narrowed(one, rng)
        contrary = flipped(one.question)
        if contrary and one.label == "yes":
            yield _pair(contrary, one.sentence, "no", one.key, "flipped", one.key + "flip")
    yield from _near(rows, rng)
    for key, question, held, said, whole in pubmedqa(shared):
        if not held:
            yield from _before_results(key, question, whole, set(said), rng)


def _narrowed(one: Marked, rng: Random) -> Iterator[Pair]:
    """A sentence that says no, said of some alone."""
    of_some = rng.choice(_OF_SOME)
    if not term_set(of_some) & term_set(one.question):
        bare = _LABEL.sub("", one.sentence)
        text = f"{of_some}, {bare[0].lower() + bare[1:]}"
        yield _pair(one.question, text, "neither", one.key, "narrowed", one.key + "narrow")


def _own_names(question: str) -> list[tuple[str, str]]:
    """Names of a question with the first of their kinds."""
    found = names(question)
    return [(question[one.start : one.end], min(one.kinds, default="")) for one in found]


def _near(rows: Sequence[Marked], rng: Random) -> Iterator[Pair]:
    """Questions beside the nearest sentences of others."""
    said = {one.sentence: (one.key, term_set(one.sentence)) for one in rows}
    questions = dict.fromkeys((one.key, one.question) for one in rows)
    for key, question in questions:
        terms = term_set(question)
        scored = sorted(
            (
                (len(terms & held) / max(1, len(terms)), text)
                for text, (own, held) in said.items()
                if own != key
            ),
            reverse=True,
        )
        fit = [text for share, text in scored[:40] if share < 0.7][:8]
        for sentence in rng.sample(fit, min(2, len(fit))):
            yield _pair(question, sentence, "neither", key, "near")


def _before_results(
    key: str, question: str, whole: dict[str, Any], conclusion: set[str], rng: Random
) -> Iterator[Pair]:
    """A sentence of the aims and one of the methods of an abstract."""
    for label, text in zip(whole["LABELS"], whole["CONTEXTS"], strict=False):
        lines = [
            line for line in said_in(text) if 30 < len(line) < LONGEST and line not in conclusion
        ]
        if any(name in label for name in ("OBJECTIVE", "PURPOSE", "AIM", "BACKGROUND")):
            lines = [line for line in lines if any(word in line.lower() for word in _AIMS)]
        elif "METHOD" not in label and "DESIGN" not in label:
            continue
        if lines and rng.random() < 0.6:
            best = max(lines, key=lambda line: overlap(question, line))
            yield _pair(question, best, "neither", key, "aims")


def of_families() -> Iterator[Pair]:
    """The families that are learned."""
    for one in members(SEED, _DRAWS, dressed=0.35):
        if not one.measured:
            yield _pair(one.question, one.sentence, one.label, f"family{one.family}", "families")


def of_claims(shared: Path, rng: Random) -> Iterator[Pair]:
    """Written claims of the verifier as questions; some stay as they are."""
    pairs = [*from_written(shared / "data/pairs", rng), *from_edited(written(shared / "data"), rng)]
    for pair in pairs:
        if pair.source not in ("written", "written-other") or len(pair.passage) > LONGEST:
            continue
        if pair.label is None or (pair.source == "written-other" and rng.random() < 0.5):
            continue
        found = asked(pair.claim)
        if found is None:
            if rng.random() < 0.25:
                yield replace(pair, source="claims")
            continue
        question, turned = found
        if turned and pair.label == "contradicted":
            continue
        label = "contradicted" if turned and pair.label == "supported" else pair.label
        yield replace(pair, claim=question, label=label, source="claims")


def of_findings(findings: Sequence[Finding], rng: Random) -> Iterator[Pair]:
    """Findings of trials as questions, beside their evidence and that of other outcomes."""
    by_article: defaultdict[str, list[Finding]] = defaultdict(list)
    for one in findings:
        by_article[one.article].append(one)
    for article, those in by_article.items():
        for one in those:
            if (
                not 30 < len(one.quote) < LONGEST
                or max(map(len, (one.outcome, one.intervention))) > 80
            ):
                continue
            fit = (
                overlap(one.outcome, one.quote) > 0.3 and overlap(one.intervention, one.quote) > 0.3
            )
            for question, yes in of_finding(
                one.intervention, one.comparator, one.outcome, one.effect, rng
            ):
                if fit:
                    yield _pair(question, one.quote, "yes" if yes else "no", article, "findings")
                others = [
                    other.quote
                    for other in those
                    if overlap(one.outcome, other.quote) < 0.4 and 30 < len(other.quote) < LONGEST
                ]
                if others and rng.random() < 0.7:
                    yield _pair(question, rng.choice(others), "neither", article, "findings")


def gather(shared: Path, annotations: Path | None) -> list[Pair]:
    """All pairs, clean of evaluation texts and without doubles."""
    rng = Random(SEED)
    findings = read_findings(shared / "data/evidence_inference/dev")
    if annotations:
        findings = list(dict.fromkeys(findings + read_original_findings(annotations)))
    pairs = [
        *learned(shared, annotations, rng),
        *of_families(),
        *of_claims(shared, rng),
        *of_findings(findings, rng),
    ]
    kept = Kept(shared / "eval")
    for text in _measured(shared, annotations):
        kept.add(text)
    unique = {(pair.claim, pair.passage): pair for pair in reversed(pairs)}
    return [
        one
        for one in unique.values()
        if not kept.shares(one.passage) and not kept.shares(one.claim)
    ]


def _measured(shared: Path, annotations: Path | None) -> Iterator[str]:
    """All texts of the questions that are only measured."""
    for _, _, held, said in bioasq(shared):
        if held:
            yield from said
    for _, _, held, said, whole in pubmedqa(shared):
        if held:
            yield from [*said, *whole["CONTEXTS"]]
    yield from (one.sentence for one in _asked_about(shared, annotations) if one.measured)


def counted(pairs: Iterable[Pair]) -> dict[str, dict[str, int]]:
    """How many pairs each source has of each label."""
    counts: dict[str, dict[str, int]] = {}
    for pair in pairs:
        own = counts.setdefault(pair.source, {})
        own[pair.label or "none"] = own.get(pair.label or "none", 0) + 1
    return counts


def main() -> None:
    """Writes the list and prints what is in it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--annotations", type=Path, help="Evidence Inference's own `annotations`")
    options = parser.parse_args()
    pairs = gather(options.shared, options.annotations)
    with options.out.open("w", encoding="utf-8") as file:
        for pair in pairs:
            file.write(json.dumps(asdict(pair), ensure_ascii=False) + "\n")
    for source, own in counted(pairs).items():
        print(source, own)


if __name__ == "__main__":
    main()
