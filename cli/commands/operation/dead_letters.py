"""`attest dead-letters`: list, show, replay, discard.

Exit code 0: everything requested was done, or would be in a dry run. 1: something was refused, or
there was no such dead letter.
"""

import json
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.table import Column, Table

from cli.instance.context import Instance, JsonOption, print_json, zoned
from cli.output.printing import Console, say, say_lines
from cli.output.tables import table_console, tell_more
from messages import Stage
from store.dead_letters import dead_letters, listing, replay
from store.dead_letters.listing import Chosen
from store.dead_letters.replay import Operator, Report
from store.models import DeadLetter

dead_letters_app = typer.Typer(help="What died, why, and the way back.", no_args_is_help=True)

ACTOR = "cli"
STATUSES = ("open", "replayed", "discarded", "all")

StageOption = Annotated[Stage | None, typer.Option(help="only this stage")]
FingerprintOption = Annotated[str | None, typer.Option(help="only this fault")]
ErrorTypeOption = Annotated[str | None, typer.Option(help="only this error, such as Permanent")]
SinceOption = Annotated[datetime | None, typer.Option(help="died then or later")]
UntilOption = Annotated[datetime | None, typer.Option(help="died before")]
StatusOption = Annotated[str, typer.Option(help=", ".join(STATUSES))]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="only say what would be done")]
AllOption = Annotated[bool, typer.Option("--all", help="every open dead letter")]
YesOption = Annotated[bool, typer.Option("--yes", help="do it without being asked again")]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="at most so many that are not refused")
]


def _chosen(
    stage: Stage | None,
    fingerprint: str | None,
    error_type: str | None,
    since: datetime | None,
    until: datetime | None,
    status: str = "open",
) -> Chosen:
    if status not in STATUSES:
        raise typer.BadParameter(f"use one of {', '.join(STATUSES)}", param_hint="--status")
    return Chosen(
        status=None if status == "all" else status,
        stage=stage.value if stage else None,
        fingerprint=fingerprint,
        error_type=error_type,
        since=zoned(since, "--since"),
        until=zoned(until, "--until"),
    )


def _line(letter: DeadLetter) -> dict[str, Any]:
    return letter.model_dump(mode="json", exclude={"payload", "traceback"})


