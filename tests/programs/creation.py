"""Making tensors: factories, lists, copies, refusals, and the random stream."""


def from_lists(torch, show):
    """tensor() of nested sequences."""
    show("vector", torch.tensor([1.0, 2.0]))
    show("matrix", torch.tensor([[1, 2], [3, 4]]))
    show("tuple", torch.tensor(((1, 2), (3, 4))))
    show("empty", [torch.tensor([]), torch.tensor([[]]), torch.tensor([[], []])])
    show("range", torch.tensor(range(3)))
    show("dtype", torch.tensor([1, 2], dtype=torch.float64))
    show("cut", torch.tensor([1.7, -1.7], dtype=torch.int64))
    show("of tensors", torch.tensor([torch.tensor(1), torch.tensor(2)]))
    show("requires_grad", torch.tensor([1.0], requires_grad=True))


def from_lists_refused(torch, show):
    """Ragged, wrong, too large."""
    show.error(lambda: torch.tensor([[1, 2], [3]]))
    show.error(lambda: torch.tensor([[1, 2], 3]))
    show.error(lambda: torch.tensor(["a"]))
    show.error(lambda: torch.tensor("a"))
    show.error(lambda: torch.tensor(None))
    show.error(lambda: torch.tensor([None]))
    show.error(lambda: torch.tensor({"a": 1}))
    show.error(lambda: torch.tensor([2**70]))
    show.error(lambda: torch.tensor([300], dtype=torch.uint8))
    show.error(lambda: torch.tensor([-1], dtype=torch.uint8))
    show.error(lambda: torch.tensor([1j], dtype=torch.float32))
    show.error(lambda: torch.tensor())
    show.error(lambda: torch.tensor([torch.ones(2), torch.ones(2)]))
    show.error(lambda: torch.tensor([1, 2], requires_grad=True))


def from_tensors(torch, show):
    """tensor() of a tensor copies, with advice; as_tensor does not."""
    x = torch.ones(2)
    y = show.warnings(lambda: torch.tensor(x))
    show("copied", y.data_ptr() != x.data_ptr())
    show("as_tensor", [torch.as_tensor(x) is x, torch.as_tensor(x, dtype=torch.float64).dtype])
    show("asarray", torch.asarray([1.0, 2.0]))
    w = torch.ones(2, requires_grad=True)
    show("keeps the graph", torch.as_tensor(w * 2))


def sizes_given(torch, show):
    """Sizes as numbers, tuple, list, Size, keyword."""
    show("zeros", [torch.zeros(2, 3).shape, torch.zeros((2, 3)).shape, torch.zeros([2, 3]).shape])
    show("Size", [torch.ones(torch.Size([2])).shape, torch.zeros(size=(2,)).shape, torch.zeros(()).shape])
    show("full", [torch.full((2,), 7), torch.full((), 1.5)])
    show("eye", [torch.eye(2), torch.eye(2, 3)])
    show("like", [torch.zeros_like(torch.ones(2).long()), torch.full_like(torch.ones(2), 3)])
    show("new", [torch.ones(1, dtype=torch.float64).new_zeros(2), torch.ones(1).new_tensor([1, 2])])
    show("new_full", torch.ones(1).long().new_full((2,), 5))
    show("empty", torch.empty(2, 0).shape)
    show.error(lambda: torch.zeros(2, -1))
    show.error(lambda: torch.zeros(1.5), words=False)
    show.error(lambda: torch.eye(-1))


def ranges(torch, show):
    """arange, linspace, logspace."""
    show("arange", [torch.arange(3), torch.arange(1, 4), torch.arange(0, 1, 0.25), torch.arange(5, 0, -2)])
    show("floats", torch.arange(0.0, 1.0, 0.3))
    show("dtype", torch.arange(3, dtype=torch.float64))
    show("linspace", [torch.linspace(0, 1, 5), torch.linspace(1, -1, 4), torch.linspace(0, 10, 1)])
    show("long linspace", torch.linspace(-3, 7, 23))
    show("integers", torch.linspace(0, 10, 5, dtype=torch.int64))
    show("logspace", [torch.logspace(0, 2, 3), torch.logspace(0, 3, 4, base=2)])
    show.error(lambda: torch.arange(0, 1, 0))
    show.error(lambda: torch.arange(0, 1, -1))
    show.error(lambda: torch.linspace(0, 1))
    show.error(lambda: torch.linspace(0, 1, -1))
    show.error(lambda: torch.arange(float("nan")))
    show.error(lambda: torch.arange(float("inf")))


