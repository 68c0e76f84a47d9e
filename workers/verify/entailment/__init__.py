"""Whether a passage supports a claim, decided without a language model.

`Verifier.judge` reads claim and passage with the product's own MiniLM, aligns their tokens with a
small learned head, and combines that with features over words, numbers, negation and direction.
Training, figures and limits: docs/verification.md.
"""
