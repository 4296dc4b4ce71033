"""Scenarios: what a compiled function reads x how it reaches it x how that changes, run as it is written and compiled.

``python -m tests.compiler.scenarios --count 3000`` runs as many of them.
"""

# ruff: noqa: E501  the tables have a line for each thing

import argparse
import itertools
import random
import sys

import glassgrad as torch
from glassgrad.kernels import compiled

from .both_ways import small_ones_too, tree

PRELUDE = """
import contextvars, dataclasses, enum, functools, itertools, operator, random, sys, types
import numpy as np
import glassgrad as torch
from glassgrad import nn

class Open: pass
class Slotted: __slots__ = ("v",)
o, s, d, l, r, n, m = Open(), Slotted(), {}, [None], Open(), nn.Module(), types.ModuleType("scenario")
r.a = Open()
def same(v): return v
def default(v=None): return v
def named(*, v=None): return v
class Property:
    stored = None
    @property
    def v(self): return Property.stored
q = Property()
class Answers:
    stored = None
    def __getattr__(self, name): return Answers.stored
w = Answers()
class Called:
    stored = None
    def __call__(self): return Called.stored
called = Called()
class Class: v = None
@dataclasses.dataclass
class Data: v: object = None
z = Data()
context = contextvars.ContextVar("context")
sys.modules["scenario_module"] = types.ModuleType("scenario_module")
def box():
    inside = None
    def get(): return inside
    def put(v):
        nonlocal inside
        inside = v
    return get, put
get, put = box()
class Color(enum.Enum): RED = 2.0; BLUE = 3.0
class Whole(int): pass
class Text(str): pass
def vector(*numbers): return torch.tensor([float(i) for i in numbers])
def graded(t): t.sum().backward(); return t
def tagged(t, tag): t.tag = tag; return t
def written(t): t.add_(1); return t
"""
#: What is read: two values, what is computed with it, and how it may change in place.
WHAT = {
    "number": ("2.0", "3.0", "x * v", ""), "whole": ("2", "3", "x * v", ""), "flag": ("True", "False", "x if v else -x", ""),
    "nought": ("0.0", "-0.0", "x / v", ""), "not a number": ("float('nan')", "1.0", "x * v", ""),
    "true or one": ("1", "True", "x * (2 if v is True else 3)", ""), "word": ("'tanh'", "'sin'", "getattr(x, v)()", ""),
    "size": ("2", "3", "x[:v].sum()", ""), "list": ("[1.0, 2.0]", "[3.0]", "x * sum(v) + len(v)", "v.append(5.0)"),
    "dict": ("{'k': 2.0}", "{'k': 3.0, 'j': 1.0}", "x * v['k'] + len(v)", "v['k'] = 7.0"),
    "set": ("{1.0}", "{2.0}", "x * sum(v)", "v.add(9.0)"), "tuple": ("(1.0, 2.0)", "(3.0,)", "x * sum(v)", ""),
    "tensor": ("vector(1, 2, 3, 4)", "vector(5, 6, 7, 8)", "x * v", "v.mul_(2)"),
    "another size": ("vector(1)", "vector(5, 6, 7, 8)", "x * v", "v.data = vector(2, 2, 2, 2)"),
    "another dtype": ("vector(1)", "vector(1).double()", "x * v", "v.data = vector(3)"),
    "parameter": ("nn.Parameter(vector(1, 2, 3, 4))", "nn.Parameter(vector(4, 3, 2, 1))", "x * v", "v.data.mul_(2)"),
    "view": ("vector(1, 2, 3, 4, 5)[1:]", "vector(5, 6, 7, 8, 9)[:4]", "x * v", "v._base.mul_(2)"),
    "turned": ("torch.arange(8.0).view(2, 4)", "torch.arange(8.0).view(4, 2).t()", "x * v", "v.mul_(2)"),
    "wants gradients": ("vector(1)", "vector(1).requires_grad_()", "x * 2 if v.requires_grad else x * v", "v.requires_grad_(not v.requires_grad) if v.is_leaf else 0"),
    "gradient": ("vector(1).requires_grad_()", "graded(vector(1).requires_grad_())", "x * 2 if v.grad is None else x", "graded(v)"),
    "version": ("vector(1)", "written(vector(1))", "x * v._version", "v.add_(1)"),
    "tag": ("tagged(vector(1), 2)", "tagged(vector(1), 3)", "x * v.tag", "v.tag = 9"),
    "offset": ("vector(1, 2, 3)[1:2]", "vector(1, 2, 3)[2:]", "x * v.storage_offset()", ""),
    "dtype": ("torch.float64", "torch.float32", "x.to(v)", ""), "shape": ("torch.Size([2, 2])", "torch.Size([4])", "x.view(v)", ""),
    "function": ("torch.tanh", "torch.sin", "v(x)", ""), "lambda": ("lambda t: t * 2", "lambda t: t * 3", "v(x)", ""),
    "module": ("nn.Linear(4, 2)", "nn.Linear(4, 3)", "v(x)", "v.weight.data.mul_(2)"),
    "mode": ("nn.Dropout(0.5)", "nn.Dropout(0.5).eval()", "v(x)", "v.train(not v.training)"),
    "hooked": ("nn.Tanh()", "nn.ReLU()", "v(x)", "v.register_forward_hook(lambda m, i, o: o * 3)"),
    "nothing": ("None", "vector(3)", "x if v is None else x * v", ""), "identity": ("X", "vector(3)", "x * 2 if v is x else x", ""),
    "array": ("np.arange(4.0, dtype='f4')", "np.ones(4, 'f4')", "x * torch.from_numpy(v)", "v += 1"),
    "array's sum": ("np.arange(4.0)", "np.ones(4)", "x * float(v.sum())", "v += 1"), "number of NumPy": ("np.float32(2)", "np.float64(3)", "x * v", ""),
    "truth": ("torch.tensor(True)", "torch.tensor(False)", "torch.where(v, x, -x)", "v.logical_not_()"),
    "one number": ("torch.tensor(2.0)", "torch.tensor(3.0)", "x * v", "v.add_(1)"), "its value": ("torch.tensor(2.0)", "torch.tensor(3.0)", "x * v.item()", "v.add_(1)"),
    "decides": ("torch.tensor(2.0)", "torch.tensor(-3.0)", "x if v > 0 else -x", "v.neg_()"), "slice": ("slice(0, 2)", "slice(1, 4)", "x[v]", ""),
    "index": ("torch.tensor([0, 1])", "torch.tensor([3])", "x[v]", "v.data = torch.tensor([2])"), "mask": ("vector(1, 0, 1, 0) > 0", "vector(1, 1, 1, 0) > 0", "x[v]", "v.logical_not_()"),
    "enumeration": ("Color.RED", "Color.BLUE", "x * v.value", ""), "subclass of int": ("Whole(2)", "Whole(3)", "x * v", ""), "subclass of str": ("Text('sin')", "Text('cos')", "getattr(torch, v)(x)", ""),
    "text of a format": ("2", "3", "x * float(f'{v:.1f}')", ""), "dataclass": ("Data(2.0)", "Data(3.0)", "x * dataclasses.astuple(v)[0]", "v.v = 5.0"),
    "matched": ("('mul', 2.0)", "('add', 3.0)", "matched(v, x)", ""), "stream": ("random.random", "lambda: 0.5", "x * v()", ""), "freed": ("vector(1, 2)", "vector(3)", "x * len(v.tolist())", ""),
}  # fmt: skip
#: How it is reached: what reads it, and what sets it.
HOW = {
    "global": ("G", "global G; G = new"), "attribute": ("o.v", "o.v = new"), "string": ("getattr(o, f'v_{1}')", "o.v_1 = new"),
    "slot": ("s.v", "s.v = new"), "item": ("d['k']", "d['k'] = new"), "list": ("l[-1]", "l[-1] = new"), "closure": ("get()", "put(new)"),
    "default": ("default()", "default.__defaults__ = (new,)"), "named default": ("named()", "named.__kwdefaults__ = {'v': new}"),
    "partial": ("P()", "global P; P = functools.partial(same, new)"), "property": ("q.v", "Property.stored = new"),
    "getattr": ("w.anything", "Answers.stored = new"), "class": ("Class.v", "Class.v = new"), "module": ("m.v", "m.v = new"),
    "import": ("imported()", "sys.modules['scenario_module'].v = new"), "field": ("getattr(z, dataclasses.fields(z)[0].name)", "z.v = new"),
    "attrgetter": ("operator.attrgetter('a.v')(r)", "r.a.v = new"), "context": ("context.get()", "context.set(new)"),
    "call": ("called()", "Called.stored = new"), "buffer": ("n.v", "n.__dict__.pop('v', 0); n._parameters.pop('v', 0); n._modules.pop('v', 0); n.v = new"),
    "vars": ("vars(o)['w']", "o.w = new"), "iterator": ("next(I)", "global I; I = itertools.repeat(new)"),
    "method": ("o.m()", "o.m = types.MethodType(lambda self: new, o)"), "argument": ("y", "ARG[0] = new"),
}  # fmt: skip
CHANGES = ("once", "by turns", "in pairs", "after the use", "before the use", "in place")
CODE = """
def matched(v, x):
    match v:
        case ("mul", k): return x * k
        case ("add", k): return x + k

def imported():
    import scenario_module
    return scenario_module.v

def put_new(new):
    {set}

def function(x, y, turn):
    {before}
    v = {read}
    a = x * 1.5
    result = {use}
    {after}
    return a, result

def change():
    v = {read}
    {mutate}
"""


