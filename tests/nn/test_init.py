"""First values: the same numbers as torch's under one seed, and the words of every refusal."""

import pytest

from tests.agreement import cases, check

pytestmark = pytest.mark.torch

FILLS = {
    "uniform_": [(), (-2.0, 3.0)],
    "normal_": [(), (1.0, 2.0)],
    "trunc_normal_": [(), (0.0, 1.0, -0.5, 0.5), (0.0, 1.0, 3.0, 9.0), (5.0, 2.0, 4.0, 8.0), (0.0, 1.0, -0.1, 0.1)],
    "constant_": [(0.3,)],
    "ones_": [()],
    "zeros_": [()],
    "eye_": [()],
    "xavier_uniform_": [(), (2.0,)],
    "xavier_normal_": [(), (2.0,)],
    "kaiming_uniform_": [(), (0.1, "fan_out", "leaky_relu"), (0, "fan_in", "relu")],
    "kaiming_normal_": [(), (0.1, "fan_out", "leaky_relu"), (0, "FAN_IN", "tanh")],
    "orthogonal_": [(), (2.0,)],
    "sparse_": [(0.4,), (0.9, 2.0)],
}
CASES = [(name, args) for name, given in FILLS.items() for args in given]


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (20, 30)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "args"), CASES)
def test_fill(name, args, dtype, shape):
    def program(torch, show):
        torch.manual_seed(11)
        tensor = torch.empty(*shape, dtype=getattr(torch, dtype), requires_grad=True)
        show("same", getattr(torch.nn.init, name)(tensor, *args) is tensor)
        show("values", tensor)
        show("version", tensor._version > 0)
        show("next", torch.rand(3))

    check(program)


def convolution_weights(torch, show):
    for shape in ((4, 2, 3), (4, 3, 3, 3), (4, 2, 3, 2, 3)):
        show("dirac", torch.nn.init.dirac_(torch.empty(*shape)))
        show("groups", torch.nn.init.dirac_(torch.empty(*shape), 2))
        show("kaiming", torch.nn.init.kaiming_uniform_(torch.empty(*shape)))
        show("orthogonal", torch.nn.init.orthogonal_(torch.empty(*shape)).shape)
    show("fans", torch.nn.init._calculate_fan_in_and_fan_out(torch.empty(4, 2, 3, 5)))


def generators_of_their_own(torch, show):
    init = torch.nn.init
    for name in ("uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_",
                 "kaiming_normal_", "orthogonal_"):  # fmt: skip
        generator = torch.Generator().manual_seed(4)
        show(name, getattr(init, name)(torch.empty(3, 4), generator=generator))
        show("untouched", torch.rand(1))


def gains(torch, show):
    gain = torch.nn.init.calculate_gain
    for name in ("linear", "conv2d", "conv_transpose3d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"):
        show(name, gain(name))
    show("slope", [gain("leaky_relu", 0.2), gain("leaky_relu", 1)])
    show.error(lambda: gain("leaky_relu", "a"))
    show.error(lambda: gain("leaky_relu", True))
    show.error(lambda: gain("gelu"))


def refusals(torch, show):
    init = torch.nn.init
    vector, matrix = torch.empty(3), torch.empty(3, 4)
    for do in (
        lambda: init.eye_(vector), lambda: init.dirac_(matrix), lambda: init.dirac_(torch.empty(3, 2, 2), 2),
        lambda: init.xavier_uniform_(vector), lambda: init.xavier_normal_(vector),
        lambda: init.kaiming_uniform_(vector), lambda: init.kaiming_normal_(matrix, mode="fan"),
        lambda: init.kaiming_uniform_(matrix, nonlinearity="x"),
        lambda: init.orthogonal_(vector), lambda: init.sparse_(vector, 0.1), lambda: init.uniform_(matrix, 2.0, 1.0),
        lambda: init.normal_(matrix, 0.0, -1.0),
    ):  # fmt: skip
        show.error(do)
    for do in (
        lambda: init.kaiming_uniform_(torch.empty(0, 3)), lambda: init.kaiming_normal_(torch.empty(3, 0)),
        lambda: init.trunc_normal_(torch.empty(2), 9.0), lambda: init.uniform(matrix),
        lambda: init.xavier_normal(matrix), lambda: init.constant(matrix, 2),
        lambda: init.eye(matrix), lambda: init.orthogonal(matrix),
    ):  # fmt: skip
        show.warnings(do)
    show("empty", init.orthogonal_(torch.empty(0, 3)))


PROGRAMS = cases(globals())


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])
