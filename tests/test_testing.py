"""assert_close: what it accepts, and word for word what it says of the rest."""

import importlib

import pytest

from tests.agreement import cases, check

pytestmark = pytest.mark.torch


def _close(torch):
    return importlib.import_module(f"{torch.__name__}.testing").assert_close


def tensors(torch, show):
    t, close = torch.tensor, _close(torch)
    nan, inf = float("nan"), float("inf")
    for a, b, more in (
        ([1.0, 2.0], [1.0, 3.0], {}), ([1.0], [1.0 + 1e-6], {}), ([1.0], [1.001], {}), ([0.0], [1e-4], {}),
        ([1.0], [1.1], {"rtol": 0.2, "atol": 0.0}), ([1.0], [1.1], {"rtol": 0.0, "atol": 0.0}), ([nan], [nan], {}),
        ([nan], [nan], {"equal_nan": True}), ([inf], [1.0], {}), ([inf, -inf], [inf, inf], {}), ([inf], [inf], {}),
        ([1, 2], [1, 3], {}), ([1, 2], [1, 3], {"rtol": 1.0, "atol": 1.0}), ([True], [False], {}),
        ([1 + 2j], [1 + 3j], {}), ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 3.0], [3.0, 7.0]], {}), (1.0, 2.0, {}), (1, 2, {}),
        ([1.0, 2.0], [1.0], {}), ([1, 2], [1.0, 2.0], {}), ([1, 2], [1.0, 2.0], {"check_dtype": False}), ([], [], {}),
        ([1.0], [2.0], {"msg": "mine"}), ([1.0], [2.0], {"msg": lambda said: said[:6] + "!"}),
        ([1.0], [1.0], {"rtol": 1}), ([1.0], [1.0], {"atol": 1}),
    ):  # fmt: skip
        show.error(lambda a=a, b=b, more=more: close(t(a), t(b), **more))


def dtypes(torch, show):
    close = _close(torch)
    for name in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "int8"):
        kind = getattr(torch, name)
        for off in (1e-9, 1e-5, 1e-2):
            one, more = torch.ones(2, dtype=kind), (torch.ones(2) + off).to(kind)
            show.error(lambda a=one, b=more: close(a, b))
            show.error(lambda a=one, b=more: close(b, a))
    show.error(lambda: close(torch.ones(2), torch.ones(2).double() + 1e-5, check_dtype=False))


def attributes(torch, show):
    close = _close(torch)
    wide = torch.ones(2).expand(3, 2)
    show.error(lambda: close(wide, torch.ones(3, 2)))
    show.error(lambda: close(wide, torch.ones(3, 2), check_stride=True))
    show.error(lambda: close(torch.nn.Parameter(torch.ones(1)), torch.ones(1)))
    show.error(lambda: close(torch.nn.Parameter(torch.ones(1)), torch.ones(1), allow_subclasses=False))
    show.error(lambda: close(torch.ones(1, requires_grad=True), torch.zeros(1)))


def numbers(torch, show):
    close = _close(torch)
    for a, b, more in (
        (1.0, 2.0, {}), (1, 2, {}), (1, 1, {}), (True, False, {}), (True, True, {}), (1, 2.0, {}), (1j, 2j, {}),
        (1, 1.0, {"check_dtype": False}), (1.0, 1.0 + 1e-9, {}), (0.0, 0.0, {}), (1.0, 0.0, {}),
        (2, 3, {"rtol": 1, "atol": 1}), (float("nan"), float("nan"), {}),
        (float("nan"), float("nan"), {"equal_nan": True}), (None, None, {}), (None, 1, {}), (1, None, {}),
        ("a", "b", {}), (1, "a", {}),
    ):  # fmt: skip
        show.error(lambda a=a, b=b, more=more: close(a, b, **more))
    show.error(lambda: close(torch.ones(()), 1.0))
    show.error(lambda: close(torch.ones(2), [1.0, 1.0]))


def nested(torch, show):
    t, close = torch.tensor, _close(torch)
    for a, b in (
        ([1, 2], [1, 3]), ([1], [1, 2]), ([1, 2], (1, 2)), ([[t(1.0)], 3], [[t(2.0)], 3]), ({"a": 1}, {"b": 1}),
        ({"a": 1, "b": t([1.0])}, {"b": t([2.0]), "a": 1}), ({"a": [1, {"c": 2}]}, {"a": [1, {"c": 3}]}), ({}, {}),
        ([], []), ({"a": 1}, [1]), ([None], [1]), ({"x": ["a"]}, {"x": ["b"]}), ({"x": [1]}, {"x": [1, 2]}),
    ):  # fmt: skip
        show.error(lambda a=a, b=b: close(a, b))


PROGRAMS = cases(globals())


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])
