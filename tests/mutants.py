"""Seeded faults in the product, one at a time: which do the tests notice?

    python -m tests.mutants [--count N] [--seed S] [--lines FILE] [PATH_PREFIX ...]

A fault changes one operator, constant, condition, return value or statement of a function. It is
judged by the unit and contract tests that execute its line, as `tests.lines` found (FILE; made
where there is none): those nearest by imports first, then the fastest. They run in a fork of a
process that has collected all tests, in which the function's code is exchanged. A fault that none
of them notices is printed with its place; one whose line none of them executes is left to the
integration tests. The share that was noticed says what the tests are worth.
"""

import argparse
import ast
import gc
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FunctionType

import coverage
import pytest

from tests.lines import function_of

ROOT = Path(__file__).parent.parent
PRODUCT = ("messages", "store", "clinical_text", "workers", "scheduler", "api_gateway", "cli")
TESTS = ("tests/unit", "tests/contract")
FUNCTIONS = 40
"""At most so many test functions that execute the line are run, and as many of its module."""
BUDGET = 10.0
"""Seconds that all of them together took when lines were looked for, which is twice as slow."""
SECONDS, WAITED_SECONDS = 20, 120
"""A fault that takes longer than this, of a processor or of waiting for one, is given up."""
_FORK = get_context("fork")
_CACHE = type(lru_cache(int))

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
    """One fault in a module: which of its changes, and where it is."""

    path: Path
    number: int
    line: int
    begins: int
    """The line on which the statement begins."""

    def made(self) -> tuple[ast.Module, str]:
        """The module with the fault, and in words where it is and which."""
        tree = ast.parse((ROOT / self.path).read_text("utf-8"))
        line, _, what, change = list(changes(tree))[self.number]
        change()
        return ast.fix_missing_locations(tree), f"{self.path}:{line}: {what}"


def changes(tree: ast.Module) -> Iterator[tuple[int, int, str, Change]]:
    """What can be changed in the functions of a module: the line, that on which its statement
    begins, what is done, what does it.
    """
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                yield from _inside(function.body, statement)


def _inside(block: list[ast.stmt], statement: ast.stmt) -> Iterator[tuple[int, int, str, Change]]:
    if isinstance(statement, ast.FunctionDef):
        return
    for line, what, change in _of_statement(block, statement):
        yield line, statement.lineno, what, change
    for name, value in ast.iter_fields(statement):
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, ast.stmt):
                yield from _inside(parts, part)
            elif isinstance(part, ast.AST) and name not in {"annotation", "decorator_list"}:
                for node in ast.walk(part):
                    for line, what, change in _of_expression(node):
                        yield line, statement.lineno, what, change


def _of_statement(block: list[ast.stmt], statement: ast.stmt) -> Iterator[tuple[int, str, Change]]:
    if isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign)) and not _is_text(statement):
        place = block.index(statement)
        yield (
            statement.lineno,
            f"without `{ast.unparse(statement)[:60]}`",
            lambda: block.__setitem__(place, ast.Pass()),
        )
    elif isinstance(statement, (ast.If, ast.While)):
        yield _put(statement, "test", ast.UnaryOp(ast.Not(), statement.test), "condition turned")
    elif isinstance(statement, ast.Return) and not _is_nothing(statement.value):
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


def _is_nothing(value: ast.expr | None) -> bool:
    """None or False, for which None may stand unnoticed."""
    return value is None or (isinstance(value, ast.Constant) and value.value in (None, False))


def _is_text(statement: ast.stmt) -> bool:
    """A docstring, or `...`."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


@dataclass(frozen=True)
class Known:
    """What a run of all tests told: which test functions execute which line, and how long."""

    lines: coverage.CoverageData
    seconds: dict[str, float]
    distances: dict[str, dict[str, int]]

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The test functions that judge a fault, in their order; none if none executes its line.

        What a fixture of a module does, or a function whose values are kept, is counted for one
        test only, or for the collection: others that execute lines of the module come after.
        """
        by_line = self.lines.contexts_by_lineno(str(mutant.path))
        names = by_line.get(mutant.line) or by_line.get(mutant.begins)
        if not names:
            return []
        far = self.distances.get(_module(mutant.path), {})

        def order(name: str) -> tuple[int, float]:
            return far.get(_file(name), len(self.distances)), self.seconds[name]

        beside = {name for others in by_line.values() for name in others}.difference(names)
        chosen, left = list[str](), BUDGET
        for some in (names, beside):
            for name in sorted(filter(None, some), key=order)[:FUNCTIONS]:
                if self.seconds[name] < left:
                    chosen.append(name)
                    left -= self.seconds[name]
        return chosen or sorted(filter(None, names), key=order)[:1]


def known_of(file: Path) -> Known:
    """What the data of `tests.lines` tell; a run of all tests makes them where there are none.

    Raises:
        CalledProcessError: tests fail without a fault.
    """
    if not file.exists():
        command = [sys.executable, "-m", "tests.lines", str(file.absolute()), "--timeout", "0"]
        subprocess.run([*command, *TESTS], cwd=ROOT, check=True)
    lines = coverage.CoverageData(str(file))
    lines.read()
    seconds = json.loads(Path(f"{file}-seconds.json").read_text("utf-8"))
    return Known(lines, seconds, distances())


