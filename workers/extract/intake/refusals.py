"""Why a document is not taken in."""


class IntakeRefused(ValueError):
    """The file cannot be taken in; the message is one line that says why and what to do.

    It never holds anything of the document's words.
    """
