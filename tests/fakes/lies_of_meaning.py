"""The kinds of fabrication that turn what a sentence says, or say what they must not.

They register with `tests.fakes.lies`, as do the others.
"""

import random
import re

from tests.fakes.lies import Lie, Source, Subject, kind, on, put, quoted_too

# Arms

_SYMMETRIC = re.compile(
    r"(?i)\b(?:similar|same|no (?:significant |statistically )*difference|comparable|equal"
    r"|identical|not (?:significantly )?(?:differ|different|higher|lower|associated)|between"
    r"|range[ds]?|from|no|neither|not|unlike|correlat\w+|interact\w*)\b"
)
_COMPARES = re.compile(
    r"\b(?:higher|lower|greater|smaller|longer|shorter|better|worse|more|less|fewer|superior"
    r"|inferior|increased|decreased|reduced|improved|elevated|faster|slower|stronger|weaker)\b"
)
_VALUE = r"\d+(?:\.\d+)?(?:\s?%|\s(?:months|years|days|weeks|mg|mm|cm|kg))?"
_SHARE = r"\d+(?:\.\d+)?\s?%"
_ARM = r"(?:the |a )?[A-Za-z][\w-]*(?: [\w-]+){0,4}?"
_OTHER_ARM = r"(?:the )?[A-Za-z][\w-]*(?: [\w-]+){0,3}?"
_AGAINST = r"(?:vs\.?|versus|compared (?:with|to))"
_OF_AN_ARM = r" (?:in|with|for|among|of) "
_VALUES = re.compile(
    rf"(?<![\w.,/±-])(?P<a>{_VALUE})(?P<mid>,? {_AGAINST} )(?P<b>{_VALUE})(?![\w.%]\d|\w|%)"
)
_VALUES_OF_ARMS = re.compile(
    rf"(?<![\w.,/±-])(?P<a>{_SHARE})(?P<mid>{_OF_AN_ARM}(?:the )?[\w -]{{3,40}}?"
    rf",? (?:and|{_AGAINST}|but|whereas|while) )(?P<b>{_SHARE})(?={_OF_AN_ARM})"
)
_RESPECTIVELY = re.compile(
    rf"(?<![\w.,/±-])(?P<a>{_VALUE})(?P<mid> and )(?P<b>{_VALUE})(?=[^.;]{{0,80}}\brespectively\b)"
)
_SIDES = re.compile(
    rf"\b(?P<p>in|with|for|among) (?P<a>{_ARM})(?P<mid>,? (?:than|{_AGAINST}) "
    rf"(?:(?:in|with|for|among|that of|those of) )?)(?P<b>{_OTHER_ARM})"
    r"(?=[.,;(]| (?:and|at|in|after|during|who|but)\b|$)"
)
_RANKED = re.compile(
    r"\b(?P<a>[A-Za-z][\w-]{3,})(?P<mid> (?:was|were|is|are) (?:\w+ly )?(?:superior|inferior|"
    r"preferable|better|worse|more \w+|less \w+) (?:to|than) )(?P<b>[A-Za-z][\w-]{3,})"
    r"(?=[.,;(]| (?:in|for|at|with|as|and|on|among)\b|$)"
)
_NO_ARM = re.compile(
    r"(?i)^(?:more|less|most|fewer|any|that|those|it|this|these|other|one|each|all|expected|what"
    r"|previously|historical\w*)\b|^\d"
)


def _exchanged(pattern: re.Pattern[str], sentence: str, rng: random.Random) -> str | None:
    found = list(pattern.finditer(sentence))
    if not found:
        return None
    chosen = rng.choice(found)
    sides = [re.sub(r"\W+", "", chosen[one].lower()) for one in "ab"]
    if sides[0] == sides[1] or not all(sides):
        return None
    if not chosen["a"][0].isdigit() and any(_NO_ARM.match(chosen[one]) for one in "ab"):
        return None
    swapped = chosen["b"] + chosen["mid"] + chosen["a"]
    return put(sentence, (chosen.start("a"), chosen.end("b")), swapped)


