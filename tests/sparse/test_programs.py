"""Programs with sparse tensors: what they compute, print, refuse and save, equal under both engines."""

import io
import subprocess
import sys

import pytest

from tests.agreement import cases, check

pytestmark = pytest.mark.torch


def _matrix(torch, requires_grad=False, dtype=None):
    at = torch.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])
    values = torch.tensor([3.0, 4.0, 5.0, 6.0], dtype=dtype or torch.float64, requires_grad=requires_grad)
    return values, torch.sparse_coo_tensor(at, values, (2, 3))


def _seen(show, label, x):
    show(label, [repr(x), str(x.dtype), str(x.layout), tuple(x.shape), x.is_sparse, x.is_coalesced()])


def making(torch, show):
    at, values = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0])
    _seen(show, "plain", torch.sparse_coo_tensor(at, values, (2, 3)))
    _seen(show, "no size", torch.sparse_coo_tensor([[0, 4]], [1.0, 2.0]))
    _seen(show, "empty", torch.sparse_coo_tensor((2, 3)))
    _seen(show, "empty keyword", torch.sparse_coo_tensor(size=(2, 3), dtype=torch.float64))
    _seen(show, "dtype", torch.sparse_coo_tensor(at, values, (2, 3), dtype=torch.float64))
    _seen(show, "integers", torch.sparse_coo_tensor(at, values.long(), (2, 3)))
    _seen(show, "hybrid", torch.sparse_coo_tensor(at, values[:, None].expand(3, 2), (2, 3, 2)))
    _seen(show, "leaf", torch.sparse_coo_tensor(at, values, (2, 3), requires_grad=True))
    _seen(show, "coalesced", torch.sparse_coo_tensor(at, values, (2, 3), is_coalesced=True))
    x = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
    _seen(show, "to_sparse", x.to_sparse())
    _seen(show, "to_sparse 1", x.to_sparse(1))
    show("dims", [x.to_sparse(1).sparse_dim(), x.to_sparse(1).dense_dim(), x.to_sparse()._nnz()])


def refusals(torch, show):
    _, s = _matrix(torch)
    make = torch.sparse_coo_tensor
    show.error(lambda: make([[0, 1]], [1.0], (3,)))
    show.error(lambda: make([[0, 1]], [1.0, 2.0], (3, 2)))
    show.error(lambda: make([[4, 0]], [1.0, 2.0], is_coalesced=True, check_invariants=True))
    show.error(lambda: s.indices())
    show.error(lambda: s.values())
    show.error(lambda: s + 1)
    show.error(lambda: s + s.to_dense())
    show.error(lambda: s + make((3, 3), dtype=torch.float64))
    show.error(lambda: s @ torch.ones(2, 2, dtype=torch.float64))
    show.error(lambda: s @ torch.ones(3, 2))
    show.error(lambda: s @ torch.ones(2, dtype=torch.float64))
    show.error(lambda: s.reshape(6))
    show.error(lambda: s.numpy())
    show.error(lambda: s.to_dense(dtype=torch.float32))
    for act in (lambda: s.exp(), lambda: s == s, lambda: s.mean(), lambda: s.nonzero(), lambda: torch.ones_like(s)):
        show.error(act, words=False)


def diagonals(torch, show):
    lines, at = torch.arange(12.0).reshape(3, 4), torch.tensor([0, -1, 2])
    spdiags = torch.sparse.spdiags
    for shape in ((5, 4), (4, 4), (3, 4)):  # with fewer columns PyTorch names places outside of the matrix
        _seen(show, f"{shape}", spdiags(lines, at, shape))
    _seen(show, "one", spdiags(lines[0], torch.tensor(1), (5, 4)))
    for layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        show(f"{layout}", [repr(spdiags(lines, at, (5, 4), layout=layout))])
    show.error(lambda: spdiags(lines, at[:2], (5, 4)))
    show.error(lambda: spdiags(lines, at * 0, (5, 4)))
    show.error(lambda: spdiags(lines, at, (5, 4, 1)))
    show.error(lambda: spdiags(lines, at.int(), (5, 4)))
    show.error(lambda: spdiags(lines, at[None], (5, 4)))
    show.error(lambda: spdiags(lines[None], at, (5, 4)))
    show.error(lambda: spdiags(lines, at, (5, 4), layout=torch.strided), words=False)


