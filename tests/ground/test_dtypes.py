"""The element types: names, limits, and every entry of PyTorch's promotion table."""

import builtins
import copy
import itertools
import pickle

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassgrad.ground import dtypes

NAMES = [kind.name for kind in dtypes.ALL]
NUMBERS = (builtins.bool, builtins.int, builtins.float, complex)


@pytest.fixture(autouse=True)
def default_restored():
    before = dtypes.get_default_dtype()
    yield
    dtypes.set_default_dtype(before)


def outcome(call, *args, **kwargs):
    """What a call gives: its value's text, or its error's type and text."""
    try:
        return str(call(*args, **kwargs))
    except Exception as error:
        return type(error).__name__, str(error)


# --- the types themselves ---------------------------------------------------------------------------------------------


def test_names_and_aliases():
    assert repr(dtypes.float32) == str(dtypes.float32) == "torch.float32"
    assert dtypes.float is dtypes.float32 and dtypes.double is dtypes.float64 and dtypes.half is dtypes.float16
    assert dtypes.int is dtypes.int32 and dtypes.long is dtypes.int64 and dtypes.short is dtypes.int16
    assert (
        dtypes.cfloat is dtypes.complex64 and dtypes.cdouble is dtypes.complex128 and dtypes.chalf is dtypes.complex32
    )
    assert repr(dtypes.bool) == "torch.bool"


@pytest.mark.parametrize("name", NAMES)
def test_copies_are_the_same_object(name):
    kind = getattr(dtypes, name)
    assert copy.deepcopy(kind) is copy.copy(kind) is kind
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(kind, protocol)) is kind


@pytest.mark.parametrize("name", [name for name in NAMES if name != "complex32"])
def test_numpy_and_back(name):
    kind = getattr(dtypes, name)
    assert kind.numpy == np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    assert kind.numpy.itemsize == kind.itemsize
    assert dtypes.of(kind.numpy) is kind
    assert dtypes.of(np.zeros(2, kind.numpy).dtype) is kind


def test_of_knows_types_that_only_equal():
    assert dtypes.of(np.dtype("longlong")) is dtypes.int64
    assert dtypes.of(np.dtype("f4", metadata={"unit": "m"})) is dtypes.float32


def test_complex32_has_no_array():
    with pytest.raises(TypeError, match="no NumPy counterpart"):
        _ = dtypes.complex32.numpy


def test_types_are_closed():
    with pytest.raises(TypeError, match="cannot create 'torch.dtype' instances"):
        dtypes.dtype("float32")
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("mine", (dtypes.dtype,), {})
    with pytest.raises(AttributeError, match="attribute 'itemsize' of 'torch.dtype' objects is not writable"):
        dtypes.float32.itemsize = 3
    with pytest.raises(AttributeError, match="'torch.dtype' object has no attribute 'x'"):
        dtypes.float32.x = 3
    assert dtypes.float32.itemsize == 4


def test_promotion_without_torch():
    promote, result = dtypes.promote_types, dtypes.result_dtype
    assert promote(dtypes.uint8, dtypes.int8) is dtypes.int16
    assert promote(dtypes.float16, dtypes.bfloat16) is dtypes.float32
    assert promote(dtypes.int64, dtypes.float32) is dtypes.float32
    assert result((dtypes.int64,), (), (builtins.float,)) is dtypes.float32
    assert result((dtypes.float32,), (dtypes.float64,)) is dtypes.float32
    assert result((dtypes.int8,), (dtypes.float64,)) is dtypes.float64
    assert result((dtypes.bool,), (), (builtins.int,)) is dtypes.int64
    assert result((dtypes.float64,), (), (complex,)) is dtypes.complex128
    assert dtypes.category(dtypes.uint8) == "int" and dtypes.category(dtypes.bool) == "bool"


def test_answers_follow_the_default():
    key = (dtypes.int64,), (), (builtins.float,)
    assert dtypes.result_dtype(*key) is dtypes.float32
    dtypes.set_default_dtype(dtypes.float64)
    assert dtypes.result_dtype(*key) is dtypes.default() is dtypes.float64
    assert dtypes.default_complex() is dtypes.of_number(complex) is dtypes.complex128


def test_result_of_nothing_and_of_no_number():
    with pytest.raises(RuntimeError, match="at least one operand"):
        dtypes.result_dtype()
    with pytest.raises(TypeError, match="str is not the type of a Python number"):
        dtypes.result_dtype((), (), (str,))


def test_a_refused_default_changes_nothing():
    for refused in (dtypes.int32, "float32", None, dtypes.complex64):
        with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
            dtypes.set_default_dtype(refused)
        assert dtypes.default() is dtypes.float32 and dtypes.default_complex() is dtypes.complex64


