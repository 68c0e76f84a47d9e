"""The `attest` command. Exit code 0 only on success; an error is one line that says why."""

import os
import sys
import traceback
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from pydantic import ValidationError
from pydantic_settings import SettingsError
from typer._click.exceptions import ClickException

from cli.argument_order import data_dir_first
from cli.instance.context import Instance, JsonOption, print_json
from cli.instance.failures import about_servers, is_refusal, plain, server_errors
from cli.instance.instance import NotRunning, resolve, with_data_dir
from cli.late_commands import elsewhere, late
from cli.options import (
    AsOfOption,
    DecisionsOption,
    DiseasesOption,
    SinceOption,
    SourceTypesOption,
    UntilOption,
)
from cli.output.printing import Console, guarded_streams, say, say_beside
from cli.usage import tell_wrong_usage
from messages import Stage
from store.core.log_lines import configure_command_logs
from store.core.settings import Settings, get_settings

app = typer.Typer(
    help="Clinical answers from evidence that is held, every word attested.",
    epilog="New here? `attest demo` shows all of it in a minute. To stay: `attest up` in one "
    "terminal, then http://127.0.0.1:8321/ in a browser, or `attest ask QUESTION` in another one. "
    "`attest status` says how everything is, and what to do.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
COMMANDS = {
    "search": (
        "cli.commands.questions.search:search",
        "Show the passages that the retrieve stage would find.",
    ),
    "import": (
        "cli.commands.evidence.imports:import_files",
        "Import bulk files; the same command goes on where an earlier run stopped.",
    ),
    "extract": (
        "cli.commands.clinical.extract:extract",
        "Extract a clinical document: by rules, and with a key by the language model too.",
    ),
    "mcp": (
        "cli.assistant.command:mcp",
        "Give an assistant (Model Context Protocol) tools to ask, verify and read evidence.",
    ),
    "refresh": (
        "cli.commands.evidence.refresh:refresh",
        "Refresh a source now and wait until what it said is stored and indexed.",
    ),
    "recheck": (
        "cli.commands.questions.recheck:recheck",
        "Verify held answers again under the gate of today: a dry run unless --apply is given.",
    ),
    "reread": (
        "cli.commands.evidence.reread:reread",
        "Read what is held by the rules of this release: ended works, editions, callers' versions.",
    ),
    "editions": (
        "cli.commands.evidence.reread:editions",
        "List documents that a newer edition may replace, or say of one whether it does.",
    ),
    "report": (
        "cli.commands.operation.report:report",
        "Write a report of the last days: targets and misses, trends, sources, deaths, costs.",
    ),
    "status": (
        "cli.commands.operation.status:status",
        "Show how every part is and what to do; exit code 1 if anybody has to do anything.",
    ),
    "sources": (
        "cli.commands.evidence.sources:sources",
        "Show each source's age against its SLA, its last success and error, and its next run.",
    ),
    "findings": (
        "cli.commands.evidence.sources:findings",
        "List what does not hold about records, newest first.",
    ),
    "erase": (
        "cli.commands.operation.erase:erase",
        "Erase every copy of the words of a question, note, verification or extraction.",
    ),
    "backup": (
        "cli.commands.operation.backup:backup",
        "Write all of the database to FILE, as of one moment, while everything runs.",
    ),
    "restore": (
        "cli.commands.operation.backup:restore",
        "Make a data directory of a backup; it must be empty.",
    ),
}
"""Commands of other modules: the address of each, and its line of help."""
GROUPS = {
    "dead-letters": (
        "cli.commands.operation.dead_letters:dead_letters_app",
        "What died, why, and the way back.",
    ),
    "stages": (
        "cli.commands.operation.stages:stages_app",
        "Which stages work; stop and start one.",
    ),
    "queues": ("cli.commands.operation.stages:queues_app", "The queues in Redis."),
    "audit": ("cli.commands.audit.commands:audit_app", "The tamper-evident log."),
    "recalls": ("cli.commands.questions.recalls:recalls_app", "Answers whose sources changed."),
    "partitions": (
        "cli.commands.evidence.partitions:partitions_app",
        "The servers that hold parts of the index.",
    ),
    "reviews": (
        "cli.commands.clinical.reviews:reviews_app",
        "Extractions that a person should look at.",
    ),
    "keys": ("cli.commands.operation.keys:keys_app", "Keys of the HTTP interface."),
    "watches": (
        "cli.commands.evidence.sources:watches_app",
        "Which queries are followed at which source.",
    ),
    "packs": (
        "cli.commands.evidence.packs:packs_app",
        "The works that matter for a decision: which are held, and fetching them.",
    ),
    "evaluate": ("cli.evaluate.commands:evaluate_app", "Measure on data in standard layouts."),
    "anchors": (
        "cli.commands.evidence.anchors:anchors_app",
        "The sentences worth quoting, and the effects stated in numbers.",
    ),
}
"""Groups of commands of other modules, in the same form."""

PANELS = {
    "Begin": ("up", "demo", "status"),
    "Ask and check": ("ask", "verify", "summarize", "extract", "search", "mcp"),
    "Evidence": (
        *("ingest", "import", "refresh", "watches", "packs", "sources", "findings"),
        *("editions", "reread", "anchors"),
    ),
    "Operate": (
        *("dead-letters", "stages", "recalls", "recheck", "reviews", "report", "keys", "audit"),
        *("erase", "backup", "restore", "migrate", "queues", "partitions"),
    ),
    "Processes of a fleet": ("worker", "scheduler", "gateway"),
    "Measure": ("evaluate",),
}
"""The commands as `attest --help` shows them, by what somebody wants to do."""
_PANEL = {name: panel for panel, names in PANELS.items() for name in names}

DataDirOption = Annotated[
    Path | None, typer.Option("--data-dir", help="where the embedded servers keep their data")
]


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"attest {version('attest')}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="show it and end")
]


