"""What a model's run is counted by: which module runs now, and the operations in floating point."""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from ..core.row import TABLE
from ..core.tensor import Tensor
from ..ground import listening
from ..ground.paths import house
from ..nn.modules.calls import register_module_forward_hook, register_module_forward_pre_hook
from ..ops.bind import table_functions
from ..ops.namespace import aten


class ModuleTracker:
    """A block in which ``parents`` is the set of the names of the modules that run now, ``"Global"`` always among them.

    Source: https://docs.pytorch.org/docs/stable/module_tracker.html
    """

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._hooks: list[Any] = []

    @property
    def is_bw(self) -> bool:
        """False: in the backward pass the set is that of the forward pass's end."""
        return False

    def _name(self, module: Any) -> str:
        if module not in self._names:
            self._names[module] = type(module).__name__
        own = self._names[module]
        for name, child in module.named_children():
            self._names.setdefault(child, f"{own}.{name}")
        return own

    def __enter__(self) -> ModuleTracker:
        self._hooks = [
            register_module_forward_pre_hook(lambda module, args: self.parents.add(self._name(module))),
            register_module_forward_hook(lambda module, args, out: self.parents.discard(self._name(module))),
        ]
        return self

    def __exit__(self, *exception: object) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []


flop_registry: dict[Any, Callable[..., int]] = {}


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Any], Any]:
    """A decorator: the function gives the count of an operation of ``torch.ops``, of the shapes of its tensors.

    Source: https://docs.pytorch.org/docs/stable/utils.html
    """

    def decorate(formula: Any) -> Any:
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            flop_registry[target] = formula
        return formula

    return decorate


def _product(shapes: list[tuple[int, ...]], out: tuple[int, ...]) -> int:
    return 2 * math.prod(out) * shapes[-2][-1]


def _linear(shapes: list[tuple[int, ...]], out: tuple[int, ...]) -> int:
    return 2 * math.prod(out) * shapes[-1][-1]


def _convolution(shapes: list[tuple[int, ...]], out: tuple[int, ...], transposed: bool = False) -> int:
    return 2 * math.prod(shapes[0] if transposed else out) * math.prod(shapes[1][1:])


def _attention(shapes: list[tuple[int, ...]], out: tuple[int, ...]) -> int:
    query, key, value = shapes[:3]
    return 2 * math.prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


#: For each row that is counted: PyTorch's name of it, that of its way back, how often that costs as much, the formula.
_COUNTED: dict[str, tuple[str, str, float, Callable[..., int]]] = {
    "mm": ("mm", "mm", 1, _product), "bmm": ("bmm", "bmm", 1, _product), "addmm": ("addmm", "mm", 1, _product),
    "baddbmm": ("baddbmm", "bmm", 1, _product), "linear_2d": ("addmm", "mm", 1, _linear),
    "convolution": ("convolution", "convolution_backward", 1, _convolution),
    "flash_attention": (
        "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward", 2.5 / 3,
        _attention),
}  # fmt: skip


class FlopCounterMode:
    """A block in which floating point operations are counted, for each module and each operation.

    Source: https://docs.pytorch.org/docs/stable/utils.html
    """

    def __init__(
        self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: dict[Any, Any] | None = None
    ) -> None:
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.flop_registry = {**flop_registry, **(custom_mapping or {})}
        self.mod_tracker = ModuleTracker()
        self._rows: dict[int, str] = {}
        self._is_on = False

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        functions = list(table_functions())
        for name in _COUNTED:
            for function in (TABLE[name].caller, getattr(TABLE[name], "operate", None)):
                self._rows[id(function)] = name
        listening.start(self._heard, [function for function in functions if id(function) in self._rows])
        self._is_on = True
        return self

    def __exit__(self, *exception: object) -> None:
        self._is_on = False
        listening.stop(self._heard)
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))

    def _heard(self, function: Any, proceed: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = proceed(*args, **kwargs)
        ours = self._rows[id(function)]
        name, backward, share, formula = _COUNTED[ours]
        tensors = [value for value in args if isinstance(value, Tensor)]
        out = result[0] if isinstance(result, tuple) else result
        settings = {"transposed": True} if kwargs.get("transposed") else {}
        count = formula([tuple(tensor._array.shape) for tensor in tensors], tuple(out._array.shape), **settings)
        custom = self.flop_registry.get(getattr(aten, name, None))
        if custom is not None:
            count = custom(*(tuple(tensor._array.shape) for tensor in tensors), out_shape=tuple(out._array.shape))
        self._count(name, count, set(self.mod_tracker.parents))
        if out.requires_grad:
            if ours == "flash_attention":
                often = 3 * share
            else:
                factors = tensors[1:] if name in ("addmm", "baddbmm") else tensors[:2]
                often = sum(tensor.requires_grad for tensor in factors)
            modules = set(self.mod_tracker.parents)
            out.register_hook(lambda grad: self._count(backward, int(count * often), modules))
        return result

    def _count(self, name: str, count: int, modules: set[str]) -> None:
        if self._is_on and count:
            for module in modules:
                self.flop_counts[module][getattr(aten, name, name)] += count

    def get_total_flops(self) -> int:
        """The count of the whole block."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """For each module by its name, and "Global", the counts of its operations."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as a table: modules down to a depth, then their operations."""
        depth = self.depth if depth is None else depth
        total = max(self.get_total_flops(), 1)
        lines = [("Module", "FLOP", "% Total")]
        for name in sorted(self.flop_counts, key=lambda name: (name != "Global", name)):
            if name.count(".") + 1 > depth and name != "Global":
                continue
            counts = self.flop_counts[name]
            whole = sum(counts.values())
            indent = "" if name == "Global" else " " * (name.count(".") + 1)
            lines.append((indent + name, _short(whole), f"{100 * whole / total:.2f}%"))
            lines += [
                (f"{indent} - {op}", _short(count), f"{100 * count / total:.2f}%") for op, count in counts.items()
            ]
        widths = [max(len(line[column]) for line in lines) for column in range(3)]
        texts = [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in lines]
        return "\n".join([texts[0], "  ".join("-" * width for width in widths), *texts[1:]])


def _short(count: int) -> str:
    for power, unit in ((12, "T"), (9, "G"), (6, "M"), (3, "K")):
        if count >= 10**power:
            return f"{count / 10**power:.3f}{unit}"
    return str(count)


house(sys.modules[__name__])
