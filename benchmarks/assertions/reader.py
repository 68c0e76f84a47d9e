"""A learned reader of assertions beside the cues of `clinical_text.doc`; the product has it not.

The packaged encoder with its last layers trained on marked findings (`layers.py`), int8. It reads a
sentence once, and its findings from that (README.md says what it gets, and why nothing asks it).
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from clinical_text.assertion.marks import Assertion, Cue, Reading
from clinical_text.assertion.sentence import LINE
from clinical_text.doc import Doc
from workers.encoder.tagging import LONGEST, Matrix, Tagger
from workers.encoder.tokens import Tokens, tokens_of

LAYERS = 6
"""Of the encoder, with the trained ones (README.md)."""
ASSERTIONS: Sequence[Assertion] = tuple(Assertion)
"""What the reader may say, in the order of its weights."""
SURE, SURE_OF_AIM = 0.8, 0.5
"""Shares from which on it counts against the cues, the second where it says that what they do not
deny is aimed at or conditional, which they tell worst (README.md)."""
_AIMS = (Assertion.HYPOTHETICAL, Assertion.CONDITIONAL)
_CUED = (Assertion.HISTORICAL, Assertion.OTHER, Assertion.UNKNOWN)
"""What the cues know better, if they say it: the reader mended no more of these than it spoiled."""
_KEPT = 128
"""Sentences whose states a process keeps (ours): some 6 MB."""


class AssertionReader(Tagger):
    """The model, loaded. Safe to call from several threads at once."""

    def reading(self, text: Doc, start: int, end: int) -> Reading:
        """What a text says of the words at `[start, end)`. Where the reader is surer than the cues,
        its word is the only cue, and the words themselves are the place of it.

        Raises ValueError where that is no place in the text.
        """
        said = text.reading(start, end)
        if not text.sentences or start == end:
            return said
        number = text.sentence_at(start)
        if not _is_learned(text, number, said):
            return said
        sentence = text.sentences[number]
        words = text.text[sentence.start : sentence.end]
        shares = self._shares(words, start - sentence.start, end - sentence.start, said)
        if shares is None:
            return said
        means = ASSERTIONS[int(shares.argmax())]
        denied = said.assertion is Assertion.NEGATED
        sure = SURE_OF_AIM if means in _AIMS and not denied else SURE
        if means is said.assertion or shares.max() < sure:
            return said
        cues = () if means is Assertion.AFFIRMED else (Cue(means, start, end),)
        return Reading(means, frozenset(cues))

    def _shares(self, sentence: str, start: int, end: int, said: Reading) -> Matrix | None:
        """How sure each assertion of the words at `[start, end)` of a sentence is; None where no
        token stands there, or only behind what is read together."""
        tokens, states = _states(self, sentence)
        first, last = tokens_at(tokens, start, end)
        if first >= min(last, len(states) - 2):
            return None
        mean = states[first + 1 : last + 1].mean(0)
        asked = np.concatenate([mean, states[0], by_cues(said)])
        odds = self.own["means.weight"] @ asked + self.own["means.bias"]
        shares = np.exp(odds - odds.max())
        found: Matrix = (shares / shares.sum()).astype(np.float32)
        return found


def _is_learned(text: Doc, number: int, said: Reading) -> bool:
    """Whether a finding is of a kind that was learned: told in one line, not asked, and nothing
    outside of its sentence, such as a heading, says anything of it."""
    sentence = text.sentences[number]
    asks = "?" in text.text[max(sentence.start, sentence.end - 3) : sentence.end]
    if asks or said.assertion in _CUED or LINE in text.marks_of(number).sentence.words:
        return False
    return all(sentence.start <= cue.start < cue.end <= sentence.end for cue in said.cues)


def by_cues(said: Reading) -> Sequence[float]:
    """1 for each assertion that the cues say: an input of the reader beside the sentence."""
    return [float(one in said.marks or one is said.assertion) for one in ASSERTIONS]


def tokens_at(tokens: Tokens, start: int, end: int) -> tuple[int, int]:
    """The numbers of the first token of a place and of the one behind its last."""
    inside = [n for n, (first, last) in enumerate(tokens.places) if last > start and first < end]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)


@lru_cache(maxsize=_KEPT)
def _states(reader: AssertionReader, sentence: str) -> tuple[Tokens, Matrix]:
    tokens = tokens_of(sentence)
    return tokens, reader.states(tokens.stretch(0, LONGEST))
