"""Samples of activations."""

from tests.samples import T, ints, positive, sample, t

_AWAY = t(2, 3, away=0.1)
_WIDE = T((2, 4), low=-4.9, high=4.8, away=0.1)
_MANY = T((3000,), low=-4.9, high=4.8)


_MANY_DIGITS = {"rtol": 4e-6, "why": "erf by polynomials"}
_SIXTH = {"rtol": 1e-7, "why": "torch keeps its sixth in float32"}


def _all(name, *args, second=True, **kwargs):
    """The usual inputs: a matrix, a number, nothing, transposed, many."""
    name = f"nn.functional.{name}"
    return [
        sample(name, _WIDE, *args, second=second, **kwargs),
        sample(name, t(), *args, second=second, **kwargs),
        sample(name, t(0, 3), *args, second=second, **kwargs),
        sample(name, T((3, 2), layout="transposed", away=0.1), *args, second=second, **kwargs),
        sample(name, _MANY, *args, label=f"many{args}{kwargs}", second=second, **{**_MANY_DIGITS, **kwargs}),
    ]


SAMPLES = [
    *_all("relu"), *_all("relu6"), *_all("leaky_relu"), *_all("leaky_relu", 0.2), *_all("leaky_relu", -0.5),
    *_all("elu"), *_all("elu", 0.5), *_all("selu"), *_all("celu"), *_all("celu", 1.5), *_all("gelu"),
    *_all("gelu", approximate="tanh"), *_all("silu"), *_all("mish"), *_all("softplus"), *_all("softplus", 2.0, 3.0),
    *_all("softsign"), *_all("tanhshrink"), *_all("threshold", 0.3, 0.7), *_all("hardtanh"),
    *_all("hardtanh", -0.6, 0.7),
    *_all("hardsigmoid", second=False, **_SIXTH), *_all("hardswish"), *_all("hardshrink"), *_all("hardshrink", 0.3),
    *_all("softshrink"), *_all("softshrink", 0.3), *_all("logsigmoid"), *_all("rrelu"), *_all("rrelu", 0.2, 0.4),
    *_all("sigmoid"), *_all("tanh"),
    sample("relu", _AWAY, inplace=True),
    *(sample(f"nn.functional.{name}_", t(2, 3, grad=False)) for name in ("relu", "elu", "selu", "celu", "leaky_relu")),
    sample("nn.functional.hardtanh_", t(2, 3, grad=False), -0.5, 0.5),
    sample("nn.functional.threshold_", t(2, 3, grad=False), 0.1, 5.0),
    sample("nn.functional.rrelu_", t(2, 3, grad=False)),
    sample("relu", ints(4, low=-3)),
    sample("selu", _AWAY),
    sample("celu", _AWAY, 1.5),
    sample("threshold", _AWAY, 0.3, 0.7),
    sample("hardshrink", _AWAY),
    sample("rrelu", _AWAY),
    sample("nn.functional.prelu", _AWAY, positive(1)),
    sample("nn.functional.prelu", _AWAY, positive(3)),
    sample("nn.functional.prelu", _AWAY, positive()),
    sample("nn.functional.prelu", T((2, 3, 2), away=0.05), positive(3)),
    sample("nn.functional.prelu", t(), positive(1)),
    sample("prelu", _AWAY, positive(3)),
    sample("nn.functional.glu", t(2, 4)),
    sample("nn.functional.glu", t(2, 4), 0),
    sample("nn.functional.glu", t(4, 2, 3), 0),
    sample("nn.functional.glu", t(4, 2, layout="transposed"), -1),
]
