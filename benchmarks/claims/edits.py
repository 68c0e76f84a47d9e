"""Small edits of a sentence that keep its meaning or turn it, for training pairs. Pure, seeded.

The rules are ours. Every edit returns None where it does not apply.
"""

import re
from pathlib import Path
from random import Random

from knowledge.loader import parse

_WORD = re.compile(r"[A-Za-z][A-Za-z-]*")
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:\.\d+)?(?![\w,]|\.\d)")
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_LEAD = re.compile(
    r"^(?:(?:[A-Z ]{4,}:?|However|Moreover|Furthermore|In addition|In conclusion|Thus|Therefore|"
    r"Here|Together|Finally|In summary|Interestingly|Importantly|Overall|Conclusions?),?\s+)?"
    r"(?:(?:these|our|the|this)?\s*(?:we|results?|data|findings?|study|analysis|authors)\s+"
    r"(?:also\s+|further\s+|therefore\s+|have\s+|has\s+)?"
    r"(?:show|shows|showed|shown|find|found|demonstrate|demonstrates|demonstrated|report|reported|"
    r"suggest|suggests|indicate|indicates|conclude|reveal|reveals|revealed|identify)\s+that\s+)",
    re.IGNORECASE,
)
_PLAIN_LEAD = re.compile(
    r"^(?:However|Moreover|Furthermore|In addition|In conclusion|Thus|Therefore|Finally|"
    r"In summary|Interestingly|Importantly|Overall|[A-Z]{6,}S?:?),?\s+"
)

# Words of one meaning in the wording of trials; a swap inside a group changes nothing. Ours.
SYNONYMS = (
    ("increased", "raised", "elevated"), ("increases", "raises", "enhances"),
    ("decreased", "reduced", "lowered", "diminished"), ("decreases", "reduces", "lowers"),
    ("increase", "rise", "elevation"), ("decrease", "reduction", "decline"),
    ("inhibits", "suppresses", "blocks"), ("inhibited", "suppressed", "blocked"),
    ("inhibition", "suppression"), ("promotes", "enhances", "facilitates", "stimulates"),
    ("promoted", "enhanced", "stimulated"), ("improved", "ameliorated"),
    ("required", "necessary", "needed", "essential"), ("regulates", "controls", "modulates"),
    ("regulated", "controlled", "modulated"), ("associated with", "linked to", "correlated with"),
    ("associated with", "related to"), ("patients", "individuals", "subjects"),
    ("participants", "subjects", "individuals"), ("people", "individuals"), ("role", "function"),
    ("significantly", "markedly", "substantially"), ("showed", "demonstrated", "displayed"),
    ("risk", "likelihood"), ("important", "critical", "key"), ("causes", "leads to", "results in"),
    ("induces", "triggers", "leads to"), ("induced", "triggered"), ("mortality", "death"),
    ("children", "pediatric patients"), ("higher", "greater", "increased"),
    ("lower", "reduced", "decreased"), ("more than", "over"), ("similar", "comparable"),
    ("tumor", "tumour", "cancer"), ("therapy", "treatment"), ("mice", "murine models"),
    ("did not differ", "was not different"), ("via", "through", "by"), ("use", "utilization"),
    ("known", "recognized"), ("impairs", "disrupts"), ("impaired", "disrupted"),
    ("develop", "acquire"), ("effective", "efficacious"), ("before", "prior to"),
)  # fmt: skip

_TRANSITIVE = (
    "inhibits", "promotes", "regulates", "controls", "mediates", "activates", "suppresses",
    "induces", "enhances", "impairs", "reduces", "increases", "blocks", "stimulates",
    "prevents", "represses", "modulates", "targets", "causes", "drives", "predicts",
    "improves", "decreases", "triggers", "limits", "restricts", "protects", "stabilizes",
    "recruits",
)  # fmt: skip
_PAST = {"drives": "driven", "predicts": "predicted", "limits": "limited", "targets": "targeted"}
_ACTIVE = re.compile(rf"^(.{{3,90}}?) ({'|'.join(_TRANSITIVE)}) (.{{3,90}}?)\.?$")

_DECLARATIVE = re.compile(
    rf"\b(?:is|are|was|were|{'|'.join(_TRANSITIVE)}|requires?|promote|inhibit|regulate|control|"
    r"mediate|activate|suppress|induce|reveals?|contributes?|plays?|leads?|depends?|confers?|"
    r"reduce|increase|does|do|acts?|forms?|interacts?|links?|underlies|identifies|determines?|"
    r"maintains?|binds?|affects?|influences?|has|have|can|encodes?|defines?|shows?|"
    r"associates?|associated|directs?|initiates?|accelerates?|alters?|cause|impair|prevent|"
    r"facilitates?|enables?|ameliorates?|attenuates?|abrogates?|orchestrates?|coordinates?|"
    r"delays?|extends?|disrupts?|functions?|governs?|improve|remains?|decrease)\b"
)


def is_statement(title: str) -> bool:
    """Whether a title says something that may be true or false."""
    return bool(
        _DECLARATIVE.search(title) and "?" not in title and ":" not in title and len(title) > 40
    )


def _pairs() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    written = Path(__file__).with_name("opposites.yaml").read_text(encoding="utf-8")
    for up, down in parse(written):
        table.setdefault(up, []).append(down)
        table.setdefault(down, []).append(up)
    return table


_OPPOSITES = _pairs()


def _cased(word: str, like: str) -> str:
    return word[0].upper() + word[1:] if like[0].isupper() else word


def opposite_places(text: str) -> list[re.Match[str]]:
    """Words of `text` that have an opposite."""
    return [m for m in _WORD.finditer(text) if m.group().lower() in _OPPOSITES]


