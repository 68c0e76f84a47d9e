"""How far a trigger reaches in its sentence.

What is denied is a noun with what stands before it: "no severe chest pain". The list that it begins
belongs to it ("no fever, cough or rash"), what hangs on it by a preposition does not ("no increase in
mortality"), unless the noun only carries that: "no evidence of metastasis". A verb that only says
that something is there passes its denial on ("did not show metastases"), another keeps it ("did not
improve pain").
"""

from clinical_text.assertion.lexicon import Word
from clinical_text.assertion.sentence import BREAKS, LINE, QUOTES, Sentence, Trigger

FARTHEST = 80
"""Units that a scope reaches at most: time stays linear in the text (ours)."""
_NEXT_ITEM = 16
"""Units of the next item of a list that are looked at (ours)."""
_JOINTS = frozenset([",", "/", "&"])
_CLOSING = frozenset(["or", "nor", "and", "plus", "&"])
_STANDALONE = frozenset(
    "is are was were has have had does did do can could may might should will would".split()
)
_OPENING = frozenset(["with", "for", "after", "during", "in", "at", "from", "to", "by", "on"])
_PHRASE_STOPS = frozenset(["with", "presenting", "here", "admitted"])
_CLAUSE_GOES_ON = frozenset(["that", "which", "who", "than", "due", "causing", "leading", "only",
                             "resulting", "involving", "whose", "secondary", "where", "whether",
                             "other", "if", "suggesting", "indicating", "until", "when"])  # fmt: skip


def nouns(
    s: Sentence, begin: int, stop: int, *, lists: bool = True, phrase: bool = False
) -> tuple[list[int], int]:
    """The units of the nouns from `begin` on that a trigger before them reaches, and where it ends.

    Args:
        lists: a comma alone goes on with the list; else only where "or" or "and" closes it.
        phrase: what hangs on a noun by a preposition belongs to it.
    """
    walk = _Walk(s, begin, min(stop, begin + FARTHEST), lists=lists, phrase=phrase)
    walk.go()
    return walk.found, walk.at


class _Walk:
    """A walk over a list of nouns, unit by unit."""

    def __init__(self, s: Sentence, begin: int, stop: int, *, lists: bool, phrase: bool) -> None:
        self.s, self.begin, self.at, self.stop = s, begin, begin, stop
        self.lists, self.phrase = lists, phrase
        self.depth = s.depths[begin] if begin < len(s) else 0
        self.found: list[int] = []
        self.item: list[int] = []
        self.live = True
        """Whether what comes belongs to a noun that is reached."""
        self.hung = False
        """Whether a noun that measures or relates was met: its own list follows, not ours."""
        self.figures = False
        """Whether the bracket walked through tells figures."""
        self.items = 1
        self.by = ""
        """The preposition by which what comes hangs on the noun."""
        self.begun = 0
        """How much was found before this item of the list."""
        self.closed = False
        """Whether the list had its "or" or "and"."""

    def go(self) -> None:
        """Walk until something ends the scope."""
        s = self.s
        while self.at < self.stop:
            at = self.at
            word, depth = s.words[at], s.depths[at]
            if depth > self.depth:
                self._take_bracket(at)
            elif depth < self.depth or word in BREAKS or word in QUOTES:
                break
            elif at > self.begin and at in s.at and s.at[at].denies:
                break
            elif word in _JOINTS or s.has(at, Word.LISTING):
                if not self._joins():
                    break
                continue
            elif self._ends():
                break
            elif s.has(at, Word.PREPOSITION):
                if self.phrase and word in _PHRASE_STOPS:
                    break
                self._hang()
            elif self.item and (word in _ARTICLES or word[0].isdigit()):
                self._hang()  # "no patient given the drug", "no rise 24 hours later"
            elif s.is_word(at) and self.live:
                self.item.append(at)
            elif not self.live and word.endswith("ed"):
                self.hung = True
            elif s.has(at, Word.RELATION) and self.by == "of" and not self.hung and self._heads(at):
                self._take_back(at)
            self.at += 1
        self._close()

    def _take_bracket(self, at: int) -> None:
        """What a bracket tells in words of a noun that is reached is reached, too."""
        word = self.s.words[at]
        self.figures = (
            word == "="
            or word[0].isdigit()
            or (self.figures and self.s.depths[at - 1] > self.depth)
        )
        if self.live and self.item and self.s.is_word(at) and not self.figures:
            self.found.append(at)

    def _ends(self) -> bool:
        s, at = self.s, self.at
        if s.has(at, Word.END):
            return s.word(at - 1) not in _ARTICLES
        if s.has(at, Word.PRONOUN):
            return not s.has(at - 1, Word.PREPOSITION)
        if s.has(at, Word.VERB):
            first = not self.item and not (self.found and not self.live)
            return (s.words[at] in _STANDALONE and s.word(at + 1) != "any") or not first
        return False

    def _hang(self) -> None:
        """A preposition: what follows belongs to the noun before it."""
        s, head = self.s, self.item[-1] if self.item else -1
        carries = head >= 0 and s.has(head, Word.CARRIER)
        if carries and s.words[self.at] == "to" and not s.has(self.at + 1, Word.CARRYING):
            carries, self.hung = False, True  # "no evidence to support the use of"
        relates = head >= 0 and s.has(head, Word.RELATION)
        self._close()
        self.by = s.words[self.at]
        if head < 0 or (self.phrase or carries) and not relates:
            return
        self.live = False
        self.hung = self.hung or relates

    def _heads(self, at: int) -> bool:
        s, after = self.s, at + 1
        return (
            after >= self.stop
            or not s.is_word(after)
            or s.has(after, Word.VERB | Word.LISTING | Word.PREPOSITION)
        )

    def _take_back(self, at: int) -> None:
        """What hangs on the noun goes on to one that measures: "no quality of life benefit"."""
        del self.found[self.begun :]
        self.item, self.live = [at], True

    def _close(self) -> None:
        """The end of an item: of "mortality benefit" the benefit is denied, not the mortality."""
        if not self.item:
            return
        only_head = not self.phrase and self.s.has(self.item[-1], Word.RELATION)
        self.found += self.item[-1:] if only_head else self.item
        self.item = []

    def _joins(self) -> bool:
        """Whether the list goes on behind a comma or a conjunction; if so, walks over them."""
        s, at = self.s, self.at
        joints = []
        while at < self.stop and (s.words[at] in _JOINTS or s.has(at, Word.LISTING)):
            joints.append(s.words[at])
            at += 1
        if not self._goes_on(at, joints):
            return False
        self._close()
        self.items += 1
        self.begun = len(self.found)
        self.live = not self.hung
        if s.has(at, Word.PREPOSITION) and not self.phrase:
            self.live = False
        self.closed = self.closed or not _CLOSING.isdisjoint(joints)
        self.at = at
        return True

    def _goes_on(self, at: int, joints: list[str]) -> bool:
        s = self.s
        if at >= self.stop or s.depths[at] < self.depth:
            return False
        if s.has(at, Word.END | Word.PRONOUN) or (at in s.at and s.at[at].denies):
            return False
        if "or" in joints or "nor" in joints:
            return s.word(at) not in _STANDALONE or s.word(at + 1) == "any"
        bare = _CLOSING.isdisjoint(joints) and "/" not in joints
        if bare and (s.words[at] in _OPENING or s.words[at][0].isdigit()):
            return False
        end, verb = self._next_item(at)
        if verb:
            return not bare and verb in ("were", "are") and not self.closed and self.items > 1
        if not bare:
            return True
        return self.lists or self._closes_later(end)

    def _next_item(self, at: int) -> tuple[int, str]:
        """Where the item that begins at `at` ends, and the verb in it that makes it a statement."""
        s = self.s
        for i in range(at, min(self.stop, at + _NEXT_ITEM)):
            word = s.words[i]
            if word in BREAKS or word in _JOINTS or s.has(i, Word.LISTING):
                return i, ""
            if s.has(i, Word.END) or s.depths[i] < self.depth:
                return i, s.words[i] if s.words[i] == "since" else ""  # "no CKD, AF since 2019"
            if s.has(i, Word.VERB) and (i > at or not word.endswith("ed")):
                return i, word
            if (
                i > at
                and word.endswith("ed")
                and (
                    i + 1 >= self.stop or s.words[i + 1] in BREAKS or s.has(i + 1, Word.PREPOSITION)
                )
            ):
                return i, word
        return min(self.stop, at + _NEXT_ITEM), ""

    def _closes_later(self, at: int) -> bool:
        """Whether "or" or "and" closes the list that goes on at `at`."""
        s = self.s
        for i in range(at, min(self.stop, at + _NEXT_ITEM)):
            word = s.words[i]
            if word in BREAKS or s.has(i, Word.END | Word.PRONOUN):
                return False
            if s.has(i, Word.VERB) and not word.endswith("ed"):
                return False
            if word in ("or", "nor", "and"):
                return word != "and" or not self.closed
        return False


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
    named = s.word(at - 1) in ("any", *_ARTICLES)  # "is not the leading cause"
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


