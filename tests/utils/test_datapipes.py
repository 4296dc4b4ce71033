"""Names of PyTorch's data pipes, which packages ask loaders for."""

import glassgrad
from glassgrad.utils.data.datapipes.iter.combinatorics import ShufflerIterDataPipe


def test_a_loader_has_no_pipe():
    with glassgrad.alias():
        from torch.utils.data.datapipes.iter.combinatorics import ShufflerIterDataPipe as found

        assert found is ShufflerIterDataPipe
    loader = glassgrad.utils.data.DataLoader([1, 2])
    assert not isinstance(loader.sampler, ShufflerIterDataPipe)
