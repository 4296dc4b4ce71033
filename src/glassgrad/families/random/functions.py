"""Random tensors as users ask for them: new ones, ``*_like`` another, and in place; draws nothing itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import write
from ...core.tensor import Tensor, share, wrap
from ...ground import dtypes, modes
from ...ground.generator import Generator, default_generator
from ...ground.layout import dense_like
from ...ground.listening import asking
from ...ops.declare import composite
from ...tensor import lifted
from ...tensor.out import Composed, check_gradients, into, resize
from ..arithmetic.functions import need_tensor, no_match
from ..create.construct import numpy_of
from ..create.functions import check_options, checked_sizes, create, like, quick, read_size
from ..shape.rows import expand
from . import kernels as draws
from . import rows
from .rows import source

_FACTORY = (
    "Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool "
    "pin_memory = False, bool requires_grad = False"
)
_BY_SIZE = (f"tuple of ints size, *, torch.Generator generator, {_FACTORY}", f"tuple of ints size, *, {_FACTORY}")


def check_generator(function: str, generator: Any) -> None:
    """Raise PyTorch's error unless ``generator`` is one, or None."""
    if generator is not None and not isinstance(generator, Generator):
        raise TypeError(f"{function}(): argument 'generator' must be torch.Generator, not {dtypes.called(generator)}")


def _created(function: str, make: Callable[..., Any], sizes: tuple[int, ...], *wishes: Any) -> Tensor:
    """A new tensor of ``make(sizes, kind)``; of the draws for all examples, where ``vmap`` wants one for each."""
    if modes.transforming:
        return lifted.drawn(lambda sizes: create(function, make, sizes, *wishes), sizes)
    return create(function, make, sizes, *wishes)


def _like_another(function: str, input: Any, make: Callable[..., Any], *wishes: Any) -> Tensor:
    """The same in the size, dtype and layout of ``input``."""
    if modes.transforming and isinstance(input, Tensor):
        return lifted.drawn_like(lambda array: like(function, wrap(array), make, *wishes), input)
    return like(function, input, make, *wishes)


# -- new tensors ------------------------------------------------------------------------------------------------------


def _factory(function: str, draw: Callable[..., Any], doc: str) -> Any:
    def make_new(
        *size: Any, generator: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
        pin_memory: bool = False, requires_grad: bool = False, **rest: Any,
    ) -> Tensor:  # fmt: skip
        if (
            device is None and out is None and not rest and not requires_grad and layout is None and generator is None
            and not modes.transforming
        ):  # fmt: skip
            drawn = quick(lambda sizes, kind: draw(default_generator, sizes, kind), size, dtype)
            if drawn is not None:
                return drawn
        if not size and "size" not in rest or rest.keys() - {"size"}:
            raise no_match(function, size, *_BY_SIZE)
        sizes = read_size(function, size, rest)
        check_options(function, layout)
        check_generator(function, generator)
        kind = numpy_of(dtype, function) or dtypes.get_default_dtype().numpy

        def make(sizes: Any, kind: Any) -> Any:
            return draw(source(generator), sizes, kind)

        return _created(function, make, sizes, kind, device, requires_grad, out, dtype)

    make_new.__name__ = make_new.__qualname__ = function
    make_new.__doc__ = doc
    return composite(method=False)(make_new)


rand = _factory("rand", draws.uniform, "Numbers spread evenly over [0, 1).")
randn = _factory("randn", draws.normal, "Normal numbers of mean 0 and deviation 1.")


def _everyday_whole(args: tuple[Any, ...], dtype: Any) -> Tensor | None:
    """``randint`` of plain integers and a tuple; None where it is not that."""
    if not 2 <= len(args) <= 3 or not all([type(bound) is int for bound in args[:-1]]) or type(args[-1]) is not tuple:
        return None
    low = args[0] if len(args) == 3 else 0
    return quick(lambda sizes, kind: draws.randint(default_generator, sizes, kind, low, args[-2]), args[-1:], dtype)


