"""The web pages: view models as plain functions, templates, styles and scripts (ADR 0021)."""
