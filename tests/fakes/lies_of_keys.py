"""The kinds of fabrication that name a source that is none: numbers of records, evidence keys.

They register with `tests.fakes.lies`, as do the others.
"""

import random
from collections.abc import Sequence

from tests.fakes.lies import Lie, Source, Subject, invented, kind, sentence_of

_PMID_WRITINGS = (
    "{text} (PMID: {n}).", "{text} (PMID {n}).", "{text} [PMID:{n}].",
    "According to PMID {n}, {low}.",
    "{text} (PubMed ID {n}).", "{text} (https://pubmed.ncbi.nlm.nih.gov/{n}/).",
    "{text}, as shown in PMID {n}.", "{text} (pubmed {n}).",
)  # fmt: skip


def with_pmid(sentence: str, number: str, rng: random.Random) -> str:
    """A sentence that names a record of PubMed as its source."""
    text = sentence.rstrip(". ")
    word, _, _ = text.partition(" ")
    low = text if word != word.capitalize() or len(word) < 3 else text[0].lower() + text[1:]
    return rng.choice(_PMID_WRITINGS).format(text=text, low=low, n=number)


@kind("invented PMID", "made up")
def _made_up_pmid(subject: Subject, rng: random.Random) -> Lie | None:
    shown = " ".join(one.text + str(dict(one.identifiers)) for one in _all(subject))
    number = str(rng.randint(10_000_000, 39_999_999))
    if number in shown:
        return None
    return Lie(with_pmid(subject.sentence, number, rng), subject.source.key, subject.sentence)


@kind("invented PMID", "of another source")
def _other_pmid(subject: Subject, rng: random.Random) -> Lie | None:
    own = subject.source.identifiers.get("pmid")
    found = [one.identifiers["pmid"] for one in subject.others if one.identifiers.get("pmid")]
    numbers = [one for one in found if one != own and one not in subject.source.text]
    if not numbers:
        return None
    text = with_pmid(subject.sentence, rng.choice(numbers), rng)
    return Lie(text, subject.source.key, subject.sentence)


def _all(subject: Subject) -> Sequence[Source]:
    return (subject.source, *subject.others)


def _unknown_key(subject: Subject, rng: random.Random) -> str:
    known = {one.key for one in _all(subject)}
    keys = {f"E{rng.randint(20, 99)}", "E0", f"S{rng.randint(1, 9)}", "PMID:31070691", "E1, E98"}
    return rng.choice(sorted(keys - known))


@kind("invented evidence key", "true words")
def _invented_key(subject: Subject, rng: random.Random) -> Lie:
    return Lie(subject.sentence, _unknown_key(subject, rng), subject.sentence)


@kind("invented evidence key", "invented words")
def _invented_both(subject: Subject, rng: random.Random) -> Lie:
    text = sentence_of(invented(subject, rng))
    return Lie(text, _unknown_key(subject, rng), text)


@kind("claim without key", "true words")
def _keyless(subject: Subject, rng: random.Random) -> Lie:
    return Lie(subject.sentence, rng.choice(("", " ", "none", "-", "null")), subject.sentence)


@kind("claim without key", "invented words")
def _keyless_invented(subject: Subject, rng: random.Random) -> Lie:
    text = sentence_of(invented(subject, rng))
    return Lie(text, rng.choice(("", " ", "none", "-")), rng.choice((text, subject.sentence)))
