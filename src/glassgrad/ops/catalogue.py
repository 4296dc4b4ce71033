"""The catalogue: where every operation is declared; a family's file is imported when one of its names is first wanted.

``contents.py``, which is built, tells which names each file brings.  ``FUNCTIONS`` are the package's functions by name.
Tensor has a :class:`Later` in place of each method, which imports the file, puts the method itself in its place, and is
gone.  Layers are known by PyTorch's files: ``nn.modules.pooling`` shows what the family of that name has in its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from .. import families  # which switches the printed code on
from ..core import call
from ..core.row import TABLE
from ..core.tensor import Tensor
from ..ground import importing, listening
from ..ground import register as registers
from ..ground.register import Register
from .declare import COMPOSITES, spelled_by_composite, spelled_by_row


def _tables() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Rows, functions over rows and sparse methods, as ``contents.py`` has them, where it is built."""
    try:
        if "GLASSGRAD_BUILDING" not in os.environ:
            contents = import_module(f"{__package__}.contents")
            return contents.ROWS, contents.COMPOSED, contents.SPARSE
    except ModuleNotFoundError:
        pass
    from . import built

    return built.tables()


ROWS, COMPOSED, SPARSE = _tables()
FUNCTIONS: Register[Callable[..., Any]] = Register()
_METHODS: Register[Any] = Register()
_PROPERTIES: set[str] = set()
_ARITHMETIC = f"{families.__name__}.sparse.arithmetic"  # with which all comes that sparse tensors do
_HOME = families.__name__
_PACKAGE = _HOME.rpartition(".")[0]
import_module(f"{_PACKAGE}.tensor")  # the folder: imported later, it would take the place of the function of its name
_MODULES = f"{_PACKAGE}.nn.modules"  # PyTorch's folder of layers


def load(file: str) -> None:
    """Import a file of a family ("loss.rows")."""
    importing.load(f"{_HOME}.{file}")


_whole = False


def load_all() -> None:
    """Import every file that declares operations."""
    global _whole
    if _whole:
        return
    for file in (*ROWS, *COMPOSED):
        load(file)
    _whole = True


def _publish(run: importing.Run) -> None:
    """Let everybody see what a file declared, under all its names; done again where it was interrupted."""
    rows = [entry for register, _, entry in run.declared if register is TABLE]
    composites = [entry for register, _, entry in run.declared if register is COMPOSITES]
    for register, key, entry in run.declared:
        dict.__setitem__(register, key, entry)
    spelled = [(spelled_by_row(row), False) for row in rows]
    spelled += [(spelled_by_composite(composite), True) for composite in composites]
    for both, is_composite in spelled:
        for register, pairs in zip((FUNCTIONS, _METHODS), both, strict=True):
            for name, function in pairs:
                if is_composite or register.families.get(name) not in COMPOSED:
                    _name(register, name, function)
    run.declared = []
    family, _, file = (run.module.__name__ if run.module is not None else "").rpartition(".")
    files = getattr(sys.modules.get(family), "LAYERS", {}).get(file)
    if files:
        from ..ground import paths

        paths.house(run.module, f"{_MODULES}.{next(iter(files))}")


def _name(register: Register[Any], name: str, function: Any) -> None:
    if register is _METHODS:
        there = Tensor.__dict__.get(name)
        if there is None or type(there) is Later or there is dict.get(register, name):  # not what somebody put there
            setattr(Tensor, name, function)
    dict.__setitem__(register, name, function)


class Later:
    """Stands for a method of a class of tensors whose family nobody has imported yet."""

    __slots__ = ("owner", "name", "file")

    def __init__(self, owner: type, name: str, file: str) -> None:
        self.owner, self.name, self.file = owner, name, file

    @property
    def is_property(self) -> bool:
        """Whether a property will come in its place, not a function."""
        return self.name in _PROPERTIES

    def resolve(self) -> Any:
        """The method itself, which now is in this one's place."""
        module = importing.load(self.file)
        if self.owner.__dict__[self.name] is self:
            setattr(self.owner, self.name, getattr(module, "MEMBERS", _METHODS)[self.name])
        return self.owner.__dict__[self.name]

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        return self.resolve().__get__(tensor, owner)

    def __set__(self, tensor: Any, value: Any) -> None:
        self.resolve()
        object.__setattr__(tensor, self.name, value)

    def __delete__(self, tensor: Any) -> None:
        self.resolve()
        object.__delattr__(tensor, self.name)


def hand_in(holder: Any, name: str, family: str, home: str = _HOME) -> None:
    """Let a floor below call what a family, or a file of ``home``, hands to it: the first call imports that.

    A file that hands in nothing itself has it under the same name.
    """

    def first(*args: Any, **kwargs: Any) -> Any:
        module = importing.load(f"{home}.{family}")
        if hasattr(getattr(holder, name), "is_waiting"):
            setattr(holder, name, getattr(module, name))
        return getattr(holder, name)(*args, **kwargs)

    first.is_waiting = True  # type: ignore[attr-defined]  # a mark, as a function that knows itself is a circle
    setattr(holder, name, first)


class File:
    """Stands for a file of a floor above, whose functions the core asks for: imported when one is first wanted."""

    def __init__(self, file: str) -> None:
        self.file = file

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importing.load(f"{_PACKAGE}.{self.file}"), name)


