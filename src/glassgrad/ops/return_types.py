"""The named tuples that operations with several outputs give, as ``torch.return_types.max``; knows no operation."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

_NO_MORE: dict[str, Any] = {}  # what PyTorch's types take besides, and have no use for


class _Results(tuple[Any, ...]):
    """A tuple whose items have names; printed as PyTorch prints it."""

    __slots__ = ()
    n_fields = n_sequence_fields = n_unnamed_fields = 0
    _fields: tuple[str, ...] = ()

    def __new__(cls, sequence: Iterable[Any], dict: Any = _NO_MORE) -> _Results:
        if not isinstance(dict, type(_NO_MORE)):
            raise TypeError(f"torch.return_types.{cls.__name__}() takes a dict as second arg, if any")
        try:
            items = tuple.__new__(cls, sequence)
        except TypeError:
            raise TypeError("constructor requires a sequence") from None
        if len(items) != cls.n_fields:
            given = f"takes a {cls.n_fields}-sequence ({len(items)}-sequence given)"
            raise TypeError(f"torch.return_types.{cls.__name__}() {given}")
        return items

    def __repr__(self) -> str:
        lines = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{lines})"


def results(name: str, *fields: str) -> Any:
    """The type of an operation's results; built from one sequence, as PyTorch's."""
    body: dict[str, Any] = {field: property(itemgetter(i)) for i, field in enumerate(fields)}
    body |= {
        "__slots__": (),
        "__module__": "glassgrad.return_types",
        "__doc__": f"What ``{name}`` gives: {', '.join(fields)}.",
        "__match_args__": fields,
        "_fields": fields,
        "n_fields": len(fields),
        "n_sequence_fields": len(fields),
    }
    return type(name, (_Results,), body)


max = results("max", "values", "indices")
min = results("min", "values", "indices")
median = results("median", "values", "indices")
nanmedian = results("nanmedian", "values", "indices")
mode = results("mode", "values", "indices")
kthvalue = results("kthvalue", "values", "indices")
cummax = results("cummax", "values", "indices")
cummin = results("cummin", "values", "indices")
aminmax = results("aminmax", "min", "max")
sort = results("sort", "values", "indices")
topk = results("topk", "values", "indices")
slogdet = results("slogdet", "sign", "logabsdet")
svd = results("svd", "U", "S", "V")
qr = results("qr", "Q", "R")
geqrf = results("geqrf", "a", "tau")
triangular_solve = results("triangular_solve", "solution", "cloned_coefficient")
lu_unpack = results("lu_unpack", "P", "L", "U")
_lu_with_info = results("_lu_with_info", "LU", "pivots", "info")
linalg_cholesky_ex = results("linalg_cholesky_ex", "L", "info")
linalg_eig = results("linalg_eig", "eigenvalues", "eigenvectors")
linalg_eigh = results("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_inv_ex = results("linalg_inv_ex", "inverse", "info")
linalg_ldl_factor = results("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = results("linalg_ldl_factor_ex", "LD", "pivots", "info")
linalg_lstsq = results("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
linalg_lu = results("linalg_lu", "P", "L", "U")
linalg_lu_factor = results("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = results("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_qr = results("linalg_qr", "Q", "R")
linalg_slogdet = results("linalg_slogdet", "sign", "logabsdet")
linalg_solve_ex = results("linalg_solve_ex", "result", "info")
linalg_svd = results("linalg_svd", "U", "S", "Vh")
frexp = results("frexp", "mantissa", "exponent")
histogram = results("histogram", "hist", "bin_edges")
histogramdd = results("histogramdd", "hist", "bin_edges")
