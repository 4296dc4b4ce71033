"""Operations that a program defines: kernels, derivatives, shapes, schemas and refusals as PyTorch has them."""

import pytest

import glassgrad
from tests.agreement import cases, check

pytestmark = [pytest.mark.torch, pytest.mark.once]


def _error(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__, str(error).partition("\n")[0]


def a_function_becomes_an_operation(torch, show):
    @torch.library.custom_op(f"made_{torch.__name__}::scaled", mutates_args=())
    def scaled(x: torch.Tensor, k: float = 2.0) -> torch.Tensor:
        return torch.from_numpy(x.numpy() * k)

    space = getattr(torch.ops, f"made_{torch.__name__}")
    name = f"made_{torch.__name__}"
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = scaled(x, 3.0)
    show("value", y.detach())
    show("node", type(y.grad_fn).__name__.replace(name, "made"))
    show("no formula", [text.replace(name, "made") for text in _error(lambda: y.sum().backward())])
    saved = []

    def setup(ctx, inputs, output):
        saved.append((len(inputs), inputs[1], tuple(output.shape)))
        ctx.k = inputs[1]

    scaled.register_autograd(lambda ctx, grad: (grad * ctx.k, None), setup_context=setup)
    space.scaled(x, 5.0).sum().backward()
    show("gradient", x.grad)
    show("saved", saved)
    show("on meta", [text.replace(name, "made") for text in _error(lambda: scaled(x.detach().to("meta")))])
    scaled.register_fake(lambda x, k=2.0: torch.empty_like(x))
    show("shape", tuple(scaled(x.detach().to("meta")).shape))
    show("schema", str(space.scaled.default._schema).replace(name, "made"))
    show("names", [str(space.scaled).replace(name, "made"), repr(space.scaled.default).replace(name, "made"),
                   space.scaled.default.name().replace(name, "made"), space.scaled.overloads()])  # fmt: skip
    for number, call in enumerate([
        lambda: scaled(3), lambda: scaled(x, "a"), lambda: scaled(), lambda: space.scaled(x, 1.0, 2),
        lambda: space.nope,
        lambda: space.scaled.nope, lambda: torch.library.opcheck(scaled, (x.detach(),))["test_schema"],
    ]):  # fmt: skip
        answer = _error(call)
        show(
            f"refused {number}", answer if isinstance(answer, str) else [text.replace(name, "made") for text in answer]
        )


def what_is_written_to_has_a_new_version(torch, show):
    @torch.library.custom_op(f"wrote_{torch.__name__}::add_to", mutates_args={"x"})
    def add_to(x: torch.Tensor, y: torch.Tensor) -> None:
        x.numpy()[...] += y.numpy()

    x = torch.zeros(3)
    before = x._version
    add_to(x, torch.ones(3))
    show("written", [x.tolist(), x._version > before])


def a_library_of_schemas(torch, show):
    name = f"lib_{torch.__name__}"
    library = torch.library.Library(name, "DEF")
    show("defined", library.define("twice(Tensor x, int n=2, *, float? bias=None) -> Tensor"))
    space = getattr(torch.ops, name)
    show("no kernel", _error(lambda: space.twice(torch.ones(2)))[0])
    library.impl("twice", lambda x, n=2, *, bias=None: x * n + (bias or 0.0), "CPU")
    library.impl("twice", lambda x, n=2, *, bias=None: x.new_empty(x.shape), "Meta")
    show("value", space.twice(torch.ones(2), bias=1.0))
    x = torch.ones(2, requires_grad=True)
    show("recorded", type(space.twice(x, 3).grad_fn).__name__)
    show("meta", tuple(space.twice(torch.ones(2, device="meta")).shape))
    library.define("both(Tensor[] xs) -> Tensor[]")
    library.impl("both", lambda xs: [x.cos() for x in xs], "CompositeImplicitAutograd")
    show("list", [[round(float(y), 4) for y in space.both([torch.ones(()), torch.zeros(())])]])
    for number, call in enumerate([
        lambda: torch.library.Library(name, "DEF"), lambda: library.define("twice(Tensor x) -> Tensor"),
        lambda: torch.library.Library("x", "NOPE"), lambda: library.impl("twice", 3, "CPU"),
    ]):  # fmt: skip
        answer = _error(call)
        show(f"refused {number}", [answer[0], answer[1].replace(name, "lib")[:60]])


def a_list_of_tensors_has_its_gradients(torch, show):
    name = f"listed_{torch.__name__}"

    @torch.library.custom_op(f"{name}::total", mutates_args=())
    def total(xs: list[torch.Tensor], k: float) -> torch.Tensor:
        return sum(xs[1:], xs[0]) * k

    total.register_autograd(
        lambda ctx, grad: ([grad * ctx.k] * ctx.n, None),
        setup_context=lambda ctx, inputs, output: (setattr(ctx, "n", len(inputs[0])), setattr(ctx, "k", inputs[1])),
    )
    xs = [torch.ones(2, requires_grad=True), torch.full((2,), 2.0, requires_grad=True)]
    total(xs, 3.0).sum().backward()
    show("gradients", [x.grad.tolist() for x in xs])


def schemas_of_annotations(torch, show):
    def many(
        a: torch.Tensor, b: list[int], c: float | None = None, *, d: bool = False, e: str = "s",
        g: torch.dtype | None = None, i: int | float | bool = 3,
    ) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
        raise AssertionError

    def bare(a):
        raise AssertionError

    infer = torch.library.infer_schema
    show("schema", infer(many, mutates_args=()))
    show("written to", infer(many, mutates_args={"a"}))
    show("named", infer(many, mutates_args=(), op_name="many"))
    show("no annotation", _error(lambda: infer(bare, mutates_args=())))


@pytest.mark.parametrize("name", cases(globals()))
def test_as_pytorch(name):
    check(globals()[name])


def test_a_rule_for_batches():
    torch = glassgrad

    @torch.library.custom_op("batched::square", mutates_args=())
    def square(x: torch.Tensor) -> torch.Tensor:
        return x * x

    with pytest.raises(NotImplementedError, match="register_vmap"):
        torch.vmap(square)(torch.arange(3.0))
    square.register_vmap(lambda info, in_dims, x: (x * x, in_dims[0]))
    assert torch.vmap(square)(torch.arange(3.0)).tolist() == [0.0, 1.0, 4.0]


def test_torch_ops_under_alias_is_no_package_of_ours():
    ours = glassgrad.ops
    with glassgrad.alias() as torch:
        import torch.ops as imported

        assert imported is torch.ops and torch.ops is not ours and not hasattr(torch.ops, "__path__")
        assert torch.ops.aten.mm(torch.eye(2), torch.ones(2, 2)).tolist() == [[1.0, 1.0], [1.0, 1.0]]
        with pytest.raises(OSError, match="custom_op"):
            torch.ops.load_library("/nowhere/_C.so")
    assert glassgrad.ops is ours and glassgrad.ops.aten.mm.default.name() == "aten::mm"
