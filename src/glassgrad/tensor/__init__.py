"""Floor 2: the Tensor, its views and its printing; no operation lives here."""
