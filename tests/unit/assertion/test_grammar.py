"""Sentences that are made: what each says of its findings is known."""

from itertools import islice
from random import Random

from clinical_text.doc import Doc
from tests.unit.assertion import held_out
from tests.unit.assertion.grammar import Made, made

_MADE = 2500
_SHARE = 0.99


def wrong(sentence: Made) -> list[str]:
    """The findings of a sentence that are read otherwise than they were made."""
    reading = Doc(sentence.text)
    return [
        f"{sentence.text!r}: {sentence.text[start:end]!r} is {means}"
        for start, end, means in sentence.findings
        if reading.reading(start, end).assertion != means
    ]


def test_what_the_grammar_makes_is_read_as_it_was_made() -> None:
    failed = [one for sentence in islice(made(Random(31)), _MADE) if (one := wrong(sentence))]

    assert len(failed) <= (1 - _SHARE) * _MADE, failed[:20]


def test_frames_triggers_and_findings_of_another_grammar_are_read_alike() -> None:
    sentences = made(Random(33), held_out.FRAMES, held_out.SLOTS, held_out.FINDINGS)
    failed = [one for sentence in islice(sentences, _MADE) if (one := wrong(sentence))]

    assert len(failed) <= (1 - _SHARE) * _MADE, failed[:20]
