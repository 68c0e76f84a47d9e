"""What a command line has wrong, told as typer tells it, with words that act shown."""

from typer._click.exceptions import ClickException, NoArgsIsHelpError, UsageError

from store.core.printable import printable


def tell_wrong_usage(error: ClickException) -> int:
    """Print it on stderr; gives the exit code. Names that others gave to files come in here."""
    if not isinstance(error, NoArgsIsHelpError):  # the help was printed already
        from typer.rich_utils import rich_format_error

        told = printable(error.format_message())
        rich_format_error(UsageError(told, getattr(error, "ctx", None)))
    return error.exit_code
