"""`attest evaluate …`: each command prints one JSON object on its last line."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cli.instance.context import Instance, JsonOption, print_json
from cli.output.bars import terminal_bars
from cli.output.printing import say_lines

evaluate_app = typer.Typer(help="Measure on data in standard layouts.", no_args_is_help=True)

Advance = Callable[[str, int, int], None]
Folder = Annotated[Path, typer.Argument(help="the folder with the data")]


@contextmanager
def _bars(*names: str) -> Iterator[Advance]:
    """Bars of progress; what is yielded takes a name, how much is done, and of how much."""
    with terminal_bars() as progress:
        tasks = {name: progress.add_task(name, total=None) for name in names}

        def advance(name: str, done: int, total: int) -> None:
            progress.update(tasks[name], completed=done, total=total)

        yield advance


@evaluate_app.command()
def retrieval(ctx: typer.Context, directory: Folder) -> None:
    """BEIR layout: nDCG, recall and MRR through the product's own ingest, index and search."""
    from cli.evaluate.retrieval import evaluate_retrieval

    with _bars("ingest", "search") as advance:
        report = evaluate_retrieval(directory, Instance.of(ctx).settings, advance)
    print_json(report)


@evaluate_app.command()
def quotes(directory: Folder) -> None:
    """Quotations against their sources: what is accepted, what is refused, how fast."""
    from cli.evaluate.quotes import evaluate_quotes

    with _bars("check") as advance:
        report = evaluate_quotes(directory, partial(advance, "check"))
    print_json(report)


@evaluate_app.command()
def extraction(
    directory: Folder,
    wrong: Annotated[
        bool, typer.Option(help="name the documents that are wrong, with their fields")
    ] = True,
) -> None:
    """Fields of clinical documents, by rules, against the gold beside them.

    The names of files may be those of patients: --no-wrong keeps them off a terminal and a log.
    """
    from cli.evaluate.extraction import evaluate_extraction

    with _bars("extract") as advance:
        report = evaluate_extraction(directory, partial(advance, "extract"))
    if not wrong:
        del report["wrong"]
    print_json(report)


@evaluate_app.command()
def written(
    directory: Folder,
    judge: Annotated[
        str, typer.Option(help="none, labels, recorded, agreeing or erring: who judges")
    ] = "none",
) -> None:
    """Claims in people's own words: does the truth come through, and does what is false fall?"""
    from cli.evaluate.written import evaluate_written

    with _bars("written") as advance:
        report = evaluate_written(directory, judge, partial(advance, "written"))
    print_json(report)


@evaluate_app.command()
def regression(
    ctx: typer.Context,
    corpus: Annotated[
        Path | None, typer.Option(help="a folder of *.jsonl with records; the samples if left out")
    ] = None,
    more: Annotated[
        list[Path] | None,
        typer.Option("--with", help="count the anchors of these documents too; repeat it for more"),
    ] = None,
) -> None:
    """The thirty questions of the remediation plan through every stage; names those that fail.

    Ends with exit code 1 if one does, or a target is missed; that of anchors counts only --with.
    """
    from cli.commands.demo import SAMPLES
    from cli.evaluate.regression import evaluate_regression

    with _bars("ingest", "ask", "more") as advance:
        settings = Instance.of(ctx).settings
        report = evaluate_regression(corpus or SAMPLES, settings, advance, more or ())
    print_json(report)
    if not report["passed"]:
        raise typer.Exit(1)


@evaluate_app.command()
def questions(
    file: Annotated[Path, typer.Argument(help="JSONL with questions and what they ask")],
) -> None:
    """Questions as users type them: is it read what they are about, and what restricts them?"""
    from cli.evaluate.questions import evaluate_questions
    from workers.retrieve.understanding.asked.read import read_asked

    with _bars("read") as advance:
        report = evaluate_questions(
            file,
            read_asked,
            partial(advance, "read"),
        )
    print_json(report)


@evaluate_app.command()
def notes(directory: Folder) -> None:
    """Clinical notes (*.txt): does every word of a summary stand in the span it cites?"""
    from cli.evaluate.notes import evaluate_notes

    with _bars("summarize") as advance:
        report = evaluate_notes(directory, partial(advance, "summarize"))
    print_json(report)


@evaluate_app.command()
def claims(
    file: Annotated[Path, typer.Argument(help="JSONL with id, claim, evidence and label")],
    curve: Annotated[
        bool, typer.Option("--curve", help="also what other thresholds would give")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Claims against the evidence beside them, judged without a language model.

    The last line is one JSON object; with --json it is the only one, and --curve adds to it.
    """
    from cli.evaluate.claims import evaluate_claims, shown

    with _bars("judge") as advance:
        report, points = evaluate_claims(
            file,
            partial(advance, "judge"),
        )
    if curve and as_json:
        report["curve"] = [asdict(point) for point in points]
    elif curve:
        say_lines(shown(points))
    print_json(report)
