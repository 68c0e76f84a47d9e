"""Whether a text has a name: in another spelling, or by another name of the same thing. Pure.

Asked of whole texts, many a question, so that the text is only written together, not read: a name
of six letters is found inside of it, a shorter one and initials as words of their own.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase

from knowledge.names.reading import resolve
from knowledge.names.spelling import GREEK, SPELLINGS, fold, key, words
from knowledge.names.tables import CAPITALS, DOUBTFUL, tables

_LONG = 6
"""Letters of a key that is looked for inside a text (ours): shorter ones stand in other words."""
_PLAIN = re.compile(r"[\W_]+")
_ASCII = bytes(range(128))
_SIGNS = bytes.maketrans(_ASCII, bytes(n if chr(n).isalnum() else 32 for n in _ASCII))
"""A space for each sign: nothing that a spelling changes reaches over one, but the possessive."""
_PLURAL = re.compile(r"(?i)(?<![^\W\d_])[^\W\d_]{3,}+(?:(?<=s)|(?<=use)|(?<=ae)|(?<=tre)|(?<=bre))")
"""Words whose ending a key changes."""
_POSSESSIVE = re.compile(r"(?<=[^\W\d_])['’ʼ]s\b", re.IGNORECASE)
"""Of a person's name; a key has none."""
_REGISTERED = re.compile("[™®℠©]")
"""No letters of a name, though in compatible form ™ is TM."""
_OE = re.compile(r"oe(?=[^\W\d_])")
_LETTERS = str.maketrans(GREEK)
_BEYOND = re.compile(r"[^\x00-\x7f]++")
_MOST_SENSES = 3
"""A name of more things than that is taken as it is written (ours)."""
_EDGE, _END = r"(?<![^\W_])", r"(?:'?s)?(?![^\W_])"
_INITIALS = re.compile(r"[A-Z]{3,5}")
_ADJECTIVES = (
    (re.compile("sis$"), "tic"),  # cirrhotic, septic, psoriatic
    (re.compile("osis$"), "ous"),  # tuberculous
    (re.compile("xis$"), "ctic"),  # anaphylactic
    (re.compile("sy$"), "tic"),  # epileptic
    (re.compile("tis$"), "tic"),  # arthritic
    (re.compile("ia$|y$"), "ic"),  # anemic, allergic
    (re.compile("es$"), "ic"),  # diabetic
    (re.compile("sion$"), "sive"),  # hypertensive
    (re.compile("ity$"), "e"),  # obese
)
"""How English makes the adjective of a condition from its Greek or Latin name."""
_MANY = re.compile(r"[A-Z]{3,6}S")
"""An abbreviation and the s of several, all typed in capitals: DOACS."""


@dataclass(frozen=True)
class Forms:
    """All that a text may have a name by."""

    inside: tuple[str, ...]
    """Keys, which stand in a text that is written together."""
    apart: re.Pattern[str] | None
    """Words of their own, spelled as keys are."""
    written: re.Pattern[str] | None
    """Words whose capitals tell, and words that begin with the letters of an abbreviation."""

    def stand_in(self, text: str) -> bool:
        """Whether `text` has one of them."""
        plain, whole = _spelled(text)
        if text.isupper():  # where all is in capitals, short words are no abbreviations
            whole = f"{whole} {_spelled(text.lower())[1]}"
        return (
            any(one in whole and _is_inside(one, whole) for one in self.inside)
            or (self.apart is not None and self.apart.search(plain) is not None)
            or (self.written is not None and self.written.search(text) is not None)
        )


@lru_cache(maxsize=1024)
def forms(name: str) -> Forms:
    """The forms of a name as written, of its other names in the tables, and its initials."""
    own = key(name)
    keys = {own: False}
    for sense in _senses(name, own):
        for other, flags in tables().keys_of(sense):
            if other not in own:  # a part of a name is that of something wider: lung cancer
                keys.setdefault(other, bool(flags & CAPITALS))
    keys |= dict.fromkeys(_in_family(own, keys), False)
    inside = tuple(sorted(one for one in keys if _is_long(one)))
    short = [
        (one, capitals) for one, capitals in keys.items() if len(one) > 1 and not _is_long(one)
    ]
    apart = [_apart(one) for one, capitals in short if not capitals]
    conditions = resolve(name).kinds & {"disease", "tumor"}
    apart += map(re.escape, _adjectives(name) if conditions else ())
    written = [re.escape(one.upper()) for one, capitals in short if capitals]
    written += map(re.escape, (*_initials(name), *_eponym(name)))
    if not tables().senses(own) and _MANY.fullmatch(name):
        written.append(name[:-1])
    if conditions and len(words(name)) > 1:
        written += _initials(f"{name} virus")  # HCV for hepatitis C
    if _INITIALS.fullmatch(name):
        written += [] if _is_of_initials(name, own) else [rf"{name}\d{{1,2}}[A-Z]?\d?"]  # JAK2
        written.append(r"[\s-]{1,2}".join(f"(?i:{letter})[a-z]{{2,20}}" for letter in name))
    return Forms(inside, _any_of(apart), _any_of(written))


