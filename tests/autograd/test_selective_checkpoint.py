"""Selective checkpointing: what the policy sees, what is kept and what computed again, and what refuses."""

import functools
import os
import random
from importlib import import_module

import pytest

import glassgrad
from glassgrad.core.row import TABLE
from tests.agreement import check

pytestmark = pytest.mark.torch


def _layers(torch, x):
    """One call of each kind that networks are made of."""
    functional = torch.nn.functional
    image = torch.linspace(-1, 1, 32).reshape(1, 2, 4, 4).requires_grad_()
    return {
        "matmul": lambda: x @ x,
        "linear": lambda: functional.linear(x, x, x.sum(0)),
        "activations": lambda: functional.gelu(x.sigmoid()).relu().tanh(),
        "softmax": lambda: x.softmax(-1).log_softmax(-1),
        "numbers": lambda: (1 - x * 2 + 1) / 3,
        "powers": lambda: x**2 + 2**x,
        "reductions": lambda: x.sum() + x.mean(0) + x.var() + x.norm() + x.max(),
        "views": lambda: x.t().reshape(9).view(3, 3).transpose(0, 1)[0:1],
        "norm": lambda: functional.layer_norm(x, (3,)) * x,
        "convolution": lambda: functional.max_pool2d(functional.conv2d(image, image, padding=1), 2),
        "attention": lambda: functional.scaled_dot_product_attention(image, image, image),
        "joined": lambda: torch.cat([x, x]).split(2)[0] + torch.stack([x, x])[0][:2],
        "chosen": lambda: torch.where(x > 0, x, -x).masked_fill(x == x, 1.0),
        "loss": lambda: functional.mse_loss(x, x * x),
    }


def _contexts(torch, policy):
    return functools.partial(torch.utils.checkpoint.create_selective_checkpoint_contexts, policy)


def test_the_policy_sees_torchs_operations():
    def program(torch, show):
        import_module(f"{torch.__name__}.utils.checkpoint")
        x = torch.linspace(0.1, 1, 9).reshape(3, 3).requires_grad_()
        for label in _layers(torch, x):
            seen = []

            def policy(context, operation, *args, seen=seen, **kwargs):
                seen.append((str(operation), context.is_recompute, context.op_output))
                return torch.utils.checkpoint.CheckpointPolicy.PREFER_RECOMPUTE

            def part(x, label=label):
                return _layers(torch, x)[label]().sum()

            out = torch.utils.checkpoint.checkpoint(part, x, use_reentrant=False, context_fn=_contexts(torch, policy))
            made = ("aten.linspace", "aten.empty", "aten.arange", "aten.lift_fresh")
            show(label, [name for name, *_ in seen if not name.startswith(made)][2:])
            show(f"{label}'s sum", [seen[-1][1], tuple(seen[-1][2].shape)])
            (gradient,) = torch.autograd.grad(out, x, allow_unused=True)
            show(f"{label}'s gradient", gradient)

    check(program)


@pytest.mark.parametrize("kind", ["a list", "a policy", "truth values", "everything", "nothing"])
def test_gradients_are_those_of_the_part_itself(kind):
    def program(torch, show):
        module = import_module(f"{torch.__name__}.utils.checkpoint")
        mm, policies = torch.ops.aten.mm.default, module.CheckpointPolicy
        chosen = {
            "a list": [mm, torch.ops.aten.sigmoid.default],
            "a policy": lambda context, op, *args, **kwargs: (
                policies.MUST_SAVE if op == mm else policies.PREFER_RECOMPUTE
            ),
            "truth values": lambda context, op, *args, **kwargs: op is mm,
            "everything": lambda context, op, *args, **kwargs: policies.PREFER_SAVE,
            "nothing": lambda context, op, *args, **kwargs: policies.MUST_RECOMPUTE,
        }[kind]
        x = torch.linspace(-1, 1, 9).reshape(3, 3).requires_grad_()
        y = torch.linspace(1, 2, 9).reshape(3, 3).requires_grad_()

        def part(x, y):
            best, _ = (x * y).max(0)
            return torch.sigmoid(torch.matmul(torch.matmul(x, y), y)) * y.t() + best

        out = module.checkpoint(part, x, y, use_reentrant=False, context_fn=_contexts(torch, chosen))
        show("result", out)
        out.sum().backward(retain_graph=True)
        show("gradients", [x.grad, y.grad])
        show.error(lambda: out.sum().backward(), "once more")
        with torch.no_grad():
            show("unrecorded", module.checkpoint(part, x, y, use_reentrant=False, context_fn=_contexts(torch, chosen)))

    check(program)


