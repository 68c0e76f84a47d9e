"""How strongly and how widely: recommendations, causes and quantifiers, for `modality`. Pure."""

from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import takewhile

from clinical_text.assertion.lexicon import lexicon
from clinical_text.vocabulary import vocabulary
from knowledge.meaning import modality_policy
from workers.verify.guards.finding import Finding
from workers.verify.guards.negation import negations
from workers.verify.guards.statements import SAME_WORD, Phrasebook, Statement, nearest

_QUANTIFIED = 4
"""Words after a quantifier within which its noun stands (ours)."""
_NEAR = 4.0
"""A limit of the claim so near covers a word, in words of content (ours)."""


def sentence_findings(
    said: Statement, sentence: Sequence[int], source: Statement, drawn: Sequence[int]
) -> list[Finding]:
    """What one sentence of the claim says more strongly than the sentences it is `drawn` from."""
    words = [said.words[i] for i in sentence]
    theirs = [[source.words[i] for i in source.sentences[one]] for one in drawn]
    found = _recommendations(said, sentence, source, drawn or range(len(source.sentences)))
    return [*found, *_causes(words, theirs)]


def _recommendations(
    said: Statement, sentence: Sequence[int], source: Statement, drawn: Sequence[int]
) -> list[Finding]:
    ours = _claimed_strength(said, sentence)
    if not ours or any(
        ours <= _strength([source.words[i] for i in source.sentences[one]])
        or (ours <= modality_policy().imperatives.level and orders(source, source.sentences[one]))
        for one in drawn
    ):
        return []
    denies = said.tokens[sentence[0]].sentence in negations(said).denying
    detail = "the claim recommends more strongly than the passage"
    return [Finding("modality", detail, unsaid=denies)]


def _claimed_strength(said: Statement, sentence: Sequence[int]) -> int:
    """The strength of what a claim's sentence says; that nothing is needed recommends nothing."""
    odd, negative = negations(said).odd, lexicon().grammar.holding
    words = [said.words[i] for i in sentence]
    strongest = len(modality_policy().recommendations)
    return max(
        (
            level
            for first, length, level in _recommendation_book().find(words)
            if level < strongest
            or not odd[sentence[first + length - 1]]
            or words[first + length - 1] in negative
        ),
        default=0,
    )


def _strength(words: Sequence[str]) -> int:
    """0 for no recommendation, else its place in the list, weakest 1."""
    return max((level for _, _, level in _recommendation_book().find(words)), default=0)


def orders(text: Statement, members: Sequence[int]) -> bool:
    """Whether a clause of a sentence is an order: "discontinue X if ...", "if ..., stop X"."""
    policy, tokens = modality_policy().imperatives, text.tokens
    begins = [i for i in members if i == members[0] or tokens[i].clause != tokens[i - 1].clause]
    for begin in begins:
        clause = [text.words[i] for i in members if tokens[i].clause == tokens[begin].clause]
        if clause[:2] == ["do", "not"]:
            return True
        at = 0
        while at < len(clause) - 1 and (clause[at] in policy.before or clause[at].endswith("ly")):
            at += 1
        if clause[at] in policy.verbs:
            return True
        after = clause[at + 1 :]
        own = list(takewhile(lambda word: word not in policy.subordinate, after))
        is_noun = not policy.follow.isdisjoint(after[:1]) or not policy.finite.isdisjoint(own)
        if clause[at] in policy.nouns and not is_noun:
            return True
    return False


@cache
def _recommendation_book() -> Phrasebook[int]:
    levels = modality_policy().recommendations
    return Phrasebook([(p, n) for n, phrases in enumerate(levels, start=1) for p in phrases])


def _causes(words: Sequence[str], theirs: Sequence[Sequence[str]]) -> list[Finding]:
    """What goes together is not thereby cause and effect: a word of cause in the claim in the
    place of a word of association in every sentence that it may be drawn from."""
    if not theirs or not _cause_book().find(words):
        return []
    ours, linked = _named(words, _cause_book()), len(_association_book().find(words))
    if all(
        ours - _named(one, _cause_book()) and len(_association_book().find(one)) > linked
        for one in theirs
    ):
        return [Finding("modality", "the passage states an association, the claim a cause")]
    return []


