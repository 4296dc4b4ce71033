"""``torch.compile`` and ``torch.compiler`` as scripts call them: errors, stances, modules compiled in place, advice."""

import copy
import functools
import pickle

import pytest

import glassgrad as torch
from glassgrad import nn
from glassgrad.kernels import compiled

from .both_ways import bits, programs


@pytest.fixture(autouse=True)
def _kernels_of_numpy():
    with compiled.serving(compiled.NEVER):
        yield


def test_a_whole_graph_or_an_error():
    heard = []

    @torch.compile(fullgraph=True)
    def decides(x):
        heard.append(1)
        return x * 2 if x.sum() > 0 else x

    for _ in range(2):
        with pytest.raises(torch._dynamo.exc.Unsupported, match=r"truth\(\) at test_api.py:") as error:
            decides(torch.ones(2))
        assert isinstance(error.value, RuntimeError) and "Hint: " in str(error.value)
    assert len(heard) == 2

    whole = torch.compile(lambda x: x * 2, fullgraph=True, pure=True)
    for n in range(5):
        assert whole(torch.ones(2) * n).tolist() == [2.0 * n] * 2
    assert len(programs(whole)) == 1


def test_more_programs_than_it_may_have():
    few = torch.compile(lambda x: x * 2, recompile_limit=1, fullgraph=True, pure=True)
    for _ in range(4):
        few(torch.ones(1))
    with pytest.raises(torch._dynamo.exc.FailOnRecompileLimitHit):
        few(torch.ones(2))


def test_nothing_is_deferred_behind_a_way_too_many():
    def function(x, other):
        y = x * 2
        if other:
            y = y.exp()
        z = x * 3
        if other:
            x.add_(1)
        return y + z

    limited = torch.compile(function, recompile_limit=1)
    for other in (False,) * 6 + (True,) * 3:
        assert torch.equal(limited(torch.ones(3), other), function(torch.ones(3), other))


def test_a_module_compiled_in_place():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.Linear(3, 2))
    written = copy.deepcopy(model)
    keys, text = [*model.state_dict()], repr(model)
    assert model.compile() is None
    assert [*model.state_dict()] == keys and repr(model) == text
    for turn in range(8):
        for piece in (model, written):
            piece.train(turn % 4 < 2)
        x = torch.randn(4, 3)
        torch.manual_seed(turn)
        expected = written(x)
        torch.manual_seed(turn)
        assert bits(model(x)) == bits(expected)
    for other in (copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model))):
        assert other._compiled_call_impl is None
        assert bits(other(x)) == bits(model(x))
    model.register_forward_hook(lambda module, args, out: out * 3)
    assert bits(model(x)) == bits(written(x) * 3)


def test_a_module_that_gives_a_number():
    class Total(nn.Module):
        def forward(self, x):
            return (x * 2).sum().item()

    total = Total()
    total.compile()
    assert [total(torch.full((3,), float(n))) for n in range(4)] == [0.0, 6.0, 12.0, 18.0]


class Scaled:
    scale = 2.0

    def __init__(self):
        self.shift = 1.0

    def __call__(self, x):
        return x * self.scale + self.shift

    @torch.compile
    def bare(self, x):
        return x * self.scale

    @torch.compile(dynamic=True)
    def called(self, x):
        return x * self.scale


def test_what_may_be_compiled():
    one = Scaled()
    x = torch.ones(2)
    calls = [
        torch.compile(one), torch.compile(functools.partial(torch.add, 1)), torch.compile(lambda x: x + 1), one.bare,
        one.called,
    ]  # fmt: skip
    for call, expected in zip(calls, (3.0, 2.0, 2.0, 2.0, 2.0)):
        for _ in range(3):
            assert call(x).tolist() == [expected] * 2
    one.shift = 2.0
    assert calls[0](x).tolist() == [4.0] * 2
    assert torch.compile(Scaled) is Scaled

    def pieces(x):
        yield x
        yield x + 1

    generator = torch.compile(pieces)
    for _ in range(3):
        assert [piece.tolist() for piece in generator(x)] == [[1.0] * 2, [2.0] * 2]


