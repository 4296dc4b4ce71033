"""Tensors and the outside: NumPy, DLPack, buffers, pickles, copies."""

import copy
import pickle

import numpy


def to_numpy(torch, show):
    """numpy() shares memory both ways."""
    x = torch.arange(4.0)
    a = x.numpy()
    a[0] = 100
    x[1] = 200
    show("x", x)
    show("a", a)
    show("strided", torch.arange(6).reshape(2, 3).t().numpy())
    for dtype in (torch.float16, torch.int8, torch.bool, torch.complex64):
        show(str(dtype), str(torch.zeros(1, dtype=dtype).numpy().dtype))


def to_numpy_refused(torch, show):
    """A tensor in a graph must be detached first."""
    x = torch.ones(2, requires_grad=True)
    show.error(x.numpy)
    show.error((x * 2).numpy)
    show.error(lambda: numpy.asarray(x))
    show.error(lambda: numpy.asarray(x * 2))
    show("forced", (x * 2).numpy(force=True))
    show("detached", x.detach().numpy())
    show.error(lambda: torch.zeros(1, dtype=torch.bfloat16).numpy())
    show.error(lambda: torch.empty(2, device="meta").numpy())


def to_numpy_under_no_grad(torch, show):
    """no_grad alone does not help a leaf."""
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        show.error(x.numpy)
        show("computed", (x * 2).numpy())


def from_numpy(torch, show):
    """from_numpy shares memory; tensor() copies."""
    a = numpy.arange(4.0)
    x, y, z = torch.from_numpy(a), torch.tensor(a), torch.as_tensor(a)
    a[0] = 9
    show("shared", x)
    show("copied", y)
    show("as_tensor", z)
    x[1] = 7
    show("a", a)
    for name in ("float32", "int32", "uint8", "bool", "complex64"):
        show(name, torch.from_numpy(numpy.zeros(1, name)).dtype)


def from_numpy_refused(torch, show):
    """What cannot be taken."""
    show.error(lambda: torch.from_numpy([1.0]))
    show.error(lambda: torch.from_numpy(numpy.array(["a"])))
    show.error(lambda: torch.from_numpy(numpy.arange(4.0)[::-1]))
    show.error(lambda: torch.from_numpy(numpy.array([object()])))
    show.error(lambda: torch.tensor(numpy.array(["a"])))


def from_read_only_numpy(torch, show):
    """A read-only array earns a warning."""
    a = numpy.arange(3.0)
    a.flags.writeable = False
    x = show.warnings(lambda: torch.from_numpy(a))
    show("x", x)


def numpy_scalars(torch, show):
    """NumPy numbers and 0-d arrays."""
    show("float64", torch.tensor(numpy.float64(1.5)))
    show("float32", torch.tensor(numpy.float32(1.5)))
    show("int64", torch.tensor(numpy.int64(3)))
    show("bool", torch.tensor(numpy.bool_(True)))
    show("0-d", torch.from_numpy(numpy.array(2.0)))
    show("list", torch.tensor([numpy.float32(1.0), numpy.float32(2.0)]))
    show("list of arrays", torch.tensor(numpy.array([numpy.ones(2), numpy.zeros(2)])))


def numpy_functions_on_tensors(torch, show):
    """NumPy reads tensors through __array__."""
    x = torch.arange(3.0)
    show("asarray", numpy.asarray(x))
    show("sum", float(numpy.sum(x.numpy())))
    show("cast", numpy.asarray(x, dtype="float64"))
    show("sin", numpy.sin(x))
    show("array", numpy.array([1.0, 2.0, 3.0]) + x.numpy())


def gradient_through_shared_memory(torch, show):
    """A write through NumPy is not counted."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = y * y
    y.detach().numpy()[0] = 10
    z.sum().backward()
    show("x.grad", x.grad)


def dlpack(torch, show):
    """DLPack shares memory with NumPy and with itself."""
    x = torch.arange(3.0)
    y = torch.from_dlpack(x)
    y[0] = 5
    show("x", x)
    show("numpy", numpy.from_dlpack(x))
    show("from numpy", torch.from_dlpack(numpy.arange(3)))
    show("device", int(x.__dlpack_device__()[0]))
    show.error(lambda: torch.from_dlpack(torch.ones(2, requires_grad=True)))


def buffers(torch, show):
    """frombuffer shares memory with bytes-like objects."""
    data = bytearray(numpy.arange(3, dtype="float32").tobytes())
    x = torch.frombuffer(data, dtype=torch.float32)
    show("x", x)
    show("offset", torch.frombuffer(data, dtype=torch.float32, offset=4))
    show.error(lambda: torch.frombuffer(data, dtype=torch.float32, offset=100))
    show.error(lambda: torch.frombuffer(bytearray(3), dtype=torch.float32))


def pickling(torch, show):
    """Values, dtype, requires_grad and strides survive."""
    for name, x in {
        "plain": torch.arange(3.0),
        "leaf": torch.ones(2, requires_grad=True),
        "int": torch.tensor([1, 2]),
        "transposed": torch.arange(6).reshape(2, 3).t(),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "0-d": torch.tensor(2.5, dtype=torch.float64),
        "bfloat16": torch.ones(2, dtype=torch.bfloat16),
    }.items():
        y = pickle.loads(pickle.dumps(x))
        show(name, [y, y.stride(), type(y).__name__, y.is_leaf])


def pickling_a_computed_tensor(torch, show):
    """A tensor in a graph can be pickled; the graph comes along here, and not in PyTorch."""
    x = torch.ones(2, requires_grad=True)
    show("values", pickle.loads(pickle.dumps(x * 2)).detach())


def deep_copies(torch, show):
    """deepcopy of leaves; aliases stay aliases."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 3).sum().backward()
    y = copy.deepcopy(x)
    show("y", [y, y.grad, y is x, y.data_ptr() == x.data_ptr()])
    z = torch.arange(3.0)
    first, second = copy.deepcopy([z, z])
    show("same", first is second)
    base = torch.arange(4.0)
    a, b = copy.deepcopy((base, base[1:]))
    a[1] = 100
    show("shared", b)
    show("parameter", copy.deepcopy(torch.nn.Parameter(torch.ones(1))))


def shallow_copies(torch, show):
    """copy.copy shares memory."""
    x = torch.arange(3.0)
    y = copy.copy(x)
    y[0] = 5
    show("x", [x, y is x])


def clones(torch, show):
    """clone copies and stays in the graph."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    show("y", [y, y.data_ptr() == x.data_ptr()])
    (y * 2).sum().backward()
    show("x.grad", x.grad)


def deepcopy_of_a_module(torch, show):
    """A module's copy is independent."""
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    twin = copy.deepcopy(model)
    with torch.no_grad():
        twin.weight.zero_()
    show("weights", [model.weight, twin.weight])
