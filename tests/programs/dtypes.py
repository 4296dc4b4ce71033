"""Which dtype comes out: promotion among tensors, 0-d tensors and numbers; default dtype; limits."""

import itertools

_NAMES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()


def promotion_table(torch, show):
    """All pairs of dtypes."""
    for a, b in itertools.combinations_with_replacement(_NAMES, 2):
        show(f"{a} {b}", torch.promote_types(getattr(torch, a), getattr(torch, b)))


def _pairs(operation):
    def program(torch, show):
        for a, b in itertools.product(_NAMES, repeat=2):
            x = torch.ones(2, dtype=getattr(torch, a))
            y = torch.ones(2, dtype=getattr(torch, b))
            show.error(lambda x=x, y=y: operation(torch, x, y).dtype, f"{a} {b}")

    return program


PROGRAMS = {
    f"pairs_of_{name}": _pairs(operation)
    for name, operation in {
        "add": lambda torch, x, y: x + y,
        "sub": lambda torch, x, y: x - y,
        "mul": lambda torch, x, y: x * y,
        "div": lambda torch, x, y: x / y,
        "floor_divide": lambda torch, x, y: x // y,
        "pow": lambda torch, x, y: x**y,
        "remainder": lambda torch, x, y: x % y,
        "equal": lambda torch, x, y: x == y,
        "less": lambda torch, x, y: x < y,
        "where": lambda torch, x, y: torch.where(torch.tensor([True, False]), x, y),
        "maximum": lambda torch, x, y: torch.maximum(x, y),
        "cat": lambda torch, x, y: torch.cat([x, y]),
        "bitwise_and": lambda torch, x, y: x & y,
        "matmul": lambda torch, x, y: x @ y,
        "atan2": lambda torch, x, y: torch.atan2(x, y),
        "add_": lambda torch, x, y: x.add_(y),
        "copy_": lambda torch, x, y: x.copy_(y),
        "result_type": lambda torch, x, y: torch.zeros(1, dtype=torch.result_type(x, y)),
    }.items()
}


def numbers_are_weak(torch, show):
    """A Python number changes the kind, never the size."""
    for name in _NAMES:
        x = torch.ones(2, dtype=getattr(torch, name))
        for number in (True, 2, 2.5) if name == "float16" else (True, 2, 2.5, 1j):  # complex32 is torch's alone
            show.error(lambda x=x, number=number: (x + number).dtype, f"{name} + {number}")
            show.error(lambda x=x, number=number: (x * number).dtype, f"{name} * {number}")


def zero_dim_tensors_are_weak(torch, show):
    """A 0-d tensor too, within its kind."""
    for a, b in itertools.product(("uint8", "int64", "float16", "float32", "float64", "complex64"), repeat=2):
        if {a, b} == {"float16", "complex64"}:
            continue  # complex32 is torch's alone
        x = torch.ones(2, dtype=getattr(torch, a))
        y = torch.tensor(1, dtype=getattr(torch, b))
        show(f"{a} + 0-d {b}", (x + y).dtype)
        show(f"0-d {a} + 0-d {b}", (x[0] + y).dtype)


