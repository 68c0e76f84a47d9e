"""Tests of the hard facts."""
