"""`python -m benchmarks.selector.groups OUT.jsonl`: questions with graded sentences to train on.

One line a question: {"id", "part", "question", "rows"}, a row being [sentence, title, grade,
document]. `part` is
`train` or `held` (BioASQ 9B4 and 9B5, on which everything is tuned). Grades: 3 a sentence of a gold
snippet that holds the exact answer, or of an ideal one most words; 2 another sentence of a gold
snippet; 1 a sentence of a gold document; 0 a sentence of another document that a search finds. What
holds the exact answer and is nobody's gold is left out: it may well be an answer.

Sources: BioASQ 7B to 9B (CC BY 2.5), PubMedQA's development half (MIT), `own.yaml`
beside this file. BioASQ 10B is never read.
"""

import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml

from benchmarks.verifier.texts import Kept
from store.index.terms import term_set
from workers.verify.entailment.passages import sentences

SHARED = Path(__file__).resolve().parents[3] / "shared"
HELD = ("9B4", "9B5")
NEAR, MOST = 14, 64  # documents that a search finds; sentences a question
UNTITLED = 0.5  # of our own questions, how many have lines without titles
SHORTEST, LONGEST = 25, 600  # characters of a sentence that is shown


class Question(NamedTuple):
    """A question with what is known of its answer."""

    key: str
    part: str
    text: str
    snippets: list[tuple[str, str]]
    """PubMed id and words."""
    exact: list[str]
    ideal: str


class Document(NamedTuple):
    """A title and sentences."""

    title: str
    lines: list[str]


def plain(text: str) -> str:
    """Lower case, letters and figures alone."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "


def split(text: str) -> list[str]:
    """The sentences of a text that are neither too short nor too long to be shown."""
    found = (" ".join(span.of(text).split()) for span in sentences(text))
    return [one for one in found if SHORTEST <= len(one) <= LONGEST]


def bioasq(folder: Path) -> tuple[list[Question], dict[str, dict[str, Document]]]:
    """The questions of 7B to 9B, and the documents of each part, made of all its snippets."""
    questions = []
    pieces: dict[str, dict[str, dict[str, list[str]]]] = defaultdict(
        lambda: defaultdict(lambda: {"title": [], "abstract": []})
    )
    for path in sorted(folder.glob("[789]B*_golden.json")):
        part = "held" if path.name[:3] in HELD else "train"
        for one in json.loads(path.read_text(encoding="utf-8"))["questions"]:
            snippets = []
            for snippet in one["snippets"]:
                key = snippet["document"].rstrip("/").rsplit("/", 1)[1]
                where = "title" if snippet["beginSection"] == "title" else "abstract"
                words = " ".join(snippet["text"].split())
                snippets.append((key, words))
                pieces[part][key][where].append(words)
            exact, ideal = one.get("exact_answer"), one["ideal_answer"]
            questions.append(
                Question(
                    one["id"], part, one["body"], snippets,
                    list(_strings(exact)) if one["type"] in ("factoid", "list") else [],
                    ideal if isinstance(ideal, str) else ideal[0],
                )
            )  # fmt: skip
    documents = {
        part: {key: _document(one["title"], one["abstract"]) for key, one in found.items()}
        for part, found in pieces.items()
    }
    return questions, documents


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in value if isinstance(value, list) else ():
        yield from _strings(one)


def _document(titles: list[str], abstracts: list[str]) -> Document:
    lines: dict[str, None] = {}
    for text in abstracts or titles:
        lines.update(dict.fromkeys(split(text)))
    return Document(max(titles, key=len, default=""), list(lines))


def pubmedqa(path: Path) -> tuple[list[Question], dict[str, Document], dict[str, dict[str, float]]]:
    """Its questions, documents, and the grade of each sentence of its own document."""
    questions, documents, graded = [], {}, {}
    for key, one in json.loads(path.read_text(encoding="utf-8")).items():
        grades = dict.fromkeys(split(one["LONG_ANSWER"]), 3.0)
        for label, text in zip(one["LABELS"], one["CONTEXTS"], strict=False):
            is_result = re.search("(?i)result|finding|conclu", label) is not None
            for line in split(text):
                grades.setdefault(line, 1.5 if is_result else 0.0)
        questions.append(Question(f"pqa{key}", "train", one["QUESTION"], [], [], ""))
        documents[f"pqa{key}"], graded[f"pqa{key}"] = Document("", list(grades)), grades
    return questions, documents, graded


class Search:
    """BM25 over documents (k1 1.2, b 0.75)."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._postings: dict[int, list[tuple[str, float]]] = defaultdict(list)
        counts = {
            key: Counter(t for line in (one.title, *one.lines) for t in term_set(line))
            for key, one in documents.items()
        }
        mean = sum(map(Counter.total, counts.values())) / max(1, len(counts))
        for key, count in counts.items():
            grown = 1.2 * (0.25 + 0.75 * count.total() / mean)
            for term, n in count.items():
                self._postings[term].append((key, n * 2.2 / (n + grown)))
        self._size = len(counts)

    def nearest(self, question: str, most: int) -> list[str]:
        """The keys of the documents that fit best."""
        scores: dict[str, float] = defaultdict(float)
        for term in term_set(question):
            held = self._postings.get(term, [])
            idf = math.log(1 + (self._size - len(held) + 0.5) / (len(held) + 0.5))
            for key, score in held:
                scores[key] += idf * score
        return sorted(scores, key=lambda key: (-scores[key], key))[:most]


