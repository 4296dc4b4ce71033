"""Recurrent layers and cells: value, gradients of both orders, graph, state, words, dropout, against PyTorch."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from glassgrad.core.row import TABLE
from tests.agreement import cases, check
from tests.counts import generated

torch_only = pytest.mark.torch
KINDS = ("LSTM", "GRU", "RNN")
LAYERS = [
    *[(kind, {}) for kind in KINDS],
    *[(kind, {"num_layers": 2, "bidirectional": True, "batch_first": True, "dropout": 0.5}) for kind in KINDS],
    *[(kind, {"bias": False, "num_layers": 2}) for kind in KINDS],
    ("LSTM", {"proj_size": 2, "num_layers": 2, "bidirectional": True}),
    ("RNN", {"nonlinearity": "relu", "bidirectional": True}),
]
LENGTHS = (None, [2, 4, 3], [4, 4, 4], [1, 1, 4])
every_layer = pytest.mark.parametrize(("kind", "kwargs"), LAYERS, ids=lambda part: str(part).replace(" ", ""))


def _data(output):
    return output if hasattr(output, "dim") else output.data


def _made(torch, kind, kwargs, dtype, lengths):
    """A layer, a function that calls it on the input anew, and everything that gradients may be wanted of."""
    torch.manual_seed(0)
    dtype = getattr(torch, dtype)
    layer = getattr(torch.nn, kind)(4, 5, **kwargs).to(dtype)
    x = torch.randn(4, 3, 4, dtype=dtype, requires_grad=True)
    batch = 4 if kwargs.get("batch_first") and lengths is None else 3
    states = kwargs.get("num_layers", 1) * (2 if kwargs.get("bidirectional") else 1)
    h = torch.randn(states, batch, kwargs.get("proj_size") or 5, dtype=dtype, requires_grad=True)
    c = torch.randn(states, batch, 5, dtype=dtype, requires_grad=True)
    hx = (h, c) if kind == "LSTM" else h

    def call(state=hx):
        given_ = x
        if lengths is not None:
            given_ = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
        return layer(given_, state)

    return layer, call, [x, *(hx if kind == "LSTM" else [h]), *layer.parameters()]


def _loss(torch, output, state):
    data = _data(output)
    weights = torch.arange(1.0, data.numel() + 1, dtype=data.dtype).reshape(data.shape).sin()
    states = state if isinstance(state, tuple) else (state,)
    return (data * weights).sum() + sum((piece * piece).sum() for piece in states)


#: Every layer without and with lengths; lengths that are all the same, and ties, with each kind of layer once.
PACKED = [(*layer, lengths) for layer in LAYERS for lengths in LENGTHS[:2]]
PACKED += [(kind, {}, lengths) for kind in KINDS for lengths in LENGTHS[2:]]


@torch_only
@pytest.mark.parametrize(("kind", "kwargs", "lengths"), PACKED, ids=lambda part: str(part).replace(" ", ""))
def test_layer(kind, kwargs, lengths):
    """Fused, step by step once looked at, and twice differentiated: the same as PyTorch, in double precision."""
    if lengths is not None:
        kwargs = {key: value for key, value in kwargs.items() if key != "batch_first"}

    def program(torch, show):
        layer, call, places = _made(torch, kind, kwargs, "float64", lengths)
        output, state = call()
        grads = torch.autograd.grad(_loss(torch, output, state), places, create_graph=True)
        show("gradients", [grad.detach() for grad in grads])
        penalty = sum((grad * grad).sum() for grad in grads)
        show("second", torch.autograd.grad(penalty, places))
        output, state = call(None)
        _data(output).sum().backward()
        show("parameters", [p.grad for p in layer.parameters()])
        show("output", _data(output))
        show("state", state)
        output, state = call()
        if lengths is None:  # PyTorch pads by writing through views, which is part of the graph there
            show.graph("graph", output)
            show.graph("graph of the state", state[1] if kind == "LSTM" else state)
        else:
            show("node", _data(output).grad_fn.name())
        show("looked at", torch.autograd.grad(_loss(torch, output, state), places))
        if lengths is None:
            show.graph("freed", output)
        layer.eval()
        with torch.no_grad():
            show("without graph", _data(call()[0]))

    check(program)


@torch_only
@every_layer
def test_layer_in_single_precision(kind, kwargs):
    def program(torch, show):
        layer, call, places = _made(torch, kind, kwargs, "float32", None)
        show("repr", repr(layer))
        show("state", dict(layer.state_dict()))
        show("all weights", [[tuple(weight.shape) for weight in weights] for weights in layer.all_weights])
        output, state = call()
        show("gradients", torch.autograd.grad(_loss(torch, output, state), places, retain_graph=True))
        show("again", torch.autograd.grad(_loss(torch, output, state), places[0]))
        show("output", output)
        show("state", state)
        show("random", torch.rand(2))
        layer.eval()
        show("eval", call()[0])

    check(program)


@torch_only
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("kind", KINDS)
def test_layer_in_half_precision(kind, dtype):
    """PyTorch rounds after every step, we do once: near each other, and of one dtype."""
    from tests.torch_reference import torch

    found = []
    for engine in (torch, glassgrad):
        _, call, places = _made(engine, kind, {}, dtype, None)
        output, state = call()
        grads = engine.autograd.grad(output.sum(), places[0])
        assert str(output.dtype) == str(grads[0].dtype) == f"torch.{dtype}"
        found.append([piece.detach().float().numpy() for piece in (output, grads[0])])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-3 if dtype == "float16" else 2e-2)


@torch_only
@generated(25)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=5),
    kind=st.sampled_from(KINDS),
    bidirectional=st.booleans(),
    features=st.integers(1, 3),
    hidden=st.integers(1, 3),
)
def test_packed(lengths, kind, bidirectional, features, hidden):
    """Any lengths: what a packed batch gives is what PyTorch gives, and what each sample gives alone."""

    def program(torch, show):
        torch.manual_seed(1)
        layer = getattr(torch.nn, kind)(features, hidden, bidirectional=bidirectional, dtype=torch.float64)
        samples = [torch.randn(n, features, dtype=torch.float64, requires_grad=True) for n in lengths]
        packed = torch.nn.utils.rnn.pack_sequence(samples, enforce_sorted=False)
        output, state = layer(packed)
        padded, found = torch.nn.utils.rnn.pad_packed_sequence(output)
        show("lengths", found)
        show("padded", padded.detach())
        first = state[0] if kind == "LSTM" else state
        show("gradients", torch.autograd.grad((padded.sin().sum() + first.sum()), [*samples, *layer.parameters()]))
        alone = [layer(sample)[0] for sample in samples]
        apart = torch.nn.utils.rnn.unpack_sequence(output)
        show("alone", all(torch.allclose(a, b) for a, b in zip(alone, apart, strict=True)))

    check(program)


CELLS = [
    ("LSTMCell", {}), ("LSTMCell", {"bias": False}), ("GRUCell", {}), ("GRUCell", {"bias": False}), ("RNNCell", {}),
    ("RNNCell", {"nonlinearity": "relu", "bias": False}),
]  # fmt: skip


@torch_only
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("kind", "kwargs"), CELLS, ids=str)
def test_cell(kind, kwargs, dtype):
    def program(torch, show):
        torch.manual_seed(0)
        cell = getattr(torch.nn, kind)(4, 5, **kwargs).to(getattr(torch, dtype))
        show("repr", repr(cell))
        show("state", dict(cell.state_dict()))
        x = torch.randn(3, 2, 4, dtype=getattr(torch, dtype), requires_grad=True)
        places = [x, *cell.parameters()]
        for only_cell in (False, True):
            state = None
            for step in x:
                state = cell(step, state)
            h, c = state if kind == "LSTMCell" else (state, state)
            loss = (c**3).sum() if only_cell else (h * h).sum() + c.sum()
            grads = torch.autograd.grad(loss, places, create_graph=True)
            show("gradients", [grad.detach() for grad in grads])
            if dtype == "float64":
                show("second", torch.autograd.grad(sum((grad * grad).sum() for grad in grads), places))
        show("states", state)
        show.graph("graph", h)
        show("one sample", cell(x[0, 0]))
        show("its state", cell(x[0, 0], (h[0], c[0]) if kind == "LSTMCell" else h[0]))

    check(program)


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def arguments_refused(torch, show):
    nn = torch.nn
    for kind in KINDS:
        layer = getattr(nn, kind)
        for args, kwargs in (
            ((), {}), ((2,), {}), ((0, 3), {}), ((2, 0), {}), ((2, 3, 0), {}), ((2.0, 3), {}), ((2, "3"), {}),
            ((2, 3), {"bias": 1}), ((2, 3), {"batch_first": None}), ((2, 3), {"dropout": 1.5}),
            ((2, 3), {"dropout": True}), ((2, 3), {"dropout": -0.1}),
        ):  # fmt: skip
            words = bool(args) and len(args) > 1  # how many arguments are missing is told of each engine's own function
            show.error(lambda layer=layer, args=args, kwargs=kwargs: layer(*args, **kwargs) and None, words=words)
        show.warnings(lambda layer=layer: layer(2, 3, dropout=0.5))
    show.error(lambda: nn.LSTM(2, 3, proj_size=3))
    show.error(lambda: nn.LSTM(2, 3, proj_size=-1))
    show.error(lambda: nn.GRU(2, 3, proj_size=1))
    show.error(lambda: nn.RNN(2, 3, proj_size=1))
    show.error(lambda: nn.RNN(2, 3, nonlinearity="sigmoid"))
    show.error(lambda: nn.RNN(2, 3, 1, "sine"))
    show.error(lambda: nn.modules.rnn.RNNBase("SRU", 2, 3))
    show("positional", repr(nn.RNN(2, 3, 2, "relu", False, True, 0.1, True)))


def inputs_refused(torch, show):
    x, h = torch.randn(4, 2, 3), torch.zeros(1, 2, 5)
    for kind in KINDS:
        layer = getattr(torch.nn, kind)(3, 5)
        pair = (lambda state: (state, state)) if kind == "LSTM" else (lambda state: state)
        for given_, state in (
            (x[0, 0], None), (x[None], None), (x[..., :2], None), (x.double(), None), (x[:0], None), (x, h[0]),
            (x, h[:, :1]), (x, h[..., :4]), (x, torch.zeros(2, 2, 5)), (x[:, 0], h), (x[:, 0], h[:, 0, :4]),
        ):  # fmt: skip
            state = None if state is None else pair(state)
            show.error(lambda layer=layer, given_=given_, state=state: layer(given_, state))
        show("one sample", layer(x[:, 0], pair(h[:, 0])))
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, [4, 2])
        if kind != "LSTM":  # where PyTorch checks nothing
            show.error(lambda layer=layer, packed=packed: layer(packed, h[:, :1]))
            show.error(lambda layer=layer, packed=packed: layer(packed.double()))
    layer = torch.nn.LSTM(3, 5)
    show.error(lambda: layer(x, (h, h[..., :4])))
    show.error(lambda: layer(x, (h[0], h)))
    show.error(lambda: layer(x[:, 0], (h[0], h)))


def cells_refuse(torch, show):
    x, h = torch.randn(2, 3), torch.zeros(2, 5)
    for kind in ("LSTMCell", "GRUCell", "RNNCell"):
        cell = getattr(torch.nn, kind)(3, 5)
        pair = (lambda state: (state, state)) if kind == "LSTMCell" else (lambda state: state)
        for given_, state in (
            (x[0, 0], None), (x[None], None), (x, h[None]), (x[:, :2], None), (x, h[:1]), (x, h[:, :4]),
        ):  # fmt: skip
            state = None if state is None else pair(state)
            show.error(lambda cell=cell, given_=given_, state=state: cell(given_, state))
    odd = torch.nn.RNNCell(3, 5, nonlinearity="sine")
    show("repr", repr(odd))
    show.error(lambda: odd(x))


def functions_refuse(torch, show):
    x, h = torch.randn(3, 2, 4), torch.zeros(1, 2, 5)
    weights = [torch.randn(20, 4), torch.randn(20, 5), torch.randn(20), torch.randn(20)]
    rest = (True, 1, 0.0, False, False, False)
    short = [weight[:15] for weight in weights]
    double = [weight.double() for weight in weights]
    for name, params in (("gru", short), ("rnn_tanh", [weight[:5] for weight in weights])):
        function = getattr(torch, name)
        for args in (
            (1, 2), (), (x, h, params), (x, h, params[:3], *rest), (x, h, weights, *rest), (x, h[:, :1], params, *rest),
            (x[..., :2], h, params, *rest), (x[:0], h, params, *rest), (x, h, params, True, 2, *rest[2:]),
            (x, h, params * 2, True, 2, *rest[2:]), (x, h, params, *rest, 1),
        ):  # fmt: skip
            show.error(lambda function=function, args=args: function(*args))
    x, h = x.double(), h.double()
    for args in (
        (x, [h], double, *rest), (x, [h, h], double[:3], *rest), (x[..., :2], [h, h], double, *rest),
        (x, [h, h[..., :2]], double, *rest), (x[:0], [h, h], double, *rest), (x, [h, h], double),
        (x, [h, h], double, True, 2, *rest[2:]), (1, 2),
    ):  # fmt: skip
        show.error(lambda args=args: torch.lstm(*args))
    sizes = torch.tensor([2, 2, 1])
    show.error(lambda: torch.lstm(x[0], sizes.int(), [h, h], double, *rest[:-1]))
    show("packed", torch.lstm(torch.ones(5, 4).double(), sizes, [h, h], double, *rest[:-1])[0])
    a, b = x[0], h[0]
    w_ih, w_hh = double[0][:15], double[1][:15]
    for args in (
        (a,), (a, b, 3, w_hh), (a[0], b, w_ih, w_hh), (a, b[:1], w_ih, w_hh), (a, b, w_ih[:14], w_hh[:14]),
        (a, b, w_ih, w_hh[:14]), (a, b, w_ih, w_hh[:, :4]), (a, b, w_ih[0], w_hh), (a[:, :3], b, w_ih, w_hh),
        (a[:1, :3], b, w_ih[:14], w_hh),
    ):  # fmt: skip
        words = len(args) > 1
        show.error(lambda args=args: torch.gru_cell(*args), words=words)
    show.error(lambda: torch.lstm_cell(a, b, double[0], double[1]))
    show.error(lambda: torch.lstm_cell(a, (b,), double[0], double[1]))
    show.error(lambda: torch.lstm_cell(a, (b, 3), double[0], double[1]))
    show.error(lambda: torch.lstm_cell(a, (b, b[:1]), double[0], double[1]))
    show.error(lambda: torch.rnn_relu_cell(a, b, double[0][:5], double[1][:4]))


def empty_batches(torch, show):
    for kind in KINDS:
        layer = getattr(torch.nn, kind)(2, 3)
        show("nobody", layer(torch.zeros(3, 0, 2)))


def weights_written_to(torch, show):
    """What was saved must not have been written to; what the layer gave may be."""
    for kind in KINDS:
        torch.manual_seed(0)
        layer = getattr(torch.nn, kind)(2, 3, dtype=torch.float64)
        output, _ = layer(torch.randn(3, 2, 2, dtype=torch.float64))
        with torch.no_grad():
            layer.weight_hh_l0.add_(1)
        show.error(lambda output=output: output.sum().backward(), words="modified by an inplace operation")
    for kind in ("GRU", "RNN"):
        layer = getattr(torch.nn, kind)(2, 3, dtype=torch.float64)
        output, state = layer(torch.ones(3, 2, 2, dtype=torch.float64))
        output.mul_(2)
        state.add_(1)
        ((output * output).sum() + (state * state).sum()).backward()
        show("gradients", [p.grad for p in layer.parameters()])


def hooks_on_outputs(torch, show):
    for kind in ("GRU", "RNN"):
        torch.manual_seed(0)
        layer = getattr(torch.nn, kind)(2, 3, dtype=torch.float64)
        x = torch.randn(3, 2, 2, dtype=torch.float64)
        for looked_at in (False, True):
            seen = []
            output, state = layer(x)
            output.register_hook(lambda grad, seen=seen: seen.append(grad.clone()))
            state.register_hook(lambda grad: grad * 2)
            output.retain_grad()
            if looked_at:
                show("place", [output.output_nr, state.output_nr])
                output.grad_fn.register_hook(lambda made, got, seen=seen: seen.append(got[0].clone()))
            (output.sum() + (state * state).sum()).backward()
            show("seen", seen)
            show("kept", output.grad)
            show("gradients", [p.grad for p in layer.parameters()])


def other_kinds_of_tensor(torch, show):
    for kind in KINDS:
        torch.manual_seed(0)
        layer = getattr(torch.nn, kind)(2, 3, 2, bidirectional=True, device="meta")
        output, _ = layer(torch.empty(3, 2, 2, device="meta"))
        show("meta", [tuple(output.shape), output.device.type])
        layer = getattr(torch.nn, kind)(2, 3, dtype=torch.complex64)
        show("complex", layer(torch.randn(3, 2, 2, dtype=torch.complex64))[0])
        layer = getattr(torch.nn, kind)(2, 3)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            show("autocast", layer(torch.randn(3, 2, 2))[0].dtype)


def weights_replaced(torch, show):
    torch.manual_seed(0)
    layer = torch.nn.LSTM(2, 3, 2)
    x = torch.randn(3, 2, 2)
    other = copy.deepcopy(layer)
    with torch.no_grad():
        other.weight_ih_l0.zero_()
    show("apart", [layer(x)[0], other(x)[0]])
    layer.weight_ih_l0 = torch.nn.Parameter(torch.zeros(12, 2))
    show("assigned", layer(x)[0])
    layer.flatten_parameters()
    show("double", layer.double()(x.double())[0])
    show("loaded", str(layer.load_state_dict(other.state_dict())))
    show("loaded", layer(x.double())[0])
    show("names", [layer._flat_weights_names, layer._all_weights])


def by_dropout(torch, show):
    for kind in KINDS:
        torch.manual_seed(0)
        layer = getattr(torch.nn, kind)(2, 3, 3, dropout=0.4)
        x = torch.randn(5, 4, 2)
        show("training", layer(x)[0])
        show("stream", torch.rand(2))
        packed = torch.nn.utils.rnn.pack_sequence([torch.randn(4, 2), torch.randn(2, 2)])
        show("packed", layer(packed)[0].data)
        show("stream", torch.rand(2))
        layer.eval()
        show("eval", layer(x)[0])


@torch_only
@pytest.mark.parametrize("program", cases(globals()).values(), ids=cases(globals()))
def test_program(program):
    check(program)


# -- what is our own ---------------------------------------------------------------------------------------------------


def test_pickled():
    layer = glassgrad.nn.LSTM(2, 3)
    again = pickle.loads(pickle.dumps(layer))
    x = glassgrad.randn(3, 2, 2)
    assert glassgrad.equal(layer(x)[0], again(x)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_one_record_until_looked_at(kind):
    """A layer's walk is one record; whoever looks finds its steps, and the same gradient."""
    layer = getattr(glassgrad.nn, kind)(2, 3, dtype=glassgrad.float64)
    x = glassgrad.randn(5, 2, 2, dtype=glassgrad.float64)
    found = []
    for looked_at in (False, True):
        output, _ = layer(x)
        row = TABLE[f"{kind.lower()}_layer"]
        assert output._edge.edges[0].kind is row.plan.kind
        if looked_at:
            assert output.grad_fn.name() == "StackBackward0"
            assert len(output.grad_fn.next_functions) == 5
            assert output._edge.edges[0].kind is not row.plan.kind
        found.append(glassgrad.autograd.grad(output.sum(), list(layer.parameters())))
    for fused, by_step in zip(*found, strict=True):
        assert glassgrad.allclose(fused, by_step, rtol=1e-12, atol=1e-12)


def test_no_overflow():
    """Gates saturate without a warning, however large what comes in."""
    for kind in KINDS:
        layer = getattr(glassgrad.nn, kind)(2, 3)
        x = glassgrad.tensor([[[1e30, -1e30]], [[-1e30, 1e30]]])
        with np.errstate(over="raise"):
            output, _ = layer(x)
        assert glassgrad.isfinite(output).all()


def test_without_graph_nothing_is_kept():
    """Under no_grad the walk gives the same and keeps no reserve."""
    layer = glassgrad.nn.LSTM(2, 3)
    x, state = glassgrad.randn(5, 2, 2), glassgrad.zeros(2, 3)
    row = TABLE["lstm_layer"].caller
    tensors = [x, *layer._flat_weights, state, state]
    with glassgrad.no_grad():
        bare = row(tensors, None, False, True, True, False)
    full = row(tensors, None, False, True, True, True)
    assert bare[3].numel() == 0 < full[3].numel()
    for a, b in zip(bare[:3], full[:3], strict=True):
        assert glassgrad.equal(a, b.detach())
