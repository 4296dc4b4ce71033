"""Rows looked up in a table, and bags of them."""

#: What ``torch.nn.functional`` has of this family, by file.
FUNCTIONAL = {
    "functions": "embedding=functional_embedding embedding_bag=functional_embedding_bag one_hot",
}

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "sparse": "Embedding EmbeddingBag",
    },
}
