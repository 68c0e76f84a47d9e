"""Which sentences of a source can be shown, and what they lean on. Pure.

Word lists: knowledge/questions/answers.yaml, knowledge/guards/orphans.yaml.
"""

import re
from functools import cache, lru_cache

from clinical_text.labels import body_of
from clinical_text.quantities import Kind, quantities
from knowledge.loader import load
from knowledge.matching.caseless import Caseless
from knowledge.works.conflicts import conflict_policy
from store.index.terms import term_set
from workers.generate.verbs import has_verb

_PLAIN_WORD = re.compile(r"(?<![a-z])[a-z]+(?![^\s,;])")
_WORD = re.compile(r"\w+")
_LEAST_TERMS = 4
_LEAST_TERMS_OF_A_WARNING = 3
_LEAST_LONG = 4
_STOPS = ".?!"
_TITLED = 0.75


@cache
def _pattern(name: str) -> Caseless:
    return Caseless(load("questions/answers")[name])


def on_one_line(sentence: str) -> str:
    """The words of a sentence as they are shown: on one line, without its marks."""
    return " ".join(body_of(sentence).split())


def is_fact(sentence: str) -> bool:
    """Whether it is a field of a registry record, `Enrollment: 450 participants.`"""
    return _pattern("fact").match(sentence) is not None


def leans(sentence: str) -> bool:
    """Whether a sentence says something of what only the one before it names."""
    body = body_of(sentence)
    if _pattern("self_reference").match(body):
        return False
    if _has_orphan(body):
        return True
    return bool(_pattern("leaning").match(body) or _pattern("leaning_within").match(body))


def _has_orphan(body: str) -> bool:
    """Whether a pronoun inside the sentence stands for nothing that the sentence names."""
    found = _orphan("object").match(body)
    if found is not None and not _orphan("other_clause").search(found["before"]):
        return True
    return _orphan("subject").match(body) is not None


@cache
def _orphan(name: str) -> Caseless:
    return Caseless(load("guards/orphans")[name])


def refers_back(sentence: str) -> bool:
    """Whether a sentence needs its document to be named first ("the trial", "the panel")."""
    body = body_of(sentence)
    return _pattern("back_reference").match(body) is not None or _is_figure(body)


def is_dosing(body: str) -> bool:
    """Whether it says for whom, and an amount: "Adults: 400 mg every 24 hours."."""
    _, colon, amount = body.partition(": ")
    return bool(colon) and any(one.kind is Kind.DOSE for one in quantities(amount))


def _is_figure(body: str) -> bool:
    """Whether it is an outcome and its figure: "Overall survival: hazard ratio 0.59."."""
    return ": " in body and _pattern("figure").match(body) is not None


@lru_cache(maxsize=4096)  # asked of each sentence by what scores it and by what orders it
def is_about_itself(sentence: str) -> bool:
    """Whether a sentence says what a work did or is, not what it found."""
    return _pattern("about_itself").search(sentence) is not None


def is_whole(sentence: str) -> bool:
    """Whether the words are a sentence, or a registry's field, that says something of the subject.

    Headings, rows and footnotes of tables, pieces of split sentences, notices of copyright and
    funding are not.
    """
    body = body_of(sentence)
    if is_fact(body):
        return not body.endswith(":")
    return (
        _can_be_shown(sentence, body)
        and _says_enough(body)
        and (has_verb(body) or _is_figure(body) or is_dosing(body))
        and (body[-1] in _STOPS or not _is_title(body))
    )


def may_be_value(sentence: str) -> bool:
    """Whether words that are no sentence may be what stands under a heading that names a field:
    "Completed." says something under "Status" alone."""
    body = body_of(sentence)
    return bool(body) and _can_be_shown(sentence, body)


def _can_be_shown(sentence: str, body: str) -> bool:
    """Whether the words are no heading, row or footnote of a table, no piece of a split sentence,
    and no notice of copyright or funding."""
    return (
        len(body) <= load("questions/answers")["most_chars"]
        and not body.startswith(("#", "|"))
        and " | " not in body
        and " ** " not in body
        and not body.endswith((":", ";", ",", "-"))
        and not _PLAIN_WORD.match(body)
        and not _pattern("footnote").match(sentence)
        and _is_paired(body)
        and not _is_boilerplate(sentence, body)
    )


def _is_paired(body: str) -> bool:
    """Whether all that is opened is closed."""
    return (
        body.count("(") == body.count(")")
        and body.count("[") == body.count("]")
        and body.count("“") == body.count("”")
    )


def _is_title(body: str) -> bool:
    """Whether the words are the title of a table: "Adverse Reactions Reported by ..."."""
    long = [word for word in _WORD.findall(body) if len(word) >= _LEAST_LONG and word.isalpha()]
    capital = sum(word[0].isupper() for word in long)
    return len(long) >= _LEAST_TERMS and capital > _TITLED * len(long)


def _says_enough(body: str) -> bool:
    """Whether it has the terms of a statement; what speaks for or against a use needs fewer:
    "Metformin is contraindicated in pregnancy."."""
    said = len(term_set(body))
    return said >= _LEAST_TERMS or (said >= _LEAST_TERMS_OF_A_WARNING and takes_side(body))


def takes_side(body: str) -> bool:
    """Whether a sentence speaks for or against a use or an approval."""
    return any(
        pattern.search(body)
        for stance in conflict_policy().stances.values()
        for pattern in (*stance.against, *stance.for_)
    )


def _is_boilerplate(sentence: str, body: str) -> bool:
    begins = _pattern("boilerplate").match
    if begins(sentence) or (body != sentence and begins(body)):
        return True
    return _pattern("boilerplate_within").search(sentence) is not None


def stands_alone(sentence: str) -> bool:
    """Whether a sentence can be shown without the one before it, and says something."""
    return is_whole(sentence) and not leans(sentence)
