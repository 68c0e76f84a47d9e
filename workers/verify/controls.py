"""Controls for a judge: claims like the others whose right verdict is known. Pure, seeded.

A judge that calls a false one supported is not believed for that batch. So a false control must be
false beside its own passage for certain: where that is in doubt, none is made.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, zip_longest
from random import Random

from clinical_text.doc import doc
from clinical_text.labels import body_of
from clinical_text.quantities import Kind, Quantity, quantities
from clinical_text.vocabulary import vocabulary
from store.core.spans import Span
from workers.verify.guards.direction import directions
from workers.verify.guards.statements import read
from workers.verify.locating import CitedText

MOST_SENTENCES = 200
"""Sentences that are looked at, of all sources together (ours)."""
LENGTHS = range(40, 401)
"""Characters of a sentence that makes a control (ours)."""
LONGEST = 1500
"""Characters of a sentence that is denied as a whole, where no other is there (ours)."""
FACTORS = (0.4, 0.5, 0.6, 1.5, 1.6, 1.8, 2.1)
"""By which a figure is changed (ours)."""
CLEARLY = 1.4
"""Factor by which a false figure differs from the true one at least (ours)."""
ARMS_APART = 1.15
"""Factor by which two figures that are exchanged differ at least (ours)."""
FIGURES, WORDS = ("number", "arm"), ("negation", "direction")
DENIALS = ("It is not true that ", "It is not the case that ")


@dataclass(frozen=True)
class Control:
    """A claim made from the `passage` at `place` of the source `key`, and whether it is true.

    `kind` is what makes it false ("number", "arm", "negation", "direction", "denied"), or "true".
    """

    claim: str
    passage: str
    place: Span
    key: str
    true: bool
    kind: str


@dataclass(frozen=True)
class _Candidate:
    """A sentence with its words as a claim has them; `plain` if it is like those that claims
    are made from, `free` if no claim stands on it."""

    key: str
    place: Span
    passage: str
    body: str
    plain: bool
    free: bool

    def control(self, claim: str, kind: str, rng: Random) -> Control:
        """The control with this claim, its signs and small words varied."""
        told = _varied(claim, rng)
        return Control(told, self.passage, self.place, self.key, kind == "true", kind)


def controls(
    texts: Mapping[str, CitedText],
    taken: Collection[tuple[str, Span]],
    seed: str,
    false: int = 2,
    true: int = 1,
) -> list[Control]:
    """Up to `false` false and `true` true controls in an order of their own, no sentence twice.

    Of other kinds and sources where that can be, the first false one with a changed figure. Fewer
    where the sentences do not suffice: then rather false ones than true.

    Args:
        texts: the sources by evidence key.
        taken: the places of the real claims: used only if nothing else is there.
        seed: the same seed chooses the same.
    """
    rng = Random(seed)  # noqa: S311
    candidates = list(_candidates(texts, taken, rng))
    made = list(_edited(texts, candidates, false, rng))
    used = {(one.key, one.place) for one in made}
    left = [one for one in candidates if (one.key, one.place) not in used]
    left.sort(key=lambda one: not one.plain)
    denied = max(0, false - len(made))
    for one in left[:denied]:
        made.append(one.control(_denied(one, texts[one.key], rng), "denied", rng))
    plain = [one for one in left[denied:] if one.plain]
    keys = {one.key for one in made}
    plain.sort(key=lambda one: (not one.free, one.key in keys, one.body in one.passage))
    made += [one.control(one.body, "true", rng) for one in plain[:true]]
    rng.shuffle(made)
    return made


def _edited(
    texts: Mapping[str, CitedText], candidates: Sequence[_Candidate], most: int, rng: Random
) -> Iterator[Control]:
    """Up to `most` false controls made by changing a word or a figure."""
    first, second = rng.sample(FIGURES, 2)
    order = [first, *rng.sample([second, *WORDS], 3)]
    held = cache(lambda key: frozenset(_FIGURE.findall(texts[key].source.text)))
    offers = [
        (one, kind, claim)
        for one in candidates
        for kind in order
        if one.plain and (claim := _MAKERS[kind](one.body, partial(held, one.key), rng)) is not None
    ]
    kinds, keys = set[str](), set[str]()
    for _ in range(most):
        ranked = [
            (not one.free, kind in kinds, one.key in keys, order.index(kind), at)
            for at, (one, kind, _) in enumerate(offers)
        ]
        if not ranked:
            return
        best, kind, claim = offers[min(ranked)[-1]]
        yield best.control(claim, kind, rng)
        kinds.add(kind)
        keys.add(best.key)
        offers = [one for one in offers if one[0] is not best]


# --- sentences

_LEAD = re.compile(
    r"(?:However|Moreover|Furthermore|In addition|Additionally|Thus|Therefore|Hence|Finally"
    r"|In conclusion|In summary|Interestingly|Notably|Importantly), (?=\w)"
)
_AUTHORS = re.compile(r"^AUTHORS?['’]S? (?=CONCLUSIONS?:)")
_REFERENCE = re.compile(r"(?<=[A-Za-z.,)])\s?\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,20}\]")
_LAST_BRACKET = re.compile(r"\s?[(\[]([^()\[\]]{1,80})[)\]]\.$")
_OF_A_TEST = re.compile(r"\b(?:[Pp](?:[ -]?values?)?|95\s?% ?CI|CI|confidence interval)(?![\w-])")
_FIGURES_ONLY = re.compile(r"(?:[\d\s.,;:=<>≤≥%–−-]|\bto\b){0,80}")
_AIM = re.compile(
    r"(?i)\b(?:aim(?:s|ed)?|objectives?|purpose|goal|hypothes\w{1,8}|sought|intend(?:s|ed)?"
    r"|will|to (?:assess|evaluate|determine|examine|investigate|compare|explore|test|describe"
    r"|identify|study|estimate|analy[sz]e|review|clarify|establish))\b"
)
_FINITE = re.compile(
    r"\b(?:was|were|is|are|had|has|have|did|does|do|can|could|should|would|may|might)\b"
)
_PAST = re.compile(r"\b\w{3,20}ed\b")
_HIDDEN = re.compile(r"[?]|\b(?:if|whether)\b|(?-i:^[A-Z][A-Z .,'/&-]{8,120}:)|</?[a-z]|[(]#", re.I)


def _candidates(
    texts: Mapping[str, CitedText], taken: Collection[tuple[str, Span]], rng: Random
) -> Iterator[_Candidate]:
    """The sentences looked at, of the sources in turn, those without a claim first."""
    free, stood_on = [], []
    for key, cited in sorted(texts.items()):
        under = {at for of, place in taken if of == key for at in cited.around(place)}
        others = [at for at in range(len(cited.sentences)) if at not in under]
        free.append([(key, at) for at in rng.sample(others, min(len(others), MOST_SENTENCES))])
        stood_on.append([(key, at) for at in rng.sample(sorted(under), len(under))])
    rng.shuffle(free)
    turns = [*_in_turn(free), *_in_turn(stood_on)][:MOST_SENTENCES]
    unclaimed, seen = set(chain.from_iterable(free)), set[str]()
    for key, at in turns:
        cited, place = texts[key], texts[key].sentences[at]
        passage = place.of(cited.source.text)
        body = _body(passage) if len(passage) <= LONGEST else ""
        if not body or body in seen or "?" in body or cited.speaks_to_programs(place):
            continue
        seen.add(body)
        yield _Candidate(key, place, passage, body, _is_plain(body), (key, at) in unclaimed)


def _in_turn(rows: Sequence[Sequence[tuple[str, int]]]) -> list[tuple[str, int]]:
    """The first of each row, the second of each, and so on."""
    return [one for column in zip_longest(*rows) for one in column if one is not None]


def _body(passage: str) -> str:
    """What a sentence says: without label, references, lead, and a last bracket of a test."""
    body = " ".join(_REFERENCE.sub("", body_of(_AUTHORS.sub("", passage))).split())
    lead = _LEAD.match(body)
    body = body[lead.end() :] if lead else body
    bracket = _LAST_BRACKET.search(body)
    if bracket and _OF_A_TEST.search(bracket[1]):
        rest = _OF_A_TEST.sub("", bracket[1])
        body = body[: bracket.start()] + "." if _FIGURES_ONLY.fullmatch(rest) else body
    small = lead and body.split()[0].islower()
    return body[:1].upper() + body[1:] if small else body


def _is_plain(body: str) -> bool:
    """Whether it states something, in one whole sentence."""
    return (
        len(body) in LENGTHS
        and body.endswith(".")
        and not body[0].islower()
        and body[0] not in "-•*|.,;:)"
        and body.count("(") == body.count(")")
        and len(re.findall(r"\b[a-z]{2,40}\b", body)) > len(body.split()) / 2
        and _states(body)
        and not _AIM.search(body)
        and not _HIDDEN.search(body)
    )


def _states(body: str) -> bool:
    """Whether there is a finite verb, as far as its form tells."""
    past = _PAST.search(body)
    verb = past is not None and not _SUBORDINATE.search(body[: past.start()])
    return verb or _FINITE.search(body) is not None


_SAME = (
    (re.compile(r"\b[Vv]s\b\.?"), "versus"),
    (re.compile(r"\bapproximately\b"), "about"),
    (re.compile(r"\bprior to\b"), "before"),
    (re.compile(r"\bin order to\b"), "to"),
)
_PERCENT = re.compile(r"(?<=\d)\s?%(?=[\s,.;)])")


def _varied(claim: str, rng: Random) -> str:
    """The claim in other signs and small words of the same meaning, with a full stop."""
    for pattern, other in _SAME:
        claim = pattern.sub(other, claim)
    if rng.random() < 0.5 and len(_PERCENT.findall(claim)) == claim.count("%"):
        claim = _PERCENT.sub(" percent", claim)
    return claim if claim.endswith(".") else claim.rstrip(" ,;:") + "."


# --- figures

_FIGURE = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:\.\d+)?")
_CHANGED = frozenset({Kind.PERCENT, Kind.RATIO, Kind.COUNT, Kind.DOSE, Kind.DURATION, Kind.PLAIN})
_NOT_BEFORE = re.compile(
    r"(?i)(?:[-–−±/×^~<>≤≥]|\b(?:to|between|and|or|than|least|most|versions?|types?|groups?|stages?"
    r"|grades?|phases?|tables?|fig(?:ure)?s?|class|level|per|included|includes|contain(?:s|ed)?"
    r"|day|week|month|year|cycle|visit"
    r"|(?:up to|for|within|by|before|until|through|over|under|above|below|beyond|first|last|past)"
    r"(?:\s[a-z]{1,10}){0,3}))\s?$"
)
_NOT_AFTER = re.compile(
    r"(?i)\s?(?:[-–−±/×:^]|(?:to|or|and|out of|of|of the)\s\d|(?:and|or) (?:over|above|older|more)"
    r"|%?\s?(?:CI\b|CrI\b|confidence|credible|significance|level|limits?\b|power))"
)
_AFTER_TIME = re.compile(
    r"\s?(?:[.,;)]|(?:after|of|in|from|with|and|versus|vs|before|was|were|at|on|among|later)\b)"
)
_NO_RESULTS = re.compile(r"(?i)\b(?:version|software|SPSS|SAS|Stata|Inc|USA)\b")


def _number(body: str, held: Callable[[], frozenset[str]], rng: Random) -> str | None:
    """The sentence with one figure that its source does not have."""
    found = [one for one in quantities(body) if _may_change(body, one)]
    if not found or _NO_RESULTS.search(body):
        return None
    one = rng.choice(found)
    written = _FIGURE.findall(one.raw)[0]
    grows = one.kind in (Kind.COUNT, Kind.DURATION, Kind.DOSE)  # who saw 31 patients saw nine
    for factor in rng.sample(FACTORS, len(FACTORS)):
        if grows and factor < 1:
            continue
        other = _alike(float(written.replace(",", "")) * factor, written)
        if other not in held() and _is_other(other, written, one.kind is Kind.PERCENT):
            return body[: one.start] + one.raw.replace(written, other, 1) + body[one.end :]
    return None


def _may_change(body: str, one: Quantity) -> bool:
    """Whether another figure in this place is another statement: no bound, range, test or name."""
    measured = one.kind in (Kind.RATIO, Kind.PERCENT, Kind.COUNT) or one.unit is not None
    return (
        one.kind in _CHANGED
        and (measured or "." in one.raw)
        and (one.unit is None or one.unit.split("/")[0] in vocabulary().unit_kind)  # not "3rd"
        and one.comparator is None
        and one.shared_unit is None
        and one.raw[0].isdecimal()
        and len(_FIGURE.findall(one.raw)) == 1
        and "-" not in one.raw
        and not _NOT_BEFORE.search(body[max(0, one.start - 50) : one.start])
        and not _NOT_AFTER.match(body, one.end)
        and (one.kind is not Kind.DURATION or _AFTER_TIME.match(body, one.end) is not None)
    )


def _alike(value: float, written: str) -> str:
    """The value with as many places, and groups, as the figure has that is written."""
    places = len(written.partition(".")[2])
    return f"{value:,.{places}f}" if "," in written else f"{value:.{places}f}"


def _is_other(other: str, written: str, percent: bool) -> bool:
    """Whether a figure is possible, and clearly another one."""
    new, old = float(other.replace(",", "")), float(written.replace(",", ""))
    possible = (0 < new <= 100 or not percent) and (new < 1 or old >= 1)  # an area, a share
    return possible and min(new, old) > 0 and max(new, old) / min(new, old) >= CLEARLY


_SIDE = r"(?:in|of|for|among|with|at|on|after|during|under)\b"
_JOINED = re.compile(
    rf"(?P<side>(?:[^;]{{0,40}}?\s{_SIDE}[^;]{{1,90}}?)?)(?:\s?\([^()]{{0,60}}\))?,?\s"
    r"(?P<word>and|versus|vs\.?|compared with|compared to)\s(?P<more>[^;]{0,40})"
)
_OTHER_NAME = re.compile(r"[a-z]{4,40}\s(?:[^\d]{0,20}\s)?(?:of|was|were|is|in|to|for)\s$")
_VERSUS = re.compile(r"\b(?:than|compared (?:with|to)|versus|vs)\b")
_SYMMETRIC = re.compile(
    r"(?i)\b(?:between|rang\w{1,4}|var(?:y|ied|ying|ies)|intervals?|CI|IQR|quartiles?|limits|one"
    r"|another|two|both|others?|each|either|difference|about the same)\b|±"
)
_TURNED = re.compile(
    r"(?i)\b(?:increas|decreas|declin|rose|fell|dropp|improv|reduc|lower|rais|grew)\w{0,6}\b"
    r"[^.;]{0,60}\bfrom\s$"
)


def _arm(body: str, _: object, __: Random) -> str | None:
    """The sentence with its two figures of one unit exchanged, where each belongs to a side."""
    every = quantities(body)
    units = {one.unit for one in every if one.unit is not None and one.kind is not Kind.CI}
    for unit in sorted(units):
        two = [one for one in every if unit in one.units]
        if len(two) == 2 and _are_of_sides(body, *two):
            first, second = (_FIGURE.findall(one.raw)[0] for one in two)
            before, last = two
            return (
                body[: before.start]
                + before.raw.replace(first, second, 1)
                + body[before.end : last.start]
                + last.raw.replace(second, first, 1)
                + body[last.end :]
            )
    return None


def _are_of_sides(body: str, first: Quantity, second: Quantity) -> bool:
    """Whether each figure is said of a side of its own, so that exchanged they say otherwise."""
    two = first, second
    if any(len(_FIGURE.findall(one.raw)) != 1 or one.comparator for one in two):
        return False
    if not all(one.raw[0].isdecimal() for one in two) or _SYMMETRIC.search(body):
        return False
    low, high = sorted(abs(one.value) for one in two)
    if low <= 0 or high / low < ARMS_APART:
        return False
    between, head, tail = (
        body[first.end : second.start], body[: first.start], body[second.end :]
    )  # fmt: skip
    if between.strip() == "to":
        return bool(_TURNED.search(head))
    joined = _JOINED.fullmatch(between)
    if joined is None:
        return False
    other = _OTHER_NAME.search(joined["more"])
    if joined["side"]:  # "28% in A and 12% in B"
        return bool(other or re.match(rf"(?:\s?\([^()]{{0,60}}\))?\s{_SIDE}", tail))
    if joined["word"] == "and":
        return bool(other or "respectively" in tail)
    return bool(_VERSUS.search(head) or "respectively" in tail or joined["more"].strip())


# --- words

_SUBORDINATE = re.compile(
    r"(?i)\b(?:that|which|who|whom|whose|when|where|while|whereas|although|though|because|since"
    r"|unless|until|after|before|as|how|what|why|than|once|despite)\b"
)
_REPORTED = re.compile(
    r"(?i)^[^,;]{0,60}\b(?:show(?:s|ed|n)?|found|finds?|demonstrate[sd]?|indicate[sd]?"
    r"|suggest(?:s|ed)?|reveal(?:s|ed)?|conclude[sd]?|reported) that\b"
)
_OF_SOME = re.compile(
    r"(?i)^an?\b|\b(?:some|many|most|majority|minority|few|fewer|little|all|each|every|several|both"
    r"|half|third|any|multiple|numerous|other|others|another|one|certain|various|different"
    r"|proportion|subset|part|number|it|only|alone|up|among|\w{3,5}teen|(?:twen|thir|for|fif|six"
    r"|seven|eigh|nine)ty|hundred|thousand)\b"
)
_IN_SOME = re.compile(
    r"(?i)\b(?:some|many|most|majority|minority|few|several|half|third|one|another|certain|various"
    r"|both|cases?|proportion|subset|part|\w{3,5}teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundred|thousand)\b"
)
_OF_PARTS = (Kind.COUNT, Kind.PERCENT, Kind.PLAIN)
_BRACKET = re.compile(r"[(\[][^()\[\]]{0,200}[)\]]")
_SCOPED = re.compile(
    r"(?i)\b(?:only|just|merely|solely|alone|either|neither|nor|yet|any|or not|may|might|sometimes"
    r"|occasionally|no significant|without|until|unless|necessarily|always|all|every|exclusively)\b"
)
_DENYING = re.compile(r"\b(was|were|is|are|did|does|do|has|have|had|can|could|should|would)\snot\s")
_CANNOT = re.compile(r"\bcannot\s")
_AFFIRMING = re.compile(
    r"\b(?:was|were|is|are|can|could|should|would"
    r"|(?:has|have|had)(?=\s(?:been|\w{2,20}ed)\b))\b(?=\s(?P<next>\S+))"
)
_ADVERB = r"(?:(?:also|\w{2,20}ly|much|far|even|still|slightly)\s)?"
_STATED = re.compile(
    rf"\b(?:(?:was|were|is|are|been)\s|(?:had|has|have|showed|shows)\s(?:an?\s)?"
    rf"|(?:associated with|led to|resulted in)\s(?:an?\s)?){_ADVERB}$"
)
_NO_PREDICATE = ("to", "as", "in", "at", "what", "how", "there", "also")
_WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")


_PAIRS = (
    *(("increase", "decrease"), ("increased", "decreased"), ("increased", "reduced")),
    *(("higher", "lower"), ("highest", "lowest"), ("greater", "smaller"), ("larger", "smaller")),
    *(("more", "less"), ("more", "fewer"), ("longer", "shorter"), ("better", "worse")),
    *(("best", "worst"), ("improved", "worsened"), ("improvement", "deterioration")),
    *(("stronger", "weaker"), ("increase", "reduction"), ("raised", "lowered")),
)
"""Opposite words of direction (ours; all of them are signs of knowledge/guards/direction.yaml)."""
_TURNED_WORDS = dict([pair[::-1] for pair in _PAIRS[::-1]] + [*_PAIRS[::-1]])


def _denials(body: str) -> int:
    """How many words of the sentence negate, "unclear" and the like among them."""
    return sum(1 for _ in doc(body).denials)


def _is_of_all(head: str, tail: str) -> bool:
    """Whether a statement before and behind its verb is a main clause, and says nothing of a part:
    "seen in 5 of 30" and "not seen in 5 of 30" can both be true."""
    reported = _REPORTED.match(head)
    subject = head[reported.end() :].strip() if reported else head.strip()
    return (
        (" " in subject or not subject.endswith("ed"))
        and bool(subject)
        and not _SUBORDINATE.search(subject)
        and not _OF_SOME.search(subject)
        and not _IN_SOME.search(tail)
        and not any(one.kind in _OF_PARTS for one in quantities(_BRACKET.sub("", subject + tail)))
    )


def _negation(body: str, _: object, __: Random) -> str | None:
    """The sentence with its one negation left out, or with one put in."""
    denials = _denials(body)
    if denials > 1 or _SCOPED.search(body):
        return None
    if denials == 1:
        found = _DENYING.search(body) or _CANNOT.search(body)
        if found is None or not _is_of_all(body[: found.start()], body[found.end() :]):
            return None
        return (
            f"{body[: found.start()]}{found[1] if found.re is _DENYING else 'can'} "
            + (body[found.end() :])
        )
    first = _AFFIRMING.search(body)
    if first is None or not _is_of_all(body[: first.start()], body[first.end() :]):
        return None
    after = first["next"]
    if after[0].isdecimal() or after in (*vocabulary().number_words, *_NO_PREDICATE):
        return None
    told = "cannot" if first.group() == "can" else f"{first.group()} not"
    return body[: first.start()] + told + body[first.end() :]


def _direction(body: str, _: object, __: Random) -> str | None:
    """The sentence with its one word of direction turned."""
    if _denials(body) or _SCOPED.search(body):
        return None
    found = [one.word for one in directions(read(body)) if one.sign != "some"]
    places = [one for one in _WORD.finditer(body) if one.group() in found]
    if len(found) != 1 or len(places) != 1 or found[0] not in _TURNED_WORDS:
        return None
    head, tail, other = body[: places[0].start()], body[places[0].end() :], _TURNED_WORDS[found[0]]
    stated = _STATED.search(head)
    if stated is None or not _is_of_all(head[: stated.start()], tail):
        return None
    if re.match(r"\s(?:than|or)\b", tail):
        return None
    article = "an " if other[0] in "aeiou" else "a "
    return re.sub(r"\ban?\s$", article, head) + other + tail


def _denied(one: _Candidate, cited: CitedText, rng: Random) -> str:
    """A claim that denies the sentence as a whole."""
    word = one.body.split()[0]
    small = re.search(rf"(?<!\w){re.escape(word.lower())}(?!\w)", cited.source.text)
    body = one.body[0].lower() + one.body[1:] if word.istitle() and small else one.body
    return rng.choice(DENIALS) + body


_Maker = Callable[[str, Callable[[], frozenset[str]], Random], str | None]
_MAKERS: Mapping[str, _Maker] = {
    "number": _number,
    "arm": _arm,
    "negation": _negation,
    "direction": _direction,
}
