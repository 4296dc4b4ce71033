"""Activation functions."""

#: What ``torch.nn.functional`` has of this family, by file.
FUNCTIONAL = {
    "functions": (
        "celu celu_ elu elu_ gelu glu hardshrink hardsigmoid hardswish hardtanh hardtanh_ leaky_relu leaky_relu_ "
        "logsigmoid mish prelu relu relu6 relu_ rrelu rrelu_ selu selu_ sigmoid silu softplus softshrink softsign "
        "tanh tanhshrink threshold=functional_threshold threshold_"
    ),
}

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "activation": (
            "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid Mish PReLU RReLU ReLU "
            "ReLU6 SELU SiLU Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink Threshold"
        ),
    },
}
