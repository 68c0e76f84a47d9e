"""Extraction of clinical documents: rules and a model propose, code places, an evaluator scores."""
