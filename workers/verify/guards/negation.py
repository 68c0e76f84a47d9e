"""What the passage negates the claim must negate, and the other way round. Pure.

After NegEx (Chapman et al. 2001, doi:10.1006/jbin.2001.1029): a cue reaches a few words, up to the
end of its clause. Of these its *head*, the first word of content, is what it negates for certain;
the others it may negate. A head of one text must not stand as plain fact in the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from clinical_text.vocabulary import vocabulary
from knowledge.meaning import (
    content_policy,
    direction_policy,
    modality_policy,
    negation_policy,
)
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import (
    SAME_WORD,
    Phrasebook,
    Statement,
    Token,
    nearest,
    read,
    stem_of,
)

_NOUN_WORDS = 3
"""Words of content that a negation before a noun reaches (ours)."""
_BEFORE_SUBJECT = frozenset(["that", "and", "but", "there", "so", "as", "where", "if", "when"])
_BE = frozenset(["was", "were", "is", "are", "been"])
_VERBS = frozenset(["was", "were", "is", "are", "had", "has", "have", "did", "does", "do", "can",
                    "could", "may", "might", "should", "will", "would",
                    "appeared", "appears", "seemed", "seems", "showed"])  # fmt: skip


@dataclass(frozen=True)
class Negations:
    """Of each token of a text: whether it is negated at all, and whether it is a cue's head.

    `odd` counts cues: a word that two of them reach is affirmed. `stems` are those of the negated
    words, which stand for the plain word ("ineffective" for "effective").
    """

    odd: tuple[bool, ...]
    heads: frozenset[int]
    stems: tuple[str, ...]
    words: tuple[str, ...]
    denying: frozenset[int]
    """Sentences in which anything is denied, or told to be left undone: what denies too may say the
    same in other words."""

    def places(self, stem: str, *, negated: bool) -> list[int]:
        """Where `stem` stands negated, or where not."""
        return [i for i, s in enumerate(self.stems) if s == stem and self.odd[i] is negated]


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Words that one text negates and the other states. Empty: no veto, which is no support."""
    said, source = read(claim), read(grounds.passage)
    ours, theirs = negations(said), negations(source)
    findings = _added(said, ours, source, theirs, grounds)
    findings += _lost(said, ours, source, theirs)
    return list(dict.fromkeys(findings))


def _added(
    said: Statement, ours: Negations, source: Statement, theirs: Negations, grounds: Grounds
) -> list[Finding]:
    """Heads of the claim's negations that the passage does not negate."""
    findings = []
    denies = any(theirs.odd) or not negation_policy().shunning.isdisjoint(source.words)
    for i in sorted(ours.heads):
        stem = ours.stems[i]
        negated = nearest(said, i, source, theirs.places(stem, negated=True))
        plain = nearest(said, i, source, theirs.places(stem, negated=False))
        if negated < 0 and plain < 0 and (stem in directed_stems() or denies):
            continue  # another word for it: the direction and content guards read that
        if negated < 0 and plain < 0 and stem in _denied_near(grounds):
            continue  # the heading says for whom: "patients without ..."
        if stem in _using() and _is_shunned(source, theirs.places(stem, negated=False)):
            continue
        if negated < plain or negated < 0:
            detail = f"the claim negates “{said.words[i]}”, the passage does not"
            places = theirs.places(stem, negated=False)
            stated = any(source.tokens[j].sentence not in theirs.denying for j in places)
            findings.append(Finding("negation", detail, unsaid=not stated))
    return findings


def _is_shunned(source: Statement, places: Sequence[int]) -> bool:
    """Whether each of these stands in a clause that tells to avoid something."""
    tokens, shunning = source.tokens, negation_policy().shunning
    shunned = {one.clause for one in tokens if one.word in shunning}
    return bool(places) and all(tokens[i].clause in shunned for i in places)


@cache
def _using() -> frozenset[str]:
    return frozenset(stem_of(word)[0] for word in negation_policy().using)


def _denied_near(grounds: Grounds) -> frozenset[str]:
    near = negations(read(grounds.neighbours))
    return frozenset(near.stems[i] for i in near.heads)


