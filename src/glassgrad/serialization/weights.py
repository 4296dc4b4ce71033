"""The unpickler for files that nobody vouches for: it reads plain data and tensors, and calls what is allowed.

It knows the opcodes that PyTorch's does, keeps its own stack, so that no nesting is too deep for it, and counts the
work that repetition can ask for (``options.py``): a file of a kilobyte cannot make it build gigabytes.
"""

from __future__ import annotations

import pickle
import struct
import sys
import warnings
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from types import BuiltinFunctionType, FunctionType
from typing import Any, NoReturn

from ..core import tensor as tensors
from ..core.tensor import Tensor
from ..families.storage.typed import tensortype
from ..ground.size import Size
from ..tensor.parameter import Parameter
from . import allowed, rebuild
from .options import CALL, ITEM, PICKLED, Budget, here

_MARK = object()
_MOST_KEY_PARTS = 1000  # a tuple of tuples of tuples ... used as a key is hashed part by part
_PRIME = sys.hash_info.modulus  # integers below it have hashes of their own
_EMPTY_SET = sys.getsizeof(set())
_FEW = 4096
_DAMAGE = (IndexError, KeyError, struct.error, UnicodeError, RecursionError)
_SHORT = "Ran out of input: the pickle ends in the middle"


def globals_in(content: bytes) -> set[str]:
    """The full names that a pickle mentions, without running it."""
    import pickletools

    names: set[str] = set()
    try:
        for opcode, argument, _ in pickletools.genops(content):
            if opcode.name == "GLOBAL":
                module, _, name = str(argument).partition(" ")
                names.add(".".join(_present_name(module, name)))
    except ValueError as error:
        raise UnpicklingError(f"the pickle is damaged ({error})") from error
    return names


def _present_name(module: str, name: str) -> tuple[str, str]:
    """What Python 3 calls a global of a pickle, which may have Python 2's names."""
    if (module, name) in NAME_MAPPING:
        return NAME_MAPPING[module, name]
    return IMPORT_MAPPING.get(module, module), name


