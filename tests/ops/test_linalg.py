"""Linear algebra beside the samples: words of errors, larger matrices, gradients that do not depend on a direction."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from glassgrad.families.linalg import kernels as triangle
from glassgrad.ground import runtime
from tests.counts import generated
from tests.laws import array
from tests.torch_reference import torch

pytestmark = pytest.mark.torch
ENGINES = (glassgrad, torch)


def scope(engine):
    """What the expressions below name."""
    plain, bad = engine.eye(2), engine.tensor([[1.0, 2.0], [2.0, 1.0]])
    singular = engine.tensor([[1.0, 2.0], [2.0, 4.0]])
    return {
        "torch": engine, "L": engine.linalg, "o": engine.ones, "z": engine.zeros, "ok": plain, "bad": bad,
        "singular": singular, "batch": engine.stack([plain, bad]), "singulars": engine.stack([plain, singular]),
        "swaps": engine.tensor([2, 2], dtype=engine.int32), "nan": float("nan"),
    }  # fmt: skip


def outcome(engine, expression):
    """The text of a result or of an error, and the warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = repr(eval(expression, scope(engine)))
        except Exception as error:
            found = f"{type(error).__name__}: {error}".split("\nException raised")[0]
    return found.replace("-0.", "0."), {str(w.message).split(" (Triggered")[0] for w in told}


WORDS = """
L.cholesky(bad) | L.cholesky(batch) | L.cholesky_ex(batch) | L.cholesky_ex(bad, check_errors=True)
L.cholesky(z(2, 3)) | L.cholesky(z(3)) | L.cholesky(o(2, 2).long()) | L.cholesky(o(2, 2).half())
L.cholesky(z(0, 0)) | L.cholesky(3) | L.inv(singular) | L.inv(singulars) | L.inv_ex(singular) | L.inv_ex(singulars)
L.inv_ex(singular, check_errors=True) | L.solve(singular, ok) | L.solve_ex(singulars, ok)
L.solve_ex(singular, ok, check_errors=True) | L.det(singular) | L.slogdet(singular) | torch.logdet(-ok[:1, :1])
torch.logdet(z(1, 1)) | torch.logdet(z(2, 3)) | L.slogdet(z(3)) | L.qr(z(3)) | L.qr(o(2, 2).long())
L.qr(o(2, 2), 'full') | L.qr(z(0, 3)) | L.qr(z(3, 0), 'complete') | L.qr(ok, 'r') | L.svd(z(3))
L.svd(o(2, 2).half()) | L.svd(o(2, 2) * nan) | L.svd(z(0, 3)) | L.svd(ok, driver='gesvd') | L.eig(z(2, 3))
L.eig(o(2, 2).long()) | L.eig(o(2, 2) * nan) | L.eigh(ok, UPLO='x') | L.eigh(o(2, 2).long())
L.eigh(bad, UPLO='u') | L.eigh(z(2, 0, 0)) | L.eigvals(ok) | L.pinv(z(3)) | L.pinv(z(0, 3))
L.pinv(o(2, 2), rcond=0.1) | L.pinv(o(2, 3), hermitian=True) | L.lstsq(o(2), o(2)) | L.lstsq(o(2, 2), o(()))
L.lstsq(o(2, 2), o(3, 2)) | L.lstsq(o(2, 2), o(2, 2).double()) | L.lstsq(o(3, 2), o(3, 2), driver='foo')
L.lstsq(z(2, 3, 2), o(2, 3)) | L.lu(z(3)) | L.lu(o(2, 2).long()) | L.lu(ok, pivot=False) | L.lu_factor(singular)
L.lu_factor(singulars) | L.lu_factor_ex(z(2, 2), check_errors=True) | L.lu_solve(ok, swaps, o(3, 1))
L.lu_solve(ok, swaps.long(), o(2, 1)) | L.lu_solve(o(2, 3), swaps, o(2, 1)) | L.lu_solve(ok, swaps[:1], o(2, 1))
L.lu_solve(ok, swaps, o(2)) | torch.lu_unpack(ok, swaps.long()) | torch.lu_unpack(ok, swaps)
torch.lu_unpack(ok, swaps, False, True) | L.solve_triangular(o(2, 3), o(2, 1), upper=True)
L.solve_triangular(ok, o(1, 3), upper=True, left=False) | L.solve_triangular(ok, o(2), upper=True)
L.solve_triangular(z(2, 2), o(2, 1), upper=True) | L.matrix_exp(z(2, 3)) | torch.triangular_solve(o(2), ok)
torch.triangular_solve(o(3, 1), ok) | L.matrix_exp(o(2, 2).long()) | torch.matrix_exp(z(0, 0))
L.matrix_rank(z(3)) | L.matrix_rank(singular) | L.matrix_rank(singular, tol=9.0) | L.cond(z(3))
L.cond(singular, 1) | L.cond(ok, 'x') | L.cond(ok, 3) | L.cond(z(2, 3), 1) | L.cond(z(0, 0))
L.tensorinv(o(2, 2), 0) | L.tensorinv(o(2, 3), 1) | L.tensorsolve(o(2, 3), o(2)) | L.vander(o(3).long(), N=2)
L.vander(o(3), N=1) | torch.vander(o(2, 2)) | torch.vander(o(2), -1) | torch.vander(o(2), 0)
torch.vander(o(3).long()) | L.householder_product(o(2, 3), o(2)) | L.householder_product(o(3, 2), o(3))
torch.geqrf(o(3)) | L.ldl_factor(bad) | torch.cholesky_inverse(o(2, 3)) | torch.cholesky_solve(o(2), ok)
torch.cholesky_solve(o(3, 1), ok) | torch.cholesky_solve(o(2, 1).double(), ok) | torch.pca_lowrank(o(2, 2), 5)
torch.symeig(ok) | torch.eig(ok) | torch.lstsq(ok, ok) | ok.solve(ok) | torch.matrix_rank(ok)
torch.lu(z(2, 2), get_infos=True) | L.ldl_factor_ex(z(2, 2)) | torch.slogdet(bad) | torch.svd(ok, compute_uv=False)
L.lstsq(ok, ok, driver='gelss') | L.eigh(3) | L.svdvals(3) | L.slogdet(3) | L.cond(3) | L.det(3) | L.tensorinv(3)
"""


