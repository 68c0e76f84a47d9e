"""Readers of open sets that are not clinical. Each yields the pairs of a set as it has them."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from random import Random
from typing import Any

from benchmarks.verifier.open_files import (
    OURS,
    Files,
    Row,
    capital,
    ended,
    flat,
    joined,
    size,
    words,
)

MOST = 250  # words of a passage

_STOP = frozenset(
    [
        "a", "an", "the", "of", "is", "are", "to", "in", "on", "for", "and", "or", "as", "with",
        "by", "from", "that", "which", "can", "be", "used", "into", "it", "its", "kind",
        "something", "means",
    ]
)  # fmt: skip
_PUBLISHER = "(meta data) PUB"  # of a page, not what it says
_PUBLISHED = "(meta data) PUBLISHED"
_FIELDS = ("Healthcare / Medicine", "Biology", "Psychology", "Chemistry")
_SCONE = (
    "no_negation", "one_not_scoped", "one_scoped", "one_scoped_one_not_scoped", "two_not_scoped",
    "two_scoped",
)  # fmt: skip


def key(text: str) -> str:
    """A short name that follows from a text."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:8]


def fm2(files: Files) -> Iterator[Row]:
    """Claims of a game, written to deceive, beside sentences of Wikipedia."""
    for name in ("dev", "test"):
        for row in files.lines(f"dataset/{name}.jsonl"):
            page = row["wikipedia_page"]
            passage = " ".join(
                [f"{page}.", *(ended(gold["text"]) for gold in row["gold_evidence"])]
            )
            yield Row(joined(row["text"]), joined(passage), OURS[row["label"]], key(page))


def wice(files: Files) -> Iterator[Row]:
    """Sentences of Wikipedia beside the web pages that they cite; half borne out is not enough."""
    entailment = "code_and_resources/entailment_inputs/oracle_chunks/claim"
    for name in ("dev", "test"):
        for row in files.lines(f"{entailment}/{name}.jsonl"):
            label = "supported" if row["label"] == "supported" else "not_enough"
            passage = " ".join(map(_told, _short_enough(row)))
            yield Row(row["claim"], passage, label, row["meta"]["id"])
    for name in ("dev", "test", "train"):
        for number, row in enumerate(files.lines(f"data/non_supported_tokens/{name}.jsonl")):
            group = (row.get("meta") or {}).get("id", "").split("-")[0] or f"nst{name}{number}"
            for marked in row["supporting_sentences"][:1]:
                yield Row(row["claim"], _around(row["evidence"], marked), "not_enough", group)


def _told(sentence: str) -> str:
    return ended(sentence.replace("(meta data) TITLE:", "").lstrip("# "))


def _short_enough(row: Mapping[str, Any]) -> list[str]:
    """Sentences of a page, without the last ones that nobody marked where it is too long."""
    meta, evidence = row["meta"], row["evidence"]
    same = len(meta["chunk_idx"]) == len(evidence)
    numbers = meta["chunk_idx"] if same else range(len(evidence))
    marked = set(meta.get("oracle_idx") or ())
    numbered = zip(numbers, evidence, strict=True)
    pieces = [(number, text) for number, text in numbered if not text.startswith(_PUBLISHED)]
    while sum(size(text) for _, text in pieces) > MOST:
        idle = [place for place, (number, _) in enumerate(pieces) if number not in marked]
        if not idle:
            break
        del pieces[idle[-1]]
    return [text for _, text in pieces]


def _around(evidence: Sequence[str], marked: Sequence[int]) -> str:
    """The marked sentences with their neighbours, or alone where that is too long."""
    near = sorted({number + step for number in marked for step in (-1, 0, 1)})
    inside = [evidence[number] for number in near if 0 <= number < len(evidence)]
    passage = " ".join(_told(text) for text in inside if not text.startswith(_PUBLISHER))
    if size(passage) > MOST:
        return " ".join(ended(evidence[number]) for number in marked)
    return passage


def cad_nli(files: Files) -> Iterator[Row]:
    """Captions and statements of them, each revised by hand until the label turned."""
    for name in ("train", "dev", "test"):
        for row in files.tabs(f"NLI/all_combined/{name}.tsv"):
            label = OURS.get(row["gold_label"], "")
            yield Row(joined(row["sentence2"]), joined(row["sentence1"]), label)


