"""Changing all tensors of a module at once: dtype, device, layout in memory, or any function."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ...core.tensor import Tensor
from ...ground import device as devices
from ...ground import dtypes, modes
from ...tensor.members import may_be_data
from ...utils.swap import swap_tensors
from ..parameter import Parameter


class _Flags:
    """How converted parameters come into a module, as ``torch.__future__`` sets it."""

    overwrite = swap = False


flags = _Flags()


class Conversion:
    """What moves and converts a Module."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    children: Callable[[], Iterator[Any]]

    def _apply(self, fn: Callable[[Any], Tensor], recurse: bool = True) -> Any:
        """Replace the data of every parameter, gradient and buffer by what ``fn`` makes of it."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            grad = parameter._grad
            converted = _without_grad(fn, parameter)
            if flags.swap:
                parameter._grad = None
                self._swap(name, parameter, Parameter(converted, requires_grad=parameter.requires_grad), grad)
            elif flags.overwrite or not may_be_data(parameter, converted):
                parameter = self._parameters[name] = Parameter(converted, requires_grad=parameter.requires_grad)
            else:
                parameter.data = converted
            if grad is not None:
                converted = _without_grad(fn, grad)
                if flags.swap:
                    self._swap(f"{name}.grad", grad, converted.requires_grad_(grad.requires_grad), None)
                    parameter._grad = grad
                elif flags.overwrite or not may_be_data(grad, converted):
                    parameter._grad = converted.requires_grad_(grad.requires_grad)
                else:
                    grad.data = converted
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def _swap(self, name: str, tensor: Tensor, converted: Tensor, grad: Tensor | None) -> None:
        """Exchange a tensor with its converted form; where that cannot be, it has its gradient again."""
        try:
            swap_tensors(tensor, converted)
        except RuntimeError as error:
            tensor._grad = grad
            raise RuntimeError(f"_apply(): Couldn't swap {type(self).__name__}.{name}") from error

    def apply(self, fn: Callable[[Any], Any]) -> Any:
        """Call ``fn`` on every module below this one, then on this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Convert parameters and buffers: ``to(dtype)``, ``to(device)``, ``to(device, dtype)``, ``to(tensor)``.

        Only floating point and complex dtypes are taken; integer buffers keep theirs.
        """
        device, dtype, memory_format = _parse(*args, **kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
                )
            if dtype.is_complex:
                warnings.warn(
                    "Complex modules are a new feature under active development whose design may change, and some "
                    "modules might not work as expected when using complex tensors as parameters or buffers. Please "
                    "file an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a "
                    "complex module does not work as expected.",
                    stacklevel=2,
                )

        def convert(tensor: Any) -> Tensor:
            wanted: dict[str, Any] = {}
            if device is not None:
                wanted["device"] = device
            if dtype is not None and (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
                wanted["dtype"] = dtype
            if memory_format is not None and tensor.ndim in (4, 5):
                wanted["memory_format"] = memory_format
            try:
                return tensor.to(**wanted) if wanted else tensor  # type: ignore[no-any-return]
            except NotImplementedError as error:
                if str(error) == "Cannot copy out of meta tensor; no data!":
                    raise NotImplementedError(
                        f"{error} Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving "
                        "module from meta to a different device."
                    ) from None
                raise

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Move parameters and buffers to ``device`` without their values."""
        from ...families.create.functions import empty_like

        return self._apply(lambda t: empty_like(t, device=device), recurse=recurse)

    def type(self, dst_type: Any) -> Any:
        """Convert parameters and buffers to ``dst_type``."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Any:
        """Convert floating point parameters and buffers to float32."""
        return self._floating(dtypes.float32)

    def double(self) -> Any:
        """Convert floating point parameters and buffers to float64."""
        return self._floating(dtypes.float64)

    def half(self) -> Any:
        """Convert floating point parameters and buffers to float16."""
        return self._floating(dtypes.float16)

    def bfloat16(self) -> Any:
        """Convert floating point parameters and buffers to bfloat16."""
        return self._floating(dtypes.bfloat16)

    def _floating(self, dtype: dtypes.dtype) -> Any:
        return self._apply(lambda t: t.to(dtype) if t.dtype.is_floating_point else t)

    def cpu(self) -> Any:
        """Move parameters and buffers to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Any:
        """Raise what asking for an absent device raises."""
        return self._apply(lambda t: t.cuda(device))

    def ipu(self, device: Any = None) -> Any:
        """Raise what asking for an absent device raises."""
        return self._apply(lambda t: _absent(RuntimeError, "PyTorch is not linked with support for ipu devices"))

    def xpu(self, device: Any = None) -> Any:
        """Raise what asking for an absent device raises."""
        return self._apply(lambda t: _absent(AssertionError, "Torch not compiled with XPU enabled"))

    def mtia(self, device: Any = None) -> Any:
        """Raise what asking for an absent device raises."""
        return self._apply(lambda t: _absent(AssertionError, _NO_MTIA))

    def share_memory(self) -> Any:
        """Give parameters and buffers memory that other processes can see."""
        return self._apply(lambda t: t.share_memory_())


_NO_MTIA = (
    "Torch not compiled with MTIA enabled. Ensure you have `import mtia.host_runtime.torch_mtia.dynamic_library` in "
    "your python src file and include `//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!"
)


def _absent(kind: type[Exception], words: str) -> Tensor:
    raise kind(words)


def _without_grad(fn: Callable[[Any], Tensor], tensor: Tensor) -> Tensor:
    before = modes.local.grad
    try:
        modes.set_grad(False)
        return fn(tensor)
    finally:
        modes.local.grad = before
        modes.settle()


def _parse(*args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
    """Device, dtype and memory format of the arguments of ``to``."""
    wanted: dict[str, Any] = {"device": None, "dtype": None, "non_blocking": False, "memory_format": None}
    names = ["device", "dtype", "non_blocking"]
    if args and isinstance(args[0], dtypes.dtype):
        names = ["dtype", "non_blocking"]
    elif args and isinstance(args[0], Tensor) or "tensor" in kwargs:
        args = (kwargs.pop("tensor"), *args) if "tensor" in kwargs else args
        wanted["dtype"] = args[0].dtype
        args = (args[0].device, *args[1:])
        names = ["device", "non_blocking"]
    bad = len(args) > len(names) or any(name not in wanted for name in kwargs)
    for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
        if name in wanted:
            wanted[name] = value
    device, dtype = wanted["device"], wanted["dtype"]
    if device is not None and not isinstance(device, (str, int, devices.device)):
        bad = True
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        bad = True
    if bad:
        received = ", ".join([type(a).__name__ for a in args] + [f"{n}={type(v).__name__}" for n, v in kwargs.items()])
        raise TypeError(f"to() received an invalid combination of arguments - got ({received})")
    return device, dtype, wanted["memory_format"]
