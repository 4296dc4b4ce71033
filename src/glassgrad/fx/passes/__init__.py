"""Passes over graphs: shapes, drawings, patterns."""
