"""One entry for what several terminologies hold, and which of its names need evidence. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from knowledge.names.abbreviations import long_start
from knowledge.names.compile.terms import Concept
from knowledge.names.spelling import key, words
from knowledge.names.tables import (
    BRAND,
    CAPITALS,
    DOUBTFUL,
    KINDS,
    PREFERRED,
    SPACED,
    SPELLED,
    SYMBOL,
)

_SALTS_OF = 12
"""The last word of a drug's name is a salt if so many drugs have names with and without it."""
_NO_SALT = frozenset({"alfa", "beta", "gamma", "delta", "epsilon", "zeta", "omega", "acid", "oil"})
_HYDRATES = ("hydrate", "anhydrous")
_NO_SALT |= {"alcohol", "extract", "vedotin", "wax", "juice", "seed", "bark", "bud"}
_FDA = "UNII:"
_SUBSTANCE = {"chemical", "protein"}
_LOOSE = "MONDO"
_LONG = 4
"""An abbreviation of fewer letters is ambiguous, unless several terminologies have it."""
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
    givers: dict[str, set[str]] = field(default_factory=dict)
    """The terminologies that give each key; as "MONDO" only for its preferred names, as "" for its
    synonyms, which are mixed with narrower and related names."""


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
    for drug, heading in _headings(held.values()):
        leader[lead(drug)] = lead(heading)
    for salt, base in _salts([one for one in held.values() if one.id.startswith(_FDA)]):
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


def _headings(concepts: Collection[Concept]) -> list[tuple[str, str]]:
    """Pairs of ids of a drug and its MeSH heading, of which one has the other's preferred name as a
    synonym, where there is no other such pair with either."""
    drugs = [one for one in concepts if one.id.startswith(_FDA)]
    substances = [one for one in concepts if not one.id.startswith(_FDA) and one.kinds & _SUBSTANCE]
    pairs = set[tuple[str, str]]()
    for some, others in ((drugs, substances), (substances, drugs)):
        own = {key(name): one.id for one in some for name in _preferred(one)}
        for other in others:
            for name in other.names:
                if (one := own.get(key(name))) is not None:
                    pairs.add((one, other.id) if others is substances else (other.id, one))
    often = Counter(identifier for pair in pairs for identifier in pair)
    return [pair for pair in sorted(pairs) if all(often[one] == 1 for one in pair)]


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
    often = Counter(salt[0] for salt, *_ in pairs if len(salt) == 1)
    known = {word for word, count in often.items() if count >= _SALTS_OF} - _NO_SALT
    known = {word for word in known if len(word) > 2 and word.isalpha()}
    return [
        (one, base)
        for salt, root, one, base in pairs
        if root not in known and all(w in known or w.endswith(_HYDRATES) for w in salt)
    ]


def entries(groups: Iterable[list[Concept]], ordinary: Mapping[str, int]) -> list[Entry]:
    """The entries, each key with its flags.

    Args:
        ordinary: the level (10 most common, to 70) of each ordinary English word, by key.
    """
    made = [_entry(group, ordinary) for group in groups]
    strict = {name for entry in made for name, by in entry.givers.items() if by != {""}}
    organs = {name for entry in made if "anatomy" in entry.kinds for name in entry.names}
    for entry in made:
        for name, by in entry.givers.items():
            if by == {""} and name in strict:
                entry.names[name] |= DOUBTFUL
            if "drug" in entry.kinds and name in organs and name in ordinary:
                entry.names[name] |= DOUBTFUL  # the thyroid is a gland, and a drug made of it
    holders = Counter(name for entry in made for name in entry.names)
    others = Counter(
        name for entry in made for name, flags in entry.names.items() if not flags & SYMBOL
    )
    spelled = Counter(
        name for entry in made for name, flags in entry.names.items() if flags & SPELLED
    )
    for entry in made:
        for name, flags in entry.names.items():
            rivals = holders[name] - 1 if flags & SYMBOL else others[name] - 1
            if flags & SPELLED:
                rivals = spelled[name] - 1
            if flags & CAPITALS and not flags & PREFERRED:
                alone = len(entry.givers[name]) == 1 and len(name) < _LONG
                loose = entry.givers[name] == {""} and not flags & SPELLED
                if rivals or loose or (alone and not flags & SYMBOL):
                    entry.names[name] = flags | DOUBTFUL
    return made