def _lost(said: Statement, ours: Negations, source: Statement, theirs: Negations) -> list[Finding]:
    """Heads of the passage's negations that the claim states as fact."""
    findings = []
    for stem in {theirs.stems[j] for j in theirs.heads}:
        heads = [j for j in theirs.heads if theirs.stems[j] == stem]
        others = [j for j, s in enumerate(theirs.stems) if s == stem and j not in theirs.heads]
        for i in ours.places(stem, negated=False):
            plain = max(SAME_WORD, nearest(said, i, source, others))
            if nearest(said, i, source, heads) > plain:
                detail = f"the passage negates “{said.words[i]}”, the claim does not"
                findings.append(Finding("negation", detail, unsaid=bool(ours.denying)))
    return findings


@lru_cache(maxsize=64)
def negations(text: Statement) -> Negations:
    """What `text` negates."""
    tokens = text.tokens
    count, heads = [0] * len(tokens), set[int]()
    stems, negative = list(text.stems), negation_policy().negative_words
    for i, token in enumerate(tokens):
        base = negative.get(token.word)
        if base is not None:
            stems[i] = stem_of(base)[0]
            count[i] += 1
            heads.add(i)
    cues = _cues(text)
    begins = {first for first, _ in cues}
    for first, length in cues:
        reached = _reached(text, first, length, begins)
        for i in reached:
            count[i] += 1
        found = _heads(tokens, reached)
        heads.update(found)
        is_last = first > 0 and not reached and text.words[first - 1] in _BE  # "pain was denied"
        if is_last or (found and tokens[found[0]].stem in _existential()):
            for i in {*_subject(tokens, first), *_opening(text, first)}:
                count[i] += 1
        if not reached and _answers(text, first):
            asked = _subject(tokens, first - 1, here=True)
            heads.update(asked[:1])
            for i in asked:
                count[i] += 1
    for i in _freed(text):
        count[i] += 1
        heads.add(i)
    odd = tuple(number % 2 == 1 for number in count)
    denied = [*heads, *(i for i, _ in cues), *(i for i, *_ in _refraining().find(text.words))]
    denying = frozenset(tokens[i].sentence for i in denied)
    kept = frozenset(i for i in heads if odd[i])
    return Negations(odd, kept, tuple(stems), text.words, denying)


def _freed(text: Statement) -> list[int]:
    """Words that "-free" behind them negates: "a tissue-free assay"."""
    tokens, words = text.tokens, text.words
    phrases = {first for first, _, _ in _phrases().find(words)}  # "free of", "free survival"
    return [
        i - 1
        for i in range(1, len(words) - 1)
        if words[i] == "free" and i not in phrases
        if not (words[i + 1] in ("and", "or") and "survival" in words[i + 2 : i + 6])
        if tokens[i - 1].content and tokens[i].start == tokens[i - 1].end + 1
    ]


def _cues(text: Statement) -> list[tuple[int, int]]:
    """Where a negation begins and how many words it has."""
    policy, words = negation_policy(), vocabulary()
    found: list[tuple[int, int]] = []
    covered = 0
    phrases = {first: (length, real) for first, length, real in _phrases().find(text.words)}
    for i, word in enumerate(text.words):
        following = text.words[i + 1] if i + 1 < len(text.words) else ""
        if i < covered:
            continue
        if i in phrases:
            length, real = phrases[i]
            covered = i + length
            real = real and (word != "against" or text.words[max(0, i - 1)] in policy.against_after)
            found += [(i, length)] if real else []
        elif word in policy.only_before_to:
            found += [(i, 2)] if following == "to" else []
        elif words.negates(word) and word not in policy.not_cues and following != "only":
            found.append((i, 1))
    return found


@cache
def _phrases() -> Phrasebook[bool]:
    policy = negation_policy()
    return Phrasebook([(p, False) for p in policy.pseudo] + [(p, True) for p in policy.more_cues])


def _reached(text: Statement, first: int, length: int, begins: set[int]) -> list[int]:
    """The words of content that a cue reaches, in order; `begins` are the places of all cues."""
    tokens, start = text.tokens, first + length
    before_noun = " ".join(text.words[first:start]) in negation_policy().before_nouns
    inside = text.words[first] == "no" and not _opens(text, first)
    most = _NOUN_WORDS if before_noun else negation_policy().reach_words
    most = 1 if text.words[first] == "non" else most  # a prefix: "non-invasive"
    reached: list[int] = []
    counted, clause = 0, -1
    listing = False
    for i in range(start, len(tokens)):
        token = tokens[i]
        if token.sentence != tokens[first].sentence or counted == most:
            break
        if token.depth > tokens[first].depth:
            continue
        if i > start and (_ends(text, i, before_noun or inside) or (i in begins and reached)):
            break
        if clause < 0:
            clause = token.clause
        if token.clause != clause:
            clause = token.clause
            # a list goes on behind its commas, a statement ends there
            listing = listing or _lists(tokens, i)
            if not listing:
                break
        if token.content:
            reached.append(i)
            counted += token.stem not in _light()
    return reached


