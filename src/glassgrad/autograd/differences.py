"""Jacobians by backward and by forward mode beside central differences, as ``gradcheck`` compares them.

A Jacobian here has a row for each element of the input and a column for each element of the output, as PyTorch
prints it.
Of a complex output the imaginary and the real part are checked one after the other; a complex input has one entry for
each element, ``df/dx + i df/dy``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor, carries_gradients, share, wrap
from ..func.tangents import zeros_of
from ..func.vmap import vmap
from .api import grad
from .forward_ad import dual_level, make_dual, unpack_dual
from .function import Function
from .gradcheck import GradcheckError

_NONDETERMINISTIC = """

NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected.

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.
If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `nondet_tol=<tol>` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_nondet_tol=<tol>`.
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_nondet_tol=<tol>`
"""


_NOTES = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
_UNDEFINED_BREAKS = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break "
    'existing callers of this function. If this is true for you, you can call this function with "'
    'check_undefined_grad=False" to disable the feature'
)


def check(
    func: Callable[..., Any], inputs: tuple[Any, ...], eps: float, atol: float, rtol: float, nondet_tol: float,
    check_dtypes: bool, check_batched: bool, fast: bool,
) -> None:  # fmt: skip
    """Compare the Jacobians by backward with central differences."""
    _check_inputs(inputs)
    watched = [
        (index, value) for index, value in enumerate(inputs) if isinstance(value, Tensor) and value.requires_grad
    ]
    outputs = outputs_of(func(*inputs))
    if not any(out.requires_grad for out in outputs):
        _check_no_outputs(func, inputs, outputs, watched, eps)
        return
    for number, out in enumerate(outputs):
        if not out.requires_grad:
            continue
        parts = ("imag", "real") if out.is_complex() else (None,)  # type: ignore[attr-defined]
        for part in parts:
            analytical = _analytical(func, inputs, number, watched, part, check_dtypes)
            again = _analytical(func, inputs, number, watched, part, False)
            for a, b in zip(analytical, again, strict=True):
                if a.size and np.max(np.abs(a - b)) > nondet_tol:
                    raise GradcheckError(
                        "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
                        "times gives different values, although analytical gradient matches numerical gradient."
                        f"The tolerance for nondeterminism was {nondet_tol}." + _NONDETERMINISTIC
                    )
            for (index, tensor), jacobian in zip(watched, analytical, strict=True):
                numerical = _numerical(func, inputs, number, tensor, part, eps)
                if fast:
                    _compare_fast(numerical, jacobian, number, index, part, atol, rtol)
                elif not np.allclose(jacobian, numerical, rtol=rtol, atol=atol):
                    raise GradcheckError(_mismatch(numerical, jacobian, number, index, part))
    if check_batched:
        _check_batched(func, inputs, watched)


def check_forward(
    func: Callable[..., Any], inputs: tuple[Any, ...], eps: float, atol: float, rtol: float, check_batched: bool
) -> None:
    """Compare the Jacobians by forward mode with central differences."""
    _check_inputs(inputs)
    watched = [
        (index, value) for index, value in enumerate(inputs) if isinstance(value, Tensor) and value.requires_grad
    ]
    outputs = outputs_of(func(*inputs))
    for number, out in enumerate(outputs):
        if not isinstance(out, Tensor) or not carries_gradients(out._array.dtype):
            continue
        for index, tensor in watched:
            for part in ("imag", "real") if out.is_complex() else (None,):  # type: ignore[attr-defined]
                numerical = _numerical(func, inputs, number, tensor, part, eps)
                analytical = _part(columns(func, inputs, index, number), part)
                if tensor.is_complex():  # type: ignore[attr-defined]
                    analytical = analytical + 1j * _part(columns(func, inputs, index, number, True), part)
                if not np.allclose(analytical, numerical, rtol=rtol, atol=atol):
                    raise GradcheckError(
                        f"{_where(part)}Jacobian computed with forward mode mismatch for output {number} with respect "
                        f"to input {index},\nnumerical:{wrap(numerical)}\nanalytical:{wrap(analytical)}\n"
                    )
    if check_batched and not are_batches_alike(func, inputs, watched):
        raise GradcheckError(
            "While computing batched gradients using forward mode: tangents along a batch of directions differ from "
            "those along each direction alone"
        )


class _Undefined(Function):
    """The identity, whose backward gives no gradient."""

    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Any:
        return tensor.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> None:
        return None


def check_undefined(func: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Where no gradient comes, to any output or to one of several, none but zeros may go on."""
    wanted = [value for value in inputs if isinstance(value, Tensor) and value.requires_grad]
    count = len([out for out in outputs_of(func(*inputs)) if isinstance(out, Tensor) and out.requires_grad])
    for without in [None, *range(count)] if count > 1 else [None] * count:
        outs = [out for out in outputs_of(func(*inputs)) if isinstance(out, Tensor) and out.requires_grad]
        outs = [_Undefined.apply(out) if without in (None, index) else out for index, out in enumerate(outs)]
        try:
            grads = grad(outs, wanted, [wrap(np.zeros_like(out._array)) for out in outs], allow_unused=True)
        except RuntimeError as error:
            warnings.warn(_UNDEFINED_BREAKS, UserWarning, stacklevel=3)
            raise GradcheckError("Expected backward function to handle undefined output grads. " + _NOTES) from error
        if any(g is not None and np.any(g._array) for g in grads):
            warnings.warn(_UNDEFINED_BREAKS, UserWarning, stacklevel=3)
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                + _NOTES
            )


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    wanted = False
    for index, value in enumerate(inputs):
        if not (isinstance(value, Tensor) and value.requires_grad):
            continue
        wanted = True
        if value.dtype.itemsize < (16 if value.is_complex() else 8):  # type: ignore[attr-defined]
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. ",
                UserWarning,
                stacklevel=4,
            )
        if any(stride == 0 and size > 1 for stride, size in zip(value._array.strides, value._array.shape, strict=True)):
            raise RuntimeError(
                f"The {index}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck."
            )
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


