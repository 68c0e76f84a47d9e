"""`attest summarize`: a clinical note's summary and plan, for people and programs."""

from pathlib import Path
from typing import Any

from rich.text import Text

from cli.commands.questions.verify import text_of
from cli.evaluate.notes import note_of
from cli.output.printing import Console
from store.core.plurals import counted
from workers.summarize.summary import summarize

_AS_IT_IS = {".txt", ".md", ".text", ""}


def note_in(path: Path) -> str:
    """Return the text of a note: text files unchanged, other formats converted.

    Raises:
        ValueError: it cannot be read, or holds no text or a NUL, which the gateway refuses too.
        VerifyFailed: its format is not supported.
    """
    text = note_of(path) if path.suffix.lower() in _AS_IT_IS else text_of(path)
    if "\x00" in text:
        raise ValueError(f"{path} contains a NUL character; remove it")
    if not text.strip():
        raise ValueError(f"{path} holds no text")
    return text


def summarize_here(text: str) -> dict[str, Any]:
    """Summarize by rules in this process, without a server or a language model."""
    return summarize(text)


def render(console: Console, result: dict[str, Any]) -> None:
    """Print the warnings, the lists that are not empty, then the plan, each line with its
    citation."""
    for entry in result.get("warnings", ()):
        console.print(Text(entry["detail"], style="bold red"))
    for name, items in result["summary"].items():
        if not items:
            continue
        console.print()
        console.print(Text(name.replace("_", " ").capitalize(), style="bold underline"))
        for entry in items:
            _line(console, " • ", entry["text"], entry["source"])
    if result["plan"]["recommendations"]:
        console.print()
        console.print(Text("Plan", style="bold underline"))
    for entry in result["plan"]["recommendations"]:
        _line(console, f" {entry['number']}. ", entry["recommendation"], entry["source"])
        if entry["hallucination_guard_note"]:
            note = f"    {entry['confidence']:.2f}: {entry['hallucination_guard_note']}"
            console.print(Text(note, style="yellow"))
    if result["uncovered"]:
        console.print()
        console.print(Text("Not in the plan or the problems", style="bold underline"))
    for one in result["uncovered"]:
        _line(console, " - ", f"{one['act']}: {one['text']}", one["source"])
    counts, made = result["validation"], result["provenance"]
    console.print()
    console.print(
        Text(
            f"{counted(counts['items'], 'item')} and "
            f"{counted(counts['recommendations'], 'recommendation')}, "
            f"{counts['unsupported']} not in their span · {made['generator']}",
            style="dim",
        )
    )


def _line(console: Console, mark: str, words: str, source: str) -> None:
    console.print(Text.assemble(mark, " ".join(words.split()), ("  " + source, "dim")))
