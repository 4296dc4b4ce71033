"""Reading and writing by index: every kind of key, what it gives, and how it fails."""

import numpy

_KEYS = {
    "int": lambda torch: 1,
    "negative_int": lambda torch: -1,
    "slice": lambda torch: slice(1, 3),
    "slice_with_step": lambda torch: slice(0, 3, 2),
    "slice_past_the_end": lambda torch: slice(1, 100),
    "negative_slice": lambda torch: slice(-2, None),
    "empty_slice": lambda torch: slice(2, 1),
    "ellipsis": lambda torch: ...,
    "none": lambda torch: None,
    "two_ints": lambda torch: (1, 2),
    "int_and_slice": lambda torch: (1, slice(0, 2)),
    "slice_and_int": lambda torch: (slice(None), 2),
    "ellipsis_and_int": lambda torch: (..., 1),
    "none_between": lambda torch: (slice(None), None, 1),
    "mask": lambda torch: torch.tensor([[True, False, True, False], [False] * 4, [True] * 4]),
    "row_mask": lambda torch: torch.tensor([True, False, True]),
    "mask_on_second": lambda torch: (slice(None), torch.tensor([True, False, True, False])),
    "row_mask_and_int": lambda torch: (torch.tensor([True, False, True]), 1),
    "index": lambda torch: torch.tensor([2, 0]),
    "list": lambda torch: [2, 0],
    "list_of_bools": lambda torch: [True, False, True],
    "index_twice": lambda torch: (torch.tensor([2, 0]), torch.tensor([2, 0])),
    "index_and_int": lambda torch: (torch.tensor([2, 0]), 1),
    "int_and_index": lambda torch: (1, torch.tensor([2, 0])),
    "index_and_slice": lambda torch: (torch.tensor([2, 0]), slice(1, 3)),
    "slice_and_index": lambda torch: (slice(0, 2), torch.tensor([2, 0])),
    "broadcast_indices": lambda torch: (torch.tensor([[2], [0]]), torch.tensor([0, 1, 3])),
    "negative_index": lambda torch: torch.tensor([-1, -3]),
    "2d_index": lambda torch: torch.tensor([[0, 1], [2, 2]]),
    "0d_index": lambda torch: torch.tensor(1),
    "true": lambda torch: True,
    "false": lambda torch: False,
    "empty_index": lambda torch: torch.tensor([], dtype=torch.int64),
    "empty_tuple": lambda torch: (),
    "none_and_index": lambda torch: (None, torch.tensor([2, 0])),
    "index_none_slice": lambda torch: (torch.tensor([2, 0]), None, slice(1, 3)),
    "numpy_int": lambda torch: numpy.int64(1),
    "numpy_index": lambda torch: numpy.array([2, 0]),
    "range": lambda torch: range(2),
    "tuple_of_lists": lambda torch: ([0, 1], [1, 2]),
    "int32_index": lambda torch: torch.tensor([2, 0], dtype=torch.int32),
    "nested_list": lambda torch: [[0, 1], [2, 2]],
}


def _reading(make):
    """The program that reads by a key, plainly and in a graph."""

    def program(torch, show):
        key = make(torch)
        x = torch.arange(12.0).reshape(3, 4)
        y = x[key]
        show("value", y)
        show("aliases", y.numel() > 0 and x.data_ptr() <= y.data_ptr() < x.data_ptr() + x.nbytes)
        x.requires_grad_()
        y = x[key]
        show.graph("graph", y)
        (y * torch.arange(1.0, y.numel() + 1).reshape(y.shape)).sum().backward()
        show("x.grad", x.grad)

    return program


def _writing(make):
    """The program that writes a number, a tensor and a tracked value by a key."""

    def program(torch, show):
        key = make(torch)
        x = torch.arange(12.0).reshape(3, 4)
        x[key] = 100
        show("number", [x, x._version])
        part = x[key]
        x[key] = torch.arange(part.numel()).reshape(part.shape) - 50.0
        show("tensor", x)
        x.requires_grad_()
        w = torch.tensor(2.0, requires_grad=True)
        y = x * 1
        y[key] = w * 3
        show.graph("graph", y)
        (y * torch.arange(12.0).reshape(3, 4)).sum().backward()
        show("gradients", [x.grad, w.grad])

    return program


PROGRAMS = {
    **{f"read.{name}": _reading(make) for name, make in _KEYS.items()},
    **{f"write.{name}": _writing(make) for name, make in _KEYS.items()},
}


def byte_masks(torch, show):
    """Masks of bytes are out of favour."""
    x = torch.arange(3.0)
    mask = torch.tensor([1, 0, 1], dtype=torch.uint8)
    show("read", show.warnings(lambda: x[mask]))
    show.error(lambda: x.__setitem__(mask, 1.0))


def repeated_index_reads_add_up(torch, show):
    """An element read twice gets both gradients."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x[torch.tensor([0, 0, 2])] * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    show("x.grad", x.grad)


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
