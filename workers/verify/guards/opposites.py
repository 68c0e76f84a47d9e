"""A word of the claim whose opposite the passage has in its place ("before" for "after"). Pure."""

from functools import cache

from knowledge.guards.meaning import direction_policy
from workers.verify.guards.finding import Finding
from workers.verify.guards.negation import negations
from workers.verify.guards.statements import Statement, closeness, stem_of

_CLEARLY = 1.5
"""How much nearer the opposite must be than the word itself to speak against it (ours)."""


def opposites(said: Statement, source: Statement) -> list[Finding]:
    """Words of the claim whose opposite the passage has in their place."""
    findings = []
    denied, stated = negations(said).odd, negations(source).odd
    pairs = _pairs()
    for i, token in enumerate(said.tokens):
        for opposite in pairs.get(token.stem, ()):
            against = source.by_stem.get(opposite, ())
            if not against:
                continue
            company = said.company(i)
            same = max(
                (
                    closeness(company, source.company(j))
                    for j in source.by_stem.get(token.stem, ())
                    if stated[j] == denied[i]
                ),
                default=0.0,
            )
            other = max(
                (closeness(company, source.company(j)) for j in against if stated[j] == denied[i]),
                default=0.0,
            )
            if other > same:
                detail = f"the claim says “{token.word}”, the passage its opposite"
                findings.append(Finding("direction", detail, unsaid=same * _CLEARLY > other))
    return findings


@cache
def _pairs() -> dict[str, frozenset[str]]:
    """Stem to the stems of its opposites. Pairs that stemming makes one word are left out."""
    pairs: dict[str, frozenset[str]] = {}
    for one, other in direction_policy().opposites:
        for word, opposite in ((one, other), (other, one)):
            a, b = stem_of(word)[0], stem_of(opposite)[0]
            if a != b:
                pairs[a] = pairs.get(a, frozenset()) | {b}
    return pairs
