"""The words of the pages, in one place so that a word means the same on every page. Pure.

The style of labels:

- A state is one or two plain words and an icon; its color repeats it, its `meaning` explains it.
  Two states of one thing never contradict each other: what fails and is fresh is "In time so far".
- A button says what it does: "Load the samples", not "OK". A heading is a noun.
- Words of clinicians, not of the program: "What would help", not "cure"; "Since then", not "recall
  state"; "95% took up to", not a percentile; "Stopped itself", not "circuit open". Names of errors,
  offsets and hashes stand behind a fold, or on the pages of operators.
- A figure has its unit; a date is as precise as it is known; an age says of what.
- No mark of a file format is shown as a word: a heading of a passage stands beside it, without `#`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Tone = Literal["good", "warn", "bad", "conflict", "quiet"]


@dataclass(frozen=True)
class Badge:
    """A state as a word and an icon; the color only repeats them.

    `icon` names a drawing in `macros.html`, `meaning` explains the word.
    """

    label: str
    tone: Tone
    icon: str
    meaning: str


_UNKNOWN = Badge("Unverified", "quiet", "question", "Nothing is known of its state")

CLAIM: Mapping[str, Badge] = {
    "verified": Badge(
        "Verified", "good", "check", "It passed every check against the passage that it cites"
    ),
    "partially_verified": Badge(
        "Partially verified", "warn", "half", "Only as much is said as the cited passage holds"
    ),
    "unverified": Badge("Unverified", "quiet", "question", "It did not pass the checks"),
    "conflicting": Badge("Conflicting", "conflict", "unequal", "Another source contradicts it"),
}
RELATION: Mapping[str, Badge] = {
    "supported": Badge("Supported", "good", "check", "Its source says so"),
    "contradicted": Badge("Contradicted", "bad", "cross", "Its source says otherwise"),
    "not_stated": Badge("Not stated", "quiet", "question", "No source that was compared says so"),
}
"""What a source is to a statement of a pasted text."""
QUOTE: Mapping[str, Badge] = {
    "verbatim": Badge("Verbatim", "good", "check", "These are the stored words, to the letter"),
    "normalized": Badge(
        "Same words", "good", "check", "The stored words, but for spaces and typography"
    ),
    "altered": Badge("Altered", "bad", "cross", "The source has other words here"),
    "misattributed": Badge("Misattributed", "bad", "cross", "Another source has these words"),
    "stitched": Badge("Stitched", "bad", "cross", "Put together from places that lie apart"),
    "fabricated": Badge("Not found", "bad", "cross", "No source that was compared has these words"),
    "unchecked": Badge("Unchecked", "quiet", "question", "There was nothing to compare it with"),
}
IDENTIFIER: Mapping[str, Badge] = {
    "held": Badge("Known", "good", "check", "A work with this identifier was compared"),
    "retracted": Badge("Retracted", "bad", "cross", "The work with this identifier was retracted"),
    "misattributed": Badge("Wrong", "bad", "cross", "It is not the number of what it is said of"),
    "malformed": Badge("Malformed", "bad", "cross", "No identifier of its kind looks like this"),
    "not_held": Badge("Not held", "quiet", "question", "No work with this identifier is held"),
    "not_among_the_documents": Badge(
        "Not among the sources", "quiet", "question", "No source that was given bears it"
    ),
}
RECALL: Mapping[str, Badge] = {
    "current": Badge("Current", "good", "check", "Nothing that it cites has changed"),
    "affected": Badge(
        "Affected", "warn", "half", "Something that it rests on has changed; it is checked again"
    ),
    "reaffirmed": Badge(
        "Reaffirmed", "good", "check", "Something that it cites has changed, and it still holds"
    ),
    "superseded": Badge(
        "Superseded", "bad", "cross", "What it rests on has changed, and it holds no longer"
    ),
}
JUDGMENT: Mapping[str, str] = {
    "right": "It is right",
    "wrong": "Something is wrong",
    "missing": "Something is missing",
}
"""What a reader may think of an answer."""
RELATED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "guidelines": ("What do guidelines say about {}?", ("guideline", "nccn", "asco", "esmo")),
    "clinical_trials": ("Which clinical trials study {}?", ("clinicaltrials",)),
    "coverage_policy": ("Is {} covered by Medicare?", ("payer",)),
}
"""By type of question: how it is asked on a subject, and which kinds of source answer it."""
KEY: Mapping[str, Badge] = {
    "valid": Badge("Valid", "good", "check", "It opens what its scopes say"),
    "revoked": Badge("Revoked", "quiet", "cross", "Somebody ended it"),
    "expired": Badge("Expired", "quiet", "clock", "Its time has passed"),
}
SCOPE: Mapping[str, str] = {
    "ask": "Ask questions, send notes and texts, read one's own results",
    "read": "Read one's own lists, the library and its sources",
    "documents": "Add evidence, which answers everybody's questions",
    "operate": "Stages, dead letters, what is followed, quality",
    "audit": "The audit log",
    "keys": "Manage keys, and so become anybody",
    "feed": "Only the feed of changed answers, under a link",
}
"""What a key may do."""
STATUS: Mapping[str, Badge] = {
    "queued": Badge("Waiting", "quiet", "clock", "It waits for its first stage"),
    "running": Badge("Running", "quiet", "clock", "A stage works on it"),
    "answered": Badge("Answered", "good", "check", "It came to an answer"),
    "abstained": Badge("No answer", "warn", "warning", "It came to an abstention, which says why"),
    "failed": Badge("Failed", "bad", "cross", "A stage gave up on it"),
    "erased": Badge("Erased", "quiet", "question", "Its words were erased"),
}
STANDING: Mapping[str, str] = {
    "retracted": "This work was retracted, withdrawn or removed. It is evidence no longer.",
    "superseded": "A newer edition replaces this work. It answers questions as of an earlier day.",
    "expression_of_concern": "An expression of concern stands against this work.",
    "corrected": "This work was corrected.",
}
ABSTENTION: Mapping[str, str] = {
    "no_evidence": "No evidence is held on this",
    "low_trust_only": "Only low-trust sources speak to this",
    "stale": "The evidence is out of date",
    "conflict": "The sources contradict each other",
    "unsupported": "Nothing passed the checks",
    "out_of_scope": "This is not a clinical question",
    "unchecked": "The answer could not be checked",
}
STAGES: Mapping[str, tuple[str, str]] = {
    "retrieve": ("Find evidence", "searching what is held"),
    "generate": ("Draft claims", "from the passages found"),
    "verify": ("Check every claim", "against the exact words of its source"),
    "audit": ("Seal", "checked once more and written to the audit log"),
}
"""The stages of a question in order, with the title and detail that are shown."""

CONFLICT_WHY: Mapping[str, str] = {
    "opposite_direction": "The effects point in opposite directions",
    "disjoint_intervals": "The confidence intervals do not meet",
    "opposite_stance": "One speaks for it, the other against",
    "changed": "The newer version says otherwise",
}
CONFLICT_RULE: Mapping[str, str] = {
    "standing": "What is in force stands over what was superseded or withdrawn",
    "newer_guideline": "The newer guideline of the same organization stands",
    "newer_statement": "The newer statement of the same authority stands",
    "tier": "The source of the higher rank stands",
    "design": "The stronger study design stands",
}
EXAMPLES = (
    "What clinical trials are studying MRD-guided treatment de-escalation?",
    "What does NCCN say about ctDNA in colorectal cancer?",
    "How does ctDNA-guided management compare with standard management in stage II colon cancer?",
    "Does ctDNA-guided adjuvant therapy improve survival after resection of pancreatic cancer?",
)
"""Example questions for the sample corpus, which does not cover the last one."""


_TOO_LONG = re.compile(r"String should have at most (\d+) characters?")
_EMPTY = re.compile(r"String should have at least 1 character|Field required")


def plainly(message: str) -> str:
    """A message about a field in plain words."""
    told = _TOO_LONG.sub(lambda match: f"has more than {int(match[1]):,} characters", message)
    return _EMPTY.sub("is empty: write it", told)


def badge(kind: Mapping[str, Badge], state: str | None) -> Badge:
    """The badge of a state. An unknown state never counts as passed (invariant 6)."""
    return kind.get(state or "", _UNKNOWN)
