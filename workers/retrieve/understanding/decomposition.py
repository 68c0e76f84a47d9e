"""A long question as a few short searches (EB-2), in the vocabulary's words alone. Pure.

Nothing of a note itself stands in a sub-query: no name, no date and no number of a patient.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from knowledge.loader import load
from knowledge.matching.words import Words
from knowledge.questions.classification import comorbidities
from knowledge.questions.decomposition import Part, decomposition_policy
from knowledge.subjects.tags import Kind, label
from workers.retrieve.understanding.model import SubQuery
from workers.retrieve.understanding.parts import parts
from workers.retrieve.understanding.sentences import sentences
from workers.retrieve.understanding.shorthand import spelled_out


def is_long(question: str) -> bool:
    """Whether a question has more words than are searched for as they stand (EB-2.1: 100)."""
    return len(question.split()) > decomposition_policy().longer_than


def decompose(
    question: str,
    query_type: str,
    diseases: Sequence[str],
    decisions: Sequence[str],
    names: Sequence[str] = (),
) -> tuple[SubQuery, ...]:
    """What is searched for: the question itself, each of several that are asked at once, or the
    three or four parts of a long one.

    Args:
        question: as asked.
        query_type: decides what evidence is aimed at.
        diseases: its tags, the primary one first; the others are its comorbidities.
        decisions: likewise.
        names: of the trials and bodies that it names.
    """
    policy = decomposition_policy()
    aims = policy.targets_of[query_type]
    if not is_long(question):
        return tuple(SubQuery(spelled_out(one), "whole", aims) for one in parts(question, names))
    named = _alternatives(question)
    found = []
    for role, part in policy.roles.items():
        # The primary decision stands in each of them already, but for the alternatives.
        others = decisions if role == "alternatives" else decisions[1:]
        taken = [_phrase("decisions", tag) for tag in others if tag in part.takes]
        if role == "alternatives":
            taken += named
            if not taken:
                continue
        text = _text(role, taken, diseases, decisions)
        own = role == "core_decision" and query_type != "general"
        found.append(SubQuery(text, role, aims if own else part.targets))
    return tuple(found)


def _text(
    role: Part, taken: Sequence[str], diseases: Sequence[str], decisions: Sequence[str]
) -> str:
    """Disease, decision concept, what the role adds, key comorbidity (EB-2.3), as it fits."""
    policy = decomposition_policy()
    part = policy.roles[role]
    disease = _phrase("diseases", diseases[0]) if diseases else ""
    others = [_phrase("diseases", tag) for tag in comorbidities(diseases, decisions)]
    decision = _phrase("decisions", decisions[0]) if decisions else policy.default_decision
    concept = [] if role == "alternatives" else [decision]
    added = taken or [word for word in part.otherwise if word != decision][:1]
    # The key comorbidity before further concepts: a search without it is another one.
    key, further = others[:1], others[1 : part.comorbidities]
    return _joined([disease, *concept, *added[:1], *key, *further, *added[1:]], policy.most_words)


def _joined(phrases: Iterable[str], most_words: int) -> str:
    words: list[str] = []
    for phrase in dict.fromkeys(phrases):
        more = phrase.split()
        if len(words) + len(more) <= most_words:
            words += more
    return " ".join(words)


def _phrase(kind: Kind, tag: str) -> str:
    """How titles name a tag, else what we call it."""
    search = load("subjects/vocabulary")[kind][tag].get("search")
    return str(search[0]) if search else label(kind, tag).lower()


@cache
def _other_alternatives() -> Words:
    return Words({phrase: (phrase,) for phrase in decomposition_policy().alternatives})


def _alternatives(question: str) -> list[str]:
    asking = [one for one in sentences(question) if one.asks]
    found = _other_alternatives().mentions(question)
    named = (one.name for one in found if any(part.holds(one.start) for part in asking))
    return list(dict.fromkeys(named))


def log_fields(sub_query: SubQuery) -> dict[str, Any]:
    """What the log says of a sub-query (EB-2.5): the text only where it is made of our words.

    A question that is asked as it stands is the user's, and stays out of logs.
    """
    fields = {
        "role": sub_query.role,
        "targets": list(sub_query.targets),
        "words": len(sub_query.text.split()),
    }
    return fields if sub_query.role == "whole" else {**fields, "text": sub_query.text}
