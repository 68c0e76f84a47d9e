"""What is known about each token of the encoder's vocabulary without context. Pure."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from workers.verify.entailment.lexicon import lexicon
from workers.verify.entailment.passage import stem

FLAGS = 7


def token_flags(vocabulary: Mapping[str, int]) -> NDArray[np.float32]:
    """One row a token: negation, up, down, figure, empty word, doubt, absolute: (n, FLAGS)."""
    words = lexicon()
    table = np.zeros((max(vocabulary.values(), default=-1) + 1, FLAGS), np.float32)
    hedges = frozenset(words.hedges)
    for token, number in vocabulary.items():
        root = stem(token)
        table[number] = (
            token in words.negation,
            root in words.up,
            root in words.down,
            token.removeprefix("##").isdigit(),
            token in words.stop_words or not any(c.isalnum() for c in token),
            token in hedges,
            token in words.absolutes,
        )
    return table