def grade(question: Question, line: str, own: set[str]) -> float | None:
    """How well a line of a BioASQ document answers; None where that is not known.

    Args:
        own: the document's gold snippets for this question; empty of another document.
    """
    said = plain(line)
    holds = any(len(one) > 2 and one in said for one in map(plain, question.exact))
    if any(line in one or one in line for one in own):
        if question.exact:
            return 3.0 if holds else 1.5
        ideal = term_set(question.ideal)
        share = len(ideal & term_set(line)) / max(1, min(len(ideal), 25))
        return 2.0 + min(1.0, 2 * share)
    if holds:
        return None
    return 0.5 if own else 0.0


def groups(shared: Path) -> Iterator[dict[str, Any]]:
    """All questions with their graded sentences."""
    asked, parts = bioasq(shared / "data/bioasq/dev")
    more, abstracts, grades = pubmedqa(shared / "data/pubmedqa/dev/pqal_dev500.json")
    kept = Kept(shared / "eval")
    for part, documents in parts.items():
        held = documents | abstracts
        search = Search(held)
        for one in (*asked, *more):
            if one.part != part or kept.has(one.text):
                continue
            snippets = defaultdict(set)
            for key, words in one.snippets:
                snippets[key].add(words)
            keys = dict.fromkeys((*snippets, *search.nearest(one.text, NEAR)))
            if one.key in grades:
                keys = {one.key: None} | keys
            rows: list[list[Any]] = []
            for key in keys:
                title, lines = held[key]
                for line in lines:
                    if one.key in grades:
                        own = grades[one.key].get(line) if key == one.key else 0.0
                    else:
                        own = grade(one, line, snippets.get(key, set()))
                    if own is not None:
                        rows.append([line, title, round(own, 2), " ".join(lines)])
            rows = [*rows[: MOST // 2], *rows[-MOST // 2 :]] if len(rows) > MOST else rows
            if len({row[2] for row in rows}) > 1:
                yield {"id": one.key, "part": part, "question": one.text, "rows": rows}
    yield from written(Path(__file__).with_name("own.yaml"))


def written(path: Path) -> Iterator[dict[str, Any]]:
    """Our own questions, filled with each subject: a line of the kind answers; another line on the
    subject, and the same line on another subject, does not."""
    own = yaml.safe_load(path.read_text(encoding="utf-8"))
    rng = Random(1)
    for subject in own["subjects"]:
        others = [one for one in own["subjects"] if one is not subject]
        for name, kind in own["kinds"].items():
            for number, question in enumerate(kind["ask"]):
                beside = [
                    line
                    for other, lines in own["kinds"].items()
                    if other != name
                    for line in rng.sample(lines["say"], 1)
                ]
                rows = [(line, subject, 3.0) for line in kind["say"]]
                rows += [(line, subject, 0.0) for line in rng.sample(beside, 9)]
                rows += [(line, subject, 0.0) for line in rng.sample(own["never"], 4)]
                rows += [(line, rng.choice(others), 0.0) for line in kind["say"] * 2]
                rows = [(_filled(line, of), _filled("{x}", of), grade) for line, of, grade in rows]
                bare = rng.random() < UNTITLED
                yield {
                    "id": f"own-{name}-{number}-{subject['x']}",
                    "part": "train",
                    "question": _filled(question, subject),
                    "rows": [[said, "" if bare else title, g, said] for said, title, g in rows],
                }


def _filled(line: str, subject: Mapping[str, Any]) -> str:
    said = line.format(**subject)
    return said[0].upper() + said[1:]


def main() -> None:
    """Writes the groups."""
    counts: Counter[str] = Counter()
    with Path(sys.argv[1]).open("w", encoding="utf-8") as file:
        for one in groups(SHARED):
            file.write(json.dumps(one, ensure_ascii=False) + "\n")
            counts.update({f"{one['part']} questions": 1, f"{one['part']} rows": len(one["rows"])})
    print(dict(counts))


if __name__ == "__main__":
    main()