@pytest.mark.parametrize("expression", [e.strip() for line in WORDS.strip().split("\n") for e in line.split(" | ")])
def test_words_are_torchs(expression):
    """Results print, and errors read, as torch's."""
    assert outcome(glassgrad, expression)[0] == outcome(torch, expression)[0]


def test_old_names_warn_once():
    """What is deprecated says so, in torch's words, the first time."""
    program = "[torch.cholesky(ok), torch.qr(ok), torch.lu(ok), torch.triangular_solve(ok, ok)]"
    for engine in ENGINES:
        engine.set_warn_always(False)
    runtime._given.clear()
    ours, theirs = (outcome(engine, program)[1] for engine in ENGINES)
    assert len(ours) == 4 and theirs <= ours  # torch may have warned before
    assert not outcome(glassgrad, program)[1]


# -- gradients of what has a direction ---------------------------------------------------------------------------------

RNG = np.random.default_rng(5)


def numbers(*sizes, kind="d"):
    """Random numbers, real or complex."""
    found = RNG.standard_normal(sizes)
    return found + 1j * RNG.standard_normal(sizes) if kind == "D" else found


def first_and_second(engine, function, given):
    """A scalar's gradient, and that of the gradient's weighted sum."""
    leaf = engine.from_numpy(given.copy()).requires_grad_()
    out = function(engine, leaf)
    (first,) = engine.autograd.grad(out, leaf, create_graph=True)
    weights = engine.from_numpy(np.cos(np.arange(given.size)).reshape(given.shape)).to(first.dtype)
    inner = (first * weights.conj()).sum()
    (second,) = engine.autograd.grad(inner.real if given.dtype.kind == "c" else inner, leaf)
    return array(out), array(first), array(second)


