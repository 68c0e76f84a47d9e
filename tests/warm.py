"""Imported once by what `tests.processes` forks from: all that the parts of a fleet need.

What is read and compiled at its first use is used once, too: it took each worker two seconds.
"""

import gc
from importlib import import_module

from messages import Stage

MODULES = (
    "scheduler.main",
    "workers.main",
    "workers.alone",
    "workers.registry",
    "cli.instance.environment_check",
    "tests.linearity.readers",
    "tests.processes",
    "pytest",  # each fork runs the file anew that was run first, `tests.pools`, which imports it
)

gc.disable()  # looking through all these objects takes a quarter of the time, and finds nothing
for name in MODULES:
    import_module(name)

from tests.linearity.readers import use_all  # noqa: E402
from workers.registry import spec_of  # noqa: E402

for stage in Stage:
    spec_of(stage)
use_all()
gc.freeze()
