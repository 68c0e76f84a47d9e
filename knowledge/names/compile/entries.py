"""One entry for what several terminologies hold, and which of its names need evidence. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from knowledge.names.compile.terms import Concept
from knowledge.names.spelling import key, words
from knowledge.names.tables import BRAND, CAPITALS, DOUBTFUL, KINDS, PREFERRED, SPACED, SYMBOL

_SALTS_OF = 12
"""The last word of a drug's name is a salt if so many drugs have names with and without it."""
_NO_SALT = frozenset({"alfa", "beta", "gamma", "delta", "epsilon", "zeta", "omega", "acid", "oil"})
_NO_SALT |= {"alcohol", "extract", "vedotin", "wax", "juice", "seed", "bark", "bud"}
_LOOSE = "MONDO:"
_RANK = ("MESH", "DOID", "MONDO", "UNII", "HGNC")
_WEAK_KINDS = frozenset(KINDS) - {"disease", "tumor"}
_GROWTH = re.compile(r"(?:malignant)?(?:neoplasm|tumor|cancer)")
_ABBREVIATION = re.compile(r"(?=(?:.*[A-Z]){2})[A-Za-z0-9/-]{2,8}s?")


@dataclass
class Entry:
    """One thing, whatever terminologies hold it."""

    id: str
    preferred: str
    kinds: set[str]
    names: dict[str, int] = field(default_factory=dict)
    """Flags of each key."""
    loose: set[str] = field(default_factory=set)
    """Keys that only a terminology gives that mixes synonyms with narrower and related names."""


def merged(concepts: Iterable[Concept]) -> list[list[Concept]]:
    """Groups of concepts that mean one thing: said to be the same by exactly one other of their
    terminology, or with one preferred name, or a drug and its salt."""
    held = {concept.id: concept for concept in concepts}
    leader = {identifier: identifier for identifier in held}

    def lead(identifier: str) -> str:
        while leader[identifier] != identifier:
            leader[identifier] = leader[leader[identifier]]
            identifier = leader[identifier]
        return identifier

    said = Counter(
        (concept.id.partition(":")[0], other) for concept in held.values() for other in concept.same
    )
    by_name: dict[str, str] = {}
    for concept in held.values():
        others = [held[other] for other in concept.same if other in held]
        where = Counter(other.id.partition(":")[0] for other in others)
        for other in others:
            source = concept.id.partition(":")[0], other.id
            alone = said[source] == 1 and where[other.id.partition(":")[0]] == 1
            if alone or _is_called(other, concept):
                leader[lead(concept.id)] = lead(other.id)
        if "gene" not in concept.kinds:
            for name in _preferred(concept):
                leader[lead(concept.id)] = lead(by_name.setdefault(key(name), concept.id))
    for salt, base in _salts([one for one in held.values() if "drug" in one.kinds]):
        leader[lead(salt)] = lead(base)
    groups: dict[str, list[Concept]] = {}
    for identifier in held:
        groups.setdefault(lead(identifier), []).append(held[identifier])
    return list(groups.values())


def _preferred(concept: Concept) -> list[str]:
    return [name for name, what in concept.names.items() if what in {"preferred", "assigned"}]


def _is_called(one: Concept, other: Concept) -> bool:
    """True if a name of `one` is the preferred name of `other`, neoplasm and cancer being equal:
    the headings of MeSH are for both."""
    names = {_GROWTH.sub("neoplasm", key(name)) for name in one.names}
    return any(_GROWTH.sub("neoplasm", key(name)) in names for name in _preferred(other))


def _salts(drugs: Sequence[Concept]) -> list[tuple[str, str]]:
    """Pairs of ids of a drug's salt and the drug. The words of salts are those that many names of
    drugs end with, beside which the same name without it stands."""
    by_name = {key(name): drug.id for drug in drugs for name in _preferred(drug)}
    pairs = []
    for drug in drugs:
        for name in _preferred(drug):
            said = [word.folded for word in words(name)]
            for cut in range(1, len(said)):
                root = "".join(said[:cut])
                if by_name.get(root, drug.id) != drug.id:
                    pairs.append((tuple(said[cut:]), root, drug.id, by_name[root]))
    often = Counter(salt for salt, *_ in pairs)
    known = {
        salt
        for salt, count in often.items()
        if count >= _SALTS_OF
        and not _NO_SALT & set(salt)
        and all(len(word) > 2 and word.isalpha() for word in salt)
    }
    return [
        (one, base) for salt, root, one, base in pairs if salt in known and (root,) not in known
    ]


