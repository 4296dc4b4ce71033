"""``__torch_function__``: who is asked about which function, with which arguments, and what subclasses keep."""

import inspect
import operator
import re
import warnings

import pytest

import glassgrad
from tests.agreement import check
from tests.property.changed_calls import CallRun, Text, samples
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

#: What answers without asking: ``__setstate__``, and a name of PyTorch's own for ``grad``.
NOT_ASKED = {"torch.Tensor.__setstate__", "torch.Tensor._grad.__get__"}


#: What is one function here and two there, or has a parameter more: handed on as the one in Python.
OTHER_ARGUMENTS = {
    "torch.celu", "torch.selu", "torch.rrelu", "torch.rms_norm", "torch.threshold", "torch.functional.istft",
    "torch.lobpcg", "torch.sym_sum", "torch.Tensor.__array_wrap__", "torch.Tensor.lu", "torch.Tensor.norm",
}  # fmt: skip


class Asked:
    """What a stranger of an engine heard, for a call."""

    def __init__(self, torch):
        self.torch, self.calls = torch, calls = torch, []

        class Duck:
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                calls.append((func, types, args, kwargs))
                return -1

        class Strange(torch.Tensor):
            __torch_function__ = Duck.__dict__["__torch_function__"]

        self.duck, self.strange = Duck(), torch.ones(2).as_subclass(Strange)

    def about(self, name, n_required):
        """The one call that was heard; what happened otherwise."""
        parts = name.split(".")
        self.calls.clear()
        try:
            if parts[1] != "Tensor":
                function = self.torch
                for part in parts[1:]:
                    function = getattr(function, part)
                answer = function(*[self.duck] * n_required)
            elif parts[-1] == "__get__":
                answer = getattr(self.strange, parts[2])
            else:
                answer = getattr(self.strange, parts[2])(*[self.strange] * (n_required - 1))
        except Exception as error:
            return f"raised {error!r}"
        if type(answer) is not int or len(self.calls) != 1:
            return f"asked {len(self.calls)} times, gave a {type(answer).__name__}"
        return self.calls[0]


def test_every_function_asks_once_as_pytorch_does():
    from tests.torch_reference import torch as real

    theirs, ours = Asked(real), Asked(glassgrad)
    tried, wrong = 0, []
    ignored = real.overrides.get_ignored_functions()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for function, stand_in in real.overrides.get_testing_overrides().items():
            name = None if function in ignored else real.overrides.resolve_name(function)
            if name is None or name.endswith(("__set__", "__delete__")) or name in NOT_ASKED:
                continue
            parameters = inspect.signature(stand_in).parameters.values()
            needed = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL and p.kind != 4]
            wanted = theirs.about(name, len(needed))
            if isinstance(wanted, str) or not _has(glassgrad, name):
                continue
            tried += 1
            heard = ours.about(name, len(needed))
            if isinstance(heard, str):
                wrong.append((name, heard))
            elif [kind.__name__ for kind in heard[1]] != [kind.__name__ for kind in wanted[1]]:
                wrong.append((name, heard[1]))
            elif not callable(heard[0]) or (written(heard) != written(wanted) and name not in OTHER_ARGUMENTS):
                wrong.append((name, written(heard), written(wanted)))
    assert tried > 1150 and not wrong, wrong


def written(call):
    """The arguments of a call, strangers by the names of their types."""

    def text(value):
        return type(value).__name__ if type(value).__name__ in ("Duck", "Strange") else repr(value)

    _, _, args, kwargs = call
    return [text(value) for value in args], kwargs and {name: text(value) for name, value in kwargs.items()}


def _has(torch, name):
    for part in name.removesuffix(".__get__").split(".")[1:]:
        torch = getattr(torch, part, None)
    return torch is not None


