"""A peer whose versions are the names of what its environment holds."""

import os

from benchmarks.peers import wire


class Environment:
    """Nothing but its environment."""

    def __init__(self) -> None:
        self.versions = dict.fromkeys(os.environ, "set")


if __name__ == "__main__":
    wire.serve(Environment)
