"""PyTorch's data pipes that iterate, which packages ask loaders' samples and data sets for: nothing is one."""

from .....ground.absent import stand_ins

_PIPES = stand_ins(
    "data pipes are not in glassgrad; an IterableDataset does the same",
    "ShufflerIterDataPipe SamplerIterDataPipe IterableWrapperIterDataPipe BatcherIterDataPipe MapperIterDataPipe "
    "ShardingFilterIterDataPipe",
)
Batcher, IterableWrapper, Mapper = (_PIPES[f"{name}IterDataPipe"] for name in ("Batcher", "IterableWrapper", "Mapper"))
Sampler, Shuffler = (_PIPES[f"{name}IterDataPipe"] for name in ("Sampler", "Shuffler"))
ShardingFilter = _PIPES["ShardingFilterIterDataPipe"]
