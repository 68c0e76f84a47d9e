"""A deterministic corpus for load: made-up sentences of clinical words, no facts in them."""

import random
from collections.abc import Iterator

VOCABULARY = (
    "patients tumour therapy survival adjuvant cohort assay plasma detection recurrence median "
    "interval stage resection chemotherapy marker imaging baseline randomized control follow-up "
    "sensitivity specificity positive negative treatment outcome analysis months years risk ratio "
    "colon rectal breast lung bladder melanoma surgery protocol endpoint enrolment hazard serial "
    "sampling variant allele fraction sequencing panel tissue blood result response disease relapse"
)
WORDS = VOCABULARY.split()


def documents(count: int, characters: int, seed: int = 7) -> Iterator[dict[str, str]]:
    """`count` records of about `characters` characters in sentences and paragraphs."""
    rng = random.Random(seed)
    for number in range(count):
        sentences: list[str] = []
        length = 0
        while length < characters:
            words = [*rng.choices(WORDS, k=rng.randint(8, 24)), f"w{rng.randint(0, 20_000)}"]
            sentence = " ".join(words).capitalize() + f" in {rng.randint(10, 900)} patients."
            sentences.append(sentence)
            length += len(sentence) + 1
        paragraphs = [" ".join(sentences[i : i + 4]) for i in range(0, len(sentences), 4)]
        yield {
            "source_type": "document",
            "source_key": f"bench-{number}",
            "title": f"Benchmark document {number} on {rng.choice(WORDS)} and {rng.choice(WORDS)}",
            "text": "\n\n".join(paragraphs)[:characters],
        }
