"""No pattern of the product takes more than linear time on any text."""

import json
import re
import subprocess
import sys
from itertools import cycle

import pytest

from tests.linearity import patterns
from tests.linearity.patterns import Compiled, steep, unbounded

LEAST_PATTERNS = 500
"""The product compiles some 800; far fewer are a harness that does not see them."""


def compiled(written: str, flags: int = 0) -> Compiled:
    return Compiled(re.compile(written, flags), "planted.py:1")


def test_every_pattern_of_the_product_reads_in_proportion_to_the_text() -> None:
    # in a process of its own: patterns are seen when their modules are imported
    tried = subprocess.run(
        [sys.executable, "-m", patterns.__name__],
        cwd=patterns.ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    *told, last = tried.stdout.splitlines()

    assert told == []
    assert json.loads(last)["patterns"] > LEAST_PATTERNS


@pytest.mark.parametrize(
    "written",
    [
        r"#{2,}\s?system",
        r"\s*,",
        r"(?s)<!--.*?-->",
        r"\w+-\w+",
        r"\d+\s*mg",
    ],
)
def test_a_quadratic_pattern_is_noticed(written: str) -> None:
    assert steep(compiled(written)) is not None


ONES = ("a", r"\d", r"\s", ",", r"\[", "[^.]", "[•#]")
"""One character of each kind that texts repeat."""
KINDS = (
    "(?:{0}+)+!",
    "(?:{0}*)*!",
    "(?:{0}|{0})+!",
    "(?:{0}|{0}{0}|{0}{0}{0}){{2,}}!",
    "(?:{0}+x?)+!",
    "x?(?:{0}{{1,9}}){{1,40}}!",
    "{0}*{0}*!",
    "{0}+x?{0}+x?{0}+!",
    "{0}+!",
    "x?{0}*?y",
    "(?={0}*y)",
    "{0}(?s:.*?)y",
    "(?:x|{0}{{2,}})y",
    "y?(?:{0}+z|{0}+y)",
)
"""What is read in many ways, or anew from each place, or both; `{0}` stands for one character."""


def test_each_kind_of_steep_pattern_is_noticed() -> None:
    planted = [kind.format(one) for kind, one in zip(KINDS, cycle(ONES), strict=False)]
    assert [written for written in planted if steep(compiled(written)) is None] == []


@pytest.mark.parametrize(
    "written",
    [
        r"##\s?system",
        r"(?<!\s)\s*+,",
        r"\s{0,40},",
        r"[^\W_]+",
        r"(?<!\w)\w++-\w+",
        r"\d{1,20}\s{0,40}mg",
        r"(?:the |a ){0,3}study",
    ],
)
def test_a_linear_pattern_is_not_accused(written: str) -> None:
    assert steep(compiled(written)) is None


@pytest.mark.parametrize(
    ("written", "free"),
    [
        (r"a{0,40}", False),
        (r"a*", True),
        (r"a{2,}", True),
        (r"(?:x|(?=y(?>z++)))", True),
        (r"(a)?(?(1)b|c+)", True),
        (r"(?<!\w)[ab]{1,3}", False),
    ],
)
def test_a_pattern_without_end_is_told_from_one_that_is_bounded(written: str, free: bool) -> None:
    assert unbounded(re.compile(written)) is free
