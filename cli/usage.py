"""Prints errors of the command line as typer does, with control characters made visible."""

from typer._click.exceptions import ClickException, NoArgsIsHelpError, UsageError

from store.core.printable import printable


def tell_wrong_usage(error: ClickException) -> int:
    """Print the error on stderr, return the exit code. The text may hold file names from others."""
    if not isinstance(error, NoArgsIsHelpError):  # the help was printed already
        from typer.rich_utils import rich_format_error

        text = printable(error.format_message())
        rich_format_error(UsageError(text, getattr(error, "ctx", None)))
    return error.exit_code
