"""The memory behind tensors: storages, their types, sharing it with other libraries and processes."""
