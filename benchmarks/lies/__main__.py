"""`python -m benchmarks.lies [--answers N] [--json] [--variants] [--show FILE]`.

A fake Messages API on loopback drafts answers over real abstracts (ctDNA, PubMed, SciFact under
`--shared`) and plants twelve kinds of fabrication in them. The product's adapter, prompts, draft
acceptance, guards and gate are the real ones. Each draft is judged twice: by the liar, who calls
everything SUPPORTED, and by an honest judge. Demanded: no lie is supported, whoever judges, and
95 % of the true claims are with the honest judge. The exit code says whether that holds.

Nothing is fitted here. Conflicts among sources are not looked for: they only take claims away.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.lies.library import abstracts, cases
from benchmarks.lies.measure import Measured, measure
from benchmarks.lies.report import Row, rows, show
from benchmarks.lies.trial import PASSED, Fate


def body(measured: Measured) -> dict[str, Any]:
    """The result as JSON."""

    def told(found: dict[str, Row]) -> dict[str, Any]:
        return {kind: row.as_body() for kind, row in found.items()}

    return {
        "answers": measured.answers,
        "holds": measured.holds,
        "lies_supported": measured.lies_supported,
        "bad_hedges": measured.bad_hedges,
        "true_surviving": round(measured.surviving, 4),
        "lies": {
            "lying_judge": told(rows(measured.fates(measured.lying, true=False))),
            "honest_judge": told(rows(measured.fates(measured.honest, true=False))),
        },
        "true": {"honest_judge": told(rows(measured.fates(measured.honest, true=True)))},
    }


def examples(measured: Measured) -> str:
    """What went against expectation, grouped by kind and cause."""
    wrong: dict[str, list[Fate]] = {}
    for one in measured.honest:
        for fate in one.fates:
            if fate.told.true and fate.stopped_at != PASSED:
                cause = f"TRUE LOST, {fate.stopped_at} {', '.join(fate.codes)}"
                wrong.setdefault(cause, []).append(fate)
    for one in measured.lying:
        for fate in one.fates:
            if not fate.told.true and fate.stopped_at == PASSED:
                cause = f"LIE PASSED, {fate.told.kind}: {fate.told.variant}"
                wrong.setdefault(cause, []).append(fate)
    parts = []
    for cause, fates in sorted(wrong.items(), key=lambda item: (item[0][:4], -len(item[1]))):
        parts.append(f"## {cause} ({len(fates)})\n")
        parts += [
            f"[{one.told.kind}]\n  claim:   {one.told.text}\n  passage: {one.passage}\n"
            for one in fates
        ]
    return "\n".join(parts)


def main() -> int:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--answers", type=int, default=1000)
    arguments.add_argument("--shared", type=Path, default=Path("../shared"))
    arguments.add_argument("--scifact", type=int, default=5183, help="abstracts of SciFact")
    arguments.add_argument("--seed", type=int, default=7)
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--variants", action="store_true", help="a row a variant")
    arguments.add_argument("--show", type=Path, help="write here what went against expectation")
    options = arguments.parse_args()
    begun = time.monotonic()
    records, papers = abstracts(options.shared, options.scifact)
    found = cases(records, papers, random.Random(options.seed))
    measured = measure(options.answers, found, options.seed)
    seconds = time.monotonic() - begun
    if options.show:
        options.show.write_text(examples(measured), encoding="utf-8")
    if options.json:
        print(json.dumps(body(measured), indent=1))
        return 0 if measured.holds else 1
    console = Console(width=190)
    lies = measured.fates(measured.lying, true=False)
    show(console, "Lies, lying judge", rows(lies, variants=options.variants), "planted", "passed")
    if not options.variants:
        lies = measured.fates(measured.honest, true=False)
        show(console, "Lies, honest judge", rows(lies), "planted", "passed")
    truths = measured.fates(measured.honest, true=True)
    show(console, "True claims, honest judge", rows(truths), "told", "survived")
    console.print(
        f"{measured.answers} answers in {seconds:.0f} s. "
        f"Lies supported: {measured.lies_supported}; "
        f"hedges around other than true words: {measured.bad_hedges}; "
        f"true claims that survive in their own words: {measured.surviving:.2%}. "
        f"{'Holds' if measured.holds else 'DOES NOT HOLD'}."
    )
    return 0 if measured.holds else 1


if __name__ == "__main__":
    sys.exit(main())