def parts(torch, show):
    _, s = _matrix(torch)
    _seen(show, "coalesce", s.coalesce())
    show("parts", [s._indices(), s._values(), s.coalesce().indices(), s.coalesce().values()])
    for label, made in {
        "t": s.t(), "transpose": s.transpose(0, 1), "permute": s.permute(1, 0), "neg": -s, "twice": 2 * s,
        "half": s / 2, "add": s + s.t().t(), "merge": s + 2 * s.coalesce(), "sub": s - s, "mul": s * s,
        "dense": s * torch.arange(6.0, dtype=torch.float64).view(2, 3), "clone": s.clone(), "detach": s.detach(),
        "float": s.float(), "sum 0": s.sum(0), "sum keepdim": s.sum(1, keepdim=True), "zeros": torch.zeros_like(s),
        "sparse.sum": torch.sparse.sum(s, 1), "product": s @ s.t(), "sparse.mm": torch.sparse.mm(s, s.t()),
        "softmax": torch.sparse.softmax(s, 1), "log_softmax": torch.sparse.log_softmax(s, 0), "sqrt": s.sqrt(),
        "relu": (-s).relu(), "square": s**2, "select": s.coalesce()[1], "cat": torch.cat([s, s]),
        "rows": s.index_select(0, torch.tensor([1, 0, 1])), "mask": torch.ones(2, 3).to_sparse().to(torch.float64),
    }.items():  # fmt: skip
        show(label, [tuple(made.shape), str(made.dtype), str(made.layout)])
        show(f"{label} dense", made.to_dense())
        show(f"{label} nnz", made.coalesce()._nnz())
    show("numbers", [s.sum(), torch.sparse.sum(s), s.sum(None, keepdim=True), s.norm(), s.numel(), len(s)])
    show("masked", torch.arange(6.0, dtype=torch.float64).view(2, 3).sparse_mask(s.coalesce()).to_dense())
    other = s.clone()
    other.mul_(2).add_(s)
    show("in place", other.to_dense())
    show("zeroed", [repr(other.zero_()), other._nnz()])
    show("type", [s.type(), type(s).__name__, isinstance(s, torch.Tensor)])


_LOSSES = {
    "to_dense": lambda torch, s, d, w: (s.to_dense() * w).sum(),
    "mm": lambda torch, s, d, w: (s @ d).square().sum(),
    "sparse.mm": lambda torch, s, d, w: torch.sparse.mm(s, d).square().sum(),
    "mv": lambda torch, s, d, w: (s @ d[:, 0]).square().sum(),
    "dense @ sparse": lambda torch, s, d, w: (d[:, :2] @ s).square().sum(),
    "addmm": lambda torch, s, d, w: torch.sparse.addmm(w[:, :2], s, d, beta=2.0, alpha=3.0).square().sum(),
    "add": lambda torch, s, d, w: ((s + s * 2).to_dense() * w).square().sum(),
    "mul": lambda torch, s, d, w: ((s * s).to_dense() * w).sum(),
    "dense + sparse": lambda torch, s, d, w: (w + s).square().sum(),
    "sum": lambda torch, s, d, w: s.sum() * 3,
    "sparse.sum": lambda torch, s, d, w: torch.sparse.sum(s) * 3,
    "sparse.sum 1": lambda torch, s, d, w: torch.sparse.sum(s, 1).to_dense().square().sum(),
    "t": lambda torch, s, d, w: (s.t().to_dense() ** 2).sum(),
    "softmax": lambda torch, s, d, w: (torch.sparse.softmax(s, 1).to_dense() * w).sum(),
    "log_softmax": lambda torch, s, d, w: (torch.sparse.log_softmax(s, 1).to_dense() * w).sum(),
    "values": lambda torch, s, d, w: s.coalesce().values().square().sum(),
    "neg": lambda torch, s, d, w: ((-s).to_dense() ** 2).sum(),
    "product": lambda torch, s, d, w: torch.sparse.mm(s, s.t()).to_dense().square().sum(),
}


@pytest.mark.parametrize("name", _LOSSES)
def test_gradients(name):
    def program(torch, show):
        d = torch.arange(6.0, dtype=torch.float64).view(3, 2).requires_grad_()
        w = torch.arange(6.0, dtype=torch.float64).view(2, 3).sin().requires_grad_()
        values, s = _matrix(torch, requires_grad=True)
        loss = _LOSSES[name](torch, s, d, w)
        loss.backward()
        show("loss", loss.detach())
        show("values", values.grad)
        show("dense", [None if x.grad is None else x.grad.to_dense() for x in (d, w)])
        leaf = _matrix(torch)[1].requires_grad_()
        _LOSSES[name](torch, leaf, d, w).backward()
        show("leaf", [str(leaf.grad.layout), leaf.grad.to_dense()])

    check(program)