def projector(vectors, k):
    """The product of the first columns with themselves turned."""
    return vectors[:, :k] @ vectors[:, :k].mH


def weigh(engine, matrix):
    """A real number that depends on all elements."""
    shape = tuple(matrix.shape)
    weights = engine.from_numpy(np.sin(np.arange(np.prod(shape))).reshape(shape)).to(matrix.dtype)
    total = (matrix * weights).sum()
    return total.real if total.is_complex() else total


def exponential_by_parts(engine, matrix):
    """The exponential of a matrix, by way of its eigenvalues."""
    values, vectors = engine.linalg.eig(matrix)
    return vectors @ (values.exp()[:, None] * engine.linalg.inv(vectors))


FUNCTIONS = {
    "svd": lambda t, a: weigh(t, (lambda u, s, v: (u * s.exp()) @ v)(*t.linalg.svd(a, full_matrices=False))),
    "svd full": lambda t, a: weigh(t, projector(t.linalg.svd(a)[0], 2)),
    "svd right": lambda t, a: weigh(t, projector(t.linalg.svd(a, full_matrices=False)[2].mH, 1)),
    "nuclear": lambda t, a: t.linalg.matrix_norm(a, "nuc"),
    "spectral": lambda t, a: t.linalg.matrix_norm(a, 2),
    "eigh": lambda t, a: weigh(t, projector(t.linalg.eigh(a @ a.mH)[1], 2)),
    "eigh values": lambda t, a: (t.linalg.eigh(a @ a.mH)[0] ** 2).sum(),
    "eig": lambda t, a: weigh(t, exponential_by_parts(t, a @ a.mH + a[:3, :3])),
    "qr": lambda t, a: weigh(t, t.linalg.qr(a)[0]) + weigh(t, t.linalg.qr(a)[1]),
    "cholesky": lambda t, a: weigh(t, t.linalg.cholesky(a @ a.mH + t.eye(3))),
    "pinv": lambda t, a: weigh(t, t.linalg.pinv(a)),
    "pinv hermitian": lambda t, a: weigh(t, t.linalg.pinv(a @ a.mH, hermitian=True)),
    "lstsq": lambda t, a: weigh(t, t.linalg.lstsq(a, a[:, :2] ** 2)[0]),
    "residuals": lambda t, a: weigh(t, t.linalg.lstsq(a[:, :2], a**2, driver="gelsd")[1]),
    "lu": lambda t, a: weigh(t, t.linalg.lu(a)[1]) + weigh(t, t.linalg.lu(a)[2]),
    "lu_factor": lambda t, a: weigh(t, t.linalg.lu_factor(a)[0]),
    "lu_solve": lambda t, a: weigh(t, t.linalg.lu_solve(*t.linalg.lu_factor(a @ a.mH), a)),
    "slogdet": lambda t, a: t.linalg.slogdet(a @ a.mH)[1] + weigh(t, t.linalg.slogdet(a[:3, :3])[0]),
    "det": lambda t, a: weigh(t, t.linalg.det(a[:3, :3])),
    "matrix_exp": lambda t, a: weigh(t, t.matrix_exp(a[:3, :3])),
    "householder": lambda t, a: weigh(t, t.linalg.householder_product(a[:, :2] * 0.3, a[0, :2])),
    "ormqr": lambda t, a: weigh(t, t.ormqr(a[:, :2] * 0.3, a[0, :2], a, True, True)),
    "triangular": lambda t, a: weigh(t, t.linalg.solve_triangular(a[:3, :3] + 3 * t.eye(3), a, upper=False)),
    "cholesky_solve": lambda t, a: weigh(t, t.cholesky_solve(a, (a[:3, :3] + 3 * t.eye(3)).tril())),
    "cholesky_inverse": lambda t, a: weigh(t, t.cholesky_inverse(t.linalg.cholesky(a @ a.mH + t.eye(3)))),
}  # fmt: skip
SHAPES = {name: ((3, 4),) for name in ("eigh", "eigh values", "eig", "cholesky", "lu_solve", "slogdet", "det",
                                       "matrix_exp", "householder", "ormqr", "triangular", "cholesky_solve",
                                       "cholesky_inverse", "pinv hermitian")}  # fmt: skip
