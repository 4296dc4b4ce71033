"""Nested states described in plain data, so that the same one can be built with torch and with glassgrad."""

import math
from collections import OrderedDict

import numpy as np
from hypothesis import strategies as st

DTYPES = [
    "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32",
    "uint64", "bool", "complex64", "complex128",
]  # fmt: skip
LEGACY = [name for name in DTYPES if name not in ("uint16", "uint32", "uint64")]  # torch cannot read its own


@st.composite
def tensors(draw, bases, dtypes):
    """A tensor: (number of its base, sizes, strides, offset, requires_grad), inside its base."""
    which = draw(st.integers(0, len(bases) - 1))
    dtype, count = bases[which]
    sizes = draw(st.lists(st.integers(0, 3), max_size=3))
    strides = draw(st.lists(st.integers(0, 4), min_size=len(sizes), max_size=len(sizes)))
    span = 0 if 0 in sizes else 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    if span > count:
        strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
        span = math.prod(sizes)
    if span > count:
        sizes, strides, span = [count], [1], count
    offset = draw(st.integers(0, count - span)) if span else 0
    grad = draw(st.booleans()) and dtype.startswith(("float", "bfloat", "complex"))
    return ("tensor", which, tuple(sizes), tuple(strides), offset, grad)


@st.composite
def recipes(draw, dtypes=DTYPES):
    """A state: the bases that its tensors look at, and a nest of containers."""
    bases = draw(st.lists(st.tuples(st.sampled_from(dtypes), st.integers(1, 40)), min_size=1, max_size=4))
    leaf = st.one_of(
        tensors(bases, dtypes),
        st.tuples(st.just("parameter"), st.integers(1, 3)),
        st.tuples(st.just("dtype"), st.sampled_from(dtypes)),
        st.tuples(st.just("size"), st.lists(st.integers(0, 5), max_size=3).map(tuple)),
        st.tuples(st.just("device"), st.sampled_from(["cpu", "cuda:1", "meta"])),
        st.tuples(
            st.just("value"),
            st.one_of(
                st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False), st.text(max_size=5),
                st.binary(min_size=1, max_size=5), st.complex_numbers(allow_nan=False, max_magnitude=100),
                st.sets(st.integers(), max_size=3),
            ),
        ),
    )  # fmt: skip
    keys = st.one_of(st.text(max_size=4), st.integers(-9, 9), st.tuples(st.integers(0, 3), st.text(max_size=2)))
    nest = st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.tuples(st.just("list"), st.lists(inner, max_size=3)),
            st.tuples(st.just("tuple"), st.lists(inner, max_size=3)),
            st.tuples(st.just("dict"), st.lists(st.tuples(keys, inner), max_size=3, unique_by=lambda pair: pair[0])),
            st.tuples(st.just("ordered"), st.lists(st.tuples(keys, inner), max_size=3, unique_by=lambda pair: pair[0])),
        ),
        max_leaves=8,
    )
    return bases, draw(nest)


def build(engine, recipe):
    """The state of a recipe, of tensors of ``engine``."""
    bases, nest = recipe
    return _build(engine, [_base(engine, *base) for base in bases], nest)


def _base(engine, dtype, count):
    if dtype == "bfloat16":
        return engine.arange(count).to(engine.bfloat16)
    numbers = np.arange(count) - (0 if dtype.startswith("u") else 3)
    array = numbers.astype(dtype)
    return engine.from_numpy(array + 1j * array if dtype.startswith("complex") else array)


def _build(engine, bases, nest):
    kind, *rest = nest
    if kind == "tensor":
        which, sizes, strides, offset, grad = rest
        return bases[which].as_strided(sizes, strides, offset).detach().requires_grad_(grad)
    if kind == "parameter":
        return engine.nn.Parameter(engine.full((rest[0],), 2.5))
    if kind == "dtype":
        return getattr(engine, rest[0])
    if kind == "size":
        return engine.Size(rest[0])
    if kind == "device":
        return engine.device(rest[0])
    if kind == "value":
        return rest[0]
    if kind in ("list", "tuple"):
        return {"list": list, "tuple": tuple}[kind](_build(engine, bases, inner) for inner in rest[0])
    return {"dict": dict, "ordered": OrderedDict}[kind]((key, _build(engine, bases, inner)) for key, inner in rest[0])


def told(engine, thing, seen=None):
    """What a state is, in plain data: values, dtypes, places in memory, and which tensors share it."""
    seen = {} if seen is None else seen
    if isinstance(thing, engine.Tensor):
        storage = thing.untyped_storage().data_ptr()
        shared = seen.setdefault(storage, len(seen)) if storage and thing.numel() else None
        plain = thing.detach()
        plain = plain.float() if plain.dtype == engine.bfloat16 else plain
        kind = "parameter" if isinstance(thing, engine.nn.Parameter) else "tensor"
        place = (thing.stride(), thing.storage_offset()) if thing.numel() else None
        return kind, str(thing.dtype), tuple(thing.shape), place, thing.requires_grad, shared, repr(plain.tolist())
    if isinstance(thing, engine.Size):
        return "size", tuple(thing)
    if isinstance(thing, (engine.dtype, engine.device)):
        return str(thing)
    if isinstance(thing, (list, tuple)):
        return type(thing).__name__, [told(engine, item, seen) for item in thing]
    if isinstance(thing, dict):
        return type(thing).__name__, [(repr(key), told(engine, item, seen)) for key, item in thing.items()]
    return type(thing).__name__, sorted(thing) if isinstance(thing, set) else repr(thing)
