"""Runs the same thing as it is written and compiled, and compares every bit of results, gradients, state and stream."""

import dataclasses

import numpy as np

import glassgrad as torch
from glassgrad.compiler import compile, deferral, function


def small_ones_too(setting=setattr):
    """Have small arrays deferred, without loops as well, and as often as a function is called."""
    setting(function, "TRIED", 10**9)
    setting(function, "can_loop", lambda: True)
    setting(deferral, "FEWEST", 1)


def bits(tensor):
    """The memory of a tensor, as bytes, with its shape and dtype."""
    array = np.asarray(tensor.detach().numpy())
    return array.shape, array.dtype.str, array.tobytes()


def numbers(tensor):
    return np.asarray(tensor.detach().numpy()).copy()


def training(make_model, make_batch, loss_of, make_optimizer, steps=5, seen=bits):
    """What a training step gives and leaves behind, as it is written and compiled; and the compiled step."""
    found = []
    for how in (lambda step: step, pure):
        torch.manual_seed(0)
        model = make_model()
        optimizer = make_optimizer(model.parameters())
        batches = [make_batch() for _ in range(steps)]

        def step(x, y, model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = loss_of(model, x, y)
            loss.backward()
            optimizer.step()
            return loss

        step = how(step)
        losses = [seen(step(*batch)) for batch in batches]
        found.append(
            {
                "losses": losses,
                "state": {name: seen(value) for name, value in model.state_dict().items()},
                "gradients": {name: p.grad is not None and seen(p.grad) for name, p in model.named_parameters()},
                "optimizer": [
                    {key: seen(value) for key, value in optimizer.state.get(p, {}).items() if value is not None}
                    for p in model.parameters()
                ],
                "stream": torch.get_rng_state().numpy().tobytes(),
            }
        )
    return found[0], found[1], step


def pure(function):
    """The function compiled with a promise."""
    return compile(function, pure=True)


def programs(function):
    """The programs of a compiled function."""
    return compile.explain(function).programs


def reasons(function):
    """Why a compiled function runs as it is written."""
    return compile.explain(function).reasons


def tree(piece):
    """Everything in a result, to compare: tensors by their bits."""
    if isinstance(piece, torch.Tensor):
        return *bits(piece), piece.requires_grad
    if isinstance(piece, (list, tuple)):
        return [tree(inner) for inner in piece]
    if isinstance(piece, dict):
        return {key: tree(inner) for key, inner in piece.items()}
    return tree(vars(piece)) if dataclasses.is_dataclass(piece) else piece


class Cases(dict):
    """Functions of ``how`` and ``out`` by their names, for ``both``: an object of this class decorates them."""

    def __call__(self, function):
        self[function.__name__] = function
        return function


def four(i=0):
    """Four numbers that follow each other, from ``i`` on."""
    return torch.arange(4.0) + i


def both(case):
    """What ``case(how, out)`` puts into ``out``, where ``how`` leaves a function as it is, and where it compiles it."""
    found = []
    for how in (lambda function: function, compile):
        torch.manual_seed(0)
        out = []
        try:
            case(how, out)
        except Exception as error:
            out.append((type(error).__name__, str(error)[:80]))
        found.append(tree(out))
    return found
