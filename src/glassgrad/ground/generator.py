"""The stream of random bits and its state: knows PyTorch's Mersenne twister and its saved form, no distributions."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

from glassgrad.ground import register
from glassgrad.ground.device import device as Device

DEFAULT_SEED = 67280421310721
STATE_SIZE = 5056
_WORDS = 624  # one block of the twister
_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),  # draws until the next block is made, plus one
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("key", "<u8", (_WORDS,)),
        ("normal_x", "<f8"),  # of an older form; always zero
        ("normal", "<f8"),
        ("normal_rho", "<f8"),  # likewise
        ("has_normal", "<i4"),
        ("gap", "V4"),
        ("float_normal", "<f4"),  # kept for whoever stored it; no distribution reads it
        ("has_float_normal", "u1"),
        ("tail", "V3"),
    ]
)
_INVALID = "Invalid mt19937 state"
_NO_OFFSET = "CPU Generator does not use offset"


#: Called before a state is read or set: by who has draws that are still to be made.
asked: list[Any] = []


class Twister:
    """NumPy's Mersenne twister."""

    __slots__ = ("_bits", "_draws", "_fill", "_origin", "_reseed")

    def __init__(self, seed: int) -> None:
        import numpy.random as random

        self._bits = random.MT19937(0)
        self._fill = random.Generator(self._bits).integers
        self._reseed = random.RandomState(self._bits).seed  # the seeding of 2002, which PyTorch uses too
        self.seed(seed & 0xFFFFFFFF)

    def seed(self, seed: int) -> None:
        """Start anew from a number of 32 bits."""
        self._reseed(seed)
        self._draws = 0  # how far it is from where: to read the state takes 50 microseconds
        self._origin: Any = None

    def random32(self, n: int) -> np.ndarray:
        """The next ``n`` outputs."""
        self._draws += n
        if n < 2048:  # below, the other way's fixed cost is the larger part
            return self._bits.random_raw(n).astype(np.uint32)
        return self._fill(0, 0x100000000, n, np.uint32)

    def random64(self, n: int) -> np.ndarray:
        """The next ``n`` pairs of outputs, the first of each pair being the high word."""
        self._draws += 2 * n
        if n >= 1024:
            return self._fill(0, 0xFFFFFFFFFFFFFFFF, n, np.uint64, True)
        words = self._bits.random_raw(2 * n)
        high = words[0::2] << _32
        high |= words[1::2]
        return high

    def state(self) -> tuple[np.ndarray, int]:
        """The block of words, and the place of the next of them."""
        words: Any = self._bits.state["state"]
        return words["key"], int(words["pos"])

    def set_state(self, key: np.ndarray, position: int) -> None:
        """Go on from a state."""
        self._bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": position}}
        self._draws, self._origin = 0, object()

    def mark(self) -> Any:
        """What is equal as long as nothing is drawn or set."""
        return self._draws, self._origin


