"""How well a claim begins an answer: the weights of workers/generate/leading.py.

    python -m benchmarks.selector.groups GROUPS.jsonl
    python -m benchmarks.leads.train GROUPS.jsonl          # the figures of what is held out
    python -m benchmarks.leads.train GROUPS.jsonl --write  # knowledge/answering/leading.yaml

A logistic reader of pairs: of two claims of a question, the one that answers (2 or 3 in `written`,
2 and more in the groups) is worth more. In `written` the sentences that answer repeat none of the
question's words, by design of its writers, so what is shared with the question is learned from the
groups alone: of a question the ten sentences that the selector puts first, since an answer shows
such. These are BioASQ 9B4 and 9B5, which the selector did not learn, and some of our own.
`graded.jsonl` is never read here.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from knowledge.subjects.naming import mentions
from store.documents.content import Content, content, terms_of_interest
from workers.generate.candidates import Candidate
from workers.generate.leading import Leading
from workers.generate.scoring import Asked, Scorer
from workers.generate.selector import selector
from workers.retrieve.understanding.read import understand

HERE = Path(__file__).parent
TO = HERE.parents[1] / "knowledge" / "answering" / "leading.yaml"
WRITERS = ("one", "two", "three")
SHARED = ("fits", "covers", "states")
"""What is shared with the question."""
SHOWN, OWN, RIDGE, STEPS = 10, 60, 2.0, 30
GOOD = 2
"""The grade from which a sentence answers."""
HEAD = """\
# What weighs in how well a claim begins an answer (workers/generate/leading.py): a logistic reader
# of pairs, fitted by `python -m benchmarks.leads.train GROUPS --write`, which writes this file.

"""
Row = tuple[str, str, str, float]
"""Sentence, title, part, grade."""
Weights = dict[str, float]


class Group(NamedTuple):
    """A question's claims by their features, and how well each answers."""

    features: list[Weights]
    grades: list[float]


def read_group(question: str, rows: Sequence[Row], *, shared: bool = True) -> Group:
    """The features of a question's claims; `shared`: with what they share with the question."""
    asked = understand(question)
    form = asked.asked.type if asked.asked else ""
    contents: list[Content] = [
        content(one.text, dict.fromkeys(terms_of_interest(one.text), 1.0))
        for one in asked.sub_queries
    ]
    questions = [one.text for one in asked.sub_queries]
    scorer = Scorer(
        Asked(
            asked.query_type,
            contents,
            asked.diseases,
            asked.products,
            questions,
            asked.names,
            type=form,
        )
    )
    leading = Leading(questions, form, asked.names, scorer)
    claims = [
        Candidate(
            str(number),
            "pubmed",
            text,
            title,
            0.0,
            section=part,
            asked_for=any(mentions(title, one) for one in asked.names),
        )
        for number, (text, title, part, _) in enumerate(rows)
    ]
    scorer.read(claims)
    found = [leading.features(one) for one in claims]
    if not shared:
        found = [{name: v for name, v in one.items() if name not in SHARED} for one in found]
    return Group(found, [row[3] for row in rows])


def of_writer(name: str) -> Iterator[Group]:
    """The questions of a writer."""
    for line in (HERE / "written" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        rows = [(r["words"], r["title"], r["section"], float(r["grade"])) for r in one["rows"]]
        yield read_group(one["question"], rows, shared=False)


def of_groups(path: Path) -> Iterator[Group]:
    """The groups that the selector did not learn, and some of our own questions."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    own = [one for one in lines if one["id"].startswith("own-")]
    Random(1).shuffle(own)
    for one in (*(one for one in lines if one["part"] == "held"), *own[:OWN]):
        rows = [(text, title, "", float(grade)) for text, title, grade, _ in one["rows"]]
        scores = selector().scores(one["question"], [(text, title, "") for text, title, *_ in rows])
        shown = [rows[at] for at in np.argsort(-scores)[:SHOWN]]
        yield read_group(one["question"], shown)


def fitted(groups: Sequence[Group], names: Sequence[str]) -> Weights:
    """The weights under which a claim that answers is worth more than one that does not."""
    pairs, shares = [], []
    for features, grades in groups:
        rows = np.array([[one.get(name, 0.0) for name in names] for one in features])
        better = [
            (a, b)
            for a, good in enumerate(grades)
            for b, bad in enumerate(grades)
            if good >= GOOD > bad
        ]
        pairs += [rows[a] - rows[b] for a, b in better]
        shares += [1 / len(better) for _ in better]
    differ, weight = np.array(pairs), np.array(shares)
    theta: NDArray[Any] = np.zeros(len(names))
    for _ in range(STEPS):
        wrong = 1 / (1 + np.exp(differ @ theta))
        slope = RIDGE * theta - (differ * (wrong * weight)[:, None]).sum(0)
        curve = (differ * (wrong * (1 - wrong) * weight)[:, None]).T @ differ
        theta -= np.linalg.solve(curve + RIDGE * np.eye(len(names)), slope)
    return dict(zip(names, theta.round(3).tolist(), strict=True))


def first_answers(groups: Sequence[Group], weights: Weights) -> str:
    """In how many groups the claim that is worth most answers, of those in which one does."""
    hits = [
        grades[int(np.argmax([sum(weights[n] * v for n, v in one.items()) for one in features]))]
        >= GOOD
        for features, grades in groups
        if max(grades) >= GOOD
    ]
    return f"{sum(hits)} of {len(hits)}"


def main() -> None:
    """Prints the figures of what is held out, and writes the weights if it is told to."""
    written = {name: list(of_writer(name)) for name in WRITERS}
    asked = list(of_groups(Path(sys.argv[1])))
    every = [group for groups in written.values() for group in groups]
    names = sorted({name for group in (*every, *asked) for one in group.features for name in one})
    for name in WRITERS:
        others = [group for other in WRITERS if other != name for group in written[other]]
        print(name, first_answers(written[name], fitted([*others, *asked], names)))
    for half in (0, 1):
        weights = fitted([*every, *asked[half::2]], names)
        print("groups, half", half, first_answers(asked[1 - half :: 2], weights))
    weights = fitted([*every, *asked], names)
    lines = "".join(f'  "{name}": {weights[name]:.3f}\n' for name in names)
    print(lines)
    if "--write" in sys.argv:
        TO.write_text(f"{HEAD}weights:\n{lines}", encoding="utf-8")


if __name__ == "__main__":
    main()
