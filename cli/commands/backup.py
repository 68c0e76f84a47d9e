"""`attest backup` and `attest restore`."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeElapsedColumn

from cli.instance.context import Instance, JsonOption, print_json
from cli.instance.instance import resolve, with_data_dir
from cli.output.bars import terminal_bars
from cli.output.printing import say, say_beside
from cli.output.tables import counted
from store.operations import backup as store_backup

FileArgument = Annotated[Path, typer.Argument(help="one file; it holds words of patients")]


def backup(ctx: typer.Context, file: FileArgument, as_json: JsonOption = False) -> None:
    """Write all of the database to FILE, as of one moment, while everything runs.

    Redis is not needed, and audit.key, which signs exports, is not in it: keep that elsewhere.
    """
    url = resolve(Instance.of(ctx).settings).database_url
    if not file.parent.is_dir():
        raise ValueError(f"{file.parent} is no folder: make it, or name another one")
    with _ending(), _named(file), _telling() as tell:
        made = store_backup.make(url, file, tell)
    if as_json:
        print_json(
            {
                "file": str(file),
                "bytes": made.bytes,
                "sha256": made.sha256,
                **made.header.model_dump(mode="json"),
            }
        )
    else:
        end = made.header.audit
        say(f"{made.bytes} bytes in {file}; the audit chain ends at {end.seq}:{end.hash}")


def restore(
    ctx: typer.Context,
    file: FileArgument,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="the directory to make; empty or new")
    ] = None,
    broken_chain: Annotated[
        bool, typer.Option("--broken-chain", help="also where the audit chain in it is broken")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a data directory of a backup; it must be empty.

    The audit chain is verified, the schema brought up to date, and what was promised and not kept
    goes on once `attest up` runs there. Nobody stays signed in. The keys that hold are listed: one
    that was revoked since the backup holds again.
    """
    settings = with_data_dir(Instance.of(ctx).settings, data_dir)
    if settings.database_url:
        raise ValueError(
            "ATTEST_DATABASE_URL is set, and this makes a data directory of its own: see "
            "docs/operations.md, Backup, for servers of your own"
        )
    with _ending(), _named(settings.data_dir), _telling() as tell:
        done = store_backup.restore(file, settings.data_dir, tell, broken_chain=broken_chain)
    if done.chain_fault:
        said = f"attest: the audit chain is broken: {done.chain_fault}; it was restored as it is"
        say_beside(said, style="red")
    if as_json:
        print_json(
            {
                "data_dir": str(settings.data_dir),
                "events_verified": done.events_verified,
                "chain_fault": done.chain_fault,
                "schema_revision": done.schema_revision,
                "sent_again": done.sent_again,
                "sessions_ended": done.sessions_ended,
                "keys": [_key(one) for one in done.keys],
                "backup": done.header.model_dump(mode="json"),
            }
        )
    else:
        say(
            f"{settings.data_dir} is as it was at {done.header.made_at:%Y-%m-%d %H:%M:%S} UTC; "
            f"{done.events_verified} audit events verified, {done.sent_again} messages go on. "
            "What was erased since then is back: erase it again (docs/operations.md, Erasure)."
        )
        _tell_keys(done.keys)


def _tell_keys(held: tuple[store_backup.HeldKey, ...]) -> None:
    if not held:
        return
    say(
        f"{counted(len(held), 'key')} can be used there. If one was revoked since, it holds again: "
        "`attest audit query --event key.revoked` in the newer database names it, `attest keys "
        "revoke ID` ends it again once `attest up` runs."
    )
    for one in held:
        scopes = ",".join(one.scopes)
        say(f"key {one.id} {one.owner} {scopes} until {one.expires_at:%Y-%m-%d} {one.name}")


def _key(one: store_backup.HeldKey) -> dict[str, Any]:
    fields = one._asdict()
    return {**fields, "id": str(one.id), "expires_at": one.expires_at.isoformat()}


@contextmanager
def _ending() -> Iterator[None]:
    """SIGTERM and SIGHUP end what is done as Ctrl-C does: words of patients that were half written
    go with it. A further one does not disturb that."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    heard = [number for number, how in before.items() if how is not signal.SIG_IGN]  # nohup(1)

    def end(number: int, _frame: object) -> None:
        for one in heard:
            signal.signal(one, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for number in heard:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


@contextmanager
def _named(wanted: Path) -> Iterator[None]:
    """What the system refuses is said of `wanted`, not of what is made beside it for a while."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # ours, in words of its own
            raise
        if error.filename and not Path(error.filename).name.startswith(f".{wanted.name}."):
            raise
        raise OSError(error.errno, error.strerror, str(wanted)) from error


@contextmanager
def _telling() -> Iterator[store_backup.Progress]:
    """A progress bar on stderr for each thing that is done."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with terminal_bars(*columns) as shown:
        tasks = {}

        def tell(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = shown.add_task(what, total=total)
            shown.update(tasks[what], completed=done, total=total)

        yield tell
