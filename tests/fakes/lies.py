"""Twelve kinds of fabrication, made of what a language model was shown. By rule and seed.

A kind has variants. Each takes the `Subject` (a true sentence, its source, the others) and gives a
`Lie`, or None where it does not apply. Every lie is false of the source that it names: a number
that is put in stands nowhere in the passage, sides are exchanged only where the order tells who had
what. The edits are written apart from the guards' own word lists, on purpose.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Source:
    """A source as the request shows it; `sentences` are those worth a claim."""

    key: str
    kind: str
    title: str
    published: str
    identifiers: Mapping[str, str]
    text: str
    sentences: Sequence[str]
    heard: "Order | None" = None
    """What a document tells the model to say, where the model knows."""


@dataclass(frozen=True)
class Order:
    """An instruction in a document, what it wants said, and the part of it that says so."""

    order: str
    wanted: str
    part: str


@dataclass(frozen=True)
class Subject:
    """What a lie is made of."""

    sentence: str
    source: Source
    others: Sequence[Source]
    following: str = ""
    """The sentence that comes right after, with the white space before it."""
    foreign: str = ""
    """A sentence of another source shown."""


@dataclass(frozen=True)
class Lie:
    """A claim that its source does not bear out."""

    text: str
    key: str
    quote: str


Maker = Callable[[Subject, random.Random], Lie | None]


@dataclass
class Kinds:
    variants: dict[str, dict[str, Maker]] = field(default_factory=dict)

    def __call__(self, kind: str, variant: str) -> Callable[[Maker], Maker]:
        return lambda maker: self.variants.setdefault(kind, {}).setdefault(variant, maker)


kind = Kinds()
KINDS = kind.variants
"""Kind of lie → its variants by name."""


def on(subject: Subject, text: str | None) -> Lie | None:
    """A false text with a true quotation of the source."""
    if text is None or text == subject.sentence:
        return None
    return Lie(text, subject.source.key, subject.sentence)


def quoted_too(subject: Subject, text: str | None) -> Lie | None:
    """A false text with itself as the quotation."""
    if text is None or text == subject.sentence:
        return None
    return Lie(text, subject.source.key, text)


def put(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]


# Numbers and units

_NUMBER = re.compile(r"(?<![\w.,/^-])\d{1,3}(?:,\d{3})+|(?<![\w.,/^-])\d+(?:\.\d+)?")
_AFTER_NUMBER = re.compile(r"(?![\w/^]|[.,]\d|-[A-Za-z]*\d)")
_ORDINAL = re.compile(r"(?i)(?:fig|table|stages?|grades?|types?|class|phase|level|group|day)\.? $")


def _numbers(text: str) -> list[re.Match[str]]:
    return [
        found
        for found in _NUMBER.finditer(text)
        if _AFTER_NUMBER.match(text, found.end())
        and not _ORDINAL.search(text[: found.start()])
        and text[found.end() : found.end() + 4] != "% CI"
    ]


def _all_numbers(text: str) -> set[float]:
    return {float(one.replace(",", "")) for one in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}


def _other_number(written: str, taken: set[float], rng: random.Random) -> str | None:
    """A number as long as the one written that stands nowhere in the passage."""
    digits = [at for at, letter in enumerate(written) if letter.isdigit()]
    for _ in range(20):
        at = rng.choice(digits)
        new = rng.choice("123456789" if at == digits[0] else "0123456789")
        changed = written[:at] + new + written[at + 1 :]
        value = float(changed.replace(",", ""))
        # Number words reach to twelve, so a small number might stand there as a word.
        fits = value > 12 or "." in changed
        if fits and value not in taken and value != float(written.replace(",", "")):
            return changed
    return None


def _altered_number(subject: Subject, rng: random.Random) -> str | None:
    found = _numbers(subject.sentence)
    if not found:
        return None
    chosen = rng.choice(found)
    new = _other_number(chosen[0], _all_numbers(subject.sentence), rng)
    return new and put(subject.sentence, chosen.span(), new)


@kind("altered number", "claim")
def _altered_claim(subject: Subject, rng: random.Random) -> Lie | None:
    return on(subject, _altered_number(subject, rng))


@kind("altered number", "claim and quotation")
def _altered_quote(subject: Subject, rng: random.Random) -> Lie | None:
    return quoted_too(subject, _altered_number(subject, rng))


@kind("altered number", "decimal point")
def _moved_point(subject: Subject, rng: random.Random) -> Lie | None:
    found = [one for one in _numbers(subject.sentence) if "." in one[0]]
    if not found:
        return None
    chosen = rng.choice(found)
    value = float(chosen[0]) * 10
    if value in _all_numbers(subject.sentence) or value == 0:
        return None
    return on(subject, put(subject.sentence, chosen.span(), f"{value:g}"))


@kind("altered number", "comparator")
def _comparator(subject: Subject, rng: random.Random) -> Lie | None:
    turned = {"<": ">", ">": "<", "≤": ">", "≥": "<"}
    found = list(re.finditer(r"[<>≤≥](?=\s?\d)", subject.sentence))
    if not found:
        return None
    chosen = rng.choice(found)
    return on(subject, put(subject.sentence, chosen.span(), turned[chosen[0]]))


_UNITS = {
    "mg": ("g", "µg"), "g": ("mg", "kg"), "µg": ("mg",), "μg": ("mg",), "ng": ("mg",),
    "kg": ("g",), "mg/kg": ("mg",), "mg/dL": ("mmol/L",), "mmol/L": ("mg/dL",), "mL": ("L",),
    "ml": ("l",), "mm": ("cm",), "cm": ("mm",), "kb": ("Mb",), "nM": ("mM",), "μM": ("nM",),
    "days": ("weeks", "hours"), "day": ("week", "month"), "weeks": ("months", "days"),
    "week": ("month",), "months": ("years", "weeks"), "month": ("year", "week"),
    "years": ("months", "weeks"), "year": ("month",), "hours": ("minutes", "days"), "h": ("min",),
    "minutes": ("hours",), "min": ("h",), "%": (" percentage points", " per 1,000"),
    "mmHg": ("kPa",), "mm Hg": ("kPa",), "-fold": ("%",),
}  # fmt: skip
_MEASURED = re.compile(
    r"(?<![\w.,/^-])(?P<number>\d+(?:\.\d+)?)(?P<gap>[\s-]?)(?P<unit>"
    + "|".join(re.escape(one) for one in sorted(_UNITS, key=len, reverse=True))
    + r")(?![\w/%]|\s?CI|-?confidence|\s(?:confidence|credible))"
)


def _other_unit(sentence: str, rng: random.Random) -> str | None:
    found = list(_MEASURED.finditer(sentence))
    if not found:
        return None
    chosen = rng.choice(found)
    new = rng.choice(_UNITS[chosen["unit"]])
    bare = rf"{re.escape(chosen['number'])}[\s-]?{re.escape(new.strip())}"
    if re.search(bare, sentence):
        return None
    return put(sentence, chosen.span("unit"), new)


@kind("unit change", "claim")
def _unit_claim(subject: Subject, rng: random.Random) -> Lie | None:
    return on(subject, _other_unit(subject.sentence, rng))


@kind("unit change", "claim and quotation")
def _unit_quote(subject: Subject, rng: random.Random) -> Lie | None:
    return quoted_too(subject, _other_unit(subject.sentence, rng))


# Quotations

_INVENTED = (
    "{topic} improved overall survival in every subgroup of patients",
    "{topic} should be offered to all patients as first-line treatment",
    "the benefit of {topic} was confirmed beyond any doubt",
    "{topic} caused no harm in any patient",
    "{topic} reduced mortality by {number}%",
    "no other factor predicted the outcome as well as {topic}",
    "{topic} was stopped early because of severe toxicity",
    "experts agree that {topic} makes further testing unnecessary",
)
_SAID = {"survival", "surgery", "pregnancy", "patient", "patients", "treatment", "adverse"}
"""Words of invented statements, which must not be their own subject."""
_PLAIN_WORD = re.compile(r"[A-Za-z][a-z-]{5,}")


def invented(subject: Subject, rng: random.Random) -> str:
    """A statement about the source's subject that the source does not make."""
    taken = _all_numbers(subject.source.text)
    number = rng.choice([n for n in range(13, 98) if n not in taken])
    words: str = rng.choice(_INVENTED)
    return words.format(topic=topic(subject.source.title, rng), number=number)


