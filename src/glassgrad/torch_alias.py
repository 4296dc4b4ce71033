"""Roof: lets ``import torch`` mean glassgrad, for a process or a ``with`` block; knows the import system, no tensor."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .ground.names import OURS, is_internal, own_name

__all__ = ["alias", "install"]

THEIRS = "torch"
PICTURES = "torchviz"
FUNCTIONS = "functorch"  # a package that comes with PyTorch
SAFE = "safetensors.torch"  # a part of another package that is torch's

#: A folder with a package ``torch`` that installs the alias, and what is known of it as of an installed package.
STANDING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "standing")


@contextmanager
def alias() -> Iterator[ModuleType]:
    """A block in which ``import torch`` (and ``torch.nn``, ``torchviz`` ...) gives glassgrad's own modules.

    Modules and classes bear PyTorch's names in it. ``sys.modules``, the import system and all names are as before
    afterwards, also where the real torch was loaded already. The change is one of the process: all its threads see it.
    """
    if sys.modules.get(THEIRS) is sys.modules[OURS]:  # within another block
        yield sys.modules[OURS]
        return
    if isinstance(getattr(sys.modules.get(THEIRS), "Tensor", None), type):  # the real torch looks up modules of its own
        sys.modules[THEIRS].tensor(0.0)  # when it makes its first tensor: let it do so while they can be found
    sys.modules[OURS].Tensor  # the engine, whose own finders stand before these
    identity = importlib.import_module(f"{OURS}.identity").Identity()
    taken = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_theirs(name)}
    finder = _Finder(identity)
    sys.meta_path.insert(0, finder)
    sys.path.insert(1, STANDING)  # where importlib.metadata looks, and children that multiprocessing starts
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == OURS and isinstance(module, ModuleType):
            finder.explain(module)
            identity.present(module)
    package: Any = importlib.import_module(THEIRS)
    release, own_ops = package.__version__, package.ops
    package.ops = sys.modules[f"{THEIRS}.ops"] = importlib.import_module(f"{OURS}._ops").ops
    package.__version__ = importlib.import_module(f"{OURS}.torch_version").__version__  # scripts compare it
    package.torch = package  # PyTorch's package imports itself

    def put_back() -> None:
        package.__version__, package.ops = release, own_ops
        del package.torch
        sys.meta_path.remove(finder)
        if STANDING in sys.path:
            sys.path.remove(STANDING)
        finder.restore()
        identity.restore()
        for name in [name for name in sys.modules if _is_theirs(name)]:
            del sys.modules[name]
        sys.modules.update(taken)
        parent, _, last_name = SAFE.rpartition(".")
        if parent in sys.modules:  # which holds its part as an attribute too
            sys.modules[parent].__dict__.pop(last_name, None)
            if SAFE in taken:
                setattr(sys.modules[parent], last_name, taken[SAFE])

    try:
        yield package
    finally:
        if not sys.is_finalizing():  # at the end of Python nobody looks any more
            put_back()


_installed: list[Any] = []  # the open block of this process, kept alive to its end


def install() -> None:
    """The same for the rest of this process, and for every Python that it starts."""
    if _installed:
        return
    block = alias()
    block.__enter__()
    _installed.append(block)
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if STANDING not in folders:
        os.environ["PYTHONPATH"] = os.pathsep.join([STANDING, *filter(None, folders)])


def _is_theirs(name: str) -> bool:
    return name.partition(".")[0] in (THEIRS, PICTURES, FUNCTIONS) or name == SAFE


def _theirs(name: str) -> str:
    """torch's name of what glassgrad calls ``name``."""
    return THEIRS + name[len(OURS) :]


def _namespace(module: ModuleType) -> dict[str, Any]:
    """The namespace of a module as it is: to look at it would fill it."""
    return ModuleType.__dict__["__dict__"].__get__(module)  # type: ignore[index]


def _sentence(name: str) -> str:
    sentence = f"{name} is not in {OURS} {sys.modules[OURS].RELEASE}"
    return sentence + importlib.import_module(f"{OURS}.absent_names").hint(name)


def _is_question() -> bool:
    """Whether a finder is asked by ``importlib.util.find_spec``, which wants None for what is absent."""
    frame = sys._getframe(3)  # past this function, the finder and importlib's loop over finders
    return frame.f_code.co_name == "find_spec" and frame.f_globals.get("__name__") == "importlib.util"


def _is_from_package() -> bool:
    """Whether a finder is asked for a name that ``from package import name`` did not find, which may be no module's."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__") == "importlib._bootstrap":
        if frame.f_code.co_name == "_handle_fromlist":
            return True
        frame = frame.f_back
    return False


class _Existing:
    """Hands out a module that is loaded already, under a second name."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # importlib has just overwritten it with the second name's

    def get_code(self, name: str) -> Any:
        """The module's code, for who runs it as a program."""
        loader: Any = getattr(self.spec, "loader", None)
        return loader.get_code(self.spec.name) if self.spec and hasattr(loader, "get_code") else None


