"""Controls for a judge: claims whose right verdict is known, made of the claims that it judges.

A judge that calls a false one supported is not believed for that batch. So a false control must be
false beside its passage for certain; and as its words are the drafter's, with the same doubts, no
style tells it from the other claims. Pure, seeded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from itertools import chain, islice, zip_longest
from random import Random

from clinical_text.labels import body_of
from clinical_text.quantities import Kind, Quantity, quantities
from knowledge.answering.judging import judging_policy
from store.core.spans import Span
from workers.verify.claims import Drafted, Located
from workers.verify.hard_facts import hard_facts
from workers.verify.passages.locating import CitedText

MOST_SENTENCES = 200
"""Sentences that are looked at, of all sources together (ours)."""
LONGEST = 1500
"""Characters of a sentence that a control is made of (ours)."""
FACTORS = (0.4, 0.5, 0.6, 1.5, 1.6, 1.8, 2.1)
"""By which a figure is changed where its source has no other one like it (ours)."""
CLEARLY = 1.15
"""Factor by which a false figure differs from the true one at least (ours)."""
_NEAREST = 3
"""Passages that a claim is put beside, at most (ours)."""
DENIALS = ("It is not true that: ", "It is not the case that: ")


@dataclass(frozen=True)
class Control:
    """A claim beside its passage, and whether that bears it out.

    `kind` is what makes it false: a "number" of its passage changed, a passage "elsewhere", the
    words of its passage "denied". Else it is "true".
    """

    claim: Located
    kind: str

    @property
    def true(self) -> bool:
        """Whether a judge should support it."""
        return self.kind == "true"


def controls(
    claims: Sequence[Located],
    texts: Mapping[str, CitedText],
    seed: str,
    false: int = 2,
    true: int = 1,
) -> list[Control]:
    """Up to `false` false and `true` true controls in an order of their own.

    They are made of the claims, of each once, where these do not suffice of sentences of the
    sources; the false ones of different kinds where that can be.

    Args:
        claims: those that are judged; each has a passage.
        texts: the sources that they cite, by evidence key.
        seed: the same seed chooses the same.
    """
    rng = Random(seed)  # noqa: S311
    own = rng.sample(claims, len(claims))
    others = sorted(_sentences(texts, rng), key=lambda one: not _PLAIN.fullmatch(one.text))
    offers = (_elsewhere(own, [*own, *others], texts), _numbers(own, texts, rng))
    ways = [iter(way) for way in rng.sample(offers, len(offers))]
    made: list[Control] = []
    in_turn = (one for row in zip_longest(*ways) for one in row if one is not None)
    more = chain(in_turn, _numbers(others, texts, rng), _denied(others, rng))
    used = set[str]()
    for one, control in more:
        if len(made) == false:
            break
        if one.text not in used:
            used.add(one.text)
            made.append(control)
    sure = [one for one in own if _is_sure(one)]
    left = (one for one in chain(sure, others) if one.text not in used)
    made += [Control(_wider(one, texts), "true") for one in islice(left, true)]
    rng.shuffle(made)
    return made


_Made = tuple[Located, Control]
_PLAIN = re.compile(r"\A[A-Z]\S*+ .{30,}\.\Z")
"""A sentence, as claims are: these first."""


def _is_sure(one: Located) -> bool:
    """Whether the verifier is sure of a claim."""
    return one.reading is not None and one.reading.supported >= judging_policy().sure.supported


def _elsewhere(
    claims: Sequence[Located], passages: Sequence[Located], texts: Mapping[str, CitedText]
) -> Iterator[_Made]:
    """Claims beside the passage of another source that a hard fact keeps from bearing them out;
    the most alike first."""
    words = {id(one): _words(one.passage) for one in passages}
    pairs = []
    for one in claims:
        said, keys = _words(one.text), {key for key, _ in one.parts}
        far = [
            (len(said & words[id(other)]) / len(said), at, other)
            for at, other in enumerate(passages)
            if said and other.parts[0][0] not in keys
        ]
        pairs += [(round(share, 1), one, other) for share, _, other in sorted(far)[-_NEAREST:]]
    for _, one, other in sorted(pairs, key=lambda pair: -pair[0]):
        ((key, place), *_) = other.parts
        grounds = texts[key].grounds(place)
        if not all(fact.unsaid for fact in hard_facts(one.text, grounds)):
            yield one, Control(_beside(one, key, place, grounds.passage), "elsewhere")


def _beside(one: Located, key: str, place: Span, passage: str) -> Located:
    drafted = replace(one.drafted, evidence_id=key)
    return replace(one, drafted=drafted, place=place, passage=passage, also=())


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _sentences(texts: Mapping[str, CitedText], rng: Random) -> Iterator[Located]:
    """Sentences of the sources in turn, each as a claim on itself."""
    rows = [
        [(key, at) for at in rng.sample(cited.sentences, min(len(cited.sentences), MOST_SENTENCES))]
        for key, cited in sorted(texts.items())
    ]
    rng.shuffle(rows)
    turns = (one for column in zip_longest(*rows) for one in column if one is not None)
    for key, place in islice(turns, MOST_SENTENCES):
        passage = place.of(texts[key].source.text)
        words = " ".join(body_of(passage).split()) if len(passage) <= LONGEST else ""
        if words and "?" not in words and not texts[key].speaks_to_programs(place):
            drafted = Drafted("", words, key, passage, "")
            yield Located(drafted, words, "verbatim", place, passage, repeats=True)


def _denied(sentences: Sequence[Located], rng: Random) -> Iterator[_Made]:
    """Sentences denied as a whole, where nothing else is to be had."""
    for one in sentences:
        yield one, Control(replace(one, text=rng.choice(DENIALS) + one.text), "denied")


def _wider(one: Located, texts: Mapping[str, CitedText]) -> Located:
    """A claim beside its passage and the sentence before it, or behind: it is true beside more."""
    key, place = one.parts[0]
    cited = texts[key]
    around = cited.around(place)
    near = [at for at in (around[0] - 1, around[-1] + 1) if 0 <= at < len(cited.sentences)]
    for at in near if around and not one.repeats and len(one.parts) == 1 else ():
        other = cited.sentences[at]
        more = Span(min(place.start, other.start), max(place.end, other.end))
        if not cited.speaks_to_programs(more):
            return _beside(one, key, more, more.of(cited.source.text))
    return one


# --- figures

_LEVEL = re.compile(r"\s?%?\s?(?:CI|CrI|confidence|credible)\b")
_FIGURE = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:\.\d+)?")
_MEASURED = frozenset({Kind.PERCENT, Kind.RATIO, Kind.COUNT})
"""Kinds of figures of which another one says otherwise; a length of time may be within another."""


def _numbers(
    claims: Sequence[Located], texts: Mapping[str, CitedText], rng: Random
) -> Iterator[_Made]:
    """Claims with one figure of their passage changed."""
    held = cache(lambda key: [one for one in quantities(texts[key].source.text) if _is_one(one)])
    for one in claims:
        told = _with_another(one, held(one.drafted.evidence_id), rng)
        if told is not None:
            yield one, Control(replace(one, text=told, repeats=False), "number")


def _is_one(one: Quantity) -> bool:
    """Whether it is a single figure that is said to be so large, not a bound or a range."""
    figures = _FIGURE.findall(one.raw)
    return (
        one.kind in _MEASURED
        and one.comparator is None
        and one.shared_unit is None
        and len(figures) == 1
        and one.raw[0].isdecimal()
        and one.value > 0
    )


def _with_another(one: Located, held: Sequence[Quantity], rng: Random) -> str | None:
    """The claim with another figure of its source, of the same kind and unit, that its passage does
    not have; where there is none, with one that the source does not have."""
    passage = {(same.value, same.unit) for same in quantities(one.passage)}
    said = [
        q
        for q in quantities(one.text)
        if _is_one(q) and (q.value, q.unit) in passage and not _LEVEL.match(one.text, q.end)
    ]
    for q in rng.sample(said, len(said)):
        written = _FIGURE.findall(q.raw)[0]
        alike = [o for o in held if (o.kind, o.unit) == (q.kind, q.unit)]
        figures = sorted({_FIGURE.findall(o.raw)[0] for o in alike if _is_other(o, q, passage)})
        figures = rng.sample(figures, len(figures)) or _scaled(written, alike, rng)
        if figures:
            return one.text[: q.start] + q.raw.replace(written, figures[0], 1) + one.text[q.end :]
    return None


def _is_other(other: Quantity, one: Quantity, passage: Set[tuple[Decimal, str | None]]) -> bool:
    """Whether a figure clearly differs from one, and from all of the passage."""
    low, high = sorted((other.value, one.value))
    return float(high / low) >= CLEARLY and (other.value, other.unit) not in passage


def _scaled(written: str, alike: Sequence[Quantity], rng: Random) -> list[str]:
    """Figures with as many places, and groups, as the one that is written has."""
    places, value = len(written.partition(".")[2]), float(written.replace(",", ""))
    style = f",.{places}f" if "," in written else f".{places}f"
    most = 100 if alike and alike[0].kind is Kind.PERCENT else float("inf")
    taken = {_FIGURE.findall(one.raw)[0] for one in alike}
    sizes = [value * factor for factor in rng.sample(FACTORS, len(FACTORS))]
    new = [format(size, style) for size in sizes if size <= most]
    return [one for one in new if one not in {*taken, written} and one.strip("0.,")]