def second_order(torch, show):
    values, s = _matrix(torch, requires_grad=True)
    d = torch.arange(6.0, dtype=torch.float64).view(3, 2).requires_grad_()
    first = torch.autograd.grad(torch.sparse.mm(s, d).pow(3).sum(), [d], create_graph=True)
    show("first", first[0].detach())
    show("second", list(torch.autograd.grad(first[0].square().sum(), [d])))


def nodes(torch, show):
    _, s = _matrix(torch, requires_grad=True)
    d = torch.ones(3, 2, dtype=torch.float64)
    for made in (
        s, s.coalesce(), s.to_dense(), s.coalesce().values(), s @ d, torch.sparse.mm(s, d), torch.sparse.mm(s, s.t()),
        s @ d[:, 0], s.t(), s.transpose(0, 1), s.permute(1, 0), s + s, s - s, s * 2, s / 2, s * s, -s, s.sum(),
        s.sum(0), torch.sparse.sum(s, 0), s.clone(), s.float(), s.to_sparse_csr(), d.requires_grad_().to_sparse(),
        d.to_sparse(1), torch.sparse.addmm(torch.ones(2, 2, dtype=torch.float64), s, d),
    ):  # fmt: skip
        show("node", made.grad_fn.name())
    show("printed", repr(s))


def embeddings(torch, show):
    def weighed(x):  # gradients with memory of their own: those of a plain sum make PyTorch list places twice
        return (x * torch.arange(1.0, x.numel() + 1).view(x.shape)).sum()

    for padding in (None, 1):
        table = torch.nn.Embedding(5, 2, sparse=True, padding_idx=padding)
        torch.nn.init.ones_(table.weight)
        x = torch.tensor([[0, 1], [3, 3]])
        weighed(table(x)).backward()
        held = table.weight.grad
        _seen(show, "first", held)
        weighed(table(x)).backward()
        _seen(show, "same places", table.weight.grad)
        weighed(table(torch.tensor([2, 0, 3]))).backward()
        _seen(show, "other places", table.weight.grad)
        show("identity", held is table.weight.grad)
        table.weight.sum().backward()
        show("with dense", table.weight.grad)
        weighed(table(x)).backward()
        show("into dense", table.weight.grad)
        table.zero_grad()
        (weighed(table(x)) + 2 * weighed(table(x[0]))).backward()
        show("two uses", table.weight.grad.to_dense())
        table.zero_grad()
        (weighed(table(x)) + table.weight.sum()).backward()
        show("sparse and dense", table.weight.grad)
    show.error(
        lambda: torch.nn.functional.embedding(x, table.weight, sparse=True, scale_grad_by_freq=True).sum().backward()
    )


def old_types(torch, show):
    kind, at, values = torch.sparse.FloatTensor, torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0])
    for made in (kind(at, values), kind(at, values, torch.Size([3, 3])), kind(2, 3), kind(torch.Size([2])), kind()):
        _seen(show, "made", made)
        show("is one", [isinstance(made, kind), isinstance(made, torch.sparse.LongTensor), isinstance(values, kind)])
    show("its values' dtype", torch.sparse.DoubleTensor(at, values).dtype)
    show("type", [repr(kind), str(kind.dtype), str(kind.layout), kind.is_sparse])


def second_order_embedding(torch, show):
    table = torch.nn.Embedding(5, 2, sparse=True)
    torch.nn.init.constant_(table.weight, 0.5)
    (first,) = torch.autograd.grad((table(torch.tensor([0, 3, 3])) ** 3).sum(), table.weight, create_graph=True)
    show("first", first.detach().to_dense())
    show("second", torch.autograd.grad(first.to_dense().sum(), table.weight)[0].to_dense())


def bags(torch, show):
    for mode in ("sum", "mean"):
        for padding in (None, 1):
            table = torch.nn.EmbeddingBag(5, 2, sparse=True, mode=mode, padding_idx=padding)
            torch.nn.init.ones_(table.weight)
            out = table(torch.tensor([0, 1, 3, 3, 1]), torch.tensor([0, 2]))
            (out * torch.tensor([1.0, 2.0])).sum().backward()
            _seen(show, mode, table.weight.grad)


def saving(torch, show):
    _, s = _matrix(torch)
    for x in (s, s.coalesce(), s.to_sparse_csr()):
        file = io.BytesIO()
        torch.save({"x": x}, file)
        file.seek(0)
        show("loaded", repr(torch.load(file)["x"]))


