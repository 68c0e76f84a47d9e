"""Number words above twelve in digits: "Thirty-seven studies" are 37 studies. Pure."""

import re
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from clinical_text.vocabulary import vocabulary
from knowledge.loader import load


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    teens: tuple[str, ...]
    tens: tuple[str, ...]


def in_digits(text: str) -> str:
    """`text` with digits in the place of such words; ordinals ("thirty-seventh") stay."""
    pattern, values = _reading()
    return pattern.sub(lambda found: str(_value(found, values)), text)


def _value(found: re.Match[str], values: dict[str, int]) -> int:
    return sum(values[word.lower()] for word in found.groups() if word)


@cache
def _reading() -> tuple[re.Pattern[str], dict[str, int]]:
    policy = _Policy.model_validate(load("guards/number_words"))
    units = vocabulary().number_words[1:10]
    values = {word: number for number, word in enumerate(units, start=1)}
    values |= {word: number for number, word in enumerate(policy.teens, start=13)}
    values |= {word: 10 * number for number, word in enumerate(policy.tens, start=2)}
    pattern = (
        rf"(?i)(?<![\w-])(?:({'|'.join(policy.tens)})(?:[ -]({'|'.join(units)}))?"
        rf"|({'|'.join(policy.teens)}))(?![\w-])"
    )
    return re.compile(pattern), values
