"""Layers that standardise each channel of each sample by itself: InstanceNorm1d to 3d, and their lazy forms."""

from __future__ import annotations

import warnings
from typing import Any

from ...core.tensor import Tensor
from .. import functional as F
from .batchnorm import _LazyNormBase, _need_dims, _NormBase


class _InstanceNorm(_NormBase):
    """Instance normalisation, whatever the number of dimensions."""

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
        raise NotImplementedError

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
        found = input.size(dim)
        if found != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: {found}."
                )
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing "
                "in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        if input.dim() == without_batch:
            return self._handle_no_batch_input(input)
        return self._apply_instance_norm(input)


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each sample of (N, C, L) or (C, L) brought to mean 0 and variance 1.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.InstanceNorm1d.html
    """

    def _get_no_batch_dim(self) -> int:
        return 2

    def _check_input_dim(self, input: Tensor) -> None:
        _need_dims(input, (2, 3))


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each sample of (N, C, H, W) or (C, H, W) brought to mean 0 and variance 1.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.InstanceNorm2d.html
    """

    def _get_no_batch_dim(self) -> int:
        return 3

    def _check_input_dim(self, input: Tensor) -> None:
        _need_dims(input, (3, 4))


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each sample of (N, C, D, H, W) or (C, D, H, W) brought to mean 0 and variance 1.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.InstanceNorm3d.html
    """

    def _get_no_batch_dim(self) -> int:
        return 4

    def _check_input_dim(self, input: Tensor) -> None:
        _need_dims(input, (4, 5))


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm1d that learns ``num_features`` from its first input.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.LazyInstanceNorm1d.html
    """

    cls_to_become = InstanceNorm1d
    _get_no_batch_dim = InstanceNorm1d._get_no_batch_dim
    _check_input_dim = InstanceNorm1d._check_input_dim


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm2d that learns ``num_features`` from its first input.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.LazyInstanceNorm2d.html
    """

    cls_to_become = InstanceNorm2d
    _get_no_batch_dim = InstanceNorm2d._get_no_batch_dim
    _check_input_dim = InstanceNorm2d._check_input_dim


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm3d that learns ``num_features`` from its first input.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.LazyInstanceNorm3d.html
    """

    cls_to_become = InstanceNorm3d
    _get_no_batch_dim = InstanceNorm3d._get_no_batch_dim
    _check_input_dim = InstanceNorm3d._check_input_dim


__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]
