"""How a command is typed here: by the program that runs now, on the same data directory."""

import shlex
import shutil
import sys
from pathlib import Path

from store.core.settings import Settings


def typed(settings: Settings, *arguments: str) -> str:
    """A command line that works from the present folder."""
    program = sys.argv[0] if Path(sys.argv[0]).name == "attest" else "attest"
    found = shutil.which("attest")
    if found and Path(found).resolve() == Path(program).resolve():
        program = "attest"
    default = Settings.model_fields["data_dir"].default
    chosen = [] if settings.data_dir == default else ["--data-dir", str(settings.data_dir)]
    return shlex.join([program, *chosen, *arguments])
