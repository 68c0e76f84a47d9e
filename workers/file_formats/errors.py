"""The error of reading a file."""


class UnreadableDocument(ValueError):
    """The file cannot be read; the message is one line that says why and what to do.

    The message holds at most a short excerpt of a field's name, and nothing of the text.
    """
