"""`attest recheck`: held answers go through the gate of today."""

import time
from typing import Annotated, Any
from uuid import UUID, uuid4

import typer
from rich.table import Column, Table

from cli.client.waiting import on_stderr
from cli.commands.audit.walk import complain
from cli.instance.context import Instance, JsonOption, print_json
from cli.output.bars import terminal_bars
from cli.output.printing import say
from cli.output.tables import table_console
from messages import Stage
from store.core.plurals import counted
from store.core.unit_of_work import Store
from store.models import RecheckAnswer
from store.pipeline import circuits
from store.recalls import rechecks
from store.recalls.rechecks import Progress

POLL_SECONDS = 0.2
SHOWN = 100
"""Answers in the table; `--json` has all."""


def recheck(
    ctx: typer.Context,
    apply: Annotated[
        bool, typer.Option("--apply/--dry-run", help="recall what no longer stands, or only tell")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="also answers that the gate of today let through")
    ] = False,
    ask: Annotated[
        bool,
        typer.Option("--ask", help="put what the record does not answer to the language model"),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Verify held answers again under the gate of today: a dry run unless --apply is given."""
    store = Instance.of(ctx).store
    with store.unit_of_work("cli", request_id=uuid4()) as work:
        run = rechecks.start(work, dry_run=not apply, everything=everything, ask=ask)
    _tell_if_paused(store)
    try:
        found = _follow(store, run.id)
    except KeyboardInterrupt:
        on_stderr("it goes on; the same command follows it again")
        raise
    with store.reading() as session:
        answers = rechecks.whole(session, run.id)
    if as_json:
        print_json({**_body(found), "changes": [_change(one) for one in answers]})
    else:
        _show(found, answers)
    if found.run.status == "failed":
        raise typer.Exit(complain(f"it ended early: {found.run.error}; start it again"))


def _tell_if_paused(store: Store) -> None:
    with store.reading() as session:
        states = {one.stage: one.state for one in circuits.states(session)}
    if states[Stage.RECHECK.value] != "closed":
        on_stderr("the stage recheck does not work now: `attest stages list` says why")


def _follow(store: Store, recheck_id: UUID) -> Progress:
    """Wait for the end of the run with a progress bar."""
    with terminal_bars() as bars:
        task = bars.add_task("answers", total=None)
        while True:
            with store.reading() as session:
                run = rechecks.get(session, recheck_id)
                if run is None:
                    raise LookupError(f"the run {recheck_id} is gone")
                found = rechecks.progress(session, run)
            bars.update(task, completed=found.done, total=run.answers)
            if run.status != "running":
                return found
            time.sleep(POLL_SECONDS)


def _body(found: Progress) -> dict[str, Any]:
    return {
        **found.run.model_dump(mode="json", exclude={"request_id"}),
        "looked_at": found.done,
        **found.outcomes,
        "claims": found.claims,
        "checks": dict(found.checks),
    }


def _change(one: RecheckAnswer) -> dict[str, Any]:
    kept = {"question_id", "outcome", "gate_before", "findings"}
    return one.model_dump(mode="json", include=kept)


def _show(found: Progress, answers: list[RecheckAnswer]) -> None:
    if answers:
        rest = ("claim", "was", "becomes", "by")
        table = Table(Column("question", no_wrap=True), *rest)
        for answer in answers[:SHOWN]:
            for one in answer.findings:
                cells = (one["claim_id"], one["before"], one["after"], ", ".join(one["checks"]))
                table.add_row(str(answer.question_id), *(str(cell or "") for cell in cells))
        table_console().print(table)
    if len(answers) > SHOWN:
        on_stderr(f"{len(answers) - SHOWN} more answers: --json has all")
    outcomes, dry = found.outcomes, found.run.dry_run
    say(f"{counted(found.done, 'answer')} verified again: {outcomes['stands']} stand")
    say(f"{outcomes['falls']} {'would be' if dry else 'are'} recalled{_by(found)}")
    if outcomes["needs_judge"]:
        hint = "no language model settled it" if found.run.ask else "--ask puts it to the model"
        say(f"{outcomes['needs_judge']} stay: the record does not say what the gate asks; {hint}")
    if outcomes["unreadable"]:
        say(f"{outcomes['unreadable']} are in a form that this release does not read; they stay")


def _by(found: Progress) -> str:
    """The claims that change, by check."""
    told = ", ".join(f"{check} {claims}" for check, claims in found.checks.items())
    return f"; claims by check: {told}" if told else ""
