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
from store.core.plurals import counted
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
        result = store_backup.make(url, file, tell)
    if as_json:
        print_json(
            {
                "file": str(file),
                "bytes": result.bytes,
                "sha256": result.sha256,
                **result.header.model_dump(mode="json"),
            }
        )
    else:
        end = result.header.audit
        say(f"{result.bytes} bytes in {file}; the audit chain ends at {end.seq}:{end.hash}")


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
        text = f"attest: the audit chain is broken: {done.chain_fault}; it was restored as it is"
        say_beside(text, style="red")
    if as_json:
        print_json(
            {
                "data_dir": str(settings.data_dir),
                "events_verified": done.events_verified,
                "chain_fault": done.chain_fault,
                "schema_revision": done.schema_revision,
                "sent_again": done.sent_again,
                "sessions_ended": done.sessions_ended,
                "keys": [_key(key) for key in done.keys],
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
    for key in held:
        scopes = ",".join(key.scopes)
        say(f"key {key.id} {key.owner} {scopes} until {key.expires_at:%Y-%m-%d} {key.name}")


def _key(one: store_backup.HeldKey) -> dict[str, Any]:
    fields = one._asdict()
    return {**fields, "id": str(one.id), "expires_at": one.expires_at.isoformat()}


@contextmanager
def _ending() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block as Ctrl-C does, so that half-written words of patients
    are removed. Further signals do not disturb that."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    handled = [number for number, old in before.items() if old is not signal.SIG_IGN]  # nohup(1)

    def end(number: int, _frame: object) -> None:
        for other_number in handled:
            signal.signal(other_number, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for number in handled:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])


@contextmanager
def _named(wanted: Path) -> Iterator[None]:
    """Report system errors for `wanted`, not for the temporary file beside it."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # raised by our code, with its own text
            raise
        if error.filename and not Path(error.filename).name.startswith(f".{wanted.name}."):
            raise
        raise OSError(error.errno, error.strerror, str(wanted)) from error


@contextmanager
def _telling() -> Iterator[store_backup.Progress]:
    """Show a progress bar on stderr for each step."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with terminal_bars(*columns) as progress:
        tasks = {}

        def tell(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=total)
            progress.update(tasks[what], completed=done, total=total)

        yield tell
