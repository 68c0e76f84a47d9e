"""The nouns that a trigger reaches, list and all.

What is denied is a noun with what stands before it: "no severe chest pain". The list that it
begins belongs to it ("no fever, cough or rash"), what hangs on it by a preposition does not ("no
increase in mortality"), unless the noun only carries that: "no evidence of metastasis".
"""

from clinical_text.assertion.lexicon import Word
from clinical_text.assertion.sentence import BREAKS, QUOTES, Sentence

FARTHEST = 80
"""Units that a scope reaches at most: time stays linear in the text (ours)."""
NEXT_ITEM = 16
"""Units of the next item of a list that are looked at (ours)."""
_UNIT = 3
"""Letters of a unit of measurement, at most (ours)."""
_COUNTED = frozenset(["hour", "day", "week", "month", "year", "minute", "time", "patient", "unit"])
"""What a number that belongs to no noun before it counts."""
JOINTS = frozenset(",/&")
CLOSING = frozenset(["or", "nor", "and", "plus", "&"])
AUXILIARIES = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "does",
        "did",
        "do",
        "can",
        "could",
        "may",
        "might",
        "should",
        "will",
        "would",
    ]
)
ARTICLES = frozenset(["the", "a", "an"])
_OPENING = frozenset(["with", "for", "after", "during", "in", "at", "from", "to", "by", "on"])
_PHRASE_STOPS = frozenset(["with", "presenting", "here", "admitted"])


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
        self.denies = False
        """Whether the bracket walked through denies by itself."""
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
            if s.depths[at] > self.depth:
                self._take_bracket(at)
            elif self._is_shut(at):
                break
            elif s.words[at] in JOINTS or s.has(at, Word.LISTING):
                if not self._joins():
                    break
                continue
            elif self._ends():
                break
            else:
                self._take(at)
            self.at += 1
        self._close()

    def _is_shut(self, at: int) -> bool:
        s, word = self.s, self.s.words[at]
        again = at > self.begin and at in s.at and s.at[at].denies
        stops = self.phrase and word in _PHRASE_STOPS
        return s.depths[at] < self.depth or word in BREAKS or word in QUOTES or again or stops

    def _take(self, at: int) -> None:
        s, word = self.s, self.s.words[at]
        if s.has(at, Word.PREPOSITION):
            self._hang()
        elif self.item and (word in ARTICLES or (word[0].isdigit() and not self._numbers(at))):
            self._hang()  # "no patient given the drug", "no rise 24 hours later"
        elif s.is_word(at) and self.live:
            self.item.append(at)
        elif not self.live and word.endswith("ed"):
            self.hung = True
        elif self.by == "of" and not self.hung and s.has(at, Word.RELATION) and self._heads(at):
            self._take_back(at)

    def _numbers(self, at: int) -> bool:
        """Whether a number belongs to the noun before and the one behind it: "grade 3 toxicity",
        and not "24 hours later"."""
        behind = at + 1
        while self.s.word(behind)[:1].isdigit() or self.s.word(behind) in ("-", "–", "/"):
            behind += 1
        word = self.s.word(behind)
        return len(word) > _UNIT and word.isalpha() and word.removesuffix("s") not in _COUNTED

    def _take_bracket(self, at: int) -> None:
        """What a bracket tells in words of a noun that is reached is reached, too; what denies by
        itself tells on its own: "no red flags (no fever)"."""
        if self.s.depths[at - 1] <= self.depth:
            self.denies = self._denies_within(at)
        if self.denies:
            return
        word = self.s.words[at]
        self.figures = (
            word == "="
            or word[0].isdigit()
            or (self.figures and self.s.depths[at - 1] > self.depth)
        )
        if self.live and self.item and self.s.is_word(at) and not self.figures:
            self.found.append(at)

    def _denies_within(self, at: int) -> bool:
        for i in range(at, min(self.stop, at + FARTHEST)):
            if self.s.depths[i] <= self.depth:
                return False
            if i in self.s.at and self.s.at[i].denies:
                return True
        return False

    def _ends(self) -> bool:
        s, at = self.s, self.at
        if s.has(at, Word.END):
            return s.word(at - 1) not in ARTICLES
        if s.has(at, Word.PRONOUN):
            return not s.has(at - 1, Word.PREPOSITION)
        if s.has(at, Word.VERB):
            first = not self.item and not (self.found and not self.live)
            return (s.words[at] in AUXILIARIES and s.word(at + 1) != "any") or not first
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
        if head < 0 or ((self.phrase or carries) and not relates):
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
        while at < self.stop and (s.words[at] in JOINTS or s.has(at, Word.LISTING)):
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
        self.closed = self.closed or not CLOSING.isdisjoint(joints)
        self.at = at
        return True

    def _goes_on(self, at: int, joints: list[str]) -> bool:
        s = self.s
        if at >= self.stop or s.depths[at] < self.depth:
            return False
        if s.has(at, Word.END | Word.PRONOUN) or (at in s.at and s.at[at].denies):
            return False
        if "or" in joints or "nor" in joints:
            return s.word(at) not in AUXILIARIES or s.word(at + 1) == "any"
        bare = CLOSING.isdisjoint(joints) and "/" not in joints
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
        for i in range(at, min(self.stop, at + NEXT_ITEM)):
            word = s.words[i]
            if word in BREAKS or word in JOINTS or s.has(i, Word.LISTING):
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
        return min(self.stop, at + NEXT_ITEM), ""

    def _closes_later(self, at: int) -> bool:
        """Whether "or" or "and" closes the list that goes on at `at`."""
        s = self.s
        for i in range(at, min(self.stop, at + NEXT_ITEM)):
            word = s.words[i]
            if word in BREAKS or s.has(i, Word.END | Word.PRONOUN):
                return False
            if s.has(i, Word.VERB) and not word.endswith("ed"):
                return False
            if word in ("or", "nor", "and"):
                return word != "and" or not self.closed
        return False
