"""Values at the edges of operations: numbers that fit badly, zeros, ties, infinities, empty dimensions; beside PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import glassgrad
from tests.torch_reference import torch

pytestmark = pytest.mark.torch


def both(program: Any) -> tuple[Any, Any]:
    """What a function of the engine gives in PyTorch and here: nested lists and text, or the error's type and words."""
    outcomes = []
    for engine in (torch, glassgrad):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcomes.append(plain(program(engine), engine))
        except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
            outcomes.append(type(error).__name__)
    return outcomes[0], outcomes[1]


def plain(value: Any, engine: Any) -> Any:
    if isinstance(value, engine.Tensor):
        value = value.detach()
        numbers = value if value.dtype != engine.bfloat16 else value.double()
        return str(value.dtype).split(".")[1], tuple(value.shape), np.asarray(numbers.resolve_conj().tolist())
    if isinstance(value, list | tuple):
        return [plain(piece, engine) for piece in value]
    return value


def agree(pair: tuple[Any, Any], digits: float = 0.0) -> bool:
    wanted, actual = pair
    if isinstance(wanted, np.ndarray):
        return bool(np.allclose(actual, wanted, rtol=digits, atol=digits, equal_nan=True))
    if isinstance(wanted, list | tuple):
        return (
            isinstance(actual, list | tuple)
            and len(wanted) == len(actual)
            and all(agree(pieces, digits) for pieces in zip(wanted, actual, strict=True))
        )
    return bool(wanted == actual)


# -- ranges ------------------------------------------------------------------------------------------------------------

WHOLE = ("int64", "int32", "int16", "int8", "uint8")


@pytest.mark.parametrize("kind", [*WHOLE, "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_numbers_between_two_ends_are_cut_off_where_pytorch_cuts_them(name, kind):
    draw = np.random.default_rng(len(kind))
    for _ in range(60):
        most = 6 if name == "logspace" else 120
        start, end = (float(v) if draw.random() < 0.4 else int(v) for v in draw.uniform(0, most, 2).round(2))
        steps = int(draw.choice([0, 1, 2, 3, 7, 10, 101]))
        more = {} if name == "linspace" else {"base": float(draw.choice([2, 10, 1.5, 0.5]))}
        pair = both(lambda t: getattr(t, name)(start, end, steps, dtype=getattr(t, kind), **more))  # noqa: B023
        assert agree(pair, 0 if name == "linspace" or kind in WHOLE else 2e-2), (name, start, end, steps, more, *pair)


@pytest.mark.parametrize("kind", WHOLE)
def test_whole_ranges_have_as_many_numbers_as_pytorch_counts(kind):
    draw = np.random.default_rng(len(kind))
    for _ in range(100):
        start, end, step = (float(v) if draw.random() < 0.5 else int(v) for v in draw.uniform(-20, 100, 3).round(2))
        step = step / 20 if end >= start else -abs(step / 20)
        pair = both(lambda t: t.arange(start, end, step, dtype=getattr(t, kind)))  # noqa: B023
        assert agree(pair), (start, end, step, *pair)


@pytest.mark.parametrize(
    "arguments", [(-5, 300, 3), (-1, 4, 3), (-1.4, 3, 3), (-1.4, 3, 1), (2.5, 1e30, 2), (-1, 4, 0)]
)
@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_ends_that_do_not_fit_are_refused(name, arguments):
    for kind in ("uint8", "int8", "int64"):
        assert agree(both(lambda t: getattr(t, name)(*arguments, dtype=getattr(t, kind)))), kind  # noqa: B023
