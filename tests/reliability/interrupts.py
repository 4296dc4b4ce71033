"""A program of its own: Ctrl-C at each instruction of a training loop's calls; prints what it left, one line each.

    python -m tests.reliability.interrupts [--every N] [name ...]

A signal is raised at the n-th instruction of the package, and the interpreter serves it where it next may; n goes over
all instructions, or over every N-th.  Only one place is excused: the first instruction of an ``__exit__``, which Python
enters with nothing around it, in PyTorch's ``no_grad`` as well.
"""

import math
import os
import signal
import sys
import tempfile
import traceback
from _thread import interrupt_main
from itertools import starmap

import glassgrad as torch
from glassgrad.autograd import graph
from glassgrad.compiler import function as compiler
from glassgrad.core import engine
from glassgrad.fast import walk
from glassgrad.ground import listening, modes
from tests.compiler.both_ways import small_ones_too

HOME = os.path.join("src", "glassgrad") + os.sep


class Interrupted(BaseException):
    """What the signal's handler raises."""


def _handler(number, frame):
    raise Interrupted


def interrupted_at(moment, act):
    """Call ``act``; at that instruction of the package's a signal arrives.  Gives the error, or None if all ran."""
    left = [moment]

    def trace(frame, event, argument):
        if HOME not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left[0] -= 1
            if left[0] == 0:
                sys.settrace(None)
                [*starmap(interrupt_main, [(signal.SIGINT,)])]  # no call, after which it would be served here
        return trace

    before = signal.signal(signal.SIGINT, _handler)
    try:
        try:
            sys.settrace(trace)
            act()
        finally:
            sys.settrace(None)
    except Interrupted as error:
        return error
    finally:
        signal.signal(signal.SIGINT, before)
    return None if left[0] > 0 else Interrupted()  # of a finalizer, say, which Python lets nothing leave


