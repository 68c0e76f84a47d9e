"""The first line of an answer: what it says, in the form of the question (DESIGN section 9)."""
