"""Floor 0: dtypes, storage, modes, random streams, error texts; knows nothing of tensors."""
