"""Softmax, its logarithm and minimum, drawn from with Gumbel noise; the adaptive one for many classes."""

#: What ``torch.nn.functional`` has of this family, by file.
FUNCTIONAL = {
    "functions": "gumbel_softmax log_softmax softmax softmin",
}

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "activation": "LogSoftmax Softmax Softmax2d Softmin",
        "adaptive": "AdaptiveLogSoftmaxWithLoss",
    },
}
