"""DeviceMesh: ranks laid out in rows and columns, with a process group for each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import wrap
from .distributed_c10d import get_rank, get_world_size, new_group

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Ranks as an array; ``mesh["name"]`` is this rank's line of ranks along a dimension, with its group.

    Groups are all there is of it here: layouts of tensors over a mesh belong to torch.distributed.tensor.
    Source: https://docs.pytorch.org/docs/stable/distributed.html#devicemesh
    """

    def __init__(
        self, device_type: str, mesh: Any, *, mesh_dim_names: tuple[str, ...] | None = None, _groups: Any = None
    ) -> None:
        self.device_type, self.mesh_dim_names = device_type, mesh_dim_names
        self.mesh = wrap(np.array(getattr(mesh, "_array", mesh), np.int32))
        if mesh_dim_names is not None and len(mesh_dim_names) != self.ndim:
            raise RuntimeError("mesh_dim_names must have same length as mesh_shape")
        self._groups: list[Any] = _groups or [self._make(dim) for dim in range(self.ndim)]

    def _make(self, dim: int) -> Any:
        """The group of this rank's line along a dimension; all ranks make the groups of all lines."""
        own = None
        for line in np.moveaxis(self.mesh._array, dim, -1).reshape(-1, self.mesh._array.shape[dim]).tolist():
            group = new_group(line, sort_ranks=False)
            own = group if get_rank() in line else own
        return own

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self.mesh._array.ndim)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of ranks along each dimension."""
        return tuple(self.mesh._array.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """The number of ranks, of all or along a dimension."""
        return int(self.mesh._array.size if mesh_dim is None else self.shape[mesh_dim])

    def _dimension(self, dim: int | str | None) -> int:
        if dim is None and self.ndim > 1:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to be specified "
                "when device_mesh.ndim > 1."
            )
        if dim is None or isinstance(dim, int):
            return dim or 0
        if dim not in (names := self.mesh_dim_names or ()):
            raise KeyError(f"Invalid mesh_dim_name {dim}: the mesh's dimensions are {self.mesh_dim_names}")
        return names.index(dim)

    def __getitem__(self, name: str) -> DeviceMesh:
        dim = self._dimension(name)
        if (coordinate := self.get_coordinate()) is None:
            raise RuntimeError(f"rank {get_rank()} is not in the mesh")
        line = self.mesh._array[tuple(slice(None) if d == dim else at for d, at in enumerate(coordinate))]
        return DeviceMesh(self.device_type, line, mesh_dim_names=(name,), _groups=[self._groups[dim]])

    def get_group(self, mesh_dim: int | str | None = None) -> Any:
        """The group of this rank's line along a dimension."""
        return self._groups[self._dimension(mesh_dim)]

    def get_all_groups(self) -> list[Any]:
        """The groups of all dimensions."""
        return list(self._groups)

    def get_rank(self) -> int:
        """This process's rank among all."""
        return get_rank()

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """This process's rank along a dimension."""
        return get_rank(self.get_group(mesh_dim))

    def get_coordinate(self) -> list[int] | None:
        """Where this rank stands; None where it is not in the mesh."""
        places = np.argwhere(self.mesh._array == get_rank())
        return places[0].tolist() if len(places) else None

    def __repr__(self) -> str:
        names = self.mesh_dim_names or range(self.ndim)
        sizes = ", ".join(f"{name}={size}" for name, size in zip(names, self.shape, strict=True))
        return f"DeviceMesh(({sizes}), '{self.device_type}')"


def init_device_mesh(
    device_type: str, mesh_shape: tuple[int, ...], *, mesh_dim_names: tuple[str, ...] | None = None
) -> DeviceMesh:
    """A mesh of all ranks in their order."""
    if mesh_dim_names is not None and len(set(mesh_dim_names)) != len(mesh_dim_names):
        raise RuntimeError(f"Each mesh_dim_name must be unique. Found repeated mesh_dim_name in {mesh_dim_names}")
    size, count = get_world_size(), int(np.prod(mesh_shape))
    if count != size:
        raise RuntimeError(f"Mesh should not be bigger than default world size {size}, but found {count} ranks!")
    return DeviceMesh(device_type, np.arange(size).reshape(mesh_shape), mesh_dim_names=mesh_dim_names)
