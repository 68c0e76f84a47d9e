"""The four dimensions of an evaluation, and the second opinion of a model."""
