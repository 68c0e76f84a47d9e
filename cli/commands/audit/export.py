"""`attest audit export`, `verify-export`, `public-key`: the audit trail for an external auditor."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic_core import to_jsonable_python

from cli.commands.audit.walk import (
    AfterOption,
    UntilSeqOption,
    bar,
    checkpoint,
    complain,
    walking,
)
from cli.instance.context import Instance, JsonOption, print_json
from cli.output.printing import say
from store.audit.ed25519 import public_key
from store.audit.export import read_manifest, verify_export, write_export
from store.audit.keys import existing_key, parse, signing_key
from store.core.atomic_files import appearing_file
from store.core.plurals import counted

FileArgument = Annotated[Path, typer.Argument(help="JSON Lines; the manifest stands beside it")]


def manifest_of(file: Path) -> Path:
    """Return the path of an export's manifest."""
    return file.with_name(f"{file.name}.manifest.json")


def _key(ctx: typer.Context) -> bytes:
    settings = Instance.of(ctx).settings
    return signing_key(settings.data_dir, settings.audit_key, _say_made)


def _say_made(path: Path) -> None:
    complain(f"made {path}, which signs exports from now on: keep a copy elsewhere", style=None)


def export(
    ctx: typer.Context,
    file: FileArgument,
    after: AfterOption = None,
    until: UntilSeqOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the events to FILE and a signed manifest beside it; a broken chain is not signed.

    Both are for their owner only: who asked for what is nobody else's to read.
    The key is audit.key in the data directory, or 64 hex digits in ATTEST_AUDIT_KEY.
    """
    for path in (file, manifest_of(file)):
        if path.exists():
            raise FileExistsError(f"{path} is there already: name another file")
    begin, store, key = checkpoint(after), Instance.of(ctx).store, _key(ctx)
    with (
        appearing_file(file) as out,
        store.reading() as session,
        walking(session, begin, until) as tell,
    ):
        manifest = write_export(
            session, out, key, datetime.now(UTC), after=begin, until=until, progress=tell
        )
    with appearing_file(manifest_of(file)) as out:
        out.write(manifest.model_dump_json(indent=1).encode() + b"\n")
    if as_json:
        print_json(manifest.model_dump(mode="json"))
    else:
        say(f"{counted(manifest.count, 'event')} in {file}, signed by {manifest.public_key}")


def verify_exported(
    file: FileArgument,
    key: Annotated[
        str | None, typer.Option("--key", help="the public key that must have signed, in hex")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check an export against its manifest; needs no database and no instance."""
    for path in (file, manifest_of(file)):
        if not path.is_file():
            raise FileNotFoundError(f"there is no {path}")
    trusted = parse(key, "--key") if key is not None else None
    manifest = read_manifest(manifest_of(file).read_bytes(), trusted=trusted)
    with file.open("rb") as lines, bar("verify", manifest.count) as move:
        report = verify_export(lines, manifest, progress=move)
    if as_json:
        print_json(to_jsonable_python(report))
    elif report.whole:
        whose = "the key given" if trusted else "whoever holds that key: compare it, or use --key"
        say(f"whole: {counted(report.events, 'event')}, signed by {report.public_key} ({whose})")
    if not report.whole:
        raise typer.Exit(complain(f"the export is broken: {report.reason}"))


def show_public_key(ctx: typer.Context) -> None:
    """Print the public key of exports; give it to auditors by another way than the exports.

    No key is made: the first export does that.
    """
    settings = Instance.of(ctx).settings
    say(public_key(existing_key(settings.data_dir, settings.audit_key)).hex())
