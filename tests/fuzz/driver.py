"""Running targets without atheris: over their corpus, and over damage to it."""

from collections.abc import Iterator
from random import Random

from tests.fuzz.targets import Target


def inputs(target: Target, damaged: int) -> Iterator[bytes]:
    """The corpus as it is, and `damaged` inputs made from it, the same ones each time."""
    corpus = target.corpus()
    yield from corpus
    for n in range(damaged):
        random = Random(f"{target.name} {n}")
        data = random.choice(corpus)
        for _ in range(random.randrange(1, 4)):
            data = target.mutate(data, random)
        yield data
