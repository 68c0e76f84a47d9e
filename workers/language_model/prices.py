"""The cost of a request, by the dated table of `knowledge/operation/prices.yaml`. Pure.

An unknown cost is None, never zero: a budget must be able to see the difference.
"""

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from knowledge.loader import load

_MILLION = Decimal(1_000_000)
_SNAPSHOT = re.compile(r"-[0-9]{8}$")
"""The API may return the dated snapshot of a model that was requested by its short name."""

Positive = Annotated[Decimal, Field(gt=0)]
Price = Annotated[Decimal, Field(ge=0)]


@dataclass(frozen=True)
class Billed:
    """The service's statement of what it will bill. `input_tokens` are those outside the cache."""

    input_tokens: int
    output_tokens: int
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    place: str | None = None
    """Where the model ran; None (not stated) counts as `global`."""
    tier: str | None = None
    speed: str | None = None

    @property
    def prompt_tokens(self) -> int:
        """The tokens of the whole prompt."""
        return self.input_tokens + self.cache_read + self.cache_write_5m + self.cache_write_1h


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    up_to: Annotated[int, Field(gt=0)] | None = None
    input: Price
    output: Price
    cache_read: Positive | None = None


class PriceTable(BaseModel):
    """The price table; its fields are explained at the head of `prices.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    as_of: date
    cache_write_5m: Positive
    cache_write_1h: Positive
    cache_read: Positive
    places: dict[str, Positive]
    models: dict[str, Annotated[tuple[_Row, ...], Field(min_length=1)]]
    own: tuple[_Row, ...] = ()
    """What the operator says that tokens cost, whatever a server calls its model."""

    @model_validator(mode="after")
    def _rows_rise_and_the_last_is_open(self) -> Self:
        for model, rows in self.models.items():
            limits = [row.up_to for row in rows]
            bounded = [limit for limit in limits[:-1] if limit is not None]
            rising = all(lower < upper for lower, upper in pairwise(bounded))
            if limits[-1] is not None or len(bounded) != len(limits) - 1 or not rising:
                raise ValueError(f"rows of {model}: up_to must rise, and only the last has none")
        return self

    def cost(self, model: str, billed: Billed) -> Decimal | None:
        """US dollars; None if the model, place, tier or speed has no known price."""
        rows = self._rows(model)
        factor = self.places.get(billed.place or "global")
        usual = billed.tier in (None, "standard") and billed.speed in (None, "standard")
        if rows is None or factor is None or not usual:
            return None
        size = billed.prompt_tokens
        row = next(row for row in rows if row.up_to is None or size <= row.up_to)
        read = (
            billed.input_tokens
            + billed.cache_read * (row.cache_read or self.cache_read)
            + billed.cache_write_5m * self.cache_write_5m
            + billed.cache_write_1h * self.cache_write_1h
        )
        return (read * row.input + billed.output_tokens * row.output) * factor / _MILLION

    def at_most(self, model: str, input_tokens: int, output_tokens: int) -> Decimal:
        """The most US dollars that so many tokens can cost, in any place.

        All of them may be written to the short cache; no adapter requests the long one. A model
        that is not in the table costs as much as the dearest one in it. A budget counts unknown
        costs like this, never as zero.
        """
        rows = self._rows(model) or [row for rows in self.models.values() for row in rows]
        read = input_tokens * max(self.cache_write_5m, self.cache_read, Decimal(1))
        dearest = max(read * row.input + output_tokens * row.output for row in rows)
        return dearest * max(self.places.values()) / _MILLION

    def with_own(self, input_usd: Decimal | None, output_usd: Decimal | None) -> "PriceTable":
        """The table where the operator states prices, US dollars per million tokens: none are known
        unless both are stated. Nothing is known of a cache: reading from it costs as much."""
        if input_usd is None or output_usd is None:
            return self
        row = _Row(input=input_usd, output=output_usd, cache_read=Decimal(1))
        return self.model_copy(update={"own": (row,)})

    def _rows(self, model: str) -> tuple[_Row, ...] | None:
        return self.own or self.models.get(model) or self.models.get(_SNAPSHOT.sub("", model))


@cache
def prices() -> PriceTable:
    """The validated table.

    Raises pydantic.ValidationError if the file is not valid.
    """
    return PriceTable.model_validate(load("operation/prices"))
