"""NumPy's names for arguments, wherever PyTorch's parser takes them."""

import importlib
import inspect

import pytest

import glassgrad
from glassgrad.core.row import TABLE
from tests.laws import Call
from tests.samples import all_samples

ALONG = """
argmax argmin all any amax amin count_nonzero logsumexp max mean median min mode nanmean nanmedian nansum prod std sum
var std_mean var_mean quantile nanquantile kthvalue topk sort argsort cummax cummin cumprod cumsum logcumsumexp diff
softmax log_softmax unbind unsqueeze squeeze select narrow chunk tensor_split repeat_interleave index_select
index_add index_copy index_fill gather scatter scatter_add take_along_dim slice_scatter select_scatter renorm cross
linalg.norm linalg.vector_norm fft.fft fft.ifft special.softmax special.logsumexp cosine_similarity trapezoid
""".split()
KEPT = """
argmax argmin all any amax amin logsumexp max mean median min mode nanmean nansum prod std sum var std_mean var_mean
quantile nanquantile kthvalue linalg.norm linalg.vector_norm
""".split()
MORE = {
    "quantile": {"q": 0.5}, "nanquantile": {"q": 0.5}, "kthvalue": {"k": 1}, "topk": {"k": 1}, "select": {"index": 1},
    "narrow": {"start": 0, "length": 1}, "chunk": {"chunks": 2}, "tensor_split": {"sections": 2},
    "repeat_interleave": {"repeats": 2}, "select_scatter": {"index": 1}, "slice_scatter": {"end": 1},
    "renorm": {"p": 2, "maxnorm": 1.0}, "index_fill": {"value": 2.0},
}  # fmt: skip
BESIDE = {"cross": "other", "cosine_similarity": "x2"}
WRITERS = ["squeeze_", "unsqueeze_", "cumsum_", "cumprod_", "renorm_"]


def operands(t, name):
    """What the function needs beside its first tensor, of shape ``(2, 3)``."""
    more = dict(MORE.get(name.removesuffix("_"), {}))
    if name in BESIDE:
        more[BESIDE[name]] = t.ones(2, 3)
    if name in ("gather", "scatter", "scatter_add", "take_along_dim"):
        more["indices" if name == "take_along_dim" else "index"] = t.tensor([[0, 1, 1]])
    if name in ("scatter", "scatter_add"):
        more["src"] = t.ones(2, 3)
    if name in ("index_select", "index_add", "index_copy", "index_fill"):
        more["index"] = t.tensor([1])
    if name in ("index_add", "index_copy"):
        more["source"] = t.ones(2, 1)
    if name in ("select_scatter", "slice_scatter"):
        more["src"] = t.ones(2) if name == "select_scatter" else t.ones(2, 1)
    return more


def matrix(t):
    return t.tensor([[3.0, -1.0, 2.0], [0.5, 4.0, 2.0]])


def function(t, name):
    for part in name.split("."):
        t = getattr(t, part)
    return t


def values(result):
    return [r.tolist() for r in (result if isinstance(result, (tuple, list)) else [result])]


@pytest.mark.parametrize("name", ALONG)
def test_axis(name):
    more = operands(glassgrad, name)
    by_axis = function(glassgrad, name)(matrix(glassgrad), axis=1, **more)
    assert values(by_axis) == values(function(glassgrad, name)(matrix(glassgrad), dim=1, **more))


@pytest.mark.parametrize("name", KEPT)
def test_keepdims(name):
    more = operands(glassgrad, name)
    by_axis = function(glassgrad, name)(matrix(glassgrad), axis=1, keepdims=True, **more)
    assert values(by_axis) == values(function(glassgrad, name)(matrix(glassgrad), dim=1, keepdim=True, **more))


