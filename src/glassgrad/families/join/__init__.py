"""Joining, splitting, repeating, turning over."""