@app.callback()
def _common(
    ctx: typer.Context, data_dir: DataDirOption = None, _version: VersionOption = False
) -> None:
    ctx.obj = Instance(with_data_dir(get_settings(), data_dir), data_dir is not None)
    ctx.call_on_close(ctx.obj.close)


def _settings(ctx: typer.Context, **changes: Any) -> Settings:
    overrides = {key: value for key, value in changes.items() if value is not None}
    return Instance.of(ctx).settings.model_copy(update=overrides)


@app.command(rich_help_panel=_PANEL["up"])
def up(
    ctx: typer.Context,
    data_dir: DataDirOption = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="of the gateway")] = None,
    host: Annotated[str | None, typer.Option(help="of the gateway")] = None,
    verbose: Annotated[bool, typer.Option(help="print the processes' logs here")] = False,
) -> None:
    """Run PostgreSQL, Redis, workers, scheduler and gateway until Ctrl-C."""
    from cli.commands.up import run, who_may_ask
    from cli.instance.environment_check import unknown_variables, usable
    from cli.output.progress import Teller

    settings = usable(_settings(ctx, data_dir=data_dir, port=port, host=host))
    tell = Teller(settings)
    for name in unknown_variables(os.environ):
        tell.say(f"{name} is no setting of this release and does nothing.")
    for line in who_may_ask(settings):
        tell.say(line)
    log_dir = None if verbose else settings.data_dir / "log"
    raise typer.Exit(run(settings, on_event=tell, log_dir=log_dir))


