"""The made-up clinical texts and questions that every system gets. The same bytes on any machine.

Nothing in them is a fact, no study behind them exists, and no identifier is named. The standard
library is enough: the peers read this in virtual environments of their own.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

DRUGS = (
    "apixaban",
    "atezolizumab",
    "capecitabine",
    "dapagliflozin",
    "metformin",
    "nivolumab",
    "olaparib",
    "osimertinib",
    "pembrolizumab",
    "rivaroxaban",
    "semaglutide",
    "trastuzumab",
)
DISEASES = (
    "stage II colon cancer",
    "stage III colon cancer",
    "metastatic colorectal cancer",
    "non-small cell lung cancer",
    "early breast cancer",
    "muscle-invasive bladder cancer",
    "resected melanoma",
    "pancreatic cancer",
)
OUTCOMES = (
    "disease-free survival",
    "overall survival",
    "recurrence-free survival",
    "time to recurrence",
    "objective response rate",
    "treatment discontinuation",
    "hospital admission",
)
_QUESTIONS = (
    "Does {drug} improve {outcome} in {disease}?",
    "What is the effect of {drug} on {outcome} in patients with {disease}?",
    "How does {drug} compare with placebo for {outcome} in {disease}?",
)


@dataclass(frozen=True)
class Topic:
    """What a text, or a question, is about."""

    drug: str
    disease: str
    outcome: str


def topic(number: int) -> Topic:
    """The topic of the text with this number: each of the 672 comes up once in 672 texts."""
    drugs, diseases = len(DRUGS), len(DISEASES)
    return Topic(
        DRUGS[number % drugs],
        DISEASES[number // drugs % diseases],
        OUTCOMES[number // (drugs * diseases) % len(OUTCOMES)],
    )


def title(number: int) -> str:
    """The first line of a text."""
    about = topic(number)
    return f"Made-up report {number}: {about.drug} in {about.disease} and {about.outcome}"


def text(number: int, characters: int) -> str:
    """A text of about `characters` characters: a title, a paragraph of methods, then results."""
    about, drawn = topic(number), random.Random(f"attest peers {number}")
    parts = [f"{title(number)}\n\n", _methods(about, drawn)]
    length = sum(map(len, parts))
    cohort = 0
    while length < characters:
        cohort += 1
        paragraph = "\n\n" + " ".join(_results(about, cohort, drawn))
        parts.append(paragraph)
        length += len(paragraph)
    return "".join(parts) + "\n"


def _methods(about: Topic, drawn: random.Random) -> str:
    return (
        f"We assigned {drawn.randint(200, 4000)} patients with {about.disease} to {about.drug} or "
        f"to placebo at {drawn.randint(4, 120)} centers. The primary endpoint was {about.outcome}. "
        f"Median follow-up was {drawn.randint(12, 90)} months."
    )


def _results(about: Topic, cohort: int, drawn: random.Random) -> Iterator[str]:
    ratio, low, high = drawn.uniform(0.5, 1.3), drawn.uniform(0.3, 0.5), drawn.uniform(1.4, 2.0)
    yield (
        f"In cohort {cohort}, {about.drug} gave a hazard ratio for {about.outcome} of {ratio:.2f} "
        f"(95% CI {low:.2f}–{high:.2f}; P ≤ {drawn.uniform(0.001, 0.2):.3f}) against placebo."
    )
    yield (
        f"Adverse events of grade ≥3 occurred in {drawn.randint(5, 60)}% of "
        f"{drawn.randint(80, 900)} patients given {about.drug} and in {drawn.randint(1, 40)}% of "
        "those given placebo."
    )
    yield (
        f"At {drawn.randint(12, 60)} months {drawn.randint(40, 95)}.{drawn.randint(0, 9)}% of the "
        f"patients with {about.disease} were alive, and {drawn.randint(1, 30)} were lost to "
        "follow-up."
    )


def questions(count: int, seed: int = 7) -> list[str]:
    """Questions on topics that the first 96 texts of every corpus have, in an order by `seed`."""
    drawn = random.Random(f"attest peers questions {seed}")
    asked = []
    for _ in range(count):
        about = topic(drawn.randrange(96))
        form = drawn.choice(_QUESTIONS)
        asked.append(form.format(drug=about.drug, disease=about.disease, outcome=about.outcome))
    return asked


def write(folder: Path, numbers: Sequence[int], characters: int) -> list[Path]:
    """One UTF-8 file a text; gives their paths, in order."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"report-{number:06d}.txt" for number in numbers]
    for number, path in zip(numbers, paths, strict=True):
        path.write_bytes(text(number, characters).encode())
    return paths
