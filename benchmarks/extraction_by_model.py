"""What a model adds to the rules, and what a careless one may not take: whole runs without a model.

    python -m benchmarks.extraction_by_model FOLDER    # NAME.txt beside NAME.json

A model that answers well quotes, of each field that the gold states, the shortest words of the
document that state it. A careless one leaves out a third, makes up words for a fifth, quotes for a
fifth what states another field, and for a third of the fields that are not stated any line. Both
are replies that somebody could record; seeds make them the same each time. Printed are stated
fields right in full and fields right that are not stated: by rules, with each of the two.
"""

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cli.evaluate.extraction_cases import Case, read_cases
from clinical_text.quotes import Source, check
from workers.extract.fields import Status
from workers.extract.gold import compare, entries, found_is_wanted, matched, right
from workers.extract.loop.extraction import extract_text
from workers.extract.loop.proposing import Ask, ProposedField, ProposedFields, located
from workers.extract.parts import Parts
from workers.extract.rubrics import field_named, field_policies, rubric
from workers.language_model.port import Prompt, Proposal, Usage

OMITTED, MADE_UP, OF_ANOTHER, ANY_LINE = 0.33, 0.2, 0.2, 0.33
_LONGEST = 400
_FREE = Usage(input_tokens=0, output_tokens=0)


def best_quotes(case: Case) -> dict[str, list[str]]:
    """Of each field that is stated, the shortest words that the service reads as the gold."""
    parts, wanted = Parts(case.text), rubric(case.type)
    found: dict[str, list[str]] = {}
    for name, gold in case.fields.items():
        field = field_named(name, case.type)
        if field is None or field not in wanted.fields or not found_is_wanted(gold):
            continue
        every = sorted(_candidates(case.text, gold), key=len)
        if field_policies()[field].many:
            found[field] = list(dict.fromkeys(_of_many(field, gold, every, parts, case.type)))
            continue
        good = (one for one in every if _reads(field, gold, [one], parts, case.type))
        found[field] = [next(good, None) or _nearest(every, str(gold))]
    return found


def _nearest(every: Sequence[str], told: str) -> str:
    """Of the pieces of a document that hold most of the words, the shortest: what a model quotes of
    a value that the service does not read; nothing where none holds any."""
    wanted = set(_TOKEN.findall(told.lower()))
    held = [(len(wanted & set(_TOKEN.findall(one.lower()))), -len(one), one) for one in every]
    most, _, found = max(held, default=(0, 0, ""))
    return found if most else ""


_TOKEN = re.compile(r"[a-z]+|\d+(?:\.\d+)?")


def _of_many(field: str, gold: Any, every: Sequence[str], parts: Parts, kind: str) -> Iterator[str]:
    some = isinstance(gold, Mapping) and set(gold) == {"includes"}
    for value in entries(field, gold["includes"] if some else gold):
        for words in every:
            result = located(parts, rubric(kind), [_quoted(field, words)]).get(field)
            if result and len(result.items) == 1 and matched([result.items[0].value], [value]):
                yield words
                break
        else:
            yield _nearest(
                every,
                " ".join(map(str, value.model_dump(exclude_none=True, exclude={"kind"}).values())),
            )


def _candidates(text: str, gold: Any) -> Iterator[str]:
    if isinstance(gold, str) and check(gold, Source(text)).accepted:
        yield gold
    for line in text.split("\n"):
        pieces = [
            line,
            *line.split(". "),
            *line.split("; "),
            *line.split(", "),
            *line.split(";"),
            *line.split("|"),
        ]
        pieces += [one for one in line.split("  ") if one.strip()]
        pieces += [one.split(":", 1)[1] for one in pieces if ":" in one]
        yield from (one.strip(" |-*") for one in pieces if 0 < len(one.strip()) <= _LONGEST)
    for block in text.split("\n\n"):
        yield block.strip()
        yield "\n".join(block.strip().split("\n")[1:])


def _reads(field: str, gold: Any, words: Sequence[str], parts: Parts, kind: str) -> bool:
    result = located(parts, rubric(kind), [_quoted(field, one) for one in words]).get(field)
    return result is not None and compare(field, gold, result) == 1.0


def _quoted(field: str, words: str) -> ProposedField:
    return ProposedField(field=field, status=Status.FOUND, words=words)


def careless(quotes: Mapping[str, list[str]], case: Case) -> dict[str, list[str]]:
    """What a model that does not read well makes of it."""
    rng = random.Random(case.name)
    lines = [one.strip() for one in case.text.split("\n") if len(one.split()) > 1]
    others = [one for every in quotes.values() for one in every] or lines
    found: dict[str, list[str]] = {}
    for field in rubric(case.type).fields:
        chance = rng.random()
        if field not in quotes:
            found[field] = [rng.choice(lines)] if chance < ANY_LINE else []
        elif chance < OMITTED:
            found[field] = quotes[field][: len(quotes[field]) // 2]
        elif chance < OMITTED + MADE_UP:
            found[field] = [" ".join(reversed(rng.choice(lines).split()))]
        elif chance < OMITTED + MADE_UP + OF_ANOTHER:
            found[field] = [rng.choice(others)]
        else:
            found[field] = quotes[field]
    return found


def asking(quotes: Mapping[str, list[str]]) -> Ask:
    """A model that always replies so."""

    def ask(_: Prompt[ProposedFields]) -> Proposal[ProposedFields]:
        fields = [_quoted(field, one) for field, every in quotes.items() for one in every]
        return Proposal(ProposedFields(fields=fields), "recorded", _FREE, "", "")

    return ask


def counted(case: Case, ask: Ask | None) -> Counter[str]:
    """Fields right of those stated and of those not, as `stated`, `unstated`, with their totals."""
    found = extract_text(case.text, document_type=case.type, ask=ask)
    counts = Counter[str]()
    for name, gold in case.fields.items():
        kind = "stated" if found_is_wanted(gold) else "unstated"
        counts[f"{kind} of"] += 1
        counts[kind] += (right(name, gold, found.fields, case.type) or 0.0) >= 1.0
    return counts


def main() -> None:
    """Print the counts."""
    models: dict[str, Callable[[Case], Ask | None]] = {
        "rules": lambda _: None,
        "well": lambda case: asking(best_quotes(case)),
        "careless": lambda case: asking(careless(best_quotes(case), case)),
    }
    totals = {name: Counter[str]() for name in models}
    for case in read_cases(Path(sys.argv[1])):
        for name, model in models.items():
            totals[name] += counted(case, model(case))
    print(json.dumps({name: dict(counts) for name, counts in totals.items()}, indent=1))


if __name__ == "__main__":
    main()
