"""`attest anchors …`: finds and shows anchors and effect estimates."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any
from uuid import uuid4

import typer

from cli.instance.context import Instance, JsonOption, print_json
from cli.output.bars import terminal_bars
from cli.output.printing import say
from store.core.spans import Structure
from store.core.unit_of_work import Store
from store.documents import anchors as held
from store.documents.anchors import Found, Marked
from store.documents.documents import get_versions
from store.models import DocumentVersion
from workers.anchor.signals import AT_LEAST, KINDS, too_few
from workers.anchor.stage import find

anchors_app = typer.Typer(
    help="The sentences worth quoting, and the effects stated in numbers.", no_args_is_help=True
)

BATCH = 64
"""Number of versions that are processed in one transaction."""


@dataclass
class Report:
    """Counts of what was found. `few`: the documents with fewer than three anchors, and why."""

    documents: int = 0
    anchors: int = 0
    estimates: int = 0
    batches: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    few: list[dict[str, Any]] = field(default_factory=list)

    @property
    def body(self) -> dict[str, Any]:
        """The report for programs."""
        return {
            "documents": self.documents,
            "anchors": self.anchors,
            "estimates": self.estimates,
            "batches": self.batches,
            "kinds": {kind: self.kinds[kind] for kind in KINDS},
            "fewer_than_three": self.few,
        }

    def add(self, marked: Marked, version: DocumentVersion, found: Found) -> None:
        """Count what was found in one version."""
        self.documents += 1
        self.anchors += len(found.anchors)
        self.estimates += len(found.estimates)
        self.kinds.update(kind for anchor in found.anchors for kind in anchor["kinds"])
        structure = Structure.model_validate(version.structure)
        why = too_few(version.text, structure, len(found.anchors))
        if why is not None:
            self.few.append(
                {
                    "document_id": str(marked.document_id),
                    "source_key": marked.source_key,
                    "anchors": len(found.anchors),
                    "why": why,
                }
            )


def generate_anchors(
    store: Store, *, everything: bool, advance: Callable[[int, int], None]
) -> Report:
    """Find the anchors and estimates of current versions and store them, batch by batch.

    Each batch is one transaction with one audit event: an interruption loses no finished batch.

    Args:
        everything: also process versions that have their anchors.
        advance: called with the number of finished versions and their total.
    """
    run_id, report, last = uuid4(), Report(), None
    with store.reading() as session:
        total = held.count(session, lacking=not everything)
    while True:
        with store.reading() as session:
            batch = held.after(session, last, BATCH, lacking=not everything)
            versions = get_versions(session, [entry.version_id for entry in batch])
        if not batch:
            return report
        found = {version.id: find(version) for version in versions}
        with store.unit_of_work("cli", request_id=run_id) as work:
            held.replace(work, found)
            _record(work.record, str(run_id), list(found.values()))
        for marked, version in zip(batch, versions, strict=True):
            report.add(marked, version, found[version.id])
        report.batches += 1
        last = batch[-1].version_id
        advance(report.documents, max(total, report.documents))


def _record(record: Callable[..., None], subject: str, found: Sequence[Found]) -> None:
    record(
        "versions.anchored",
        subject,
        versions=len(found),
        anchors=sum(len(result.anchors) for result in found),
        estimates=sum(len(result.estimates) for result in found),
    )


@anchors_app.command()
def generate(
    ctx: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="also documents that have their anchors")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Find the anchors and effect estimates of all current documents that lack them."""
    store = Instance.of(ctx).store
    with terminal_bars() as progress:
        task = progress.add_task("anchors", total=None)
        report = generate_anchors(
            store,
            everything=everything,
            advance=lambda done, total: progress.update(task, completed=done, total=total),
        )
    if as_json:
        print_json(report.body)
        return
    say(
        f"{report.documents:,} documents, {report.anchors:,} anchors, "
        f"{report.estimates:,} effect estimates"
    )
    for kind in KINDS:
        say(f"  {kind.replace('_', ' ')}: {report.kinds[kind]:,}")
    if report.few:
        say(f"fewer than {AT_LEAST} anchors: {len(report.few):,} documents")
    for document in report.few:
        say(f"  {document['source_key']}: {document['anchors']} of {document['why']}")


@anchors_app.command()
def show(
    ctx: typer.Context,
    document: Annotated[str, typer.Argument(help="its id or its source key")],
    as_json: JsonOption = False,
) -> None:
    """Show the anchors and effect estimates of a document's current version."""
    with Instance.of(ctx).store.reading() as session:
        version = held.current_version(session, document)
        anchors = held.anchors_of(session, version.id)
        estimates = held.estimates_of(session, [version.id])[version.id]
    body: dict[str, Any] = {
        "document_id": str(version.document_id),
        "version_id": str(version.id),
        "title": version.title,
        "anchors": [
            {
                "start": row.start,
                "end": row.end,
                "score": row.score,
                "kinds": row.kinds,
                "quote": version.text[row.start : row.end],
            }
            for row in anchors
        ],
        "estimates": [
            {
                "start": row["start"],
                "end": row["end"],
                "measure": row["measure"],
                "value": str(row["value"]),
                "low": None if row["low"] is None else str(row["low"]),
                "high": None if row["high"] is None else str(row["high"]),
                "direction": row["direction"],
                "quote": version.text[row["start"] : row["end"]],
                **row["body"],
            }
            for row in estimates
        ],
    }
    if as_json:
        print_json(body)
        return
    say(version.title)
    for anchor in body["anchors"]:
        kinds = ", ".join(anchor["kinds"]) or "no signal"
        say(f"[{anchor['start']}, {anchor['end']}) {kinds}: {' '.join(anchor['quote'].split())}")
    for row in body["estimates"]:
        say(f"[{row['start']}, {row['end']}) {row['direction']}: {' '.join(row['quote'].split())}")
