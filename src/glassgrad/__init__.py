"""glassgrad: PyTorch's autograd system on NumPy, small, fast, and transparent.

The names are those of ``namespace.py``. The engine is imported here and now, but for a process that may do without it:
where PyTorch is there already, the command runs, or what the engine needs is missing, the explorer and the watch serve
PyTorch alone, and the engine is imported when a name or a module of it is first wanted.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

RELEASE = "0.1.0"
__version__ = RELEASE  # where `import torch` means this package, that makes it the PyTorch it behaves as

# NumPy tells of overflow and division by zero inside our kernels; PyTorch is silent about them.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"(glassgrad|torch)(\.|$)")

#: What needs no engine, for itself.
_BESIDE = {
    "cli", "environment", "explore", "ground", "ground.arrival", "ground.importing", "ground.names",
    "ground.output", "torch_alias",
    "watch", "why", "__main__",
}  # fmt: skip
#: Names of this namespace that need no engine, by their modules.
_PARTS_BESIDE = {
    "alias": "torch_alias", "make_dot": "explore.dot",
    "load_ipython_extension": "watch.hosts", "unload_ipython_extension": "watch.hosts",
}  # fmt: skip


class _EngineFirst:
    """Finds the engine's modules until the engine is there: it is imported whole before any of them."""

    def __init__(self) -> None:
        self.specs: dict[str, Any] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        own, _, part = name.partition(".")
        first = part.partition(".")[0]
        if own != __name__ or (part if first == "ground" else first) in _BESIDE:
            return None
        loader: Any = self
        return ModuleSpec(name, loader)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        _engine()
        module = import_module(spec.name)  # by now Python finds it, or has it
        self.specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.specs.pop(module.__name__)  # importlib has just overwritten it


_engine_first: Any = _EngineFirst()
sys.meta_path.insert(0, _engine_first)


def _engine() -> Any:
    """The module of the engine's names, which have been put here; ImportError where there can be no engine."""
    if _engine_first in sys.meta_path:
        if sys.version_info < (3, 11):  # noqa: UP036 - what is beside PyTorch is older too
            raise ImportError("glassgrad's engine needs Python 3.11; its explorer and watch serve PyTorch on this one")
        sys.meta_path.remove(_engine_first)
        try:
            return import_module(f"{__package__}.namespace")
        except BaseException:
            sys.meta_path.insert(0, _engine_first)
            raise
    return import_module(f"{__package__}.namespace")


def __getattr__(name: str) -> Any:
    if name == "explore":
        return import_module(f"{__package__}.explore")
    if name in _PARTS_BESIDE:
        return getattr(import_module(f"{__package__}.{_PARTS_BESIDE[name]}"), name)
    if name.startswith("__") and name not in ("__all__", "__future__", "__config__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    engine = _engine()
    return globals()[name] if name in globals() else engine.missing(name)


def __dir__() -> list[str]:
    return _engine().names()  # type: ignore[no-any-return]


def _may_do_without() -> bool:
    """Whether this process may do without the engine; any other has it at once.

    Imported later it could come at a moment when a forked child waits for the lock of that import for ever.
    """
    if "torch" in sys.modules or sys.version_info < (3, 11):
        return True
    if sys.argv and os.path.basename(sys.argv[0]).partition(".")[0] == __package__:
        return True
    try:
        return sys.orig_argv[1:3] == ["-m", __package__] or find_spec("ml_dtypes") is None
    except ImportError:
        return True


if not _may_do_without():
    _engine()