@dead_letters_app.command("list")
def list_dead_letters(
    ctx: typer.Context,
    status: StatusOption = "open",
    stage: StageOption = None,
    fingerprint: FingerprintOption = None,
    error_type: ErrorTypeOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    group: Annotated[bool, typer.Option("--group", help="one line for each fault")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100,
    cursor: Annotated[str | None, typer.Option(help="next_cursor of the page before")] = None,
    as_json: JsonOption = False,
) -> None:
    """List dead letters, newest first, or the faults they died of."""
    chosen = _chosen(stage, fingerprint, error_type, since, until, status)
    with Instance.of(ctx).store.reading() as session:
        if group:
            groups = listing.groups(session, chosen, cursor=cursor, limit=limit)
            _print_groups(groups, as_json)
            return
        page = listing.page(session, chosen, cursor=cursor, limit=limit)
        total = listing.count(session, chosen)
    if as_json:
        print_json([_line(letter) for letter in page.letters])
    else:
        shown = f"{len(page.letters)} of {total} dead letters"
        whole = [Column(name, no_wrap=True) for name in ("id", "fault")]
        died = Column("died (UTC)", no_wrap=True)
        table = Table(*whole, "stage", died, "attempts", "status", "cause", title=shown)
        for letter in page.letters:
            table.add_row(
                *(str(letter.id), letter.fingerprint, letter.stage, _moment(letter.died_at)),
                *(str(letter.attempts), letter.status, letter.cause),
            )
        table_console().print(table)
    tell_more(page.next_cursor)


def _print_groups(page: listing.Groups, as_json: bool) -> None:
    if as_json:
        print_json([_group(group) for group in page.groups])
    else:
        fault, first, last = (
            Column(name, no_wrap=True) for name in ("fault", "first (UTC)", "last (UTC)")
        )
        table = Table(fault, "stage", "error", "open", "all", first, last, "cause")
        for group in page.groups:
            seen = (_moment(group.first_seen), _moment(group.last_seen))
            counts = (str(group.open), str(group.letters))
            table.add_row(
                group.fingerprint, group.stage, group.error_type, *counts, *seen, group.cause
            )
        table_console().print(table)
    tell_more(page.next_cursor)


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def _group(one: listing.Group) -> dict[str, Any]:
    times = {"first_seen": one.first_seen.isoformat(), "last_seen": one.last_seen.isoformat()}
    return {**vars(one), "example": str(one.example), **times}


@dead_letters_app.command("show")
def show_dead_letter(ctx: typer.Context, letter_id: UUID, as_json: JsonOption = False) -> None:
    """Show one dead letter with its payload, cause, traceback and what became of it."""
    with Instance.of(ctx).store.reading() as session:
        letter = session.get(DeadLetter, letter_id)
        if letter is None:
            raise LookupError(f"there is no dead letter {letter_id}")
        end = listing.resolution(session, letter_id)
        body = letter.model_dump(mode="json")
        body["resolution"] = end.model_dump(mode="json") if end is not None else None
    if as_json:
        print_json(body)
        return
    for name in ("id", "status", *(name for name in body if name not in ("id", "status"))):
        value = body[name]
        shown = json.dumps(value) if isinstance(value, dict) else value
        first, *more = str("" if shown is None else shown).split("\n")
        say(f"{name:>16}  {first}".rstrip())
        say_lines(f"{'':>16}  {line}".rstrip() for line in more)


@dead_letters_app.command("replay")
def replay_dead_letters(
    ctx: typer.Context,
    letter_id: Annotated[UUID | None, typer.Argument(help="one; or name a filter")] = None,
    stage: StageOption = None,
    fingerprint: FingerprintOption = None,
    error_type: ErrorTypeOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    everything: AllOption = False,
    per_second: Annotated[
        float | None, typer.Option(min=0.001, help="so many fall due in a second")
    ] = None,
    limit: LimitOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="also what died again of the same cause")
    ] = False,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Set the work of dead letters pending again, with fresh attempts.

    Several are shown first, as a dry run, and replayed after a yes.
    """
    store = Instance.of(ctx).store
    chosen = _chosen(stage, fingerprint, error_type, since, until)
    if letter_id is not None:
        _no_filter(chosen, everything)
        _replay_one(ctx, letter_id, force=force, dry_run=dry_run, as_json=as_json)
        return
    _some_filter(chosen, everything)

    def run(dry: bool) -> Report:
        return replay.replay_matching(
            store,
            Operator(ACTOR),
            chosen,
            dry_run=dry,
            force=force,
            per_second=per_second,
            most=limit,
        )

    report = run(True)
    if not dry_run and report.resolved and _agreed("replay", report, yes=yes):
        report = run(False)
    _print_report("replayed", report, as_json, asked_for=not dry_run)


def _no_filter(chosen: Chosen, everything: bool) -> None:
    if everything or chosen != Chosen():
        raise typer.BadParameter("name one dead letter, or filters, not both")


def _some_filter(chosen: Chosen, everything: bool) -> None:
    if not everything and chosen == Chosen():
        raise typer.BadParameter("name a dead letter, a filter, or --all")


def _replay_one(
    ctx: typer.Context, letter_id: UUID, *, force: bool, dry_run: bool, as_json: bool
) -> None:
    store = Instance.of(ctx).store
    if dry_run:
        with store.reading() as session:
            letter = session.get(DeadLetter, letter_id)
            if letter is None:
                raise LookupError(f"there is no dead letter {letter_id}")
            dead_letters.plan(session, letter, force=force)
    else:
        with store.unit_of_work(ACTOR) as work:
            letter = dead_letters.replay(work, letter_id, force=force)
    if as_json:
        print_json(_line(letter))
    else:
        outcome = "would be replayed" if dry_run else "replayed"
        say(f"{outcome}: {letter.stage} will work on {letter.subject} again")


@dead_letters_app.command("discard")
def discard_dead_letters(
    ctx: typer.Context,
    letter_id: Annotated[UUID | None, typer.Argument(help="one; or name a filter")] = None,
    reason: Annotated[str, typer.Option(help="for who looks later; no patient's data")] = ...,  # type: ignore[assignment]
    stage: StageOption = None,
    fingerprint: FingerprintOption = None,
    error_type: ErrorTypeOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    everything: AllOption = False,
    limit: LimitOption = None,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Give dead letters up: they stay, with the reason; what waited for them stays failed."""
    store = Instance.of(ctx).store
    chosen = _chosen(stage, fingerprint, error_type, since, until)
    if letter_id is not None:
        _no_filter(chosen, everything)
        _discard_one(ctx, letter_id, reason, dry_run=dry_run, as_json=as_json)
        return
    _some_filter(chosen, everything)

    def run(dry: bool) -> Report:
        return replay.discard_matching(
            store, Operator(ACTOR), chosen, reason, dry_run=dry, most=limit
        )

    report = run(True)
    if not dry_run and report.resolved and _agreed("discard", report, yes=yes):
        report = run(False)
    _print_report("discarded", report, as_json, asked_for=not dry_run)


def _discard_one(
    ctx: typer.Context, letter_id: UUID, reason: str, *, dry_run: bool, as_json: bool
) -> None:
    store = Instance.of(ctx).store
    if dry_run:
        with store.reading() as session:
            letter = dead_letters.discardable(session, letter_id)
    else:
        with store.unit_of_work(ACTOR) as work:
            letter = dead_letters.discard(work, letter_id, reason)
    if as_json:
        print_json(_line(letter))
    else:
        say(f"{'would be discarded' if dry_run else 'discarded'}: {letter.id}")


def _agreed(what: str, report: Report, *, yes: bool) -> bool:
    """Return true to go on after the dry run: by `--yes`, or after asking on a terminal."""
    if yes:
        return True
    console = Console(stderr=True)
    console.print(f"{what} {report.resolved} of {report.matched}")
    for reason, count in report.refused.most_common():
        console.print(f"  refused: {count} because {reason}", soft_wrap=True)
    if not console.is_terminal:
        raise ValueError(f"say --yes to {what} them, or --dry-run to look only")
    return typer.confirm("go on?", err=True)


def _print_report(done: str, report: Report, as_json: bool, *, asked_for: bool) -> None:
    refused = [
        {"reason": reason, "count": count, "examples": [str(i) for i in report.examples[reason]]}
        for reason, count in report.refused.most_common()
    ]
    if as_json:
        print_json(
            {
                "dry_run": report.dry_run,
                "matched": report.matched,
                done: report.resolved,
                "upgraded": report.upgraded,
                "refused": refused,
                "last_due_at": report.last_due_at.isoformat() if report.last_due_at else None,
                "more": report.more,
            }
        )
    else:
        would = "would be " if report.dry_run and (report.resolved or not asked_for) else ""
        say(f"{report.resolved} of {report.matched} dead letters {would}{done}")
        for reason, count in report.refused.most_common():
            example = report.examples[reason][0]
            say(f"  refused: {count} because {reason} (such as {example})")
        if report.more:
            again = "" if report.dry_run else ": say it again for the next ones"
            say(f"  there are more{again}")
    if report.refused or (asked_for and report.dry_run and report.resolved):
        raise typer.Exit(1)
