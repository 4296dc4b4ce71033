"""Views: shared memory, bases, versions, and gradients through chains of them."""


def memory_is_shared(torch, show):
    """A write is seen through every alias."""
    x = torch.arange(6.0)
    row, flat, column = x.view(2, 3)[1], x.view(-1), x.view(2, 3)[:, 0]
    row[0] = 100
    show("x", x)
    show("aliases", [row, flat, column])


def base_is_never_a_view(torch, show):
    """A view of a view has the first tensor as base."""
    x = torch.arange(6.0)
    v = x.view(2, 3)
    w = v[0][1:]
    show("is_view", [x._is_view(), v._is_view(), w._is_view()])
    show("base", [v._base is x, w._base is x, x._base is None])


def strides_and_offsets(torch, show):
    """Where each view begins and how it steps."""
    x = torch.arange(24.0).reshape(2, 3, 4)
    views = {
        "t": x.transpose(0, 2),
        "select": x[1],
        "slice": x[:, 1:, ::2],
        "narrow": x.narrow(2, 1, 2),
        "permute": x.permute(2, 0, 1),
        "expand": x[:, :1].expand(2, 3, 4),
        "unsqueeze": x.unsqueeze(1),
        "diagonal": x.diagonal(dim1=1, dim2=2),
        "unfold": x.unfold(2, 2, 1),
        "as_strided": x.as_strided((2, 2), (1, 5), 3),
        "flatten": x.flatten(1),
        "movedim": x.movedim(0, -1),
        "squeeze": x[:1].squeeze(0),
        "detach": x[1].detach(),
        "T": x[0].T,
        "mT": x.mT,
        "view_as": x.view_as(torch.empty(6, 4)),
        "swapaxes": x.swapaxes(0, 1),
        "chunk": x.chunk(2, dim=2)[1],
        "split": x.split([1, 2], dim=1)[1],
        "tensor_split": x.tensor_split(3, dim=2)[2],
        "unbind": x.unbind(1)[2],
        "hsplit": x.hsplit(3)[1],
        "real": x.real,
    }
    for name, v in views.items():
        show(name, [v, v.stride(), v.storage_offset(), v.is_contiguous(), v._is_view()])


def reshape_views_or_copies(torch, show):
    """reshape is a view where it can be, contiguous copies where it must."""
    x = torch.arange(6.0).reshape(2, 3)
    show("view", x.reshape(3, 2).data_ptr() == x.data_ptr())
    show("copy", x.t().reshape(6).data_ptr() == x.data_ptr())
    show("contiguous", [x.contiguous() is x, x.t().contiguous().stride()])


def versions_are_shared(torch, show):
    """One counter for a tensor, its views and its detached twin."""
    x = torch.zeros(4)
    v, d = x[:2], x.detach()
    v.add_(1)
    show("after view", [x._version, v._version, d._version])
    d.add_(1)
    show("after detach", [x._version, v._version, d._version])
    x.data.add_(1)
    show("after data", [x._version, v._version, d._version])
    show("x", x)


def versions_of_every_write(torch, show):
    """Which calls count as a write, and how often."""
    writes = {
        "add_": lambda x: x.add_(1),
        "+=": lambda x: x.__iadd__(1),
        "setitem": lambda x: x.__setitem__(0, 5.0),
        "setitem slice": lambda x: x.__setitem__(slice(1, 3), 5.0),
        "setitem mask": lambda x: x.__setitem__(x > 1, 0.0),
        "setitem index": lambda x: x.__setitem__(torch.tensor([0, 2]), 1.0),
        "zero_": lambda x: x.zero_(),
        "copy_": lambda x: x.copy_(torch.ones(4)),
        "fill_": lambda x: x.fill_(3),
        "relu_": lambda x: x.relu_(),
        "clamp_": lambda x: x.clamp_(0, 1),
        "mul_ view": lambda x: x.view(2, 2).mul_(2),
        "resize": lambda x: x.unsqueeze_(0),
        "t_": lambda x: x.view(2, 2).t_(),
        "out": lambda x: torch.add(x, 1, out=x),
        "swap": lambda x: x[0].add_(1),
        "numpy": lambda x: x.numpy().__setitem__(0, 9.0),
        "uniform_": lambda x: x.uniform_(),
        "masked_fill_": lambda x: x.masked_fill_(x > 0, 2.0),
        "index_add_": lambda x: x.index_add_(0, torch.tensor([0]), torch.ones(1)),
        "scatter_": lambda x: x.scatter_(0, torch.tensor([0]), 7.0),
        "sqrt_": lambda x: x.sqrt_(),
        "add": lambda x: x.add(1),
        "requires_grad_": lambda x: x.requires_grad_(),
    }
    for name, write in writes.items():
        x = torch.arange(4.0)
        write(x)
        show(name, x._version)


