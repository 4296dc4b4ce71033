"""What is done to all parameters, or all gradients, of a network at once."""

from ...ground.later import cite_all
from ...ground.paths import show, show_all
from . import parametrizations, parametrize, rnn, stateless
from .clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from .fusion import fuse_conv_bn_eval, fuse_conv_bn_weights, fuse_linear_bn_eval, fuse_linear_bn_weights
from .memory import (
    convert_conv2d_weight_memory_format,
    convert_conv3d_weight_memory_format,
    parameters_to_vector,
    skip_init,
    vector_to_parameters,
)
from .spectral_norm import remove_spectral_norm, spectral_norm
from .weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format", "fuse_conv_bn_eval",
    "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights", "get_total_norm", "parameters_to_vector",
    "parametrizations", "parametrize", "remove_spectral_norm", "remove_weight_norm", "rnn", "skip_init",
    "spectral_norm", "stateless", "vector_to_parameters", "weight_norm",
]  # fmt: skip
show(f"{__name__}._named_member_accessor", f"{__name__.partition('.')[0]}.func.module_state", "swap_tensor=_swap")
show_all(__name__, {"memory": {
    "convert_parameters": "parameters_to_vector vector_to_parameters", "init": "skip_init",
    "memory_format": "convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format",
}})  # fmt: skip
cite_all(globals(), "torch.nn.utils", "clip_grad_norm_ spectral_norm weight_norm")
cite_all(globals(), "torch.nn.utils", "convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format")
