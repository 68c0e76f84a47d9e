"""`make hosts`: the system on several hosts, what it survives there, and how it scales.

Every run prints its seed; `--seed N` has it again. The exit code is 0 only if nothing was found,
and 0 with the reason where this user or machine can have no hosts.
"""

import argparse
import json
import random
import signal
import sys
from dataclasses import asdict

import structlog

from tests.chaos.hosts.network import why_not
from tests.chaos.hosts.scaling import Row, measure, table
from tests.chaos.hosts.scenes import Outcome, Seen, play
from tests.chaos.hosts.system import describe_machine
from tests.chaos.storm.launch import SABOTAGES


def say(words: str) -> None:
    """A line of what is printed."""
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def tell(seen: Seen) -> None:
    """A scene that is over."""
    say(
        f"  {seen.scene.what} ({seen.scene.host}, {seen.scene.seconds} s): "
        f"{seen.accepted} questions accepted, {seen.answered} answers, longest time without one "
        f"{seen.pause} s, {seen.taken_over} taken over, {seen.fenced} commits refused, settled in "
        f"{seen.settled} s{'; ' * bool(seen.notes)}{seen.notes}"
    )


def survive(seed: int, sabotages: list[str]) -> Outcome:
    """All scenes of a seed, told one by one."""
    say(f"seed {seed}; {describe_machine()}")
    outcome = play(seed, sabotages=sabotages, told=tell)
    verdict = "; ".join(outcome.found) or "nothing lost, nothing doubled"
    say(f"  {outcome.uploads} uploads accepted; {verdict}")
    return outcome


def scale(processes: list[int], questions: int, documents: int) -> None:
    """The table of worker processes."""
    rows: list[Row] = []
    for what, count in (("questions", questions), ("documents", documents)):
        for number in processes:
            rows.append(measure(what, number, count))
            for line in list(table(rows))[-1 if len(rows) > 1 else 0 :]:
                say(line)
    say(json.dumps([asdict(row) for row in rows]))


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="The system on several hosts.")
    parser.add_argument("--seed", type=int, help="of the scenes; drawn if left out")
    parser.add_argument("--seeds", type=int, default=1, help="how many, from this one on")
    parser.add_argument("--sabotage", action="append", choices=sorted(SABOTAGES), default=[])
    parser.add_argument("--only", choices=("scenes", "scaling"))
    parser.add_argument("--processes", default="1,2,3,4", help="workers, by commas")
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--documents", type=int, default=3000)
    given = parser.parse_args()
    if (reason := why_not()) is not None:
        say(f"skipped: {reason}")
        return
    # What is submitted here has no broker: the relay sends it, and says so of each row.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as Ctrl-C: the hosts are taken away
    red = False
    if given.only != "scaling":
        first = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
        outcomes = [survive(seed, given.sabotage) for seed in range(first, first + given.seeds)]
        say(json.dumps([asdict(one) for one in outcomes]))
        red = any(one.found for one in outcomes)
    if given.only != "scenes":
        numbers = [int(one) for one in given.processes.split(",")]
        scale(numbers, given.questions, given.documents)
    sys.exit(1 if red else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        say("stopped; the hosts are gone")
        sys.exit(130)