def test_stances():
    call = torch.compile(lambda x: x * 2, pure=True)
    for _ in range(4):
        call(torch.ones(2))
    with torch.compiler.set_stance("fail_on_recompile"):
        assert call(torch.ones(2)).tolist() == [2.0] * 2
        with pytest.raises(RuntimeError, match="Detected recompile when torch.compile stance is 'fail_on_recompile'"):
            call(torch.ones(3))
    with torch.compiler.set_stance("eager_on_recompile"):
        assert call(torch.ones(3)).tolist() == [2.0] * 3
    assert len(programs(call)) == 1
    with pytest.raises(RuntimeError, match="cannot have force_backend set"):
        torch.compiler.set_stance("force_eager", force_backend="eager")
    with torch.compiler.set_stance("nonsense"), pytest.raises(RuntimeError, match="invalid torch.compile stance"):
        call(torch.ones(4))

    @torch.compiler.set_stance("force_eager")
    def eagerly():
        return torch.compile(torch.compiler.is_compiling)()

    assert eagerly() is False
    compiling = torch.compile(lambda: torch.compiler.is_compiling())
    assert [compiling() for _ in range(4)] == [True] * 4 and not torch.compiler.is_compiling()


def test_settings_and_their_errors():
    layer = nn.Linear(2, 2)
    with pytest.raises(torch._dynamo.exc.InvalidBackend, match="Invalid backend: 'x'"):
        torch.compile(layer, backend="x")
    with pytest.raises(RuntimeError, match="Unrecognized mode=x"):
        torch.compile(layer, mode="x")
    with pytest.raises(RuntimeError, match="Either mode or options"):
        torch.compile(layer, mode="default", options={})
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        torch.compile(layer, foo=1)
    with pytest.raises(AssertionError, match="Expected enable to be a bool"):
        torch.compile(layer, dynamic="x")
    with pytest.raises(AssertionError, match="A callable function is expected"):
        torch.compile(3)
    with pytest.raises(AssertionError, match="allow_in_graph expects a callable"):
        torch.compiler.allow_in_graph(3)
    assert torch.compiler.allow_in_graph([len, sum]) == [len, sum]
    call = torch.compile(torch.sin)
    assert torch.compiler.disable(call) is torch.sin and torch.compiler.disable()(call) is torch.sin
    assert torch.compile(torch.sin, disable=True) is torch.sin
    assert torch.compiler.list_backends() == ["cudagraphs", "inductor", "openxla", "tvm"]
    torch.compiler.set_default_backend("eager")
    try:
        assert torch.compile(torch.sin) is torch.sin and torch.compiler.get_default_backend() == "eager"
    finally:
        torch.compiler.set_default_backend(None)
    outer = torch.compile(nn.Sequential(layer))
    assert len(outer) == 1
    with pytest.raises(TypeError, match="Linear does not support len"):
        len(torch.compile(layer))


def test_advice():
    losses = []

    def step(x):
        loss = x.sum()
        losses.append(loss.item())
        return loss

    call = torch.compile(step, pure=True)
    for _ in range(3):
        call(torch.ones(2))
    told = repr(torch.compile.explain(call))
    assert "test_api.py:" in told and "item()" in told and "give the tensor back, and ask for its value outside" in told
    scaled = torch.compile(lambda x, rate: x * rate, pure=True)
    for n in range(12):
        scaled(torch.ones(2), 0.1 * n)
    assert "give a number that changes as a tensor" in repr(torch.compile.explain(scaled))


def test_copies_of_a_compiled_module_are_their_own():
    for layer in (nn.Linear(3, 2), torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))):
        layer.compile()
        layer(torch.ones(2, 3)).sum().backward()
        copied, before = copy.deepcopy(layer), [p.grad.clone() for p in layer.parameters()]
        copied(torch.ones(2, 3)).sum().backward()
        assert [p.grad.tolist() for p in layer.parameters()] == [grad.tolist() for grad in before]
        assert [p.grad.tolist() for p in copied.parameters()] == [grad.tolist() for grad in before]