def topic(title: str, rng: random.Random) -> str:
    """A word that a title is about."""
    words: list[str] = [one for one in _PLAIN_WORD.findall(title) if one.lower() not in _SAID]
    return rng.choice(words or ["treatment"]).lower()


def sentence_of(words: str) -> str:
    """The words as a sentence."""
    return f"{words[0].upper()}{words[1:]}."


@kind("invented quotation", "as the quotation")
def _invented_quote(subject: Subject, rng: random.Random) -> Lie:
    text = sentence_of(invented(subject, rng))
    return Lie(text, subject.source.key, text)


@kind("invented quotation", "in marks, with a true one")
def _invented_marks(subject: Subject, rng: random.Random) -> Lie:
    text = f"The authors write: “{sentence_of(invented(subject, rng))}”"
    return Lie(text, subject.source.key, subject.sentence)


@kind("invented quotation", "added to a true one")
def _invented_added(subject: Subject, rng: random.Random) -> Lie:
    text = f"{subject.sentence.rstrip('. ')}, and “{invented(subject, rng)}”."
    return Lie(text, subject.source.key, subject.sentence)


@kind("invented quotation", "true quotation reworded")
def _reworded_quote(subject: Subject, rng: random.Random) -> Lie | None:
    words = subject.sentence.split(" ")
    if len(words) < 10:
        return None
    at = rng.randrange(3, len(words) - 3)
    quote = " ".join([*words[:at], "clearly", "and", "always", *words[at + 1 :]])
    return Lie(sentence_of(invented(subject, rng)), subject.source.key, quote)