class Unpickler:
    """Reads one pickle from a file; ``persistent_load`` must be set to what makes storages."""

    persistent_load: Callable[[Any], Any]

    def __init__(self, file: Any, *, encoding: str = "bytes") -> None:
        self.file, self.encoding = file, encoding
        self.budget: Budget = here.budget or Budget()
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.hashes: dict[int, tuple[Any, Counter[int]]] = {}

    def load(self) -> Any:
        """The object of the pickle; EOFError where it stops short, UnpicklingError where it is damaged or refused."""
        self.paid = self.file.tell()
        self.end = self.file.seek(0, 2)
        self.file.seek(self.paid)
        read, steps = self.file.read, _STEPS
        try:
            while True:
                opcode = read(1)
                if not opcode:
                    raise EOFError(_SHORT)
                if opcode == pickle.STOP:
                    return self._pop()
                step = steps.get(opcode)
                if step is None:
                    raise UnpicklingError(f"Unsupported operand {opcode[0]}")
                step(self)
        except UnpicklingError:
            raise
        except _DAMAGE as error:
            damage = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise UnpicklingError(f"the pickle is damaged ({damage})") from error

    # -- what can go wrong --------------------------------------------------------------------------------------------

    def _spend(self, amount: int) -> None:
        """Count the memory or work that an opcode asks for beyond its own length; what was read so far pays for it."""
        before, self.paid = self.paid, self.file.tell()
        self.budget.spend(amount - PICKLED * (self.paid - before))

    def _check_key(self, key: Any, target: Any) -> None:
        """Refuse a key whose hash would take forever, or more stack than there is, or that very many keys share."""
        kind = type(key)
        if kind is str or kind is int and -_PRIME < key < _PRIME or kind not in (int, complex, tuple, Size):
            return  # hashes that nobody can choose, or that few share
        waiting, parts = [key], 1
        while waiting and kind is not int and kind is not complex:
            for part in waiting.pop():
                parts += 1
                if parts > _MOST_KEY_PARTS:
                    raise UnpicklingError("the pickle uses a tuple of very many parts as a key")
                if type(part) in (tuple, Size):
                    waiting.append(part)
        try:
            value = hash(key)
        except TypeError:
            return  # said where it is used
        counts = self.hashes.setdefault(id(target), (target, Counter()))[1]  # kept, so that nothing else gets its id
        counts[value] += 1
        self._spend(ITEM + 8 * parts * counts[value])  # it is compared with all of them

    def _check_keys(self, items: Any, pairs: bool) -> None:
        """The same for what a set or a dictionary is to be made of."""
        for item in items:
            self._check_key(item[0] if pairs and isinstance(item, (list, tuple)) and len(item) == 2 else item, items)

    def _bytes(self, count: int) -> bytes:
        if count > _FEW and count > self.end - self.file.tell():  # a file makes room first and reads then
            raise EOFError(_SHORT)
        content: bytes = self.file.read(count)
        if len(content) != count:
            raise EOFError(_SHORT)
        return content

    def _number(self, form: str, count: int) -> Any:
        return struct.unpack(form, self._bytes(count))[0]

    def _line(self) -> str:
        line: bytes = self.file.readline()
        if not line.endswith(b"\n"):
            raise EOFError(_SHORT)
        return line[:-1].decode("utf-8")

    def _since_mark(self) -> list[Any]:
        for at in range(len(self.stack) - 1, -1, -1):
            if self.stack[at] is _MARK:
                items = self.stack[at + 1 :]
                del self.stack[at:]
                return items
        raise IndexError("no mark on the stack")

    def _pop(self) -> Any:
        value = self.stack.pop()
        if value is _MARK:
            raise IndexError("a mark where a value should be")
        return value

    # -- risky opcodes ------------------------------------------------------------------------------------------------

    def global_(self) -> None:
        """Push what a name stands for, if it is allowed."""
        module, name = self._line(), self._line()
        self.stack.append(allowed.find(*_present_name(module, name)))

    def reduce(self) -> None:
        """Call what is allowed to be called."""
        args, function = self._pop(), self._pop()
        if type(args) is not tuple:
            raise UnpicklingError(f"arguments must be a tuple, but got {type(args).__name__}")
        self.stack.append(self._call(function, args))

    def _call(self, function: Any, args: tuple[Any, ...]) -> Any:
        checked = _known_call(function)
        if checked is None:
            if not callable(function) or not _is_among(function, allowed.globals_by_user()):
                raise UnpicklingError(f"Trying to call reduce for unrecognized function {rebuild.shown(function)}")
            return function(*args)
        sizes = [
            len(part) * (4 if isinstance(part, (str, bytes)) else ITEM) for part in args if isinstance(part, _SIZED)
        ]
        self._spend(CALL + sum(sizes))
        if checked in _HASHING:
            for argument in args:
                if isinstance(argument, (list, tuple)):
                    self._check_keys(argument, pairs=checked is allowed._ordered)
        try:
            return checked(*args)
        except (TypeError, ValueError, OverflowError, NotImplementedError, AssertionError) as error:
            raise UnpicklingError(f"{getattr(function, '__name__', function)}: {error}") from error

    def newobj(self) -> None:
        """Make an instance of an allowed class."""
        args, cls = self._pop(), self._pop()
        if type(args) is not tuple:
            raise UnpicklingError(f"arguments must be a tuple, but got {type(args).__name__}")
        if _known_call(cls) is not None and isinstance(cls, type):
            self.stack.append(self._call(cls, args))
        elif isinstance(cls, type) and _is_among(cls, allowed.globals_by_user()):
            self.stack.append(cls.__new__(cls, *args))
        else:
            raise UnpicklingError(
                "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` but got "
                f"{rebuild.shown(cls)}"
            )

    def build(self) -> None:
        """Set the state of an instance of an allowed class."""
        state = self._pop()
        instance = self.stack[-1]
        if type(instance) in (Tensor, Parameter):
            self._build_tensor(instance, state)
        elif type(instance) is OrderedDict:
            if type(state) is not dict or any(type(name) is not str for name in state):
                raise UnpicklingError("the state of an OrderedDict must be a dictionary of attributes")
            self._spend(CALL + ITEM * len(state))
            instance.__dict__.update(state)
        elif _is_among(type(instance), allowed.globals_by_user()):
            if hasattr(instance, "__setstate__"):
                instance.__setstate__(state)
                return
            slots = None
            if isinstance(state, tuple) and len(state) == 2:
                state, slots = state
            if state:
                instance.__dict__.update(state)
            for name, value in (slots or {}).items():
                setattr(instance, name, value)
        else:
            raise UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{type(instance)}"
            )

    def _build_tensor(self, tensor: Any, state: Any) -> None:
        """The state of tensors and variables in files of long ago."""
        if type(state) is not tuple or len(state) not in (3, 4, 5):
            raise UnpicklingError("the state of a tensor must be a tuple of three to five parts")
        if len(state) == 4:
            storage, offset, sizes, strides = state
            placed = rebuild._rebuild_tensor(storage, offset, sizes, strides)
            tensor._array, tensor._counter = placed._array, placed._counter
            return
        if len(state) == 5:
            if not isinstance(state[0], Tensor):
                raise UnpicklingError("the state of a variable must begin with a tensor")
            tensor.data = state[0]
            state = (state[3], state[4], state[2])
        tensors.require_grad(tensor, state[0] is True)

    def persid(self) -> None:
        """Push a storage."""
        pid = self._pop()
        if type(pid) is not tuple and type(pid) is not int:
            raise UnpicklingError(f"persistent_load id must be tuple or int, but got {type(pid)}")
        if type(pid) is tuple and pid and (type(plain(pid[0])) is not str or plain(pid[0]) != "storage"):
            raise UnpicklingError(f"Only persistent_load of storage is allowed, but got {type(pid[0])}")
        self.stack.append(self.persistent_load(pid))

    # -- containers ---------------------------------------------------------------------------------------------------

    def append(self) -> None:
        """Add to a list."""
        item = self._pop()
        self._target(list, "append to lists").append(item)

    def appends(self) -> None:
        """Add several to a list."""
        items = self._since_mark()
        self._target(list, "extend lists").extend(items)

    def _target(self, kind: type, doing: str) -> Any:
        target = self.stack[-1]
        if type(target) is not kind:
            raise UnpicklingError(f"Can only {doing}, but got {type(target)}")
        return target

    def setitem(self) -> None:
        """Set one item of a dictionary."""
        value, key = self._pop(), self._pop()
        self._set("SETITEM", [key, value])

    def setitems(self) -> None:
        """Set several items of a dictionary."""
        self._set("SETITEMS", self._since_mark())

    def _set(self, opcode: str, items: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) not in (dict, OrderedDict, Counter):
            raise UnpicklingError(
                f"Can only {opcode} for dict, collections.OrderedDict, collections.Counter, but got {type(target)}"
            )
        if len(items) % 2:
            raise UnpicklingError("a key without a value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            self._check_key(key, target)
            try:
                target[key] = value
            except TypeError as error:
                raise UnpicklingError(str(error)) from error

    def empty_set(self) -> None:
        """A set, which is large for an opcode of one byte."""
        self._spend(_EMPTY_SET)
        self.stack.append(set())

    def tuple_(self) -> None:
        """A tuple of what came since the mark."""
        self.stack.append(tuple(self._since_mark()))

    def _tuple_of(self, count: int) -> None:
        items = [self._pop() for _ in range(count)]
        self.stack.append(tuple(items[::-1]))

    # -- the memo and plain values ------------------------------------------------------------------------------------

    def get(self, index: int) -> None:
        """Push what was remembered."""
        self.stack.append(self.memo[index])

    def put(self, index: int) -> None:
        """Remember the top of the stack."""
        if self.stack[-1] is _MARK:
            raise IndexError("a mark where a value should be")
        self.memo[index] = self.stack[-1]

    def text(self) -> None:
        """A string."""
        self.stack.append(str(self._bytes(self._number("<I", 4)), "utf-8", "surrogatepass"))

    def short_bytes(self) -> None:
        """A string of Python 2, decoded as the caller said."""
        text = self._bytes(self._bytes(1)[0])
        self.stack.append(text if self.encoding == "bytes" else text.decode(self.encoding, "strict"))

    def long(self) -> None:
        """An integer of up to 255 bytes."""
        self.stack.append(pickle.decode_long(self._bytes(self._bytes(1)[0])))

    def protocol(self) -> None:
        """The pickle's protocol, which should be 2."""
        version = self._bytes(1)[0]
        if version != 2:
            warnings.warn(
                f"Detected pickle protocol {version} in the checkpoint, which was not the default pickle protocol used "
                "by `torch.load` (2). The weights_only Unpickler might not support all instructions implemented by "
                "this protocol, please file an issue for adding support if you encounter this.",
                stacklevel=2,
            )


def plain(text: Any) -> Any:
    """A name that Python 2 may have saved as bytes, as a string."""
    return text.decode("ascii", "replace") if isinstance(text, bytes) else text


def _known_call(function: Any) -> Callable[..., Any] | None:
    """How something on PyTorch's list is called, by identity; None for whatever is not on it."""
    if isinstance(function, tensortype):
        return allowed._empty
    return allowed.CALLS.get(function) if isinstance(function, _CALLABLE) else None


def _is_among(thing: Any, known: dict[str, Any]) -> bool:
    return any(thing is other for other in known.values())


_CALLABLE = (type, FunctionType, BuiltinFunctionType)  # whose hash is their identity
_SIZED = (tuple, str, list, dict, set, bytes)
_HASHING = (allowed._set, allowed._ordered, allowed._counter)


def _push(make: Callable[[], Any]) -> Callable[[Unpickler], None]:
    return lambda self: self.stack.append(make())


_STEPS: dict[bytes, Callable[[Unpickler], None]] = {
    pickle.GLOBAL: Unpickler.global_,
    pickle.REDUCE: Unpickler.reduce,
    pickle.NEWOBJ: Unpickler.newobj,
    pickle.BUILD: Unpickler.build,
    pickle.BINPERSID: Unpickler.persid,
    pickle.APPEND: Unpickler.append,
    pickle.APPENDS: Unpickler.appends,
    pickle.SETITEM: Unpickler.setitem,
    pickle.SETITEMS: Unpickler.setitems,
    pickle.MARK: lambda self: self.stack.append(_MARK),
    pickle.TUPLE: Unpickler.tuple_,
    pickle.TUPLE1: lambda self: self._tuple_of(1),
    pickle.TUPLE2: lambda self: self._tuple_of(2),
    pickle.TUPLE3: lambda self: self._tuple_of(3),
    pickle.NONE: _push(lambda: None),
    pickle.NEWFALSE: _push(lambda: False),
    pickle.NEWTRUE: _push(lambda: True),
    pickle.EMPTY_TUPLE: _push(tuple),
    pickle.EMPTY_LIST: _push(list),
    pickle.EMPTY_DICT: _push(dict),
    pickle.EMPTY_SET: Unpickler.empty_set,
    pickle.BININT: lambda self: self.stack.append(self._number("<i", 4)),
    pickle.BININT1: lambda self: self.stack.append(self._bytes(1)[0]),
    pickle.BININT2: lambda self: self.stack.append(self._number("<H", 2)),
    pickle.BINFLOAT: lambda self: self.stack.append(self._number(">d", 8)),
    pickle.BINUNICODE: Unpickler.text,
    pickle.SHORT_BINSTRING: Unpickler.short_bytes,
    pickle.LONG1: Unpickler.long,
    pickle.BINGET: lambda self: self.get(self._bytes(1)[0]),
    pickle.LONG_BINGET: lambda self: self.get(self._number("<I", 4)),
    pickle.BINPUT: lambda self: self.put(self._bytes(1)[0]),
    pickle.LONG_BINPUT: lambda self: self.put(self._number("<I", 4)),
    pickle.PROTO: Unpickler.protocol,
}


def load(file: Any, *, encoding: str = "ASCII") -> Any:
    """The object of one pickle."""
    unpickler = Unpickler(file, encoding=encoding)

    def refuse(pid: Any) -> NoReturn:
        raise UnpicklingError("unsupported persistent id encountered")

    unpickler.persistent_load = refuse
    return unpickler.load()
