"""`python -m benchmarks.verifier.leaks`: can a written pair's label be guessed from half of it?

Naive Bayes over words and pairs of words, and the best threshold of length, each on documents that
were left out (five folds). Printed are percentages of right guesses beside that of the larger
label.
"""

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import log
from pathlib import Path
from typing import NamedTuple

from benchmarks.verifier.pack import spread
from benchmarks.verifier.written import written

FOLDS = 5


class Half(NamedTuple):
    """What is seen of a pair, what is to be guessed, and the fold it is in."""

    text: str
    truth: bool
    fold: int


def tokens(text: str) -> Iterator[str]:
    """Words and pairs of words."""
    words = re.findall(r"\w+|[^\w\s]", text.lower())
    yield from words
    yield from map(" ".join, pairwise(words))


def by_words(seen: Sequence[Half]) -> Callable[[str], bool]:
    """Naive Bayes, each token counted once a text."""
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    texts = Counter(half.truth for half in seen)
    for half in seen:
        counts[half.truth].update(set(tokens(half.text)))

    def guess(text: str) -> bool:
        odds = log(texts[True] / texts[False])
        for token in set(tokens(text)):
            yes = (counts[True][token] + 0.5) / (texts[True] + 1)
            no = (counts[False][token] + 0.5) / (texts[False] + 1)
            odds += log(yes / no)
        return odds > 0

    return guess


def by_length(seen: Sequence[Half]) -> Callable[[str], bool]:
    """The threshold of length that guesses most of the seen ones right."""
    steps = range(20, 400, 5)
    longer = {step: sum((len(half.text) > step) == half.truth for half in seen) for step in steps}
    best = max(steps, key=lambda step: abs(longer[step] - len(seen) / 2))
    more = longer[best] > len(seen) / 2
    return lambda text: (len(text) > best) == more


def right(
    halves: Sequence[Half], learn: Callable[[Sequence[Half]], Callable[[str], bool]]
) -> float:
    """The percentage of right guesses on documents that were left out."""
    good = 0
    for fold in range(FOLDS):
        guess = learn([half for half in halves if half.fold != fold])
        good += sum(guess(half.text) == half.truth for half in halves if half.fold == fold)
    return 100 * good / len(halves)


def tell(name: str, halves: Sequence[Half]) -> None:
    """Prints one line."""
    share = 100 * sum(half.truth for half in halves) / len(halves)
    words, length = right(halves, by_words), right(halves, by_length)
    larger = max(share, 100 - share)
    print(f"{name}: words {words:.1f}, length {length:.1f}, larger label {larger:.1f}")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    pairs = list(written(parser.parse_args().shared / "data"))

    claims: dict[str, Half] = {}
    by_claim, by_passage, by_edit = [], [], []
    for pair in pairs:
        fold, borne_out = spread(pair.document, FOLDS, "leaks"), pair.label == "supported"
        claims[pair.key] = Half(pair.claim, borne_out != pair.edited, fold)
        by_claim.append(Half(pair.claim, borne_out, fold))
        by_passage.append(Half(pair.passage, borne_out, fold))
        by_edit.append(Half(pair.passage, pair.edited, fold))
    tell("label of a pair by its claim", by_claim)
    tell("label of a pair by its passage", by_passage)
    tell("truth of a claim beside the text as it is, by the claim", list(claims.values()))
    tell("edited or not, by the passage", by_edit)


if __name__ == "__main__":
    main()
