"""Who a line of a note is about: nobody but a person named, the patient, or a relative. Pure.

A line is left out of a summary only where it does nothing but name somebody: "Patient: Penicillin,
I had anaphylaxis" says who speaks and then what must not be lost.
"""

import re
from functools import cache

from knowledge.documents.notes import section_policy
from knowledge.subjects.drugs import drugs_at
from workers.summarize.names import NUMBERING

_AGE = re.compile(
    r"\b\d{1,3}(?:\s*+-)?\s*+(?:y(?:ea)?rs?|y\.?o\.?|yo|years?|months?|mo|weeks?|days?|[dmwy](?=\s))\b.{0,60}?"
    r"\b(?:m|f|male|female|man|woman|boy|girl|gentleman|lady|infant|child|patient|neonate)\b"
    r"|\b\d{1,3}\s*(?:y(?:r?s?)?\s?/?\s?o?\s*/?)?\s?[MF]\b(?!\s*[\d/])",
    re.IGNORECASE | re.DOTALL,
)
_LABEL = re.compile(r"([^\W\d_][^:\n]{0,40}?)\s*:")
_TOKEN = re.compile(r"[^\s,;()/|<>\[\]]+")
_OF_AN_IDENTITY = re.compile(r"\W{0,80}+(?:[A-ZÀ-ÖØ-Þ]|\d|$)|\S{1,200}?@\S|https?:")
_SENTENCE_END = re.compile(r"(?<!\b[A-Z])(?<!\b[Jj]r)(?<!\b[Ss]r)\.$|[!?]$")
_LONGEST_IDENTITY = 16  # words; an address has more than a name
_LONGEST_NAME = 4
_AHEAD = 400
"""Characters before an age in which its person is named (ours)."""


def names_a_person(words: str) -> bool:
    """Whether a line is an entry of a form that identifies somebody, or a signature, and no more.

    `MRN: 12345`, `Electronically signed by X. Plugh, MD`.
    """
    known = section_policy().identifiers
    bare = words.lstrip(" #*_")
    bare = bare[numbered.end() :] if (numbered := NUMBERING.match(bare)) else bare
    label = _LABEL.match(bare)
    name = " ".join(label[1].casefold().split()).strip(" .#*_") if label else ""
    if label and (name in known or name.endswith(" by")):
        said = bare[label.end() :].strip(" *_")
        speaks = name in section_policy().speakers and _may_say(
            name, said, capitals=words.isupper()
        )
        if name in section_policy().subjects and not _has_evidence(said):
            return False
        return not speaks and _is_identity(said)
    if _is_stamp(bare.strip("[] ")) or _is_of_a_letter(bare):
        return True
    lower = words.casefold()
    by = next((one for one in _names_of_signers() if lower.startswith(one)), None)
    return by is not None and _is_identity(words[len(by) :])


@cache
def _names_of_signers() -> tuple[str, ...]:
    """Identifiers that a name follows without a colon, longest first: "signed by"."""
    known = (one for one in section_policy().identifiers if one.endswith(" by"))
    return tuple(sorted(known, key=len, reverse=True))


def _has_evidence(said: str) -> bool:
    """Whether a title, a given name or a number says that words are a person's."""
    policy = section_policy()
    tokens = [one.strip(".,:-").casefold() for one in _TOKEN.findall(said)]
    return any(
        one in policy.titles or one in policy.given_names or one in policy.identifiers
        for one in tokens
    )


def _is_of_a_letter(words: str) -> bool:
    """Whether a line only greets somebody, or is a signature: "Dear Dr Plugh,", "Dr X. Plugh"."""
    policy = section_policy()
    first, _, behind = words.strip().partition(" ")
    opener = first.strip(".,").casefold()
    if opener not in policy.salutations and opener not in policy.sure_titles:
        return False
    tokens = _TOKEN.findall(behind)
    if not tokens or len(tokens) > _LONGEST_NAME + 1 or not first[0].isupper():
        return False
    return _is_identity(behind)


def _is_stamp(words: str) -> bool:
    """Whether a line says no more than when something was added, and who did: a date, or a date and
    a name with its title. `Added 3/5/25 Warfarin` says what."""
    first, _, behind = words.partition(" ")
    policy, tokens = section_policy(), _TOKEN.findall(behind)
    if first.casefold() not in policy.stamps or not tokens or not tokens[0][0].isdigit():
        return False
    names = [one.strip(".,-").casefold() for one in tokens if any(map(str.isalpha, one))]
    return (not names or names[0] in policy.titles) and _is_identity(behind)


