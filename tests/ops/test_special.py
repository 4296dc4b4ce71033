"""The special functions' dtypes and errors, statistics' errors, and numbers that make_tensor draws, against torch."""

import numpy as np
import pytest

import glassgrad

pytest.importorskip("scipy", reason="special functions are computed by SciPy")
pytestmark = pytest.mark.torch

CALLS = """
e.special.airy_ai(e.ones(2, dtype=e.float16))
e.special.i0e(e.ones(2, dtype=e.bfloat16))
e.special.erfcx(e.ones(2, dtype=e.complex64))
e.special.ndtr(e.tensor([1, 2]))
e.special.zeta(2, e.tensor([1, 2]))
e.special.zeta(e.tensor([2.0]), e.tensor([1, 2]))
e.special.gammainc(e.tensor([1]), e.tensor([1]))
e.igamma(e.tensor([1.0]), 1.0)
e.special.multigammaln(e.tensor([0.2]), 0)
e.special.legendre_polynomial_p(e.tensor([0.5]), e.tensor([[1], [4]]))
e.special.hermite_polynomial_h(e.tensor([0.5], dtype=e.float64), 600)
e.special.entr(e.tensor([0.5, -1.0, float("nan")]))
e.special.xlog1py(e.tensor([0.0, 1.0]), -1)
e.special.i1(e.tensor([1.0]), out=e.tensor([1]))
e.special.polygamma(-1, e.tensor([1.0]))
e.gcd(e.tensor([4]), e.tensor([1.5]))
e.gcd(e.tensor([4]), 2)
e.tensor([4]).lcm_(e.tensor([6, 4]))
e.frexp(e.tensor([1]))
e.frexp(e.tensor([1.0, 0.0, 10.0]))
e.nextafter(e.tensor([1]), e.tensor([2]))
e.cov(e.ones(2, 2, 2))
e.cov(e.ones(2, 3).bool())
e.cov(e.ones(2, 3), fweights=e.tensor([1, 2]))
e.cov(e.ones(2, 3), fweights=e.tensor([1.0, 2, 3]))
e.cov(e.ones(2, 3), aweights=e.tensor([1, 2, 3]))
e.cov(e.ones(2, 3), aweights=e.tensor([-1.0, 2, 3]))
e.cov(e.ones(2, 0))
e.corrcoef(e.ones(2, 2, 2))
e.gradient(e.ones(3), edge_order=3)
e.gradient(e.ones(1))
e.gradient(e.ones(3, 3), spacing=(1.0, 2.0, 3.0))
e.gradient(e.ones(3, 3), dim=(0, 0))
e.gradient(e.ones(3).byte())
e.histogram(e.arange(4.0), 0)
e.histogram(e.arange(4.0), 2, range=(3.0, 1.0))
e.histogram(e.arange(4.0), e.tensor([1, 2]))
e.histogram(e.arange(4), 2)
e.histogramdd(e.ones(3, 2), [2])
e.histogramdd(e.ones(3), [2])
e.vander(e.ones(2, 2))
e.nonzero_static(e.ones(2), size=-1)
e.segment_reduce(e.ones(3), "sum", lengths=e.tensor([1, 1]))
e.segment_reduce(e.ones(3), "median", lengths=e.tensor([3]))
e.segment_reduce(e.ones(3), "sum")
e.as_strided_scatter(e.zeros(3, 4), e.ones(3), (2,), (3,), 1)
e.zeros(3, 4).as_strided_((2,), (3,), 1)
e.view_copy(e.arange(6.0), (2, 3))
e.slice_copy(e.arange(6.0), 0, 1, 5, 2)
e.sym_max(1, 2.0)
e.sym_ite(1, 2, 3)
e.sym_constrain_range(3, min=5, max=8)
""".strip().splitlines()


def outcome(engine, call):
    """What a call gives, or the error it raises, as text in words of no engine."""
    try:
        found = str(eval(call, {"e": engine}))  # noqa: S307  the calls above
    except Exception as error:  # noqa: BLE001  compared below
        found = f"{type(error).__name__}: {error}"
    return found.replace("glassgrad", "torch")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_outcomes_are_torchs(call):
    """The printed value, or the error in torch's words."""
    from tests.torch_reference import torch

    assert outcome(glassgrad, call) == outcome(torch, call)


@pytest.mark.filterwarnings("ignore")
def test_every_special_name_is_there():
    """Nothing of torch.special is missing."""
    from tests.torch_reference import torch

    assert set(torch.special.__all__) <= set(glassgrad.special.__all__)


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool", "complex64"])
@pytest.mark.parametrize(
    "options",
    [{}, {"low": 0, "high": 1}, {"noncontiguous": True}, {"exclude_zero": True}, {"low": 3, "high": 1}],
    ids=str,
)
def test_make_tensor_draws_the_same(kind, options):
    """The same seed gives the same values, strides and errors."""
    from tests.torch_reference import torch

    found = []
    for engine in (glassgrad, torch):
        engine.manual_seed(4)
        try:
            made = engine.testing.make_tensor((3, 5), dtype=getattr(engine, kind), device="cpu", **options)
        except ValueError as error:
            found.append(str(error))
        else:
            found.append((np.asarray((made if kind == "complex64" else made.float()).numpy()).tolist(), made.stride()))
    assert found[0] == found[1]


def test_assert_allclose():
    """The old comparison warns, converts numbers, and has wider tolerances."""
    with pytest.warns(FutureWarning, match="assert_close"):
        glassgrad.testing.assert_allclose([1.0, 2.0], [1.00005, 2.0])
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="not close"):
        glassgrad.testing.assert_allclose(glassgrad.ones(2), [1.0, 1.1])