def _opens(text: Statement, cue: int) -> bool:
    """Whether a cue begins its clause and so negates the subject of a verb: "no patient was"."""
    if cue == 0 or text.tokens[cue - 1].clause != text.tokens[cue].clause:
        return True
    return text.words[cue - 1] in _BEFORE_SUBJECT


def _ends(text: Statement, i: int, before_noun: bool) -> bool:
    """Whether a negation stops before word `i`."""
    policy, word = negation_policy(), text.words[i]
    following = text.words[i + 1] if i + 1 < len(text.words) else ""
    named = text.words[i - 1] in ("the", "a", "an")  # "is not the leading cause"
    if word in policy.ends and not named:
        return True
    if word == "and" and following in policy.ends_after_and:
        return True
    return before_noun and word in _VERBS


def _lists(tokens: Sequence[Token], i: int) -> bool:
    """Whether the words after a comma at `i` are items of a list that "or" or "nor" closes."""
    for token in tokens[i : i + 10]:
        if token.sentence != tokens[i].sentence:
            return False
        if token.word in ("or", "nor"):
            return token.clause - tokens[i].clause <= 2
    return False


def _heads(tokens: Sequence[Token], reached: Sequence[int]) -> list[int]:
    """What a cue negates for certain: its first word that is not light, and more joined by "or"."""
    heavy = [i for i in reached if tokens[i].stem not in _light() and len(tokens[i].word) > 2]
    heavy = heavy or list(reached)
    heads = heavy[:1]
    for i in heavy[1:]:
        if tokens[i - 1].word in ("or", "nor") and i - heads[-1] <= 4:
            heads.append(i)
    return heads


def _opening(text: Statement, cue: int) -> list[int]:
    """What a clause speaks of, up to its first preposition: "dose change in X is not needed"."""
    tokens, found = text.tokens, list[int]()
    begin = cue
    while begin and tokens[begin - 1].clause == tokens[cue].clause:
        begin -= 1
    for i in range(begin, cue):
        if text.words[i] in content_policy().close.prepositions or len(found) == _NOUN_WORDS:
            break
        if tokens[i].content:
            found.append(i)
    return found


def _answers(text: Statement, cue: int) -> bool:
    """Whether a cue is all that its field says: "- Expanded access: no.", "Masking: none (...)"."""
    tokens = text.tokens
    if not cue or text.words[cue] not in ("no", "none"):
        return False
    before, here = tokens[cue - 1], tokens[cue]
    last = all(one.sentence != here.sentence or one.depth > here.depth for one in tokens[cue + 1 :])
    return last and before.sentence == here.sentence and before.clause != here.clause


def _subject(tokens: Sequence[Token], cue: int, *, here: bool = False) -> list[int]:
    """The last words of content before a cue, in its clause: "X was not seen"; with `here` the
    last ones up to it."""
    found: list[int] = []
    for i in range(cue if here else cue - 1, -1, -1):
        if tokens[i].clause != tokens[cue].clause or len(found) == 2:
            break
        if tokens[i].content:
            found.append(i)
    return found


@cache
def _refraining() -> Phrasebook[None]:
    return Phrasebook([(phrase, None) for phrase in modality_policy().refraining.words])


@cache
def _light() -> frozenset[str]:
    return frozenset(stem_of(word)[0] for word in negation_policy().light)


@cache
def _existential() -> frozenset[str]:
    return frozenset(stem_of(word)[0] for word in negation_policy().existential)


@cache
def directed_stems() -> frozenset[str]:
    """Stems that the direction guard reads, negation and all."""
    policy = direction_policy()
    lists = [*policy.signs.values(), *policy.standing.values()]
    return frozenset(stem_of(word)[0] for words in lists for word in words if " " not in word)
