"""Programs of (torch, show) as test cases: each must record the same under torch and under glassgrad."""

import inspect

import glassgrad
from tests.programs.record import differences, record
from tests.torch_reference import torch


def cases(namespace):
    """The programs among a module's members, in order: functions of exactly (torch, show), not private ones."""
    found = {}
    for name, member in namespace.items():
        if inspect.isfunction(member) and not name.startswith("_"):
            if list(inspect.signature(member).parameters) == ["torch", "show"]:
                found[name] = member
    return found


def check(program):
    """Run a program under both and compare what it showed."""
    wanted = record(program, torch)
    assert wanted, "a program that shows nothing compares nothing"
    found = differences(wanted, record(program, glassgrad))
    assert not found, "\n".join(found)