def likes_keep_layout(torch, show):
    """The *_like factories keep strides, dtype, and forget the graph."""
    x = torch.arange(6.0).reshape(2, 3).t().requires_grad_()
    for name in ("zeros_like", "ones_like", "empty_like", "rand_like"):
        y = getattr(torch, name)(x)
        show(name, [y.stride(), y.dtype, y.requires_grad])
    show("wanted", torch.zeros_like(x, requires_grad=True).requires_grad)


def complex_numbers(torch, show):
    """complex and view_as_complex."""
    show("complex", torch.complex(torch.tensor([1.0]), torch.tensor([2.0])))
    show("view", torch.view_as_complex(torch.tensor([[1.0, 2.0]])))
    show.error(lambda: torch.complex(torch.tensor([1.0]), torch.tensor([2.0], dtype=torch.float64)))


def meshgrid(torch, show):
    """meshgrid in both orders."""
    a, b = torch.tensor([1, 2]), torch.tensor([3, 4, 5])
    show("ij", torch.meshgrid(a, b, indexing="ij"))
    show("xy", torch.meshgrid(a, b, indexing="xy"))
    show("default", show.warnings(lambda: torch.meshgrid(a, b)))


def legacy_constructors(torch, show):
    """torch.Tensor, FloatTensor and friends."""
    show("sizes", torch.Tensor(2, 3).shape)
    show("values", torch.Tensor([1, 2]))
    show("long", torch.LongTensor([1, 2]))
    show("float", torch.FloatTensor([1, 2]))
    show("empty", torch.Tensor())
    show.error(lambda: torch.Tensor("a"), words=False)


def random_uniform(torch, show):
    """rand after a seed, in both precisions, and its continuation."""
    torch.manual_seed(42)
    show("rand", torch.rand(5))
    show("matrix", torch.rand(2, 3))
    show("float64", torch.rand(3, dtype=torch.float64))
    show("single", torch.rand(()))


def random_normal(torch, show):
    """randn by its short and its long path."""
    for count in (1, 4, 15, 16, 17, 33, 40):
        torch.manual_seed(7)
        show(str(count), torch.randn(count))
    torch.manual_seed(7)
    show("float64", torch.randn(3, dtype=torch.float64))
    show("float64 long", torch.randn(18, dtype=torch.float64))
    show("then", torch.randn(2))


def random_integers(torch, show):
    """randint and randperm."""
    torch.manual_seed(3)
    show("randint", torch.randint(10, (6,)))
    show("bounds", torch.randint(-5, 5, (2, 3)))
    show("wide", torch.randint(0, 2**40, (3,)))
    show("randperm", torch.randperm(7))
    show.error(lambda: torch.randint(5, 5, (2,)))
    show.error(lambda: torch.randint(10), words=False)
    show.error(lambda: torch.randperm(-1))


def random_in_place(torch, show):
    """uniform_, normal_ and normal."""
    torch.manual_seed(11)
    show("uniform_", torch.empty(4).uniform_(-1, 3))
    show("normal_", torch.empty(4).normal_(2, 0.5))
    show("normal", torch.normal(0.0, 1.0, (3,)))
    show("normal of means", torch.normal(torch.tensor([0.0, 10.0]), torch.tensor([1.0, 0.1])))
    show("long normal_", torch.empty(20).normal_())
    show.error(lambda: torch.empty(2).normal_(0, -1))
    show.error(lambda: torch.empty(2).uniform_(1, 0))


def random_state(torch, show):
    """Seeds, saved states, generators of one's own."""
    torch.manual_seed(5)
    state = torch.get_rng_state()
    first = torch.rand(3)
    torch.set_rng_state(state)
    show("same", torch.equal(first, torch.rand(3)))
    show("initial_seed", torch.initial_seed())
    generator = torch.Generator()
    generator.manual_seed(5)
    show("own", torch.rand(3, generator=generator))
    show("seed", generator.initial_seed())
    show("returns", torch.Generator().manual_seed(1).initial_seed())


def dropout_mask(torch, show):
    """dropout draws its mask from the stream."""
    torch.manual_seed(9)
    x = torch.ones(10, requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.4)
    show("y", y.detach())
    y.sum().backward()
    show("x.grad", x.grad)
    for whole in (torch.ones(10).long(), torch.ones(10).bool()):
        try:
            torch.nn.functional.dropout(whole, 0.4)
        except RuntimeError as problem:
            show("refused", str(problem))
    show("following", torch.rand(2))


def linear_initialisation(torch, show):
    """The same seed makes the same weights."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2)
    show("weight", layer.weight)
    show("bias", layer.bias)
    show("larger", torch.nn.Linear(10, 4, bias=False).weight)
