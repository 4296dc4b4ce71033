"""What a tensor says about itself: leaf or not, gradient wanted or not, .grad and its rules."""


def leaf_rules(torch, show):
    """What counts as a leaf."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    plain = torch.ones(2)
    tensors = {
        "made by the user": x,
        "plain": plain,
        "computed": x * 2,
        "computed from plain": plain * 2,
        "detached": (x * 2).detach(),
        "cast of a leaf": x.double(),
        "requires_grad_ on computed plain": (plain * 2).requires_grad_(),
        "view": x[0],
        "integer": torch.arange(3),
        "cloned": x.clone(),
        "no-op to": x.to(torch.float32),
    }
    for name, tensor in tensors.items():
        show(name, [tensor.is_leaf, tensor.requires_grad, tensor.grad_fn])


def requires_grad_rules(torch, show):
    """Only floating point and complex tensors can want gradients."""
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64):
        show(str(dtype), torch.ones(2, dtype=dtype, requires_grad=True).requires_grad)
    for dtype in (torch.int64, torch.uint8, torch.bool):
        show.error(lambda dtype=dtype: torch.ones(2, dtype=dtype, requires_grad=True), str(dtype))
        show.error(lambda dtype=dtype: torch.ones(2, dtype=dtype).requires_grad_(), f"{dtype} later")
    show.error(lambda: setattr(torch.ones(2).long(), "requires_grad", True))
    show("false is fine", torch.ones(2).long().requires_grad_(False))


def requires_grad_off(torch, show):
    """A leaf may stop wanting gradients; a computed tensor may not."""
    x = torch.tensor([1.0], requires_grad=True)
    y = x * 2
    show.error(lambda: y.requires_grad_(False))
    show.error(lambda: setattr(y, "requires_grad", False))
    x.requires_grad = False
    show("x", x)
    show("y still", y.requires_grad)
    y.backward()
    show("x.grad", x.grad)


def requires_grad_returns_self(torch, show):
    """requires_grad_ gives the tensor itself."""
    x = torch.ones(2)
    show("same", x.requires_grad_() is x)
    show.error(lambda: setattr(x, "requires_grad", 3))
    show.error(lambda: x.requires_grad_("yes"), words=False)


def grad_is_assigned(torch, show):
    """.grad takes a fitting tensor or None."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad = torch.tensor([5.0, 6.0])
    (x * 2).sum().backward()
    show("x.grad", x.grad)
    x.grad = None
    show("none", x.grad)
    del x.grad
    show("deleted", x.grad)


def grad_assigned_wrongly(torch, show):
    """Wrong type, shape, dtype, itself."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    show.error(lambda: setattr(x, "grad", 3.0))
    show.error(lambda: setattr(x, "grad", [1.0, 2.0]))
    show.error(lambda: setattr(x, "grad", torch.ones(3)))
    show.error(lambda: setattr(x, "grad", torch.ones(2, dtype=torch.float64)))
    show.error(lambda: setattr(x, "grad", x))
    show("x.grad", x.grad)


def grad_on_plain_tensor(torch, show):
    """A tensor that wants none may hold a .grad all the same."""
    x = torch.ones(2)
    show("before", x.grad)
    x.grad = torch.zeros(2)
    show("after", x.grad)


def grad_identity(torch, show):
    """x.grad is one object from one look to the next."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 2).sum().backward()
    show("same", x.grad is x.grad)
    x.grad.zero_()
    show("zeroed", x.grad)
    held = x.grad
    (x * 3).sum().backward()
    show("held", held)


def read_only_attributes(torch, show):
    """What cannot be set."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for name in ("grad_fn", "is_leaf", "shape", "dtype", "output_nr", "_version", "ndim"):
        show.error(lambda name=name: setattr(x, name, None), name, words=False)


def own_attributes(torch, show):
    """A tensor takes attributes of one's own."""
    x = torch.ones(2)
    x.tag = "mine"
    show("tag", x.tag)
    show("lost", hasattr(x + 1, "tag"))
    show.error(lambda: x.missing)


def sizes(torch, show):
    """shape, size, dim and numel in all their forms."""
    x = torch.zeros(2, 3, 4)
    show("shape", [x.shape, x.size(), x.size(0), x.size(-1), x.size(dim=1)])
    show("count", [x.dim(), x.ndim, x.numel(), x.nelement(), x.ndimension(), len(x)])
    show("strides", [x.stride(), x.stride(0), x.stride(-1), x.storage_offset()])
    show("bytes", [x.element_size(), x.itemsize, x.nbytes])
    show("Size", [x.shape[0], x.shape[1:], x.shape.numel(), x.shape == (2, 3, 4), x.shape + (5,), tuple(x.shape)])
    show.error(lambda: x.size(3))
    show.error(lambda: x.stride(5))


def size_objects(torch, show):
    """torch.Size is a tuple with a repr and numel."""
    s = torch.Size([2, 3])
    show("repr", repr(s))
    show("equal", [s == (2, 3), hash(s) == hash((2, 3)), isinstance(s, tuple)])
    show("slice", [type(s[:1]).__name__, type(s + s).__name__, type(s * 2).__name__])
    show("unpacked", [*s])
    show.error(lambda: torch.Size([1.5]))


def kinds(torch, show):
    """is_floating_point, is_complex, is_signed, type names."""
    for dtype in (torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool, torch.complex64, torch.bfloat16):
        x = torch.zeros(1, dtype=dtype)
        show(str(dtype), [x.is_floating_point(), x.is_complex(), x.is_signed(), x.type(), dtype.itemsize])
        show(f"{dtype} object", [dtype.is_floating_point, dtype.is_complex, dtype.is_signed, repr(dtype)])


