"""Random programs: functions of tensors that compute, look, write, walk backward and change what they work with.

Each is run as it is written and compiled, several times, and everything that can be seen of it is compared bit for bit.
"""

# ruff: noqa: E501  the tables have a line for each thing

import argparse
import random
import sys
import warnings
from contextlib import nullcontext
from functools import partial

import numpy as np

import glassgrad as torch
from glassgrad import nn
from glassgrad.kernels import compiled

from .both_ways import bits, small_ones_too

#: Statements that give a tensor of four numbers, or of three by four: ``{a}`` and ``{b}`` are such.
VECTORS = """
{a} + {b} | {a} * {b} | {a} - {b} | {a} / ({b}.abs() + 1) | {a}.tanh() | {a}.exp().log1p() | -{a} | {a}.relu() | {a} * 2
{a} + c.number | {a} ** 2 | {a}.sigmoid() | {a}.clamp(-1, 1) | torch.where({a} > 0, {a}, {b}) | {a}.clone() | {a}.detach()
{a}.softmax(-1) | {a}.cumsum(-1) | {a}.flip(-1) | {a}.contiguous() | {a}.float() | F.gelu({a}) | F.linear({a}, c.w) + 0
{a}.sum() * {b} | {a}.mean() + {b} | {a}.max() * {b} | F.layer_norm({a}, (4,)) | {a}.double().float() | c.net({a})
torch.stack([{a}, {b}]).sum(0) | torch.cat([{a}, {b}], -1)[..., :4] | torch.maximum({a}, {b}) | {a}[...] | {a}.view(-1, 4)[0]
{a}.unsqueeze(0).squeeze(0) | {a} @ c.w | torch.zeros(4) + {a} | torch.ones_like({a}) * {b} | {a} * {a}.requires_grad
{a} * ({a}.grad is None) | {a} * len({a}.shape) | {a} * float({a}._version) | {a}.to(torch.float32) | F.dropout({a}, 0.5)
{a} + torch.rand(4) | c.buffer * {a} | {a} + c.held["w"] | {a}.masked_fill({b} > 0, 0.5) | {a} * ({a} is {b})
{a} * ({a} > {b}) | {a}.index_select(-1, c.index) | {a}[..., c.index] | {a}.norm() * {b} | {a}.expand_as({a}) * 1
""".replace("\n", "|")  # fmt: skip
#: Statements of any other kind.
STATEMENTS = r"""
see({a}) | see({a}.sum().item()) | see(repr({a})) | see({a}.tolist()) | see({a}.requires_grad, {a}.is_leaf, {a}.shape)
see({a}._version, {a}.dtype) | see({a}.grad_fn is None) | see(bool(({a} > 0).any())) | see(type({a}).__name__)
see(c.w.grad) | see(c.w._version) | see({a}.numpy(force=True).sum()) | see(np.asarray({a}.detach())) | see({a} is {b})
see({a}.data_ptr() == {b}.data_ptr()) | see({a}.stride()) | see(torch.equal({a}, {b})) | see(torch.get_rng_state().sum())
{a} = {a} * 1; {a}.add_(1) | {a} = {a} + 0; {a}.mul_({b}.detach()) | {a} = {a}.clone(); {a}[0] = 0.5 | {a} = {a} * 1; {a} += 1
{a} = {a}.clone(); v = {a}[..., 1:]; v.mul_(3) | {a} = {a}.clone(); {a}.zero_() | {a} = {a}.clone(); {a}.copy_({b}.detach())
with torch.no_grad(): {a} = {b} * 2 | with torch.no_grad(): c.w.mul_(0.9) | with torch.no_grad(): c.buffer.add_({a}.detach())
c.buffer = {a}.detach() | c.buffer.mul_(0.5) | c.held["w"] = {a}.detach() | c.number += 1 | c.number = float({a}.sum()) % 3
({a} * c.w[0]).sum().backward() | (({a} + {b}) * c.w.sum()).mean().backward() | c.net({a}).sum().backward()
c.opt.zero_grad() | c.opt.zero_grad(set_to_none=False) | c.opt.step() | c.w.grad = None | see(c.w.grad is None)
torch.nn.utils.clip_grad_norm_(c.params, 1.0) | c.sched.step() | c.last = {a} | see(c.last) | c.kept.append({a})
if {a}.sum() > 0: {b} = {b} * 2 | for i in range(c.turn % 3): {a} = {a} * 0.5 + i | c.view = c.buffer[1:]; c.view.add_(1)
{a} = {a}.detach().requires_grad_() | c.w.requires_grad_(c.turn % 2 == 0) | c.w.requires_grad = True | {a}.tag = 3; see({a}.tag)
see(torch.autograd.grad(({a} * c.w[1]).sum(), c.w, allow_unused=True)[0]) | torch.manual_seed(c.turn) | c.array += 1
see({a} + c.shared) | c.shared.add_(1) | {a} = {a} + c.shared | see(len(c.kept)) | see(copy.copy({a})) | see(copy.deepcopy({a}.detach()))
try: see({a}[torch.tensor([9])])\nexcept IndexError as error: see(str(error)) | see(pickle.loads(pickle.dumps({a}.detach())))
try: see({a} @ torch.ones(7))\nexcept RuntimeError as error: see(str(error)) | r = weakref.ref({a}); see(r() is {a})
{a} = {b} | {a}, {b} = {b}, {a} | see(isinstance({a}, torch.Tensor), {a}.__class__ is torch.Tensor) | see({a}.device)
h = {a}.register_hook(seen) if {a}.requires_grad else None | c.w.register_hook(seen) if c.turn == 2 else None
c.p.data = {a}.detach().clone() | see(c.p * {a}) | {a} = {a} * c.p | c.p.data.add_(1) | c.net.train(c.turn % 2 == 0)
({a} * {b}).sum().backward(retain_graph=True) if ({a} * {b}).requires_grad else None | see({a}.storage_offset(), {a}.is_contiguous())
x.grad = None | see(x.grad) | x.mul_(2) if not x.requires_grad else None | y.add_(1) if not y.requires_grad else None | torch.set_default_dtype(torch.float32)
see({a}.detach().__array__()[..., 0]) | see(float({a}.mean())) | see(f"{{{a}.sum():.3f}}") | see(list({a}))
with torch.autocast("cpu", torch.bfloat16): {a} = ({a} @ c.w).float() | with torch.enable_grad(): {b} = {a} * c.w[0]
with torch.inference_mode(): see({a} * 2) | see(torch.is_grad_enabled()) | {a} = Double.apply({a}) | c.flat = {a}.view(-1)
n = {a}.size(0); {b} = -{a}; see(tuple({b}.shape), n) | see({a}.dim(), ({a} * 2).shape) | see({a}.size(), len({a}))
{a} = {a} + torch.autograd.grad(({a} * c.w[1]).tanh().sum(), c.w, create_graph=True)[0][1] | see(torch.zeros(2, 4) + {a})
g, = torch.autograd.grad(({a} * c.w[0]).square().sum(), c.w, create_graph=True); (g * g).sum().backward(); see(g.detach())
see(*torch.autograd.grad((c.net({a}) * c.w[2]).sum(), [c.w, *c.net.parameters()])) | {a} = {a}.transpose(-1, 0).t().clone()
see(memoryview({a}.detach().numpy())[0] if {a}.dim() == 1 else 0) | see(hash({a}) == hash({b})) | see({a}.untyped_storage().nbytes())
""".replace("\n", "|").replace("\\n", "\n")  # fmt: skip


