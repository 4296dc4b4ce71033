"""Views and copies in other shapes."""

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "flatten": "Flatten Unflatten",
    },
}
