"""A name in a text."""

from dataclasses import dataclass

from knowledge.names.tables import tables


@dataclass(frozen=True, slots=True)
class Name:
    """Words of a text that name a thing; the span counts code points of the text."""

    start: int
    end: int
    key: str
    """The normalized form: equal for all spellings; of an abbreviation that the text defines,
    that of its long form."""
    senses: tuple[int, ...] = ()
    """The entries that it stands for, the likeliest first; none if it is unknown."""

    @property
    def known(self) -> bool:
        """Whether a table has it."""
        return bool(self.senses)

    @property
    def entries(self) -> tuple[str, ...]:
        """The ids of its entries in their terminologies (MESH:D001241)."""
        return tuple(tables().id(sense) for sense in self.senses)

    @property
    def kinds(self) -> frozenset[str]:
        """What it is, as `knowledge.names.tables.KINDS`; empty if it is unknown."""
        return frozenset[str]().union(*(tables().kinds(sense) for sense in self.senses))

    @property
    def preferred(self) -> str:
        """The name that its first entry is shown by; its key if it is unknown."""
        return tables().preferred(self.senses[0]) if self.senses else self.key
