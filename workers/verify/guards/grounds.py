"""What a claim leans on. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Grounds:
    """A located passage of a version, and what the version says around it.

    `passage` is the quotation as stored, whole sentences where an edge would change its meaning.
    `title` and `text` are the version's, of a very long one the part around the passage: what a
    passage leaves implicit (the population, the arms, the trial) may be stated there, and nowhere
    else. `identifiers` are those of the version that
    may be shown, such as `{"pmid": "35657320"}`; `neighbours` are the sentences just before and
    after the passage. `origin` tells who wrote and published it, when, and as which version:
    `authors`, `publisher`, `version`, `published_on`.
    """

    passage: str
    title: str = ""
    text: str = ""
    neighbours: str = ""
    identifiers: Mapping[str, str] = field(default_factory=dict, hash=False)
    origin: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def known(self) -> dict[str, str]:
        """Identifiers and origin."""
        return {**self.identifiers, **self.origin}
