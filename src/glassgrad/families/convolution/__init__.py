"""Filters slid over signals, images and volumes, forwards and transposed; their columns."""

#: What ``torch.nn.functional`` has of this family, by file.
FUNCTIONAL = {
    "functions": "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d fold unfold",
}

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "conv": (
            "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d LazyConv3d "
            "LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d"
        ),
        "fold": "Fold Unfold",
    },
}