some_dtypes = st.lists(st.sampled_from([d for d in dtypes.ALL if not d.name.startswith("uint") or d.name == "uint8"]))


@given(some_dtypes, st.randoms())
def test_the_order_of_operands_does_not_matter(kinds, random):
    if kinds:
        shuffled = random.sample(kinds, len(kinds))
        assert dtypes.result_dtype(tuple(kinds)) is dtypes.result_dtype(tuple(shuffled))
        assert dtypes.result_dtype((), tuple(kinds)) is dtypes.result_dtype((), tuple(shuffled + kinds))


def test_result_of_lists_and_of_many():
    many = [dtypes.float16] * 5 + [dtypes.bfloat16] * 5
    assert dtypes.result_dtype(many, [dtypes.float64], [complex]) is dtypes.complex64
    assert dtypes.result_dtype([], [dtypes.int8], [builtins.bool]) is dtypes.int8


def test_named_constants():
    assert repr(dtypes.strided) == "torch.strided" and repr(dtypes.channels_last) == "torch.channels_last"
    for constant in (dtypes.strided, dtypes.contiguous_format, dtypes.preserve_format, dtypes.channels_last_3d):
        assert copy.deepcopy(constant) is pickle.loads(pickle.dumps(constant)) is constant
    with pytest.raises(TypeError, match="cannot create 'torch.layout' instances"):
        dtypes.layout()
    with pytest.raises(AttributeError, match="'torch.memory_format' object has no attribute 'x'"):
        dtypes.channels_last.x = 1


# --- against torch ----------------------------------------------------------------------------------------------------