def compressed_rows(torch, show):
    s = torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], torch.tensor([9.0, 4.0, 5.0]), (2, 3))
    show("csr", [repr(s), str(s.layout), s.is_sparse, s.is_sparse_csr, tuple(s.shape), s._nnz()])
    show("parts", [s.crow_indices(), s.col_indices(), s.values()])
    show("dense", [s.to_dense(), s @ torch.ones(3, 2), torch.sparse.mm(s, torch.ones(3, 2)), s @ torch.ones(3)])
    show("coo", repr(s.to_sparse_coo()))
    show("of dense", repr(torch.tensor([[0.0, 2.0], [0.0, 0.0], [1.0, 3.0]]).to_sparse_csr()))
    d = torch.arange(6.0).view(3, 2).requires_grad_()
    (s @ d).square().sum().backward()
    show("gradient", d.grad)


def compressed_lines(torch, show):
    d = torch.tensor([[1.0, 0.0, 2.0, 0.0], [0.0, 0.0, 3.0, 4.0]], requires_grad=True)
    x = torch.arange(8.0).view(4, 2)
    show("bsc", repr(d.detach().to_sparse(layout=torch.sparse_bsc, blocksize=(1, 2))))
    for made in (d.to_sparse_csc(), d.to_sparse_bsr((2, 2))):
        name = str(made.layout)
        show(name, [repr(made), made.is_sparse_csr, made._nnz(), repr(made.t()), repr((made * 2).detach())])
        d.grad = None
        (made @ x).square().sum().backward()
        show(f"{name} gradient", [made.to_dense(), d.grad])
    show("of parts", repr(torch.sparse_csc_tensor([0, 1, 1, 2], [1, 0], [1.0, 2.0])))
    blocks = torch.arange(8.0).view(2, 2, 2)
    show("of blocks", torch.sparse_bsr_tensor([0, 1, 2], [1, 0], blocks).to_dense())
    csc, csr = d.detach().to_sparse_csc(), d.detach().to_sparse_csr()
    show("its parts", [csc.ccol_indices(), csc.row_indices(), repr(csr.to_sparse_csc()), repr(csr.t().to_sparse_csr())])
    for act in (csc.crow_indices, csc.col_indices, csr.ccol_indices, csr.row_indices):
        show.error(act)
    show.error(lambda: d.to_sparse_bsr((2, 3)))
    show.error(lambda: d.to_sparse(layout=torch.sparse_bsr))
    show.error(lambda: torch.sparse_compressed_tensor([0, 1], [0], [1.0], layout=torch.sparse_coo))


def products_that_reduce(torch, show):
    for reduce in ("sum", "mean", "amax", "amin", "max", "min"):
        s = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [2.0, 4.0, 1.0]]).to_sparse_csr().requires_grad_()
        x = torch.tensor([[1.0, -2.0], [1.0, 5.0], [0.5, -1.0]], requires_grad=True)  # 1 * 1 and 2 * 0.5 are a tie
        product = torch.sparse.mm(s, x, reduce)
        product.backward(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        show(reduce, [product.detach(), repr(s.grad), x.grad])
    show.error(lambda: torch.sparse.mm(s, x, "prod"))
    show.error(lambda: torch.sparse.mm(s.detach().to_sparse_csc(), x, "amax"))


@pytest.mark.parametrize("program", cases(globals()).values(), ids=cases(globals()))
def test_program(program):
    check(program)


@pytest.mark.parametrize("make", ["plain", "coalesced", "csr", "csc", "bsr", "bsc"])
def test_files_are_exchanged(make):
    import glassgrad
    from tests.torch_reference import torch

    for saver, loader in ((torch, glassgrad), (glassgrad, torch)):
        x = _matrix(saver)[1]
        if make == "coalesced":
            x = x.coalesce()
        elif make != "plain":
            block = (1, 3) if make[0] == "b" else None
            x = x.to_dense().to_sparse(layout=getattr(saver, f"sparse_{make}"), blocksize=block)
        file = io.BytesIO()
        saver.save({"x": x}, file)
        file.seek(0)
        assert repr(loader.load(file)["x"]) == repr(x)


@pytest.mark.parametrize("call", ["s @ d", "s + s", "s.t()", "s.sum()", "torch.sparse.mm(s, d)", "torch.sin(s)"])
def test_any_operation_may_be_the_first(call):
    """Whatever a process does first with a sparse tensor, all that stands for rows is there."""
    script = (
        "import glassgrad as torch\n"
        "s, d = torch.sparse_coo_tensor(torch.tensor([[0], [1]]), torch.tensor([2.0]), (2, 3)), torch.ones(3, 2)\n"
        f"out = {call}\n"
        "print((out.to_dense() if out.is_sparse else out).sum().item())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
