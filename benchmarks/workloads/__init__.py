"""The workloads of the benchmark, written once against PyTorch's interface, for glassgrad and PyTorch alike."""

from . import graphs, layers, training, transforms

__all__ = ["WORKLOADS"]

WORKLOADS = {
    "product": graphs.product,
    "expression": graphs.expression,
    "chain": graphs.chain,
    "tinynet": training.tinynet,
    "mlp": training.mlp,
    "gpt": training.gpt,
    "lenet": training.lenet,
    "lstm": layers.lstm,
    "conv": layers.conv,
    "softmax": layers.softmax,
    "layer_norm": layers.layer_norm,
    "cross_entropy": layers.cross_entropy,
    "reduction": layers.reduction,
    "elementwise": layers.elementwise,
    "per_sample": transforms.per_sample,
    "per_sample_walk": transforms.per_sample_walk,
    "hessian": transforms.hessian,
    "jvp": transforms.jvp,
}
