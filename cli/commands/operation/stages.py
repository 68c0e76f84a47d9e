"""`attest stages` and `attest queues`: pauses stages, and rebuilds Redis from PostgreSQL."""

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table

from cli.instance.context import Instance, JsonOption, print_json
from cli.instance.instance import resolve
from cli.output.printing import Console, say
from messages import Stage
from store.pipeline import circuits
from store.pipeline.circuits import StageState

stages_app = typer.Typer(help="Which stages work; stop and start one.", no_args_is_help=True)
queues_app = typer.Typer(no_args_is_help=True)

ACTOR = "cli"
ANSWER_SECONDS = 5.0
"""Timeout for Redis to answer; the broker's own client waits through long outages."""
_STATES = {"closed": "works", "open": "circuit open", "paused": "paused"}
"""Words for a circuit's states; people would take a "closed" stage for one that does not work."""


def _body(one: StageState) -> dict[str, Any]:
    moments = {
        name: value.isoformat() if value else None
        for name, value in (("changed_at", one.changed_at), ("probe_at", one.probe_at))
    }
    return {**asdict(one), **moments}


@stages_app.command("list")
def list_stages(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List the stages: which work, what died and was done lately, what waits."""
    with Instance.of(ctx).store.reading() as session:
        states = circuits.states(session)
    if as_json:
        print_json([_body(state) for state in states])
        return
    table = Table("stage", "state", "died", "done", "waiting", "held", "by", "reason")
    for state in states:
        counts = (str(state.deaths), str(state.done), str(state.waiting), str(state.held))
        by, reason = state.changed_by or "", state.reason or ""
        table.add_row(state.stage, _STATES[state.state], *counts, by, reason)
    Console().print(table)


@stages_app.command("pause")
def pause_stage(
    ctx: typer.Context,
    stage: Stage,
    reason: Annotated[str, typer.Option(help="for who looks later; no patient's data")],
    as_json: JsonOption = False,
) -> None:
    """Stop a stage: its messages wait until it is resumed."""
    if not reason.strip():
        raise ValueError("say why it is paused")
    with Instance.of(ctx).store.unit_of_work(ACTOR) as work:
        changed = circuits.pause(work, stage.value, reason.strip())
    if as_json:
        print_json({"stage": stage.value, "state": "paused", "changed": changed})
    else:
        say(f"{stage.value} is paused" + ("" if changed else " already"))


@stages_app.command("resume")
def resume_stage(ctx: typer.Context, stage: Stage, as_json: JsonOption = False) -> None:
    """Start a stage again, whether an operator or its circuit stopped it."""
    with Instance.of(ctx).store.unit_of_work(ACTOR) as work:
        held = circuits.resume(work, stage.value)
    if as_json:
        print_json({"stage": stage.value, "state": "closed", "changed": held is not None})
    elif held is None:
        say(f"{stage.value} works already")
    else:
        say(f"{stage.value} works again; due now of what waited: {held}")


@queues_app.callback()
def _queues() -> None:
    """The queues in Redis."""  # without a callback an app of one command is that command


@queues_app.command("rebuild")
def rebuild_queues(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Empty all queues in Redis and fill them again from PostgreSQL; workers may run meanwhile."""
    from workers.runtime.broker import WokenBroker  # late: it loads dramatiq
    from workers.runtime.rebuild import rebuild_queues as rebuild
    from workers.runtime.redis_client import redis_client

    instance = Instance.of(ctx)
    settings = resolve(instance.settings)
    with redis_client(settings.redis_url, timeout_seconds=ANSWER_SECONDS, retries=0) as client:
        client.ping()
    broker = WokenBroker(settings, instance.store)
    try:
        report = rebuild(instance.store, broker, ACTOR)
    finally:
        broker.close()
    if as_json:
        print_json(asdict(report))
        return
    say(
        f"{sum(report.removed.values())} messages taken out, {report.sent} sent; "
        f"{report.at_work} are being worked on, {report.not_due} wait for their time, "
        f"{report.held} for a paused stage; {report.dead_copied} dead ones were copied"
    )
