"""Words that have a tag make parts of a text."""

import numpy as np

from workers.encoder.tagging import SURE, Word, parts_of


def test_a_word_belongs_to_a_part_from_the_share_on_that_may_be_one() -> None:
    shares = [SURE, 0.25, 0.2]
    places = [(0, 4), (5, 9), (10, 14)]
    words = [
        Word(*place, np.array([share], np.float32))
        for place, share in zip(places, shares, strict=True)
    ]
    (part,) = parts_of("gout left foot", words, 0, may=0.25)
    assert (part.start, part.end) == (0, 9)