def devices(torch, show):
    """cpu and meta; what is not there."""
    x = torch.zeros(2)
    show("cpu", [str(x.device), x.is_cpu, x.is_cuda, x.is_meta, x.get_device()])
    show("equal", [x.device == torch.device("cpu"), torch.device("cpu") == "cpu"])
    show("repr", [repr(torch.device("cpu")), repr(torch.device("cuda", 1)), torch.device("cuda:1").index])
    show("no-op", [x.cpu() is x, x.to("cpu") is x])
    show.error(lambda: torch.device("toaster"))
    show("meta", torch.empty(2, 3, device="meta").sum(0).shape)


def to_forms(torch, show):
    """to() with a dtype, a device, a tensor; copy or not."""
    x = torch.ones(2)
    show("dtype", x.to(torch.float64))
    show("tensor", x.to(torch.zeros(1, dtype=torch.int64)))
    show("same", [x.to(torch.float32) is x, x.to("cpu") is x, x.float() is x])
    show("copy", x.to(torch.float32, copy=True) is x)
    show("both", x.to("cpu", torch.float16))
    show("keyword", x.to(dtype=torch.int32, device="cpu"))


def casts_in_a_graph(torch, show):
    """A cast is a node; its gradient is cast back."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.double()
    show("y", y)
    show.graph("graph", y)
    (y * torch.tensor([1.0, 2.0], dtype=torch.float64)).sum().backward()
    show("x.grad", x.grad)
    show("integer", x.long())


def output_numbers(torch, show):
    """output_nr of several outputs."""
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    values, indices = x.max(1)
    show("max", [values.output_nr, indices.output_nr, indices.requires_grad])
    show("split", [part.output_nr for part in x.split(1, 1)])
    show("sort", [t.output_nr for t in x.sort(1)])


def named_results(torch, show):
    """max, sort, topk and friends give named tuples."""
    x = torch.tensor([3.0, 1.0, 2.0])
    result = x.max(0)
    show("max", [type(result).__name__, result.values, result.indices, result[0]])
    show("sort", [type(x.sort()).__name__, x.sort().indices])
    show("topk", [type(x.topk(2)).__name__, x.topk(2).values])
    show("repr", repr(x.max(0)))


def is_tensor(torch, show):
    """is_tensor and isinstance."""
    x = torch.ones(1)
    show("tensor", [torch.is_tensor(x), isinstance(x, torch.Tensor), torch.is_tensor([1]), torch.is_floating_point(x)])
    show("parameter", isinstance(torch.nn.Parameter(x), torch.Tensor))
    show("type", type(x).__name__)
    show("float tensor", [isinstance(x, torch.FloatTensor), isinstance(x, torch.LongTensor)])


def hash_and_equality(torch, show):
    """A tensor hashes by identity; == works element by element."""
    x = torch.ones(2)
    y = torch.ones(2)
    show("set", len({x, y, x}))
    show("equal", [torch.equal(x, y), (x == y).tolist(), x is y])
    show("unlike", (x == "a") is False)
    show("none", x == None)  # noqa: E711
    show("not equal", (x != y))


def truth(torch, show):
    """bool() of one element and of many."""
    show("one", [bool(torch.tensor(1.0)), bool(torch.tensor([0])), bool(torch.tensor([[True]]))])
    show.error(lambda: bool(torch.ones(2)))
    show.error(lambda: bool(torch.empty(0)))
    show.error(lambda: torch.ones(2) and 1)
    show("nan", bool(torch.tensor(float("nan"))))


def numbers_from_tensors(torch, show):
    """item, float, int, complex, index."""
    show("item", [torch.tensor(1.5).item(), torch.tensor([2]).item(), torch.tensor(True).item()])
    show("float", [float(torch.tensor(2)), int(torch.tensor(2.9)), complex(torch.tensor(1.0 + 2.0j))])
    show("index", [[10, 20, 30][torch.tensor(1)], list(range(5))[torch.tensor(1) : torch.tensor(3)]])
    show("arithmetic", 2.0 * torch.tensor(3.0).item())
    show.error(lambda: torch.ones(2).item())
    show.error(lambda: float(torch.ones(2)))
    show.error(lambda: int(torch.ones(2)))
    show.error(lambda: [1, 2][torch.tensor(0.5)])
    show.error(lambda: torch.empty(0).item())


def number_from_tracked_tensor(torch, show):
    """float() of a tensor that wants gradients works, with a warning."""
    x = torch.tensor(2.5, requires_grad=True)
    show("item", x.item())
    show("float", show.warnings(lambda: float(x)))


def length_and_iteration(torch, show):
    """len, iteration, contains; none for 0-d."""
    x = torch.arange(6.0).reshape(3, 2)
    show("len", len(x))
    show("rows", list(x))
    show("unpacked", [row.tolist() for row in x])
    show.error(lambda: len(torch.tensor(1.0)))
    show.error(lambda: list(torch.tensor(1.0)))
    show("contains", [2.0 in x, 9.0 in x, torch.tensor(3.0) in x])
    show.error(lambda: "a" in x)
    show("reversed", list(reversed(x))[0])


def lists_from_tensors(torch, show):
    """tolist of every rank."""
    show("0-d", torch.tensor(1.5).tolist())
    show("2-d", torch.arange(4).reshape(2, 2).tolist())
    show("bool", torch.tensor([True, False]).tolist())
    show("empty", torch.empty(0, 2).tolist())
    show("complex", torch.tensor([1 + 2j]).tolist())
    show("with grad", torch.ones(2, requires_grad=True).tolist())


def method_names_that_are_missing(torch, show):
    """A name no tensor has."""
    show.error(lambda: torch.ones(2).no_such_method())
    show.error(lambda: torch.no_such_function, words=False)
    show.error(lambda: torch.nn.functional.no_such_function, words=False)
