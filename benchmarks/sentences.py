"""What the readers make of sentences that nothing was fitted on.

    python -m benchmarks.sentences

Each line of documents/written/sentences_kept.txt stands in a paragraph that states nothing else,
and every field is read. Printed are, of sentences that state a field, those of which it is read,
and of those that state none, those taken for a value, by all rules and by `sayings` alone.
"""

from collections import Counter
from pathlib import Path

from workers.extract.parts import Parts
from workers.extract.rubrics import field_policies
from workers.extract.rules.choosing import extract_field
from workers.extract.sayings import said

KEPT = Path(__file__).parent / "documents" / "written" / "sentences_kept.txt"
BEFORE, BEHIND = (
    "Thank you for your letter of last week.\n\nShe lives in a flat. ",
    " The sun shone.\n",
)
FIELDS = tuple(name for name, one in field_policies().items() if one.extent != "document")


def read_in(sentence: str) -> tuple[set[str], set[str]]:
    """The fields that are read in a sentence: by all rules, and by `sayings` alone."""
    parts = Parts(BEFORE + sentence + BEHIND)
    start, end = len(BEFORE), len(BEFORE) + len(sentence)
    found = {
        name
        for name in FIELDS
        if any(start <= one.start and one.end <= end for one in extract_field(name, parts).items)
    }
    return found, {name for name in FIELDS if said(parts, name)}


def main() -> None:
    """Print the counts."""
    counts = Counter[str]()
    for line in KEPT.read_text().splitlines():
        name, _, sentence = line.partition(": ")
        every, alone = read_in(sentence)
        kind = "stating none" if name == "none" else "stating one"
        counts[kind] += 1
        if name == "none":
            counts["taken for a value"] += bool(every)
            counts["taken for a value by sayings"] += bool(alone)
        else:
            counts["read"] += name in every
            counts["read by sayings"] += name in alone
    print(dict(counts))


if __name__ == "__main__":
    main()
