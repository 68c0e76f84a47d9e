"""How far a trigger reaches in its sentence, where it is not a list of nouns.

A verb that only says that something is there passes its denial on ("did not show metastases"),
another keeps it ("did not improve pain"); one that says that nothing is there denies its subject.
"""

from clinical_text.assertion.lexicon import Word
from clinical_text.assertion.nouns import (
    ARTICLES,
    AUXILIARIES,
    CLOSING,
    FARTHEST,
    JOINTS,
    NEXT_ITEM,
    nouns,
)
from clinical_text.assertion.sentence import BREAKS, LINE, QUOTES, Sentence, Trigger

_CLAUSE_GOES_ON = frozenset(
    [
        "that",
        "which",
        "who",
        "than",
        "due",
        "causing",
        "leading",
        "only",
        "resulting",
        "involving",
        "whose",
        "secondary",
        "where",
        "whether",
        "other",
        "if",
        "suggesting",
        "indicating",
        "until",
        "when",
    ]
)
_HAPPENS = frozenset(
    [
        "occur",
        "occurred",
        "exist",
        "existed",
        "happen",
        "happened",
        "arise",
        "arisen",
        "develop",
        "developed",
        "appear",
        "appeared",
        "recur",
    ]
)
_HAVING = frozenset(["with", "who", "whose", "having", "at", "on", "in", "without"])
_STATES = frozenset(["on", "in", "at", "under"])
"""Prepositions of a state: on dialysis, in pain, at risk, under anaesthesia."""
_PERSONS = frozenset(["him", "her", "them", "it", "me", "us", "you"])
_GROUP = frozenset(
    [
        "be",
        "been",
        "being",
        "also",
        "still",
        "to",
        "appears",
        "appeared",
        "seems",
        "seemed",
        "remains",
        "remained",
        "must",
        "shall",
    ]
)


def predicate(s: Sentence, trigger: Trigger, *, lists: bool) -> list[int]:
    """What "not" and the like reach: the verb, its object where it only says that something is
    there, or the subject: "no fracture was not seen"."""
    at, stop = trigger.last, len(s)
    verbs = _auxiliaries_before(s, trigger.first)
    being = s.has(trigger.first - 1, Word.BE) or any(s.has(i, Word.BE) for i in verbs)
    doing = bool(verbs) and not being
    while at < stop and (s.has(at, Word.LIGHT) or _is_adverb(s, at) or _is_perfect(s, at)):
        being = being or s.words[at] in ("be", "been", "being")
        at += 1
    if at >= stop or not s.is_word(at):
        return []
    inner = s.at.get(at)
    if inner is not None and inner.denies:
        s.void |= {trigger.first, inner.first}
        return []
    if at == trigger.last and s.words[at] in _STATES and (being or _is_all(s, trigger)):
        return nouns(s, at + 1, stop, lists=lists)[0]  # "is not on dialysis"
    named = s.word(at - 1) in ("any", *ARTICLES)  # "is not the leading cause"
    if (s.has(at, Word.END | Word.PREPOSITION) and not named) or _leaves_out(s, trigger):
        return []
    if s.has(at, Word.EXISTENTIAL) and (being or not doing or _is_intransitive(s, at)):
        found = [at]
        while s.has(at + 1, Word.LISTING) and s.has(at + 2, Word.EXISTENTIAL):
            at += 2
            found.append(at)
        if s.word(at + 1) == "to" and s.word(at + 2) in ("have", "be", "show", "cause"):
            return found + nouns(s, at + 3, stop, lists=lists)[0]
        if s.word(at + 1) == "as" or (s.has(at + 1, Word.PREPOSITION) and s.has(at, Word.CARRIER)):
            return found + nouns(s, at, stop, lists=lists)[0]
        return found + subject(s, min([*verbs, trigger.first]))
    verbal = doing or s.words[trigger.first] != "not"
    if (verbal and not being) or (s.words[at].endswith("ing") and not named):
        return [at, *_object(s, at, lists=lists)]
    return nouns(s, at, stop, lists=lists)[0]


