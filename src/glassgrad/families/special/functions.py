"""PyTorch's signatures of the special functions of two variables, one of which may be a number, and of ndtr; frexp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...ground.dtypes import get_default_dtype
from ...ground.listening import audible
from ...ops import return_types as results
from ...ops.declare import composite
from ...tensor import writable
from ..arithmetic.functions import is_number, need_tensor, no_match, of_two, plain, written
from ..arithmetic.rows import add_number, mul_number
from ..pointwise.rounding import round_decimals
from ..pointwise.rows import frexp_parts
from . import rows as gamma
from . import rows as special
from .rows import POLYNOMIALS

_DEGREE = (
    "Tensor input, Tensor n, *, Tensor out = None",
    "Number x, Tensor n, *, Tensor out = None",
    "Tensor input, Number n, *, Tensor out = None",
)
_ROOT_HALF = 0.7071067811865476


@composite(function=False)
def mvlgamma_(self: Tensor, p: int) -> Tensor:
    """In-place :func:`mvlgamma`."""
    writable.check_writable(self, False)
    special.check_dimension(p)
    return written(special.mvlgamma, self, settings=(p,))


@audible
def special_round(input: Tensor, *, decimals: int = 0, out: Any = None) -> Tensor:
    """The nearest multiple of a power of ten; halves go to the even one."""
    return round_decimals(input, decimals, out=out)  # type: ignore[no-any-return]


@audible
def special_ndtr(input: Tensor, *, out: Any = None) -> Tensor:
    """The normal distribution function."""
    need_tensor("special_ndtr", "input", 1, input)
    if input._array.dtype.kind in "biu":
        input = input.to(get_default_dtype())  # type: ignore[attr-defined]
    half = special.erf(mul_number(input, _ROOT_HALF))
    return mul_number(add_number(half, 1), 0.5, out=out)  # type: ignore[no-any-return]


@audible
def special_xlog1py(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input * log1p(other)``, zero where ``input`` is zero; one of them may be a number."""
    rows = special.special_xlog1py, special.xlog1py_number, special.xlog1py_of_number
    return of_two("special_xlog1py", *rows, input, other, out)


@audible
def special_zeta(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """Hurwitz's zeta function of the exponent ``input`` from ``other`` on; one of them may be a number."""
    rows = gamma.special_zeta, gamma.zeta_number, gamma.zeta_of_number
    return of_two("special_zeta", *rows, input, other, out)


def _polynomial(name: str, row: Any) -> Callable[..., Tensor]:
    def of_degree(input: Any, n: Any, *, out: Any = None) -> Tensor:
        tensors = isinstance(input, Tensor), isinstance(n, Tensor)
        if not any(tensors) or not (tensors[0] or is_number(input)) or not (tensors[1] or is_number(n)):
            raise no_match(f"special_{name}", (input, n), *_DEGREE)
        return row(plain(input), plain(n), out=out)  # type: ignore[no-any-return]

    of_degree.__name__ = of_degree.__qualname__ = name
    of_degree.__doc__ = row.__doc__
    return audible(of_degree)


#: name in torch.special -> function of arguments and degrees, one of which may be a number
of_degree = {name: _polynomial(name, row) for name, row in POLYNOMIALS.items()}


@composite(page="torch")
def frexp(input: Tensor, *, out: Any = None) -> Any:
    """Mantissas from a half to one, and the powers of two that they are to be multiplied with."""
    need_tensor("frexp", "input", 1, input)
    return tuple.__new__(results.frexp, frexp_parts(input, out=out))
