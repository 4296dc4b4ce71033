"""Distances between vectors, and norms."""

#: What ``torch.nn.functional`` has of this family, by file.
FUNCTIONAL = {
    "functions": "cosine_similarity pairwise_distance pdist",
}

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "distance": "CosineSimilarity PairwiseDistance",
    },
}