def _leaves_out(s: Sentence, trigger: Trigger) -> bool:
    """Whether it tells of what a relation does not hold: "linked to A, but not to B", "but not B"."""
    if s.word(trigger.first - 1) != "but":
        return False
    return any(
        s.has(i, Word.RELATION) for i in range(max(0, trigger.first - _NEXT_ITEM), trigger.first)
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
        s.words[at] in _STANDALONE or s.words[at] in _GROUP or s.words[at].endswith("ly")
    ):
        if not s.words[at].endswith("ly"):
            found.append(at)
        at -= 1
    return found


_ARTICLES = frozenset(["the", "a", "an"])
_HAPPENS = frozenset(
    "occur occurred exist existed happen happened arise arisen develop developed appear appeared recur".split()
)
_HAVING = frozenset("with who whose having at on in without".split())
_PERSONS = frozenset("him her them it me us you".split())
_GROUP = frozenset(
    "be been being also still to appears appeared seems seemed remains remained must shall".split()
)


def subject(s: Sentence, at: int, most: int = FARTHEST) -> list[int]:
    """What stands before a verb at `at` and is its subject, a list too: "fever and cough were denied"."""
    verbs = _auxiliaries_before(s, at)
    end = min([*verbs, at])
    begin, conjoined, commas = end, False, 0
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
        if word in _JOINTS or s.has(i, Word.LISTING):
            if verbs and _verb_before(s, i, lowest):
                break
            if word == "," and not conjoined:
                break
            conjoined = conjoined or word in _CLOSING
        begin = i
    while begin < end and not s.is_word(begin):
        begin += 1
    if s.has(begin, Word.PREPOSITION) and s.words[begin] not in ("of",):
        comma = next((i for i in range(begin, end) if s.words[i] == ","), -1)
        begin = comma + 1 if comma >= 0 else begin
    return nouns(s, begin, end)[0]


def _verb_before(s: Sentence, at: int, lowest: int) -> bool:
    """Whether the words before a joint are a statement of their own."""
    for i in range(at - 1, max(lowest, at - _NEXT_ITEM) - 1, -1):
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
    for i in range(at, min(len(s), at + _NEXT_ITEM)):
        if s.words[i] in ("or", "nor"):
            return True
        if s.words[i] in BREAKS or s.has(i, Word.VERB | Word.PRONOUN):
            return False
        if s.words[i] == "and":
            return True
    return False