def logging(torch, lines):
    class Logging(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            lines.append((func.__name__, [kind.__name__ for kind in types], len(args), kwargs))
            return super().__torch_function__(func, types, args, kwargs)

    return Logging


def test_what_a_subclass_hears_of_a_program():
    def program(torch, show):
        lines = []
        t = torch.tensor([1.0, 2.0])
        d = torch.tensor([3.0, 4.0]).as_subclass(logging(torch, lines))
        results = [t - d, d - t, torch.sub(t, d), torch.sum(d, dim=0), d.sum(0), d.size(), torch.stack([t, d])]
        results += [torch.cat([d, t]), -d, torch.max(d), d.max(dim=0), d.reshape(2, 1).expand(2, 3), d.add_(1)]
        results += [d.shape, d.grad, d.dtype, d.requires_grad, d.is_leaf, d.device, d.data]
        d += 1
        show("kinds", [type(result).__name__ for result in results])
        for number, line in enumerate(lines):
            show(f"line {number}", line)

    check(program)


def test_pytorch_s_functions_in_python_hear_the_whole_call_once():
    lines = []
    kind = logging(glassgrad, lines)
    d = glassgrad.ones(2, 3).as_subclass(kind)
    functional = glassgrad.nn.functional
    for call in (
        lambda: functional.cross_entropy(d, glassgrad.tensor([0, 1])),
        lambda: functional.layer_norm(d, (3,)),
        lambda: functional.dropout(d, 0.5),
        lambda: glassgrad.einsum("ij,ij->i", d, d),
        lambda: glassgrad.norm(d),
        lambda: glassgrad.nn.Linear(3, 1)(d),
    ):
        call()
    names = ["cross_entropy", "layer_norm", "dropout", "einsum", "norm", "linear"]
    assert [line[0] for line in lines] == names


def test_a_stranger_draws_as_a_tensor_does():
    def program(torch, show):
        kept = torch.ones(3, 4).as_subclass(logging(torch, []))
        torch.manual_seed(0)
        for function in (torch.rand_like, torch.nn.functional.dropout, torch.bernoulli):
            show(function.__name__, function(kept).as_subclass(torch.Tensor))

    check(program)


def ducks(torch, lines):
    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            lines.append((func.__name__, [kind.__name__ for kind in types], len(args), kwargs))
            return "answer"

    return Duck()


def test_operators_with_a_duck():
    def program(torch, show):
        lines = []
        t, duck = torch.ones(2), ducks(torch, lines)
        results = [t + duck, duck + t, t * duck, t - duck, t / duck, t < duck, torch.add(t, duck, alpha=2)]
        show("answers", results + [t @ duck])
        show("named", lines[-1][0])
        show("lines", [(line[1], line[2], line[3]) for line in lines])

    check(program)


def test_who_is_asked_first():
    def program(torch, show):
        asked = []

        class Parent(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                asked.append((cls.__name__, [kind.__name__ for kind in types]))
                return NotImplemented

        class Child(Parent):
            pass

        class Other:
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                asked.append((cls.__name__, [kind.__name__ for kind in types]))
                return "other" if len(types) == 3 else NotImplemented

        a, b = torch.ones(1).as_subclass(Parent), torch.ones(1).as_subclass(Child)
        show("three", torch.where(a, b, Other()))
        try:
            torch.add(a, b)
        except TypeError as error:
            show("nobody", str(error).replace(str(Parent), "P").replace(str(Child), "C"))
        show("asked", asked)

    check(program)


def test_subclasses_keep_their_type():
    def program(torch, show):
        class Mine(torch.Tensor):
            pass

        x = torch.tensor([[1.0, 2.0], [3.0, 4.5]], requires_grad=True)
        p = x.as_subclass(Mine)
        results = [p * 2, 2 - p, p @ p, p.sum(), p.max(0), p[0], p.T, p.data, p.detach(), torch.zeros_like(p), p.grad]
        results += [torch.nn.functional.relu(p), torch.stack([p, x]), torch.cat([x, p]), p.split(1), p.new_zeros(2)]
        results += [p.to(torch.float64), torch.where(p > 1, p, x), torch.linalg.inv(p), torch.rand_like(p), p.clone()]
        results += [p.shape, p.item if p.numel() == 1 else p.tolist(), torch.unique(p), p.unbind()]

        def kinds(result):
            if type(result) in (tuple, list):
                return [kinds(part) for part in result]
            return type(result).__name__

        show("kinds", [kinds(result) for result in results])
        show("node", type((p * 2).grad_fn).__name__)
        show("printed", repr(p * 2))
        (p * 2).sum().backward()
        show("grad", x.grad)
        show("parameter", type(torch.nn.Parameter(torch.ones(1)) * 2).__name__)
        made = torch.Tensor._make_subclass(Mine, torch.ones(2), True)
        show("made", [type(made).__name__, made.requires_grad, made.is_leaf])
        with torch._C.DisableTorchFunctionSubclass():
            show("without", type(p * 2).__name__)

    check(program)


def test_a_subclass_of_two_unrelated_ones_is_not_guessed():
    def program(torch, show):
        class One(torch.Tensor):
            pass

        class Other(torch.Tensor):
            pass

        one, other = torch.ones(1).as_subclass(One), torch.ones(1).as_subclass(Other)
        try:
            show("result", one + other)
        except TypeError as error:
            show("refused", str(error)[:23])

    check(program)


def test_errors_are_those_of_the_call():
    def program(torch, show):
        class Mine(torch.Tensor):
            pass

        p = torch.ones(2, 3).as_subclass(Mine)
        show.error(lambda: p @ p, "shapes")
        show.error(lambda: p.reshape(4), "reshape")
        show.error(lambda: torch.nn.functional.cross_entropy(p, torch.tensor([7, 1])), "range")
        show.error(lambda: p.no_such_name, "attribute")

    check(program)


def test_what_is_detached_for_a_subclass_stays_one():
    def program(torch, show):
        class Kept(torch.Tensor):
            pass

        x = torch.tensor([1.0, 2.0]).as_subclass(Kept)
        seen = []

        def squares(value):
            seen.append(type(value).__name__)
            return (value * value).sum()

        for derivative in (torch.autograd.functional.jacobian, torch.autograd.functional.hessian):
            seen.append(type(derivative(squares, x)).__name__)
        product = torch.autograd.functional.vjp(squares, x)[1]
        show("derivatives", [*seen, type(product).__name__, product.tolist()])

        module = torch.nn.Module()
        module.register_buffer("kept", x)
        show("state", {name: type(value).__name__ for name, value in module.state_dict().items()})
        show("detached", type(torch.detach(x)).__name__)

        def checkpointed(value):
            seen.append(type(value).__name__)
            return value * 2

        leaf = torch.ones(2, requires_grad=True).as_subclass(Kept)
        torch.utils.checkpoint.checkpoint(checkpointed, leaf, use_reentrant=True).sum().backward()
        show("computed again", seen)

    check(program)


def test_steps_and_functions_of_one_s_own_are_not_asked_about():
    def program(torch, show):
        lines, calls = [], []
        strange = torch.ones(2).as_subclass(logging(torch, lines))

        class Stopped(torch.optim.SGD):
            def step(self, given):
                calls.append("step")
                raise ValueError("no step")

        class Refused(torch.autograd.Function):
            @staticmethod
            def forward(ctx, given):
                calls.append("forward")
                raise ValueError("no value")

        class Schedule(torch.optim.lr_scheduler.ReduceLROnPlateau):
            def step(self, given):
                calls.append("schedule")
                raise ValueError("no rate")

        optimizer = Stopped([torch.nn.Parameter(torch.ones(1))], lr=0.1)
        for call in (optimizer.step, Refused.apply, Schedule(optimizer).step):
            for given in (strange, torch.tensor(2.0)):
                with pytest.raises(ValueError) as caught:
                    call(given)
                show("raised", [str(caught.value), *calls, *lines])

    check(program)


def test_a_mode_is_asked_before_a_subclass():
    def program(torch, show):
        lines = []
        kind = logging(torch, lines)

        class Mode(torch.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                lines.append(("mode", func.__name__, [kind.__name__ for kind in types]))
                return func(*args, **(kwargs or {}))

        d = torch.ones(2).as_subclass(kind)
        with Mode():
            torch.add(d, 1)
        show("lines", [line[0] for line in lines])

    check(program)


def test_handing_over_by_hand():
    def program(torch, show):

        overrides = torch.overrides
        duck = ducks(torch, [])
        show("has", [overrides.has_torch_function((1, duck)), overrides.has_torch_function((torch.ones(1), 2))])
        show("unary", [overrides.has_torch_function_unary(duck), overrides.has_torch_function_unary(torch.ones(1))])

        def function(a, b=None):
            if overrides.has_torch_function((a, b)):
                return overrides.handle_torch_function(function, (a, b), a, b=b)
            return "own"

        show("answers", [function(1), function(duck), function(torch.ones(1), b=duck)])

    check(program)


def test_testing_overrides_have_the_signatures():
    stand_ins = glassgrad.overrides.get_testing_overrides()
    assert len(stand_ins) > 600
    assert stand_ins[glassgrad.add](1, 2) == -1
    assert list(inspect.signature(stand_ins[glassgrad.cumsum]).parameters)[:2] == ["input", "dim"]


#: What is heard by another name, or not at all: operators that are methods of their own here, names for one function.
HEARD_OTHERWISE = re.compile(
    r"functional\.(sigmoid|tanh|upsample)|^_foreach|^sym_int|^mm$|^range|_types$|_shapes$|__$|retain_grad"
)


@pytest.mark.parametrize("part", range(2))
def test_a_mode_hears_what_was_called(part):
    """Of every operation, first that, as the object that its public name stands for."""
    compared = 0
    for name in [*samples()][part::2]:
        lines = [line for line in Text(1, samples()[name][0]).lines if "requires_grad_" not in line]
        heard = []
        for engine in (torch, glassgrad):
            calls = []

            class Mode(engine.overrides.TorchFunctionMode):
                def __torch_function__(self, function, types, args=(), kwargs=None, calls=calls):
                    calls.append(function)
                    return function(*args, **(kwargs or {}))

            run = CallRun(engine)
            for line in lines[:-1]:
                run.do(line)
            with Mode():
                run.do(lines[-1])
            heard.append(calls)
        if heard[0] and not HEARD_OTHERWISE.search(name):
            named = operator.attrgetter(torch.overrides.resolve_name(heard[0][0]).partition(".")[2])(glassgrad)
            assert heard[1][:1] == [named], lines[-1]
            compared += 1
    assert compared > 250