def test_what_refuses():
    def program(torch, show):
        module = import_module(f"{torch.__name__}.utils.checkpoint")
        aten = torch.ops.aten
        show.error(lambda: module.create_selective_checkpoint_contexts([aten.mm]), "a packet")
        show.error(lambda: module.create_selective_checkpoint_contexts(["mm"]), "a string")
        show.error(lambda: module.create_selective_checkpoint_contexts(1), "no policy")
        show.error(lambda: aten.no_such_operation, "no operation")
        show.error(lambda: aten.mm.no_such_overload, "no overload")
        show(
            "names", [str(aten.mm), repr(aten.mm), str(aten.mm.default), repr(aten.mm.default), aten.mm.default.name()]
        )
        show("the same", [aten.mm.default is aten.mm.default, aten.add.Tensor == aten.sub.Tensor])
        show("called", [aten.mm(torch.eye(2), torch.ones(2, 2)), aten.relu.default(torch.tensor([-1.0, 1.0]))])
        x = torch.linspace(-1, 1, 9).reshape(3, 3).requires_grad_()

        def changing(x):
            product = x @ x
            result = product.sin()
            product.mul_(2)
            return result

        for allowed in (False, True):
            contexts = functools.partial(
                module.create_selective_checkpoint_contexts, [aten.mm.default], allow_cache_entry_mutation=allowed
            )

            def run(contexts=contexts):
                out = module.checkpoint(changing, x, use_reentrant=False, context_fn=contexts, early_stop=False)
                return torch.autograd.grad(out.sum(), x)

            show.error(run, f"changed, {allowed}") if not allowed else None
        turns = iter(range(9))

        def fickle(x):
            return (x @ x).sin() if next(turns) == 0 else (x + x).sin()

        def backward():
            out = module.checkpoint(fickle, x, use_reentrant=False, context_fn=_contexts(torch, [aten.mm.default]))
            out.sum().backward()

        show.error(backward, "another operation")

    check(program)


def test_what_was_kept_is_not_computed_again(monkeypatch):
    from glassgrad.utils.checkpoint import checkpoint

    torch, counts = glassgrad, {"mm": 0, "sin": 0}
    for name in counts:

        def counted(*args, name=name, kernel=TABLE[name].kernel):
            counts[name] += 1
            return kernel(*args)

        monkeypatch.setattr(TABLE[name], "kernel", counted)
    x = torch.ones(2, 2, requires_grad=True)

    def part(x):
        return (x @ x).sin().sin()

    out = checkpoint(part, x, use_reentrant=False, context_fn=_contexts(torch, [torch.ops.aten.mm.default]))
    assert counts == {"mm": 1, "sin": 2}
    out.sum().backward()
    assert counts == {"mm": 1, "sin": 4}
    checkpoint(part, x, use_reentrant=False).sum().backward()
    assert counts["mm"] == 3


def test_a_policy_may_compute():
    from glassgrad.utils.checkpoint import checkpoint

    def policy(context, operation, *args, **kwargs):
        return bool((context.op_output.abs().sum() > 0).item())

    x = glassgrad.ones(2, 2, requires_grad=True)
    checkpoint(
        lambda x: x.exp().exp(), x, use_reentrant=False, context_fn=_contexts(glassgrad, policy)
    ).sum().backward()
    assert x.grad is not None