def _is_all(s: Sentence, trigger: Trigger) -> bool:
    """Whether no verb stands before a trigger in its clause: "patient not on dialysis"."""
    for at in range(trigger.first - 1, max(-1, trigger.first - NEXT_ITEM), -1):
        if not s.is_word(at) or s.words[at] in (LINE, ",", ";", ":"):
            return True
        if s.has(at, Word.VERB | Word.AUXILIARY) or s.words[at] == "but":
            return False
    return trigger.first <= NEXT_ITEM


def _leaves_out(s: Sentence, trigger: Trigger) -> bool:
    """Whether it tells of what a relation does not hold: "linked to A, but not B"."""
    if s.word(trigger.first - 1) != "but":
        return False
    return any(
        s.has(i, Word.RELATION) for i in range(max(0, trigger.first - NEXT_ITEM), trigger.first)
    )


def _is_adverb(s: Sentence, at: int) -> bool:
    """Whether it only colours what follows; "hepatomegaly" is told."""
    after = at + 1
    return (
        s.words[at].endswith("ly")
        and s.word(after)[:1].isalpha()
        and not s.has(after, Word.PREPOSITION | Word.LISTING | Word.END)
    )


def _is_perfect(s: Sentence, at: int) -> bool:
    """Whether "have" only helps another verb: "may not have been seen"."""
    return s.words[at] == "have" and s.has(at + 1, Word.LIGHT | Word.EXISTENTIAL)


def _is_intransitive(s: Sentence, at: int) -> bool:
    """Whether a verb behind "did not" has only a subject: "metastases did not occur"."""
    if s.words[at] not in _HAPPENS:
        return False
    after = at + 1
    return (
        after >= len(s)
        or not s.is_word(after)
        or s.has(after, Word.PREPOSITION | Word.END | Word.LISTING)
    )


def _object(s: Sentence, verb: int, *, lists: bool = False) -> list[int]:
    """The object of a denied verb, and verbs joined to it."""
    at = verb + 1
    found: list[int] = []
    while s.has(at, Word.LISTING) and at + 1 < len(s) and s.is_word(at + 1):
        if s.words[at] not in ("or", "nor") or s.has(at + 1, Word.VERB & ~Word.CARRYING):
            break
        found.append(at + 1)
        verb, at = at + 1, at + 2
    if s.word(at) in _PERSONS and s.word(at + 1) == "to" and s.word(at + 2) in ("have", "be"):
        at += 3  # "have not noted him to have fevers"
    if s.has(verb, Word.CARRYING | Word.CARRIER) or s.word(at) in ("any", "as"):
        if s.word(at) == "as" or (s.has(at, Word.PREPOSITION) and s.has(verb, Word.CARRIER)):
            at += 1
        if not s.has(at, Word.PREPOSITION):
            found += nouns(s, at, len(s), lists=lists)[0]
    return found


def through_verb(s: Sentence, trigger: Trigger, at: int) -> list[int]:
    """What a denied subject denies of its verb at `at`: "no patient had fever"."""
    before = s.word(trigger.first - 1)
    opens = trigger.first == 0 or before in (",", "and", "but", "that", LINE, ";", ":", "(")
    if not s.has(at, Word.VERB):
        return []
    while at < len(s) and (s.has(at, Word.AUXILIARY) or s.words[at].endswith("ly")):
        if s.has(at, Word.CARRYING) and not s.has(at + 1, Word.VERB | Word.CARRYING):
            break
        at += 1
    if s.has(at, Word.EXISTENTIAL) and s.has(at - 1, Word.AUXILIARY):
        return [at]  # "no change is needed"
    if not opens:
        return []
    if not s.has(at, Word.CARRYING) or s.word(at - 1) in ("is", "are", "was", "were", "be", "been"):
        return []
    return _object(s, at)


def _auxiliaries_before(s: Sentence, at: int) -> list[int]:
    """The auxiliary verbs right before a unit, over adverbs."""
    found: list[int] = []
    at -= 1
    while at >= 0 and (
        s.words[at] in AUXILIARIES or s.words[at] in _GROUP or s.words[at].endswith("ly")
    ):
        if not s.words[at].endswith("ly"):
            found.append(at)
        at -= 1
    return found