@pytest.fixture
def torch():
    from tests.torch_reference import torch

    yield torch
    torch.set_default_dtype(torch.float32)


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_attributes_as_torch(torch, name):
    ours, theirs = getattr(dtypes, name), getattr(torch, name)
    assert repr(ours) == repr(theirs)
    for attribute in ("itemsize", "is_floating_point", "is_complex", "is_signed"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    assert outcome(ours.to_real) == outcome(theirs.to_real)
    assert outcome(ours.to_complex) == outcome(theirs.to_complex)


@pytest.mark.torch
def test_aliases_as_torch(torch):
    for name in ("short", "int", "long", "half", "float", "double", "chalf", "cfloat", "cdouble"):
        assert str(getattr(dtypes, name)) == str(getattr(torch, name))


@pytest.mark.torch
def test_pairs_as_torch(torch):
    for a, b in itertools.product(NAMES, NAMES):
        for name in ("promote_types", "can_cast"):
            ours = outcome(getattr(dtypes, name), getattr(dtypes, a), getattr(dtypes, b))
            assert ours == outcome(getattr(torch, name), getattr(torch, a), getattr(torch, b)), (name, a, b)


@pytest.mark.torch
def test_refusals_as_torch(torch):
    for other in ("x", None, 3, str, np.float64, *NUMBERS):
        for name in ("promote_types", "can_cast"):
            assert outcome(getattr(dtypes, name), dtypes.int8, other) == outcome(
                getattr(torch, name), torch.int8, other
            )
        for name in ("finfo", "iinfo"):
            assert outcome(getattr(dtypes, name), other) == outcome(getattr(torch, name), other)
        ours = outcome(dtypes.demand, other, "zeros")
        theirs = outcome(lambda kind: torch.zeros(1, dtype=kind).dtype, other)
        assert ours == theirs or other is None
    for numpy_dtype in ("O", "U3", "M8[s]", "S2", "g", "G", ">f4", "f4,i4"):
        ours = outcome(dtypes.of, np.dtype(numpy_dtype))
        assert ours == outcome(torch.from_numpy, np.zeros(1, numpy_dtype))


DEFAULTS = ("float32", "float64", "float16", "bfloat16")


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("default", DEFAULTS)
def test_result_type_of_every_two_operands_as_torch(torch, default):
    dtypes.set_default_dtype(getattr(dtypes, default))
    torch.set_default_dtype(getattr(torch, default))
    operands = [((), (), (type(number),), number) for number in (True, 2, 2.0, 2j)]
    for name in NAMES:
        ours = getattr(dtypes, name)
        operands.append(((ours,), (), (), torch.empty(1, dtype=getattr(torch, name))))
        operands.append(((), (ours,), (), torch.empty((), dtype=getattr(torch, name))))
    for (*a, theirs_a), (*b, theirs_b) in itertools.product(operands, operands):
        ours = outcome(dtypes.result_dtype, *(x + y for x, y in zip(a, b, strict=True)))
        assert ours == outcome(torch.result_type, theirs_a, theirs_b), (default, a, b)


@pytest.mark.torch
def test_result_type_of_three_operands_as_torch(torch):
    names = ("uint8", "int8", "int64", "bfloat16", "float16", "float32", "float64", "complex64", "complex128")
    operands = []
    for name, shape in itertools.product(names, ((1,), ())):
        ours = (getattr(dtypes, name),)
        operands.append((ours if shape else (), () if shape else ours, torch.ones(shape, dtype=getattr(torch, name))))
    for three in itertools.combinations_with_replacement(operands, 3):
        dims, zeros, theirs = zip(*three, strict=True)
        ours = dtypes.result_dtype(sum(dims, ()), sum(zeros, ()))
        assert str(ours) == str(torch.addcmul(*theirs).dtype), three


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("default", DEFAULTS)
def test_type_of_a_number_as_torch(torch, default):
    dtypes.set_default_dtype(getattr(dtypes, default))
    torch.set_default_dtype(getattr(torch, default))
    for number in (True, 2, 2.0, 2j):
        assert outcome(dtypes.of_number, type(number)) == outcome(lambda n: torch.tensor(n).dtype, number)


@pytest.mark.torch
def test_default_dtype_as_torch(torch):
    for name in (*NAMES, None, "float64"):
        ours, theirs = getattr(dtypes, name or "", name), getattr(torch, name or "", name)
        assert outcome(dtypes.set_default_dtype, ours) == outcome(torch.set_default_dtype, theirs)
        assert str(dtypes.get_default_dtype()) == str(torch.get_default_dtype())


# --- limits -----------------------------------------------------------------------------------------------------------


def test_limits_without_torch():
    assert repr(dtypes.finfo(dtypes.float32)) == (
        "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
        "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)"
    )
    assert dtypes.finfo(dtypes.float64).max == np.finfo(np.float64).max
    assert dtypes.finfo().bits == 32 and dtypes.finfo(dtypes.complex128).dtype == "float64"
    assert repr(dtypes.iinfo(dtypes.int32)) == "iinfo(min=-2.14748e+09, max=2.14748e+09, dtype=int32)"
    assert dtypes.iinfo(dtypes.int64).max == 2**63 - 1


@pytest.mark.torch
@pytest.mark.parametrize("name", [*NAMES, "x", None])
@pytest.mark.parametrize("limits", ["finfo", "iinfo"])
def test_limits_as_torch(torch, limits, name):
    ours, theirs = getattr(dtypes, limits), getattr(torch, limits)
    a, b = (getattr(dtypes, name), getattr(torch, name)) if name in NAMES else (name, name)
    if (limits, name) == ("finfo", "complex32"):
        assert ours(a).dtype == "float16"
        return
    assert outcome(ours, a) == outcome(theirs, b)
    if name in NAMES and not isinstance(outcome(ours, a), tuple):
        for attribute in ("bits", "max", "min", "dtype", *(("eps", "tiny") if limits == "finfo" else ())):
            assert getattr(ours(a), attribute) == getattr(theirs(b), attribute)
            assert type(getattr(ours(a), attribute)) is type(getattr(theirs(b), attribute))
        if limits == "finfo":
            assert ours(a).smallest_normal == theirs(b).smallest_normal
            assert ours(a).resolution == theirs(b).resolution


@pytest.mark.torch
def test_behaviour_of_limits_as_torch(torch):
    for library in (dtypes, torch):
        one, same, other = library.finfo(library.half), library.finfo(library.half), library.finfo(library.double)
        assert one == same and one != other and one != 3
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)
        with pytest.raises(TypeError, match="cannot pickle 'torch.finfo' object"):
            pickle.dumps(one)
        with pytest.raises(AttributeError, match="attribute 'max' of 'torch.finfo' objects is not writable"):
            one.max = 1
        with pytest.raises(AttributeError, match="'torch.finfo' object has no attribute 'x'"):
            one.x = 1
        with pytest.raises(TypeError, match='iinfo\\(\\) missing 1 required positional arguments: "type"'):
            library.iinfo()
        library.set_default_dtype(library.float16)
        assert library.finfo().bits == 16


@pytest.mark.parametrize(
    "ask",
    [
        lambda torch, x: x.chalf(),
        lambda torch, x: x.to(torch.complex32),
        lambda torch, x: torch.view_as_complex(x),
        lambda torch, x: torch.zeros(2, dtype=torch.chalf),
        lambda torch, x: x + 1j,
    ],
)
def test_who_asks_for_complex_halves_is_told_what_to_use(ask):
    import glassgrad

    with pytest.raises(TypeError, match="use torch.complex64"):
        ask(glassgrad, glassgrad.ones(2, 2).half())
