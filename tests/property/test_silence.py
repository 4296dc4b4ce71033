"""NumPy tells of overflow and of what is not finite; PyTorch does not, and so nothing that it tells reaches a user."""

import warnings

import numpy as np
import pytest

import glassgrad
from tests import counts
from tests.samples import T, all_samples

EDGES = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 3e38, -3e38, 1e-40, 1.0]
PARTS = 4


def at_the_edge(value, chance):
    """An argument of a sample, its numbers replaced by such as overflow."""
    if isinstance(value, list | tuple):
        return [at_the_edge(part, chance) for part in value]
    if not isinstance(value, T):
        return getattr(glassgrad, value[6:]) if isinstance(value, str) and value.startswith("dtype:") else value
    array = np.array(value.array(chance, "float32"))
    if array.dtype.kind in "fc":
        is_changed = chance.random(array.shape) < chance.choice([0.4, 1.0])
        array[is_changed] = chance.choice(EDGES, array.shape)[is_changed]
    return glassgrad.tensor(array, requires_grad=array.dtype.kind == "f" and value.grad)


def tensors(values):
    """The tensors in nested lists that ask for gradients."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from tensors(value)
        elif isinstance(value, glassgrad.Tensor) and value.requires_grad:
            yield value


@pytest.mark.parametrize("part", range(PARTS))
def test_what_numpy_tells_is_left_out(part):
    told = set()
    tried = 0
    for number, sample in enumerate(all_samples()[part::PARTS]):
        if not sample.in_torch:
            continue
        function = glassgrad
        for name in sample.name.split("."):
            function = getattr(function, name)
        for seed in counts.seeds(1):
            chance = np.random.default_rng([seed, number])
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                warnings.filterwarnings("ignore", category=RuntimeWarning, module="glassgrad")  # as the package has it
                args = [at_the_edge(value, chance) for value in sample.args]
                kwargs = {name: at_the_edge(value, chance) for name, value in sample.kwargs.items()}
                try:
                    result = function(*args, **kwargs)
                    for output in tensors([result]):
                        glassgrad.autograd.grad(output.abs().sum(), [*tensors([args])], allow_unused=True)
                except (RuntimeError, ValueError, IndexError, OverflowError):
                    pass
                else:
                    tried += 1
            told |= {
                f"{sample.name}: {each.message}, {each.filename}"
                for each in seen
                if issubclass(each.category, RuntimeWarning)
            }
    assert tried > 300 and not told
