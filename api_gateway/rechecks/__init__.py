"""Runs that verify held answers again."""
