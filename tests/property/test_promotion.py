"""Promotion: whatever tensors and numbers meet, the result has torch's dtype, value and refusals."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import glassgrad
from tests.counts import generated
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
OPERATIONS = {
    "add": lambda torch, a, b: a + b,
    "mul": lambda torch, a, b: a * b,
    "sub": lambda torch, a, b: a - b,
    "div": lambda torch, a, b: a / b,
    "floor div": lambda torch, a, b: a // b,
    "pow": lambda torch, a, b: a**b,
    "eq": lambda torch, a, b: a == b,
    "lt": lambda torch, a, b: a < b,
    "where": lambda torch, a, b: torch.where(torch.tensor([True, False]), a, b),
    "maximum": lambda torch, a, b: torch.maximum(a, b),
    "add_": lambda torch, a, b: a.add_(b),
    "mul_": lambda torch, a, b: a.mul_(b),
    "div_": lambda torch, a, b: a.div_(b),
    "result_type": lambda torch, a, b: torch.result_type(a, b),
    "chain": lambda torch, a, b: (a * 2 + b) * 0.5,
    "cat": lambda torch, a, b: torch.cat([a.reshape(-1), b.reshape(-1)]),
}
NUMBERS = st.sampled_from([True, 2, 3, 0.5, 2.0, 1 + 2j])
TENSOR = st.tuples(st.just("tensor"), st.sampled_from(DTYPES), st.sampled_from([(), (2,), (1, 2)]))
OPERAND = st.one_of(TENSOR, TENSOR, st.tuples(st.just("number"), NUMBERS, st.none()))
DEFAULTS = st.sampled_from(["float32", "float32", "float64"])


def operand(torch, kind, what, shape):
    """A tensor of ones and twos, or the number itself."""
    if kind == "number":
        return what
    whole = torch.ones(shape, dtype=torch.int64) + (0 if shape == () else torch.arange(shape[-1]))
    return whole.to(getattr(torch, what))


def outcome(torch, name, left, right, default):
    """What one engine gives: a dtype, a shape and values, or the type and words of an error."""
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(getattr(torch, default))
        found = OPERATIONS[name](torch, operand(torch, *left), operand(torch, *right))
    except Exception as error:  # noqa: BLE001
        return type(error).__name__, str(error).splitlines()[0]
    finally:
        torch.set_default_dtype(before)
    if isinstance(found, torch.Tensor):
        values = found.to(torch.complex128).tolist()
        return str(found.dtype), tuple(found.shape), values
    return str(found)


def close(ours, theirs):
    """Equality, with room for the rounding of a quotient or a power."""
    if len(ours) != 3 or len(theirs) != 3:
        return ours == theirs
    return ours[:2] == theirs[:2] and all(
        abs(a - b) <= 1e-2 * abs(b) or a == b or (a != a and b != b)
        for a, b in zip(flat(ours[2]), flat(theirs[2]), strict=True)
    )


def flat(value):
    return [piece for part in value for piece in flat(part)] if isinstance(value, list) else [value]


@generated(400)
@given(st.sampled_from(sorted(OPERATIONS)), TENSOR, OPERAND, DEFAULTS)
def test_dtype_is_torchs(name, left, right, default):
    theirs = outcome(torch, name, left, right, default)
    ours = outcome(glassgrad, name, left, right, default)
    assume("complex32" not in f"{ours} {theirs}")  # which no array can hold
    assert close(ours, theirs), f"{ours} instead of {theirs}"


@pytest.mark.parametrize("left", DTYPES)
def test_promote_types_is_torchs(left):
    for right in DTYPES:
        pair = [torch.promote_types(getattr(torch, left), getattr(torch, right))]
        pair.append(glassgrad.promote_types(getattr(glassgrad, left), getattr(glassgrad, right)))
        assert str(pair[0]) == str(pair[1])
        casts = [e.can_cast(getattr(e, left), getattr(e, right)) for e in (torch, glassgrad)]
        assert casts[0] == casts[1]


@generated(150)
@given(st.sampled_from(["add", "mul", "sub", "div"]), TENSOR, TENSOR)
def test_gradients_have_their_inputs_dtype(name, left, right):
    """Mixed dtypes: each gradient comes back in the dtype of its own leaf, as torch's does."""
    found = []
    for engine in (torch, glassgrad):
        a, b = operand(engine, *left), operand(engine, *right)
        leaves = [t.requires_grad_() for t in (a, b) if t.is_floating_point() or t.is_complex()]
        if not leaves or (name == "sub" and "bool" in (left[1], right[1])):  # which is refused
            return
        try:
            out = OPERATIONS[name](engine, a, b)
        except NotImplementedError as error:
            assume("ComplexHalf" not in str(error))
            raise
        if "complex32" in str(out.dtype):  # which no array can hold
            return
        out.backward(engine.ones_like(out))
        found.append([(str(t.grad.dtype), t.grad.to(engine.complex128).tolist()) for t in leaves])
    for (kind, values), (our_kind, ours) in zip(*found, strict=True):
        assert kind == our_kind
        assert all(abs(a - b) <= 1e-2 * max(abs(a), 1) for a, b in zip(flat(values), flat(ours), strict=True))
