"""Fuzzing of what reads foreign bytes and texts: `python -m tests.fuzz TARGET --seconds 60`.

The properties are those of the hypothesis tests (`tests.fuzz.properties`); `tests.fuzz.targets`
names what is fuzzed; atheris drives it by coverage, and the suite without atheris a little.
"""

import pytest

pytest.register_assert_rewrite(f"{__name__}.properties")