def is_excused(error):
    """Whether it came at the first instruction of an ``__exit__``."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
        if last.tb_frame.f_code.co_name == "__exit__" and last.tb_lineno == last.tb_frame.f_code.co_firstlineno:
            return True
    return False


def check_modes():
    """All switches are at their defaults, and calls go the everyday way again."""
    local = modes.local
    assert local.grad, "recording is off"
    assert not (local.inference or local.anomaly or local.autocast or local.saved_hooks), "a mode is on"
    x = torch.ones(1, requires_grad=True)
    assert (x * 2).requires_grad, "nothing is recorded"
    torch.sin(x)
    assert not modes.off and not modes.watch and not modes.unusual, "calls take the long way"
    assert graph.current_task() == -1, "a backward call seems to run"
    assert not walk._walking, "backward takes the long way"


# -- what is interrupted: a function that prepares, and gives what is done and what must hold then ---------------------


def loss_of(x):
    return (x * x + x.exp()).sum()


def backward():
    x = torch.ones(2, requires_grad=True)
    loss = loss_of(x)
    return lambda: loss.backward(), lambda: None


def backward_with_hooks():
    x = torch.ones(2, requires_grad=True)
    loss = loss_of(x)
    x.register_hook(lambda grad: grad * 2)
    return lambda: torch.autograd.backward([loss, loss * 2]), lambda: None


def grad_of_grad():
    x = torch.ones(2, requires_grad=True)
    loss = loss_of(x)

    def act():
        (first,) = torch.autograd.grad(loss, x, create_graph=True)
        torch.autograd.grad(first.sum(), x)

    return act, lambda: None


def blocks():
    x = torch.ones(2, requires_grad=True)

    def act():
        for block in (
            torch.no_grad(),
            torch.inference_mode(),
            torch.autocast("cpu"),
            torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
            torch.autograd.detect_anomaly(),
        ):
            with block:
                x * x
        with torch.no_grad(), torch.enable_grad():
            x * x

    return act, lambda: None


def decorated():
    x = torch.ones(2, requires_grad=True)
    act = torch.no_grad()(lambda: x * x)
    return act, lambda: None


def checkpointed():
    x = torch.ones(2, requires_grad=True)

    def act():
        torch.utils.checkpoint.checkpoint(loss_of, x, use_reentrant=False).backward()
        torch.utils.checkpoint.checkpoint(loss_of, x, use_reentrant=True).backward()

    return act, lambda: None


def parameters():
    params = [torch.nn.Parameter(torch.ones(size)) for size in (2, 3, 5000)]
    params.append(torch.nn.Parameter(torch.ones(2, dtype=torch.float64)))
    for param in params:
        param.grad = torch.ones_like(param)
    return params


def optimizer(make):
    def prepare():
        params = parameters()
        stepper = make([{"params": params[:2]}, {"params": params[2:], "lr": 0.5}])

        def act():
            stepper.step()
            stepper.step()

        def check():
            for name in ("step", "eta", "mu", "mu_product"):
                numbers = {float(state[name]) for state in stepper.state.values() if name in state}
                assert len(numbers) < 2 or name == "eta", f"{name} differs among parameters: {numbers}"
            stepper.step()
            counted = [state for state in stepper.state.values() if "step" in state]
            assert not counted or len(counted) == len(params)

        return act, check

    return prepare


def scaler():
    params = parameters()
    scaler, stepper = torch.amp.GradScaler("cpu"), torch.optim.SGD(params, lr=0.0)
    scaler.scale(torch.ones(1))
    once = {1 / 65536}, {1.0}

    def act():
        scaler.unscale_(stepper)
        scaler.step(stepper)
        scaler.update(2.0)

    def check():
        grads = {number for param in params for number in param.grad.tolist()}
        assert grads in once, "some gradients are divided, others not"
        state = [progress.stage.value for progress in scaler._progress.values()]
        if state in ([], [0]) and scaler.get_scale() == 65536.0:
            assert grads == {1.0}, "a second division would follow"

    return act, check


def schedule(make):
    def prepare():
        def fresh():
            stepper = torch.optim.SGD([{"params": parameters()}, {"params": parameters(), "lr": 0.5}], lr=0.1)
            return stepper, make(stepper)

        stepper, schedule = fresh()
        stepper.step()

        def rates_of(stepper):
            return [group["lr"] for group in stepper.param_groups]

        def state_of(schedule):
            inner = [state_of(one) for one in getattr(schedule, "_schedulers", ())]
            return {k: v for k, v in schedule.state_dict().items() if k != "_schedulers"}, inner

        def check():
            other, expected = fresh()
            other.step()
            if state_of(schedule) != state_of(expected):  # it came after all was done
                expected.step()
            schedule.step()
            expected.step()
            assert rates_of(stepper) == rates_of(other), "the rates are others than without Ctrl-C"
            assert state_of(schedule) == state_of(expected)

        return schedule.step, check

    return prepare


def averages():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    mean = torch.optim.swa_utils.AveragedModel(model)

    def act():
        mean.update_parameters(model)
        mean.update_parameters(model)
        torch.optim.swa_utils.update_bn([torch.ones(2, 2)], model)

    def check():
        assert all(module.training for module in model.modules())
        assert model[1].momentum == 0.1
        mean.update_parameters(model)
        assert [mine.tolist() for mine in mean.module.parameters()] == [p.tolist() for p in model.parameters()]

    return act, check


def saving():
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "file.pt")
    torch.save({"x": torch.ones(3)}, path)

    def check():
        assert torch.load(path)["x"].tolist() in ([1.0] * 3, [2.0] * 3)
        os.unlink(path)
        assert os.listdir(folder) == [], "something is left beside the file"
        os.rmdir(folder)

    return lambda: torch.save({"x": torch.full((3,), 2.0)}, path), check


def deferred():
    x, made = torch.ones(3, requires_grad=True), []
    data = x.detach()

    def function(x):
        made.append(x * 2 + 1)
        data.add_(1)
        made.append(made[0].detach() * x)
        made.append(made[1].exp())
        return made[1] + made[0]

    compiled = torch.compile(function)

    def check():
        data.fill_(100.0)
        expected = [3.0] * 3, [6.0] * 3, [math.exp(6)] * 3
        for tensor, numbers in zip(made, expected, strict=False):
            assert torch.allclose(tensor.detach(), torch.tensor(numbers)), "it read what was written afterwards"
        assert compiler.inside.run() is None and not torch.compiler.is_compiling(), "a call seems to run"

    return lambda: compiled(x), check


lr_scheduler = torch.optim.lr_scheduler
CASES = {
    "deferred arithmetic": deferred,
    "backward": backward,
    "backward with hooks": backward_with_hooks,
    "grad of grad": grad_of_grad,
    "blocks": blocks,
    "decorated": decorated,
    "checkpoint": checkpointed,
    "averages": averages,
    "scaler": scaler,
    "save": saving,
    "momentum": optimizer(lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9, dampening=0.5)),
    **{
        name: optimizer(lambda params, name=name: getattr(torch.optim, name)(params, lr=0.1))
        for name in ("SGD", "Adam", "AdamW", "NAdam", "ASGD", "RMSprop", "Rprop", "Adagrad", "RAdam", "Adamax",
                     "Adadelta", "Adafactor")
    },
    "StepLR": schedule(lambda stepper: lr_scheduler.StepLR(stepper, 2)),
    "OneCycleLR": schedule(lambda stepper: lr_scheduler.OneCycleLR(stepper, 1.0, 10)),
    "ExponentialLR": schedule(lambda stepper: lr_scheduler.ExponentialLR(stepper, 0.5)),
    "SequentialLR": schedule(
        lambda stepper: lr_scheduler.SequentialLR(
            stepper, [lr_scheduler.ConstantLR(stepper), lr_scheduler.ExponentialLR(stepper, 0.5)], [1]
        )
    ),
    "ChainedScheduler": schedule(
        lambda stepper: lr_scheduler.ChainedScheduler(
            [lr_scheduler.StepLR(stepper, 2), lr_scheduler.ExponentialLR(stepper, 0.5)]
        )
    ),
}  # fmt: skip


def sweep(name, every=1, first=1):
    """Interrupt a case at instructions; gives what was left wrong, how many there were, and how many were excused."""
    prepare = CASES[name]
    act, _ = prepare()
    act()  # the first use of everything is the affair of another program
    faults, moment, count, excused = [], first, 0, 0
    while True:
        act, check = prepare()
        error = interrupted_at(moment, act)
        if error is None:
            return faults, count, excused
        count += 1
        is_allowed = is_excused(error)
        *_, place, _ = [None, None, *traceback.extract_tb(error.__traceback__)]  # the last is the handler
        del error  # with all that its frames hold
        try:
            check_modes()
            check()
        except BaseException as fault:
            if is_allowed:
                excused += 1
            else:
                faults.append(f"{name} at {moment}, in {place}: {fault!r}")
            reset()
        moment += every


def reset():
    """The switches as they were at first, for the next case."""
    local = modes.local
    local.grad, local.inference, local.anomaly, local.autocast, local.saved_hooks = True, False, None, None, ()
    for threads in (modes.off, modes.watch, modes.unusual):
        threads.clear()
    walk._walking.clear()
    engine.running.calls.clear()
    compiler._runs.clear()
    listening.listeners = ()


def main(*arguments):
    """Sweep these cases, or all."""
    small_ones_too()
    every = int(arguments[arguments.index("--every") + 1]) if "--every" in arguments else 1
    for name in [name for name in CASES if name in arguments] or CASES:
        faults, count, excused = sweep(name, every)
        print(*dict.fromkeys(faults), sep="\n", end="\n" * bool(faults))
        print(f"{name}: {count} interrupts, {len(faults)} faults, {excused} excused", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
