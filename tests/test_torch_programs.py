"""Every program of tests/programs records the same under torch and under glassgrad."""

import pytest

import glassgrad
from tests.programs import programs
from tests.programs.record import differences, record
from tests.torch_reference import torch

pytestmark = pytest.mark.torch
PROGRAMS = programs()


@pytest.mark.parametrize("title", PROGRAMS)
def test_program(title):
    wanted = record(PROGRAMS[title], torch)
    assert wanted, "a program that shows nothing compares nothing"
    found = differences(wanted, record(PROGRAMS[title], glassgrad))
    assert not found, "\n".join(found)
