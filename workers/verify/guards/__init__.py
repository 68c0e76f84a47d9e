"""Deterministic vetoes: a model cannot overrule them (DESIGN section 2, invariant 6). Pure."""
