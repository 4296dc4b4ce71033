"""Every layer: what it prints, what its state holds, what it computes and its gradients, under one seed."""

import pytest

from tests.agreement import check

pytestmark = pytest.mark.torch

X = (4, 6)
LAYERS = {  # name -> (arguments, keywords, shape of the input)
    "Identity": [((), {}, X), ((1, 2), {"a": 3}, X)],
    "Linear": [((6, 3), {}, X), ((6, 3), {"bias": False}, (2, 4, 6)), ((6, 1), {}, (6,))],
    "Flatten": [((), {}, (2, 3, 4)), ((0, 1), {}, (2, 3, 4))],
    "Unflatten": [((1, (2, 3)), {}, X), ((1, [3, 2]), {}, X)],
    "LayerNorm": [
        ((6,), {}, X), (([4, 6],), {"eps": 1e-3}, (2, 4, 6)), ((6,), {"elementwise_affine": False}, X),
        ((6,), {"bias": False}, X),
    ],
    "GroupNorm": [((2, 6), {}, X), ((3, 6), {"affine": False}, (2, 6, 4)), ((3, 6), {"bias": False}, X)],
    "RMSNorm": [((6,), {}, X), ((6,), {"elementwise_affine": False, "eps": 1e-4}, X)],
    "Dropout": [((), {}, X), ((0.2,), {}, X), ((0.0,), {}, X), ((1.0,), {}, X)],
    "Dropout1d": [((0.5,), {}, (2, 6, 3))],
    "Dropout2d": [((0.5,), {}, (2, 6, 3, 2))],
    "Dropout3d": [((0.5,), {}, (2, 6, 3, 2, 2))],
    "AlphaDropout": [((0.3,), {}, X)],
    "FeatureAlphaDropout": [((0.3,), {}, (2, 6, 3))],
    "Softmax": [((1,), {}, X), ((0,), {}, X)],
    "LogSoftmax": [((1,), {}, X)],
    "Softmin": [((1,), {}, X)],
    "Softmax2d": [((), {}, (2, 3, 4, 5)), ((), {}, (3, 4, 5))],
    "PReLU": [((), {}, X), ((6, 0.1), {}, X)],
    "Threshold": [((0.1, 20), {}, X)],
    "Hardtanh": [((), {}, X), ((-0.5, 0.2), {}, X)],
    "ELU": [((), {}, X), ((0.5,), {}, X)],
    "CELU": [((), {}, X), ((0.5,), {}, X)],
    "LeakyReLU": [((), {}, X), ((0.3,), {}, X)],
    "GELU": [((), {}, X), (("tanh",), {}, X)],
    "GLU": [((), {}, X), ((0,), {}, X)],
    "Hardshrink": [((), {}, X)],
    "Softshrink": [((), {}, X), ((0.2,), {}, X)],
    "Softplus": [((), {}, X), ((2.0, 1.0), {}, X)],
    "RReLU": [((), {}, X)],
    **{
        name: [((), {}, X)]
        for name in (
            "ReLU", "ReLU6", "Sigmoid", "Hardsigmoid", "Tanh", "SiLU", "Mish", "Hardswish", "SELU", "LogSigmoid",
            "Softsign", "Tanhshrink",
        )
    },
}  # fmt: skip
CASES = [(name, *case) for name, given in LAYERS.items() for case in given]


@pytest.mark.parametrize(("name", "args", "kwargs", "shape"), CASES, ids=lambda part: str(part).replace(" ", ""))
def test_layer(name, args, kwargs, shape):
    def program(torch, show):
        torch.manual_seed(3)
        layer = getattr(torch.nn, name)(*args, **kwargs)
        show("repr", repr(layer))
        show("state", dict(layer.state_dict()))
        x = torch.randn(*shape, requires_grad=True)
        y = layer(x)
        show("y", y)
        show("eval", layer.eval()(x))
        layer.train()
        x = x.detach().requires_grad_()
        if name != "Hardsigmoid":  # whose slope torch itself knows in single precision only
            x = x.detach().double().requires_grad_()
            layer.double()  # in single precision, gradients that nearly cancel are noise
        y = layer(x)
        show("y again", y)
        (y * torch.arange(1.0, y.numel() + 1).reshape(y.shape)).sum().backward()
        show("x.grad", x.grad)
        show("gradients", {key: p.grad for key, p in layer.named_parameters()})

    check(program)


