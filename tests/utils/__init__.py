"""Tests of glassgrad.utils."""
