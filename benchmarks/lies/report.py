"""The matrix: a row a kind, a column a place where claims ended."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.lies.trial import DRAFT, JUDGE, KEY, ORDER, PASSED, QUOTATION, Fate

_FIRST = (DRAFT, KEY, QUOTATION, ORDER)
_LAST = (JUDGE, PASSED)


@dataclass
class Row:
    """How many claims of a kind were told, and where they ended."""

    told: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    hedged: int = 0

    @property
    def passed(self) -> int:
        """How many reached the answer as supported."""
        return self.ended[PASSED]

    def add(self, fate: Fate) -> None:
        """Count a claim."""
        self.told += 1
        self.ended[fate.stopped_at] += 1
        self.hedged += fate.hedged

    def as_body(self) -> dict[str, Any]:
        """For `--json`."""
        return {"told": self.told, "hedged": self.hedged, "ended": dict(sorted(self.ended.items()))}


def rows(fates: Iterable[Fate], *, variants: bool = False) -> dict[str, Row]:
    """A row a kind (or a variant of a kind), and `all`."""
    found: dict[str, Row] = defaultdict(Row)
    every = Row()
    for fate in fates:
        variant = f": {fate.told.variant}" if variants and fate.told.variant else ""
        found[f"{fate.told.kind}{variant}"].add(fate)
        every.add(fate)
    return dict(sorted(found.items())) | {"all": every}


def show(console: Console, title: str, found: Mapping[str, Row], told: str, passed: str) -> None:
    """Print the matrix; places where nothing ended have no column."""
    places = sorted({place for row in found.values() for place in row.ended})
    columns = [
        *(one for one in _FIRST if one in places),
        *(one for one in places if one not in (*_FIRST, *_LAST)),
        *(one for one in _LAST if one in places and one != PASSED),
    ]
    table = Table(title=title)
    for heading in ("kind", told, *columns, "hedged", passed):
        table.add_column(heading, justify="left" if heading == "kind" else "right")
    for kind, row in found.items():
        if kind == "all":
            table.add_section()
        cells = [str(row.ended[one] or "") for one in columns]
        share = f" ({row.passed / row.told:.1%})" if row.told else ""
        table.add_row(kind, str(row.told), *cells, str(row.hedged or ""), f"{row.passed}{share}")
    console.print(table)
