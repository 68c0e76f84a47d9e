"""Which tests show which numbered requirement: docs/requirements.yaml joined with the markers.

`python -m tests.requirements_report --write` writes docs/requirements.md; without `--write` it only
says what is wrong. Test files are parsed, not imported, so nothing has to run.
"""

import argparse
import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "docs" / "requirements.yaml"
REPORT = ROOT / "docs" / "requirements.md"

_TITLES = {
    "MC": "Chat on molecular residual disease",
    "EB": "Evidence engine",
    "SP": "Verified answers",
    "MV": "Evaluator and optimizer",
    "CN": "Clinical notes",
    "DC": "Design card",
    "OP": "Operators",
}


class Requirement(BaseModel):
    """One line of the list: what is asked, in our words, and how far it is met."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^(MC|EB|SP|MV|CN|DC|OP)-[0-9A-Z]+(\.\d+)?[a-z]?$")
    met: Literal["whole", "part"]
    says: str = Field(min_length=10)
    open: str = ""

    @property
    def group(self) -> str:
        """The document that it comes from."""
        return self.id.split("-", 1)[0]


@dataclass(frozen=True)
class Marked:
    """A test that claims to show a requirement, as pytest names it from the project's root."""

    id: str
    test: str


class BadMarker(ValueError):
    """A requirement marker that names no id a program can read."""


def load_requirements(path: Path = LIST) -> list[Requirement]:
    """The list, in its order. Raises pydantic.ValidationError for a line that is not one."""
    lines = yaml.safe_load(path.read_text("utf-8"))
    return TypeAdapter(list[Requirement]).validate_python(lines)


def collect(folder: Path = ROOT / "tests", root: Path = ROOT) -> list[Marked]:
    """Every marker below `folder`, sorted; a marked class or module marks the tests in it.

    Raises:
        BadMarker: an id is not written out as text.
        SyntaxError: a file is not Python.
    """
    found: set[Marked] = set()
    for path in sorted(folder.rglob("test_*.py")):
        name = path.relative_to(root).as_posix()
        tree = ast.parse(path.read_text("utf-8"), filename=name)
        found.update(_in_body(tree, name, _of_assignments(tree, name)))
    return sorted(found, key=lambda marked: (marked.id, marked.test))


def _in_body(
    parent: ast.Module | ast.ClassDef, name: str, outer: frozenset[str]
) -> Iterator[Marked]:
    for node in parent.body:
        if isinstance(node, ast.ClassDef):
            own = outer | _ids(node.decorator_list, name) | _of_assignments(node, name)
            yield from _in_body(node, f"{name}::{node.name}", own)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            ids = _ids(node.decorator_list, name)
            if node.name.startswith("test"):
                for requirement in outer | ids:
                    yield Marked(requirement, f"{name}::{node.name}")
            elif ids:
                raise BadMarker(f"{name}::{node.name} is marked but is no test")


def _of_assignments(parent: ast.Module | ast.ClassDef, name: str) -> frozenset[str]:
    """Ids that `pytestmark = ...` gives to everything in this body."""
    values = [
        node.value
        for node in parent.body
        if isinstance(node, ast.Assign)
        and any(
            isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets
        )
    ]
    return _ids(values, name)


def _ids(expressions: Sequence[ast.expr], name: str) -> frozenset[str]:
    """Ids of all `....requirement("ID")` calls in the expressions, also inside parameter lists."""
    ids = set()
    for node in (node for expression in expressions for node in ast.walk(expression)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr != "requirement":
            continue
        if node.keywords or not node.args:
            raise BadMarker(
                f"{name}:{node.lineno}: a requirement marker takes ids and nothing else"
            )
        for argument in node.args:
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                raise BadMarker(f"{name}:{argument.lineno}: write the id out as text")
            ids.add(argument.value)
    return frozenset(ids)


def problems(requirements: Sequence[Requirement], marked: Sequence[Marked]) -> list[str]:
    """What does not fit together, one line each; empty if all is well."""
    listed = [one.id for one in requirements]
    shown = {one.id for one in marked}
    lines = [
        f"{one} stands twice in {LIST.name}" for one in sorted(set(listed)) if listed.count(one) > 1
    ]
    lines += [
        f"{one} has no test: mark one, or take it off {LIST.name}"
        for one in listed
        if one not in shown
    ]
    lines += [
        f"{one.test} shows {one.id}, which is not in {LIST.name}: add it, or unmark the test"
        for one in marked
        if one.id not in listed
    ]
    for one in requirements:
        if (one.met == "part") != bool(one.open):
            lines.append(
                f"{one.id}: what is met in part says what is open, what is met whole does not"
            )
    return lines


def render(requirements: Sequence[Requirement], marked: Sequence[Marked]) -> str:
    """docs/requirements.md."""
    tests: Mapping[str, list[str]] = defaultdict(list)
    for one in marked:
        tests[one.id].append(one.test)
    whole = sum(one.met == "whole" for one in requirements)
    parts = [
        "# Requirements and the tests that show them",
        "Made by `make requirements` from `docs/requirements.yaml` and the "
        '`@pytest.mark.requirement("ID")` markers in `tests/`. Do not edit.',
        f"{len(requirements)} requirements are answered for: {whole} whole, "
        f"{len(requirements) - whole} in part. What is not listed is not built yet.",
    ]
    for group, title in _TITLES.items():
        members = [one for one in requirements if one.group == group]
        if members:
            parts.append(f"## {group}: {title}")
            parts += [_section(one, tests[one.id]) for one in members]
    return "\n\n".join(parts) + "\n"


def _section(one: Requirement, tests: Sequence[str]) -> str:
    met = "met" if one.met == "whole" else f"met in part; open: {one.open}"
    lines = [f"**{one.id}** {one.says}", f"*{met}*", "\n".join(f"- `{test}`" for test in tests)]
    return "\n\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, and write with `--write`; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.requirements_report", description=__doc__
    )
    parser.add_argument("--write", action="store_true", help=f"write {REPORT.name}")
    wanted = parser.parse_args(arguments)
    requirements, marked = load_requirements(), collect()
    report = render(requirements, marked)
    wrong = problems(requirements, marked)
    if wanted.write:
        REPORT.write_text(report, "utf-8")
    elif not REPORT.exists() or REPORT.read_text("utf-8") != report:
        wrong.append(f"{REPORT.name} is stale: run `make requirements`")
    for line in wrong:
        sys.stderr.write(f"{line}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
