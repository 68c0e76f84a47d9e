"""Texts and files that callers submit and one stage works on: their routes and pages, once."""