IN_PLACE = [
    ("ReLU", ()), ("ReLU6", ()), ("Hardtanh", ()), ("SiLU", ()), ("Mish", ()), ("Hardswish", ()), ("Hardsigmoid", ()),
    ("ELU", ()), ("CELU", ()), ("SELU", ()), ("LeakyReLU", ()), ("Threshold", (0.1, 2.0)), ("Dropout", (0.5,)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), IN_PLACE)
def test_in_place(name, args):
    def program(torch, show):
        torch.manual_seed(1)
        layer = getattr(torch.nn, name)(*args, inplace=True)
        show("repr", repr(layer))
        x = torch.randn(3, 4, requires_grad=True)
        y = x * 1
        z = layer(y)
        show("same", z is y)
        show("z", z)
        z.sum().backward()
        show("x.grad", x.grad)

    check(program)


def test_embedding():
    def program(torch, show):
        torch.manual_seed(0)
        table = torch.nn.Embedding(5, 3, padding_idx=-2)
        show("weight", table.weight)
        found = table(torch.tensor([[0, 3], [4, 4]]))
        show("found", found)
        found.sum().backward()
        show("grad", table.weight.grad)
        given = torch.nn.Embedding.from_pretrained(torch.arange(6.0).reshape(3, 2))
        show("given", [given.weight.requires_grad, given(torch.tensor([2]))])
        show("learning", torch.nn.Embedding.from_pretrained(torch.ones(2, 2), freeze=False).weight.requires_grad)
        limited = torch.nn.Embedding.from_pretrained(torch.arange(6.0).reshape(3, 2), max_norm=1.0)
        show("limited", limited(torch.tensor([1])))
        show("repr", [repr(table), repr(limited), repr(torch.nn.Embedding(2, 2, scale_grad_by_freq=True, norm_type=1))])
        show.error(lambda: torch.nn.Embedding(3, 2, padding_idx=3))
        show.error(lambda: torch.nn.Embedding(3, 2, padding_idx=-4))
        show.error(lambda: torch.nn.Embedding(3, 2, _weight=torch.ones(2, 2)))
        show.error(lambda: torch.nn.Embedding.from_pretrained(torch.ones(2)))
        show.error(lambda: table(torch.tensor([9])))

    check(program)


def test_bilinear():
    def program(torch, show):
        torch.manual_seed(0)
        layer = torch.nn.Bilinear(2, 3, 4)
        show("repr", repr(layer))
        show("state", dict(layer.state_dict()))
        a, b = torch.randn(5, 2, requires_grad=True), torch.randn(5, 3)
        y = layer(a, b)
        show("y", y.detach())
        y.sum().backward()
        show("gradients", [a.grad, layer.weight.grad, layer.bias.grad])
        show.error(lambda: torch.nn.Bilinear(0, 3, 4))

    check(program)


def test_refusals():
    def program(torch, show):
        nn = torch.nn
        show.error(lambda: nn.Dropout(1.5))
        show.error(lambda: nn.Dropout(-0.1))
        show.error(lambda: nn.Hardtanh(2.0, 1.0))
        show.error(lambda: nn.Unflatten(1, 3))
        show.error(lambda: nn.Unflatten(1, (2, 1.5)))
        show.error(lambda: nn.GroupNorm(4, 6))
        show.error(lambda: nn.Softmax2d()(torch.ones(2)))
        show.error(lambda: nn.HuberLoss(delta="a"))
        show.error(lambda: nn.MultiMarginLoss(p=3))
        show.error(lambda: nn.MultiMarginLoss(weight=torch.ones(2, 2)))
        show.error(lambda: nn.TripletMarginLoss(margin=0))
        show.error(lambda: nn.TripletMarginWithDistanceLoss(margin=-1.0))
        show.error(lambda: nn.Linear(2, 3)(torch.ones(4, 5)))
        show.error(lambda: nn.ReLU()("text"), words=False)
        show.warnings(lambda: nn.Linear(0, 2))
        show.warnings(lambda: nn.Hardtanh(min_value=-1, max_value=2))
        show.warnings(lambda: nn.MSELoss(size_average=False))
        show.warnings(lambda: nn.MSELoss(reduce=False))
        show("old arguments", nn.MSELoss(reduce=False).reduction)
        show.warnings(lambda: nn.Softmax()(torch.ones(2, 2)))

    check(program)


