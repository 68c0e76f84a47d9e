"""Training pairs (claim, passage, label) made from SciFact and Evidence Inference. Pure, seeded.

Each edit is made on the claim's side as often as on the passage's, so that a claim's own wording
does not give its label away.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from benchmarks.claims import edits
from benchmarks.claims.sources import Abstract, Finding, Label, SciFactPair
from benchmarks.claims.stems import stems
from workers.verify.entailment.passages import sentences


@dataclass(frozen=True)
class Pair:
    """A claim, the sentences it is held against, and what they say of it.

    `group` names the SciFact claim or the article a pair comes from; `kind` how it was made.
    """

    claim: str
    evidence: tuple[str, ...]
    label: Label
    kind: str
    group: str
    weight: float = 1.0


def split(text: str) -> list[str]:
    """The sentences of `text` as strings."""
    return [text[span.start : span.end] for span in sentences(text)]


def nearest(claim: str, options: Sequence[str], count: int) -> tuple[str, ...]:
    """The `count` sentences that share most stems with `claim`, in the order of the text."""
    wanted = set(stems(claim))
    scores = [len(wanted & set(stems(option))) / (len(wanted) + 1) for option in options]
    best = sorted(range(len(options)), key=lambda i: -scores[i])[:count]
    return tuple(options[i] for i in sorted(best))


def _replace(evidence: Sequence[str], change: Callable[[str], str | None]) -> tuple[str, ...]:
    return tuple(change(sentence) or sentence for sentence in evidence)


def turned(
    claim: str, evidence: tuple[str, ...], elsewhere: str, kind: str, group: str, rng: Random
) -> Iterator[Pair]:
    """From a pair that holds: the same with one side reversed, both reversed, or off the point."""

    def pair(c: str, e: tuple[str, ...], label: Label, how: str) -> Pair:
        return Pair(c, e, label, f"{kind}/{how}", group)

    reversed_claim = edits.reverse_word(claim, rng)
    if reversed_claim:
        text, word = reversed_claim
        yield pair(text, evidence, "contradicted", "direction")
        both = _replace(evidence, lambda s: (edits.reverse_word(s, rng, word) or (None,))[0])
        if both != evidence:
            yield pair(claim, both, "contradicted", "direction")
            same = edits.reverse_word(claim, rng, word)
            if same:
                yield pair(same[0], both, "supported", "direction-both")
    negated = edits.negate(claim, rng)
    if negated:
        yield pair(negated, evidence, "contradicted", "negation")
        if len(evidence) == 1:
            other = edits.negate(evidence[0], rng)
            if other and len(evidence[0]) < 1.5 * len(claim):
                yield pair(claim, (other,), "contradicted", "negation")
                yield pair(negated, (other,), "supported", "negation-both")
    number = edits.change_number(claim, rng)
    if number:
        yield pair(number, evidence, "contradicted", "number")
    if rng.random() < 0.6:
        swapped = edits.swap_term(claim, elsewhere, rng)
        if swapped:
            yield pair(swapped, evidence, "not_enough", "term")
    turned_round = edits.passive(claim)
    if turned_round:
        yield pair(turned_round[0], evidence, "supported", "passive")
        yield pair(turned_round[1], evidence, "not_enough", "arms")


def light(sentence: str, rng: Random) -> str:
    """A light paraphrase."""
    claim = edits.shorten(sentence, rng) or sentence
    return edits.reword(claim, rng) or claim


def from_abstracts(
    abstracts: Sequence[Abstract], rng: Random, sentences_each: int
) -> Iterator[Pair]:
    """Titles that state something against their abstracts, and sentences against themselves."""
    parts = {abstract.key: split(abstract.text) for abstract in abstracts}
    topics = _by_topic(abstracts)
    for abstract in abstracts:
        own = parts[abstract.key]
        if len(own) < 3:
            continue
        other = rng.choice(topics(abstract) or [abstract])
        if edits.is_statement(abstract.title):
            yield from _from_title(abstract, own, parts[other.key], rng)
        usable = [s for s in own if 60 < len(s) < 350]
        for sentence in rng.sample(usable, min(sentences_each, len(usable))):
            yield from _from_sentence(abstract, sentence, own, parts[other.key], rng)


def _by_topic(abstracts: Sequence[Abstract]) -> Callable[[Abstract], list[Abstract]]:
    """Finds abstracts whose titles share rare words with one."""
    holding: defaultdict[str, list[Abstract]] = defaultdict(list)
    for abstract in abstracts:
        for word in dict.fromkeys(stems(abstract.title)):
            holding[word].append(abstract)

    def near(abstract: Abstract) -> list[Abstract]:
        rare = sorted(dict.fromkeys(stems(abstract.title)), key=lambda word: len(holding[word]))
        found: list[Abstract] = []
        for word in rare:
            if 1 < len(holding[word]) < 60:
                found += [other for other in holding[word] if other.key != abstract.key]
        return list(islice(found, 8))

    return near


def _from_title(
    abstract: Abstract, own: list[str], others: list[str], rng: Random
) -> Iterator[Pair]:
    title, group = abstract.title.rstrip("."), abstract.key
    claim = title + "."
    best = nearest(claim, own, rng.choice([1, 2, 3]))
    yield Pair(claim, best, "supported", "title", group)
    claim = edits.reword(claim, rng) or claim
    yield from turned(claim, best, abstract.text, "title", group, rng)
    if others:
        yield Pair(claim, nearest(claim, others, 3), "not_enough", "title/topic", group)
    far = [s for s in own if s not in nearest(claim, own, 4)]
    if len(far) >= 2:
        yield Pair(claim, tuple(rng.sample(far, 2)), "not_enough", "title/far", group, 0.5)


def _from_sentence(
    abstract: Abstract, sentence: str, own: list[str], others: list[str], rng: Random
) -> Iterator[Pair]:
    group = abstract.key
    at = own.index(sentence)
    around = tuple(own[max(0, at - rng.choice([0, 1])) : at + rng.choice([1, 2])])
    claim = light(sentence, rng)
    yield Pair(claim, around, "supported", "sentence", group)
    options = list(turned(claim, around, " ".join(own), "sentence", group, rng))
    yield from rng.sample(options, min(3, len(options)))
    rest = [s for i, s in enumerate(own) if abs(i - at) > 1]
    if rest:
        yield Pair(claim, nearest(claim, rest, 2), "not_enough", "sentence/same", group, 0.7)
    if others:
        yield Pair(claim, nearest(claim, others, 2), "not_enough", "sentence/topic", group)


_UP = (
    "{x} increased {o} compared with {c}.",
    "{x} significantly increases {o} compared to {c}.",
    "{o} was higher with {x} than with {c}.",
    "{x} leads to higher {o} than {c}.",
    "{x} raises {o}.",
    "Compared with {c}, {x} is associated with greater {o}.",
    "Treatment with {x} results in an increase in {o}.",
)
_DOWN = (
    "{x} reduced {o} compared with {c}.",
    "{x} significantly decreases {o} compared to {c}.",
    "{o} was lower with {x} than with {c}.",
    "{x} leads to lower {o} than {c}.",
    "{x} lowers {o}.",
    "Compared with {c}, {x} is associated with less {o}.",
    "Treatment with {x} results in a decrease in {o}.",
)
_NONE = (
    "{x} had no significant effect on {o} compared with {c}.",
    "{x} does not affect {o}.",
    "There was no significant difference in {o} between {x} and {c}.",
    "{o} was similar with {x} and {c}.",
    "{x} and {c} did not differ in {o}.",
    "{x} neither increases nor decreases {o}.",
)
_TEMPLATES = {"increased": _UP, "decreased": _DOWN, "none": _NONE}
_CONTRARY = {"increased": "decreased", "decreased": "increased"}


def _say(finding: Finding, effect: str, rng: Random, *, swapped: bool = False) -> str:
    x, c = finding.intervention, finding.comparator
    form = rng.choice([t for t in _TEMPLATES[effect] if "{c}" in t or not swapped])
    x, c = (c, x) if swapped else (x, c)
    said = form.format(x=x, c=c, o=finding.outcome)
    return said[0].upper() + said[1:]


def from_findings(findings: Iterable[Finding], rng: Random) -> Iterator[Pair]:
    """Statements about each finding, true and not, against its quotation and against others."""
    kept = [f for f in findings if len(f.quote) < 700 and len(f.outcome) < 150]
    articles: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in kept:
        articles[finding.article].append(finding)
    for finding in kept:
        group, effect = finding.article, finding.effect
        quote = tuple(split(finding.quote))[:3]
        for _ in range(2):
            yield Pair(_say(finding, effect, rng), quote, "supported", "finding", group)
        if effect == "none":
            wrong = [_say(finding, rng.choice(["increased", "decreased"]), rng) for _ in range(2)]
        else:
            mirror = _say(finding, _CONTRARY[effect], rng, swapped=True)
            yield Pair(mirror, quote, "supported", "finding/mirror", group)
            wrong = [
                _say(finding, _CONTRARY[effect], rng),
                _say(finding, effect, rng, swapped=True),
                _say(finding, "none", rng),
            ]
        for claim in wrong:
            yield Pair(claim, quote, "contradicted", "finding/reversed", group)
        yield from _beside(finding, articles[group], kept, rng)


def _beside(
    finding: Finding, same_article: list[Finding], kept: list[Finding], rng: Random
) -> Iterator[Pair]:
    """A true statement against the quotation of another outcome, and of another article; one
    annotator's quotation against another's."""
    group, claim = finding.article, _say(finding, finding.effect, rng)
    same = (finding.outcome, finding.intervention, finding.comparator, finding.effect)
    twins = [
        f
        for f in same_article
        if (f.outcome, f.intervention, f.comparator, f.effect) == same
        and f.quote not in finding.quote
        and finding.quote not in f.quote
    ]
    if twins:
        twin = rng.choice(twins)
        if len(finding.quote) < 300:
            evidence = tuple(split(twin.quote))[:3]
            yield Pair(claim, evidence, "supported", "finding", group)
    wanted = set(stems(finding.outcome))
    others = [
        f.quote
        for f in same_article
        if not wanted & set(stems(f.outcome))
        and f.quote not in finding.quote
        and finding.quote not in f.quote
        and not wanted <= set(stems(f.quote))
    ]
    if others:
        evidence = tuple(split(rng.choice(others)))[:3]
        yield Pair(claim, evidence, "not_enough", "finding/outcome", group)
    elsewhere = rng.choice(kept)
    if elsewhere.article != group:
        evidence = tuple(split(elsewhere.quote))[:3]
        yield Pair(claim, evidence, "not_enough", "finding/elsewhere", group, 0.5)


def _marked(pair: SciFactPair, own: Sequence[str]) -> list[tuple[str, ...]]:
    """The rationales of `pair` in our sentences: of those around each number, the nearest."""
    found = []
    for rationale in pair.rationales:
        around = [own[max(0, i - 1) : i + 2] for i in rationale]
        chosen = [nearest(pair.claim, options, 1)[0] for options in around if options]
        if chosen:
            found.append(tuple(dict.fromkeys(chosen))[:3])
    return found


def from_scifact(pairs: Sequence[SciFactPair], rng: Random) -> Iterator[Pair]:
    """SciFact claims against the nearest sentences of their abstracts and, where an annotator
    marked it, against the rationale alone; and turned."""
    for pair in pairs:
        own, group = split(pair.abstract.text), pair.claim_key
        for count in (2, 4):
            best = nearest(pair.claim, own, count)
            yield Pair(pair.claim, best, pair.label, "scifact", group, 1.5)
        marked = _marked(pair, own)
        if not marked:
            yield Pair(pair.claim, nearest(pair.claim, own, 1), "not_enough", "scifact", group)
            continue
        for evidence in marked[:2]:
            yield Pair(pair.claim, evidence, pair.label, "scifact/rationale", group, 1.5)
        rest = [s for s in own if all(s not in evidence for evidence in marked)]
        if rest:
            off = nearest(pair.claim, rest, 1)
            yield Pair(pair.claim, off, "not_enough", "scifact/off", group, 0.4)
        if pair.label == "supported":
            yield from turned(pair.claim, marked[0], pair.abstract.text, "scifact", group, rng)
        else:
            reworded = edits.reword(pair.claim, rng)
            if reworded:
                yield Pair(reworded, marked[0], "contradicted", "scifact/reworded", group)