def test_a_saved_tensor_is_unpacked_once_however_many_rules_read_it():
    def program(torch, show):
        module = import_module(f"{torch.__name__}.utils.checkpoint")
        functional = torch.nn.functional
        x = torch.linspace(-1, 1, 9).reshape(3, 3).requires_grad_()
        parts = {
            "where": lambda x: torch.where(x > 0, x, -x),
            "mse": lambda x: functional.mse_loss(x, x * x, reduction="none"),
            "smooth": lambda x: functional.smooth_l1_loss(x, x * x, reduction="none"),
            "hypot": lambda x: torch.hypot(x, x + 1),
            "atan2": lambda x: torch.atan2(x, x + 2),
            "maximum": lambda x: torch.maximum(x, x * x),
            "bce": lambda x: functional.binary_cross_entropy(x.sigmoid(), x.tanh().abs(), reduction="none"),
            "lerp": lambda x: torch.lerp(x, x * x, x.sigmoid()),
            "addcdiv": lambda x: torch.addcdiv(x, x, x + 3),
            "prelu": lambda x: functional.prelu(x, x[0] * x[0]),
            "batch_norm": lambda x: functional.batch_norm(x, None, None, x[0], x[1], training=True) * x,
            "bilinear": lambda x: functional.bilinear(x, x, x[None].expand(2, 3, 3)),
        }
        for label, part in parts.items():
            unpacked = []
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t, u=unpacked: u.append(1) or t):
                out = part(x)
            out.sum().backward()
            again = module.checkpoint(part, x, use_reentrant=False)
            show(label, [len(unpacked) > 0, torch.autograd.grad(again.sum(), x)[0]])

    check(program)


def _steps(torch, w, b):
    """Parts of networks that take and give a matrix of 4 by 6."""
    functional = torch.nn.functional
    lstm, attention = torch.nn.LSTM(6, 6), torch.nn.MultiheadAttention(6, 2)
    return [
        lambda h: functional.linear(h, w, b),
        lambda h: torch.relu(h @ w),
        lambda h: functional.layer_norm(h, (6,), b, b),
        lambda h: h.softmax(-1) * h,
        lambda h: functional.dropout(h, 0.3),
        lambda h: torch.where(h > 0, h, h * w[0]),
        lambda h: h.max(0)[0] + h,
        lambda h: lstm(h[:, None])[0][:, 0],
        lambda h: attention(h[:, None], h[:, None], h[:, None])[0][:, 0],
        lambda h: functional.gelu(h).t().reshape(4, 6),
        lambda h: torch.cat([h, h * b], 0)[2:6],
        lambda h: functional.batch_norm(h, None, None, training=True) + b,
        lambda h: torch.einsum("ij,kj->ik", h, w),
        lambda h: h.sort(0)[0].cumsum(0),
        lambda h: h.exp().clamp(max=3),
        lambda h: functional.mse_loss(h, h * h, reduction="none"),
    ]


def test_whatever_is_kept_the_gradients_are_the_same():
    """``GLASSGRAD_CHECKPOINTS=1000`` makes a longer run."""
    from glassgrad.utils.checkpoint import checkpoint

    torch = glassgrad
    for seed in range(int(os.environ.get("GLASSGRAD_CHECKPOINTS", "40"))):
        draw, kept = random.Random(seed), {}
        torch.manual_seed(seed)
        x, w, b = (torch.randn(*sizes, requires_grad=True) for sizes in ((4, 6), (6, 6), (6,)))
        chain = draw.choices(_steps(torch, w, b), k=draw.randrange(1, 6))

        def part(h, chain=chain):
            return functools.reduce(lambda h, step: step(h), chain, h)

        def gradients(compute, seed=seed, x=x, w=w, b=b):
            torch.manual_seed(seed)
            out = compute(x)
            return [out, *torch.autograd.grad(out.sum(), [x, w, b], allow_unused=True)]

        def policy(context, operation, *args, kept=kept, draw=draw, **kwargs):
            return kept.setdefault(operation, draw.random() < 0.5)

        expected = gradients(part)
        for choice in (policy, lambda *args, **kwargs: True):
            run = functools.partial(checkpoint, part, use_reentrant=False, context_fn=_contexts(torch, choice))
            for one, other in zip(gradients(run), expected, strict=True):
                assert (one is other is None) or torch.allclose(one, other, 0, 0, equal_nan=True), seed
