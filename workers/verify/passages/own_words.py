"""Whether a claim is in its source's own words. Pure.

Without a language model nothing else is verified (invariant 6): whole sentences, or one sentence
with a bracket or an introduction left out, read with what it stands under. What may be left out is
told by its form, and each word in it must be known to tell nothing: an unknown word is no leave.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from clinical_text.assertion.lexicon import lexicon
from clinical_text.labels import body_of
from clinical_text.normalize import normalize
from clinical_text.numbers.notation import in_one_notation
from clinical_text.vocabulary import vocabulary
from store.core.spans import Span
from workers.verify.guards import omissions
from workers.verify.line_leads import Leads, leads
from workers.verify.passages.locating import CitedText, repeated
from workers.verify.pasted.markup import bare

_ENDS = " .;!"
_BRACKET = re.compile(r" ?(?:\([^()\[\]]{1,200}\)|\[[^()\[\]]{1,200}\])")
_MOST_BRACKETS = 8
_WORD = re.compile(r"[^\W\d_]+")
_REFERENCE = re.compile(r"(?:see )?[A-Z][a-z]+\.? \d")
"""Table 2, Figure 3, see Section 4: what a bracket points to."""
_LINES = re.compile(r"[^\r\n]+")
_LABELLED = re.compile(r"[^\W_][^:\r\n]{0,99}:\s")


def own_words(words: str, cited: CitedText, place: Span, under: Leads = ()) -> Span | None:
    """Where `words` stand in the passage at `place`, as it says them; None where they do not.

    What the quotation check folds, the notation of numbers and units, a final stop and the case of
    the first letter may differ.

    Args:
        under: what the words stand under in the text that they are taken from.
    """
    text = cited.source.text
    whole = repeated(words, cited, place)
    if whole is not None and _is_led_alike(leads(text, whole.start), under):
        return whole
    wanted = _folded(words)
    return next((one for one in _units(cited, place) if _says(wanted, one, text, under)), None)


def _says(wanted: str, unit: Span, text: str, under: Leads) -> bool:
    """Whether words are those of a sentence or a labelled line, with what it stands under."""
    raw = unit.of(text)
    said = _folded(bare(body_of(raw), begins_line=True), text)
    above = leads(text, unit.start)
    if not (wanted and said) or said.endswith("?"):
        return False
    if not _is_led_alike(above, under):
        over = _folded(": ".join(above), text)
        return any(_alike_behind(wanted, f"{over}{sign} ", said) for sign in (":", "", " -"))
    if _alike(wanted, said):
        return True
    head, comma, rest = said.partition(", ")
    cut = _same(wanted, said) or (
        bool(comma) and _same(wanted, rest) and omissions.introduces(head)
    )
    return cut and not omissions.hides_chance(wanted, raw)


def _units(cited: CitedText, place: Span) -> Iterator[Span]:
    """The sentences at a place, and of those that run over lines with a label each, these."""
    text = cited.source.text
    for at in cited.around(place):
        sentence = cited.sentences[at]
        yield sentence
        lines = [
            Span(sentence.start + one.start(), sentence.start + one.end())
            for one in _LINES.finditer(sentence.of(text))
        ]
        labelled = [_LABELLED.match(one.of(text).lstrip()) is not None for one in lines]
        if len(lines) > 1:
            ends = [*labelled[1:], True]
            yield from (one for n, one in enumerate(lines) if labelled[n] and ends[n])


@lru_cache(maxsize=4096)  # a sentence is compared with many statements
def _folded(words: str, source: str = "") -> str:
    return in_one_notation(normalize(words).text, source).rstrip(_ENDS)


def _is_led_alike(above: Leads, under: Leads) -> bool:
    return not above or [_folded(one) for one in above] == [_folded(one) for one in under]


def _alike_behind(wanted: str, above: str, said: str) -> bool:
    """Whether words are a sentence behind what it stands under."""
    head, rest = wanted[: len(above)], wanted[len(above) :]
    return _alike(head, above) and _alike(rest, said)


def _alike(wanted: str, said: str) -> bool:
    """Whether words are the same but for the case of the first letter."""
    return wanted[1:] == said[1:] and wanted[:1].casefold() == said[:1].casefold()


def _same(wanted: str, said: str) -> bool:
    """Whether the words are the sentence's, as they stand or with brackets left out."""
    if not said or _alike(wanted, said):
        return bool(said)
    if wanted[:1].casefold() != said[:1].casefold():
        return False
    wanted, said = wanted[1:], said[1:]
    brackets = list(_BRACKET.finditer(said))
    if not 0 < len(brackets) <= _MOST_BRACKETS or len(wanted) > len(said):
        return False
    reached, at = {0}, 0
    for one in brackets:
        reached = _behind(wanted, said[at : one.start()], reached)
        kept = _behind(wanted, one.group(), reached)
        reached = kept | (reached if _tells_nothing(one.group()) else set())
        at = one.end()
    return len(wanted) in _behind(wanted, said[at:], reached)


def _behind(wanted: str, part: str, reached: set[int]) -> set[int]:
    """The places of `wanted` behind `part`, where it stands at one that was reached."""
    return {place + len(part) for place in reached if wanted.startswith(part, place)}


def _tells_nothing(bracket: str) -> bool:
    """Whether a bracket holds figures, short forms and references only: "(n = 31)", "(SBP)",
    "[4, 5]", "(Table 2)". What is in words may say in whom, or that it is not so."""
    inside = _REFERENCE.sub("", bracket)
    for name in _names_of_measures():
        inside = inside.replace(name, "")
    return all(map(_is_short_form, _WORD.findall(inside)))


def _is_short_form(word: str) -> bool:
    if lexicon().denies(word):
        return False
    if len(word) == 1 or sum(map(str.isupper, word)) > 1:
        return True
    return vocabulary().unit(word) is not None or omissions.is_grammar(word)


@cache
def _names_of_measures() -> tuple[str, ...]:
    return tuple(name for names in vocabulary().measures.values() for name in names if " " in name)