class _Finder:
    """Resolves torch's module names to glassgrad's modules."""

    def __init__(self, identity: Any) -> None:
        self.identity = identity
        self.explained: list[tuple[ModuleType, Any]] = []

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not _is_theirs(name):
            return self.find_own(name, path, target) if name.partition(".")[0] == OURS else None
        if name.partition(".")[0] == PICTURES and _is_the_programs():
            return None
        if name == SAFE:
            module: ModuleType | None = importlib.import_module(f"{OURS}.serialization.safetensors")
        elif name == FUNCTIONS:
            module = _functorch()
        else:
            module = _torchviz() if name in (PICTURES, f"{PICTURES}.dot") else self.find(name)
        if module is None:
            if _is_question():
                return None
            raise (ImportError if _is_from_package() else ModuleNotFoundError)(_sentence(name), name=name)
        self.explain(module)
        sys.modules.pop(name, None)  # presented meanwhile: found there, importlib would load it again by its own spec
        loader: Any = _Existing(module)
        return ModuleSpec(name, loader, is_package=hasattr(module, "__path__"))

    def find_own(self, name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        """What the other finders know of a module of glassgrad, which is to be presented once it is loaded."""
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                spec.loader = self.identity.presenting(spec.loader)
                return spec
        return None

    def find(self, name: str) -> ModuleType | None:
        """glassgrad's module for torch's module ``name``, or None."""
        if name == THEIRS:
            return importlib.import_module(OURS)
        ours = OURS + name[len(THEIRS) :]
        if name.partition(".")[0] != THEIRS or is_internal(ours):
            return None
        parent, _, last = ours.rpartition(".")
        module = sys.modules.get(ours) or getattr(sys.modules.get(parent), last, None)
        if isinstance(module, ModuleType):
            return module
        from importlib.util import find_spec  # not at the top: importing glassgrad should not pay for it

        return importlib.import_module(ours) if find_spec(ours) else None

    def explain(self, module: ModuleType) -> None:
        """Let a name that ``module`` lacks be reported under torch's name for it."""
        name, before = own_name(module), _namespace(module).get("__getattr__")
        if name.partition(".")[0] != OURS or is_internal(name):
            return
        if any(module is other for other, _ in self.explained):
            return

        def missing(attribute: str) -> Any:
            if before is not None:
                try:
                    return before(attribute)
                except AttributeError:
                    pass
            if attribute.startswith("__"):
                words = f"module {module.__name__!r} has no attribute {attribute!r}"
            else:
                words = _sentence(f"{_theirs(name)}.{attribute}")
            raise AttributeError(words, name=attribute, obj=module)

        self.explained.append((module, before))
        _namespace(module)["__getattr__"] = missing

    def restore(self) -> None:
        for module, before in self.explained:
            if before is None:
                _namespace(module).pop("__getattr__", None)
            else:
                _namespace(module)["__getattr__"] = before


def _is_the_programs() -> bool:
    """Whether ``torchviz`` is a module of the program's own, which lies before what is installed."""
    from importlib.machinery import PathFinder  # not at the top: importing glassgrad should not pay for it

    spec = PathFinder.find_spec(PICTURES, [folder for folder in sys.path if folder != STANDING])
    if spec is None or spec.loader is None or spec.origin is None:  # a plain folder hides no package, in Python neither
        return False
    return not any(f"{folder}-packages" in spec.origin for folder in ("site", "dist"))


def _torchviz() -> ModuleType:
    """The module ``torchviz``, with glassgrad's ``make_dot``."""
    module = ModuleType(PICTURES, "glassgrad's make_dot under the name it has in torchviz.")
    names = {"make_dot": importlib.import_module(f"{OURS}.explore.dot").make_dot}
    module.__dict__.update(names, make_dot_from_trace=make_dot_from_trace, __path__=[])
    return module


def _functorch() -> ModuleType:
    """The module ``functorch``, with the transforms of ``torch.func`` under the names that they had first."""
    module = ModuleType(FUNCTIONS, "The transforms of torch.func under the names that they had first.")
    for home in ("func", "_functorch.make_functional"):
        names = vars(importlib.import_module(f"{OURS}.{home}"))
        module.__dict__.update({name: names[name] for name in names["__all__"]}, __path__=[])
    return module


def make_dot_from_trace(trace: Any) -> Any:
    """What torchviz has of this: an error that names where it went."""
    raise NotImplementedError(
        "This function has been moved to pytorch core and can be found here: "
        "https://pytorch.org/docs/stable/tensorboard.html"
    )