HERE = [(name, sizes) for name in FUNCTIONS for sizes in SHAPES.get(name, ((3, 3), (3, 4), (4, 3)))]


@pytest.mark.parametrize("kind", ["d", "D"])
@pytest.mark.parametrize("name,sizes", HERE, ids=[f"{name}-{sizes}" for name, sizes in HERE])
def test_gradients_that_do_not_depend_on_a_direction(name, sizes, kind):
    """Value, gradient, and gradient of the gradient are torch's, of real and of complex matrices."""
    given = numbers(*sizes, kind=kind)
    ours, theirs = [], []
    for engine, into in ((glassgrad, ours), (torch, theirs)):
        try:
            into += first_and_second(engine, FUNCTIONS[name], given)
        except RuntimeError as error:
            into.append(str(error).split("\n")[0])
    assert len(ours) == len(theirs), (ours, theirs)
    for a, b in zip(ours, theirs, strict=True):
        if isinstance(a, str):
            assert a == b
        else:
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9 * max(1.0, float(np.abs(b).max())))


def test_a_gradient_that_turns_vectors_is_refused():
    """Complex vectors have no direction of their own: torch's errors."""
    for name, take in (("svd", 0), ("eigh", 1), ("eig", 1)):
        words = []
        given = numbers(3, 3, kind="D")
        for engine in ENGINES:
            leaf = engine.from_numpy(given.copy()).requires_grad_()
            with pytest.raises(RuntimeError) as caught:
                getattr(engine.linalg, name)(leaf)[take].real.sum().backward()
            words.append(str(caught.value).split("\n")[0])
        assert words[0] == words[1]


def test_determinant_of_singular_matrices():
    """A plain backward pass gives zero, as torch's; ``create_graph`` gives the cofactors."""
    for values in ([[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]):
        plain, graph = [], []
        for engine in ENGINES:
            leaf = engine.tensor(values, dtype=engine.float64, requires_grad=True)
            engine.linalg.det(leaf).backward()
            plain.append(array(leaf.grad))
            graph.append(array(engine.autograd.grad(engine.linalg.det(leaf), leaf, create_graph=True)[0]))
        np.testing.assert_array_equal(plain[0], plain[1])
        np.testing.assert_allclose(graph[0], graph[1], atol=1e-12)


def test_wide_matrices_and_low_ranks_up_to_signs():
    """Singular vectors have a sign that libraries choose differently: their products are the same."""
    given = numbers(4, 9)
    left, values, right = (array(x) for x in glassgrad.linalg.svd(glassgrad.from_numpy(given), full_matrices=False))
    theirs = [x.numpy() for x in torch.linalg.svd(torch.from_numpy(given), full_matrices=False)]
    np.testing.assert_allclose(values, theirs[1], rtol=1e-12)
    np.testing.assert_allclose(np.abs(left), np.abs(theirs[0]), rtol=1e-9)
    np.testing.assert_allclose((left * values) @ right, given, atol=1e-12)
    for name in ("svd_lowrank", "pca_lowrank"):
        found = []
        for engine in ENGINES:
            engine.manual_seed(3)
            u, s, v = getattr(engine, name)(engine.from_numpy(given), 2)
            found.append((array(s), array((u * s) @ v.mT)))
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)


