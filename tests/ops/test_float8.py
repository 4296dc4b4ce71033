"""Floats of eight bits: made, converted, moved, printed, saved; what computes with them refuses."""

import copy
import io
import pickle

import pytest

from tests.agreement import check

pytestmark = [pytest.mark.torch, pytest.mark.once]
KINDS = "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu".split()


@pytest.mark.parametrize("name", KINDS)
def test_the_dtype(name):
    def program(torch, show):
        kind = getattr(torch, name)
        limits = torch.finfo(kind)
        show("what", [repr(kind), kind.itemsize, kind.is_floating_point, kind.is_complex, kind.is_signed])
        show("limits", [limits.eps, limits.max, limits.min, limits.tiny, limits.bits, limits.dtype])
        show("pickled", pickle.loads(pickle.dumps(kind)) is kind)
        for other in (kind, torch.float32, torch.int64, torch.bool, torch.float8_e5m2):
            show.error(lambda other=other: torch.promote_types(kind, other), "promoted")
            show("cast", [torch.can_cast(kind, other), torch.can_cast(other, kind)])
        show.error(lambda: kind.to_complex(), "complex")
        show.error(lambda: torch.set_default_dtype(kind), "default")

    check(program)


@pytest.mark.parametrize("name", KINDS)
def test_conversions(name):
    def program(torch, show):
        kind = getattr(torch, name)
        numbers = [0.0, 1.0, -1.5, 300.0, 1e-3, float("inf"), 460.0, 470.0, 1e9, -1e9, -0.0, 2.0**-20]
        numbers += [1.0625, 1.1875, 0.3, 57344.0, 61440.0, 240.0, 248.0]
        for source in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            bits = torch.tensor(numbers, dtype=torch.float64).to(source).to(kind).view(torch.uint8)
            nan = torch.tensor([float("nan"), float("-inf")], dtype=source).to(kind)
            show(f"from {source}", [bits, nan.isnan(), nan.float()])  # of NaN there are many bits
        every = torch.arange(256, dtype=torch.uint8).view(kind)
        for target in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            show(f"to {target}", every.to(target))
        show("whole numbers", torch.arange(-5, 5).to(kind).float())
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        x.to(kind).to(torch.float32).sum().backward()
        show("gradient", x.grad)

    check(program)


@pytest.mark.parametrize("name", KINDS)
def test_what_moves_them(name):
    def program(torch, show):
        kind = getattr(torch, name)
        x = torch.tensor([1.0, 2.0, 0.5, 4.0]).to(kind)
        mask = torch.tensor([True, False, True, False])
        for label, call in {
            "itself": lambda: x,
            "numbers": lambda: torch.tensor([1.0, 2.0], dtype=kind),
            "zeros": lambda: torch.ones(2, dtype=kind),
            "full": lambda: torch.full((2,), 2.0, dtype=kind),
            "eye": lambda: torch.eye(2, dtype=kind) if "e8m0" not in name else x,
            "like": lambda: torch.ones_like(x),
            "reshaped": lambda: x.reshape(2, 2).t().contiguous(),
            "slice": lambda: x[1:3],
            "clone": lambda: x.clone(),
            "cat": lambda: torch.cat([x, x]),
            "stack": lambda: torch.stack([x, x]),
            "deepcopy": lambda: copy.deepcopy(x),
            "filled": lambda: torch.empty(2, dtype=kind).fill_(2),
            "copied": lambda: torch.empty(2, dtype=kind).copy_(torch.ones(2)),
            "indexed": lambda: x[torch.tensor([0, 1])],
            "masked": lambda: x[mask],
            "where": lambda: torch.where(mask, x, x),
            "index_select": lambda: x.index_select(0, torch.tensor([1])),
            "repeat": lambda: x.repeat(2),
            "roll": lambda: x.roll(1),
            "zeroed": lambda: x.clone().zero_() if "e8m0" not in name else x,  # whose least number prints as 0
            "number": lambda: x[1],
            "unbind": lambda: list(x.unbind()),
        }.items():
            value = call()
            value = value if isinstance(value, list) else [value]
            show(label, [[repr(v), v.dtype, v.tolist(), v.float()] for v in value])
        show("asked", [x == x, x != x, x.isnan(), x.any(), x.all(), x.type(), x.element_size(), x.is_floating_point()])
        x[0] = 2.0
        show("set", [x.float(), bool(x[0]), x[0].item()])
        file = io.BytesIO()
        torch.save({"x": x}, file)
        file.seek(0)
        show("saved", torch.load(file)["x"].float())
        show.error(lambda: x.numpy(), "NumPy")

    check(program)


@pytest.mark.parametrize("name", KINDS)
def test_what_refuses_them(name):
    def program(torch, show):
        kind = getattr(torch, name)
        x = torch.ones(4).to(kind)
        for label, call in {
            "add": lambda: x + x,
            "a number": lambda: x + 1,
            "mul": lambda: x * 2,
            "another dtype": lambda: x + torch.ones(4),
            "neg": lambda: -x,
            "exp": lambda: x.exp(),
            "sum": lambda: x.sum(),
            "mean": lambda: x.mean(),
            "max": lambda: x.max(),
            "lt": lambda: x < x,
            "sort": lambda: x.sort(),
            "clamp": lambda: x.clamp(0, 1),
            "flip": lambda: x.flip(0),
            "gather": lambda: x.gather(0, torch.tensor([0])),
            "cumsum": lambda: x.cumsum(0),
            "scatter": lambda: x.scatter(0, torch.tensor([0]), x),
            "sign": lambda: x.sign(),
            "sqrt": lambda: x.sqrt(),
            "argmax": lambda: x.argmax(),
            "in place": lambda: x.add_(1),
        }.items():
            show.error(call, label, words=False)

    check(program)