class Generator:
    """A seedable source of random bits: the same seed gives the bits PyTorch's CPU generator gives.

    ``lock`` is held by whoever draws more than one thing that belongs together; ``next_normal`` is the second number of
    the last scalar normal pair, or None. Source: Matsumoto and Nishimura (1998), MT19937, through NumPy.
    """

    __slots__ = (
        "__weakref__", "_float_normal", "_seed", "_twister", "device", "lock", "next_normal", "words",
    )  # fmt: skip

    device: Device
    lock: Any
    next_normal: float | None
    words: Any  # the twister's state as an array that compiled kernels draw from; None while NumPy has it

    def __init__(self, device: Any = "cpu") -> None:
        requested = Device("cpu") if device is None else Device(device)
        if requested.type != "cpu":
            raise RuntimeError(_elsewhere(requested.type))
        self.device = Device("cpu")
        self.lock = threading.RLock()
        self.next_normal = None
        self._float_normal: tuple[float, int] = (0.0, 0)
        self._seed = DEFAULT_SEED
        self._twister: Any = None  # numpy.random is imported when the first number is wanted
        self.words = None

    # --- seeding ------------------------------------------------------------------------------------------------------

    def manual_seed(self, seed: int) -> Generator:
        """This generator, started anew from an integer in [-2**63, 2**64); negative ones count from 2**64 down."""
        self._restart(_checked(seed))
        return self

    def seed(self) -> int:
        """A fresh 64-bit seed from the operating system, which this generator now starts from."""
        seed = int.from_bytes(os.urandom(8), "little")
        self._restart(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed this generator was last started from."""
        return self._seed

    def _restart(self, seed: int) -> None:
        for ask in asked:
            ask()
        with self.lock:
            self._seed = seed
            self.next_normal = None
            self._float_normal = (0.0, 0)
            if self._twister is not None:
                self._twister.seed(seed & 0xFFFFFFFF)

    def twister(self) -> Any:
        """What makes the bits, at this generator's place in the stream: a `Twister`, or one of compiled kernels."""
        if self._twister is None:
            with self.lock:
                if self._twister is None:
                    self._twister = Twister(self._seed)
        return self._twister

    def move(self, kind: Any) -> None:
        """Let a twister of another kind go on from here; its ``words`` are then those that kernels draw from."""
        with self.lock:
            moved = kind(0)
            moved.set_state(*self.twister().state())
            self._twister, self.words = moved, moved.words

    # --- drawing ------------------------------------------------------------------------------------------------------

    def random32(self, n: int) -> np.ndarray:
        """The next ``n`` outputs of 32 bits, as a fresh uint32 array."""
        with self.lock:
            return (self._twister or self.twister()).random32(n)  # type: ignore[no-any-return]

    def random64(self, n: int) -> np.ndarray:
        """The next ``n`` pairs of outputs, the first of each pair being the high word, as a fresh uint64 array."""
        with self.lock:
            return (self._twister or self.twister()).random64(n)  # type: ignore[no-any-return]

    # --- state --------------------------------------------------------------------------------------------------------

    def mark(self) -> tuple[Any, ...]:
        """Where the stream is: equal marks, of one generator, mean that nothing was drawn or set between them."""
        with self.lock:
            return self._seed, self.next_normal, self._float_normal, self.twister().mark()

    def get_state_bytes(self) -> np.ndarray:
        """The state as the 5056 bytes PyTorch saves, a fresh uint8 array of any later use."""
        for ask in asked:
            ask()
        with self.lock:
            key, position = self.twister().state()
            record = np.zeros((), _STATE)
            record["seed"], record["seeded"], record["key"] = self._seed, 1, key
            record["left"] = _WORDS + 1 - position
            record["next"] = 0 if position == _WORDS and _untouched(key) else position
            if self.next_normal is not None:
                record["normal"], record["has_normal"] = self.next_normal, 1
            record["float_normal"], record["has_float_normal"] = self._float_normal
        return np.frombuffer(record.tobytes(), np.uint8).copy()

    def set_state_bytes(self, state: Any) -> None:
        """Continue from ``state``, 5056 bytes saved here or by PyTorch.

        TypeError unless it is a uint8 array, RuntimeError for another size or for bytes that are no such state. Here
        ``next`` and ``left``, which say the same, must agree; PyTorch does not look.
        """
        if not isinstance(state, np.ndarray):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
        if state.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if state.size != STATE_SIZE:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_SIZE} but found the input RNG state size to be "
                f"{state.size}"
            )
        for ask in asked:
            ask()
        record = np.frombuffer(state.tobytes(), _STATE)[0]
        left, position = int(record["left"]), int(record["next"])
        if record["seeded"] != 1 or not 0 < left <= _WORDS or position > _WORDS:
            raise RuntimeError(_INVALID)
        if left != 1 and position != _WORDS + 1 - left:
            raise RuntimeError(_INVALID)
        key = record["key"].astype(np.uint32)
        with self.lock:
            self.twister().set_state(key, _WORDS + 1 - left)
            self._seed = int(record["seed"])
            self.next_normal = float(record["normal"]) if record["has_normal"] else None
            self._float_normal = (float(record["float_normal"]), int(record["has_float_normal"]))

    def clone_state(self) -> Generator:
        """Another generator at this one's place in the stream; the two go on apart."""
        twin = type(self)(self.device)
        twin.set_state_bytes(self.get_state_bytes())
        return twin

    def get_offset(self) -> int:
        """Nothing: RuntimeError, as a CPU stream has no offset."""
        raise RuntimeError(_NO_OFFSET)

    def set_offset(self, offset: int) -> Generator:
        """Nothing: RuntimeError, as a CPU stream has no offset."""
        raise RuntimeError(_NO_OFFSET)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.device,), (self._seed, None, self.get_state_bytes())

    def __setstate__(self, saved: tuple[int, None, np.ndarray]) -> None:
        self.manual_seed(saved[0])
        self.set_state_bytes(np.asarray(saved[2]))  # a tensor in checkpoints

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"


register.hand_in(Generator, "get_state", "random.functions")  # this floor knows no tensors
register.hand_in(Generator, "set_state", "random.functions")

# --- the generator used where none is named ---------------------------------------------------------------------------

default_generator = Generator()


def manual_seed(seed: Any) -> Generator:
    """The default generator, started anew from ``int(seed)``."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """A fresh 64-bit seed from the operating system, which the default generator now starts from."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed the default generator was last started from."""
    return default_generator.initial_seed()


# --- how it is done ---------------------------------------------------------------------------------------------------

_32 = np.uint64(32)


def _checked(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
    seed = int(seed)
    if not -(2**63) <= seed < 2**64:
        raise ValueError("Overflow when unpacking long long")
    return seed % 2**64


def _untouched(key: np.ndarray) -> bool:
    """Whether ``key`` is what seeding made: no block was generated yet, which PyTorch records as place 0."""
    before = key[:-1]
    after = (before ^ (before >> np.uint32(30))) * np.uint32(1812433253) + np.arange(1, _WORDS, dtype=np.uint32)
    return bool(np.array_equal(key[1:], after))


def _elsewhere(kind: str) -> str:
    if kind == "meta":
        return "META device type not an accelerator."
    return f"Cannot get {kind.upper()} generator without ATen_{kind} library."
