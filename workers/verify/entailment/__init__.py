"""What a passage says of a claim, read by a small trained model that ships with the product.

Training, figures and limits: docs/verifier.md.
"""
