"""How many examples a property test takes: few in every run, many under `make fuzz`."""

import os

import hypothesis

MANY = "ATTEST_TEST_EXAMPLES" in os.environ
"""Whether somebody asked for more than a run of the suite takes."""


def examples(usual: int) -> hypothesis.settings:
    """A decorator: `usual` examples, or as many as `ATTEST_TEST_EXAMPLES` says."""
    return hypothesis.settings(
        max_examples=int(os.environ.get("ATTEST_TEST_EXAMPLES", usual)), deadline=None
    )
