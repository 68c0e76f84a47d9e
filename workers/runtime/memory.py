"""How a long-lived process keeps its garbage collector out of the way."""

import gc

YOUNG_OBJECTS = 20_000
OLDER_ROUNDS = 20


def settle_memory() -> None:
    """Take what start-up made out of the collector's rounds, and make the rounds rarer.

    Parsing makes many small objects that live until their packet is stored; with Python's own
    numbers (700, 10, 10) the rounds cost a fifth of an import (`python -m benchmarks.sources`).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, OLDER_ROUNDS, OLDER_ROUNDS)
