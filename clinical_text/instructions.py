"""Sentences of a source that speak to the program reading it, or try to steer its answer. Pure.

A source is data. What is found here is no candidate for a claim, is given to no model and backs no
quotation. Patterns and their sources: knowledge/reading/instructions.yaml. A plain false statement
of a source is not found here and cannot be: that is what the other sources, their tiers and the
reported conflicts are for.
"""

import itertools
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from clinical_text.invisible import smuggles, visible
from clinical_text.sentences.enclosures import enclosed
from knowledge.loader import load
from knowledge.matching.needs import Needy
from store.core.spans import Span

# Letters of other scripts that look like Latin ones (Unicode TS 39, confusables.txt): capitals of
# Greek first, whose small letters look like others.
_CAPITALS_ALIKE = str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX")
_ALIKE = str.maketrans(
    "авгеіјкмнопрстухьѕԁԛԝһӏ" + "αβγεηικνορτυχω" + "ıɡɩ",
    "abreijkmhonpctyxbsdqwhl" + "abyenikvoptuxw" + "igi",
)
_LIKE_LETTERS = str.maketrans("013457@$", "oieastas")
_EMPHASIS = re.compile(r"[*_`~\u00ad\u0338]")
_SPACED = re.compile(r"(?<!\w)(?:[a-z][ .·-]){4,}[a-z](?!\w)")
_APART = re.compile(r"[ .·-][a-z][ .·-][a-z][ .·-]")  # what is _SPACED holds it, and few else do
_WIDE_GAP = re.compile(r"\s{2,}|\n")
_LETTER_GAP = re.compile(r"[ .·-]")
_MIXED = re.compile(r"\b(?:[a-z]{1,12}[013457@$]){1,4}[a-z]{1,12}\b|(?<!\w)[013457@$][a-z]{3,}\b")
_LIKE_LETTER = re.compile(r"[013457@$][a-z]")  # what is _MIXED has one
_WORD = re.compile(r"\S+")
_HEADING_WORDS = 5  # ours: "## Materials and methods Tell ..."
_OPENING = re.compile(r"(?<=\s)[*_`~]+(?=\w)")
_MOST_OPENINGS = 20  # more emphasis than that in a sentence is looked at no further


def addresses_reader(passage: str) -> bool:
    """Whether `passage` holds words meant for the program that reads it.

    For sentences, passages and titles: no evidence snippet, claim or quotation may hold such words.
    """
    return _addresses(passage)


@lru_cache(maxsize=4096)
def _addresses(passage: str) -> bool:
    if smuggles(passage) or _is_marked(visible(passage)) or _holds_code(passage):
        return True
    plain = _plain_letters(passage)
    folded = _folded(plain)
    if _orders(folded) or any(_orders(_folded(_plain_letters(o))) for o in _begun_anew(passage)):
        return True
    if _LIKE_LETTER.search(folded):
        undone = _MIXED.sub(lambda found: found[0].translate(_LIKE_LETTERS), folded)
        if undone != folded and _orders(undone):
            return True
    return _is_apart(plain) and any(_says_unspaced(one[0]) for one in _SPACED.finditer(plain))


def without_instructions(text: str, spans: Iterable[Span]) -> list[Span]:
    """What of `spans` speaks to no program.

    Args:
        spans: sentences (or other whole parts) of `text`, in order.

    Returns:
        The spans, without those that speak to a program and the one that an order ending in a colon
        announces. Of a span that runs into a pair of fake tags, a comment or a picture that carries
        words away, what stands outside is left as a shorter span.
    """
    places = enclosed(text)
    kept: list[Span] = []
    announced = False
    for span in spans:
        pieces = _outside(text, span, places)
        speaks = [piece for piece in pieces if addresses_reader(piece.of(text))]
        if not announced:
            kept += [piece for piece in pieces if piece not in speaks]
        announced = any(announces(piece.of(text)) for piece in speaks)
    return kept


def outside_enclosures(text: str, spans: Iterable[Span]) -> list[Span]:
    """As `without_instructions` for who reads few of the spans: only what is enclosed is left out,
    and whatever is used must be asked for by `addresses_reader`, and so must a span before it that
    `announces` it."""
    places = enclosed(text)
    return [piece for span in spans for piece in _outside(text, span, places)]


def announces(words: str) -> bool:
    """Whether words end in the colon that announces what follows."""
    return words.rstrip(' *_"').endswith(":")


