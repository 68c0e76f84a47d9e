"""Imported once by what `tests.processes` forks from: all that the parts of a fleet need.

What is read and compiled at its first use is used once, too: it took each worker two seconds.
"""

import scheduler.main  # noqa: F401
import workers.main  # noqa: F401
from cli.instance import environment_check  # noqa: F401
from messages import Stage
from tests.linearity.readers import use_all
from workers.registry import spec_of

for stage in Stage:
    spec_of(stage)
use_all()
