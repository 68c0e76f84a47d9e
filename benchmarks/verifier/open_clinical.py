"""Readers of open sets that are clinical or biomedical. Each yields the pairs as a set has them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from random import Random

from benchmarks.verifier.open_files import OURS, SENTENCE_END, Files, Row, ended, flat, size, words
from benchmarks.verifier.open_general import MOST, key

_DESIGN = re.compile(r"\b(protocol|rationale|study design|design of)\b", re.IGNORECASE)
_FOUND = re.compile(
    r"significan|superior|P ?[<=≤]|improv|greater|reduc|higher|lower|inferior|equivalen"
    r"|more effective|better|increas|decreas"
)
_NOTHING = re.compile(
    r"\b(no (statistically )?(significant )?(difference|improvement|effect|benefit)"
    r"|not (statistically )?significant|nonsignificant|non-significant|did not|does not|similar"
    r"|not superior|failed|no evidence|comparable|not differ|no better|not improve)",
    re.IGNORECASE,
)
_LOOSE = {"INDIRECT", "INDIRECT_NOT_REVIEW", "ETIQUETTE"}


def check_covid(files: Files) -> Iterator[Row]:
    """Claims and their edits beside the marked sentences, and beside the abstract where
    labelled."""
    corpus = {row["cord_id"]: row["abstract"] for row in files.lines("Check-COVID/corpus.json")}
    for row in files.lines("Check-COVID/Check-COVID_all.json"):
        said = corpus.get(row["cord_id"], [])
        numbers = {evidence["sent_index"] for evidence in row["evidence_set"]}
        marked = sorted(number for number in numbers if number < len(said))
        if not marked:
            continue
        group, label = row["id"].rsplit("_", 1)[0], OURS[row["label"]]
        yield Row(row["claim"], _plain(said[number] for number in marked), label, group)
        whole = _widest(said, marked)
        apart = size(whole) > size(" ".join(said[number] for number in marked)) + 8
        if label != "not_enough" and apart:
            yield Row(row["claim"], whole, label, group)


def _plain(sentences: Iterable[str]) -> str:
    heading = re.compile(r"^(Abstract|ABSTRACT|Summary|BACKGROUND:?) ")
    return " ".join(heading.sub("", sentence) for sentence in sentences)


def _widest(said: Sequence[str], marked: Sequence[int]) -> str:
    """The abstract, or as many of its sentences around the marked ones as may be read."""
    whole = _plain(said)
    if size(whole) <= MOST:
        return whole
    first, last = min(marked), max(marked)
    while first > 0 and size(" ".join(said[first - 1 : last + 1])) <= MOST - 30:
        first -= 1
    while last < len(said) - 1 and size(" ".join(said[first : last + 2])) <= MOST - 5:
        last += 1
    return _plain(said[first : last + 1])


def clinifact(files: Files) -> Iterator[Row]:
    """Primary outcomes of registered trials beside abstracts that cite them. The labels come from
    the registry's p values: an abstract that does not speak of a result as the label has it is left
    out, or says not enough."""
    folder = "data/processed/primary_outcome_publication_dataset"
    for name in ("train", "validation", "test"):
        for row in files.table(f"{folder}/{name}_set.csv"):
            abstract = flat(row["article_abstract"])
            claim = flat(row["claim"])
            claim = claim.replace(" is superior or other to ", " differs significantly from ")
            label = _by_registry(row, abstract)
            yield Row(ended(claim), _last(abstract), label, row["nctId"])


def _by_registry(row: Mapping[str, str], abstract: str) -> str:
    design = _DESIGN.search(row["article_title"])
    if row["label"] == "1":
        return "supported" if not design and _FOUND.search(abstract) else ""
    if row["label"] != "0":
        return "not_enough"
    values = [float(value) for value in re.findall(r"\d*\.\d+|\b[01]\b", row["pValues"])]
    if design or not values or min(values) < 0.05:
        return ""
    return "contradicted" if _NOTHING.search(abstract) else "not_enough"


def _last(abstract: str) -> str:
    """The last sentences of an abstract that is too long."""
    if size(abstract) <= MOST - 5:
        return abstract
    kept: list[str] = []
    for sentence in reversed(SENTENCE_END.split(abstract)):
        if size(" ".join(kept)) + size(sentence) > MOST - 15:
            break
        kept.insert(0, sentence)
    return " ".join(kept)


def citint(copy: Files, original: Files) -> Iterator[Row]:
    """Sentences that cite an article beside sentences of it. The copy has the texts, the original
    finer labels: what is only loosely cited is left out."""
    corpus = {str(row["doc_id"]): row["abstract"] for row in copy.lines("data/citint/corpus.jsonl")}
    finer: dict[str, set[str]] = {}
    for name in ("train", "dev", "test"):
        for row in original.lines(f"Data/multivers-format/claims-{name}.jsonl"):
            evidence = chain.from_iterable(row["evidence"].values())
            labels = finer.setdefault(_letters(row["claim"]), set())
            labels.update(one["label"] for one in evidence)
    for name in ("train", "dev", "test"):
        for row in copy.lines(f"data/citint/claims_{name}.jsonl"):
            claim, labels = _uncited(row["claim"]), finer.get(_letters(row["claim"]), set())
            if "<|" in claim or size(claim) < 5 or labels & _LOOSE or len(labels) > 1:
                continue
            for document, evidence in row["evidence"].items():
                said = corpus.get(str(document), [])
                for one in evidence if said else ():
                    numbers = [number for number in one["sentences"] if number < len(said)]
                    passage = " ".join(flat(said[number]) for number in numbers)
                    refuted = "contradicted" if "CONTRADICT" in labels else "not_enough"
                    label = "supported" if one["label"] == "SUPPORT" else refuted
                    yield Row(ended(claim), passage, label, f"{name}{row['id']}")


def _letters(claim: str) -> str:
    return "".join(words(re.sub(r"<\|.*?\|>", "", claim)))


def _uncited(claim: str) -> str:
    """The sentence without marks of citations and the brackets they leave."""
    mark = r"[\[(]?\s*<\|(multi_cit|cit|other_cit)\|>[^\])a-zA-Z]{0,12}[\])]?"
    claim = flat(re.sub(mark, "", claim))
    claim = re.sub(r"\s+([.,;])", r"\1", claim)
    claim = re.sub(r"[\[(][\s,;–-]*[\])]?(?=\.?$)", "", claim).strip()
    claim = re.sub(r"\[[\d,\s–-]*\]", "", claim)
    return flat(re.sub(r"[\[(]\s*$", "", claim))


def medec(files: Files) -> Iterator[Row]:
    """A sentence of a note and the same with an error, each beside the note with either."""
    rng = Random(3)
    for name in ("Validation", "Test"):
        path = f"MEDEC-MS/MEDEC-MS-{name}Set-with-GroundTruth-and-ErrorType.csv"
        for row in files.table(path):
            wrong, right = flat(row["Error Sentence"]), flat(row["Corrected Sentence"])
            text = flat(row["Text"])
            flawed = row["Error Flag"].strip() == "1"
            placed = wrong in text and right in flat(row["Corrected Text"])
            if not flawed or not placed or wrong == right or size(wrong) < 4:
                continue
            group = key(" ".join(words(text)[:30]))
            before, after = _beside(text, wrong, rng)
            for said, other in ((wrong, right), (right, wrong)):
                passage = " ".join([*before, said, *after])
                yield Row(said, passage, "supported", group)
                yield Row(other, passage, "contradicted", group)


def _beside(text: str, sentence: str, rng: Random) -> tuple[list[str], list[str]]:
    """Up to four sentences before and after one."""
    before, after = (
        SENTENCE_END.split(part.strip()) if part.strip() else [] for part in text.split(sentence, 1)
    )
    first, last = rng.randint(0, 4), rng.randint(0, 4)
    return before[len(before) - min(first, len(before)) :], after[:last]
