"""Each advisory lock has a number of its own: who waits for one waits for nobody else."""

import re
from collections import Counter
from pathlib import Path

import store


def test_no_two_locks_share_a_number() -> None:
    sources = Path(store.__file__).parent.rglob("*.py")
    numbers = Counter(
        number
        for source in sources
        for number in re.findall(r"= (0x417474657374\w+)", source.read_text())
    )
    assert len(numbers) >= 5, "the locks are where this looks"
    assert {number for number, uses in numbers.items() if uses > 1} == set()
