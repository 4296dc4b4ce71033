"""The workloads of the benchmark, written once against PyTorch's interface, for glassgrad and PyTorch alike."""

from . import agents, graphs, layers, training, transforms, users

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
    "dqn": agents.dqn,
    "ppo": agents.ppo,
    "sac": agents.sac,
    "action": agents.action,
    "table": users.table,
    "physics": users.physics,
    "generation": users.generation,
    "graph_network": users.graph_network,
}
