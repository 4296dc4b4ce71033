"""Runs one program under torch and under glassgrad, and holds the two records to each other."""

import pytest

import glassgrad
from tests.programs.record import differences, record


def both(*programs):
    """A test function that compares every one of the programs (functions of ``torch`` and ``show``)."""

    @pytest.mark.torch
    @pytest.mark.parametrize("program", programs, ids=lambda program: program.__name__)
    def test_same_as_torch(program):
        from tests.torch_reference import torch

        wanted = record(program, torch)
        assert wanted, "a program that shows nothing compares nothing"
        found = differences(wanted, record(program, glassgrad))
        assert not found, "\n".join(found)

    return test_same_as_torch