def _open() -> None:
    """Note where every name is declared, and put a :class:`Later` in the place of each method."""
    for family, text in (*ROWS.items(), *COMPOSED.items()):
        both, functions, methods, properties, hidden = (names.split() for names in text.split("|"))
        FUNCTIONS.families.update(dict.fromkeys(both, family))
        FUNCTIONS.families.update(dict.fromkeys(functions, family))
        _METHODS.families.update(dict.fromkeys(both, family))
        _METHODS.families.update(dict.fromkeys(methods, family))
        _METHODS.families.update(dict.fromkeys(properties, family))
        _PROPERTIES.update(properties)
        register: Any = TABLE if family in ROWS else COMPOSITES
        register.families.update(dict.fromkeys((*both, *functions, *methods, *properties, *hidden), family))
    for name, family in _METHODS.families.items():
        setattr(Tensor, name, Later(Tensor, name, f"{_HOME}.{family}"))


def _complete(owner: type, name: str) -> None:
    """Put a :class:`Later` in the place of each method of a class of sparse tensors."""
    for method in SPARSE.get(name, "").split():
        setattr(owner, method, Later(owner, method, _ARITHMETIC))


def _prepare_subclass(cls: type, **more: Any) -> None:
    """What Tensor does with its subclasses, until there is one that is not of this package."""
    if cls.__module__.partition(".")[0] == _PACKAGE:
        super(Tensor, cls).__init_subclass__(**more)  # type: ignore[misc]
    else:
        importing.load(f"{_PACKAGE}.ops.torch_function").prepare(cls, **more)


def _answer_for_parameters(module: Any) -> None:
    """A Parameter has the answer to its ``__torch_function__`` itself, as PyTorch's has."""
    parameter = module.Parameter
    parameter.__torch_function__ = Later(parameter, "__torch_function__", f"{_PACKAGE}.ops.torch_function")


#: What files ask of files above them, or of such as few programs need: functions by name, and the file of each.
_DOORS: dict[str, dict[str, str | File]] = {
    "core.tensor": {
        "reread": "core.views", "construct": "families.storage.typed", "check_grad": "tensor.members",
        "node_of": "tensor.node",
    },
    "core.plan": {"gradients_of": "core.gradients"},
    "core.call": {
        "strangers": "ops.override", "shapes_only": "ops.override", "agree": "core.promotion", "into": "tensor.out",
        "refuse_gradients": "tensor.out", "heard": "tensor.heard", "refusals": File("tensor.refusals"),
        "views": File("core.views"),
    },
    "core.leaf": {"copied": "autograd.api", "check_sum": "tensor.writable"},
    "core.saved": {"stale": "tensor.overwritten", "written": "core.views"},
    "core.write": {"strangers": "ops.override", "refusals": File("tensor.writable")},
    "ground.listening": {
        "is_answered": "ops.torch_function", "overridden": "ops.torch_function", "ask_first": "ops.torch_function",
        "with_numbers": "ops.torch_function", "refuse_sooner": "ops.arguments",
    },
    "ops.declare": {"in_place": "core.write"},
    "families.create.construct": {"require": "ground.device", "blank": "ground.meta", "need_item": "ground.meta"},
}  # fmt: skip


def _give_doors(file: str, module: Any) -> None:
    """Put its doors into a file of a floor below, when it has run."""
    for door, behind in _DOORS[file].items():
        if isinstance(behind, File):
            setattr(module, door, behind)
        else:
            hand_in(module, door, behind, _PACKAGE)


for _file in _DOORS:
    importing.when_run(f"{_PACKAGE}.{_file}", partial(_give_doors, _file))
listening.silent = call.ORDINARY
listening.between.add(__name__)
_MEMBER_PROPERTIES = (
    "device", "itemsize", "nbytes", "layout", "output_nr", "retains_grad", "data", "_version", "_base", "_grad_fn",
    "_backward_hooks",
)  # fmt: skip
_PROPERTIES.update(_MEMBER_PROPERTIES)
_MEMBERS = (
    *_MEMBER_PROPERTIES, "retain_grad", "register_hook", "register_post_accumulate_grad_hook", "requires_grad_",
    "_is_view", "__repr__", "__setstate__",
)  # fmt: skip
for _owner, _method, _file in (
    *((Tensor, _name_there, "tensor.members") for _name_there in _MEMBERS),
    (Tensor, "__torch_function__", "ops.torch_function"),
    (Tensor, "_make_subclass", "ops.torch_function"),
    (Tensor, "_make_wrapper_subclass", "ops.torch_function"), (Tensor, "backward", "autograd.api"),
):  # fmt: skip
    setattr(_owner, _method, Later(_owner, _method, f"{_PACKAGE}.{_file}"))
Tensor.__init_subclass__ = classmethod(_prepare_subclass)  # type: ignore[assignment]
importing.when_run(f"{_PACKAGE}.tensor.parameter", _answer_for_parameters)
registers.load, registers.load_all, importing.publish = load, load_all, _publish
registers.hand_in, registers.complete = hand_in, _complete
_FLOORS = ("ground", "core", "kernels", "tensor", "fast", "ops", "autograd")
importing.keep_whole(_HOME, *(f"{_PACKAGE}.{floor}" for floor in _FLOORS))
_open()