def distances() -> dict[str, dict[str, int]]:
    """How many imports away a module is from each file of tests that reaches it."""
    modules = {
        _module(path.relative_to(ROOT)): _imports(path)
        for package in PRODUCT
        for path in (ROOT / package).rglob("*.py")
    }
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for file in (file for folder in TESTS for file in (ROOT / folder).rglob("test_*.py")):
        reached, far, border = set[str](), 0, _imports(file) & modules.keys()
        while border:
            for module in border:
                found[module][file.relative_to(ROOT).as_posix()] = far
            reached |= border
            further = {one for module in border for one in modules[module]}
            border, far = (further & modules.keys()) - reached, far + 1
    return found


def _module(place: Path) -> str:
    return re.sub(r"(/__init__)?\.py$", "", place.as_posix()).replace("/", ".")


def _file(test: str) -> str:
    return test.partition("::")[0]


def _imports(file: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def exchange(mutant: Mutant, functions: Sequence[FunctionType]) -> None:
    """Give these functions, those of its module, the code that it has with the fault."""
    file = functions[0].__code__.co_filename
    module = compile(mutant.made()[0], file, "exec", dont_inherit=True)
    codes = {_place(code): code for code in _codes(module)}
    for function in functions:
        function.__code__ = codes[_place(function.__code__)]


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


@dataclass
class Judges:
    """The plugin of pytest that tries faults on the tests of a session."""

    mutants: Sequence[Mutant]
    known: Known
    verdicts: Counter[str] = field(default_factory=Counter)
    sound: dict[str, bool] = field(default_factory=dict)
    """Whether a test that noticed a fault passes without it."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try each fault, and print what becomes of it."""
        self.session = session
        self.items = defaultdict(list)
        for item in session.items:
            self.items[function_of(item)].append(item)
        self.functions = defaultdict(list)
        gc.unfreeze()
        known = gc.get_objects()
        gc.freeze()
        for one in known:
            if isinstance(one, FunctionType):
                self.functions[one.__code__.co_filename].append(one)
            elif isinstance(one, _CACHE) and one.__module__.startswith(PRODUCT):
                one.cache_clear()  # the collection has filled it
        with session.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            for mutant in self.mutants:
                names, began = self.known.tests_of(mutant), time.monotonic()
                verdict = self.judge(mutant, names)
                self.verdicts[verdict] += 1
                seconds = f"{len(names)} tests, {time.monotonic() - began:.0f} s"
                sys.stdout.write(f"{verdict}: {mutant.made()[1]} ({seconds})\n")
                sys.stdout.flush()
        return True

    def judge(self, mutant: Mutant, names: Sequence[str]) -> str:
        """What these tests say of a fault."""
        names = [name for name in names if self.sound.get(name, True) and name in self.items]
        if not names:
            return "only integration"
        verdict, failed = self._run(names, mutant)
        if failed and failed not in self.sound:
            self.sound[failed] = self._run([failed], None)[0] == "unnoticed"
            if not self.sound[failed]:
                sys.stdout.write(f"left out, as it fails without a fault: {failed}\n")
                return self.judge(mutant, names)
        return verdict

    def _run(self, names: Sequence[str], mutant: Mutant | None) -> tuple[str, str]:
        """`noticed`, `unnoticed` or `too long`, and the test that failed."""
        ours, theirs = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=self._in_fork, args=(names, mutant, theirs))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads of libraries, which wait
            process.start()
        theirs.close()
        said = None
        with suppress(EOFError):
            said = ours.recv() if ours.poll(WAITED_SECONDS) else None
        if said is not None:
            process.join(WAITED_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)  # and what the tests have started
        process.join()
        if said is None:
            return "too long", ""
        return ("noticed" if said else "unnoticed"), said

    def _in_fork(self, names: Sequence[str], mutant: Mutant | None, parent: Connection) -> None:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        self.session.config.pluginmanager.unregister(name="terminalreporter")
        for number in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        if mutant is not None:
            exchange(mutant, self.functions[str(ROOT / mutant.path)])
        items, failed = [item for name in names for item in self.items[name]], ""
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.session.testsfailed:
                failed = function_of(item)
                break
        parent.send(failed)
        with suppress(Exception):
            self.session._setupstate.teardown_exact(None)
        os._exit(0)


def every(prefixes: Sequence[str]) -> list[Mutant]:
    """All faults that modules below these paths can have."""
    found = []
    for path in sorted(path for package in PRODUCT for path in (ROOT / package).rglob("*.py")):
        place = path.relative_to(ROOT)
        if place.as_posix().startswith(tuple(prefixes)):
            all_changes = changes(ast.parse(path.read_text("utf-8")))
            found += [
                Mutant(place, number, line, begins)
                for number, (line, begins, *_) in enumerate(all_changes)
            ]
    return found


def main(arguments: Sequence[str]) -> int:
    """Try the faults; prints each that nobody noticed, and last the share that somebody did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("prefixes", nargs="*", default=[""], help="only modules below these paths")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lines", type=Path, help="what tests.lines wrote, or a file to make")
    given = parser.parse_args(arguments)

    possible = every(given.prefixes)
    chosen = random.Random(given.seed).sample(possible, min(given.count, len(possible)))
    with tempfile.TemporaryDirectory() as folder:
        judges = Judges(chosen, known_of(given.lines or Path(folder) / "lines"))
        pytest.main(["-q", "-p", "no:cacheprovider", *TESTS], plugins=[judges])
    counts = ", ".join(f"{count} {verdict}" for verdict, count in judges.verdicts.most_common())
    sys.stdout.write(f"of {len(chosen)} faults of {len(possible)}: {counts}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
