"""Layers that standardise channels over a batch: BatchNorm1d to 3d, their lazy forms, SyncBatchNorm."""

from __future__ import annotations

import warnings
from typing import Any

from ...core.tensor import Tensor
from ...ground import dtypes, modes
from ...nn import functional as F
from ...nn import init
from ...nn.modules.dimensions import Dimensional
from ...nn.modules.lazy import LazyModuleMixin
from ...nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter
from ...tensor import lifted
from ..create.construct import tensor
from ..create.functions import empty, ones, zeros


class _NormBase(Dimensional):
    """What batch and instance normalisation share: a weight, a bias, and running statistics, each of which may lack."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]

    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool
    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None
    _ranks: tuple[tuple[int, ...], ...]  # how many dimensions inputs may have, by the layer's own number

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            parameter = Parameter(empty(num_features, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, parameter)
        if track_running_stats:
            self.register_buffer("running_mean", zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", ones(num_features, device=device, dtype=dtype))
            self.register_buffer("num_batches_tracked", tensor(0, dtype=dtypes.int64, device=device))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the running statistics: mean 0, variance 1, no batches seen."""
        if self.track_running_stats:
            self.running_mean.zero_()  # type: ignore[union-attr]
            self.running_var.fill_(1)  # type: ignore[union-attr]
            self.num_batches_tracked.zero_()  # type: ignore[union-attr]

    def reset_parameters(self) -> None:
        """Set the weight to ones and the bias to zeros; forget the running statistics."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Any) -> None:
        if not self._dims:
            raise NotImplementedError
        ranks = self._ranks[self._dims - 1]
        if input.dim() not in ranks:
            raise ValueError(f"expected {' or '.join(f'{n}D' for n in ranks)} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: dict[str, Any], strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        version = local_metadata.get("version")
        key = f"{prefix}num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            kept = self.num_batches_tracked  # files of the first version did not count batches
            known = kept is not None and kept.device.type != "meta"
            state_dict[key] = kept if known else tensor(0, dtype=dtypes.int64)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class _BatchNorm(_NormBase):
    """Each channel of (N, C, {sizes}) brought to mean 0 and variance 1 over the batch; see :class:`BatchNorm1d`."""

    _ranks = ((2, 3), (4,), (5,))

    def forward(self, input: Tensor) -> Tensor:
        """The input, normalised; while training, running statistics take part of the batch's."""
        self._check_input_dim(input)
        training, momentum = self.training, self.momentum
        share = 0.0 if momentum is None else momentum
        mean, variance = self.running_mean, self.running_var
        if training:
            if self.track_running_stats:
                batches = self.num_batches_tracked
                if batches is not None:
                    if modes.transforming:
                        lifted.check_captured("add", batches)
                    batches.add_(1)  # type: ignore[attr-defined]
                    if momentum is None:  # the mean over all batches so far
                        share = 1.0 / float(batches)  # type: ignore[arg-type]
            else:
                mean = variance = None
        return F.batch_norm(
            input, mean, variance, self.weight, self.bias, training or (mean is None and variance is None), share,
            self.eps,
        )  # fmt: skip


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """A lazy {eager}: it learns ``num_features`` from its first input."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = tensor(0, dtype=dtypes.int64, device=device)

    def reset_parameters(self) -> None:
        """Set parameters and statistics to what they are at first, where there are any yet."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:  # type: ignore[override]
        """Make parameters and statistics fit the channels of ``input``, its dimension 1."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        if self.affine:
            for name in ("weight", "bias"):
                parameter: Any = getattr(self, name)
                if parameter is None and name == "bias":
                    continue
                if not isinstance(parameter, UninitializedParameter):
                    raise AssertionError(f"self.{name} must be an UninitializedParameter")
                parameter.materialize((self.num_features,))
        if self.track_running_stats:
            self.running_mean.materialize((self.num_features,))  # type: ignore[union-attr]
            self.running_var.materialize((self.num_features,))  # type: ignore[union-attr]
        self.reset_parameters()


class BatchNorm1d(_BatchNorm, dims=1):
    """Each channel of (N, C) or (N, C, L) brought to mean 0 and variance 1 over the batch; then a weight and a bias.

    In evaluation mode by the running statistics, of which each training batch replaces the part ``momentum`` (None:
    the mean over all batches).
    """


class BatchNorm2d(_BatchNorm, dims=2): ...


class BatchNorm3d(_BatchNorm, dims=3): ...


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm, dims=1):
    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm, dims=2):
    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm, dims=3):
    cls_to_become = BatchNorm3d


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes; there is one process here, so it is plain."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """``module`` with every BatchNorm layer replaced by a SyncBatchNorm on the same parameters and statistics."""
        converted = module
        if isinstance(module, _BatchNorm):
            converted = SyncBatchNorm(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                process_group, bias=module.bias is not None,
            )  # fmt: skip
            if module.affine:
                converted.weight, converted.bias = module.weight, module.bias
            converted.running_mean, converted.running_var = module.running_mean, module.running_var
            converted.num_batches_tracked = module.num_batches_tracked
            converted.training = module.training
            if hasattr(module, "qconfig"):
                converted.qconfig = module.qconfig
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


# -- Layers that standardise each channel of each sample by itself: InstanceNorm1d to 3d, and their lazy forms.


class _InstanceNorm(_NormBase):
    """Each channel of each sample of (N, C, {sizes}) or (C, {sizes}) brought to mean 0 and variance 1."""

    _ranks = ((2, 3), (3, 4), (4, 5))

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _get_no_batch_dim(self) -> int:
        return self._dims + 1

    def _handle_no_batch_input(self, input: Any) -> Any:
        return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)

    def _apply_instance_norm(self, input: Tensor) -> Any:
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: dict[str, Any], strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        if local_metadata.get("version") is None and not self.track_running_stats:
            keys = [prefix + name for name in ("running_mean", "running_var") if prefix + name in state_dict]
            if keys:  # before version 1 the layer tracked statistics unless told not to
                kind, listed = type(self).__name__, " and ".join(f'"{key}"' for key in keys)
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {listed} for {kind} with track_running_stats=False. If "
                    f"state_dict is a checkpoint saved before 0.4.0, this may be expected because {kind} does not "
                    "track running stats by default since 0.4.0. Please remove these keys from state_dict. If the "
                    f"running stats are actually needed, instead set track_running_stats=True in {kind} to enable "
                    f"them. See the documentation of {kind} for details."
                )
                for key in keys:
                    state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def forward(self, input: Any) -> Any:
        """The input, normalised."""
        self._check_input_dim(input)
        without_batch = self._get_no_batch_dim()
        dim = input.dim() - without_batch
        size = input.size(dim)
        if size != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: {size}."
                )
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing "
                "in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        if input.dim() == without_batch:
            return self._handle_no_batch_input(input)
        return self._apply_instance_norm(input)


class InstanceNorm1d(_InstanceNorm, dims=1): ...


class InstanceNorm2d(_InstanceNorm, dims=2): ...


class InstanceNorm3d(_InstanceNorm, dims=3): ...


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm, dims=1):
    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm, dims=2):
    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm, dims=3):
    cls_to_become = InstanceNorm3d
