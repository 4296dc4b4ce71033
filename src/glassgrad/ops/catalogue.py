"""The catalogue: where every operation is declared; a family is imported when one of its names is first wanted.

``contents.py`` tells which names each family brings.  ``FUNCTIONS`` are the package's functions by name.  Tensor has a
:class:`Later` in place of each method, which imports the family, puts the method itself in its place, and is gone.
"""

from __future__ import annotations

import pkgutil
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from ..core import tensor
from ..core.row import TABLE, Row
from ..core.tensor import Tensor
from ..ground import importing
from ..ground import register as registers
from ..ground.generator import Generator
from ..ground.register import Register
from ..tensor import sparse
from . import bind, composite, override, primitive  # noqa: F401  override hands in who else has a say in a call
from .contents import CONTENTS, SPARSE
from .declare import COMPOSITES

FUNCTIONS: Register[Callable[..., Any]] = Register()
_METHODS: Register[Any] = Register()
_PROPERTIES: set[str] = set()
_ARITHMETIC = "composite.sparse_arithmetic"  # with which all comes that sparse tensors do


def load(family: str) -> None:
    """Import a family ("primitive.loss")."""
    importing.load(f"{__package__}.{family}")


_whole = False


def load_all() -> None:
    """Import every family."""
    global _whole
    if _whole:
        return
    for family in families():
        load(family)
    _whole = True


def families() -> Iterator[str]:
    """The names of all families: primitive ones, then composite ones."""
    for package in (primitive, composite):
        for module in pkgutil.iter_modules(package.__path__):
            yield f"{package.__name__.rpartition('.')[2]}.{module.name}"


def _publish(run: importing.Run) -> None:
    """Let everybody see what a file declared, under all its names; done again where it was interrupted."""
    rows = [entry for register, _, entry in run.declared if register is TABLE]
    composites = [entry for register, _, entry in run.declared if register is COMPOSITES]
    for register, key, entry in run.declared:
        dict.__setitem__(register, key, entry)
    spelled = [(bind.spelled_by_row(row), False) for row in rows]
    spelled += [(bind.spelled_by_composite(composite), True) for composite in composites]
    for both, is_composite in spelled:
        for register, pairs in zip((FUNCTIONS, _METHODS), both, strict=True):
            for name, function in pairs:
                if is_composite or not register.families.get(name, "").startswith("composite"):
                    _name(register, name, function)
    run.declared = []


def _name(register: Register[Any], name: str, function: Any) -> None:
    if register is _METHODS:
        there = Tensor.__dict__.get(name)
        if there is None or type(there) is Later or there is dict.get(register, name):  # not what somebody put there
            setattr(Tensor, name, function)
    dict.__setitem__(register, name, function)


class Later:
    """Stands for a method of a class of tensors whose family nobody has imported yet."""

    __slots__ = ("owner", "name", "family")

    def __init__(self, owner: type, name: str, family: str) -> None:
        self.owner, self.name, self.family = owner, name, family

    @property
    def is_property(self) -> bool:
        """Whether a property will come in its place, not a function."""
        return self.name in _PROPERTIES

    def made(self) -> Any:
        """The method itself, which now is in this one's place."""
        load(self.family)
        if self.owner.__dict__[self.name] is self:
            setattr(self.owner, self.name, _METHODS[self.name])
        return self.owner.__dict__[self.name]

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        return self.made().__get__(tensor, owner)

    def __set__(self, tensor: Any, value: Any) -> None:
        self.made()
        object.__setattr__(tensor, self.name, value)

    def __delete__(self, tensor: Any) -> None:
        self.made()
        object.__delattr__(tensor, self.name)


def _hand_in(holder: Any, name: str, family: str) -> None:
    """Let a floor below call what a family hands to it: the first call imports the family."""

    def first(*args: Any, **kwargs: Any) -> Any:
        load(family)
        return getattr(holder, name)(*args, **kwargs)

    setattr(holder, name, first)


