"""The entry of the `attest` program: Ctrl-C while the command still loads prints no traceback."""

import sys


def main() -> None:
    """Load the command and run it; exit code 130 if Ctrl-C came first."""
    try:
        from cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
