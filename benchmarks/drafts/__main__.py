"""`python -m benchmarks.drafts [--seed N] [--show FILE]`: questions to the whole product without a
language model, and with one that drafts well and judges rightly (`writer.py`).

Counted: questions that are answered without the model and not with it (an abstention of the model
is no loss: it stands), and how many drafted claims are shown in their own words. The keys of
sources vary in form as models write them. The exit code is 1 if an answer was lost, an abstention
of the model did not stand, or fewer than nine in ten claims are in their own words.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from benchmarks.drafts.writer import Asked, Writer, asked, told
from cli.evaluate.scratch import maintain, scratch, take_in
from contracts import Answer
from store.core.log_lines import configure_command_logs
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.models import Answer as StoredAnswer
from store.questions import questions
from tests.fakes.messages_api import MessagesApi
from tests.fakes.web import FakeWeb
from workers.inline import InlineWorker

_KEY = "made-up-key-4711"
_ENOUGH = 0.9


def answers(worker: InlineWorker, some: Sequence[Asked], writer: Writer) -> list[Answer]:
    """The answer to each question."""
    found = []
    for one in some:
        writer.now = one
        with worker.store.unit_of_work("benchmark", request_id=uuid4()) as work:
            question_id = questions.submit(work, one.text, {}).id
        worker.run()
        with worker.store.reading() as session:
            found.append(Answer.read(session.get_one(StoredAnswer, question_id).body))
    return found


def measured(records: Path, seed: int, few: int | None = None) -> dict[str, Any]:
    """Every question both ways, a row each, and the counts."""
    some = asked()[:few]
    writer, api = Writer(told(records), some, seed), MessagesApi({_KEY})
    api.writer = writer
    plain = Settings(encoder="minilm", database_url="", anthropic_api_key="")
    with scratch(plain) as worker, FakeWeb(api) as web:
        for path in sorted(records.glob("*.jsonl")):
            take_in(worker, path.read_bytes())
        maintain(worker.store)
        without = answers(worker, some, writer)
        keyed = worker.context.settings.model_copy(
            update={"anthropic_api_key": _KEY, "anthropic_url": web.mirrors[api.origin]}
        )
        second = InlineWorker(keyed, Store(worker.store.engine))
        try:
            having = answers(second, some, writer)
        finally:
            second.close()
    rows = [_row(writer, *three) for three in zip(some, without, having, strict=True)]
    return {**_counts(rows), "doubts": writer.doubts, "rows": rows}


def _row(writer: Writer, one: Asked, without: Answer, having: Answer) -> dict[str, Any]:
    drafted = writer.drafts.get(one.text)
    shown = {
        " ".join(claim.text.split())
        for claim in having.claims
        if claim.verdict == "supported" and claim.rewritten_from is None
    }
    own = [claim.text in shown for claim in drafted or ()]
    return {
        "origin": one.origin,
        "question": one.text,
        "without": without.abstain_reason or "answered",
        "with": having.abstain_reason or "answered",
        "model": "not asked" if drafted is None else "drafted" if drafted else "abstained",
        "drafted": len(own),
        "own_words": sum(own),
        "lost": [claim.name for claim, kept in zip(drafted or (), own, strict=True) if not kept],
        "unheld": len(one.claims) - len(own),
        "answers": [one.model_dump(mode="json") for one in (without, having)],
    }


def _counts(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    lost = [
        row["question"]
        for row in rows
        if row["without"] == "answered"
        and row["with"] != "answered"
        and row["model"] != "abstained"
    ]
    against = [
        row["question"] for row in rows if row["model"] == "abstained" and row["with"] == "answered"
    ]
    drafted = sum(row["drafted"] for row in rows)
    return {
        "questions": len(rows),
        "answered_without": sum(row["without"] == "answered" for row in rows),
        "answered_with": sum(row["with"] == "answered" for row in rows),
        "lost": lost,
        "model_abstained": sum(row["model"] == "abstained" for row in rows),
        "abstentions_overruled": against,
        "drafted": drafted,
        "own_words": sum(row["own_words"] for row in rows),
        "own_words_rate": round(sum(row["own_words"] for row in rows) / max(1, drafted), 4),
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=Path, default=Path("samples/records"))
    parser.add_argument("--seed", type=int, default=7, help="of the forms of keys")
    parser.add_argument("--show", type=Path, help="write here every question with both answers")
    parser.add_argument("--few", type=int, help="only so many of the questions")
    options = parser.parse_args()
    configure_command_logs()
    report = measured(options.records, options.seed, options.few)
    rows = report.pop("rows")
    if options.show:
        options.show.write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
    print(json.dumps(report, indent=1, ensure_ascii=False))
    failed = report["lost"] or report["abstentions_overruled"]
    return 1 if failed or report["own_words_rate"] < _ENOUGH else 0


if __name__ == "__main__":
    sys.exit(main())
