"""Printing: the text of every kind of tensor, equal to PyTorch's to the letter."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from glassgrad.ground import dtypes
from glassgrad.ground.device import device
from glassgrad.ground.format import format_scalar, get_printoptions, printoptions, set_printoptions, tensor_repr
from tests.counts import generated


@pytest.fixture(autouse=True)
def options_restored():
    yield
    set_printoptions(profile="default")
    dtypes.set_default_dtype(dtypes.float32)


def f32(values):
    return np.asarray(values, np.float32)


# --- fixed texts, true without torch ----------------------------------------------------------------------------------

TEXTS = {
    "scalar": (f32(3.14159), {}, "tensor(3.1416)"),
    "numpy scalar": (np.float32(2), {}, "tensor(2.)"),
    "whole": (f32([1, -2, 30]), {}, "tensor([ 1., -2., 30.])"),
    "decimal": (f32([1, 2.5, -3.25]), {}, "tensor([ 1.0000,  2.5000, -3.2500])"),
    "scientific": (f32([1e-5, 1]), {}, "tensor([1.0000e-05, 1.0000e+00])"),
    "non-finite": (f32([np.nan, np.inf, -np.inf, 0]), {}, "tensor([nan, inf, -inf, 0.])"),
    "padded nan": (f32([np.nan, 1000]), {}, "tensor([  nan, 1000.])"),
    "negative zero": (f32([-0.0, 1]), {}, "tensor([-0., 1.])"),
    "integers": (np.array([[1, 20], [-3, 4]]), {}, "tensor([[ 1, 20],\n        [-3,  4]])"),
    "int32": (np.int32(7), {}, "tensor(7, dtype=torch.int32)"),
    "bool": (np.array([True, False]), {}, "tensor([ True, False])"),
    "float64": (np.array([0.5]), {}, "tensor([0.5000], dtype=torch.float64)"),
    "bfloat16": (np.array([1.5], ml_dtypes.bfloat16), {}, "tensor([1.5000], dtype=torch.bfloat16)"),
    "complex": (np.array([1 + 2j, -0.5j], np.complex64), {}, "tensor([1.+2.0000j, -0.-0.5000j])"),
    "empty": (f32([]), {}, "tensor([])"),
    "empty integers": (np.zeros((0, 3), np.int64), {}, "tensor([], size=(0, 3), dtype=torch.int64)"),
    "planes": (np.arange(4).reshape(2, 1, 2), {}, "tensor([[[0, 1]],\n\n        [[2, 3]]])"),
    "summary": (
        np.arange(2000).astype(np.float32),
        {},
        "tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,\n        1.9990e+03])",
    ),
    "meta": (f32([[1], [2]]), {"device": "meta"}, "tensor(..., device='meta', size=(2, 1))"),
    "meta device": (
        np.zeros(2),
        {"device": device("meta")},
        "tensor(..., device='meta', size=(2,), dtype=torch.float64)",
    ),
    "leaf": (f32([1]), {"requires_grad": True}, "tensor([1.], requires_grad=True)"),
    "result": (f32(6), {"requires_grad": True, "grad_fn_name": "MulBackward0"}, "tensor(6., grad_fn=<MulBackward0>)"),
    "parameter": (
        f32([1]),
        {"requires_grad": True, "is_parameter": True},
        "Parameter containing:\ntensor([1.], requires_grad=True)",
    ),
    "subclass": (f32([1]), {"name": "Sub", "is_parameter": True}, "Parameter(Sub([1.]))"),
    "contents": (f32([1]), {"tensor_contents": "anything"}, "tensor(anything)"),
}


@pytest.mark.parametrize(("array", "said", "text"), TEXTS.values(), ids=TEXTS)
def test_text(array, said, text):
    assert tensor_repr(array, **said) == text


def test_only_what_is_shown_is_read():
    array = np.broadcast_to(f32(1.0), (10**5, 10**5, 10**4))  # 400 terabytes, had they to be read
    assert tensor_repr(array).startswith("tensor([[[1., 1., 1.,  ..., 1., 1., 1.],")


def test_given_dtype_decides_the_suffix():
    assert tensor_repr(f32(1), dtype=dtypes.float16) == "tensor(1., dtype=torch.float16)"


def test_options():
    with printoptions(precision=2, sci_mode=True):
        assert tensor_repr(f32([1.5])) == "tensor([1.50e+00])"
    assert get_printoptions() == {
        "precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None
    }  # fmt: skip
    with pytest.raises(ZeroDivisionError), printoptions(profile="full"):
        assert get_printoptions()["threshold"] == math.inf
        _ = 1 / 0
    assert get_printoptions()["threshold"] == 1000


def test_format_scalar():
    assert format_scalar(f32(3.14159), dtypes.float32, ".2f") == "3.14"
    assert format_scalar(np.int64(3), dtypes.int64, "5d") == "    3"
    assert format_scalar(f32([1.0]), dtypes.float32, "") == "tensor([1.])"
    with pytest.raises(TypeError, match="unsupported format string passed to Tensor.__format__"):
        format_scalar(f32([1.0]), dtypes.float32, ".2f")
    with pytest.raises(ValueError, match="Unknown format code 'd' for object of type 'float'"):
        format_scalar(f32(3.5), dtypes.float32, "d")


# --- against torch ----------------------------------------------------------------------------------------------------


def torch_tensor(array):
    from tests.torch_reference import torch

    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(np.array(array))


def check(array, default="float32", **options):
    """Print with both libraries under the same options, and compare."""
    from tests.torch_reference import torch

    array = np.asarray(array)
    theirs = torch_tensor(array)
    try:
        for library, set_options in ((dtypes, set_printoptions), (torch, torch.set_printoptions)):
            library.set_default_dtype(getattr(library, default))
            set_options(**options)
        assert tensor_repr(array, dtype=dtypes.of(array.dtype)) == repr(theirs)
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_printoptions(profile="default")
        dtypes.set_default_dtype(dtypes.float32)
        set_printoptions(profile="default")


RANDOM = np.random.default_rng(0)
FIXED = [
    *(f32(RANDOM.standard_normal(5) * 10.0**power) for power in range(-8, 13)),
    *(np.round(f32(RANDOM.standard_normal(5) * 10.0**power)) for power in range(0, 10)),
    f32([1e-8, 1e12]), f32([1e-4, 9.999e-2]), f32([1e-4, 0.2]), f32([0.001, 1.0]), f32([0.001, 1.001]),
    f32([1, 1000]), f32([1, 1001]), f32([1e8]), f32([100000008]), f32([1e8 + 0.5, 1]), np.array([1e8, 1e8 + 0.5]),
    f32([-0.0]), f32(-0.0), f32([-0.0, 0.5]), f32([1e-45, 1]), np.array([5e-324]), np.array([5e-324, 1e308]),
    f32([np.nan]), f32(np.nan), f32([np.nan, 0.5, -np.inf]), f32([np.inf, 1e-7]), f32([0, 0]), f32([[0], [np.nan]]),
    np.array([999999, 1000000, 10000000]), np.array([-(2**63), 2**63 - 1]), np.array([2**64 - 1], np.uint64),
    np.arange(256).astype(np.uint8), np.arange(-5, 5).astype(np.int8), np.array(True), np.array([[True], [False]]),
    np.array([1 + 1j, 2.5 - 3j, complex(np.nan, np.inf), -0.0j]), np.array(1j),
    np.array([1e-9 + 1e9j, 1], np.complex64),
    f32(RANDOM.standard_normal(30)), f32(RANDOM.standard_normal((3, 30))), f32(RANDOM.standard_normal((2, 3, 4))),
    f32(RANDOM.standard_normal((2, 1, 3, 2))), f32(RANDOM.standard_normal((2, 2, 2, 2, 2))),
    f32(RANDOM.standard_normal(1000)), f32(RANDOM.standard_normal(1001)), f32(RANDOM.standard_normal((40, 40))),
    f32(RANDOM.standard_normal((7, 7, 30))), f32(RANDOM.standard_normal((2, 700))),
    f32(RANDOM.standard_normal((700, 2))),
    f32(RANDOM.standard_normal((6, 200))), np.arange(5000), np.arange(5000).reshape(50, 100) + 1j,
    f32(np.zeros(0)), f32(np.zeros((0, 3))), f32(np.zeros((2, 0, 3))), np.zeros(0, np.int64), np.zeros((1, 0), bool),
    np.zeros((0,), np.complex128), f32(np.arange(12)).reshape(3, 4).T, f32(np.arange(12))[::-2],
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("number", range(len(FIXED)))
def test_fixed_cases_as_torch(number):
    check(FIXED[number])
    for default in ("float64", "float16", "bfloat16"):
        check(FIXED[number], default)
    if FIXED[number].dtype == np.float32:
        for kind in (np.float64, np.float16, ml_dtypes.bfloat16):
            with np.errstate(over="ignore"):
                check(FIXED[number].astype(kind))


@pytest.mark.torch
@pytest.mark.parametrize(
    "options",
    [
        {"profile": "short"}, {"profile": "full"}, {"profile": "unknown"}, {"precision": 0}, {"precision": 8},
        {"sci_mode": True}, {"sci_mode": False}, {"linewidth": 20}, {"linewidth": 1}, {"linewidth": 200},
        {"edgeitems": 1, "threshold": 5}, {"edgeitems": 0}, {"edgeitems": 0, "threshold": 5}, {"threshold": 0},
    ],
    ids=repr,
)  # fmt: skip
def test_options_as_torch(options):
    for array in FIXED[::3]:
        check(array, **options)


floats = st.one_of(
    st.floats(width=32),
    st.floats(-1000, 1000, width=32),
    st.integers(-2000, 2000).map(float),
    st.sampled_from([0.0, -0.0, 1e-4, 1e8, 1e-45, 1000.0, 0.1, math.nan, math.inf]),
)
shapes = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9)
elements = {"f": floats, "i": st.integers(-(2**63), 2**63 - 1), "b": st.booleans(), "u": st.integers(0, 255)}


@st.composite
def some_arrays(draw):
    kind = draw(st.sampled_from("fffibuc"))
    shape = draw(shapes)
    if kind == "c":
        real, imag = (draw(arrays.arrays(np.float32, shape, elements=floats)) for _ in range(2))
        array = np.empty(shape, np.complex64)
        array.real, array.imag = real, imag
        return array
    array = draw(arrays.arrays({"f": "f4", "i": "i8", "b": "?", "u": "u1"}[kind], shape, elements=elements[kind]))
    if kind == "f":
        with np.errstate(all="ignore"):
            return array.astype(draw(st.sampled_from([np.float32, np.float64, np.float16, ml_dtypes.bfloat16])))
    return array


@pytest.mark.torch
@generated(400)
@given(
    some_arrays(),
    st.fixed_dictionaries(
        {},
        optional={
            "precision": st.integers(0, 10),
            "linewidth": st.integers(1, 120),
            "edgeitems": st.integers(0, 4),
            "threshold": st.integers(0, 200),
            "sci_mode": st.sampled_from([None, True, False]),
        },
    ),
)
def test_any_array_as_torch(array, options):
    check(array, **options)


@pytest.mark.torch
@pytest.mark.parametrize("size", [0, 1, 5, 9, 10, 11, 12, 100, 2000])
def test_suffixes_as_torch(size):
    from tests.torch_reference import torch

    theirs = torch.linspace(0, 1, size) if size else torch.zeros(0)
    array, leaf, meta = theirs.numpy(), theirs.clone().requires_grad_(), torch.zeros(size, 2, device="meta")
    half = theirs.half().requires_grad_()
    for ours, expected in (
        (tensor_repr(array, requires_grad=True), leaf),
        (tensor_repr(array * 1, requires_grad=True, grad_fn_name="MulBackward0"), leaf * 1),
        (tensor_repr(half.detach().numpy(), requires_grad=True, grad_fn_name="ExpBackward0"), half.log().exp()),
        (tensor_repr(array, requires_grad=True, is_parameter=True), torch.nn.Parameter(theirs)),
        (tensor_repr(np.empty((size, 2), np.float32), device="meta"), meta),
        (tensor_repr(np.empty((size, 2), np.int64), device="meta"), meta.long()),
    ):
        if "ExpBackward0" not in ours:
            assert ours == repr(expected)
    assert tensor_repr(half.detach().numpy(), requires_grad=True) == repr(half)
    squared = half * half
    assert tensor_repr(squared.detach().numpy(), grad_fn_name="MulBackward0") == repr(squared)


@pytest.mark.torch
def test_subclass_as_torch():
    from tests.torch_reference import torch

    class Long(torch.Tensor):
        pass

    array = f32(RANDOM.standard_normal((2, 20)))
    theirs = torch.from_numpy(array).as_subclass(Long)
    assert tensor_repr(array, name="Long") == repr(theirs)
    assert tensor_repr(array, name="Long", is_parameter=True, requires_grad=True) == repr(torch.nn.Parameter(theirs))


@pytest.mark.torch
@pytest.mark.parametrize("options", [{"precision": "a"}, {"precision": -1}, {"linewidth": "a"}, {"threshold": "a"}])
def test_senseless_options_fail_as_torch(options):
    from tests.torch_reference import torch

    def outcome(call):
        try:
            return call()
        except Exception as error:
            return type(error), str(error)

    try:
        set_printoptions(**options)
        torch.set_printoptions(**options)
        for array in (f32([1.5, 2]), f32([1, 2])):
            assert outcome(lambda: tensor_repr(array)) == outcome(lambda: repr(torch.from_numpy(array)))  # noqa: B023
    finally:
        torch.set_printoptions(profile="default")


@pytest.mark.torch
@pytest.mark.parametrize("spec", ["", ".2f", "5d", "e", "10.1f", "d", ",", "s"])
@pytest.mark.parametrize(
    "array", [f32(3.14159), np.array(3), np.array(True), np.array(1.5 + 2j), np.float16(0.1), f32([1, 2])], ids=repr
)
def test_format_as_torch(array, spec):
    array = np.asarray(array)
    theirs = torch_tensor(array)
    try:
        expected = format(theirs, spec)
    except Exception as error:
        with pytest.raises(type(error)) as raised:
            format_scalar(array, dtypes.of(array.dtype), spec)
        assert str(raised.value) == str(error)
    else:
        assert format_scalar(array, dtypes.of(array.dtype), spec) == expected