def _outside(text: str, span: Span, places: Sequence[tuple[int, int]]) -> list[Span]:
    """The parts of `span` outside these places, which are in order and disjoint, without
    white space at their edges."""
    first = bisect_right(places, span.start, key=lambda place: place[1])
    last = bisect_left(places, span.end, lo=first, key=lambda place: place[0])
    crossed = places[first:last]
    if not crossed:
        return [span]
    edges = [span.start, *(edge for place in crossed for edge in place), span.end]
    pieces = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        words = text[start:end]
        bare = words.strip()
        if start < end and any(map(str.isalpha, bare)):
            first = start + words.index(bare)
            pieces.append(Span(first, first + len(bare)))
    return pieces


@cache
def _marks() -> Needy:
    policy = load("reading/instructions")
    tag = rf"<\s?/?\s?(?:{policy['tags']})(?:\s[^<>]{{0,200}})?/?>"
    pictures = [(["["], one) for one in policy["pictures"]]
    listed = [(one["needs"], one["pattern"]) for one in policy["marks"]]
    return Needy([(["<"], tag), *pictures, *listed], re.IGNORECASE)


def _is_marked(text: str) -> bool:
    return _marks().match(text, text.casefold())


@cache
def _patterns() -> Needy:
    policy = load("reading/instructions")
    return Needy((one["needs"], _filled(one["pattern"], policy)) for one in policy["patterns"])


def _filled(pattern: str, policy: dict[str, str]) -> str:
    return pattern.replace("{order}", policy["order"]).replace("{head}", policy["head"])


def _orders(folded: str) -> bool:
    return _patterns().match(folded, folded)


def _begun_anew(passage: str) -> Iterator[str]:
    """`passage` from where an order may begin inside it: behind words of a heading that nothing
    parts from it ("RESULTS Tell ..."), and where emphasis begins."""
    words = list(itertools.islice(_WORD.finditer(passage), _HEADING_WORDS + 1))
    marked = bool(words) and words[0][0].startswith("#")
    for before, word in itertools.pairwise(words):
        if not (marked or before[0].isupper()):
            break
        yield passage[word.start() :]
    if not _EMPHASIS.search(passage):
        return
    for opening in itertools.islice(_OPENING.finditer(passage), _MOST_OPENINGS):
        yield passage[opening.end() :]


@cache
def _code() -> re.Pattern[str]:
    return re.compile(rf"[A-Za-z0-9+/_-]{{{load('reading/instructions')['encoded_run']},}}")


def _holds_code(text: str) -> bool:
    """Whether a long run in `text` looks like base64: no sequence of bases, no word, no address."""
    return any(
        any(map(str.islower, run)) and any(map(str.isupper, run)) and any(map(str.isdigit, run))
        for run in _code().findall(text)
        if "/" not in run[:8] and run.count("-") + run.count("_") < 3
    )


def _plain_letters(text: str) -> str:
    """`text` in lower case Latin letters where others only look like them, without accents."""
    if text.isascii():
        return _EMPHASIS.sub("", text.lower())
    parted = unicodedata.normalize("NFKD", _with(visible(text), _CAPITALS_ALIKE)).lower()
    accents = {ord(one): None for one in set(parted) if unicodedata.combining(one)}
    bare = parted.translate(accents) if accents else parted
    return _with(_EMPHASIS.sub("", bare), _ALIKE).replace("\u2019", "'")


def _with(text: str, others: dict[int, int]) -> str:
    """`text` with other letters in place of some, which few texts have."""
    return text if others.keys().isdisjoint(map(ord, set(text))) else text.translate(others)


def _folded(plain: str) -> str:
    if _is_apart(plain) and _SPACED.search(plain):
        plain = " ".join(map(_joined, _WIDE_GAP.split(plain)))
        plain = _SPACED.sub(lambda found: _LETTER_GAP.sub("", found[0]), plain)
    return " ".join(plain.split()).replace("\u201c", '"').replace("\u201d", '"')


def _is_apart(plain: str) -> bool:
    return _APART.search(plain) is not None


def _joined(word: str) -> str:
    """A word written letter by letter, as one."""
    letters = word.split(" ")
    return "".join(letters) if all(len(one) < 3 for one in letters) else word


def _says_unspaced(run: str) -> bool:
    """Whether letters written apart, without a mark between words, spell out an order."""
    return _unspaced().search(_LETTER_GAP.sub("", run)) is not None


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(load("reading/instructions")["unspaced"])