def reverse_word(text: str, rng: Random, word: str | None = None) -> tuple[str, str] | None:
    """`text` with one word replaced by its opposite, and the word; a given `word` if there."""
    places = [m for m in opposite_places(text) if word is None or m.group().lower() == word]
    if not places:
        return None
    at = rng.choice(places)
    key = at.group().lower()
    other = _OPPOSITES[key][0] if word else rng.choice(_OPPOSITES[key])
    return text[: at.start()] + _cased(other, at.group()) + text[at.end() :], key


_ADD = (
    (re.compile(r"\b(is|are|was|were|can|may|could|has been|have been|will|should) (?!not\b)"),
     r"\1 not "),
    (re.compile(r"\bplays? (?:an?|the) "), "plays no "),
    (re.compile(r"\bhas (?:an?|the) "), "has no "),
)  # fmt: skip
_BARE = {
    word: re.sub(r"es$", "e", word) if re.search(r"[csvglt]es$", word) else word[:-1]
    for word in _TRANSITIVE
} | {"represses": "repress", "suppresses": "suppress", "induces": "induce", "reduces": "reduce"}
_REMOVE = (
    (re.compile(r"\b(is|are|was|were|can|may|could|has|have|will) not "), r"\1 "),
    (re.compile(r"\b(?:did|does|do) not "), ""),
    (re.compile(r"\b(?:had|has|have) no "), "had a "),
    (re.compile(r"\bno significant (difference|effect|change|association)"), r"a significant \1"),
    (re.compile(r"\bwithout "), "with "),
    (re.compile(r"\b[Nn]o "), "a "),
    (re.compile(r"\bfailed to "), ""),
)


def negate(text: str, rng: Random) -> str | None:
    """`text` with a negation taken out if it has one, else put in."""
    for pattern, plain in _REMOVE:
        changed, count = pattern.subn(plain, text, count=1)
        if count:
            return changed
    options = [(p, r) for p, r in _ADD if p.search(text)]
    verbs = [m for m in re.finditer(r"\b[a-z]+s\b", text) if m.group() in _BARE]
    if verbs and (not options or rng.random() < 0.6):
        verb = rng.choice(verbs)
        negated = (
            f"{rng.choice(['does not', 'fails to', 'does not', 'did not'])} {_BARE[verb.group()]}"
        )
        return text[: verb.start()] + negated + text[verb.end() :]
    if not options:
        return None
    pattern, words = rng.choice(options)
    return pattern.sub(words, text, count=1)


def change_number(text: str, rng: Random) -> str | None:
    """`text` with one number changed."""
    places = list(_NUMBER.finditer(text))
    if not places:
        return None
    at = rng.choice(places)
    value = float(at.group())
    digits = len(at.group().partition(".")[2])
    while True:
        other = value * rng.choice([0.1, 0.3, 0.5, 0.7, 1.3, 1.6, 2, 3, 10]) + rng.choice([0, 1, 2])
        shown = f"{other:.{digits}f}"
        if shown != at.group():
            return text[: at.start()] + shown + text[at.end() :]


def shorten(text: str, rng: Random) -> str | None:
    """`text` without brackets and opening phrases, or None if it has none."""
    changed = _LEAD.sub("", text)
    if changed == text:
        changed = _PLAIN_LEAD.sub("", text)
    if rng.random() < 0.8:
        changed = _BRACKETS.sub("", changed)
    if changed == text or len(changed) < 25:
        return None
    return changed[0].upper() + changed[1:]


def reword(text: str, rng: Random, most: int = 3) -> str | None:
    """`text` with up to `most` words replaced by others of the same meaning."""
    groups = [g for g in SYNONYMS if any(re.search(rf"\b{w}\b", text) for w in g)]
    rng.shuffle(groups)
    changed = text
    for group in groups[:most]:
        here = next((w for w in group if re.search(rf"\b{w}\b", changed)), None)
        if here is not None:
            other = rng.choice([w for w in group if w != here])
            changed = re.sub(rf"\b{here}\b", other, changed, count=1)
    return changed if changed != text else None


def passive(text: str) -> tuple[str, str] | None:
    """ "A inhibits B" as "B is inhibited by A", and with the two swapped; else None."""
    match = _ACTIVE.match(text)
    if match is None:
        return None
    subject, verb, other = match.groups()
    bare = _BARE[verb]
    past = _PAST.get(verb) or (bare + "d" if bare.endswith("e") else bare + "ed")
    past = past.replace("controled", "controlled").replace("targetted", "targeted")
    turned = f"{other} is {past} by {subject}."
    return turned[0].upper() + turned[1:], f"{other[0].upper()}{other[1:]} {verb} {subject}."


_TERM = re.compile(r"\b(?:[A-Z][a-z]*[A-Z0-9][\w-]*|[a-z]+\d[\w-]*|[A-Z]{2,}[\w-]*|[a-z]{8,})\b")


def swap_term(text: str, elsewhere: str, rng: Random) -> str | None:
    """`text` with one of its terms replaced by a term of the same shape from `elsewhere`."""
    known = _OPPOSITES.keys()
    own = [m for m in _TERM.finditer(text) if m.group() not in known]
    rng.shuffle(own)
    inside = text.lower()
    for at in own[:6]:
        plain = at.group().islower() and not any(c.isdigit() for c in at.group())
        options = [
            m
            for m in map(str, _TERM.findall(elsewhere))
            if (m.islower() and not any(c.isdigit() for c in m)) == plain
            and m.lower() not in inside
            and m not in known
            and (not plain or m[-3:] == at.group()[-3:])
        ]
        if options:
            chosen: str = rng.choice(options)
            return text[: at.start()] + chosen + text[at.end() :]
    return None