def outputs_of(value: Any) -> list[Tensor]:
    """What a function gave, as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _check_no_outputs(
    func: Callable[..., Any], inputs: tuple[Any, ...], outputs: Sequence[Tensor], watched: Any, eps: float
) -> None:
    """Outputs without history must not depend on the inputs either."""
    for number in range(len(outputs)):
        for _, tensor in watched:
            if np.any(_numerical(func, inputs, number, tensor, None, eps)):
                raise GradcheckError("Numerical gradient for function expected to be zero")


def _part(array: Any, part: str | None) -> Any:
    return array if part is None else getattr(array, part)


def _numerical(
    func: Callable[..., Any], inputs: tuple[Any, ...], number: int, tensor: Tensor, part: str | None, eps: float
) -> Any:
    """The Jacobian of one output with respect to one input, by central differences."""
    share(tensor)
    data = tensor._array
    rows = []
    for index in np.ndindex(data.shape):
        origin = data[index]
        row = _slope(func, inputs, number, part, data, index, origin, eps)
        if data.dtype.kind == "c":
            row = row + 1j * _slope(func, inputs, number, part, data, index, origin, eps * 1j)
        rows.append(row)
    return np.array(rows) if rows else np.zeros((0, 0))


def _slope(
    func: Callable[..., Any], inputs: tuple[Any, ...], number: int, part: str | None, data: Any, index: Any,
    origin: Any, step: complex,
) -> Any:  # fmt: skip
    try:
        data[index] = origin - step
        below = np.array(_part(outputs_of(func(*inputs))[number]._array, part))
        data[index] = origin + step
        above = np.array(_part(outputs_of(func(*inputs))[number]._array, part))
    finally:
        data[index] = origin
    if above.dtype.kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    return ((above - below) / (2 * abs(step))).reshape(-1)


def _cotangents(out: Tensor, part: str | None) -> Iterator[Tensor]:
    """One for each element of an output."""
    for index in np.ndindex(out._array.shape):
        seed = np.zeros(out._array.shape, out._array.dtype)
        seed[index] = 1j if part == "imag" else 1
        yield wrap(seed)


def _analytical(
    func: Callable[..., Any], inputs: tuple[Any, ...], number: int, watched: Any, part: str | None, check_dtypes: bool
) -> list[Any]:
    """The Jacobians of one output, by backward."""
    out = outputs_of(func(*inputs))[number]
    tensors = [tensor for _, tensor in watched]
    columns: list[list[Any]] = [[] for _ in tensors]
    for seed in _cotangents(out, part):
        grads = grad(out, tensors, seed, retain_graph=True, allow_unused=True)
        for column, g, point in zip(columns, grads, tensors, strict=True):
            if g is not None and check_dtypes and g.dtype != point.dtype:
                raise GradcheckError("Backward does not return gradient of the same dtype as its input")
            column.append(
                np.zeros(point._array.size, point._array.dtype) if g is None else np.asarray(g._array).reshape(-1)
            )
    return [
        np.stack(column, axis=1) if column else np.zeros((point._array.size, 0))
        for column, point in zip(columns, tensors, strict=True)
    ]


def _where(part: str | None) -> str:
    if part is None:
        return ""
    return f"While considering the {'imaginary' if part == 'imag' else 'real'} part of complex outputs only, "


def _mismatch(numerical: Any, analytical: Any, number: int, index: int, part: str | None) -> str:
    message = f"Jacobian mismatch for output {number} with respect to input {index},\n"
    message = message if part is None else _where(part) + message
    return f"{message}numerical:{wrap(numerical)}\nanalytical:{wrap(analytical)}\n"


def _compare_fast(
    numerical: Any, analytical: Any, number: int, index: int, part: str | None, atol: float, rtol: float
) -> None:
    """Compare one random projection of the Jacobians; on a mismatch, tell both in full."""
    rng = np.random.default_rng(number * 1000 + index)
    u, v = rng.uniform(0, 1, numerical.shape[0]), rng.uniform(0, 1, numerical.shape[1])
    u, v = u / max(np.linalg.norm(u), 1e-300), v / max(np.linalg.norm(v), 1e-300)
    seen, derived = u @ numerical @ v, u @ analytical @ v
    if np.allclose(derived, seen, rtol=rtol, atol=atol):
        return
    slow = f"\n\nThe max per-element difference (slow mode) is: {np.max(np.abs(numerical - analytical))}.\n"
    raise GradcheckError(
        _where(part) + f"Jacobian mismatch for output {number} with respect to input {index},\nnumerical:{seen}\n"
        f"analytical:{derived}\n"
        "\nThe above quantities relating the numerical and analytical jacobians are computed \nin fast mode. See: "
        "https://github.com/pytorch/pytorch/issues/53876 for more background \nabout fast mode. Below, we recompute "
        f"numerical and analytical jacobians in slow mode:\n\nNumerical:\n {wrap(numerical)}\nAnalytical:\n"
        f"{wrap(analytical)}" + slow
    )


def _check_batched(func: Callable[..., Any], inputs: tuple[Any, ...], watched: Any) -> None:
    """Gradients for a batch of cotangents must equal those for each alone."""
    tensors = [tensor for _, tensor in watched]
    for out in outputs_of(func(*inputs)):
        if not out.requires_grad:
            continue
        rng = np.random.default_rng(0)
        seeds = rng.uniform(-1, 1, (2, *out._array.shape)).astype(out._array.dtype)
        try:
            together = grad(out, tensors, wrap(seeds), retain_graph=True, allow_unused=True, is_grads_batched=True)
        except RuntimeError as error:
            raise GradcheckError(f"While computing batched gradients, got: {error}") from error
        for row in range(2):
            alone = grad(out, tensors, wrap(seeds[row]), retain_graph=True, allow_unused=True)
            for a, b in zip(together, alone, strict=True):
                if a is not None and b is not None and not np.allclose(a._array[row], b._array):
                    raise GradcheckError("Batched gradients differ from the gradients of each cotangent alone")


# -- the forward half of ``gradcheck`` ---------------------------------------------------------------------------------
# Jacobians by forward mode beside central differences, alone and in batches.


def columns(
    func: Callable[..., Any], inputs: tuple[Any, ...], index: int, number: int, by_imaginary: bool = False
) -> Any:
    """The Jacobian of output ``number`` by input ``index``: a row for each element of the input."""
    tensor = inputs[index]
    rows = []
    for place in np.ndindex(tensor._array.shape):
        unit = np.zeros(tensor._array.shape, tensor._array.dtype)
        unit[place] = 1j if by_imaginary else 1
        rows.append(_along(func, inputs, index, wrap(unit), number).reshape(-1))
    return np.array(rows) if rows else np.zeros((0, 0))


def _dual(value: Any, direction: Any) -> Any:
    return make_dual(value.detach().requires_grad_(value.requires_grad), direction)


def _along(func: Callable[..., Any], inputs: tuple[Any, ...], index: int, direction: Tensor, number: int) -> Any:
    """The tangent of an output as an array; zeros where it has none."""
    with dual_level():
        duals = [_dual(value, direction) if n == index else value for n, value in enumerate(inputs)]
        outputs = func(*duals)
        out = unpack_dual(list(outputs)[number] if isinstance(outputs, (list, tuple)) else outputs)
        tangent = zeros_of(out.primal) if out.tangent is None else out.tangent
        return np.array(tangent.detach()._array)


def are_batches_alike(func: Callable[..., Any], inputs: tuple[Any, ...], watched: Sequence[Any]) -> bool:
    """Whether tangents along a batch of directions are those along each alone, for each input and output."""
    for index, tensor in watched:
        rng = np.random.default_rng(0)
        directions = wrap(rng.uniform(-1, 1, (2, *tensor._array.shape)).astype(tensor._array.dtype))

        def pushed(direction: Any, index: int = index) -> tuple[Any, ...]:
            with dual_level():
                duals = [_dual(v, direction) if n == index else v for n, v in enumerate(inputs)]
                answer = func(*duals)
                parts = [unpack_dual(out) for out in (answer if isinstance(answer, (list, tuple)) else [answer])]
                return tuple(zeros_of(p.primal) if p.tangent is None else p.tangent for p in parts
                             if isinstance(p.primal, Tensor) and carries_gradients(p.primal._array.dtype))  # fmt: skip

        together = vmap(pushed)(directions)
        for row in range(2):
            alone = pushed(wrap(directions._array[row]))
            for a, b in zip(together, alone, strict=True):
                if not np.allclose(a.detach()._array[row], b.detach()._array):
                    return False
    return True
