"""Tensors of transforms as they are seen: how they print, and what the explorer answers of them."""

import inspect

import pytest

import glassgrad as torch
from glassgrad.autograd import forward_ad
from glassgrad.explore import check, explain, explore, keeps, paths, read, record, why
from glassgrad.func import debug_unwrap, grad, jet, jvp, vmap

pytestmark = pytest.mark.filterwarnings("ignore:There is a performance drop")


def asked(function, *args):
    """What ``function`` gives of the tensors inside of a transform, where it is called with input and result."""
    answers = []

    def inside(x):
        y = (x * x).sum()
        answers.append(function(x, y))
        return y

    for transform in args:
        transform(inside)
    return answers


def every_transform():
    """Three ways into a function of a vector, two of them over a tensor with a history."""
    weight = torch.ones(3, 2, requires_grad=True)
    return (
        lambda f: grad(f)(torch.ones(2)),
        lambda f: vmap(f)(weight),
        lambda f: jvp(f, (weight[0],), (torch.ones(2),)),
    )


def test_within_a_transform_why_and_check_say_so():
    for verdict in asked(lambda x, y: (why(y), why(y, x), check(y)), *every_transform()):
        assert all("inside of a function transform" in answer.verdict and answer for answer in verdict)


def test_within_a_transform_graphs_are_drawn_and_read(tmp_path):
    pages = asked(lambda x, y: explore(y, path=str(tmp_path / "page.html")), *every_transform())
    assert len(pages) == 3
    operations = asked(lambda x, y: [node.op for node in read(y).nodes if node.op], *every_transform())
    assert operations[0] == ["SumBackward0", "MulBackward0", "AccumulateGrad"]  # the graph of the level itself
    assert all("SumBackward" in str(text) for text in asked(lambda x, y: explain(y), *every_transform()))
    assert asked(lambda x, y: len(paths(y, x).paths), *every_transform())[0] == 2
    assert all(asked(lambda x, y: keeps(y), *every_transform()))


def test_within_transforms_explain_says_what_they_make_of_a_tensor():
    texts = []

    def note(x):
        texts.append(str(explain((x * x).sum())))
        return (x * x).sum()

    vmap(grad(note))(torch.ones(2, 3))
    assert "Level 2, grad: the graph is this transform's own." in texts[0]
    assert "Level 1, vmap: it stands for a batch of 2, each of sizes []; the graph is that of all together." in texts[0]
    jvp(note, (torch.ones(3),), (torch.ones(3),))
    assert "Level 1, forward mode: it has a tangent of sizes []; the graph is that of its value." in texts[1]
    jet(note, (torch.ones(3),), ((torch.ones(3), torch.ones(3)),))
    assert "Level 1, jet: it has the coefficients of a power series up to power 2." in texts[2]
    sparse = torch.ones(2, 2).to_sparse()
    assert "What transforms make of it" not in str(explain(torch.ones(2, requires_grad=True) * 2)) and sparse.is_sparse


def test_what_a_transform_gives_is_an_ordinary_graph():
    weight = torch.ones(3, 2, requires_grad=True)
    loss = vmap(lambda x: (x * x).sum())(weight).sum()
    assert why(loss, weight).kind == "connected" and check(loss)
    gradient = grad(lambda w: (w**3).sum())(weight)
    assert why(gradient.sum(), weight).kind == "connected"


def test_dual_tensors_are_seen_as_their_values():
    with forward_ad.dual_level():
        leaf = torch.ones(2, requires_grad=True)
        dual = forward_ad.make_dual(leaf, torch.ones(2))
        loss = (dual * dual).sum()
        assert "tangent=4.0" in repr(loss)
        assert not dual.is_leaf and leaf.is_leaf
        assert why(loss, leaf).kind == "connected" and check(loss)
        assert len(paths(loss, leaf).paths) == 2
        assert why(forward_ad.unpack_dual(loss).tangent, leaf).kind == "connected"
        loss.backward()
        assert leaf.grad.tolist() == [2.0, 2.0]
        leaf.grad = None
        assert leaf.grad is None


def _loss(weight, x):
    h = x * weight
    return h.sin().sum()


@pytest.mark.parametrize(
    "run",
    [
        lambda weight, x: _loss(weight, x),
        lambda weight, x: grad(_loss)(weight, x),
        lambda weight, x: vmap(_loss, in_dims=(None, 0))(weight, x),
        lambda weight, x: vmap(grad(_loss), in_dims=(None, 0))(weight, x),
        lambda weight, x: jvp(_loss, (weight, x), (weight, x))[1],
        lambda weight, x: grad(lambda w: grad(_loss)(w, x).sum())(weight),
    ],
    ids=["plain", "grad", "vmap", "vmap of grad", "jvp", "grad of grad"],
)
def test_recordings_hear_each_of_the_users_calls_once(run):
    weight, x = torch.ones(3, requires_grad=True), torch.ones(4, 3)
    lines, first = inspect.getsourcelines(_loss)
    with record() as recording:
        loss = run(weight, x).sum()
    mine = [call.name for call in recording.calls if call.name and first <= call.loc.line < first + len(lines)]
    assert mine == ["mul", "sin", "sum"]
    assert why(loss, weight, record=recording).kind == "connected"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_backward_is_refused_within_a_transform(dtype):
    def inside(x):
        y = (x * x).sum()
        for call in (y.backward, lambda: torch.autograd.backward(y)):
            with pytest.raises(RuntimeError, match="called inside a functorch transform"):
                call()
        return y

    x = torch.ones(3, dtype=dtype)
    assert grad(inside)(x).tolist() == [2.0, 2.0, 2.0]
    assert jvp(inside, (x,), (x,))[1].item() == 6.0


def test_debug_unwrap_gives_what_stands_behind():
    weight = torch.ones(3, 2)
    seen = []

    def inside(x):
        seen.append((debug_unwrap(x), debug_unwrap(x, recurse=False)))
        return (x * x).sum()

    vmap(grad(inside))(weight)
    plain, next_level = seen[0]
    assert type(plain) is torch.Tensor and plain.shape == (3, 2)
    assert next_level.shape == (2,) and "BatchedTensor" in repr(next_level)
    assert debug_unwrap(weight) is weight


@pytest.mark.torch
def test_batch_norms_without_statistics():
    from tests.torch_reference import torch as reference

    def printed(t, func):
        model = t.nn.Sequential(
            t.nn.BatchNorm1d(2),
            t.nn.Sequential(t.nn.InstanceNorm1d(2, track_running_stats=True), t.nn.BatchNorm2d(2, affine=False)),
        )
        assert func.replace_all_batch_norm_modules_(model) is model
        return repr(model), list(model.state_dict()), model[0].running_mean

    assert printed(torch, torch.func) == printed(reference, reference.func)