def gradients_through_a_chain(torch, show):
    """Select, transpose, slice, expand in a row."""
    x = torch.arange(12.0).reshape(3, 4).requires_grad_()
    y = x.t()[1:3].unsqueeze(1).expand(2, 5, 3)[:, ::2]
    show("y", y)
    show.graph("graph", y)
    (y * torch.arange(18.0).reshape(2, 3, 3)).sum().backward()
    show("x.grad", x.grad)


def _gradient_of(view):
    """The program that takes one view alone, under a weighted sum."""

    def program(torch, show):
        x = torch.arange(12.0).reshape(3, 4).requires_grad_()
        y = view(torch, x)
        show("y", y)
        show.graph("graph", y)
        (y * torch.arange(float(y.numel())).reshape(y.shape)).sum().backward()
        show("x.grad", x.grad)

    return program


_VIEWS = {
    "select": lambda torch, x: x[1],
    "slice": lambda torch, x: x[:, 1:3],
    "step": lambda torch, x: x[::2],
    "t": lambda torch, x: x.t(),
    "T": lambda torch, x: x.T,
    "transpose": lambda torch, x: x.transpose(0, 1),
    "permute": lambda torch, x: x.permute(1, 0),
    "view": lambda torch, x: x.view(2, 6),
    "reshape": lambda torch, x: x.reshape(2, 6),
    "reshape_that_copies": lambda torch, x: x.t().reshape(-1),
    "reshape_of_nothing": lambda torch, x: x.reshape(3, 4),
    "flatten": lambda torch, x: x.flatten(),
    "unsqueeze": lambda torch, x: x.unsqueeze(1),
    "squeeze": lambda torch, x: x[:1].squeeze(),
    "squeeze_dim": lambda torch, x: x[:1].squeeze(0),
    "squeeze_nothing": lambda torch, x: x.squeeze(),
    "expand": lambda torch, x: x.unsqueeze(0).expand(2, 3, 4),
    "diagonal": lambda torch, x: x.diagonal(1),
    "unfold": lambda torch, x: x.unfold(1, 3, 1),
    "as_strided": lambda torch, x: x.as_strided((2, 3), (2, 3), 1),
    "narrow": lambda torch, x: x.narrow(1, 1, 2),
    "unbind": lambda torch, x: x.unbind(1)[2],
    "split": lambda torch, x: x.split(2, 1)[1],
    "chunk": lambda torch, x: x.chunk(2)[0],
    "split_sizes": lambda torch, x: x.split([1, 3], 1)[1],
    "movedim": lambda torch, x: x.movedim(0, 1),
    "unflatten": lambda torch, x: x.unflatten(1, (2, 2)),
    "view_as": lambda torch, x: x.view_as(torch.empty(4, 3)),
    "expand_as": lambda torch, x: x[0].expand_as(torch.empty(2, 4)),
    "ellipsis": lambda torch, x: x[...],
    "swapdims": lambda torch, x: x.swapdims(0, 1),
    "ravel": lambda torch, x: x.ravel(),
    "broadcast_to": lambda torch, x: x.broadcast_to(2, 3, 4),
    "contiguous": lambda torch, x: x.t().contiguous(),
    "mT": lambda torch, x: x.mT,
    "tensor_split": lambda torch, x: x.tensor_split(3, 1)[1],
    "view_as_itself": lambda torch, x: x.view_as(x),
    "clone": lambda torch, x: x.clone(),
    "flip": lambda torch, x: x.flip(0),
    "hsplit": lambda torch, x: x.hsplit(2)[1],
}
PROGRAMS = {f"gradient_of_{name}": _gradient_of(view) for name, view in _VIEWS.items()}


