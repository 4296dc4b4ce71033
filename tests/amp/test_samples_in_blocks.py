"""Every operation's sample calls within an autocast block: dtypes, nodes, numbers and refusals are those of PyTorch."""

import re

import pytest

import glassgrad
from tests.property.changed_calls import CallRun, Text, is_free, parsed, samples
from tests.property.random_programs import Ended, compared
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

PARTS = 4
DTYPE = re.compile(r"dtype=torch\.(float64|float32)")
#: What PyTorch composes of operations that refuse a block of another half, or not.
OTHER_HALF = re.compile(r"\b(roll|matrix_exp|i?fftshift|vander)\(")


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize(
    ("dtype", "block"), [("float32", "bfloat16"), ("bfloat16", "bfloat16"), ("bfloat16", "float16")]
)
def test_same_as_torch(dtype, block, part):
    calls = 0
    for name in [*samples()][part::PARTS]:
        for sample in samples()[name]:
            lines = [DTYPE.sub(f"dtype=torch.{dtype}", line) for line in Text(1, sample).lines]
            if dtype != block and dtype != "float32" and OTHER_HALF.search(lines[-1]):
                continue
            yours, ours = CallRun(torch), CallRun(glassgrad)
            calls += 1
            around = [*lines[:-1], f"with torch.autocast('cpu', torch.{block}): {lines[-1]}"]
            try:
                found = next(filter(None, (compared(yours, ours, line) for line in around)), None)
            except Ended:
                continue
            assert found is None or is_free(lines, *parsed(*found)), "\n".join([*around, f"# {found}"])
    assert calls > 300
