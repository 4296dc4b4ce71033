"""LBFGS: steps along an estimate of Newton's direction, made of the last steps and changes of the gradient."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..families.cast.rows import view_as_real
from ..families.join.functions import cat
from ..ground import modes
from .optimizer import evaluated
from .settings import WithSettings, number


class LBFGS(WithSettings):
    """A quasi-Newton method; its ``step`` needs a closure, and calls it several times.

    max_iter          steps at most within one call of ``step``
    max_eval          calls of the closure at most (default 5/4 of ``max_iter``)
    tolerance_grad    stop when no gradient is larger
    tolerance_change  stop when parameters or the loss change by less
    history_size      how many steps make up the estimate
    line_search_fn    "strong_wolfe" to search along the direction; None to step by ``lr``
    Source: Nocedal and Wright (2006), 7.2; https://docs.pytorch.org/docs/stable/generated/torch.optim.LBFGS.html
    """

    _checked = "lr"

    def __init__(
        self, params: Iterable[Any], lr: Any = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        self._begin(locals())
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Any]:
        return self.param_groups[0]["params"]  # type: ignore[no-any-return]

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Up to ``max_iter`` steps; gives the loss before them. ``closure`` computes it and its gradients anew."""
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        before = modes.local.grad
        try:
            modes.set_grad(False)
            return self._iterate(closure)
        finally:
            modes.local.grad = before
            modes.settle()

    def _iterate(self, closure: Callable[[], Any]) -> Any:
        group = self.param_groups[0]
        lr, most, line_search = number(group["lr"]), group["max_iter"], group["line_search_fn"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = evaluated(closure)
        loss = float(first)
        evaluations = 1
        state["func_evals"] += 1
        grad = self._gradient()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first
        d, t = state.get("d"), state.get("t")
        changes, steps, ro = state.get("old_dirs"), state.get("old_stps"), state.get("ro")
        scale, last_grad, last_loss = state.get("H_diag"), state.get("prev_flat_grad"), state.get("prev_loss")
        for turn in range(1, most + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                d, changes, steps, ro, scale = grad.neg(), [], [], [], 1
            else:
                change, step = grad.sub(last_grad), d.mul(t)
                curvature = change.dot(step)
                if curvature > 1e-10:
                    if len(changes) == group["history_size"]:
                        for history in (changes, steps, ro):
                            history.pop(0)
                    changes.append(change)
                    steps.append(step)
                    ro.append(1.0 / curvature)
                    scale = curvature / change.dot(change)
                alphas = state.setdefault("al", [None] * group["history_size"])
                d = _direction(grad, changes, steps, ro, scale, alphas)
            if last_grad is None:
                last_grad = grad.clone()
            else:
                last_grad.copy_(grad)
            last_loss = loss
            t = min(1.0, 1.0 / grad.abs().sum()) * lr if state["n_iter"] == 1 else lr
            slope = grad.dot(d)
            if slope > -group["tolerance_change"]:
                break
            tried = 0
            if line_search is not None:
                if line_search != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                here = [param.clone() for param in self._params]
                look = functools.partial(self._look, closure, here, d)
                start = Point(0, loss, grad, slope)
                point, tried = strong_wolfe(look, t, d, start, group["max_eval"] - evaluations)
                t, loss, grad = point.t, point.loss, point.grad
                self._move(t, d)
            else:
                self._move(t, d)
                if turn != most:
                    loss = float(evaluated(closure))
                    grad = self._gradient()
                    tried = 1
            evaluations += tried
            state["func_evals"] += tried
            if (
                turn == most
                or evaluations >= group["max_eval"]
                or grad.abs().max() <= group["tolerance_grad"]
                or d.mul(t).abs().max() <= group["tolerance_change"]
                or abs(loss - last_loss) < group["tolerance_change"]
            ):
                break
        state.update(
            d=d, t=t, old_dirs=changes, old_stps=steps, ro=ro, H_diag=scale, prev_flat_grad=last_grad,
            prev_loss=last_loss,
        )  # fmt: skip
        return first

    def _gradient(self) -> Any:
        """All gradients end to end, real and imaginary parts by turns."""
        pieces = []
        for param in self._params:
            piece = (param.new_zeros(param.numel()) if param.grad is None else param.grad.to_dense()).reshape(-1)
            pieces.append(view_as_real(piece).reshape(-1) if piece.is_complex() else piece)
        return cat(pieces, 0)

    def _move(self, t: Any, d: Any) -> None:
        """Go the way ``t * d``."""
        start = 0
        for param in self._params:
            if param.is_complex():
                param = view_as_real(param)
            stop = start + param.numel()
            param.add_(d[start:stop].view_as(param), alpha=number(t))
            start = stop

    def _look(self, closure: Callable[[], Any], here: list[Any], d: Any, t: Any) -> tuple[float, Any]:
        """The loss and its gradient at ``t * d`` from here; comes back."""
        self._move(t, d)
        loss = float(evaluated(closure))
        grad = self._gradient()
        for param, value in zip(self._params, here, strict=True):
            param.copy_(value)
        return loss, grad


def _direction(grad: Any, changes: list[Any], steps: list[Any], ro: list[Any], scale: Any, alphas: list[Any]) -> Any:
    """Minus the gradient times the estimated inverse of the Hessian: two loops over the history."""
    d = grad.neg()
    for i in reversed(range(len(changes))):
        alphas[i] = steps[i].dot(d) * ro[i]
        d.add_(changes[i], alpha=-alphas[i].item())
    d = d.mul(scale)
    for i in range(len(changes)):
        back = changes[i].dot(d) * ro[i]
        d.add_(steps[i], alpha=(alphas[i] - back).item())
    return d


class Point(NamedTuple):
    """A place on the line: how far, the loss, its gradient, and the slope along the line."""

    t: Any
    loss: float
    grad: Any
    slope: Any


def strong_wolfe(
    look: Callable[[Any], tuple[float, Any]], t: Any, d: Any, start: Point, most: int, c1: float = 1e-4,
    c2: float = 0.9, tolerance: float = 1e-9,
) -> tuple[Point, int]:  # fmt: skip
    """A point along ``d`` as Wolfe's conditions ask, the loss lower and the slope flatter; and how often it looked.

    ``look(t)`` gives the loss and the gradient at ``t * d``; ``t`` is where to look first, ``most`` limits the search.
    """
    size = d.abs().max()

    def at(t: Any) -> Point:
        loss, grad = look(t)
        return Point(t, loss, grad, grad.dot(d))

    def too_high(now: Point) -> bool:
        return bool(now.loss > start.loss + c1 * now.t * start.slope)

    last, now, looks, tried = start, at(t), 1, 0
    ends = None  # of the stretch that holds such a point
    while tried < most and ends is None:
        if too_high(now) or (tried > 1 and now.loss >= last.loss):
            ends = [last, now]
        elif abs(now.slope) <= -c2 * start.slope:
            return now, looks
        elif now.slope >= 0:
            ends = [last, now]
        else:
            t = now.t
            t = _lowest(last, now, t + 0.01 * (t - last.t), t * 10)
            last, now = now, at(t)
            looks += 1
            tried += 1
    if ends is None:
        ends = [start, now]

    stuck = False
    low, high = (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)
    while tried < most and not abs(ends[1].t - ends[0].t) * size < tolerance:
        left, right = min(ends[0].t, ends[1].t), max(ends[0].t, ends[1].t)
        t = _lowest(ends[0], ends[1], left, right)
        margin = 0.1 * (right - left)
        close = min(right - t, t - left) < margin
        if close and (stuck or t >= right or t <= left):  # too near an end: further in
            t = right - margin if abs(t - right) < abs(t - left) else left + margin
            close = False
        stuck = bool(close)
        now = at(t)
        looks += 1
        tried += 1
        if too_high(now) or now.loss >= ends[low].loss:
            ends[high] = now
            low, high = (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)
            continue
        if abs(now.slope) <= -c2 * start.slope:
            return now, looks
        if now.slope * (ends[high].t - ends[low].t) >= 0:
            ends[high] = ends[low]
        ends[low] = now
    return ends[low], looks


def _lowest(one: Point, other: Point, left: Any, right: Any) -> Any:
    """Where between two limits the cubic is lowest that has the losses and slopes of two points."""
    if one.t > other.t:
        one, other = other, one
    tilt = one.slope + other.slope - 3 * (one.loss - other.loss) / (one.t - other.t)
    square = tilt**2 - one.slope * other.slope
    if not square >= 0:  # NaN is none
        return (left + right) / 2.0
    root = square.sqrt()
    t = other.t - (other.t - one.t) * ((other.slope + root - tilt) / (other.slope - one.slope + 2 * root))
    return min(max(t, left), right)
