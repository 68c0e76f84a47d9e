"""Prints errors of the command line as typer does, with control characters made visible."""

import re

from typer._click.exceptions import ClickException, NoArgsIsHelpError, UsageError

from store.core.printable import printable

_NO_ID = re.compile(r"Input should be a valid UUID, .*", re.DOTALL)
_NO_CHOICE = re.compile(r"(?:Value error, )?'([^']*)' is not one of ((?:'[\w-]+'(?:, )?)+)\.?")


def tell_wrong_usage(error: ClickException) -> int:
    """Print the error on stderr, return the exit code. The text may hold file names from others."""
    if not isinstance(error, NoArgsIsHelpError):  # the help was printed already
        from typer.rich_utils import rich_format_error

        from knowledge.matching.choosing import one_of

        text = _NO_ID.sub("it is no id: lists show them", printable(error.format_message()))
        text = _NO_CHOICE.sub(lambda it: one_of(it[1], re.findall(r"'([\w-]+)'", it[2])), text)
        rich_format_error(UsageError(text, getattr(error, "ctx", None)))
    return error.exit_code