# -- what larger matrices go through -----------------------------------------------------------------------------------


@generated(40)
@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 3), st.booleans(), st.integers(0, 2**32 - 1))
def test_elimination_factors_what_it_was_given(rows, columns, count, complex_, seed):
    """P L U is the matrix, L is bounded by one, and torch finds the same triangles."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((count, rows, columns))
    if complex_:
        a = a + 1j * rng.standard_normal(a.shape)
    p, lower, upper = (array(x) for x in glassgrad.linalg.lu(glassgrad.from_numpy(a)))
    np.testing.assert_allclose(p @ lower @ upper, a, atol=1e-10)
    packed, pivots = torch.linalg.lu_factor_ex(torch.from_numpy(a))[:2]
    found = glassgrad.linalg.lu_factor_ex(glassgrad.from_numpy(a))
    np.testing.assert_array_equal(array(found.pivots), pivots.numpy())
    np.testing.assert_allclose(array(found.LU), packed.numpy(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kind", ["d", "D"])
def test_larger_than_a_panel(kind):
    """Halved blocks: elimination, substitution from all four sides, and both roots, at 150 rows."""
    a = numbers(150, 150, kind=kind) + 20 * np.eye(150)
    b = numbers(150, 3, kind=kind)
    ours, theirs = glassgrad.from_numpy(a), torch.from_numpy(a)
    packed, pivots = glassgrad.linalg.lu_factor(ours)
    np.testing.assert_array_equal(array(pivots), torch.linalg.lu_factor(theirs)[1].numpy())
    for adjoint in (False, True):
        x = array(glassgrad.linalg.lu_solve(packed, pivots, glassgrad.from_numpy(b), adjoint=adjoint))
        np.testing.assert_allclose((a.conj().T if adjoint else a) @ x, b, atol=1e-9)
    for upper in (False, True):
        for left in (False, True):
            right = b if left else b.T
            found = glassgrad.linalg.solve_triangular(ours, glassgrad.from_numpy(right), upper=upper, left=left)
            wanted = torch.linalg.solve_triangular(theirs, torch.from_numpy(right), upper=upper, left=left)
            np.testing.assert_allclose(array(found), wanted.numpy(), rtol=1e-8, atol=1e-10)
    definite = a @ a.conj().T
    root = glassgrad.linalg.cholesky(glassgrad.from_numpy(definite))
    np.testing.assert_allclose(array(glassgrad.cholesky_inverse(root)) @ definite, np.eye(150), atol=1e-8)


@generated(60)
@given(st.integers(1, 9), st.booleans(), st.booleans(), st.sampled_from([1.0, 0.05, 0.0]), st.integers(0, 2**32 - 1))
def test_symmetric_elimination(side, complex_, hermitian, diagonal, seed):
    """The factors of indefinite matrices and their pivots are torch's, and solve."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((side, side))
    if complex_:
        a = a + 1j * rng.standard_normal(a.shape)
    a[np.arange(side), np.arange(side)] *= diagonal
    a = a + (a.conj().T if hermitian else a.T)
    factors, pivots, info = triangle.ldl(a, hermitian)
    wanted, swaps, failed = torch.linalg.ldl_factor_ex(torch.from_numpy(a), hermitian=hermitian)
    np.testing.assert_array_equal(pivots, swaps.numpy())
    np.testing.assert_allclose(np.tril(factors), np.tril(wanted.numpy()), rtol=1e-7, atol=1e-9)
    assert (info != 0) == (int(failed) != 0)
    if info == 0 and np.linalg.cond(a) < 1e6:
        ours = [glassgrad.from_numpy(x) for x in (factors, pivots)]
        x = glassgrad.linalg.ldl_solve(*ours, glassgrad.from_numpy(a), hermitian=hermitian)
        np.testing.assert_allclose(array(x), np.eye(side), atol=1e-8)


