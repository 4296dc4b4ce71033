"""The ``torch.backends.quantized`` namespace: there are no quantized tensors."""

engine = "none"
supported_engines = ["none"]
