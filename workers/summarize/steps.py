"""Whether words name something that is done for a patient, and if it is still to come. Pure."""

import re
from functools import cache

from knowledge.drugs import drugs_at
from knowledge.notes import plan_policy, section_policy

_LABEL = re.compile(r"[^:\n]{1,40}:\s+")


def names_a_step(words: str) -> bool:
    """Whether words name a drug, a test or another step, or what would lead to one."""
    policy, lower = plan_policy(), words.lower()
    known = (
        policy.has("steps", words) or policy.has("urgent", words) or policy.has("routine", words)
    )
    cues = (
        one for one in section_policy().cues if one.list in ("medicines_allergies", "labs_imaging")
    )
    return known or bool(drugs_at(words)) or any(one.pattern.search(lower) for one in cues)


def is_to_come(words: str) -> bool:
    """Whether a step has its time before it: `MRI in six weeks`, `Biopsy tomorrow`."""
    if plan_policy().has("past", words) or not _ahead().search(words):
        return False
    return names_a_step(words)


def is_a_dose(words: str) -> bool:
    """Whether words begin with a drug, give its dose and tell nothing of it: `Cefuroxime 1.5 g`."""
    label = _LABEL.match(words)
    said = words[label.end() :] if label else words
    found = drugs_at(said)
    if not found or found[0].start > 0 or not any(map(str.isdigit, said)):
        return False
    return not plan_policy().has("past", said) and not plan_policy().has("reports", said)


@cache
def _ahead() -> re.Pattern[str]:
    return re.compile(plan_policy().ahead, re.IGNORECASE)