def scone(files: Files) -> Iterator[Row]:
    """Negations in and out of scope; both pairs of a line stand below each other."""
    for name in ("train", "test"):
        for kind in _SCONE:
            for row in files.table(f"scone_nli/{name}/{kind}.csv"):
                end = "_edited" if "sentence1_edited" in row else ""
                claim, passage = (
                    _repaired(row[part + end], row) for part in ("sentence2", "sentence1")
                )
                label = OURS.get(row["gold_label" + end], "")
                yield Row(claim, passage, label, f"{name}{int(row['']) // 2}")


def _repaired(text: str, row: Mapping[str, str]) -> str:
    """The sentence with "that" where an exchange of "hat" made another word of it."""
    for word in filter(None, (row["sentence1_lex"], row["sentence2_lex"])):
        text = re.sub(rf"\bt{re.escape(word)}\b", "that", text)
    return ended(capital(joined(text)))


def scitab(files: Files) -> Iterator[Row]:
    """Statements about tables of papers; the tables are written out."""
    for row in json.loads(files.text("dataset/sci_tab.json")):
        yield Row(row["claim"], _table(row), OURS[row["label"]], row["table_id"])


def _table(row: Mapping[str, Any]) -> str:
    head = [_cell(cell) for cell in row["table_column_names"]]
    caption = ended(row["table_caption"])
    rows = []
    for cells in row["table_content_values"]:
        first, *others = map(_cell, cells)
        named = [
            f"{name} {cell}" if name else cell
            for name, cell in zip(head[1:], others, strict=False)
            if cell
        ]
        rows.append(f"{first or '–'}: " + "; ".join(named))
    long = f"{caption} " + " | ".join(rows)
    if size(long) <= MOST:
        return long
    rows = [
        ", ".join(_cell(cell) or "–" for cell in cells) for cells in row["table_content_values"]
    ]
    return f"{caption} {', '.join(filter(None, head))} | " + " | ".join(rows)


def _cell(text: str) -> str:
    return flat(re.sub(r"\[(BOLD|ITALIC|EMPTY|UNDERLINE|CONTINUE|ADDRESS)\]", "", text))


def summedits(files: Files) -> Iterator[Row]:
    """Summaries with one fact edited; of the texts only those that are free."""
    for name in ("scitldr", "sales_email", "sales_call"):
        for row in json.loads(files.text(f"data/summedits/summedits_{name}.json")):
            invented = any("alluc" in str(kind) for kind in row["edit_types"])
            label = (
                "supported" if row["label"] == 1 else "not_enough" if invented else "contradicted"
            )
            yield Row(row["summary"], row["doc"], label, name + key(row["doc"]))


def conjnli(files: Files) -> Iterator[Row]:
    """Lists joined by "and", "or", "but", "nor", with and without negation."""
    for name in ("conj_dev", "adversarial_train_15k"):
        for row in files.tabs(f"data/NLI/{name}.tsv"):
            label = OURS.get(row["Label"], "")
            yield Row(_hyphened(row["Hypothesis"]), _hyphened(row["Premise"]), label)


def _hyphened(text: str | None) -> str:
    return re.sub(r"(?<=[A-Za-z0-9]) - (?=[A-Za-z0-9])", "-", joined(text or ""))


def neg_nli(files: Files) -> Iterator[Row]:
    """Negation added to passage, claim or both."""
    for name in ("SNLI", "MNLI"):
        for row in files.tabs(f"data/new_benchmarks/clean_data/{name}.txt"):
            label = OURS.get(row["gold_label"], "")
            yield Row(joined(row["Hypothesis"]), joined(row["Text"]), label)


def entailmentbank(files: Files) -> Iterator[Row]:
    """Facts of school science that only together bear a statement out, and all but one of them."""
    rng, seen = Random(5), set[str]()
    paths = [f"data/processed_data/angles/task_2/{name}.jsonl" for name in ("train", "dev", "test")]
    for row in chain.from_iterable(map(files.lines, paths)):
        parts = re.search(r"\$hypothesis\$ = (.*?) ; \$context\$ = (.*)$", row["input"])
        if parts is None:
            continue
        claim = parts.group(1)
        facts = dict(re.findall(r"(sent\d+): (.*?)(?= sent\d+: |$)", parts.group(2)))
        needed = list(dict.fromkeys(re.findall(r"sent\d+", row["output"])))
        if claim not in seen and len(needed) > 1 and facts.keys() >= set(needed):
            seen.add(claim)
            yield from _with_and_without(claim, facts, needed, rng)


