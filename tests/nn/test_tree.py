"""Modules as trees: registering, replacing, deleting, finding, listing; the words of every refusal."""

import pytest

from tests.agreement import cases, check

pytestmark = pytest.mark.torch


def _tree(torch):
    nn = torch.nn
    shared = nn.Linear(2, 2)
    tree = nn.Sequential(nn.Sequential(shared, nn.ReLU()), shared, nn.ModuleDict({"a": nn.Linear(2, 1), "b": shared}))
    tree.register_buffer("count", torch.zeros(1))
    tree[0].register_buffer("again", tree.count)
    tree.add_module("nothing", None)
    return tree


def listing_with_shared_members(torch, show):
    tree = _tree(torch)
    for remove in (True, False):
        show("modules", [n for n, _ in tree.named_modules(remove_duplicate=remove)])
        show("parameters", [n for n, _ in tree.named_parameters(remove_duplicate=remove)])
        show("buffers", [n for n, _ in tree.named_buffers(remove_duplicate=remove)])
        show("count", len(list(tree.modules(remove_duplicate=remove))))
    show("prefix", [n for n, _ in tree.named_modules(prefix="top")])
    show("memo", [n for n, _ in tree.named_modules(memo={tree[0]})])
    show("own", [len(list(tree.parameters(recurse=False))), len(list(tree.buffers(recurse=False)))])
    show("plain", [len(list(tree.parameters())), len(list(tree.buffers()))])
    show("children", [n for n, _ in tree.named_children()])


def names_refused(torch, show):
    nn = torch.nn
    for name in ("", "a.b", 3, "training", "forward"):
        for register, member in (
            ("register_parameter", nn.Parameter(torch.ones(1))), ("register_buffer", torch.ones(1)),
            ("add_module", nn.ReLU()), ("register_module", nn.ReLU()),
        ):  # fmt: skip
            show.error(lambda r=register, n=name, m=member: getattr(nn.Module(), r)(n, m))


def members_refused(torch, show):
    nn = torch.nn
    for member in (3, "text", nn.ReLU(), torch.ones(1), [1], object, len):
        show.error(lambda m=member: nn.Module().register_parameter("p", m))
        show.error(lambda m=member: nn.Module().register_buffer("p", m))
        show.error(lambda m=member: nn.Module().add_module("p", m))
    show.error(lambda: nn.Module().register_parameter("p", (nn.Parameter(torch.ones(1)) * 2).double()))


def assignment_refused(torch, show):
    nn = torch.nn
    for value in (3, "text", torch.ones(1), torch.ones(1).double(), [1], nn.ReLU, nn.ReLU()):
        module = nn.Linear(1, 1)
        module.child = nn.Sequential(nn.ReLU())
        module.register_buffer("held", torch.ones(1))
        for name in ("weight", "child", "held"):
            show.error(lambda m=module, n=name, v=value: setattr(m, n, v))
        show("parameters", [n for n, _ in module.named_parameters()])
        show("modules", [n for n, _ in module.named_modules()])


def members_change_their_kind(torch, show):
    nn = torch.nn
    module = nn.Module()
    module.a = 3
    module.a = nn.Parameter(torch.ones(1))
    show("parameter", [module.a, list(module._parameters)])
    module.a = nn.Parameter(torch.ones(2))
    show("another", module.a)
    module.b = nn.ReLU()
    module.b = nn.Parameter(torch.ones(1))
    show("from module", [list(module._modules), list(module._parameters)])
    module.register_buffer("c", torch.ones(1), persistent=False)
    module.c = nn.Linear(1, 1)
    show("from buffer", [list(module._buffers), list(module._modules), sorted(module._non_persistent_buffers_set)])
    module.b = None
    show("none", [module.b, [n for n, _ in module.named_parameters()]])
    module.c = None
    show("no child", [module.c, [n for n, _ in module.named_children()]])
    module.register_buffer("d", None)
    module.d = torch.zeros(1)
    show("buffer", list(module.state_dict()))
    module.d = None
    show("gone", list(module.state_dict()))


def buffers_of_their_own_class(torch, show):
    nn = torch.nn
    module = nn.Module()
    module.kept = nn.Buffer(torch.ones(2))
    module.passing = nn.Buffer(torch.zeros(2), persistent=False)
    show("state", dict(module.state_dict()))
    show("kinds", [isinstance(module.kept, nn.Buffer), isinstance(torch.ones(1), nn.Buffer)])
    module.kept = torch.zeros(3)
    show("replaced", [n for n, _ in module.named_buffers()])
    show("empty", nn.Buffer().shape)


def deletion(torch, show):
    nn = torch.nn
    module = nn.Linear(1, 1)
    module.child = nn.ReLU()
    module.register_buffer("held", torch.ones(1), persistent=False)
    module.plain = 3
    for name in ("weight", "child", "held", "plain"):
        delattr(module, name)
        show.error(lambda n=name: getattr(module, n))
        show.error(lambda n=name: delattr(module, n))
    show("left", [list(module._parameters), sorted(module._non_persistent_buffers_set)])


