"""`attest evaluate claims FILE` as a user runs it (DESIGN section 5)."""

import json
from pathlib import Path

import pytest

CASES = [
    ("a", "Apixaban lowered the rate of stroke.", "Apixaban lowered the rate of stroke.",
     "supported"),
    ("b", "Apixaban raised the rate of stroke.", "Apixaban lowered the rate of stroke.",
     "contradicted"),
    ("c", "Metformin prolongs life.", "Apixaban lowered the rate of stroke.", "not_enough"),
    ("d", "Metformin prolongs life.", "", "not_enough"),
]  # fmt: skip
