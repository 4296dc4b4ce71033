"""Tests of automatic mixed precision."""