def _open() -> None:
    """Note where every name is declared, and put a :class:`Later` in the place of each method."""
    for family, text in CONTENTS.items():
        both, functions, methods, properties, hidden = (names.split() for names in text.split("|"))
        FUNCTIONS.families.update(dict.fromkeys(both, family))
        FUNCTIONS.families.update(dict.fromkeys(functions, family))
        _METHODS.families.update(dict.fromkeys(both, family))
        _METHODS.families.update(dict.fromkeys(methods, family))
        _METHODS.families.update(dict.fromkeys(properties, family))
        _PROPERTIES.update(properties)
        register: Any = TABLE if family.startswith("primitive") else COMPOSITES
        register.families.update(dict.fromkeys((*both, *functions, *methods, *properties, *hidden), family))
    for name, family in _METHODS.families.items():
        setattr(Tensor, name, Later(Tensor, name, family))
    for class_name, text in SPARSE.items():
        owner = getattr(sparse, class_name)
        for name in text.split():
            setattr(owner, name, Later(owner, name, _ARITHMETIC))


def contents() -> dict[str, list[list[str]]]:
    """For each family the names of its functions and methods: both, functions only, methods, properties, hidden."""
    load_all()
    by_family: dict[str, list[list[str]]] = {family: [[], [], [], [], []] for family in families()}
    owners: list[dict[str, tuple[str, Any]]] = [{}, {}]
    keys: dict[str, list[str]] = {family: [] for family in by_family}
    both: tuple[Any, Any] = TABLE, COMPOSITES
    for register in both:
        for key, entry in sorted(dict.items(register), key=lambda pair: _home(pair[1])):
            keys[_home(entry)].append(key)
            spelled = bind.spelled_by_row(entry) if register is TABLE else bind.spelled_by_composite(entry)
            for owner, pairs in zip(owners, spelled, strict=True):
                for name, function in pairs:
                    owner[name] = _home(entry), function
    functions, methods = owners
    for name in sorted({*functions, *methods}):
        function, method = functions.get(name, ("", None)), methods.get(name, ("", None))
        is_property = isinstance(method[1], property)
        if function[0] == method[0] and not is_property:
            by_family[function[0]][0].append(name)
            continue
        if function[0]:
            by_family[function[0]][1].append(name)
        if method[0]:
            by_family[method[0]][3 if is_property else 2].append(name)
    for family, lists in by_family.items():
        known = {name for names in lists for name in names}
        lists[4] = sorted(key for key in keys[family] if key not in known and " " not in key)
    return {family: lists for family, lists in by_family.items() if any(lists)}


def _home(entry: Any) -> str:
    module = entry.kernel.__module__ if isinstance(entry, Row) else entry.home
    return module.removeprefix(f"{__package__}.")  # type: ignore[no-any-return]


def contents_text() -> str:
    """The text of ``contents.py``."""
    lines = [
        '"""Where the catalogue declares what: written by ``python -m glassgrad.ops.stub``, read by ``catalogue.py``.',
        "",
        "For each family its names: function and method | function only | method only | property | neither.",
        '"""',
        "",
        "CONTENTS = {",
    ]
    for family, lists in contents().items():
        lines += _entry(family, " | ".join(" ".join(names) for names in lists))
    lines += ["}  # fmt: skip", "", "#: The methods of sparse tensors, by class.", "SPARSE = {"]
    for owner in (sparse.SparseTensor, sparse.CooTensor, sparse.CsrTensor):
        homes = {name: getattr(value, "__module__", None) or "" for name, value in vars(owner).items()}
        names = sorted(name for name, home in homes.items() if home.startswith(f"{__package__}.composite"))
        key = next(name for name, value in vars(sparse).items() if value is owner)
        lines += _entry(key, " ".join(names))
    return "\n".join([*lines, "}  # fmt: skip"]) + "\n"


def _entry(key: str, text: str) -> list[str]:
    wrapped = textwrap.wrap(text, 108, break_long_words=False, break_on_hyphens=False)
    return [f'    "{key}":', *(f'        "{line} "' for line in wrapped[:-1]), f'        "{wrapped[-1]}",']


_hand_in(tensor, "construct", "composite.typed_tensors")
_hand_in(sparse, "dispatch", _ARITHMETIC)
_hand_in(Generator, "get_state", "composite.random")
_hand_in(Generator, "set_state", "composite.random")
registers.load, registers.load_all, importing.publish = load, load_all, _publish
importing.keep_whole(__package__, *(f"{__package__.rpartition('.')[0]}.{floor}" for floor in ("kernels", "ground")))
_open()