def pieces(text):
    """The things of a table."""
    return [piece.strip() for piece in text.split("|") if piece.strip()]


_VECTORS, _STATEMENTS = pieces(VECTORS), pieces(STATEMENTS)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class World:
    """What a program works with beside its arguments."""

    def __init__(self):
        torch.manual_seed(3)
        self.net = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
        self.w = nn.Parameter(torch.randn(4, 4) * 0.3)
        self.p = nn.Parameter(torch.randn(4))
        self.params = [self.w, *self.net.parameters()]
        self.opt = random.choice([torch.optim.SGD, torch.optim.Adam])(self.params, 0.05)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, 2)
        self.buffer, self.index = torch.randn(4), torch.tensor([1, 0, 3, 3])
        self.held = {"w": torch.randn(4)}
        self.array = np.arange(4, dtype=np.float32)
        self.shared = torch.from_numpy(self.array)
        self.number, self.turn, self.last, self.kept = 1.5, 0, None, []


def written(seed):
    """The text of a random program."""
    choice = random.Random(seed)
    names = ["x", "y", "a", "b"]
    lines = ["def program(x, y):", "    a, b = x * 1.5, y + x"]
    if choice.random() < 0.2:
        lines[1:1] = ["    see(x.size(0), y.dim())", "    see((-x).shape)"]
    for _ in range(choice.randint(3, 14)):
        one, two = choice.choice(names), choice.choice(names)
        if choice.random() < 0.55:
            line = f"{choice.choice('ab')} = {choice.choice(_VECTORS).format(a=one, b=two)}"
        else:
            line = choice.choice(_STATEMENTS).format(a=one, b=two)
        lines += ["    " + part for part in line.split("\n")]
    lines.append(f"    return {choice.choice(['a', 'b', 'a, b', '[a, b, x]', '(a * b).sum()', 'None'])}")
    return "\n".join(lines) + "\n"


