"""The ``torch.utils.deterministic`` flag: kept, and without effect: no result depends on uninitialised memory here."""

fill_uninitialized_memory = True