LOSSES = {  # name -> (keywords, makers of the arguments)
    "MSELoss": ({}, "xx"), "L1Loss": ({}, "xx"), "SmoothL1Loss": ({"beta": 0.5}, "xx"),
    "HuberLoss": ({"delta": 0.7}, "xx"),
    "NLLLoss": ({"ignore_index": 1}, "xc"), "CrossEntropyLoss": ({"label_smoothing": 0.1}, "xc"),
    "BCELoss": ({}, "qp"), "BCEWithLogitsLoss": ({}, "xp"), "KLDivLoss": ({"log_target": True}, "xx"),
    "PoissonNLLLoss": ({"full": True}, "xp"), "GaussianNLLLoss": ({}, "xxp"), "HingeEmbeddingLoss": ({}, "xs"),
    "CosineEmbeddingLoss": ({"margin": 0.1}, "xxr"), "MarginRankingLoss": ({"margin": 0.1}, "xxs"),
    "SoftMarginLoss": ({}, "xs"), "MultiLabelMarginLoss": ({}, "xl"), "MultiLabelSoftMarginLoss": ({}, "xp"),
    "MultiMarginLoss": ({"p": 2}, "xc"), "TripletMarginLoss": ({"swap": True}, "xxx"),
    "TripletMarginWithDistanceLoss": ({"margin": 0.5}, "xxx"),
}  # fmt: skip


def _argument(torch, kind):
    if kind == "x":
        return torch.randn(4, 3, requires_grad=True)
    if kind == "p":
        return torch.rand(4, 3) * 0.8 + 0.1
    if kind == "q":
        return (torch.rand(4, 3) * 0.8 + 0.1).requires_grad_()
    if kind == "c":
        return torch.tensor([0, 2, 1, 0])
    if kind == "r":
        return torch.tensor([1.0, -1.0, 1.0, -1.0])
    if kind == "l":
        return torch.tensor([[2, -1, 0], [1, 0, -1], [0, 1, 2], [-1, 0, 0]])
    return torch.tensor([[1.0, -1.0, 1.0]]).expand(4, 3).contiguous()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_loss(name, reduction):
    keywords, kinds = LOSSES[name]

    def program(torch, show):
        torch.manual_seed(5)
        loss = getattr(torch.nn, name)(reduction=reduction, **keywords)
        show("repr", repr(loss))
        args = [_argument(torch, kind) for kind in kinds]
        value = loss(*args)
        show("value", value.detach())
        value.sum().backward()
        show("gradients", [a.grad for a in args if a.is_floating_point()])
        show("state", list(loss.state_dict()))

    check(program)


def test_weights_of_losses_are_buffers():
    def program(torch, show):
        nn = torch.nn
        weight = torch.tensor([1.0, 2.0, 0.5])
        for loss in (nn.NLLLoss(weight), nn.CrossEntropyLoss(weight), nn.BCELoss(weight)):
            show(type(loss).__name__, [dict(loss.state_dict()), [n for n, _ in loss.named_buffers()]])
        both = nn.BCEWithLogitsLoss(weight, pos_weight=weight)
        show("both", list(both.state_dict()))
        torch.manual_seed(0)
        x = torch.randn(4, 3, requires_grad=True)
        both(x, torch.ones(4, 3)).backward()
        show("x.grad", x.grad)
        loss = nn.CrossEntropyLoss(weight)(x, torch.tensor([0, 1, 2, 1]))
        show("cross entropy", loss.detach())
        show("double", nn.CrossEntropyLoss(weight).double().weight.dtype)

    check(program)


def test_distances():
    def program(torch, show):
        torch.manual_seed(0)
        a, b = torch.randn(3, 4), torch.randn(3, 4)
        show("distance", torch.nn.PairwiseDistance(p=1, keepdim=True)(a, b))
        show("cosine", torch.nn.CosineSimilarity(dim=0)(a, b))
        show("repr", [repr(torch.nn.PairwiseDistance()), repr(torch.nn.CosineSimilarity())])

    check(program)