def shown(piece):
    """What can be seen of a thing, to compare."""
    if isinstance(piece, torch.Tensor):
        return (*bits(piece), piece.requires_grad, piece.is_leaf, piece._version, piece.stride())
    if isinstance(piece, (list, tuple)):
        return [shown(inner) for inner in piece]
    if isinstance(piece, np.ndarray):
        return piece.tobytes()
    return repr(piece)


def outcome(seed, text, how, calls=6, rows=0):
    """Everything that can be seen of a program's calls."""
    import copy
    import pickle
    import weakref

    import glassgrad.nn.functional as F

    random.seed(seed)
    c, out = World(), []

    def see(*things):
        out.append([shown(thing) for thing in things])

    def seen(grad):
        out.append(shown(grad))

    space = {"torch": torch, "F": F, "np": np, "c": c, "see": see, "seen": seen, "copy": copy, "pickle": pickle,
             "weakref": weakref, "Double": Double}  # fmt: skip
    exec(compile(text, f"<program {seed}>", "exec"), space)
    call = how(space["program"])
    kinds = random.Random(seed + 1)
    wants = kinds.random() < 0.3
    for turn in range(calls):
        c.turn = turn
        torch.manual_seed(turn)
        x, y = (torch.randn(rows, 4), torch.randn(rows, 4)) if rows else (torch.randn(4), torch.randn(4))
        if kinds.random() < 0.15 and not rows:
            x = torch.randn(3, 4)
        if kinds.random() < 0.2:
            y = kinds.choice([x, x.detach(), x.view(-1, 4)[0], x[..., :], x.clone()])
        if kinds.random() < 0.1:
            c.buffer = y.detach()
        if wants:
            x.requires_grad_()
        try:
            result = call(x, y)
            see(result)
            for piece in result if isinstance(result, (tuple, list)) else [result]:
                if isinstance(piece, torch.Tensor) and piece.requires_grad and turn % 2:
                    piece.sum().backward(retain_graph=True)
        except Exception as error:  # noqa: BLE001  it is compared too
            out.append((type(error).__name__, str(error)))
            if "a second time" in str(error):  # docs/limits.md: what has its gradient by then
                return out
            if torch.is_inference_mode_enabled() or not torch.is_grad_enabled():
                raise
        see(x, y, x.grad, c.buffer, c.held["w"], c.array, c.number, c.p)
        out.append([(shown(p), p.grad is not None and shown(p.grad)) for p in c.params])
        out.append([shown(value) for p in c.params for value in c.opt.state.get(p, {}).values()])
    out.append(torch.get_rng_state().tolist())
    return out


def difference(seed, how):
    """Where a program that ``how`` compiles differs from it as it is written; None where it does not."""
    text = written(seed)
    one, other = outcome(seed, text, lambda function: function), outcome(seed, text, how)
    for place, (mine, theirs) in enumerate(zip(one, other)):
        if mine != theirs:
            return text, place, mine, theirs
    return None if len(one) == len(other) else (text, len(one), len(other), "")


def main():
    """Run random programs from the command line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rows", type=int, default=0, help="rows of arguments: many for compiled loops, with --verify")
    parser.add_argument("--verify", action="store_true", help="ask verify=1 alone, where compiled kernels add otherwise")
    told = parser.parse_args()
    warnings.simplefilter("ignore")
    small_ones_too()
    wrong = 0
    with nullcontext() if told.verify else compiled.serving(compiled.NEVER):
        for seed in range(told.first, told.first + told.count):
            if told.verify:
                with warnings.catch_warnings(record=True) as heard:
                    warnings.simplefilter("always")
                    outcome(seed, written(seed), partial(torch.compile, verify=1), rows=told.rows)
                found = [str(one.message) for one in heard if str(one.message).startswith("compile: ")]
                found = [written(seed), *found] if found else None
            else:
                found = difference(seed, partial(torch.compile, verify=2) if seed % 2 else torch.compile)
            if found:
                wrong += 1
                print(seed, *found, sep="\n")
    print(f"{wrong} of {told.count} programs differ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
