"""How much room a list of references has: for each kind of source and in all. Pure."""

from collections import Counter

from knowledge.answering.policy import Need, retrieval_policy

KEPT = "kept"
FULL = "dropped: enough documents"


class Room:
    """What a list of references still takes (MC-1.2).

    A source counts against each cap that names its type; caps that are not for this type of
    question do not count.
    """

    def __init__(self, query_type: str, most: int) -> None:
        """Room for `most` documents of an answer to a question of this type."""
        self._most = most
        self._caps = {
            name: cap
            for name, cap in retrieval_policy().caps.items()
            if query_type not in cap.not_for
        }
        self._used: Counter[str] = Counter()
        self._taken = 0

    def refuses(self, source_type: str, *, past_caps: bool = False) -> str | None:
        """Why there is no room for another document of this type; None where there is."""
        for name, cap in self._caps.items():
            counts = cap.hard or not past_caps
            if counts and source_type in cap.of and self._used[name] >= cap.most:
                return f"dropped: enough sources of the kind {name}"
        return FULL if self._taken >= self._most else None

    def take(self, source_type: str, *, past_caps: bool = False) -> str:
        """Take a document of this type if there is room: `kept`, or why not.

        Args:
            past_caps: only hard caps count: no other kind of source wants the place.
        """
        refusal = self.refuses(source_type, past_caps=past_caps)
        if refusal is not None:
            return refusal
        self._used.update(name for name, cap in self._caps.items() if source_type in cap.of)
        self._taken += 1
        return KEPT

    @property
    def exceeded(self) -> dict[str, int]:
        """How many count against each cap that gave way."""
        return {n: used for n, used in self._used.items() if used > self._caps[n].most}


def need_of(query_type: str) -> Need | None:
    """The kinds of source that this type of question needs, if any (MC-1.3)."""
    return retrieval_policy().needs.get(query_type)
