"""The words around what is said of a tumor (`knowledge/rubrics/tumors.yaml`), checked. Pure."""

from functools import cache

from pydantic import BaseModel, ConfigDict

from knowledge.loader import load

Words = tuple[str, ...]


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MarginWords(_Data):
    """Words around a margin; what denies, supposes or leaves open has the lexicon of assertions."""

    results: Words
    not_this: Words
    of_others: Words
    orients: Words
    the_rest: Words


class Diseases(_Data):
    """Names, and endings of names."""

    words: Words
    endings: Words


class Times(_Data):
    """What tells an earlier value from the present one."""

    earlier: Words
    past: Words
    present: Words
    another: Words


class TumorWords(_Data):
    """All of them."""

    version: int
    margins: MarginWords
    not_tumor_stage: Diseases
    tumor_stage: Words
    times: Times


@cache
def tumor_words() -> TumorWords:
    """The file's content; raises ValidationError where it was edited into something invalid."""
    return TumorWords.model_validate(load("rubrics/tumors"))