def detach_shares_memory(torch, show):
    """detach has no history, shares memory, and is no view for autograd's purposes."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    d = y.detach()
    d.add_(10)
    show("y", y)
    show("d", [d, d._is_view(), d.is_leaf])
    y.sum().backward()
    show("x.grad", x.grad)


def detach_in_place(torch, show):
    """detach_ cuts a tensor off where it stands."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    show("same", y.detach_() is y)
    show("y", [y, y.is_leaf])
    show.error(y.sum().backward)
    v = (x * 2)[0]
    show.error(v.detach_)


def data_shares_memory(torch, show):
    """.data has no history and its own version counter."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.data.mul_(100)
    show("x", x)
    y.backward()
    show("x.grad", x.grad)
    show("data", [x.data, x.data._version, x._version])


def data_is_assigned(torch, show):
    """Assigning .data changes values and shape, and keeps the leaf."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.data = torch.tensor([5.0, 6.0, 7.0])
    show("x", x)
    (x * 2).sum().backward()
    show("x.grad", x.grad)
    show.error(lambda: setattr(x, "data", 3))
    show.error(lambda: setattr(x, "data", torch.tensor([1, 2])))


def view_errors(torch, show):
    """Sizes that do not fit, strides that cannot be joined."""
    x = torch.arange(6.0).reshape(2, 3)
    show.error(lambda: x.view(4))
    show.error(lambda: x.view(-1, 4))
    show.error(lambda: x.view(-1, -1))
    show.error(lambda: x.view(-2, 3))
    show.error(lambda: x.t().view(6))
    show.error(lambda: x.reshape(5))
    show.error(lambda: x.reshape(-1, 4))
    show.error(lambda: torch.empty(0, 2).view(-1, 0))
    show.error(lambda: x.unflatten(1, (2, 2)))


def expand_errors(torch, show):
    """Only dimensions of one can be stretched."""
    x = torch.arange(6.0).reshape(2, 3)
    show.error(lambda: x.expand(4, 3))
    show.error(lambda: x.expand(3))
    show.error(lambda: x.expand(-1, 2, 3))
    show.error(lambda: x.expand_as(torch.empty(2, 4)))
    show("kept", x.expand(-1, 3))
    show("new front", x.expand(2, -1, -1).stride())


def dimension_errors(torch, show):
    """Dimensions out of range, repeated, missing."""
    x = torch.arange(6.0).reshape(2, 3)
    show.error(lambda: x.transpose(0, 2))
    show.error(lambda: x.permute(0))
    show.error(lambda: x.permute(0, 0))
    show.error(lambda: x.permute(0, 5))
    show.error(lambda: x.unsqueeze(4))
    show.error(lambda: x.squeeze(3))
    show.error(lambda: x.select(2, 0))
    show.error(lambda: x.select(0, 5))
    show.error(lambda: x.narrow(1, 2, 3))
    show.error(lambda: x.narrow(1, 0, -1))
    show.error(lambda: x.unbind(2))
    show.error(lambda: x.diagonal(0, 1, 1))
    show.error(lambda: x.flatten(1, 0))
    show.error(lambda: torch.arange(24.0).reshape(2, 3, 4).t())
    show.error(lambda: x.unfold(1, 4, 1))
    show.error(lambda: x.movedim(0, 5))


def split_errors(torch, show):
    """Sizes that do not add up, pieces of nothing."""
    x = torch.arange(6.0)
    show.error(lambda: x.split([2, 2]))
    show.error(lambda: x.split(-1))
    show.error(lambda: x.split(0))
    show.error(lambda: x.chunk(0))
    show.error(lambda: torch.tensor(1.0).split(1))
    show.error(lambda: torch.tensor(1.0).unbind())
    show("uneven", x.split(4))
    show("chunks", x.chunk(4))
    show("tensor_split", x.tensor_split(4))
    show("tensor_split at", x.tensor_split([1, 4]))