def finding(torch, show):
    tree = _tree(torch)
    show("self", tree.get_submodule("") is tree)
    show("deep", [repr(tree.get_submodule("2.a")), tree.get_parameter("0.0.weight").shape, tree.get_buffer("0.again")])
    for name in ("9", "0.9", "0.0.weight", "count", "0.."):
        show.error(lambda n=name: tree.get_submodule(n))
    for name in ("0.0.nothing", "count", "9.weight", "0.0"):
        show.error(lambda n=name: tree.get_parameter(n))
    for name in ("0.0.nothing", "0.0.weight", "9.again"):
        show.error(lambda n=name: tree.get_buffer(n))


def setting_submodules(torch, show):
    nn = torch.nn
    tree = _tree(torch)
    tree.set_submodule("2.a", nn.Tanh())
    tree.set_submodule("more", nn.ReLU())
    show("tree", repr(tree))
    show.error(lambda: tree.set_submodule("", nn.ReLU()))
    show.error(lambda: tree.set_submodule("0.0", 3), words=False)
    show.error(lambda: tree.set_submodule("other", nn.ReLU(), strict=True))
    show.error(lambda: tree.set_submodule("count", nn.ReLU()))
    show.error(lambda: tree.set_submodule("9.x", nn.ReLU()))


def names_on_show(torch, show):
    module = torch.nn.Sequential(torch.nn.Linear(1, 1))
    module.extra = torch.nn.ReLU()
    module.register_buffer("held", torch.ones(1))
    listed = dir(module)
    show("members", [name in listed for name in ("extra", "held", "0", "forward", "training")])
    show("weight", "weight" in dir(module[0]))


def arguments_of_the_base(torch, show):
    show.error(lambda: torch.nn.Module(1))
    show.error(lambda: torch.nn.Module(a=1))


def members_before_init(torch, show):
    nn = torch.nn

    class Late(nn.Module):
        def __init__(self, do):
            do(self)

    for do in (
        lambda m: m.register_parameter("a", None), lambda m: m.register_buffer("a", None),
        lambda m: setattr(m, "a", nn.Parameter(torch.ones(1))), lambda m: setattr(m, "a", nn.ReLU()),
        lambda m: m.nothing, lambda m: m(1),
    ):  # fmt: skip
        show.error(lambda do=do: Late(do))


def super_init_of_mixins(torch, show):
    class Other:
        def __init__(self, *args, **kwargs):
            self.seen = (args, kwargs)

    class Both(torch.nn.Module, Other):
        call_super_init = True

    show("seen", Both(1, b=2).seen)


def registration_hooks(torch, show):
    nn = torch.nn
    seen = []
    of = nn.modules.module
    handles = [
        of.register_module_parameter_registration_hook(lambda m, name, p: seen.append(("parameter", name))),
        of.register_module_buffer_registration_hook(lambda m, name, b: seen.append(("buffer", name))),
        of.register_module_module_registration_hook(lambda m, name, c: nn.Tanh() if name == "swap" else None),
    ]
    try:
        module = nn.Linear(1, 1)
        module.register_buffer("held", torch.ones(1))
        module.swap = nn.ReLU()
    finally:
        for handle in handles:
            handle.remove()
    nn.Linear(1, 1)
    show("seen", [*seen, repr(module.swap)])


def modes_and_conversion(torch, show):
    tree = _tree(torch)
    tree.eval()
    show("eval", [m.training for m in tree.modules()])
    show.error(lambda: tree.train(1))
    tree.register_buffer("whole", torch.tensor([1, 2]))
    list(tree.parameters())[0].grad = torch.ones(2, 2)
    for change in (
        lambda: tree.double(), lambda: tree.float(), lambda: tree.half(), lambda: tree.bfloat16(),
        lambda: tree.to(torch.float64), lambda: tree.to("cpu"), lambda: tree.to("cpu", torch.float32),
        lambda: tree.to(dtype=torch.float64), lambda: tree.to(device="cpu"), lambda: tree.to(torch.ones(1)),
        lambda: tree.cpu(), lambda: tree.type(torch.float64),
    ):  # fmt: skip
        show("same", change() is tree)
        show("dtypes", [p.dtype for p in tree.parameters()] + [b.dtype for b in tree.buffers()])
        show("grad", list(tree.parameters())[0].grad.dtype)
    show.error(lambda: tree.to(torch.int64))
    show.warnings(lambda: torch.nn.Linear(1, 1).to(torch.complex64))
    parameter = tree[0][0].weight
    tree.float()
    show("identity", parameter is tree[0][0].weight)


def changes_of_gradients(torch, show):
    module = torch.nn.Linear(2, 1)
    module(torch.ones(1, 2)).sum().backward(create_graph=True)
    module.zero_grad(set_to_none=False)
    show("zeros", [p.grad for p in module.parameters()])
    module.zero_grad()
    show("none", [p.grad for p in module.parameters()])
    show("frozen", [p.requires_grad for p in module.requires_grad_(False).parameters()])


def application(torch, show):
    seen = []
    tree = _tree(torch)
    show("same", tree.apply(lambda m: seen.append(type(m).__name__)) is tree)
    show("seen", seen)


def extra_lines(torch, show):
    nn = torch.nn

    class Two(nn.Module):
        def extra_repr(self):
            return "first\nsecond"

    class Named(nn.Module):
        def _get_name(self):
            return "Other"

    two = Two()
    show("two", repr(two))
    two.child = nn.Sequential(Two(), Named())
    two.nothing = None
    show("nested", repr(two))
    show.error(lambda: Named().get_submodule("x"))


PROGRAMS = cases(globals())


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])
