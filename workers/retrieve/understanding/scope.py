"""Whether a question is none of ours (invariant 9: `out_of_scope`).

It is only where something says so: it names nothing that the terminologies have from medicine, and
the learned reader, a logistic regression on the packaged encoder's vector of the question, is sure
that it is not clinical. What is rare, new or unknown is no reason; it is searched for, and where
nothing is held the answer says that. Training and figures: docs/questions.md.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from clinical_text.names import names
from knowledge.loader import load
from store.index.terms import term_set
from workers.encoder.base import Encoder, Matrix

LONGEST = 400
"""Code points of a question that are read for its scope."""
_CLINICAL_KINDS = frozenset({"disease", "tumor", "drug", "protein", "procedure"})
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class _Reader:
    encoder: str
    weights: Matrix
    bias: float
    threshold: float


@cache
def _reader() -> _Reader:
    facts = json.loads(files(__package__).joinpath("scope.json").read_text("utf-8"))
    weights = np.array(facts["weights"], np.float32)
    return _Reader(facts["encoder"], weights, facts["bias"], facts["threshold"])


def names_clinical(question: str) -> bool:
    """Whether `question` names a disease, a drug or the like that the tables of names know."""
    return any(one.kinds & _CLINICAL_KINDS for one in names(question, typed=True))


def is_none_of_ours(question: str, encoder: Encoder) -> bool:
    """Whether `question` is surely not clinical.

    Args:
        encoder: other weights than those that the reader was trained on say nothing: then no
            question is refused.

    Raises:
        EncoderUnavailable, EncoderRefused: as the encoder does.
    """
    reader = _reader()
    if encoder.name != reader.encoder or names_clinical(question):
        return False
    (vector,) = encoder.encode([question[:LONGEST]])
    return float(vector @ reader.weights) + reader.bias > reader.threshold


def names_something(question: str) -> bool:
    """Whether it is on anything in particular, beside words of asking and of every day."""
    words = " ".join(one for one in _WORD.findall(question) if len(one) > 2 or not one.isascii())
    return not term_set(words) <= _everyday()


@cache
def _everyday() -> frozenset[int]:
    policy = load("questions/questions")
    return term_set(" ".join((*policy["everyday"], *policy["asking_words"])))