def division_of_integers(torch, show):
    """True division gives floats, floor division integers."""
    x = torch.tensor([7, -7, 0])
    show("true", x / 2)
    show("floor", x // 2)
    show("remainder", [x % 3, x % -3, torch.fmod(x, 3)])
    show("trunc", torch.div(x, 2, rounding_mode="trunc"))
    show.error(lambda: x // 0)
    show.error(lambda: x % 0)
    show("float nought", [torch.tensor([1.0, -1.0, 0.0]) / 0, torch.tensor([1.0]) // 0])
    show.error(lambda: torch.div(x, 2, rounding_mode="up"))


def reductions_of_each_dtype(torch, show):
    """sum, prod, mean and friends of every dtype, or their refusal."""
    for name in _NAMES:
        x = torch.ones(3, dtype=getattr(torch, name))
        for method in ("sum", "prod", "mean", "std", "cumsum", "max", "all", "norm", "argmax", "median"):
            arguments = (0,) if method == "cumsum" else ()
            show.error(lambda x=x, m=method, a=arguments: getattr(x, m)(*a).dtype, f"{name} {method}")


def functions_of_integers(torch, show):
    """exp, sin and friends make floats of integers; abs and neg keep them."""
    for name in ("bool", "uint8", "int64"):
        x = torch.ones(2, dtype=getattr(torch, name))
        for method in "exp sin sqrt sigmoid abs neg reciprocal log ceil round sign tanh".split():
            show.error(lambda x=x, m=method: getattr(x, m)(), f"{name} {method}")


def integer_wrap_around(torch, show):
    """Integers overflow silently."""
    show("uint8", torch.tensor([250], dtype=torch.uint8) + 10)
    show("int8", torch.tensor([127], dtype=torch.int8) + 1)
    show("negative", -torch.tensor([1], dtype=torch.uint8))
    show("int64", torch.tensor([2**62]) * 4)
    show("pow", torch.tensor([2]) ** torch.tensor([10]))
    show.error(lambda: torch.tensor([2]) ** -1)


def casts_between_kinds(torch, show):
    """Floats are cut to integers, anything but nought is True."""
    x = torch.tensor([-1.7, 0.0, 2.9])
    show("int64", x.long())
    show("int8", x.to(torch.int8))
    show("bool", x.bool())
    show("half", torch.tensor([70000.0, 1e-9, 1.0009766]).half())
    show("bfloat16", torch.tensor([1.00390625, 3.14159]).bfloat16())
    show("complex", x.to(torch.complex64))
    show("real", show.warnings(lambda: torch.tensor([1.0 + 2.0j]).float()))


def default_dtype(torch, show):
    """What factories use, and what a new default changes."""
    show("before", torch.get_default_dtype())
    torch.set_default_dtype(torch.float64)
    show("float", torch.tensor([1.5]))
    show("complex", torch.tensor([1j]))
    show("zeros", torch.zeros(1))
    show("int", torch.tensor([1]))
    show("division", torch.tensor([1]) / 2)
    torch.set_default_dtype(torch.float32)
    show.error(lambda: torch.set_default_dtype(torch.int64))


def dtype_inference(torch, show):
    """tensor() of numbers, lists, mixtures, NumPy scalars."""
    show("int", torch.tensor([1, 2]).dtype)
    show("mixed", torch.tensor([1, 2.5]).dtype)
    show("bool", torch.tensor([True, False]).dtype)
    show("bool and int", torch.tensor([True, 2]).dtype)
    show("complex", torch.tensor([1, 1j]).dtype)
    show("empty", torch.tensor([]).dtype)
    show("nested", torch.tensor([[1], [2.5]]))
    show("tensors", torch.tensor([torch.tensor(1.0), torch.tensor(2)]))
    show("arange", [torch.arange(3).dtype, torch.arange(3.0).dtype, torch.arange(0, 1, 0.5).dtype])
    show("full", [torch.full((1,), 2).dtype, torch.full((1,), 2.0).dtype, torch.full((1,), True).dtype])


def limits(torch, show):
    """finfo and iinfo."""
    for name in ("float16", "bfloat16", "float32", "float64"):
        info = torch.finfo(getattr(torch, name))
        show(name, [info.max, info.min, info.eps, info.tiny, info.smallest_normal])
        show(name, [info.bits, info.resolution, info.dtype])
    for name in ("uint8", "int8", "int64"):
        info = torch.iinfo(getattr(torch, name))
        show(name, [info.max, info.min, info.bits, info.dtype])
    show.error(lambda: torch.finfo(torch.int64))
    show.error(lambda: torch.iinfo(torch.float32))
    show("repr", [repr(torch.finfo(torch.float32)), repr(torch.iinfo(torch.int8))])


def can_cast(torch, show):
    """can_cast and result_type."""
    show("casts", [torch.can_cast(torch.float64, torch.float32), torch.can_cast(torch.float32, torch.int64)])
    show("result", [torch.result_type(torch.ones(1), 2.0), torch.result_type(torch.ones(1).long(), 2.0)])


def mixed_dtype_refusals(torch, show):
    """Matrix products want one dtype."""
    x = torch.ones(2, 2)
    y = torch.ones(2, 2, dtype=torch.float64)
    show.error(lambda: x @ y)
    show.error(lambda: x.mm(y))
    show.error(lambda: torch.ones(2).dot(torch.ones(2).long()))
    show.error(lambda: torch.nn.functional.linear(x, y))
    show.error(lambda: torch.addmm(x, x, y))
    show.error(lambda: torch.nn.functional.mse_loss(x, y.long()))
    show.error(lambda: torch.nn.functional.cross_entropy(x, torch.tensor([0, 1], dtype=torch.int32)))
    show.error(lambda: torch.ones(3).index_select(0, torch.tensor([0.0])))
    show.error(lambda: torch.ones(3).masked_fill(torch.tensor([1, 0, 1]), 2.0))
    show.error(lambda: torch.where(torch.tensor([1, 0]), 1.0, 2.0))
    show.error(lambda: torch.tensor([1.5]) & torch.tensor([1]))
    show.error(lambda: torch.tensor([1.5]) << 1)
    show.error(lambda: ~torch.tensor([1.5]))


def promotion_in_a_graph(torch, show):
    """Each input's gradient has the input's dtype."""
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(2, dtype=torch.float64, requires_grad=True)
    c = torch.tensor([1, 2])
    y = a * b * c
    show("y", y)
    y.sum().backward()
    show("grads", [a.grad, b.grad])


def complex_gradients(torch, show):
    """A real leaf under a complex computation gets a real gradient."""
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    z = torch.tensor([1.0 + 1.0j, 2.0 - 1.0j], requires_grad=True)
    (a * z).abs().sum().backward()
    show("a.grad", a.grad)
    show("z.grad", z.grad)


def half_precision_arithmetic(torch, show):
    """float16 and bfloat16 round after each operation."""
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.tensor([1.0, 0.1, 1000.0], dtype=dtype, requires_grad=True)
        y = (x * 3 + 0.1).sum()
        show("y", y)
        y.backward()
        show("x.grad", x.grad)


def bool_arithmetic(torch, show):
    """Booleans add, multiply, and do not subtract."""
    x = torch.tensor([True, False])
    show("add", x + x)
    show("mul", x * x)
    show("sum", x.sum())
    show("or", [x | ~x, x & x, x ^ x])
    show("number", [x + 1, x * 2.5, True + x])
    show.error(lambda: x - x)
    show.error(lambda: -x)
    show.error(lambda: 1 - x)


def bit_operations(torch, show):
    """Shifts and masks of integers."""
    x = torch.tensor([5, -3])
    show("and", x & 6)
    show("or", 6 | x)
    show("xor", x ^ torch.tensor([1, 1]))
    show("not", ~x)
    show("shift", [x << 2, x >> 1])
