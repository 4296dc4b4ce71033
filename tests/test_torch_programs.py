"""Every program of tests/programs records the same under torch and under glassgrad."""

import importlib

import pytest

import glassgrad
from tests.programs import programs
from tests.programs.record import differences, record
from tests.torch_reference import torch

pytestmark = pytest.mark.torch
PROGRAMS = programs()

for part in ("autograd.functional", "autograd.graph", "utils.checkpoint", "nn.functional"):
    importlib.import_module(f"{torch.__name__}.{part}")
    importlib.import_module(f"{glassgrad.__name__}.{part}")


@pytest.mark.parametrize("title", PROGRAMS)
def test_program(title):
    wanted = record(PROGRAMS[title], torch)
    assert wanted, "a program that shows nothing compares nothing"
    found = differences(wanted, record(PROGRAMS[title], glassgrad))
    assert not found, "\n".join(found)