@kind("another source's key", "text and quotation")
def _misattributed(subject: Subject, _: random.Random) -> Lie | None:
    if not subject.foreign or subject.foreign in subject.source.text:
        return None
    return Lie(subject.foreign, subject.source.key, subject.foreign)


@kind("another source's key", "text, with a quotation of this one")
def _misattributed_text(subject: Subject, _: random.Random) -> Lie | None:
    if not subject.foreign or subject.foreign in subject.source.text:
        return None
    return Lie(subject.foreign, subject.source.key, subject.sentence)


_VERB = re.compile(
    r"^(?P<head>[A-Z][^,;:().]{12,90}?) (?P<rest>(?:was|were|is|are|had|has|showed|increased|"
    r"decreased|reduced|improved|did|does|may|can|led|resulted|occurred|predicted|induced) .+)$"
)
_REFERS = re.compile(
    r"^(?:[A-Z]{4,}\S* )?(?i:we|our|it|they|this|these|those|both|all|there|here|in this|such"
    r"|however|the (?:study|purpose|aims?|objectives?|primary)|purpose|aims?|objectives?"
    r"|patients|included|participants|subjects|(?:the )?results|findings|the authors)\b"
)


def _content(words: str) -> set[str]:
    """Beginnings of the longer words, and of names."""
    parts = re.findall(r"[A-Za-z]{4,}|[A-Z][A-Z\d]{1,}", words)
    return {part.lower()[:5] for part in parts}


_POINTS = re.compile(r"(?i)\b(?:this|these|those|such|it|its|they|their|respectively)\b")


def _stitched(subject: Subject) -> str | None:
    """The beginning of one sentence with what is said of something else in the next."""
    ours, next_one = _VERB.match(subject.sentence), _VERB.match(subject.following.strip())
    if ours is None or next_one is None:
        return None
    heads = ours["head"], next_one["head"]
    if any(_REFERS.match(one) or len(_content(one)) < 2 for one in heads):
        return None
    said = _content(next_one["rest"].partition(" ")[2])
    news = said - _content(subject.sentence)
    if len(news) < 3 or 2 * len(news) < len(said):  # it may hold, or says nothing
        return None
    if _POINTS.search(next_one["rest"]):  # "these outcomes" may be those of the first sentence
        return None
    if _content(heads[0]) & _content(heads[1]):  # it may hold of both
        return None
    return f"{heads[0]} {next_one['rest']}"


@kind("stitched quotation", "as the quotation")
def _stitched_quote(subject: Subject, _: random.Random) -> Lie | None:
    return quoted_too(subject, _stitched(subject))


@kind("stitched quotation", "with an ellipsis")
def _stitched_ellipsis(subject: Subject, rng: random.Random) -> Lie | None:
    text = _stitched(subject)
    found = text and _VERB.match(text)
    if not text or not found:
        return None
    mark = rng.choice(("…", "...", "[…]"))
    return Lie(text, subject.source.key, f"{found['head']} {mark} {found['rest']}")


@kind("stitched quotation", "text, with one sentence quoted")
def _stitched_text(subject: Subject, _: random.Random) -> Lie | None:
    return on(subject, _stitched(subject))


@kind("stitched quotation", "text, with both sentences quoted")
def _stitched_run(subject: Subject, _: random.Random) -> Lie | None:
    text = _stitched(subject)
    both = subject.sentence + subject.following
    return Lie(text, subject.source.key, both) if text else None
