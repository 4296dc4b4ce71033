"""Products of matrices and vectors, sums of products, and the linear layer."""

#: What ``torch.nn.functional`` has of this family, by file.
FUNCTIONAL = {
    "functions": "bilinear linear",
}

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "linear": "Bilinear Identity LazyLinear Linear",
    },
}
