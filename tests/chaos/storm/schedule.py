"""What goes wrong, when and for how long: drawn from a seed, so that it can be had again."""

import random
from dataclasses import dataclass

LASTING: dict[str, tuple[float, float]] = {
    "kill worker": (0.3, 1.5),
    "kill scheduler": (0.3, 2.0),  # with it die relay and reconciler
    "kill gateway": (0.3, 1.0),
    "kill redis": (0.2, 2.0),
    "kill postgres": (0.2, 1.5),
    "pause worker": (3.0, 5.0),  # past its lease
    "pause scheduler": (1.0, 4.0),
    "pause redis": (0.5, 3.0),
    "cut postgres": (0.5, 3.0),
    "cut redis": (0.5, 3.0),
    "delay postgres": (1.0, 4.0),
    "delay redis": (1.0, 4.0),
    "fill disk": (0.5, 2.0),
    "skew worker": (4.0, 8.0),
    "flush redis": (0.0, 0.0),
    "deliver again": (0.0, 0.0),
    "expire leases": (0.0, 0.0),
    "stop reader": (0.0, 0.0),  # a text on which the worker that reads it stands
}
"""Each act with the seconds it lasts: from, to. What was killed stays away for so long."""

WEIGHTS: dict[str, int] = {
    "kill worker": 4,
    "pause worker": 2,
    "deliver again": 3,
    "expire leases": 2,
    "kill postgres": 2,
}
"""How often an act is drawn, beside one of the others once."""


@dataclass(frozen=True)
class Act:
    """One thing that goes wrong. `which` is a number below 1000 that chooses among equals."""

    at: float
    name: str
    seconds: float
    which: int

    @property
    def end(self) -> float:
        """When it is over."""
        return self.at + self.seconds


def schedule(seed: int, seconds: float, every: float = 1.2) -> list[Act]:
    """The acts of a storm of so many seconds, one about every `every` seconds, in order.

    Two acts on the same thing never overlap: what is dead cannot be paused.
    """
    draw = random.Random(seed)
    names = [name for name in LASTING for _ in range(WEIGHTS.get(name, 1))]
    acts: list[Act] = []
    at = draw.uniform(0.5, 1.5)
    while at < seconds:
        name = draw.choice(names)
        shortest, longest = LASTING[name]
        act = Act(
            round(at, 2), name, round(draw.uniform(shortest, longest), 2), draw.randrange(1000)
        )
        if not any(_clash(act, other) for other in acts):
            acts.append(act)
        at += draw.expovariate(1 / every)
    return acts


def _clash(act: Act, other: Act) -> bool:
    thing, others = act.name.split()[-1], other.name.split()[-1]
    same = thing == others and (thing != "worker" or act.which % 2 == other.which % 2)
    # A full disk kills what writes to it, and so do its own ends.
    disk = {thing, others} in ({"disk", "postgres"}, {"disk", "redis"})
    return (same or disk) and act.at < other.end + 0.5 and other.at < act.end + 0.5