@app.command(rich_help_panel=_PANEL["demo"])
def demo(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Start a private instance, ingest the sample corpus and ask four questions."""
    from cli.commands.demo import run_demo

    raise typer.Exit(run_demo(_settings(ctx), as_json=as_json))


@app.command(rich_help_panel=_PANEL["ask"])
def ask(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="the question")],
    as_json: JsonOption = False,
    as_of: AsOfOption = None,
    source_type: SourceTypesOption = None,
    disease: DiseasesOption = None,
    decision: DecisionsOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    max_references: Annotated[int | None, typer.Option(min=1, max=10)] = None,
) -> None:
    """Ask a question and wait for the answer."""
    from cli.client.waiting import on_stderr
    from cli.commands.questions.ask import ask as submit_and_wait
    from cli.commands.questions.ask import asked
    from cli.output.answers import render

    submitted = asked(
        text,
        as_of=as_of,
        source_types=source_type,
        diseases=disease,
        decisions=decision,
        published_from=since,
        published_to=until,
        max_references=max_references,
    )
    body = {"question": submitted.question, **submitted.options()}
    question = submit_and_wait(Instance.of(ctx).url, body, say=on_stderr)
    if as_json:
        print_json(question)
    else:
        render(Console(), question)
    if question["status"] != "answered":
        raise typer.Exit(1)


@app.command(rich_help_panel=_PANEL["verify"])
def verify(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="a text with claims, in any format that is read")],
    corpus: Annotated[
        Path | None,
        typer.Option(help="compare with this file or folder, not with what a running Attest holds"),
    ] = None,
    strict: Annotated[bool, typer.Option(help="exit with 1 if anything does not hold")] = False,
    as_json: JsonOption = False,
) -> None:
    """Check the claims, quotations and identifiers of a text."""
    from cli.client.gateway import GatewayRefused
    from cli.client.waiting import on_stderr, result_of_text
    from cli.commands.questions.verify import documents_in, holds, render, text_of, verify_here

    text, instance = text_of(file), Instance.of(ctx)
    try:
        if corpus is not None:
            result = verify_here(text, documents_in(corpus))
        else:
            result = result_of_text(instance.url, "verification", text, on_stderr)
    except GatewayRefused as error:
        raise error.about(file.name) from error
    if as_json:
        print_json(result)
    else:
        render(Console(), result)
    if strict and not holds(result):
        raise typer.Exit(1)


@app.command(rich_help_panel=_PANEL["summarize"])
def summarize(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="a clinical note, in any format that is read")],
    here: Annotated[
        bool, typer.Option("--here", help="by rules in this process, whatever runs")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Summarize a clinical note: seven lists and a plan, each line with its place in the note.

    A running instance does it, with a language model where it has one; where none runs, this
    process does, by rules.
    """
    from cli.client.gateway import GatewayRefused, NoGateway
    from cli.client.waiting import on_stderr, result_of_text
    from cli.commands.clinical.summarize import note_in, render, summarize_here

    text = note_in(file)
    try:
        url = None if here else Instance.of(ctx).url_if_any
        result = result_of_text(url, "note", text, on_stderr) if url else summarize_here(text)
    except NoGateway as error:
        raise RuntimeError(f"{error} (or add --here)") from error
    except GatewayRefused as error:
        raise error.about(file.name) from error
    if as_json:
        print_json(result)
    else:
        render(Console(), result)


@app.command(rich_help_panel=_PANEL["ingest"])
def ingest(
    ctx: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="files and folders")],
    source_type: Annotated[
        str | None, typer.Option(help="for files that name none themselves, such as guideline")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ingest files and folders: text, Markdown, HTML, PDF, JSON and JSON Lines records."""
    from cli.client.waiting import on_stderr
    from cli.commands.evidence.ingest import (
        about_the_claims,
        about_the_dead,
        check_source_type,
        follow,
        in_words,
        submit,
    )

    check_source_type(source_type)
    store = Instance.of(ctx).store
    try:
        batch_id, items = submit(store, paths, source_type)
        report = follow(store, batch_id, items)
    except KeyboardInterrupt:
        on_stderr("what was sent until now goes on; sent again, it changes nothing")
        raise
    if as_json:
        print_json(report)
    else:
        say(in_words(report))
    if report["claims"]:
        on_stderr(about_the_claims(report))
    for failure in report["failed"]:
        text = f"{failure['file']}: {failure['error']}"
        say_beside(text, style="red")
    if report["dead"]:
        on_stderr(about_the_dead(report))
    if report["failed"] or report["dead"]:
        raise typer.Exit(1)


for _name, (_where, _help) in COMMANDS.items():
    app.command(_name, help=_help, cls=late(_where), rich_help_panel=_PANEL[_name])(elsewhere)


@app.command(rich_help_panel=_PANEL["migrate"])
def migrate(ctx: typer.Context) -> None:
    """Bring the database schema up to date."""
    from cli.commands.operation.migrate import bring_up_to_date

    bring_up_to_date(resolve(Instance.of(ctx).settings).database_url)


@app.command(rich_help_panel=_PANEL["worker"])
def worker(
    ctx: typer.Context,
    stage: Annotated[list[Stage] | None, typer.Option(help="only these; all if left out")] = None,
    threads: Annotated[int, typer.Option(min=1, max=64)] = 4,
) -> None:
    """Run a worker process."""
    # As `attest up` and the image have it; read when numpy is imported. What a question multiplies
    # is small, and threads that wait for each other cost more than they do.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from cli.instance.environment_check import usable
    from workers.main import run_worker

    run_worker(resolve(usable(Instance.of(ctx).settings)), stage or list(Stage), threads)


@app.command(rich_help_panel=_PANEL["scheduler"])
def scheduler(ctx: typer.Context) -> None:
    """Run the scheduler: relay, reconciler, index upkeep."""
    from cli.instance.environment_check import usable
    from scheduler.main import run_scheduler

    run_scheduler(resolve(usable(Instance.of(ctx).settings)))


@app.command(rich_help_panel=_PANEL["gateway"])
def gateway(
    ctx: typer.Context,
    host: Annotated[str | None, typer.Option()] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535)] = None,
) -> None:
    """Run the HTTP gateway."""
    from api_gateway.main import run_gateway
    from cli.instance.environment_check import usable

    settings = resolve(usable(Instance.of(ctx).settings))
    changes = {"host": host or settings.host, "port": port or settings.port}
    run_gateway(settings.model_copy(update=changes))


for _name, (_where, _help) in GROUPS.items():
    app.command(_name, help=_help, cls=late(_where), rich_help_panel=_PANEL[_name])(elsewhere)


_WRITTEN_BY_OTHERS = 0o022
"""No other user may write the files that this creates, whatever the umask of the shell: weights are
executed, and logs are trusted. Read access is set where a file is created."""


def main() -> None:
    """Run the command; an error that the user can fix is one line on stderr, exit code 1."""
    os.umask(os.umask(0) | _WRITTEN_BY_OTHERS)
    with guarded_streams():
        configure_command_logs()
        try:
            _run()
        except Exception:  # noqa: BLE001  as the interpreter would, within the guard
            traceback.print_exc()
            sys.exit(1)


def _run() -> None:
    try:
        sys.exit(app(args=data_dir_first(sys.argv[1:]), standalone_mode=False) or 0)
    except ClickException as error:
        sys.exit(tell_wrong_usage(error))
    except typer.Abort:
        _fail("aborted")
    except (SettingsError, ValidationError) as error:
        from cli.instance.settings_errors import wrong_settings

        _fail(wrong_settings() or str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except (OSError, LookupError, ValueError, RuntimeError) as error:
        _fail(plain(error))
    except SystemExit:
        raise  # before the next line, whose evaluation imports the clients
    except server_errors() as error:
        if not is_refusal(error):
            raise
        _fail(about_servers(error))


def _fail(text: str) -> NoReturn:
    say_beside(f"attest: {text}", style="red")
    sys.exit(1)


__all__ = ["NotRunning", "app", "main"]

if __name__ == "__main__":
    main()