def _may_say(name: str, said: str, *, capitals: bool) -> bool:
    """Whether what stands behind one who may speak is not only a name: a sentence, a complaint, one
    word alone, or, where the whole line is in capitals, all without a title or a given name."""
    policy = section_policy()
    if _SENTENCE_END.search(said) or policy.complaint.search(said.lower()):
        return True
    tokens = [one.strip(".,:-").casefold() for one in _TOKEN.findall(said)]
    if name not in policy.talkers or any(
        one in policy.titles or one in policy.identifiers for one in tokens
    ):
        return False
    words = [
        one for one in tokens if one not in policy.identity_words and not any(map(str.isdigit, one))
    ]
    named = any(part in policy.given_names for one in words for part in one.split("-"))
    if len(tokens) == 1 and words:
        return not named
    return capitals and bool(words) and not (named and len(words) <= _LONGEST_NAME)


def _is_identity(said: str) -> bool:
    """Whether words are a name, a number, a date or an address: in capitals and digits, but for the
    words that stand in such, with nothing in them that tells of an illness or its treatment."""
    policy, said = section_policy(), _labels().sub(" ", said).strip(" \t\r\n*_:")
    tokens = _TOKEN.findall(said)
    if len(tokens) > _LONGEST_IDENTITY or policy.complaint.search(said.lower()):
        return False
    if drugs_at(said):
        return False
    if any(one.strip(".,-").casefold() in policy.orders for one in tokens):
        return False
    return all(
        _OF_AN_IDENTITY.match(one) or one.strip(".-'’").casefold() in policy.identity_words
        for one in tokens
    )


@cache
def _labels() -> re.Pattern[str]:
    """Labels of further entries behind the first: "NHS number:", "DOB"."""
    known = (one for one in section_policy().identifiers if len(one) > 2)
    names = "|".join(re.escape(one) for one in sorted(known, key=len, reverse=True))
    return re.compile(rf"(?i)(?<![\w-])(?:{names})(?![\w-])[ \t]*:?")


def introduces(words: str) -> bool:
    """Whether a sentence says how old the patient is, and of what sex."""
    found = _AGE.search(words)
    while found:
        if not _is_of_a_relative(words, found):
            return True
        found = _AGE.search(words, found.start() + 1)
    return False


def speaks_of_a_relative(before: str) -> bool:
    """Whether words behind these tell what a relative has: `with her husband, who has had a`."""
    return _who_has().search(before) is not None


@cache
def _who_has() -> re.Pattern[str]:
    names = "|".join(sorted(section_policy().relatives, key=len, reverse=True))
    return re.compile(
        rf"(?i)\b(?:{names})s?,?\s+who\s+(?:has|had|is|was|takes|died)\b[^,.;:]{{0,60}}\Z"
    )


def ages_another(words: str) -> bool:
    """Whether a sentence says how old a relative is, and not the patient."""
    return _AGE.search(words) is not None and not introduces(words)


@cache
def _relatives() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    policy = section_policy()
    names = "|".join(sorted(policy.relatives, key=len, reverse=True))
    kept = "|".join(sorted(policy.companions, key=len, reverse=True))
    relative = rf"(?:{names})s?"
    before = re.compile(
        rf"(?i)\b{relative}(?:,|\(|:|-|\bwho\b|\bis\b|\bwas\b|\bnow\b|\baged?\b|\ban?\b|\bthe\b|\s){{0,80}}$"
    )
    behind = re.compile(
        rf"(?i)\b\d{{1,3}}[\s-]{{0,5}}(?:y(?:ea)?rs?|y\.?o\.?|yo|months?|weeks?|days?)?[\s-]{{0,5}}(?:old)?\s{{1,5}}{relative}\b"
    )
    brought = re.compile(rf"(?i)\b(?:{names})\b.*\b(?:{kept})\b")
    return before, behind, brought


def is_of_a_relative(words: str) -> bool:
    """Whether a sentence begins with a relative, of whom it tells: "Her daughter takes ..."."""
    return _told_of_one().match(words) is not None


@cache
def _told_of_one() -> re.Pattern[str]:
    names = "|".join(sorted(section_policy().relatives, key=len, reverse=True))
    return re.compile(
        r"(?i)(?:[^:\n]{1,30}:\s*)?(?:and\s+)?"
        rf"(?:(?:his|her|their|my|the patient['’]s)\s+(?:\w+\s+)?(?:{names})s?"
        r"(?:\s*,[^,\n]{1,80},)?\s+"
        r"(?:has|had|is|was|takes|took|carries|died|also|used to|suffers|got|gets)|"
        rf"(?:(?:maternal|paternal)\s+)?(?:{names})s?\s+(?:(?:is|was|are)\s+)?"
        r"(?:allergic|died|has|had|completed suicide))\b"
    )


def _is_of_a_relative(words: str, age: re.Match[str]) -> bool:
    """Whether an age is that of a relative: `Her son, a 12 year old boy`, `her 12 year old son`."""
    before, behind, brought = _relatives()
    ahead = words[max(0, age.start() - _AHEAD) : age.start()]
    if brought.search(ahead):
        return False  # whoever brings the child brings the patient
    if before.search(ahead):
        return True
    owned = re.search(r"(?i)\b(?:his|her|their|my|['’]s)\s+$", ahead)
    return owned is not None and behind.match(words, age.start()) is not None