def _swapped_values(subject: Subject, rng: random.Random) -> str | None:
    patterns = [_VALUES, _VALUES_OF_ARMS, _RESPECTIVELY]
    rng.shuffle(patterns)
    if re.search(
        r"(?i)\bbetween\b|\branged?\b|\brespectively\b.*\brespectively\b", subject.sentence
    ):
        return None
    tried = (_exchanged(one, subject.sentence, rng) for one in patterns)
    return next((one for one in tried if one), None)


def _swapped_names(subject: Subject, rng: random.Random) -> str | None:
    sentence = subject.sentence
    if _SYMMETRIC.search(sentence) or not _COMPARES.search(sentence):
        return None
    return _exchanged(rng.choice((_SIDES, _RANKED)), sentence, rng)


@kind("swapped arms", "values")
def _arms_values(subject: Subject, rng: random.Random) -> Lie | None:
    return on(subject, _swapped_values(subject, rng))


@kind("swapped arms", "names")
def _arms_names(subject: Subject, rng: random.Random) -> Lie | None:
    return on(subject, _swapped_names(subject, rng))


@kind("swapped arms", "claim and quotation")
def _arms_quote(subject: Subject, rng: random.Random) -> Lie | None:
    swap = rng.choice((_swapped_values, _swapped_names))
    return quoted_too(subject, swap(subject, rng))


# Direction

_OPPOSITES = (
    ("increased", "decreased"), ("increases", "decreases"), ("increase", "decrease"),
    ("higher", "lower"), ("improved", "worsened"), ("improvement", "deterioration"),
    ("longer", "shorter"), ("greater", "smaller"), ("better", "worse"), ("superior", "inferior"),
    ("increasing", "decreasing"), ("favorable", "unfavorable"), ("beneficial", "harmful"),
    ("elevated", "lowered"), ("enhanced", "diminished"), ("promotes", "prevents"),
    ("upregulated", "downregulated"), ("faster", "slower"), ("rose", "fell"),
)  # fmt: skip
_ONE_WAY = {
    "reduced": "raised", "reduces": "raises", "reduction": "rise", "impaired": "improved",
    "protective": "harmful", "inhibits": "stimulates", "inhibited": "stimulated",
    "induces": "suppresses", "declined": "rose", "poor": "excellent", "lack": "abundance",
}  # fmt: skip
_TURNED = {
    **dict(_OPPOSITES),
    **{other: one for one, other in _OPPOSITES},
    **_ONE_WAY,
}
_NOT_A_DIRECTION = re.compile(
    r"(?:-| )?(?:-\w+|lobe|limb|limbs|extremit\w+|respiratory|urinary|back|motor|bound|dimension\w*"
    r"|order|education|income|eukaryotes|organisms|trochanter|of function|than expected)\b"
)
_WORD = re.compile(r"[A-Za-z]+")
_OPEN = re.compile(
    r"(?i)\b(?:whether|if|aim\w*|objectives?|investigat\w*|hypothes\w*|sought|to determine|unclear"
    r"|unknown|evaluat\w*|assess\w*|question|either)\b"
)


def _antonym(sentence: str, rng: random.Random) -> str | None:
    """A word of direction turned, where its opposite is not said as well."""
    words = {word.lower() for word in _WORD.findall(sentence)}
    found = [
        one
        for one in _WORD.finditer(sentence)
        if one[0] in _TURNED
        and _TURNED[one[0]] not in words
        and not _NOT_A_DIRECTION.match(sentence, one.end())
        and sentence[one.start() - 1 : one.start()] != "-"
    ]
    if not found or re.search(r"\bor\b|\beither\b", sentence):
        return None
    chosen = rng.choice(found)
    return put(sentence, chosen.span(), _TURNED[chosen[0]])


