"""Settings of the garbage collector for a long-lived process."""

import gc

YOUNG_OBJECTS = 20_000
OLDER_ROUNDS = 20


def settle_memory() -> None:
    """Exempt the objects of start-up from garbage collection, and collect less often.

    Parsing makes many small objects that live until their packet is stored; with Python's defaults
    (700, 10, 10) collection takes a fifth of an import (`python -m benchmarks.sources`).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, OLDER_ROUNDS, OLDER_ROUNDS)