def _is_long(of: str) -> bool:
    """Whether a key is looked for inside of a text: AZD1234 is not in AZD12345."""
    return len(of) >= _LONG and not (of[0].isdecimal() or of[-1].isdecimal())


def _in_family(own: str, keys: Iterable[str]) -> list[str]:
    """A member by its family's whole name and its own number: cytochrome P450 3A4 for CYP3A4, whose
    name in the tables is cytochrome P450 family 3 subfamily A member 4."""
    number = own.lstrip(ascii_lowercase)
    heads = [one.partition("family")[0] for one in keys if "family" in one]
    return [f"{head}{number}" for head in heads if head and number]


def _senses(name: str, own: str) -> Sequence[int]:
    """What a name stands for, where that is clear."""
    meant = [one for one in tables().senses(own) if one.entry in resolve(name).senses]
    sure = [one.entry for one in meant if not one.flags & DOUBTFUL] or [one.entry for one in meant]
    return sure if len(sure) <= _MOST_SENSES else ()


@lru_cache(maxsize=512)  # many names of many questions are looked for in the same texts
def _spelled(text: str) -> tuple[str, str]:
    """`text` spelled as keys are: its words, and all of it written together.

    Part by part, as texts share most of their words.
    """
    if not text.isascii():
        text = _REGISTERED.sub(" ", text)
    if "'" in text or "’" in text or "ʼ" in text:
        text = _POSSESSIVE.sub("", text)
    apart = text.encode(errors="surrogatepass").translate(_SIGNS)  # a third of a pattern's time
    parts = map(_part_spelled, apart.decode(errors="surrogatepass").split())
    plain = " ".join(parts)
    if not text.isascii():  # of other signs, too, there is a space for each
        plain = " ".join(plain.split())
    return plain, plain.replace(" ", "")


@lru_cache(maxsize=8192)  # a part is a word, or a passage in a script without signs of ASCII
def _part_spelled(part: str) -> str:
    """What stands between two signs of ASCII; other signs in it become spaces."""
    plain = _PLURAL.sub(lambda match: fold(match.group()), part).lower()
    if not plain.isascii():
        plain = unicodedata.normalize("NFKD", plain.translate(_LETTERS))
        plain = _BEYOND.sub(_without_marks, plain)
        plain = _PLAIN.sub(" ", plain)
    for british, american in SPELLINGS:
        plain = plain.replace(british, american)
    return _OE.sub("e", plain)


def _without_marks(match: re.Match[str]) -> str:
    """What is left of letters beyond ASCII without their accents."""
    return "".join(one for one in match[0] if not unicodedata.combining(one))


def _is_inside(one: str, whole: str) -> bool:
    """Whether a form stands in a text, and not as what is no such thing (non-Hodgkin)."""
    at = whole.find(one)
    while at >= 0:
        if whole[max(0, at - 3) : at] != "non":
            return True
        at = whole.find(one, at + 1)
    return False


def _apart(of: str) -> str:
    """A short key; one with figures may have a hyphen anywhere: PDL1, PD-L1."""
    return " ?".join(of) if any(map(str.isdecimal, of)) else re.escape(of)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str] | None:
    found = sorted(set(patterns))
    return re.compile(f"{_EDGE}(?:{'|'.join(found)}){_END}") if found else None


def _initials(name: str) -> Iterator[str]:
    """The initials of a name of three words or more: DIPG."""
    letters = [one.folded[0] for one in words(name) if one.folded[0].isalpha()]
    if len(letters) > 2:
        yield "".join(letters).upper()


def _adjectives(name: str) -> Iterator[str]:
    """The adjectives of a condition of one word, spelled as keys are."""
    if name.isalpha():
        for ending, other in _ADJECTIVES:
            if ending.search(name.lower()):
                yield fold(ending.sub(other, name.lower()))


def _is_of_initials(name: str, own: str) -> bool:
    """Whether capitals are the initials of what they stand for: MCL1 is no kind of MCL."""
    letters = sorted(name.lower())
    meant = (tables().preferred(one.entry) for one in tables().senses(own))
    return any(sorted(one.folded[0] for one in words(each)) == letters for each in meant)


_EPONYM = re.compile(r"([A-Z][\w-]{3,40})(?:['’]s)? (?:[Dd]isease|[Ss]yndrome)")


def _eponym(name: str) -> Iterator[str]:
    """The person after whom a disease is called: Lemierre's syndrome is told by Lemierre."""
    if (found := _EPONYM.fullmatch(name)) and not tables().is_word(fold(found[1])):
        yield found[1]
