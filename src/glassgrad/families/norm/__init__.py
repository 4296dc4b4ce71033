"""Normalisation over features and groups; norms of weights; unit lengths and similarities."""

#: What ``torch.nn.functional`` has of this family, by file.
FUNCTIONAL = {
    "functions": (
        "group_norm=functional_group_norm layer_norm=functional_layer_norm local_response_norm normalize rms_norm"
    ),
}

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "normalization": "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm",
    },
}
