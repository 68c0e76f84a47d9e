"""Puts true and false statements through `attest verify`, one by one, and counts what comes out.

    python -m benchmarks.pasted [--show]

The statements are about the sample corpus and about documents that are made up
(`documents.jsonl`: their drugs, trials and figures exist nowhere). They were written by somebody
who had read the sources and not the rules; the false ones as a careless writer makes them. Nothing
was trained on them, but the rules have been mended for those that passed: they are for development.
"""

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from cli.commands.questions.verify import documents_in, verify_here
from workers.verify.pasted.against import speaks_against

HERE = Path(__file__).parent
SAMPLES = Path("samples/records")
VERDICTS = ("verified", "partially_verified", "unsure", "unverified")
"""Best first; "unsure" is what nothing speaks against (`?`)."""


def main() -> None:
    """Prints how many of each kind get which verdict."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="what was judged wrongly")
    show = parser.parse_args().show
    console = Console()
    documents = [*documents_in(SAMPLES), *documents_in(HERE / "documents.jsonl")]
    statements = [
        json.loads(line)
        for line in (HERE / "statements.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    counts: Counter[tuple[bool, str]] = Counter()
    wrong: list[dict[str, Any]] = []
    for one in track(statements, "Checking", console=Console(stderr=True)):
        verdict = _verdict(verify_here(one["text"], documents))
        counts[one["holds"], verdict] += 1
        if verdict == ("unverified" if one["holds"] else "verified"):
            wrong.append({**one, "verdict": verdict})
    console.print(_table(counts))
    for one in wrong if show else ():
        console.print(f"{one['verdict']}, {one['kind']}: {one['text']}", highlight=False)


def _verdict(result: dict[str, Any]) -> str:
    """The worst verdict of what was judged; what was not judged at all is not verified."""
    said = [
        _verdict_of(one["verification_status"], {found["code"] for found in one["findings"]})
        for one in result["statements"]
        if one["claims"]
    ]
    return max(said, key=VERDICTS.index, default="unsure")


def _verdict_of(status: str, codes: set[str]) -> str:
    return "unsure" if status == "unverified" and not speaks_against(codes) else status


def _table(counts: Counter[tuple[bool, str]]) -> Table:
    table = Table("statements", "all", *(one.replace("_", " ") for one in VERDICTS))
    for holds, name in ((True, "true"), (False, "false")):
        many = [counts[holds, one] for one in VERDICTS]
        table.add_row(name, str(sum(many)), *map(str, many))
    return table


if __name__ == "__main__":
    main()