def as_strided_errors(torch, show):
    """Out of the memory's bounds."""
    x = torch.arange(6.0)
    show.error(lambda: x.as_strided((3, 3), (3, 1)))
    show.error(lambda: x.as_strided((2,), (-1,)))
    show.error(lambda: x.as_strided((2, 2), (1,)))
    show("overlapping", x.as_strided((3, 3), (1, 1)))


def overlapping_gradient(torch, show):
    """A window that sees an element twice adds its gradient twice."""
    x = torch.arange(4.0).requires_grad_()
    y = x.unfold(0, 2, 1)
    show("y", y)
    (y * torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).sum().backward()
    show("x.grad", x.grad)
    x = torch.arange(4.0).requires_grad_()
    x.as_strided((3, 3), (1, 0)).sum().backward()
    show("as_strided", x.grad)


def requires_grad_of_views(torch, show):
    """A view follows its base, also when the base is a leaf seen under no_grad."""
    x = torch.ones(4, requires_grad=True)
    v = x[1:]
    show("recorded", [v.requires_grad, v.is_leaf, v.grad_fn])
    with torch.no_grad():
        w = x[1:]
        y = (x * 2)[1:]
    show("no_grad", [w.requires_grad, w.is_leaf, w.grad_fn, y.requires_grad])
    plain = torch.ones(4)
    v = plain[1:]
    plain.requires_grad_()
    show("base later", [v.requires_grad, v.is_leaf])


def view_made_before_requires_grad(torch, show):
    """The old view then wants gradients too, as a leaf of its own."""
    x = torch.ones(4)
    v = x[1:]
    x.requires_grad_()
    show("v", v)
    (v * 2).sum().backward()
    show("v.grad", v.grad)
    show("x.grad", x.grad)


def is_set_to_and_shares(torch, show):
    """data_ptr tells whether memory is shared; storages can be compared."""
    x = torch.arange(6.0)
    show("offset", (x[2:].data_ptr() - x.data_ptr()) // x.element_size())
    show("storage", x[2:].untyped_storage().data_ptr() == x.untyped_storage().data_ptr())
    show("nbytes", [x[2:].untyped_storage().nbytes(), x[2:].nbytes, x.element_size()])
    show("is_set_to", [x.is_set_to(x.view(6)), x.is_set_to(x[1:])])


def contiguous_and_clone_layouts(torch, show):
    """clone keeps a dense layout; contiguous does not; elementwise results follow their input."""
    x = torch.arange(6.0).reshape(2, 3).t()
    show("clone", x.clone().stride())
    show("contiguous", x.contiguous().stride())
    show("plus", (x + 1).stride())
    show("plus other", (x + torch.ones(3, 2)).stride())
    show("expanded", torch.ones(1, 3).expand(2, 3).clone().stride())
    show("like", torch.zeros_like(x).stride())
    show("slice", torch.arange(8.0).reshape(2, 4)[:, ::2].clone().stride())


def views_of_views_in_backward(torch, show):
    """Two overlapping views of one base add up."""
    x = torch.arange(5.0).requires_grad_()
    y = x * 2
    a, b = y[:3], y[2:]
    (a.prod() + (b * b).sum()).backward()
    show("x.grad", x.grad)


def empty_views(torch, show):
    """Views without elements, and their gradients."""
    x = torch.arange(4.0).requires_grad_()
    y = x[2:2]
    show("y", y)
    y.sum().backward()
    show("x.grad", x.grad)
    show("view", torch.empty(0, 3).view(3, 0))
    show("reversed bounds", x[3:1])


def complex_views(torch, show):
    """real and imag are views of a complex tensor."""
    z = torch.tensor([1.0 + 2.0j, 3.0 - 1.0j])
    z.real.mul_(10)
    z.imag[0] = 7
    show("z", z)
    show("view_as_real", torch.view_as_real(z))
    show("conj", [z.conj(), z.conj().is_conj(), z.conj().resolve_conj().is_conj()])
    show.error(lambda: torch.ones(2).imag)
    w = torch.tensor([1.0 + 2.0j], requires_grad=True)
    (w.real * 3 + w.imag * 5).sum().backward()
    show("grad", w.grad)