@pytest.mark.parametrize("name", [*ALONG, *WRITERS])
def test_torch_takes_them_too(name):
    torch = pytest.importorskip("torch")
    taken = []
    for t in (torch, glassgrad):
        if "." not in name and hasattr(t.Tensor, name):  # as a method too
            taken.append(values(getattr(matrix(t), name)(axis=0 if name == "squeeze" else 1, **operands(t, name))))
        else:
            taken.append(values(function(t, name)(matrix(t), axis=1, **operands(t, name))))
    assert [len(part) for part in taken[0]] == [len(part) for part in taken[1]]
    for ours, theirs in zip(glassgrad.tensor(taken[1][0]).flatten(), torch.tensor(taken[0][0]).flatten(), strict=True):
        assert ours.item() == pytest.approx(theirs.item(), rel=1e-6)


def _by_name(torch, sample):
    """The names of a sample's arguments, in every way that PyTorch's parser may know them, NumPy's among them."""
    for name in {sample.name.split(".")[-1], sample.name.replace(".", "_")}:
        for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
            names = ["input" if each.name == "self" else each.name for each in schema.arguments]
            if len(names) >= len(sample.args) and names[:1] != ["a"]:  # "a" is a number there
                names = [*names[: len(sample.args)], *sample.kwargs]
                for to in ({}, {"dim": "axis"}, {"keepdim": "keepdims"}, {"dim": "axis", "keepdim": "keepdims"}):
                    if to.keys() <= {*names}:
                        yield tuple(to.get(each, each) for each in names)


@pytest.mark.torch
@pytest.mark.once
@pytest.mark.filterwarnings("ignore")
def test_every_argument_has_the_names_that_torch_takes():
    """Samples of all operations, with all arguments by name."""
    torch = pytest.importorskip("torch")
    importlib.import_module("torch.nn.functional")
    ways = {}
    for sample in all_samples():
        if sample.in_torch and not sample.name.startswith("Tensor."):
            for names in _by_name(torch, sample):
                ways.setdefault((sample.name, names), sample)
    refused = []
    for (name, names), sample in ways.items():
        calls = [Call(sample, t, sample.only[0]) for t in (torch, glassgrad)]
        given = [dict(zip(names, [*call.args, *call.kwargs.values()], strict=True)) for call in calls]
        try:
            function(torch, name)(**given[0])
        except (TypeError, RuntimeError):
            continue  # another overload
        try:
            function(glassgrad, name)(**given[1])
        except TypeError as error:
            refused.append(f"{name}{names}: {error}")
    assert len(ways) > 800 and not refused, "\n".join(refused)


def test_input_and_other():
    t = glassgrad.arange(6.0).view(2, 3)
    for name in ("x", "a", "x1"):
        assert glassgrad.equal(glassgrad.softmax(axis=0, **{name: t}), t.softmax(0))
    assert glassgrad.equal(glassgrad.max(t, x2=t.flip(0)), glassgrad.max(t, t.flip(0)))
    assert glassgrad.equal(t.clone().add_(x2=t), t + t)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda t: t.sum(dim=0, axis=1),
        lambda t: t.argmax(dim=0, axis=1),
        lambda t: t.select(0, 1, axis=1),
        lambda t: t.unsqueeze(0, axis=1),
        lambda t: t.select(1),
        lambda t: t.unsqueeze(),
        lambda t: t.sum(axes=1),
        lambda t: glassgrad.sum(x=t, a=t),
    ],
)
def test_two_names_for_one_are_refused(wrong):
    with pytest.raises(TypeError):
        wrong(glassgrad.ones(2, 3))


def test_every_public_dim_may_be_called_axis():
    """Whatever row is public and has a dim says that it takes ``axis``: none is left out."""
    rows = [TABLE[name] for name in TABLE]
    with_dim = [row for row in rows if row.public and "dim" in row.settings]
    assert len(with_dim) >= 8
    for row in with_dim:
        assert row.plan.synonyms["axis"] == "dim"
    assert "axis" not in inspect.signature(glassgrad.Tensor.sum).parameters  # one place, no function of its own
