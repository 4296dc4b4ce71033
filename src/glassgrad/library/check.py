"""``opcheck``: whether an operation that a program defined keeps its promises."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..ground.nested import mapped
from .operators import Operation, find

TESTS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: Any = TESTS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Call an operation and hold it to its schema, its derivative and its shapes; "SUCCESS" or the error of each test.

    Source: https://docs.pytorch.org/docs/stable/library.html#torch.library.opcheck
    """
    operation, answers = find(op), {}
    for name in [test_utils] if isinstance(test_utils, str) else test_utils:
        if name not in _TESTS:
            raise ValueError(f"opcheck(op, ...): there is no test {name!r}; there are {TESTS}")
        try:
            _TESTS[name](operation, args, kwargs or {})
            answers[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise RuntimeError(
                    f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)"
                ) from error
            answers[name] = error  # type: ignore[assignment]
    return answers


def _copied(value: Any, device: str = "cpu") -> Any:
    def copied(each: Any) -> Any:
        if not isinstance(each, Tensor):
            return each
        return each.detach().clone().to(device).requires_grad_(each.requires_grad)  # type: ignore[attr-defined]

    return mapped(value, copied)


def _results(value: Any) -> list[Any]:
    values = value if isinstance(value, (list, tuple)) else (value,)
    return [tensor for tensor in values if isinstance(tensor, Tensor)]


def _schema(operation: Operation, args: Any, kwargs: Any) -> None:
    """Arguments that the schema does not mark are not written to."""
    args = _copied(args)
    before = _copied(args)
    operation(*args, **kwargs)
    for argument, value, old in zip(operation._schema.arguments, args, before, strict=False):
        for now, then in zip(_results(value), _results(old), strict=True):
            if not argument.is_write and not bool(((now == then) | (now.isnan() & then.isnan())).all()):
                raise RuntimeError(
                    f"{operation.name()}: argument '{argument.name}' is not defined as mutable but was mutated"
                )


def _registration(operation: Operation, args: Any, kwargs: Any) -> None:
    """Results have a derivative where inputs want one."""
    if any(tensor.requires_grad for value in args for tensor in _results(value)):
        if operation.is_custom and operation.backward is None:
            raise RuntimeError(f"{operation.name()} has no derivative: register_autograd registers one")


def _shapes(operation: Operation, args: Any, kwargs: Any) -> None:
    """Meta tensors have the shapes and dtypes of results."""
    real = _results(operation(*_copied(args), **kwargs))
    shapes = _results(operation(*_copied(args, "meta"), **kwargs))
    for ours, theirs in zip(shapes, real, strict=True):
        if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
            raise RuntimeError(
                f"Shapes {tuple(ours.shape)} and {tuple(theirs.shape)} are not equal, or dtypes "
                f"{ours.dtype} and {theirs.dtype}!"
            )


def _again(operation: Operation, args: Any, kwargs: Any) -> None:
    """Another call gives the same results and gradients."""

    def run() -> list[Any]:
        own = _copied(args)
        results = _results(operation(*own, **kwargs))
        wanted = [result.sum() for result in results if result.requires_grad]
        if wanted:
            sum(wanted[1:], wanted[0]).backward()
        return [*results, *(t.grad for value in own for t in _results(value) if t.grad is not None)]

    for first, second in zip(run(), run(), strict=True):
        if not bool(first.detach().isclose(second.detach(), equal_nan=True).all()):
            raise RuntimeError(f"{operation.name()} gives other results when it is called again")


_TESTS: dict[str, Any] = dict(zip(TESTS, (_schema, _registration, _shapes, _again), strict=True))
