"""Reading and writing by index: every kind of key, what it gives, and how it fails."""

import numpy


def _keys(torch):
    mask = torch.tensor([[True, False, True, False], [False] * 4, [True] * 4])
    index = torch.tensor([2, 0])
    return {
        "int": 1,
        "negative int": -1,
        "slice": slice(1, 3),
        "slice with step": slice(0, 3, 2),
        "slice past the end": slice(1, 100),
        "negative slice": slice(-2, None),
        "empty slice": slice(2, 1),
        "ellipsis": ...,
        "none": None,
        "two ints": (1, 2),
        "int and slice": (1, slice(0, 2)),
        "slice and int": (slice(None), 2),
        "ellipsis and int": (..., 1),
        "none between": (slice(None), None, 1),
        "mask": mask,
        "row mask": torch.tensor([True, False, True]),
        "mask on second": (slice(None), torch.tensor([True, False, True, False])),
        "row mask and int": (torch.tensor([True, False, True]), 1),
        "index": index,
        "list": [2, 0],
        "list of bools": [True, False, True],
        "index twice": (index, index),
        "index and int": (index, 1),
        "int and index": (1, index),
        "index and slice": (index, slice(1, 3)),
        "slice and index": (slice(0, 2), index),
        "broadcast indices": (index[:, None], torch.tensor([0, 1, 3])),
        "negative index": torch.tensor([-1, -3]),
        "2-d index": torch.tensor([[0, 1], [2, 2]]),
        "0-d index": torch.tensor(1),
        "true": True,
        "false": False,
        "empty index": torch.tensor([], dtype=torch.int64),
        "uint8 mask": torch.tensor([1, 0, 1], dtype=torch.uint8),
        "empty tuple": (),
        "none and index": (None, index),
        "index, none, slice": (index, None, slice(1, 3)),
        "numpy int": numpy.int64(1),
        "range": range(2),
        "tuple of lists": ([0, 1], [1, 2]),
        "int32 index": torch.tensor([2, 0], dtype=torch.int32),
    }


def reading(torch, show):
    """Every key reads."""
    x = torch.arange(12.0).reshape(3, 4)
    for name, key in _keys(torch).items():
        show.error(lambda key=key: x[key], name)


def reading_in_a_graph(torch, show):
    """The same keys in a graph: nodes and gradients."""
    for name, key in _keys(torch).items():
        x = torch.arange(12.0).reshape(3, 4).requires_grad_()
        y = x[key]
        show.graph(name, y)
        weight = torch.arange(1.0, y.numel() + 1).reshape(y.shape)
        (y * weight).sum().backward()
        show(f"{name} grad", x.grad)


def writing_numbers(torch, show):
    """Every key writes a number."""
    for name, key in _keys(torch).items():
        x = torch.arange(12.0).reshape(3, 4)

        def act(x=x, key=key):
            x[key] = 100
            return x

        show.error(act, name)


def writing_tensors(torch, show):
    """Every key writes a tensor of the shape it reads."""
    for name, key in _keys(torch).items():
        x = torch.arange(12.0).reshape(3, 4)

        def act(x=x, key=key):
            part = x[key]
            x[key] = torch.arange(part.numel()).reshape(part.shape) - 50.0
            return x

        show.error(act, name)


def writing_in_a_graph(torch, show):
    """Every key writes a tracked tensor: nodes and both gradients."""
    for name, key in _keys(torch).items():
        if name == "false" or "numpy" in name:
            continue
        x = torch.arange(12.0).reshape(3, 4).requires_grad_()
        w = torch.tensor(2.0, requires_grad=True)
        y = x * 1
        y[key] = w * 3
        show.graph(name, y)
        (y * torch.arange(12.0).reshape(3, 4)).sum().backward()
        show(f"{name} grads", [x.grad, w.grad])


