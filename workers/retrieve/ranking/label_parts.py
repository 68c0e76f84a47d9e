"""Which part of a drug's label tells what is asked; parts for patients stand behind. Pure."""

from functools import lru_cache

from knowledge.answering.policy import retrieval_policy


@lru_cache(maxsize=4096)  # a title is that of many passages
def part_weight(section: str, question: str) -> float:
    """What a passage in the part of a label with this title gains, or loses, beside the others."""
    policy = retrieval_policy().label_parts
    if policy.for_patients.search(section):
        return -policy.weight
    tells = any(one.parts.search(section) for one in policy.told_in if one.asked.search(question))
    return policy.weight if tells else 0.0
