"""`python -m tests.fuzz [TARGET...] [--seconds 60]`: fuzz by coverage; without a target, each.

Each target runs in a process of its own. What breaks a property is written to `.fuzz/TARGET/`
(`--keep DIR`), beside inputs that reached new code; a crash belongs into the corpus, as a
regression, once it is made small and mended.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random

NEEDS = "atheris, which exists for Linux on x86_64 only, is not installed"


def available() -> bool:
    """Whether atheris is there. It must come before what it instruments, so nothing of ours is
    imported above."""
    return find_spec("atheris") is not None


def _fuzz(name: str, seconds: int, keep: Path) -> None:
    """Run one target in this process; libFuzzer ends it."""
    import atheris

    with atheris.instrument_imports(include=["workers", "clinical_text", "store", "messages"]):
        from tests.fuzz.targets import TARGETS

    target = TARGETS[name]
    found = keep / name
    found.mkdir(parents=True, exist_ok=True)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        random = Random(seed)
        if random.random() < 0.4:
            return bytes(atheris.Mutate(data, max_size))
        return target.mutate(data, random)[:max_size]

    given = Path(tempfile.mkdtemp(prefix="seeds-", dir=found))
    for n, seed in enumerate(target.corpus()):
        (given / f"{n}").write_bytes(seed)
    options = [
        f"-max_total_time={seconds}",
        "-max_len=65536",
        "-timeout=20",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
        "-verbosity=1",
        f"-artifact_prefix={found}/",
    ]
    atheris.Setup(
        [sys.argv[0], *options, str(found), str(given)], target.run, custom_mutator=mutate
    )
    atheris.Fuzz()


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 where a property did not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--keep", type=Path, default=Path(".fuzz"))
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if not available():
        print(f"nothing was fuzzed: {NEEDS}", file=sys.stderr)  # noqa: T201
        return 0
    if given.here:
        _fuzz(given.targets[0], given.seconds, given.keep)
        return 0
    from tests.fuzz.targets import TARGETS

    unknown = [name for name in given.targets if name not in TARGETS]
    if unknown:
        parser.error(f"no such target: {unknown[0]}; there are {', '.join(TARGETS)}")
    failed = [name for name in given.targets or TARGETS if _in_a_process(name, given) != 0]
    print(f"a property did not hold: {', '.join(failed)}" if failed else "all held")  # noqa: T201
    return 1 if failed else 0


def _in_a_process(name: str, given: argparse.Namespace) -> int:
    print(f"== {name}, {given.seconds} s", flush=True)  # noqa: T201
    options = ["--seconds", str(given.seconds), "--keep", str(given.keep), "--here"]
    command = [sys.executable, "-m", "tests.fuzz", name, *options]
    run = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    said = (run.stdout + run.stderr).splitlines()
    wanted = ("Traceback", "AssertionError", "Test unit", "stat::number", "stat::average")
    shown = said[-40:] if run.returncode else [one for one in said if one.startswith(wanted)]
    print("\n".join(shown), flush=True)  # noqa: T201
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
