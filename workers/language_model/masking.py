"""Identifiers of persons stay here: a model is shown masks in their places, and what it says has
them put back. Pure.

A mask tells what it hides and whom: `[NAME-1]`, `[DOB-1]`; another spelling of the same is
`[NAME-1.2]`, so that words which a model copies stand in the text again to the letter. Masks follow
from the text alone: a request that is built again, such as after a crash, has the same ones.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from clinical_text.identities import Kind, identities
from workers.language_model.port import ModelUnusable, Prompt, Proposal, T

TOLD = (
    "Marks in square brackets such as [NAME-1] or [DOB-1] stand for what identifies persons and is "
    "not shown to you. Where you copy words, copy these marks letter by letter."
)
_ESCAPES = {"n": " \n", "r": " \n", "t": " \t"}
_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|[nrtbf"\\/])')
_PIECE = re.compile(r'(?:[^\\\n\r"]|\\(?![nrtbf"\\/u]))+')
_MASK = re.compile(r"\[?\b(NAME|DOB|NUMBER|PHONE|EMAIL|ADDRESS)[-‐‑ ](\d{1,6}(?:\.\d{1,6})?)\b\]?")


class Masks:
    """The masks of one text, which may be JSON with its escapes."""

    def __init__(self, text: str, about: str = "") -> None:
        """Takes the text.

        Args:
            about: what it shows parts of, whose names are hidden in it, too.
        """
        self._hidden: dict[str, str] = {}
        self._known: dict[tuple[Kind, str], str] = {}
        self._subjects: dict[Kind, list[tuple[frozenset[str], int]]] = {}
        self._spellings: dict[tuple[Kind, int], int] = {}
        there = (int(one[2].partition(".")[0]) for one in _MASK.finditer(text) if one[0][0] == "[")
        self._first = max(there, default=0) + 1
        parts, at = [], 0
        for start, end, kind in _pieces(text, about):
            parts += [text[at:start], self._mask(kind, text[start:end])]
            at = end
        self.text = "".join([*parts, text[at:]])
        """The text with masks."""

    def __bool__(self) -> bool:
        return bool(self._hidden)

    def _mask(self, kind: Kind, said: str) -> str:
        if (kind, said) not in self._known:
            number = self._number(kind, said)
            spelling = self._spellings[kind, number] = self._spellings.get((kind, number), 0) + 1
            label = f"{kind}-{number}" + (f".{spelling}" if spelling > 1 else "")
            self._hidden[label] = said
            self._known[kind, said] = f"[{label}]"
        return self._known[kind, said]

    def _number(self, kind: Kind, said: str) -> int:
        """The number of whom a name names: of the first whose words have all of its, or are among
        them; of anything else, of what has the same letters and digits."""
        words = re.findall(r"[^\W_]+", said.casefold())
        parts = frozenset(words if kind == "NAME" else ["".join(words)])
        subjects = self._subjects.setdefault(kind, [])
        for at, (known, number) in enumerate(subjects):
            if parts <= known or known <= parts:
                subjects[at] = (known | parts, number)
                return number
        subjects.append((parts, len(subjects) + self._first))
        return subjects[-1][1]

    def put_back(self, said: Any) -> Any:
        """The same with every mask replaced by what it hides, in strings, lists and objects."""
        if isinstance(said, str):
            return _MASK.sub(lambda one: self._hidden.get(f"{one[1]}-{one[2]}", one[0]), said)
        if isinstance(said, dict):
            return {key: self.put_back(value) for key, value in said.items()}
        if isinstance(said, list | tuple):
            return type(said)(self.put_back(value) for value in said)
        return said


def through_masks(
    ask: Callable[[Prompt[T]], Proposal[T]], prompt: Prompt[T], about: str = ""
) -> Proposal[T]:
    """What `ask` makes of a prompt without its identifiers, with these put back.

    Args:
        about: the document that the prompt shows parts of.

    Raises:
        ModelError: as `ask` does; ModelUnusable where the reply loses its shape with them.
    """
    masks = Masks(prompt.user, about)
    if not masks:
        return ask(prompt)
    made = ask(replace(prompt, user=masks.text, system=f"{prompt.system}\n\n{TOLD}"))
    try:
        value = prompt.shape.model_validate(masks.put_back(made.value.model_dump()))
    except ValidationError:
        value = None
    if value is None:  # raised here: its cause would repeat the words
        unusable = ModelUnusable("The language model's answer has not the asked shape")
        unusable.usage = made.usage
        raise unusable
    return replace(made, value=value)


def _pieces(text: str, about: str) -> Iterator[tuple[int, int, Kind]]:
    """The identifiers line by line, without escapes: what is put back stands in no JSON."""
    read = _ESCAPE.sub(lambda one: _ESCAPES.get(one[0][1], " ").ljust(len(one[0])), text)
    before = len(about) + 2
    for found in identities(f"{about}\n\n{read}"):
        for piece in _PIECE.finditer(text, max(0, found.start - before), found.end - before):
            said = piece[0].strip()
            if any(map(str.isalnum, said)):
                start = piece.start() + piece[0].index(said)
                yield start, start + len(said), found.kind
