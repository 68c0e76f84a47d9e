"""Which of the works found become evidence, in which order and why. Pure."""