def repeated_index_reads_add_up(torch, show):
    """An element read twice gets both gradients."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x[torch.tensor([0, 0, 2])] * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    show("x.grad", x.grad)


def basic_keys_are_views(torch, show):
    """Integers and slices alias, index tensors and masks copy."""
    x = torch.arange(12.0).reshape(3, 4)
    for name, key in _keys(torch).items():
        y = x[key]
        show(name, y.numel() > 0 and y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr())


def reading_errors(torch, show):
    """Out of range, too many, of the wrong kind."""
    x = torch.arange(12.0).reshape(3, 4)
    show.error(lambda: x[3])
    show.error(lambda: x[-4])
    show.error(lambda: x[0, 4])
    show.error(lambda: x[0, 0, 0])
    show.error(lambda: x[..., ...])
    show.error(lambda: x["a"])
    show.error(lambda: x[1.5])
    show.error(lambda: x[torch.tensor(1.5)])
    show.error(lambda: x[torch.tensor([3])])
    show.error(lambda: x[torch.tensor([-4])])
    show.error(lambda: x[torch.tensor([True, False])])
    show.error(lambda: x[torch.ones(3, 3, dtype=torch.bool)])
    show.error(lambda: x[::-1])
    show.error(lambda: x[::0])
    show.error(lambda: x[torch.tensor([0, 1]), torch.tensor([0, 1, 2])])
    show.error(lambda: torch.tensor(1.0)[0])
    show.error(lambda: torch.tensor(1.0)[:])
    show.error(lambda: x[slice("a", None)])
    show.error(lambda: x[{}])


def writing_errors(torch, show):
    """Values that do not fit; x stays as it was."""
    x = torch.arange(12.0).reshape(3, 4)

    def put(key, value):
        x[key] = value

    show.error(lambda: put(0, torch.ones(3)))
    show.error(lambda: put(slice(0, 2), torch.ones(3, 4)))
    show.error(lambda: put((0, 0), torch.ones(2)))
    show.error(lambda: put(torch.tensor([0, 1]), torch.ones(3, 4)))
    show.error(lambda: put(x > 5, torch.ones(2)))
    show.error(lambda: put(5, 1.0))
    show.error(lambda: put(0, "a"))
    show.error(lambda: put(0, None))
    show.error(lambda: put((0, 0), [1.0, 2.0]))
    show.error(lambda: put(torch.tensor([9]), 1.0))
    show("x", [x, x._version])


def values_are_cast(torch, show):
    """The value is cast to the tensor's dtype."""
    x = torch.zeros(3, dtype=torch.int64)
    x[0] = 2.9
    x[1] = torch.tensor(3.7)
    x[2] = True
    show("x", x)
    y = torch.zeros(2)
    y[0] = torch.tensor([5], dtype=torch.int64)
    show("y", y)
    show.error(lambda: x.__setitem__(torch.tensor([0]), torch.tensor([1.5])))


def value_broadcasts(torch, show):
    """The value is spread over the key's shape, leading ones dropped."""
    x = torch.zeros(3, 4)
    x[1:] = torch.tensor([1.0, 2.0, 3.0, 4.0])
    x[:, 1] = torch.tensor([[7.0]])
    x[0] = torch.ones(1, 1, 4)
    show("x", x)
    x[:, torch.tensor([0, 2])] = torch.tensor([[5.0], [6.0], [8.0]])
    show("index", x)


def writing_lists(torch, show):
    """A list on the right."""
    x = torch.zeros(2, 3)

    def act():
        x[0] = [1.0, 2.0, 3.0]

    show.error(act, words=False)
    show("x", x)


def deleting(torch, show):
    """Elements cannot be deleted."""
    x = torch.zeros(3)

    def act():
        del x[0]

    show.error(act)


def index_put_duplicates(torch, show):
    """accumulate=True adds up repeated places."""
    x = torch.zeros(3)
    x.index_put_((torch.tensor([0, 0, 2]),), torch.tensor([1.0, 2.0, 3.0]), accumulate=True)
    show("x", x)


def gather_errors(torch, show):
    """Out of range, wrong dtype, wrong rank."""
    x = torch.arange(6.0).reshape(2, 3)
    show.error(lambda: x.gather(1, torch.tensor([[3]])))
    show.error(lambda: x.gather(1, torch.tensor([0])))
    show.error(lambda: x.gather(1, torch.tensor([[0.0]])))
    show.error(lambda: x.gather(2, torch.tensor([[0]])))
    show.error(lambda: x.gather(0, torch.tensor([[0, 0, 0, 0]])))
    show.error(lambda: x.scatter(1, torch.tensor([[3]]), 1.0))
    show.error(lambda: x.scatter(1, torch.tensor([[0, 1]]), torch.ones(1, 1)))
    show.error(lambda: x.scatter(1, torch.tensor([[0]]), torch.ones(1, 1).long()))
    show.error(lambda: x.index_select(0, torch.tensor([2])))
    show.error(lambda: x.index_select(0, torch.tensor([[0]])))
    show.error(lambda: x.index_add(0, torch.tensor([0]), torch.ones(2, 3)))
    show.error(lambda: x.index_copy(0, torch.tensor([5]), torch.ones(1, 3)))
    show.error(lambda: x.take(torch.tensor([6])))
    show.error(lambda: x.masked_select(torch.tensor([True, False])))
    show.error(lambda: torch.nn.functional.embedding(torch.tensor([2]), x))
    show.error(lambda: torch.nn.functional.one_hot(torch.tensor([3]), 3))


def nonzero_forms(torch, show):
    """nonzero as a matrix and as a tuple."""
    x = torch.tensor([[0, 1], [2, 0]])
    show("matrix", x.nonzero())
    show("tuple", x.nonzero(as_tuple=True))
    show("where", torch.where(x > 0))
    show("argwhere", torch.argwhere(x))
    show("0-d", torch.tensor(3).nonzero())