def _with_and_without(
    claim: str, facts: Mapping[str, str], needed: Sequence[str], rng: Random
) -> Iterator[Row]:
    """The claim beside all facts that it needs, and beside all but the one most like it."""
    others = [name for name in facts if name not in needed]
    beside = rng.sample(others, min(len(others), rng.randint(2, 6)))
    wanted = set(words(claim)) - _STOP

    def likeness(name: str) -> float:
        fact = words(facts[name])
        return len(wanted & set(fact)) / (1 + 0.1 * len(fact))

    best = max(needed, key=likeness)
    whole, part = [*needed, *beside], [name for name in needed if name != best] + beside
    rng.shuffle(whole)
    left = [name for name in others if name not in beside]
    if left:
        part.append(rng.choice(left))
    rng.shuffle(part)
    told, group = ended(capital(joined(claim))), key(claim)
    yield Row(told, _facts(facts, whole), "supported", group)
    said = set(words(" ".join(facts[name] for name in part)))
    if len(wanted & set(words(facts[best]))) > 1 and not wanted <= said:
        yield Row(told, _facts(facts, part), "not_enough", group)


def _facts(facts: Mapping[str, str], names: Sequence[str]) -> str:
    plain = (re.sub(r" ?; ?", ", ", facts[name]).replace(" / ", "/") for name in names)
    return " ".join(ended(capital(joined(fact))) for fact in plain)


def expertqa(files: Files) -> Iterator[Row]:
    """Sentences of models' answers beside web pages, judged by experts of the field."""
    names = [f"{way}_{part}" for way in ("rand", "domain") for part in ("val", "test")]
    for row in chain.from_iterable(files.lines(f"data/lfqa/{name}.jsonl") for name in names):
        field = "med" if row["metadata"]["field"] in _FIELDS else "oth"
        claims = chain.from_iterable(answer["claims"] for answer in row["answers"].values())
        for judged in claims:
            support = judged["support"]
            claim = re.sub(r"\s*\[\d+(,\s*\d+)*\]", "", judged["claim_string"])
            if support not in ("Complete", "Partial", "Incomplete"):
                continue
            if re.search(r"passage|ID \d|https?://", claim, re.IGNORECASE):
                continue
            label = "supported" if support == "Complete" else "not_enough"
            passage = " ".join(_pages(judged["evidence"] or ()))
            yield Row(claim, passage, label, field + key(row["question"]))


def _pages(evidence: Sequence[str]) -> Iterator[str]:
    for page in evidence:
        text = re.sub(r"https?://\S+", "", re.sub(r"^\[\d+\]\s*", "", page))
        if size(text) > 15:
            yield flat(re.sub(r"<[^>]+>", " ", text))


def mnli_dev(files: Files) -> Iterator[Row]:
    """Statements of many genres."""
    yield from _premises(files, "nli_datasets/mnli/dev.csv")


def scitail_dev(files: Files) -> Iterator[Row]:
    """Answers to questions of school science beside sentences of the web."""
    yield from _premises(files, "nli_datasets/scitail/dev.csv")


def _premises(files: Files, path: str) -> Iterator[Row]:
    for row in files.table(path):
        label = OURS.get(row["label"], "")
        yield Row(joined(row["hypothesis"]), joined(row["premise"]), label)


def condaqa(files: Files) -> Iterator[Row]:
    """Questions about a negated sentence and its edits, each with one answer for all passages."""
    test = "data/few-shot/test_splits/conda_fewshot_test"
    paths = ["data/condaqa_dev.json", *(f"{test}_{number}.json" for number in range(1, 6))]
    for row in chain.from_iterable(map(files.lines, paths)):
        label, question = row["label"].strip().upper(), flat(row["sentence2"])
        if label not in ("YES", "NO", "DON'T KNOW") or not question.endswith("?"):
            continue
        name = f"{row['PassageID']}{row['QuestionID']}{question}"
        odd = int(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest(), 16) % 2
        answer, other = ("YES", "NO") if odd else ("NO", "YES")
        ours = {answer: "supported", other: "contradicted"}.get(label, "not_enough")
        claim = f"{question} {answer.capitalize()}."
        yield Row(claim, row["sentence1"], ours, str(row["PassageID"]))