def subject(s: Sentence, at: int, most: int = FARTHEST) -> list[int]:
    """What stands before a verb at `at` and is its subject: "fever and cough were denied"."""
    verbs = _auxiliaries_before(s, at)
    end = min([*verbs, at])
    begin, conjoined = end, False
    depth = s.depths[end - 1] if end else 0
    lowest = max(0, end - most)
    while begin > lowest:
        i = begin - 1
        word = s.words[i]
        if s.depths[i] > depth:
            begin = i
            continue
        if s.depths[i] < depth or word in BREAKS or word in QUOTES:
            break
        if s.has(i, Word.END | Word.PRONOUN) and not s.has(i - 1, Word.PREPOSITION):
            break
        if s.has(i, Word.VERB) and not (word.endswith("ed") and begin < end):
            break
        if word in JOINTS or s.has(i, Word.LISTING):
            if verbs and _verb_before(s, i, lowest):
                break
            if word == "," and not conjoined:
                break
            conjoined = conjoined or word in CLOSING
        begin = i
    while begin < end and not s.is_word(begin):
        begin += 1
    if s.has(begin, Word.PREPOSITION) and s.words[begin] not in ("of",):
        comma = next((i for i in range(begin, end) if s.words[i] == ","), -1)
        begin = comma + 1 if comma >= 0 else begin
    return nouns(s, begin, end)[0]


def _verb_before(s: Sentence, at: int, lowest: int) -> bool:
    """Whether the words before a joint are a statement of their own."""
    for i in range(at - 1, max(lowest, at - NEXT_ITEM) - 1, -1):
        if s.words[i] in BREAKS or s.has(i, Word.END):
            return False
        if s.has(i, Word.VERB) and not s.words[i].endswith("ed"):
            return True
    return False


def clause(s: Sentence, begin: int) -> list[int]:
    """All to the end of the clause, or to where it only tells in whom: what patients are said to
    have, and what is treated, is taken for granted."""
    depth = s.depths[begin] if begin < len(s) else 0
    found: list[int] = []
    for i in range(begin, min(len(s), begin + FARTHEST)):
        word = s.words[i]
        if s.depths[i] < depth or (word in BREAKS and word != ":") or word in QUOTES:
            break
        if s.has(i, Word.END) and word not in _CLAUSE_GOES_ON:
            break
        if s.has(i, Word.PERSONS):
            while found and found[-1] == i - 1 and not s.has(i - 1, Word.PREPOSITION | Word.VERB):
                i = found.pop()  # "in lung cancer patients"
            if _described(s, s.words.index(word, i)):
                break
            continue
        if s.has(i, Word.TREATING) and (word.endswith("ing") or s.has(i + 1, Word.PREPOSITION)):
            break
        if s.is_word(i):
            found.append(i)
    return found


def _described(s: Sentence, at: int) -> bool:
    """Whether what follows tells what persons have."""
    return s.word(at + 1) in _HAVING or s.word(at + 1).endswith(("ing", "ed"))


def condition(s: Sentence, trigger: Trigger) -> list[int]:
    """What a condition says: to its comma where it stands before what hangs on it."""
    begin = trigger.last
    before = s.word(trigger.first - 1)
    fronted = trigger.first == 0 or before in (",", "and", "but", LINE, ";", ":", "or", "that")
    depth = s.depths[begin] if begin < len(s) else 0
    found: list[int] = []
    for i in range(begin, min(len(s), begin + FARTHEST)):
        word = s.words[i]
        if (
            s.depths[i] < depth
            or (word in BREAKS and word != ":")
            or word in ("then", "but", "please")
        ):
            break
        if (
            word == ","
            and s.depths[i] == depth
            and fronted
            and not _list_goes_on(s, i + 1, verb=any(s.has(j, Word.VERB) for j in range(begin, i)))
        ):
            break
        if s.is_word(i):
            found.append(i)
    return found


def _list_goes_on(s: Sentence, at: int, *, verb: bool) -> bool:
    """Whether the words behind a comma are the next item of a list and no new statement."""
    if verb and s.word(at) not in ("or", "and"):
        return False
    for i in range(at, min(len(s), at + NEXT_ITEM)):
        if s.words[i] in ("or", "nor"):
            return True
        if s.words[i] in BREAKS or s.has(i, Word.VERB | Word.PRONOUN):
            return False
        if s.words[i] == "and":
            return True
    return False
