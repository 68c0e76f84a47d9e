"""Which fields a labelled value, a cell of the head or a paragraph states; learned. Pure.

A linear reader of open vocabulary: what the words mean (`word_vectors.npz`: the packaged encoder's
vectors of single words), how they are written, and the form of what they stand before. It is fitted
by `benchmarks.field_reader` on documents whose fields are marked; it knows no list of labels.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import as_file, files
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from knowledge.names.tables import CAPITALS, DOUBTFUL, tables

BUCKETS = 1 << 11
LEAST = 0.5
"""Likelihood from which a unit states a field (benchmarks/field_reader.py)."""
_WORD = re.compile(r"[^\W\d_]+")
_SHAPES = (
    ("day", re.compile(r"\W{0,3}(?:\d{1,4}[-/. ](?:\d{1,2}|[A-Za-z]{3,9})[-/. ]\d{2,4}|"
                       r"[A-Z][a-z]{2,8} \d{1,2},)")),
    ("number", re.compile(r"\W{0,3}\d")),
    ("dose", re.compile(r"[^\n]{0,200}?\d[ ]?(?:mg|mcg|g|iu|units?|ml)\b", re.IGNORECASE)),
    ("entry", re.compile(r"\s{0,40}+(?:[-•*–]|\d{1,2}[.)])\s")),
    ("sentence", re.compile(r"[^\n]{0,200}?[a-z]{2}\.(?:\s|\Z)")),
)  # fmt: skip
_SIZES = (1, 2, 4, 8, 16)
_FIRST = 160
"""Characters of a value that are read (ours)."""
_TITLE_WORDS, _VALUE_WORDS = 10, 20
_EDGE = 4
_ENDINGS = (2, 3)
_NAME_WORDS = 4
"""Words of a name that are looked up (ours)."""
SENTENCE = "sentence"
NOTHING = "nothing"
"""Beside the fields: what a sentence says is no value of any of them."""


class Unit(NamedTuple):
    """Words that may state a field: what they stand under, themselves, and where (`label`, or a
    `cell` or `paragraph` that has no label, how far from the beginning and the end; or what a
    `sentence` says of its subject, and the words that join them)."""

    title: str
    value: str
    kind: str = "label"
    place: str = ""


class Reader(NamedTuple):
    """`vectors` (words, d); `means` (2 d, fields); `table` (BUCKETS, fields); `bias` (fields,)."""

    fields: tuple[str, ...]
    words: Mapping[str, int]
    vectors: NDArray[np.float32]
    means: NDArray[np.float32]
    table: NDArray[np.float32]
    bias: NDArray[np.float32]


def features(one: Unit) -> Iterator[str]:
    """What is known of a unit beside the meaning of its words, each as a word to be hashed."""
    title = _words(one.title)[:_TITLE_WORDS]
    value = _words(one.value[:_FIRST])[:_VALUE_WORDS]
    yield f"k {one.kind}"
    if one.place:
        yield f"p {one.kind} {one.place}"
    if one.kind == SENTENCE:
        yield from _of_a_sentence(one, value)
    yield f"T {' '.join(title)}"
    for at, word in enumerate(title):
        yield f"t {word}"
        if len(word) > _EDGE:
            yield f"t {word[:_EDGE]}-"
            yield f"t -{word[-_EDGE:]}"
        if at + 1 == len(title):
            yield f"l {word}"
    if one.kind == "label":
        yield from (f"f {word}" for word in value[:1])
    else:
        yield from (f"v {word}" for word in value)
        yield from (f"e {word}" for word in value[-1:])
        for word in value:
            if len(word) > _EDGE:
                yield f"v -{word[-_EDGE:]}"
    for name, shape in _SHAPES:
        if shape.match(one.value[:_FIRST]):
            yield f"s {name}"
            yield f"s {one.kind} {name}"
    yield f"n {one.kind} {sum(len(value) > size for size in _SIZES)}"
    if one.value.isupper():
        yield f"c {one.kind}"


def _of_a_sentence(one: Unit, value: Sequence[str]) -> Iterator[str]:
    """Whether words behind a verb name something, or tell what was done to the subject: how they
    are joined, how the first is built, and what kinds of things the terminologies have for them."""
    yield from (f"j {word}" for word in one.place.split())
    for word in value[:1]:
        yield f"b {word}"
        yield from (f"b -{word[-size:]}" for size in _ENDINGS if len(word) > size)
    yield from (f"d {kind}" for kind in kinds_in(value) or ("nothing",))


def kinds_in(words: Sequence[str]) -> list[str]:
    """The kinds of things that words may name by the terminologies."""
    found: set[str] = set()
    for at in range(len(words)):
        for end in range(at + 1, min(at + _NAME_WORDS, len(words)) + 1):
            name = "".join(words[at:end])
            for sense in (*tables().senses(name), *tables().senses(name.removesuffix("s"))):
                if not sense.flags & (CAPITALS | DOUBTFUL):
                    found |= tables().kinds(sense.entry)
    return sorted(found)


def indices(one: Unit) -> list[int]:
    """The buckets of a unit's features, each once."""
    return sorted({crc32(word.encode()) % BUCKETS for word in features(one)})


def meaning(known: Reader, one: Unit) -> NDArray[np.float32]:
    """The mean vectors of a unit's title and of its value, one behind the other."""
    every = (_words(one.title)[:_TITLE_WORDS], _words(one.value[:_FIRST])[:_VALUE_WORDS])
    return np.concatenate([_mean(known, words) for words in every])


def _mean(known: Reader, words: Sequence[str]) -> NDArray[np.float32]:
    held = [known.words[one] for one in words if one in known.words]
    if not held:
        return np.zeros(known.vectors.shape[1], np.float32)
    mean: NDArray[np.float32] = known.vectors[held].mean(axis=0)
    return mean


def read(known: Reader, one: Unit) -> dict[str, float]:
    """How likely a unit states each field, 0-1; of a sentence too that it states none."""
    told = meaning(known, one) @ known.means + known.table[indices(one)].sum(axis=0) + known.bias
    shares = 1.0 / (1.0 + np.exp(-told))
    found = dict(zip(known.fields, map(float, shares), strict=True))
    return found if one.kind == SENTENCE else {k: v for k, v in found.items() if k != NOTHING}


@lru_cache(maxsize=4096)
def stated(one: Unit) -> Mapping[str, float]:
    """How likely a unit states each field, by the packaged reader."""
    return read(reader(), one)


@cache
def word_vectors() -> tuple[Mapping[str, int], NDArray[np.float32]]:
    """The rows of words, and the vectors (words, d) of about 1."""
    path_of = files("knowledge") / "rubrics" / "word_vectors.npz"
    with as_file(path_of) as path, np.load(path) as held:
        words = held["words"].tobytes().decode().split("\n")
        return {one: at for at, one in enumerate(words)}, held["vectors"].astype(np.float32) / 127


@cache
def reader() -> Reader:
    """The reader as it was fitted."""
    words, vectors = word_vectors()
    path_of = files("knowledge") / "rubrics" / "field_reader.npz"
    with as_file(path_of) as path, np.load(path) as held:
        return Reader(
            tuple(held["fields"].tobytes().decode().split("\n")),
            words,
            vectors,
            held["means"].astype(np.float32),
            held["table"].astype(np.float32) * held["scale"].astype(np.float32),
            held["bias"].astype(np.float32),
        )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
