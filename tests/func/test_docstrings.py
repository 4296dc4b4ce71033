"""The examples in PyTorch's docstrings of transforms: each statement gives in glassgrad what it gives in PyTorch.

They are read from the PyTorch that is installed, when the test runs.  Examples that are sketches (they name what they
do not define) raise the same error in both.  The name of a result's node is not compared, as the nodes of derivatives
are not PyTorch's one by one; nor is the sign of a zero, which depends on the order in which zeros are multiplied.
"""

import ast
import contextlib
import importlib
import inspect
import io
import re
import warnings

import pytest

import glassgrad

pytestmark = pytest.mark.torch

MODULES = {
    "torch": ["vmap"],
    "torch.autograd.forward_ad": ["dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"],
    "torch.autograd.functional": ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"],
    "torch.func": [
        "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
        "rearrange", "stack_module_state", "vjp", "vmap",
    ],
}  # fmt: skip
LEFT_OPEN = {
    r"\bglassgrad\b": "torch",
    r",\s+grad_fn=<\w+>": ", grad_fn=<>",
    r"-(?=0\.0*(?:e\+00)?[,\])])": " ",
    r"\s+": " ",
}
#: What is traced there is not here: the functions of ``torch.fx`` that trace programs of transforms.
NOT_HERE = {"functionalize": r"make_fx|_traced\b|\.code"}


def examples_of(docstring):
    """The statements of a docstring's examples: lines with a prompt, cut where other lines stand between them."""
    block = []
    for line in [*inspect.cleandoc(docstring).splitlines(), ""]:
        prompt = re.match(r"\s*(?:>>>|\.\.\.)( |$)", line)
        if prompt:
            block.append(line[prompt.end() :])
        elif block:
            yield from statements("\n".join(block))
            block = []


def statements(text):
    """The statements of a block, as text; what is no Python is left out."""
    with contextlib.suppress(SyntaxError):
        for node in ast.parse(text).body:
            yield ast.unparse(node)


def answers(engine, module, docstring, left_out):
    """What each statement gives: what it prints, the value or the values it names, or the error."""
    home = glassgrad.alias() if engine is glassgrad else contextlib.nullcontext()
    engine.manual_seed(0)
    with home, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = {"torch": engine, **vars(importlib.import_module(module))}
        for statement in examples_of(docstring):
            if left_out and re.search(left_out, statement):
                continue
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                try:
                    print(given(statement, names))
                except Exception as error:
                    print(type(error).__name__, error)
            answer = printed.getvalue()
            for pattern, instead in LEFT_OPEN.items():
                answer = re.sub(pattern, instead, answer)
            yield statement, answer


def given(statement, names):
    """The value of an expression, or of the names that are assigned, as they print."""
    (node,) = ast.parse(statement).body
    if isinstance(node, ast.Expr):
        return shown(eval(statement, names))
    exec(statement, names)
    targets = [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    return "; ".join(shown(names[target]) for target in targets if target in names)


def shown(value):
    return "" if callable(value) and not hasattr(value, "is_leaf") else repr(value)


def pages():
    return [pytest.param(module, name, id=f"{module}.{name}") for module, names in MODULES.items() for name in names]


@pytest.mark.parametrize(("module", "name"), pages())
def test_examples_give_what_they_give_in_torch(module, name):
    from tests.torch_reference import torch

    docstring = inspect.getdoc(getattr(importlib.import_module(module), name)) or ""
    theirs = list(answers(torch, module, docstring, NOT_HERE.get(name)))
    ours = list(answers(glassgrad, module, docstring, NOT_HERE.get(name)))
    assert ours == theirs


def test_most_examples_are_no_sketches():
    """Enough is read, and most of it runs: a change of the docstrings' form would show here."""
    from tests.torch_reference import torch

    count = errors = 0
    for module, names in MODULES.items():
        for name in names:
            docstring = inspect.getdoc(getattr(importlib.import_module(module), name)) or ""
            for _, answer in answers(torch, module, docstring, NOT_HERE.get(name)):
                count += 1
                errors += bool(re.match(r"\w+Error ", answer))
    assert count > 250 and errors < count / 8, (count, errors)