@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 5.0, 50.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exponentials_of_every_size(scale, dtype):
    """Each matrix of a batch is scaled on its own."""
    drawn = np.random.default_rng(5).standard_normal((2, 4, 4))
    a = (drawn * [[[scale]], [[0.01]]]).astype(dtype)
    found, wanted = (array(engine.matrix_exp(engine.from_numpy(a))) for engine in ENGINES)
    tolerance = 1e-11 if dtype == "float64" else 2e-3 if scale > 10 else 3e-5
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * np.abs(y).max())


@pytest.mark.parametrize("driver", ["gelsy", "gelsd", "gelss"])
def test_least_squares_of_less_than_full_rank(driver):
    """The shortest solution, its rank and singular values, of a matrix whose columns repeat."""
    a = numbers(2, 5, 2) @ numbers(2, 2, 4)
    b = numbers(2, 5, 3)
    ours, theirs = (engine.linalg.lstsq(*map(engine.from_numpy, (a, b)), driver=driver) for engine in ENGINES)
    assert array(ours.rank).tolist() == theirs.rank.tolist() == [2, 2]
    np.testing.assert_allclose(array(ours.solution), theirs.solution.numpy(), atol=1e-10)
    assert tuple(ours.residuals.shape) == tuple(theirs.residuals.shape)
    np.testing.assert_allclose(array(ours.singular_values), theirs.singular_values.numpy(), atol=1e-10)


def test_tolerances_of_pseudoinverse_and_rank():
    """Absolute and relative, numbers and tensors, one for each matrix of a batch."""
    a = np.stack([np.diag([3.0, 1.0, 1e-4]), np.diag([2.0, 0.5, 0.1])])
    numbers_ = ({}, {"atol": 0.3}, {"rtol": 0.2}, {"atol": 0.2, "rtol": 0.4})
    for how in (*numbers_, {"atol": [0.0, 0.3]}, {"rtol": [1e-6, 0.1]}):
        found = []
        for engine in ENGINES:
            given = {k: engine.tensor(v, dtype=engine.float64) if isinstance(v, list) else v for k, v in how.items()}
            x = engine.from_numpy(a)
            found.append((array(engine.linalg.pinv(x, **given)), array(engine.linalg.pinv(x, hermitian=True, **given)),
                          array(engine.linalg.matrix_rank(x, **given))))  # fmt: skip
        for mine, yours in zip(*found, strict=True):
            np.testing.assert_allclose(mine, yours, atol=1e-9)


@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_slopes_of_exponentials_keep_their_digits_beside_large_gradients(scale):
    """By the divided differences of a symmetric matrix's eigenvalues; PyTorch's have no digit of the larger one."""
    symmetric = numbers(4, 4) * scale
    symmetric = symmetric + symmetric.T
    values, vectors = np.linalg.eigh(symmetric)
    first, second = np.meshgrid(values, values)
    with np.errstate(invalid="ignore"):
        slopes = (np.exp(first) - np.exp(second)) / (first - second)
    np.fill_diagonal(slopes, np.exp(values))
    wanted = vectors @ (slopes * np.diag(2 * np.exp(values))) @ vectors.T
    x = glassgrad.from_numpy(symmetric).requires_grad_()
    glassgrad.linalg.matrix_exp(x).square().sum().backward()
    np.testing.assert_allclose(array(x.grad), wanted, rtol=1e-10, atol=1e-12 * np.abs(wanted).max())
    several = glassgrad.from_numpy(np.stack([symmetric, 0 * symmetric])).requires_grad_()
    glassgrad.linalg.matrix_exp(several).square().sum().backward()
    np.testing.assert_allclose(array(several.grad)[0], array(x.grad), rtol=1e-10, atol=1e-12 * np.abs(wanted).max())
    small = glassgrad.from_numpy(numbers(3, 3)).requires_grad_()
    assert glassgrad.autograd.gradcheck(glassgrad.linalg.matrix_exp, [small])
