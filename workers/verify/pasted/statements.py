"""What a pasted text states: its sentences with the quotations and identifiers in them. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from clinical_text.identifiers import identifiers, spans_of_identifiers
from clinical_text.language import other_language
from clinical_text.structure import segment
from knowledge.loader import load
from store.core.spans import Span
from store.index.terms import term_set
from workers.verify.line_leads import Leads, leads
from workers.verify.passages.marks import quotations
from workers.verify.pasted.attribution import without_credits
from workers.verify.pasted.markup import bare, markers
from workers.verify.pasted.references import Entry, entries, is_heading_of_references
from workers.verify.pasted.stating import heads, is_courtesy, leads_on, only_asks
from workers.verify.pasted.taking_out import without

_LABEL = re.compile(r"(?i)\b(?:PMCIDs?|DOIs?|identifier|number|no\.?|registered as)$")
_MARKS_BEHIND = re.compile(r"(?<![\s:#])[\s:#]++$")
"""What introduces an identifier."""
_EMPTY = re.compile(r"[(\[][\s:;,.]*+[)\]]")
"""Brackets that held nothing but identifiers."""
_BEFORE_STOP = re.compile(r"(?<!\s)\s++([.,;:])(?!\d)")
_RANGE = re.compile(r"(?<!\d)(\d{1,9})\s{0,9}[–-]\s{0,9}(\d{1,9})")
_MOST_OF_A_RANGE = 50
_MOST_OF_A_HEADING = 6  # words of a line in bold
_BOLD = re.compile(r"(?:\*\*|__)([^*_\n]+)(?:\*\*|__):?")
_UNDERLINE = re.compile(r"={3,}|-{3,}")
_RULES = frozenset(":|-")
_WORD = re.compile(r"\w")

NotJudged = Literal["heading", "question", "reference", "no_statement", "other_language"]
"""Why a sentence is not judged: it stands over others, asks, names a source, says nothing, or is in
another language than English."""


@dataclass(frozen=True)
class Statement:
    """A sentence at `[start, end)` of the pasted text.

    `words` are the sentence without its citation markers and marks of Markdown; `identifiers` those
    in it, `cited` these and, by its markers, those of the references. What `claims` nothing is not
    judged, and `not_judged` says why. `under` is what it stands under: its label, what leads on to
    its list, the head of its table.
    """

    statement_id: str
    start: int
    end: int
    words: str
    quotations: tuple[Span, ...]
    identifiers: tuple[str, ...]
    cited: tuple[str, ...]
    not_judged: NotJudged | None = None
    under: Leads = ()

    @property
    def claims(self) -> bool:
        """Whether it states something that could be true or false."""
        return self.not_judged is None

    @property
    def is_comparable(self) -> bool:
        """Whether it says enough to be compared; "Never." behind a question does not."""
        return len(term_set(plain(self.words))) >= int(load("answering/verifying")["least_terms"])


class TooLong(ValueError):
    """A text has more sentences, quotations or identifiers than are checked at once, or what it is
    compared with is too long."""


def statements(text: str) -> list[Statement]:
    """The sentences of `text`, in order.

    Raises:
        TooLong: there are more than `knowledge/answering/verifying.yaml` allows, or more
        quotations or
            identifiers.
    """
    structure = segment(text)
    sentences = structure.sentences
    _within("statements", len(sentences), "sentences")
    _within("quotations", len(quotations(text)), "quotations")
    _within("identifiers", len(spans_of_identifiers(text)), "identifiers")
    numbers = {one.start: _numbers(markers(one.of(text))) for one in sentences}
    known = entries(text, numbers)
    of, naming = _by_number(known), _naming(text, known)
    titles = {one.start for one in structure.sections if one.title}
    found: list[Statement] = []
    after_question = False
    is_english = other_language(text) is None
    for span in sentences:
        sentence = span.of(text)
        own = tuple(sorted(identifiers(sentence)))
        words = bare(sentence, begins_line=not text[: span.start].rpartition("\n")[2].strip(" \t>"))
        is_reference = _is_reference(text, span, naming)
        why = _not_judged(
            text, span, words, titled=span.start in titles, after_question=after_question
        )
        after_question = words.endswith("?")
        if why is None and not (is_english and other_language(words) is None):
            why = "other_language"
        found.append(
            Statement(
                statement_id=f"s{len(found) + 1}",
                start=span.start,
                end=span.end,
                words=words,
                quotations=()  # a title may stand in the marks of a quotation
                if is_reference
                else tuple(
                    Span(span.start + inner.start, span.start + inner.end)
                    for inner in quotations(sentence)
                ),
                identifiers=own,
                cited=()
                if is_reference
                else tuple(
                    dict.fromkeys(
                        [*own, *(name for n in numbers[span.start] for name in of.get(n, ()))]
                    )
                ),
                not_judged="reference" if is_reference else why,
                under=leads(text, span.start),
            )
        )
    return found


def _within(limit: str, count: int, what: str) -> None:
    most = int(load("answering/verifying")[limit])
    if count > most:
        raise TooLong(f"the text has {count:,} {what}; at most {most:,} are checked at once")


def plain(words: str) -> str:
    """A statement without the identifiers and the authors that it credits: what is left is judged
    by its content."""
    return _BEFORE_STOP.sub(r"\1", without_credits(without_identifiers(words)))


def without_identifiers(words: str) -> str:
    """A statement without its identifiers and what introduces them."""
    kept, at = [], 0
    for start, end in spans_of_identifiers(words):
        kept.append(_LABEL.sub("", _MARKS_BEHIND.sub("", words[at:start])))
        at = end
    return " ".join(without(_EMPTY, "".join([*kept, words[at:]])).split())


def _naming(text: str, known: Sequence[Entry]) -> bytearray:
    """For each place of the text whether it belongs to the name of a source."""
    marked = bytearray(len(text))
    for one in known:
        if one.named is not None:
            marked[one.named.start : one.named.end] = b"\1" * (one.named.end - one.named.start)
    return marked


def _is_reference(text: str, span: Span, naming: bytearray) -> bool:
    """Whether every word of a sentence belongs to the name of a source."""
    words = [at for at in range(span.start, span.end) if text[at].isalnum()]
    return bool(words) and all(naming[at] for at in words)


def _not_judged(
    text: str, span: Span, words: str, *, titled: bool, after_question: bool
) -> NotJudged | None:
    """Why a sentence states nothing that could be judged; None where it may state something."""
    sentence = span.of(text)
    if is_heading_of_references(words):
        return "heading"
    content = term_set(plain(words))
    many = len(content) >= int(load("answering/verifying")["least_terms"])
    if words.endswith("?"):
        return "question" if only_asks(words) else None
    if _is_heading(text, span, titled=titled, many=many):
        return "heading" if heads(words) else None
    if words.endswith(":"):
        return "heading" if leads_on(words) else None
    if many or (after_question and _WORD.search(plain(words))):
        return None
    if not content or is_courtesy(words):
        return "no_statement"
    alone = titled or (_stands_alone(text, span, sentence) and not words.endswith("ed"))
    return "heading" if alone and heads(words) else None


def _is_heading(text: str, span: Span, *, titled: bool, many: bool) -> bool:
    """Whether a line is a heading by its marks: of Markdown, underlined, all in bold, the head of a
    table; or a name of a part in a word."""
    sentence = span.of(text)
    if sentence.startswith("#") or (titled and not many):
        return True
    lines = sentence.splitlines()
    if len(lines) == 2 and _UNDERLINE.fullmatch(lines[1].strip()):
        return True
    bold = _BOLD.fullmatch(sentence)
    if bold is not None:
        stopped = bold[1][-1] in ".!"
        return not many if stopped else len(sentence.split()) <= _MOST_OF_A_HEADING
    below = text[span.end :].lstrip(" \t").removeprefix("\r").removeprefix("\n").split("\n", 1)[0]
    return "|" in sentence and _is_ruled(below.strip())


def _is_ruled(line: str) -> bool:
    """Whether a line is the rule below the head of a table."""
    return "--" in line and all(one in _RULES or one.isspace() for one in line)


def _stands_alone(text: str, span: Span, sentence: str) -> bool:
    """Whether a word is a line of its own and a heading's form: no mark of a list, no stop."""
    before = text[: span.start].rpartition("\n")[2]
    behind = text[span.end :].partition("\n")[0]
    return not (before + behind).strip() and sentence[:1].isupper() and sentence[-1:].isalpha()


def _by_number(known: Sequence[Entry]) -> dict[str, list[str]]:
    """The identifiers that a marker's number stands for: those of the references of that number, or
    else of the statements."""
    named: dict[str, list[str]] = {}
    stated: dict[str, list[str]] = {}
    for one in known:
        kept = stated if one.named is None else named
        kept.setdefault(one.number, []).extend(one.identifiers)
    return {**stated, **named}


def _numbers(inside: Sequence[str]) -> list[str]:
    """The numbers that markers name, ranges spelled out."""
    found: list[str] = []
    for part in re.split(r"[,;]", ";".join(inside)):
        both = _RANGE.fullmatch(part.strip())
        if both is None:
            found.append(part.strip())
        else:
            first, last = int(both[1]), int(both[2])
            found += [str(n) for n in range(first, min(last, first + _MOST_OF_A_RANGE) + 1)]
    return list(dict.fromkeys(found))
