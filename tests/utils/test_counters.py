"""torch.utils' smaller modules as PyTorch has them: counted operations, trees as text, weak keys, flags, questions."""

import collections
import gc
from dataclasses import dataclass

import pytest

import glassgrad
from tests.agreement import cases, check

pytestmark = [pytest.mark.torch, pytest.mark.once]


def operations_are_counted(torch, show):
    from importlib import import_module

    counter = import_module(f"{torch.__name__}.utils.flop_counter")
    nn = torch.nn
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(4, 5), nn.Conv2d(1, 2, 3), nn.ConvTranspose2d(1, 3, 2, stride=2))
    encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    with counter.FlopCounterMode(display=False) as mode:
        layers[0](torch.randn(3, 4)).sum().backward()
        layers[1](torch.randn(1, 1, 8, 8, requires_grad=True)).sum().backward()
        layers[2](torch.randn(1, 1, 8, 8)).sum().backward()
        encoder(torch.randn(2, 5, 8, requires_grad=True)).sum().backward()
        torch.randn(2, 3, 4) @ torch.randn(4, 5)
    counts = mode.get_flop_counts()
    show("total", mode.get_total_flops())
    show(
        "by module",
        {name: {str(op): n for op, n in sorted(ops.items(), key=str)} for name, ops in sorted(counts.items())},
    )


def trees_as_text(torch, show):
    from importlib import import_module

    tree = import_module(f"{torch.__name__}.utils._pytree")
    shapes = [
        [1, {"a": 2, "b": (3, None)}], collections.OrderedDict(a=1), collections.defaultdict(list, a=[1]), (),
        collections.deque([1], maxlen=3), 5,
    ]  # fmt: skip
    for number, value in enumerate(shapes):
        shape = tree.tree_structure(value)
        text = tree.treespec_dumps(shape)
        show(f"text {number}", text)
        show(f"read {number}", [tree.treespec_loads(text) == shape, repr(tree.treespec_loads(text))])
    show("leaves of arguments", tree.arg_tree_leaves(1, [2], a=3))
    show("a leaf", [tree.tree_is_leaf(3), tree.tree_is_leaf([3]), tree.tree_is_leaf([3], lambda x: True)])
    spec = tree.tree_structure([1, (2, 3)])
    show("broadcast", [tree._broadcast_to_and_flatten(value, spec) for value in (7, [1, 2], [1, (2, 3)], [1], (1, 2))])
    show("printed", tree.treespec_pprint(tree.tree_structure([1, {"a": 2}])))
    show("dictionary", [tree._dict_flatten({"b": 1}), tree._dict_unflatten([1], ["b"])])
    show("only", list(map(tree.map_only(int)(lambda x: x + 1), [1, "a", 2.0])))


def dataclasses_are_containers(torch, show):
    from importlib import import_module

    tree = import_module(f"{torch.__name__}.utils._pytree")

    @dataclass
    class Pair:
        first: int
        second: int | None = None

    tree.register_dataclass(Pair, serialized_type_name=f"{torch.__name__}.Pair")
    show("mapped", repr(tree.tree_map(lambda x: x + 1, Pair(1))))
    show("leaves", tree.tree_leaves(Pair(1, 2)))
    show("paths", [[str(key) for key in path] for path, _ in tree.tree_flatten_with_path(Pair(1, 2))[0]])


def questions(torch, show):
    from importlib import import_module

    def of(name):
        return import_module(f"{torch.__name__}.{name}")

    dispatch = of("utils._python_dispatch")
    show("wrappers", [dispatch.is_traceable_wrapper_subclass(torch.ones(2)), dispatch.is_in_torch_dispatch_mode()])
    groups = of("utils._foreach_utils")._group_tensors_by_device_and_dtype(
        [[torch.ones(1), torch.ones(2).double(), torch.ones(3)], [torch.ones(1)] * 3], True
    )
    show("groups", [[str(key[1]), [[tuple(t.shape) for t in part] for part in lists], list(places)]
                    for key, (lists, places) in sorted(groups.items(), key=str)])  # fmt: skip
    config = of("_dynamo.config")
    before = config.verbose
    with config.patch(verbose=True):
        show("patched", config.verbose)
    show("after", config.verbose == before)
    show("names", [torch._C._get_privateuse1_backend_name(), torch._C._get_tracing_state(),
                   str(torch._C._get_accelerator()),
                   torch._C._get_default_device(), repr(torch.Stream()), repr(torch.Event())])  # fmt: skip


@pytest.mark.parametrize("name", cases(globals()))
def test_as_pytorch(name):
    check(globals()[name])


def test_weak_keys_leave_with_their_objects():
    from glassgrad.utils.weak import TensorWeakRef, WeakTensorKeyDictionary

    x, y = glassgrad.ones(2), glassgrad.ones(2)
    kept = WeakTensorKeyDictionary()
    kept[x], kept[y] = "x", "y"
    assert kept[x] == "x" and kept[y] == "y" and x in kept and len(kept) == 2 and TensorWeakRef(x)() is x
    del x
    gc.collect()
    assert list(kept.values()) == ["y"] and list(kept)[0] is y


def test_a_mode_below_autograd_is_refused_with_what_to_use():
    from glassgrad.utils._python_dispatch import TorchDispatchMode

    with pytest.raises(RuntimeError, match="TorchFunctionMode"), TorchDispatchMode():
        pass
