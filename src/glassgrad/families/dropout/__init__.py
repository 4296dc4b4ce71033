"""Dropout of elements and of whole channels."""

#: What ``torch.nn.functional`` has of this family, by file.
FUNCTIONAL = {
    "functions": (
        "alpha_dropout=functional_alpha_dropout dropout=functional_dropout dropout1d dropout2d dropout3d "
        "feature_alpha_dropout=functional_feature_alpha_dropout"
    ),
}

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    },
}