def _entry(group: list[Concept], ordinary: Mapping[str, int]) -> Entry:
    group = sorted(group, key=lambda one: (_RANK.index(one.id.split(":")[0]), len(one.preferred)))
    kinds = {kind for one in group for kind in one.kinds}
    if "drug" in kinds:
        kinds -= _SUBSTANCE
    shown = [one.preferred for one in group if one.kinds & (kinds | _SUBSTANCE)]
    shortest = min(shown, key=len) if any(one.id.startswith(_FDA) for one in group) else shown[0]
    entry = Entry(group[0].id, shortest, kinds)
    for concept in group:
        source = concept.id.split(":")[0]
        for name, what in concept.names.items():
            of = key(name)
            if len(of) > 1 and not of.isdigit():
                flags = _flags(name, what, concept, ordinary)
                before = entry.names.get(of)
                entry.names[of] = flags if before is None else _joined(before, flags)
                giver = "" if source == _LOOSE and what == "synonym" else source
                entry.givers.setdefault(of, set()).add(giver)
    written = {name for concept in group for name in concept.names}
    long = [name for name in written if not _is_short(name)]
    for short in written - set(long):
        if entry.names.get(key(short), 0) & CAPITALS and any(
            long_start(short, name) == 0 for name in long
        ):
            entry.names[key(short)] |= SPELLED
    return entry


def _joined(one: int, other: int) -> int:
    """What is sure in one writing is sure; capitals are asked for where all writings have them."""
    return ((one | other) & ~(DOUBTFUL | CAPITALS)) | (one & other & (DOUBTFUL | CAPITALS))


def _flags(name: str, what: str, concept: Concept, ordinary: Mapping[str, int]) -> int:
    folded = [word.folded for word in words(name)]
    of, level = "".join(folded), _level(folded, ordinary)
    if len(folded) > 1 and what != "brand":  # Cyclin G is no cycling
        level = ordinary.get(of, 0)
    flags = SPACED if len(name.split()) > 1 or "-" in name else 0
    flags |= PREFERRED if what in {"preferred", "assigned", "symbol"} else 0
    has_digit = any(letter.isdigit() for letter in of)
    if what in {"symbol", "alias"}:
        flags |= SYMBOL if has_digit and len(of) > 2 else SYMBOL | CAPITALS
        shortest = 4 if what == "alias" or not has_digit else 3
        shortest += what == "alias" and not has_digit
        return flags | DOUBTFUL * (len(of) < shortest or level > 0)
    if what == "brand":
        return flags | BRAND | DOUBTFUL * (0 < level <= 50 or len(of) <= 3)
    if what in {"code", "assigned"}:
        return flags
    of_fda = concept.id.startswith(_FDA)
    short = len(of) <= 4 and what == "synonym" if of_fda else _is_short(name)
    if short and not has_digit:
        return flags | CAPITALS | DOUBTFUL * (len(of) <= 2 or level > 0)
    weak = concept.kinds & _WEAK_KINDS or what != "preferred"
    return flags | DOUBTFUL * (0 < level <= _common(concept, what) and bool(weak))


def _is_short(name: str) -> bool:
    return _ABBREVIATION.fullmatch(name) is not None


def _common(concept: Concept, what: str) -> int:
    """Up to which level a word of English is no sure name: medical words are in its lists, too."""
    if concept.id.startswith(_LOOSE):
        return 70
    if concept.id.startswith(_FDA):
        return 50  # the FDA's list has food, too
    if concept.kinds & _SUBSTANCE and what != "preferred":
        return 35
    return 20


def _level(folded: Sequence[str], ordinary: Mapping[str, int]) -> int:
    """How common the words of a name are in English: its rarest word's level; 0 if one is none."""
    levels = [ordinary.get(word, 0) for word in folded]
    return max(levels) if levels and all(levels) else 0