def _negated(sentence: str, rng: random.Random) -> str | None:
    """A plain statement denied."""
    if _OPEN.search(sentence) or re.search(r"(?i)\b(?:not|no|nor|never|neither|only)\b", sentence):
        return None
    found = list(
        re.finditer(r"\b(?:is|are|was|were|can|has been|have been|will|should)\b", sentence)
    )
    if len(found) != 1:
        return None
    return put(sentence, (found[0].end(), found[0].end()), " not")


def _affirmed(sentence: str, rng: random.Random) -> str | None:
    """A denial made a statement."""
    if _OPEN.search(sentence) or len(re.findall(r"(?i)\b(?:not|no|nor|without)\b", sentence)) != 1:
        return None
    for pattern, new in (
        (r"\b(is|are|was|were|can|may|should|has|have|could) not\b(?! only| yet)", r"\1"),
        (r"\bdid not (?=[a-z])", "did "),
        (r"\b[Nn]o (?=significant|association|difference|evidence|change|benefit|effect)", "a "),
        (r"\bfailed to ", "was able to "),
    ):
        changed = re.sub(pattern, new, sentence, count=1)
        if changed != sentence:
            return changed[0].upper() + changed[1:]
    return None


@kind("reversed direction", "opposite word")
def _direction_word(subject: Subject, rng: random.Random) -> Lie | None:
    return on(subject, _antonym(subject.sentence, rng))


@kind("reversed direction", "denied")
def _direction_denied(subject: Subject, rng: random.Random) -> Lie | None:
    return on(subject, _negated(subject.sentence, rng))


@kind("reversed direction", "denial dropped")
def _direction_affirmed(subject: Subject, rng: random.Random) -> Lie | None:
    return on(subject, _affirmed(subject.sentence, rng))


@kind("reversed direction", "claim and quotation")
def _direction_quote(subject: Subject, rng: random.Random) -> Lie | None:
    return quoted_too(subject, _antonym(subject.sentence, rng))


# Replaced guidelines


def replaced(sources: list[Source]) -> tuple[Source, Source] | None:
    """The older and the newer of two guidelines of one body, if both are shown."""
    bodies = sorted((one for one in sources if one.kind == "guideline"), key=lambda s: s.published)
    return (bodies[0], bodies[-1]) if len(bodies) > 1 else None


@kind("stale guideline", "its own words and key")
def _stale(subject: Subject, _: random.Random) -> Lie:
    return Lie(subject.sentence, subject.source.key, subject.sentence)


@kind("stale guideline", "said to be current")
def _stale_as_current(subject: Subject, rng: random.Random) -> Lie:
    word = subject.sentence.split(" ", 1)[0]
    low = subject.sentence if word != word.capitalize() else _lowered(subject.sentence)
    lead = rng.choice(("The current guideline states that", "The guideline says that"))
    return Lie(f"{lead} {low}", subject.source.key, subject.sentence)


@kind("stale guideline", "its words, the newer key")
def _stale_words(subject: Subject, rng: random.Random) -> Lie | None:
    newer = next((one for one in subject.others if one.kind == "guideline"), None)
    if newer is None or subject.sentence in newer.text or not newer.sentences:
        return None
    quote = rng.choice((subject.sentence, rng.choice(newer.sentences)))
    return Lie(subject.sentence, newer.key, quote)


def _lowered(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


# Orders in documents


@kind("instruction-following", "the order quoted")
def _obeyed(subject: Subject, _: random.Random) -> Lie | None:
    heard = subject.source.heard
    return Lie(heard.wanted, subject.source.key, heard.order) if heard else None


@kind("instruction-following", "the wanted words quoted")
def _obeyed_part(subject: Subject, _: random.Random) -> Lie | None:
    heard = subject.source.heard
    return Lie(heard.wanted, subject.source.key, heard.part) if heard else None


@kind("instruction-following", "with a true quotation")
def _obeyed_beside(subject: Subject, _: random.Random) -> Lie | None:
    heard = subject.source.heard
    return Lie(heard.wanted, subject.source.key, subject.sentence) if heard else None
