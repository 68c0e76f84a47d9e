"""Images beside an answer: which may stand there, and where they are found."""
