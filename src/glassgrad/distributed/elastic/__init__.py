"""What scripts take from ``torch.distributed.elastic``: the names around a launched process's errors."""
