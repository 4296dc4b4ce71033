"""Sparse tensors: Tensors whose data is a carrier of ``families/sparse/kernels.py``; operations arrive from above."""

from __future__ import annotations

import sys
from typing import Any

from ..core.record import VersionCounter
from ..core.tensor import Tensor, carried_by, edge_of, wrap
from ..families.sparse.kernels import Compressed, Coo
from ..ground import dtypes, errors, importing, register
from ..ground import format as formatting
from ..ground.device import device
from .node import node_of

dispatch: Any = None  # what a row of the table gives for sparse tensors, from above


class SparseTensor(Tensor):
    """A tensor that holds only the elements that are not nought: by coordinates, or by compressed rows.

    Source: https://docs.pytorch.org/docs/stable/sparse.html
    """

    __slots__ = ()
    _array: Any
    is_sparse = False
    is_sparse_csr = False

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return dispatch(func, args, kwargs or {})

    @property
    def device(self) -> device:
        """Where the data lives: always ``cpu``."""
        return device("cpu")

    @property
    def data(self) -> Tensor:
        """The same without history."""
        out = wrap(self._array)
        out._counter = VersionCounter()
        return out

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, SparseTensor):
            raise RuntimeError(errors.DATA_KIND)
        self._array = value._array

    def _nnz(self) -> int:
        return int(self._array.values.shape[0])

    def _indices(self) -> Tensor:
        return wrap(self._array.indices)

    def _values(self) -> Tensor:
        return wrap(self._array.values)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        edge = edge_of(self)
        return formatting.sparse_repr(
            self._parts(),
            shape=tuple(self._array.shape),
            nnz=self._nnz(),
            layout=str(self.layout),
            force_newline=self.is_sparse,
            requires_grad=edge is not None,
            grad_fn_name=None if edge is None or edge is self else type(node_of(edge)).__name__,
        )

    def _parts(self) -> dict[str, Any]:
        raise NotImplementedError


class CooTensor(SparseTensor):
    """A sparse tensor by coordinates."""

    __slots__ = ()
    is_sparse = True

    @property
    def layout(self) -> Any:
        """How elements are stored: ``sparse_coo``."""
        return dtypes.sparse_coo

    def _parts(self) -> dict[str, Any]:
        return {"indices": self._array.indices, "values": self._array.values}


class CompressedTensor(SparseTensor):
    """A sparse matrix by compressed rows or columns, of numbers or of blocks."""

    __slots__ = ()

    @property
    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        """Whether rows are compressed, and its values numbers."""
        return self._array.layout == "csr"  # type: ignore[no-any-return]

    @property
    def layout(self) -> Any:
        """How elements are stored: ``sparse_csr``, ``sparse_csc``, ``sparse_bsr`` or ``sparse_bsc``."""
        return getattr(dtypes, f"sparse_{self._array.layout}")

    def _parts(self) -> dict[str, Any]:
        starts, places = ("crow", "col") if self._array.layout[2] == "r" else ("ccol", "row")
        array = self._array
        return {f"{starts}_indices": array.starts, f"{places}_indices": array.places, "values": array.values}


register.hand_in(sys.modules[__name__], "dispatch", "sparse.arithmetic")
for _class in (SparseTensor, CooTensor, CompressedTensor):
    register.complete(_class, _class.__name__)
    _class.__module__, _class.__qualname__, _class.__name__ = "torch", "Tensor", "Tensor"  # as type() shows them there
if not importing.is_superseded(importing.declaring()):
    carried_by.update({Coo: CooTensor, Compressed: CompressedTensor})
