"""What goes wrong when a file is read."""


class UnreadableDocument(ValueError):
    """The file cannot be read; the message is one line that says why and what to do.

    It never holds more than a short excerpt of a field's name, and nothing of the text.
    """
