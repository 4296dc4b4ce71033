"""A program of its own: all samples where NumPy's index type has 32 bits, as on 32-bit ARM and WebAssembly.

    python -m tests.reliability.narrow [part of a sample's name ...]

Prints one line for each sample that gives other values, dtypes or gradients than usual, or raises.  No such machine is
needed: the package is read with every method and function of NumPy that gives or takes indices replaced by one that
behaves as there.  Results are int32, as are whole numbers of no given dtype and sums of small integers (which NumPy
1.26 gives on Windows too); indices and counts of 64 bits are refused where NumPy wants its index type and casts
safely only.
"""

import ast
import itertools
import os
import subprocess
import sys
import tempfile
from importlib.machinery import SourceFileLoader

import numpy as np

HOME = os.path.join("src", "glassgrad") + os.sep
GIVING = ["argmax", "argmin", "argsort", "argpartition", "nonzero", "searchsorted"]
FUNCTIONS = [*GIVING, "flatnonzero", "argwhere", "lexsort", "digitize", "indices", "triu_indices", "tril_indices",
             "unravel_index", "ravel_multi_index", "diag_indices"]  # fmt: skip
ADDING = ["sum", "prod", "cumsum", "cumprod", "trace"]  # whose results NumPy widens to its own integer
REDUCING = ["reduce", "accumulate", "reduceat"]  # which do so too, of the two ufuncs that are asked
REFUSING = {"put": 0, "repeat": 0, "choose": None, "bincount": None}  # where the indices are, of a method
I32, I64 = np.dtype("i4"), np.dtype("i8")
NARROWER = {I64: I32, np.dtype("u8"): np.dtype("u4")}
DTYPES = ["float32", "int64", "int32", "uint8", "bool"]  # that the samples' floating tensors are drawn in


def narrow(value):
    """A result of NumPy's on such a machine."""
    if isinstance(value, tuple):
        return tuple(map(narrow, value))
    if isinstance(value, list):
        return [*map(narrow, value)]
    narrower = NARROWER.get(getattr(value, "dtype", None))
    return value if narrower is None else value.astype(narrower)


def refuse(value):
    """The error of a safe cast to the index type."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None and not np.can_cast(dtype, I32, "safe"):
        raise TypeError(f"Cannot cast array data from {dtype!r} to {I32!r} according to the rule 'safe'")


def method(owner, name, *args, **kwargs):
    """``owner.name(...)``."""
    if isinstance(owner, (np.ndarray, np.generic)):
        if name in REFUSING:
            refuse(owner if REFUSING[name] is None else args[0] if args else next(iter(kwargs.values())))
        elif name in GIVING:
            return narrow(getattr(owner, name)(*args, **kwargs))
        elif name in ADDING:
            return added(getattr(owner, name), owner, *args, **kwargs)
    if name in REDUCING and owner in (np.add, np.multiply):
        return added(getattr(owner, name), *args, **kwargs)
    return getattr(owner, name)(*args, **kwargs)


def added(function, *args, **kwargs):
    """A sum or product, of small integers in 32 bits."""
    dtype = getattr(args[0], "dtype", None)
    bound = isinstance(getattr(function, "__self__", None), (np.ndarray, np.generic))
    result = function(*args[bound:], **kwargs)
    given = kwargs.get("dtype") is not None or kwargs.get("out") is not None or dtype in NARROWER
    return result if given or any(isinstance(arg, (type, np.dtype)) for arg in args[1:]) else narrow(result)


class Calls(ast.NodeTransformer):
    """``x.argmax(...)`` becomes ``_narrow_method(x, "argmax", ...)``, unless ``x`` is ``np``."""

    def visit_Call(self, node):
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in (*GIVING, *REFUSING, *ADDING, *REDUCING):
            if not (isinstance(function.value, ast.Name) and function.value.id == "np"):
                name = ast.Constant(function.attr)
                node.func = ast.Name("_narrow_method", ast.Load())
                node.args = [function.value, name, *node.args]
        elif isinstance(function, ast.Call) and isinstance(function.func, ast.Name) and function.func.id == "getattr":
            node.args = [*function.args[:2], *node.args]  # getattr(x, name)(...)
            node.func = ast.Name("_narrow_method", ast.Load())
        return ast.fix_missing_locations(ast.copy_location(node, function))


def get_code(loader, name):
    """The code of a module, of the package's with calls of these methods replaced."""
    if HOME not in loader.path:
        return ordinary_code(loader, name)
    return compile(Calls().visit(ast.parse(loader.get_data(loader.path), loader.path)), loader.path, "exec")


