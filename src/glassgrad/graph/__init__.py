"""Floor 1: records, nodes, hooks and the engine; knows arrays and gradients, no operation and no Tensor."""