@composite(method=False, page="torch")
def randint(
    *args: Any, low: Any = None, high: Any = None, size: Any = None, generator: Any = None, out: Any = None,
    dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Whole numbers from ``low`` (0 unless told) to ``high - 1``, of a size; int64 unless told."""
    plain = low is high is size is generator is out is layout is device is None and not requires_grad
    if plain and not modes.transforming:
        drawn = _everyday_whole(args, dtypes.int64 if dtype is None else dtype)
        if drawn is not None:
            return drawn
    arguments = list(args)
    if size is not None:
        arguments.append(size)
    if low is not None:
        arguments.insert(0, low)
    if high is not None:
        arguments.insert(1 if len(arguments) == 2 else 0, high)
    if len(arguments) == 2:
        arguments.insert(0, 0)
    if len(arguments) != 3:
        raise no_match(
            "randint", args, *(f"int {bounds}, {rest}" for bounds in ("high", "low, int high") for rest in _BY_SIZE)
        )
    first = dtypes.need_int("randint", "low", 1, arguments[0])
    last = dtypes.need_int("randint", "high", len(arguments) - 1 if len(args) > 2 else 1, arguments[1])
    sizes = checked_sizes("randint", arguments[2], f" (position {3 if len(args) == 3 else 2})")
    check_options("randint", layout)
    check_generator("randint", generator)
    kind = numpy_of(dtype, "randint") or np.dtype(np.int64)

    def make(sizes: Any, kind: Any) -> Any:
        return draws.randint(source(generator), sizes, kind, first, last)

    return _created("randint", make, sizes, kind, device, requires_grad, out, dtype)


@composite(method=False)
def randperm(
    n: Any, *, generator: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The numbers 0 to ``n - 1`` in random order; int64 unless told."""
    count = dtypes.need_int("randperm", "n", 1, n)
    check_options("randperm", layout)
    check_generator("randperm", generator)
    kind = numpy_of(dtype, "randperm") or np.dtype(np.int64)

    def make(sizes: Any, kind: Any) -> Any:
        one = [draws.randperm(source(generator), count, kind) for _ in range(math.prod(sizes[:-1]))]
        return np.reshape(one, sizes)

    return _created("randperm", make, (count,), kind, device, requires_grad, out, dtype)


@composite(method=False, page="torch")
@asking
def normal(
    mean: Tensor | float = 0.0, std: Tensor | float = 1.0, size: Any = None, *, generator: Any = None,
    out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Normal numbers of a mean and a deviation: numbers with a ``size``, or tensors of them."""
    check_generator("normal", generator)
    if size is None and (isinstance(mean, Tensor) or isinstance(std, Tensor)):
        if modes.transforming:
            mean, std = (lifted.chances(part) if isinstance(part, Tensor) else part for part in (mean, std))
        return _normal_of(mean, std, generator) if out is None else _normal_into(out, mean, std, generator)
    several = any(isinstance(part, Tensor) and part._array.ndim for part in (mean, std))
    if size is None or several:
        given = (mean, std) if size is None else (mean, std, size)
        raise no_match(
            "normal", given, "Tensor mean, Tensor std, *, torch.Generator generator = None, Tensor out = None",
            "Tensor mean, float std = 1, *, torch.Generator generator = None, Tensor out = None",
            "float mean, Tensor std, *, torch.Generator generator = None, Tensor out = None",
            f"float mean, float std, tuple of ints size, *, torch.Generator generator = None, {_FACTORY}",
        )  # fmt: skip
    sizes = checked_sizes("normal", size, " (position 3)")
    check_options("normal", layout)
    kind = numpy_of(dtype, "normal") or dtypes.get_default_dtype().numpy

    def make(sizes: Any, kind: Any) -> Any:
        return draws.normal(source(generator), sizes, kind, float(mean), float(std))

    where = "cpu" if device is None else device  # whatever the default is, as in PyTorch
    return _created("normal", make, sizes, kind, where, requires_grad, out, dtype)


def _normal_of(mean: Any, std: Any, generator: Any) -> Any:
    if not isinstance(std, Tensor):
        return rows.normal_by_mean(mean, float(std), generator)
    if not isinstance(mean, Tensor):
        return rows.normal_by_std(std, float(mean), generator)
    rows.check_together(mean._array.shape, std._array.shape)
    return rows.normal_by_both(mean, std, generator)


def _normal_into(out: Any, mean: Any, std: Any, generator: Any) -> Any:
    """Draw into ``out``, in its dtype and in the order of its memory; then stretch and shift what was drawn."""
    need_tensor("normal", "out", 3, out)
    check_gradients(Composed("normal"), (mean, std), out)
    if isinstance(std, Tensor):
        draws.check_deviations(np.asarray(std._array))
    means, sizes = (value._array.shape if isinstance(value, Tensor) else () for value in (mean, std))
    sizes = sizes if isinstance(std, Tensor) else out._array.shape
    rows.check_together(means, sizes)
    sizes = np.broadcast_shapes(means, sizes)
    if out._array.shape != sizes:
        resize(out, sizes)
    before = share(out).version
    if isinstance(std, Tensor):
        normal_(out, generator=generator).mul_(std)  # type: ignore[attr-defined]
    else:
        normal_(out, 0.0, std, generator=generator)
    out.add_(mean)  # type: ignore[attr-defined]
    share(out).version = before + 1
    return out


# -- like another -----------------------------------------------------------------------------------------------------


def _like(function: str, row: Any, settings: tuple[Any, ...], doc: str) -> Any:
    @asking
    def make_like(
        input: Tensor, *, generator: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
        pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None,
    ) -> Tensor:  # fmt: skip
        check_generator(function, generator)
        make = _drawn_over(row.row.kernel, *settings, generator)
        return _like_another(function, input, make, dtype, layout, device, requires_grad, memory_format)

    make_like.__name__ = make_like.__qualname__ = function
    make_like.__doc__ = doc
    return composite(method=False)(make_like)


def _drawn_over(kernel: Callable[..., Any], *settings: Any) -> Callable[..., Any]:
    """A maker of arrays laid out as another one and filled by a kernel that draws."""

    def make(array: Any, kind: Any) -> Any:
        out = dense_like(array, kind)
        out[...] = kernel(out, *settings)
        return out

    return make


rand_like = _like("rand_like", rows.uniform_over, (0.0, 1.0), "Numbers over [0, 1) in the size of another tensor.")
randn_like = _like("randn_like", rows.normal_over, (0.0, 1.0), "Normal numbers in the size of another tensor.")


@composite(method=False)
@asking
def randint_like(
    input: Tensor, *args: Any, low: Any = None, high: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None,
    generator: Any = None,
) -> Tensor:  # fmt: skip
    """Whole numbers from ``low`` (0 unless told) to ``high - 1`` in the size of another tensor."""
    bounds = list(args)
    if low is not None:
        bounds.insert(0, low)
    if high is not None:
        bounds.append(high)
    if len(bounds) == 1:
        if isinstance(bounds[0], Tensor) and bounds[0]._array.ndim:
            raise RuntimeError("high must be a scalar tensor and on CPU")
        bounds.insert(0, 0)
    if len(bounds) != 2:
        raise TypeError(f"randint_like() takes 2 to 3 positional arguments but {len(bounds) + 1} were given")
    first, last = (dtypes.need_int("randint_like", *each) for each in (("low", 2, bounds[0]), ("high", 3, bounds[1])))

    def draw(array: Any, generator: Any) -> Any:
        return rows.placed(array, lambda n: draws.randint(source(generator), n, array.dtype, first, last))

    make = _drawn_over(draw, generator)
    return _like_another("randint_like", input, make, dtype, layout, device, requires_grad, memory_format)


_BERNOULLI = (
    "Tensor input, *, torch.Generator generator = None, Tensor out = None",
    "Tensor input, float p, *, torch.Generator generator = None",
)


@composite()
@asking
def bernoulli(input: Tensor, p: Any = None, *, generator: Any = None, out: Any = None) -> Tensor:
    """Ones with the chances that ``input`` holds (or with chance ``p`` throughout), else zeros."""
    check_generator("bernoulli", generator)
    need_tensor("bernoulli", "input", 1, input)
    if modes.transforming:
        input = lifted.chances(input)
    if out is not None:
        if p is not None:
            raise no_match("bernoulli", (input, p, out), *_BERNOULLI)
        need_tensor("bernoulli", "out", 3, out)
        check_gradients(Composed("bernoulli"), (input,), out)
        return bernoulli_(out.resize_(input._array.shape), input, generator=generator)
    if isinstance(p, Tensor) and not (p._array.ndim or p.requires_grad):
        p = float(p)  # type: ignore[arg-type]
    if p is not None and not isinstance(p, (int, float, np.number)):
        raise no_match("bernoulli", (input, p), *_BERNOULLI)
    if p is None:
        result = rows.bernoulli_like(input, generator)
    elif isinstance(input, lifted.Lifted):
        result = rows.bernoulli_over(input, float(p), generator)
    else:
        result = bernoulli_(wrap(np.empty(input._array.shape, input._array.dtype)), p, generator=generator)
    return result


@composite()
@asking
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None, out: Any = None
) -> Tensor:
    """Categories drawn by the unnormalised chances in each row of ``input``, as int64."""
    check_generator("multinomial", generator)
    num_samples = dtypes.need_int("multinomial", "num_samples", 2, num_samples)
    if input._array.dtype.metadata is not None:
        return input.new_empty((*input.shape[:-1], num_samples), dtype=dtypes.int64)  # type: ignore[attr-defined, no-any-return]
    if modes.transforming and (raised := lifted.chances(input)) is not input:
        return multinomial(raised, num_samples, replacement, generator=generator, out=out)
    result = wrap(draws.multinomial(source(generator), np.asarray(input._array), num_samples, bool(replacement)))
    refusal = "multinomial expects Long tensor out, got: {Found}"
    return result if out is None else into(Composed("multinomial", refusal), (), out, result)


# -- in place ---------------------------------------------------------------------------------------------------------


def _over(
    function: str, row: Any, target: Tensor, generator: Any, *settings: Any, others: Sequence[Any] = ()
) -> Tensor:
    """Write a row's draws over ``target``."""
    check_generator(function, generator)
    if modes.transforming:
        lifted.chances(target, True)
    return write.in_place(row.row, target, others, (*settings, generator))


@composite(function=False)
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers."""
    return _over("normal_", rows.normal_over, self, generator, float(mean), float(std))


@composite(function=False)
def uniform_(self: Tensor, *bounds: Any, generator: Any = None, **named: Any) -> Tensor:
    """Fill with numbers spread evenly over [from, to); over [0, 1) unless told."""
    low, high = _bounds("uniform_", bounds, named, (0.0, 1.0))
    for position, (name, bound) in enumerate((("from", low), ("to", high)), 1):
        dtypes.need_float("uniform_", name, position, bound)
    return _over("uniform_", rows.uniform_over, self, generator, float(low), float(high))


def _bounds(function: str, args: tuple[Any, ...], named: dict[str, Any], default: tuple[Any, Any]) -> tuple[Any, Any]:
    """``from`` and ``to``, of which the first is no name that Python lets a parameter have."""
    for name in named:
        if name not in ("from", "to"):
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
    if len(args) > 2:
        raise TypeError(f"{function}() takes from 0 to 2 positional arguments but {len(args)} were given")
    low = args[0] if args else named.get("from", default[0])
    high = args[1] if len(args) > 1 else named.get("to", default[1])
    return low, high


@composite(function=False)
def random_(self: Tensor, *bounds: Any, generator: Any = None, **named: Any) -> Tensor:
    """Fill with whole numbers: of all the dtype counts, or below ``to``, or from ``from`` to ``to - 1``."""
    if not bounds and not named:
        return _over("random_", rows.random_over, self, generator)
    if len(bounds) == 1 and not named or not bounds and named.keys() == {"to"}:
        high = bounds[0] if bounds else named["to"]
        return _over("random_", rows.random_below, self, generator, dtypes.need_int("random_", "to", 1, high))
    low, high = _bounds("random_", bounds, named, (0, None))
    low = dtypes.need_int("random_", "from", 1, low)
    if high is not None:
        high = dtypes.need_int("random_", "to", 2, high)
    return _over("random_", rows.random_between, self, generator, low, high)


@composite(function=False)
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with ones of chance ``p``, a number or a tensor of chances, and zeros."""
    if isinstance(p, Tensor):
        if not isinstance(p, lifted.Lifted):
            expand.row.kernel(p._array, self._array.shape)
        return _over("bernoulli_", rows.bernoulli_by, self, generator, others=(p,))
    dtypes.need_float("bernoulli_", "p", 1, p)
    return _over("bernoulli_", rows.bernoulli_over, self, generator, float(p))


@composite(function=False)
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with waiting times of rate ``lambd``."""
    return _over("exponential_", rows.exponential_over, self, generator, float(lambd))


@composite(function=False)
def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Fill with numbers of trials up to the first success of chance ``p``."""
    return _over("geometric_", rows.geometric_over, self, generator, float(p))


@composite(function=False)
def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers of the Cauchy distribution."""
    return _over("cauchy_", rows.cauchy_over, self, generator, float(median), float(sigma))


@composite(function=False)
def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Tensor:
    """Fill with exponentials of normal numbers; ``mean`` and ``std`` are those of the normal ones."""
    return _over("log_normal_", rows.log_normal_over, self, generator, float(mean), float(std))


# -- the generator's state, as tensors --------------------------------------------------------------------------------


def state_of(generator: Generator) -> Tensor:
    """A generator's state as a tensor of bytes."""
    return wrap(generator.get_state_bytes())


def set_state(generator: Generator, state: Any) -> Generator:
    """Let a generator continue from a state; gives the generator."""
    if not isinstance(state, Tensor):
        raise TypeError(f"expected a torch.ByteTensor, but got {dtypes.called(state)}")
    generator.set_state_bytes(np.asarray(state._array))
    return generator


Generator.get_state = state_of  # type: ignore[attr-defined]  # the generator's floor knows no tensors
Generator.set_state = set_state  # type: ignore[attr-defined]


@composite(method=False)
def get_rng_state() -> Tensor:
    """The state of the default generator, as a tensor of bytes."""
    return state_of(source(None))


@composite(method=False)
def set_rng_state(new_state: Tensor) -> None:
    """Let the default generator continue from a state."""
    set_state(source(None), new_state)