def entries(groups: Iterable[list[Concept]], ordinary: Mapping[str, int]) -> list[Entry]:
    """The entries, each key with its flags.

    Args:
        ordinary: the level (10 most common, to 70) of each ordinary English word, by key.
    """
    made = [_entry(group, ordinary) for group in groups]
    strict = {name for entry in made for name in entry.names.keys() - entry.loose}
    for entry in made:
        for name in entry.loose & strict:
            del entry.names[name]
    holders = Counter(name for entry in made for name in entry.names)
    others = Counter(
        name for entry in made for name, flags in entry.names.items() if not flags & SYMBOL
    )
    for entry in made:
        for name, flags in entry.names.items():
            rivals = holders[name] - 1 if flags & SYMBOL else others[name] - 1
            if rivals and flags & CAPITALS and not flags & PREFERRED:
                entry.names[name] = flags | DOUBTFUL
    return made


def _entry(group: list[Concept], ordinary: Mapping[str, int]) -> Entry:
    group = sorted(group, key=lambda one: (_RANK.index(one.id.split(":")[0]), len(one.preferred)))
    kinds = {kind for one in group for kind in one.kinds}
    if "drug" in kinds:
        kinds -= {"chemical", "protein"}
    shown = [one.preferred for one in group if one.kinds & kinds]
    entry = Entry(group[0].id, min(shown, key=len) if "drug" in kinds else shown[0], kinds)
    loose: set[str] = set()
    strict: set[str] = set()
    for concept in group:
        for name, what in concept.names.items():
            of = key(name)
            if len(of) > 1 and not of.isdigit():
                flags = _flags(name, what, concept, ordinary)
                before = entry.names.get(of)
                entry.names[of] = flags if before is None else _joined(before, flags)
                if what == "synonym" and concept.id.startswith(_LOOSE):
                    loose.add(of)
                else:
                    strict.add(of)
    entry.loose = loose - strict
    return entry


def _joined(one: int, other: int) -> int:
    """What is sure in one writing is sure; capitals are asked for where all writings have them."""
    return ((one | other) & ~(DOUBTFUL | CAPITALS)) | (one & other & (DOUBTFUL | CAPITALS))


def _flags(name: str, what: str, concept: Concept, ordinary: Mapping[str, int]) -> int:
    folded = [word.folded for word in words(name)]
    of, level = "".join(folded), _level(folded, ordinary)
    alone = level if len(folded) == 1 else 0
    flags = SPACED if len(name.split()) > 1 or "-" in name else 0
    flags |= PREFERRED if what in {"preferred", "assigned", "symbol"} else 0
    has_digit = any(letter.isdigit() for letter in of)
    if what in {"symbol", "alias"}:
        flags |= SYMBOL if has_digit and len(of) > 2 else SYMBOL | CAPITALS
        shortest = 3 if has_digit else 4 if what == "symbol" else 5
        return flags | DOUBTFUL * (len(of) < shortest or level > 0)
    if what == "brand":
        return flags | BRAND | DOUBTFUL * (0 < level <= 50 or len(of) <= 3)
    if what in {"code", "assigned"}:
        return flags
    short = len(of) <= 4 and what == "synonym" if "drug" in concept.kinds else _is_short(name)
    if short and not has_digit:
        return flags | CAPITALS | DOUBTFUL * (len(of) <= 2 or level > 0)
    weak = concept.kinds & _WEAK_KINDS or what != "preferred"
    return flags | DOUBTFUL * (0 < alone <= _common(concept, what) and bool(weak))


def _is_short(name: str) -> bool:
    return _ABBREVIATION.fullmatch(name) is not None


def _common(concept: Concept, what: str) -> int:
    """Up to which level a word of English is no sure name: medical words are in its lists, too."""
    if concept.kinds & {"drug", "chemical", "protein"}:
        return 20 if what == "preferred" else 35
    return 20


def _level(folded: Sequence[str], ordinary: Mapping[str, int]) -> int:
    """How common the words of a name are in English: its rarest word's level; 0 if one is none."""
    levels = [ordinary.get(word, 0) for word in folded]
    return max(levels) if levels and all(levels) else 0
