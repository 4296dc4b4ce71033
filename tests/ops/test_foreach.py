"""``torch._foreach_*``: every operation of PyTorch's on lists is there, and gives its values, gradients and errors."""

import pytest

from tests.agreement import check
from tests.torch_reference import torch as reference

pytestmark = pytest.mark.torch
NAMES = sorted(name for name in dir(reference) if name.startswith("_foreach_"))
OTHERS = "add sub mul div pow clamp_min clamp_max maximum minimum".split()
ALONE = {"norm", "powsum", "max", "mm", "clone", "copy_", "zero_"}


def lists(torch, count=1, dtype="float64"):
    """Lists of tensors between a half and one, the first of which ask for gradients."""
    torch.manual_seed(3)
    for n in range(count):
        rows = [torch.rand(3, dtype=torch.float64), torch.rand(2, 1, dtype=torch.float64)]
        rows = [(row / 2 + 0.5 if dtype == "float64" else row * 10 + 1).to(getattr(torch, dtype)) for row in rows]
        yield [row.requires_grad_() for row in rows] if dtype == "float64" and n < 2 else rows


def calls(name, torch, dtype):
    """The calls of an operation, by the form of their arguments."""
    operation = name.removeprefix("_foreach_").rstrip("_")
    a, b, c = lists(torch, 3, dtype)
    if operation in OTHERS:
        forms = [(2,), (0.5,), ([2, 0.5],), (b,)]
        forms += [(torch.tensor(2.0),)] if operation in ("add", "mul", "div") else []
        forms += [(b, {"alpha": 2})] if operation in ("add", "sub") else []
    elif operation in ("addcmul", "addcdiv"):
        forms = [(b, c), (b, c, 2), (b, c, [2, 3]), (b, c, torch.tensor([2.0, 3.0])), (b, c, {"value": 0.5})]
    elif operation == "lerp":
        forms = [(b, 0.25), (b, c), (b, [0.25, 0.5])]
    elif operation == "mm":
        a, b = [a[1], a[1].t()], [b[1].t(), b[1]]
        forms = [(b,)]
    else:
        forms = {"norm": [(), (1,), (float("inf"),)], "powsum": [(), (3,)], "copy": [(b,)]}.get(operation, [()])
    for form in forms:
        keywords = form[-1] if form and isinstance(form[-1], dict) else {}
        yield a, form[: len(form) - bool(keywords)], keywords


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients(name, dtype):
    def program(torch, show):
        function = getattr(torch, name)
        for index, (tensors, args, keywords) in enumerate(calls(name, torch, dtype)):
            if name.endswith("_"):
                tensors = [tensor * 1 for tensor in tensors]

            def call(tensors=tensors, args=args, keywords=keywords):
                answers = function(tensors, *args, **keywords)
                same = [answer is tensor for answer, tensor in zip(answers, tensors, strict=True)]
                return [type(answers).__name__, same, *(answer.detach() for answer in answers)]

            show.error(
                call, f"{index}", words=not any(word in name for word in ("clamp", "imum"))
            )  # C++ names types there
        if dtype == "float64" and name not in ("_foreach_copy_", "_foreach_powsum", "_foreach_zero_"):
            for index, (tensors, args, keywords) in enumerate(calls(name, torch, dtype)):
                written = [tensor * 1 for tensor in tensors] if name.endswith("_") else tensors
                if name in ("_foreach_maximum_", "_foreach_minimum_") and not isinstance(args[0], list):
                    continue  # PyTorch has no derivative of these forms
                if name.startswith(("_foreach_addc", "_foreach_maximum_", "_foreach_minimum_")) and index in (2, 3):
                    continue
                results = function(written, *args, **keywords)
                if any(result.requires_grad for result in results):
                    total = sum(result.sum() for result in results)
                    show(f"gradient {index}", torch.autograd.grad(total, tensors))

    check(program)


def test_refusals():
    def program(torch, show):
        a = [torch.ones(2), torch.arange(3.0)]
        cases = {
            "another length": lambda: torch._foreach_add(a, a[:1]),
            "nothing": lambda: torch._foreach_add([], 1),
            "nothing, alone": lambda: torch._foreach_sin([]),
            "too few numbers": lambda: torch._foreach_add(a, [1]),
            "no tensors": lambda: torch._foreach_add([1, 2], 1),
            "a vector": lambda: torch._foreach_add(a, torch.ones(2)),
            "alpha of numbers": lambda: torch._foreach_add(a, [1, 2], alpha=2),
            "sizes": lambda: torch._foreach_add([torch.ones(2)], [torch.ones(3)]),
            "sizes in place": lambda: torch._foreach_add_([torch.ones(2)], [torch.ones(3, 2)]),
            "a leaf": lambda: torch._foreach_mul_([torch.ones(2, requires_grad=True)], 2),
            "whole numbers": lambda: torch._foreach_sqrt_([torch.arange(2)]),
            "empty": lambda: torch._foreach_max([torch.ones(0)]),
            "a number": lambda: torch._foreach_sin(3),
            "ord": lambda: torch._foreach_norm(a, "x"),
            "values": lambda: torch._foreach_addcmul(a, a, a, torch.ones(3)),
            "a value": lambda: torch._foreach_addcmul(a, a, a, torch.tensor(2.0)),
            "by name": lambda: torch._foreach_add(self=a, scalar=1),
            "other": lambda: torch._foreach_add(a, other=a),
            "scalars": lambda: torch._foreach_add(a, scalars=[1, 2]),
            "power of a number": lambda: torch._foreach_pow(2.0, a),
        }
        for name, case in cases.items():
            show.error(case, name)
        for name, case in {
            "text": lambda: torch._foreach_add(a, "x"),
            "a tensor": lambda: torch._foreach_add(a[0], 1),
            "alpha of a number": lambda: torch._foreach_add(a, 1, alpha=2),
            "one argument": lambda: torch._foreach_add(a),
            "no weight": lambda: torch._foreach_lerp(a, a),
        }.items():
            show.error(case, name, words="received an invalid combination of arguments - got")

    check(program)