def every():
    """All scenarios."""
    return list(itertools.product(WHAT, HOW, CHANGES))


def outcome(what, how, change, compile):
    """What the calls of a scenario give."""
    one, other, use, mutate = WHAT[what]
    read, put = HOW[how]
    space = {"ARG": [None], "__name__": "scenario"}
    exec(PRELUDE, space)
    inside = "if turn == 3: put_new(B)" if how != "argument" else "pass"
    text = CODE.format(
        set=put, read=read if how != "argument" else "ARG[0]", use=use, mutate=mutate or "put_new(B)",
        before=inside if change == "before the use" else "pass", after=inside if change == "after the use" else "pass",
    )  # fmt: skip
    if how == "argument":
        text = text.replace("v = ARG[0]", "v = y", 1)
    exec(text, space)
    torch.manual_seed(0)
    random.seed(0)
    x = torch.randn(4)
    space["X"] = x
    first = eval(one, space)
    second = space["B"] = eval(other, space)
    space["put_new"](first)
    call = compile(space["function"])
    out = []
    for turn in range(7):
        if change == "once" and turn == 3:
            space["put_new"](second)
        elif change == "by turns":
            space["put_new"](second if turn % 2 else first)
        elif change == "in pairs":
            space["put_new"](second if turn % 4 > 1 else first)
        elif change == "in place" and turn == 3:
            space["change"]()
        torch.manual_seed(turn)
        try:
            out.append(tree(call(x, space["ARG"][0], turn)))
        except Exception as error:  # noqa: BLE001  it is compared too
            out.append((type(error).__name__, str(error)))
    return out


def difference(scenario, compile):
    """What a scenario gives as it is written, and compiled, where that is not the same; else None."""
    written, replayed = outcome(*scenario, lambda function: function), outcome(*scenario, compile)
    return None if repr(written) == repr(replayed) else (written, replayed)


def main():
    """Run scenarios from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2000)
    chosen = random.Random(0).sample(every(), len(every()))[: parser.parse_args().count]
    small_ones_too()
    wrong = 0
    with compiled.serving(compiled.NEVER):
        for scenario in chosen:
            found = difference(scenario, torch.compile)
            if found is not None:
                wrong += 1
                print(scenario, *found, sep="\n    ")
    print(f"{wrong} of {len(chosen)} scenarios differ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
