"""Seeded faults in the product, one at a time: which do the tests notice?

    python -m tests.mutants [--count N] [--seed S] [PATH_PREFIX ...]

A fault changes one operator, constant, condition, return value or statement of a module. The tests
that are run for it are the files that reach its module by imports, the nearest first; a fault that
none of them notices is printed with its place. The share that was noticed says what they are worth.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PRODUCT = ("messages", "store", "clinical_text", "workers", "scheduler", "api_gateway", "cli")
TESTS = ("tests/unit", "tests/contract", "tests/integration")
FILES = 12
"""At most so many files of tests for a fault, unit tests first."""
SECONDS = 300
"""A fault that runs for longer than this is one that was noticed: it hangs."""
NO_TESTS = 5
"""pytest's exit status if no test was selected."""

OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
}
Change = Callable[[], None]


@dataclass(frozen=True)
class Mutant:
    """A module with one fault in it, and the files of tests that may notice."""

    path: Path
    number: int
    files: tuple[str, ...]

    def made(self) -> tuple[str, str]:
        """The module's source with the fault, and in words where it is and which."""
        tree = ast.parse((ROOT / self.path).read_text("utf-8"))
        line, what, change = list(changes(tree))[self.number]
        change()
        return ast.unparse(ast.fix_missing_locations(tree)), f"{self.path}:{line}: {what}"


def changes(tree: ast.Module) -> Iterator[tuple[int, str, Change]]:
    """What can be changed in the functions of a module: the line, what is done, what does it."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                yield from _inside(function.body, statement)


def _inside(block: list[ast.stmt], statement: ast.stmt) -> Iterator[tuple[int, str, Change]]:
    if isinstance(statement, ast.FunctionDef):
        return
    if isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign)) and not _is_text(statement):
        place = block.index(statement)
        yield (
            statement.lineno,
            f"without `{ast.unparse(statement)[:60]}`",
            lambda: block.__setitem__(place, ast.Pass()),
        )
    for name, value in ast.iter_fields(statement):
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, ast.stmt):
                yield from _inside(parts, part)
            elif isinstance(part, ast.AST) and name not in {"annotation", "decorator_list"}:
                for node in ast.walk(part):
                    yield from _of_expression(node)
    if isinstance(statement, (ast.If, ast.While)):
        yield _put(statement, "test", ast.UnaryOp(ast.Not(), statement.test), "condition turned")
    elif isinstance(statement, ast.Return) and statement.value is not None:
        yield _put(statement, "value", ast.Constant(None), "None returned")


def _of_expression(node: ast.AST) -> Iterator[tuple[int, str, Change]]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPPOSITES:
        old, new = node.ops[0], OPPOSITES[type(node.ops[0])]()
        yield _put(node, "ops", [new, *node.ops[1:]], f"{_name(new)} for {_name(old)}")
    elif isinstance(node, (ast.BoolOp, ast.BinOp)) and type(node.op) in OPPOSITES:
        other = OPPOSITES[type(node.op)]()
        yield _put(node, "op", other, f"{_name(other)} for {_name(node.op)}")
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield _put(node, "value", value, f"{value} for {node.value}")


def _put(node: ast.AST, name: str, new: object, what: str) -> tuple[int, str, Change]:
    return getattr(node, "lineno", 0), what, lambda: setattr(node, name, new)


def _name(node: ast.AST) -> str:
    return type(node).__name__


def _is_text(statement: ast.stmt) -> bool:
    """A docstring, or `...`."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def tests_of_modules() -> dict[str, list[str]]:
    """Files of tests by the modules that they reach by imports: units and the nearest first."""
    modules = {
        _module(path.relative_to(ROOT)): _imports(path)
        for package in PRODUCT
        for path in (ROOT / package).rglob("*.py")
    }
    found = defaultdict(list)
    for folder in TESTS:
        for file in sorted((ROOT / folder).rglob("test_*.py")):
            reached, far, name = set(), 0, file.relative_to(ROOT).as_posix()
            border = imported = _imports(file) & modules.keys()
            while border:
                for module in border:
                    found[module].append((TESTS.index(folder), far, len(imported), name))
                reached |= border
                further = {one for module in border for one in modules[module]}
                border, far = (further & modules.keys()) - reached, far + 1
    return {module: [file for *_, file in sorted(files)] for module, files in found.items()}


def _module(place: Path) -> str:
    return re.sub(r"(/__init__)?\.py$", "", place.as_posix()).replace("/", ".")


def _imports(file: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def fails(files: Sequence[str], tree: Path) -> bool:
    """Whether one of these files of tests fails on a copy of the project, or takes too long."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, *files],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode not in {0, NO_TESTS}


def every(prefixes: Sequence[str]) -> list[Mutant]:
    """All faults that modules below these paths can have, and that a file of tests may notice."""
    known, found = tests_of_modules(), []
    for path in sorted(path for package in PRODUCT for path in (ROOT / package).rglob("*.py")):
        place = path.relative_to(ROOT)
        files = tuple(known.get(_module(place), ())[:FILES])
        if files and place.as_posix().startswith(tuple(prefixes)):
            numbers = range(sum(1 for _ in changes(ast.parse(path.read_text("utf-8")))))
            found += [Mutant(place, number, files) for number in numbers]
    return found


def main(arguments: Sequence[str]) -> int:
    """Try the faults; prints each that nobody noticed, and last the share that somebody did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("prefixes", nargs="*", default=[""], help="only modules below these paths")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)

    known = every(given.prefixes)
    chosen = random.Random(given.seed).sample(known, min(given.count, len(known)))
    killed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "project"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        unsound = {files for files in {one.files for one in chosen} if fails(files, tree)}
        for files in sorted(unsound):
            sys.stdout.write(f"left out, as one fails without a fault: {' '.join(files)}\n")
        tried = [one for one in chosen if one.files not in unsound]
        for mutant in tried:
            place = tree / mutant.path
            source, told = mutant.made()
            before = place.read_text("utf-8")
            place.write_text(source, "utf-8")
            if fails(mutant.files, tree):
                killed += 1
            else:
                sys.stdout.write(f"unnoticed: {told}\n")
                sys.stdout.flush()
            place.write_text(before, "utf-8")
    share = killed / max(1, len(tried))
    sys.stdout.write(f"{killed} of {len(tried)} faults noticed, {share:.0%}; {len(known)} known\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
