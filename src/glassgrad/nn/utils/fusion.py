"""What ``torch.nn.utils.fusion`` holds: a layer and the batch normalisation after it as one layer, for evaluation.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.fuse_conv_bn_eval.html
"""

from __future__ import annotations

import copy
from typing import Any

from ...core.tensor import Tensor
from ..parameter import Parameter


def _check(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")


def _statistics(bn: Any) -> tuple[Any, Any]:
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    return bn.running_mean, bn.running_var


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of ``conv`` that normalises, too; both must be in evaluation mode.

    ``transpose`` is for transposed convolutions, whose output channels are the second dimension of the weight.
    """
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    mean, variance = _statistics(bn)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, mean, variance, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False
) -> tuple[Tensor, Tensor]:
    """Weight and bias of a convolution that normalises by running mean ``bn_rm`` and variance ``bn_rv``, too."""
    kind = conv_w.dtype
    bias_kind = kind if conv_b is None else conv_b.dtype
    conv_b = bn_rm.new_zeros(bn_rm.shape) if conv_b is None else conv_b
    bn_w = bn_rm.new_ones(bn_rm.shape) if bn_w is None else bn_w
    bn_b = bn_rm.new_zeros(bn_rm.shape) if bn_b is None else bn_b
    rstd = (bn_rv + bn_eps).rsqrt()
    ones = [1] * (conv_w.dim() - 2)
    scale = (bn_w * rstd).reshape([1, -1, *ones] if transpose else [-1, 1, *ones])
    weight, bias = (conv_w * scale).to(kind), ((conv_b - bn_rm) * rstd * bn_w + bn_b).to(bias_kind)
    return Parameter(weight, conv_w.requires_grad), Parameter(bias, conv_b.requires_grad)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of ``linear`` that normalises, too; both must be in evaluation mode."""
    _check(linear, bn)
    fused = copy.deepcopy(linear)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    mean, variance = _statistics(bn)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, mean, variance, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Tensor, Tensor]:
    """Weight and bias of a linear layer that normalises by running mean ``bn_rm`` and variance ``bn_rv``, too."""
    kind = linear_w.dtype
    bias_kind = kind if linear_b is None else linear_b.dtype
    linear_b = bn_rm.new_zeros(bn_rm.shape) if linear_b is None else linear_b
    scale = bn_w * (bn_rv + bn_eps).rsqrt()
    weight = linear_w * scale.unsqueeze(-1).to(kind)
    bias = ((linear_b - bn_rm) * scale + bn_b).to(bias_kind)
    return Parameter(weight, linear_w.requires_grad), Parameter(bias, linear_b.requires_grad)


__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]