def _named(words: Sequence[str], book: Phrasebook[str]) -> Counter[str]:
    return Counter(name for _, _, name in book.find(words))


@cache
def _cause_book() -> Phrasebook[str]:
    return Phrasebook([(phrase, phrase) for phrase in modality_policy().cause])


@cache
def _association_book() -> Phrasebook[None]:
    return Phrasebook([(phrase, None) for phrase in modality_policy().association])


def quantifier_findings(said: Statement, source: Statement) -> list[Finding]:
    """All, most, only where the passage says no such thing; few, some, most of it left out."""
    return [*_widened(said, source), *_limits_lost(said, source)]


def _widened(said: Statement, source: Statement) -> list[Finding]:
    findings = []
    theirs = _quantified(source, _wide_book())
    for at, name, nouns in _quantified(said, _wide_book()):
        same = [j for j, other, _ in theirs if other == name]
        if name == "proof" and same:
            continue
        stem = said.stems[at]
        here = [j for j in same if source.stems[j] == stem]
        others = [j for j in source.by_stem.get(stem, ()) if j not in same]
        if name == "only" and not here and any(j in _limited_by_verb(source) for j in others):
            continue
        if not here and not others and any(nouns & held for _, n, held in theirs if n == name):
            continue  # another word for it
        if nearest(said, at, source, here) < max(0.0, nearest(said, at, source, others)):
            findings.append(Finding("modality", f"the passage does not say “{name}”", unsaid=True))
    return findings


@lru_cache(maxsize=64)
def _limited_by_verb(text: Statement) -> frozenset[int]:
    """What stands behind "only" and a verb: "only resume X in patients with Y" limits Y."""
    verbs, found = modality_policy().imperatives.verbs | {"be"}, set[int]()
    for at, word in enumerate(text.words[:-1]):
        if word == "only" and text.words[at + 1] in verbs:
            sentence = text.tokens[at].sentence
            found |= {i for i in text.sentences[sentence] if i > at}
    return frozenset(found)


def _limits_lost(said: Statement, source: Statement) -> list[Finding]:
    findings = []
    kept = [said.tokens[at] for at, _, _ in _quantified(said, _narrow_book())]
    limited = {j for j, _, _ in _quantified(source, _narrow_book())}
    for stem in {source.stems[j] for j in limited}:
        here = [j for j in limited if source.stems[j] == stem]
        others = [j for j in source.by_stem.get(stem, ()) if j not in limited]
        for i in said.by_stem.get(stem, ()):
            token = said.tokens[i]
            near = (abs(token.place - one.place) <= _NEAR for one in kept)
            if any(near) or negations(said).odd[i]:
                continue
            plain = max(SAME_WORD, nearest(said, i, source, others))
            if nearest(said, i, source, here) > plain:
                detail = f"the passage limits “{token.word}”, the claim does not"
                findings.append(Finding("modality", detail))
    return findings


def _quantified(text: Statement, book: Phrasebook[str]) -> list[tuple[int, str, frozenset[str]]]:
    """The first word of content after each quantifier, its kind, and the stems that follow."""
    found = []
    for first, length, name in book.find(text.words):
        start = first + length
        following = text.words[start : start + 1]
        if not name or (following and _is_number(following[0])):
            continue  # "every 3 weeks", "only 12 patients": the numbers guard reads these
        places = range(start, min(start + _QUANTIFIED, len(text.tokens)))
        nouns = [i for i in places if text.tokens[i].content]
        if nouns:
            found.append((nouns[0], name, frozenset(text.stems[i] for i in nouns)))
    return found


def _is_number(word: str) -> bool:
    return word[0].isdigit() or word in vocabulary().number_words


@cache
def _wide_book() -> Phrasebook[str]:
    policy = modality_policy().quantifiers
    names = [(phrase, "") for phrase in policy.nothing]
    names += [(phrase, name) for name, phrases in policy.wide.items() for phrase in phrases]
    return Phrasebook(names)


@cache
def _narrow_book() -> Phrasebook[str]:
    policy = modality_policy().quantifiers
    names = [(phrase, "") for phrase in policy.nothing]
    names += [(phrase, phrase) for phrase in policy.narrow]
    return Phrasebook(names)
