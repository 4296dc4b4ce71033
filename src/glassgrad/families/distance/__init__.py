"""Distances between vectors, and norms."""

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "distance": "CosineSimilarity PairwiseDistance",
    },
}
