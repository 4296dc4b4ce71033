"""Floor 2: Parameter, sparse tensors, and what stands behind the core's doors; no operation lives here."""