ordinary_code = SourceFileLoader.get_code


def from_package():
    """Whether the caller's caller is the package."""
    return HOME in sys._getframe(2).f_code.co_filename


def install():
    """Make this process's NumPy, as the package sees it, one of a 32-bit machine."""
    import builtins

    builtins._narrow_method = method
    SourceFileLoader.get_code = get_code
    np.intp = np.int32

    def giving(function):
        def call(*args, **kwargs):
            result = function(*args, **kwargs)
            return narrow(result) if from_package() else result

        return call

    def counting(function):  # whole numbers, unless their dtype is given
        def call(*args, **kwargs):
            result = function(*args, **kwargs)
            if "dtype" in kwargs or not from_package() or any(map(is_typed, args)):
                return result
            return narrow(result)

        return call

    def refusing(function, position):
        def call(*args, **kwargs):
            if from_package():
                refuse(args[position])
            result = function(*args, **kwargs)
            return narrow(result) if from_package() and function is bincount else result

        return call

    def unique(*args, **kwargs):
        result = plain_unique(*args, **kwargs)
        return (result[0], *map(narrow, result[1:])) if isinstance(result, tuple) and from_package() else result

    def adding(function):
        def call(*args, **kwargs):
            return added(function, *args, **kwargs) if from_package() else function(*args, **kwargs)

        return call

    plain_unique, bincount = np.unique, np.bincount
    np.unique = unique
    for name in FUNCTIONS:
        setattr(np, name, giving(getattr(np, name)))
    for name in ("arange", "array", "asarray"):
        setattr(np, name, counting(getattr(np, name)))
    for name in ADDING:
        setattr(np, name, adding(getattr(np, name)))
    np.bincount = refusing(np.bincount, 0)
    for name in ("repeat", "put"):
        setattr(np, name, refusing(getattr(np, name), 1))


def is_typed(value):
    """Whether a dtype, or what has one: a list by what is in it."""
    if isinstance(value, (list, tuple)):
        return any(map(is_typed, value))
    return hasattr(value, "dtype") or hasattr(value, "__array_interface__") or isinstance(value, (np.dtype, type))


def results(words):
    """What each sample gives: values with their dtypes, and gradients, or the error."""
    import warnings

    warnings.simplefilter("ignore")
    import glassgrad
    from tests.laws import Call, array
    from tests.samples import all_samples

    for sample, dtype in itertools.product(all_samples(), DTYPES):
        if sample.name.startswith("row.") or not any(word in sample.name for word in words):
            continue
        if dtype == "float32" and dtype not in sample.only:
            dtype = sample.only[0]
        try:
            call = Call(sample, glassgrad, dtype)
            outputs = call()
            carrying = call.differentiable(outputs)
            if carrying and call.leaves:
                grads = glassgrad.autograd.grad(carrying, call.leaves, call.weights(carrying), allow_unused=True)
                outputs += [grad for grad in grads if grad is not None]
            answer = [array(out) if isinstance(out, glassgrad.Tensor) else repr(out) for out in outputs]
        except Exception as error:
            answer = [f"{type(error).__name__}: {error}"]
        yield f"{sample.id}-{dtype}", answer


def main(*words):
    """Compare the results here with those of an ordinary process."""
    import pickle

    if "--ordinary" in words:
        with open(words[1], "wb") as file:
            pickle.dump([*results(words[2:])], file)
        return
    words = words or ("",)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ordinary")
        subprocess.run([sys.executable, "-m", "tests.reliability.narrow", "--ordinary", path, *words], check=True)
        with open(path, "rb") as file:
            ordinary = pickle.load(file)
    install()
    count = 0
    for (name, answer), (_, expected) in zip(results(words), ordinary, strict=True):
        count += 1
        same = len(answer) == len(expected) and all(map(is_same, answer, expected))
        if not same:
            print(name, *[getattr(one, "dtype", one) for one in answer])
    print(count)


def is_same(one, other):
    """Whether two arrays, or texts, are the same."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")


if __name__ == "__main__":
    main(*sys.argv[1:])
