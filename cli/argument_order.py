"""Takes an option of all commands wherever it stands, as people write it."""

from collections.abc import Sequence

DATA_DIR = "--data-dir"
OWN = ("restore",)
"""Commands for which the option means something else: the directory that they make."""


def data_dir_first(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with `--data-dir` before the command, where `attest` reads it.

    What stands after `--` is text and stays where it is, as do the arguments of `OWN`.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options, text = list(arguments[:end]), list(arguments[end:])
    first: list[str] = []
    rest: list[str] = []
    while options:
        word = options.pop(0)
        if word in OWN and not rest:
            return [*first, word, *options, *text]
        if word == DATA_DIR and options:
            first += [word, options.pop(0)]
        elif word.startswith(f"{DATA_DIR}="):
            first.append(word)
        else:
            rest.append(word)
    return [*first, *rest, *text]
