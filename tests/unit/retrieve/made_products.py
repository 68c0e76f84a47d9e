"""Questions on products that nobody makes, and works on them or on others: what each is, is known.

A product is a drug by its generic name, its brand or its code, a gene panel or a test: all made of
syllables, so that no list has them. Of the drugs that the tables know the other names are drawn.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

_ONSETS = [
    "b",
    "c",
    "d",
    "f",
    "g",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "v",
    "z",
    "br",
    "dr",
    "gl",
    "kr",
    "pl",
    "tr",
    "vr",
]
_VOWELS = ["a", "e", "i", "o", "u"]
_CODAS = ["l", "n", "r", "s", "x"]
_LISTED = ["tinib", "mab", "gliflozin", "xaban", "ciclib", "parib", "glutide", "siran"]
_OTHERS = [
    "sertib",
    "rsen",
    "bart",
    "tug",
    "stotug",
    "fusp",
    "leucel",
    "dopant",
    "clidinium",
    "pixant",
    "mapimod",
    "vastim",
]
"""Stems of the WHO's list that no list here has, or not as such."""
_BRANDED = ["ia", "ra", "vo", "za", "ty", "xis", "qua", "nza", "ryl"]
_PREFIXES = [
    "AZD",
    "BAY",
    "GSK",
    "LY",
    "MK",
    "JNJ",
    "ABBV",
    "BMS",
    "RO",
    "PF",
    "TAK",
    "ONO",
    "AMG",
    "CC",
    "KRT",
]
_PANELS = ["Onco", "Colo", "Hepa", "Nephro", "Geno", "Immuno", "Cardio", "Thyro", "Pulmo", "Metabo"]
_TESTED = ["Trace", "Sure", "Seq", "Check", "Scan", "Call", "Sight", "Detect", "Score", "Map"]
_BEHIND = ("", "", " Plus", " Dx", "360", " CDx")
_KNOWN = (  # two names of one thing, by the FDA's labels
    ("Eliquis", "apixaban"),
    ("Cosentyx", "secukinumab"),
    ("Dupixent", "dupilumab"),
    ("Ozempic", "semaglutide"),
    ("Stelara", "ustekinumab"),
    ("Jardiance", "empagliflozin"),
    ("Xolair", "omalizumab"),
    ("Lyrica", "pregabalin"),
    ("Enhertu", "trastuzumab deruxtecan"),
    ("Skyrizi", "risankizumab"),
    ("Calquence", "acalabrutinib"),
    ("Latuda", "lurasidone"),
    ("Tremfya", "guselkumab"),
    ("Ocrevus", "ocrelizumab"),
    ("Kisqali", "ribociclib"),
    ("Nubeqa", "darolutamide"),
)
_CONDITIONS = [
    "heart failure",
    "psoriasis",
    "ulcerative colitis",
    "multiple myeloma",
    "migraine",
    "asthma",
    "breast cancer",
    "rheumatoid arthritis",
    "type 2 diabetes",
    "chronic kidney disease",
]
_ON_DRUGS = (
    ("Does {0} work in {1}?", "{0} in {1}: a randomised trial", "{0} lowered relapses by 20 %."),
    ("What is the dose of {0} in {1}?", "Dosing of {0} for {1}", "{0} was given as 20 mg daily."),
    ("Is {0} safe in patients with {1}?", "Safety of {0} in {1}", "With {0} 4 % had nausea."),
    (
        "How often should {0} be given in {1}?",
        "Two schedules of {0} in {1}",
        "{0} was given every 4 weeks.",
    ),
    (
        "Does {0} lower mortality in {1}?",
        "Mortality in {1} treated with {0}",
        "Mortality was 4 % with {0}.",
    ),
)
_ON_TESTS = (
    ("How sensitive is {0} in {1}?", "{0} in {1}: accuracy", "The sensitivity of {0} was 89 %."),
    (
        "Does Medicare cover the {0} test for {1}?",
        "Coverage of {0} in {1}",
        "The {0} test is covered.",
    ),
    (
        "What is the specificity of {0} for {1}?",
        "Validation of the {0} assay in {1}",
        "{0} had a specificity of 95 %.",
    ),
)
_NEUTRAL = "A study of patients with {1}"
_BACK = (
    "The treatment lowered relapses by 20 % in {1}.",
    "Among patients with {1}, 4 % had nausea.",
)


class Made(NamedTuple):
    """A question, a work, and whether the work is on the product asked about."""

    kind: str
    question: str
    product: str
    title: str
    text: str
    is_on_it: bool


def made(random: Random) -> Iterator[Made]:
    """Questions with works, without end; half of the works are on another product."""
    kinds = (_generic, _brand, _code, _test)
    while True:
        kind = random.choice((*kinds, None))
        condition = random.choice(_CONDITIONS)
        if kind is None:
            asked, told = _shuffled(random, random.choice(_KNOWN))
            other = random.choice(
                [one for pair in _KNOWN for one in pair if one not in {asked, told}]
            )
        else:
            asked, other = kind(random), kind(random)
            told = _written_otherwise(random, asked, kind)
        question, title, text = random.choice(_ON_TESTS if kind is _test else _ON_DRUGS)
        is_on_it = random.random() < 0.5
        named = told if is_on_it else other
        where = random.choice(("both", "title", "text"))
        if where == "title":
            text = random.choice(_BACK)
        elif where == "text":
            title = _NEUTRAL
        yield Made(
            kind.__name__.strip("_") if kind else "known",
            question.format(asked, condition),
            asked,
            _titled(title.format(named, condition)),
            _titled(text.format(named, condition)),
            is_on_it,
        )


def _titled(text: str) -> str:
    return text[0].upper() + text[1:]


def _shuffled(random: Random, pair: Sequence[str]) -> tuple[str, str]:
    one, other = random.sample(pair, 2)
    return one, other


def _syllables(random: Random, count: int) -> str:
    made = "".join(random.choice(_ONSETS) + random.choice(_VOWELS) for _ in range(count))
    return made + random.choice(("", random.choice(_CODAS)))


def _generic(random: Random) -> str:
    return _syllables(random, 2) + random.choice(random.choice((_LISTED, _OTHERS)))


def _brand(random: Random) -> str:
    return (_syllables(random, 2) + random.choice(_BRANDED)).capitalize()


def _code(random: Random) -> str:
    between = random.choice(("", "-", ""))
    return f"{random.choice(_PREFIXES)}{between}{random.randint(1000, 99999)}"


def _test(random: Random) -> str:
    name = random.choice(_PANELS) + random.choice((str.lower, str))(random.choice(_TESTED))
    return (
        f"{_syllables(random, 1).capitalize()}{name.lower()}"[:14]
        if random.random() < 0.3
        else (name + random.choice(_BEHIND))
    )


def _written_otherwise(random: Random, name: str, kind: object) -> str:
    """The same name as another work may write it."""
    if kind is _code:
        letters = name.rstrip("0123456789").rstrip("-")
        digits = name[len(name.rstrip("0123456789")) :]
        return letters + random.choice(("", "-", " ")) + digits
    if kind is _generic:
        return random.choice((name, name, name.capitalize(), f"{name} hydrochloride"))
    if kind is _brand:
        return random.choice((name, name.upper(), f"{name}®", f"{name}™"))
    return random.choice((name, f"{name}™", name.upper()))
