"""Tests of glassgrad.utils.data."""
