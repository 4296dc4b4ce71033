"""Taylor mode: derivatives of every order equal those of nested forward mode, at a polynomial cost."""

import pytest

import glassgrad as t
from glassgrad.core.row import TABLE
from glassgrad.func import grad, jet, jvp, vmap
from glassgrad.ground import listening
from tests.laws import array

WEIGHT = t.tensor([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6], [-0.1, 0.2, 0.7]]).double()
FUNCTIONS = {
    "sin": lambda x: x.sin(),
    "exp": lambda x: x.exp(),
    "tanh of products": lambda x: (x @ WEIGHT).tanh() * x,
    "softmax": lambda x: t.softmax(x * 2, 0),
    "quotient": lambda x: x / (1 + x.pow(2).sum()),
    "gelu": lambda x: t.nn.functional.gelu(x),
    "layer_norm": lambda x: t.nn.functional.layer_norm(x, (3,)),
    "log": lambda x: (x * x + 1).log().sum(),
    "solve": lambda x: t.linalg.solve(t.eye(3).double() * 4 + t.outer(x, x), x),
    "where": lambda x: t.where(x > 0.4, x * x * x, x),
    "of no dependence": lambda x: t.ones(2).double(),
    "power": lambda x: x**2.5,
}


def _point():
    return t.tensor([0.3, 0.5, 1.1]).double(), t.tensor([0.3, -0.7, 0.5]).double(), t.zeros(3).double()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_orders_are_nested_derivatives(name):
    """Along a line, the n-th entry of the series is n times nested forward mode."""
    function = FUNCTIONS[name]
    x, v, zero = _point()
    value, series = jet(function, (x,), ([v, zero, zero],))
    assert array(value) == pytest.approx(array(function(x)))
    nested = function
    for entry in series:
        nested = (lambda inner: lambda x: jvp(inner, (x,), (v,))[1])(nested)
        assert array(entry) == pytest.approx(array(nested(x)), rel=1e-8, abs=1e-9)


def test_curves_and_several_arguments():
    """Along a curve, and of several arguments: the derivatives of the composition."""
    x, v, zero = _point()
    curve = [v, x * 2, v * 3]

    def along(s):
        return x + s * v + s**2 * x + s**3 * v / 2, x * (1 + s)

    def composed(s):
        a, b = along(s)
        return (a * b.sin()).sum()

    _, series = jet(lambda a, b: (a * b.sin()).sum(), (x, x), (curve, [x, zero, zero]))
    nested = composed
    for entry in series:
        nested = grad(nested)
        assert float(entry) == pytest.approx(float(nested(t.tensor(0.0).double())))


def test_cost_is_no_power_of_two():
    """The calls of rows grow like a polynomial of the order."""
    x, v, zero = _point()

    def calls(order):
        heard = []

        def listener(function, proceed, args, kwargs):
            heard.append(function)
            return proceed(*args, **kwargs)

        with listening.listening(listener, [TABLE["mul"].caller, TABLE["mul"].operate]):
            jet(lambda x: (x.tanh() * x).exp(), (x,), ([v] + [zero] * (order - 1),))
        return len(heard)

    few, many = calls(5), calls(10)
    assert many < few * 2**4  # a quartic at most; 2^5 for what doubles with each order


def test_with_other_transforms():
    """Gradients and batches of series."""
    x, v, zero = _point()
    second = lambda x: jet(lambda x: x.sin().sum(), (x,), ([v, zero],))[1][1]  # noqa: E731
    assert array(grad(second)(x)) == pytest.approx(array(-x.cos() * v * v))
    assert array(vmap(second)(t.stack([x, x * 2]))) == pytest.approx(array(t.stack([second(x), second(x * 2)])))


def test_refusals():
    """What does not fit is told."""
    x, v, zero = _point()
    with pytest.raises(ValueError, match="a list of derivatives for each of 1 primals"):
        jet(t.sin, (x,), ([v], [v]))
    with pytest.raises(ValueError, match="must be Tensors of its shape"):
        jet(t.sin, (x,), ([t.ones(2)],))
    with pytest.raises(RuntimeError, match="nothing is written in place"):
        jet(lambda x: x.mul_(2), (x,), ([v],))
