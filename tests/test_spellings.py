"""Numbers where PyTorch takes them: before the tensors that they scale, and as tensors of no dimension."""

import importlib
import warnings

import numpy as np
import pytest

import glassgrad
from tests.agreement import check
from tests.samples import T, all_samples

pytestmark = pytest.mark.torch

FORMER = {
    "add": (3,), "sub": (3,), "addcmul": (3, 3), "addcdiv": (3, 3), "addmm": (33, 33), "addmv": (33, 3), "addr": (3, 3),
    "addbmm": (233, 233), "baddbmm": (233, 233),
}  # fmt: skip


def _shape(code):
    return tuple(map(int, str(code)))


@pytest.mark.parametrize("name", FORMER)
def test_numbers_may_come_first(name):
    def program(torch, show):
        torch.manual_seed(0)
        others = [torch.rand(_shape(code)) + 0.5 for code in FORMER[name]]
        own = torch.rand(_shape({"addr": 33, "addmv": 3, "addbmm": 33}.get(name, FORMER[name][0]))) + 0.5
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if name in ("add", "sub", "addcmul", "addcdiv"):
                show("function", getattr(torch, name)(own, 0.5, *others))
                show("method", getattr(own, name)(0.5, *others))
                show("in place", getattr(own.clone(), f"{name}_")(0.5, *others))
            else:
                show("function", getattr(torch, name)(0.5, own, 2, *others))
                show("one number", getattr(torch, name)(0.5, own, *others))
                show("in place", getattr(own.clone(), f"{name}_")(0.5, 2, *others))

    check(program)


#: Where PyTorch takes a tensor for something else than a number: chances, edges of bins, another operand.
OTHERS = {"bernoulli", "normal", "max", "histogram"}


def _made(torch, value, rng, is_tensor):
    if isinstance(value, T):
        array = value.array(rng, "float32")
        return torch.tensor(array.tolist(), dtype=getattr(torch, str(array.dtype)))
    if isinstance(value, (list, tuple)) and any(isinstance(part, T) for part in value):
        return type(value)(_made(torch, part, rng, is_tensor) for part in value)
    return torch.tensor(value) if is_tensor else value


def _called(torch, sample, place):
    """The result of a sample whose argument at a place is a 0-d tensor, and the gradients; an error's type."""
    rng = np.random.default_rng(0)
    args = [_made(torch, value, rng, at == place) for at, value in enumerate(sample.args)]
    kwargs = {name: _made(torch, value, rng, name == place) for name, value in sample.kwargs.items()}
    differentiable = sample.gradient and isinstance(sample.args[0], T) and args[0].dtype is torch.float32
    try:
        if differentiable and not sample.name.endswith("_"):
            args[0].requires_grad_()
        function = torch
        for part in sample.name.split("."):
            function = getattr(function, part)
        torch.manual_seed(0)
        result = function(*args, **kwargs)
        if (
            differentiable
            and isinstance(result, torch.Tensor)
            and result.grad_fn is not None
            and result.is_floating_point()
        ):
            result.sum().backward()
            return [*_numbers(result), *_numbers(args[0].grad)]
        return _numbers(result)
    except Exception as error:
        return type(error)


def _numbers(result):
    if isinstance(result, (tuple, list)):
        return [number for part in result for number in _numbers(part)]
    if not hasattr(result, "detach"):
        return [] if result is None else [result]
    values = result.detach().to(glassgrad.float64 if isinstance(result, glassgrad.Tensor) else _double()).flatten()
    return [str(result.dtype), *values.tolist()]


def _double():
    return importlib.import_module("tests.torch_reference").torch.float64


def test_tensors_of_no_dimension_are_numbers_wherever_pytorch_takes_them():
    real = importlib.import_module("tests.torch_reference").torch
    tried, wrong, seen = 0, [], set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in all_samples():
            if not sample.in_torch or sample.name in OTHERS:
                continue
            for place, value in [*enumerate(sample.args), *sample.kwargs.items()]:
                if type(value) not in (int, float) or (sample.name, place) in seen:
                    continue
                wanted = _called(real, sample, place)
                if isinstance(wanted, type):
                    continue
                seen.add((sample.name, place))
                given = _called(glassgrad, sample, place)
                tried += 1
                if isinstance(given, type) or not _same(given, wanted):
                    wrong.append((sample.id, place, value, given))
    assert tried > 500 and not wrong, wrong


def _same(given, wanted):
    words = [value for value in given if isinstance(value, str)] == [v for v in wanted if isinstance(v, str)]
    numbers = [[v for v in values if not isinstance(v, str)] for values in (given, wanted)]
    return words and len(given) == len(wanted) and np.allclose(*numbers, rtol=1e-3, atol=1e-4, equal_nan=True)


def test_a_tensor_with_history_is_no_number():
    def program(torch, show):
        number = torch.tensor(0.5, requires_grad=True)
        x = torch.ones(3)
        for name, call in {
            "alpha": lambda: torch.add(x, x, alpha=number),
            "eps": lambda: torch.nn.functional.layer_norm(x, (3,), eps=number),
        }.items():
            try:
                call()
                show(name, "taken")
            except (TypeError, RuntimeError):
                show(name, "refused")

    check(program)


def test_in_place_and_by_name():
    def program(torch, show):
        x = torch.arange(3.0)
        show("add_", x.clone().add_(x, alpha=torch.tensor(2)))
        show("allclose", torch.allclose(x, x + 1e-4, atol=torch.tensor(1e-3)))
        show("clamp_", x.clone().clamp_(torch.tensor(0.5), torch.tensor(1.5)))
        show("cumsum", x.cumsum(torch.tensor(0)))
        show("lerp", torch.lerp(x, x + 1, torch.tensor(0.25)))

    check(program)


def test_what_is_declared_a_tensor_is_no_number():
    def program(torch, show):
        x, number = torch.ones(2), torch.tensor(2.0)
        F = torch.nn.functional
        for name, call in {
            "weight": lambda: F.mse_loss(x, x, weight=number),
            "input": lambda: F.one_hot(number),
            "list": lambda: torch.stack(number),
        }.items():
            try:
                show(name, call())
            except Exception as error:
                show(name, type(error).__name__)

    check(program)


def test_names_that_differ_from_those_of_the_same_function():
    def program(torch, show):
        x = torch.arange(12.0).reshape(2, 2, 3)
        show("axes", [torch.swapaxes(x, axis0=0, axis1=2), x.swapdims(dim0=0, dim1=2), x.clone().swapaxes_(0, axis1=1)])
        show("diagonal", [torch.linalg.diagonal(A=x, dim1=0), torch.linalg.diagonal(x), torch.diagonal(x)])
        show("size", x.clone().resize_(size=(3,)))
        show("shape", torch._shape_as_tensor(x))

    check(program)


def test_numbers_and_lists_of_classes_of_their_own():
    class Sizes(list):
        pass

    def program(torch, show):
        x = torch.zeros(2, 1, 3)
        x[..., 0], x[0, 0, 1] = np.float64(1.5), np.float64(300.0)
        show("numbers", x)
        show("sizes", [x.squeeze(Sizes([1])), x.view(Sizes([3, 2])), x.expand(Sizes([2, 2, 3])), x.sum(Sizes([0, 2]))])
        show("others", [x.permute(Sizes([2, 0, 1])), x.reshape(Sizes([-1])), torch.zeros(Sizes([1, 2]))])

    check(program)


def test_a_parameter_s_class_may_take_arguments_of_its_own():
    def program(torch, show):
        class Kept(torch.nn.Parameter):
            def __new__(cls, data, place, requires_grad=True):
                made = super().__new__(cls, data, requires_grad)
                made.place = place
                return made

        kept = Kept(torch.ones(2), place="here")
        show("kept", [kept.place, kept.requires_grad, isinstance(kept, torch.nn.Parameter)])
        show.error(lambda: torch.nn.Parameter(torch.ones(2), place="here"), words=False)

    check(program)


def test_names_of_pytorchs_own_that_packages_call():
    def program(torch, show):
        x = torch.tensor([[1.5, -2.5], [3.0, 0.5]])
        show("cast", [torch._cast_Long(x), torch._cast_Half(x), torch._cast_Byte(x.abs())])
        rows = torch.tensor([0, 0, 2, 3])
        show("rows", torch._convert_indices_from_coo_to_csr(rows, 5, out_int32=True))
        starts, columns = torch._convert_indices_from_coo_to_csr(rows, 5), torch.tensor([1, 0, 2, 0])
        show("places", torch._convert_indices_from_csr_to_coo(starts, columns))
        show("turned", torch._convert_indices_from_csr_to_coo(starts, columns, transpose=True))
        show("softmax", torch._softmax_backward_data(x, x.softmax(1), 1, torch.float32))
        show("log", torch._log_softmax_backward_data(x, x.log_softmax(1), 1, torch.float32))
        show("segments", torch._segment_reduce(x, "max", lengths=torch.tensor([1, 1])))
        show("inner", torch._VF.tanh(x))
        small = torch.tensor([[100, -100], [3, 127]], dtype=torch.int8)
        show("integers", torch._int_mm(small, small))
        torch.manual_seed(0)
        show("drawn", torch.nn.init._no_grad_uniform_(torch.empty(3), -1.0, 1.0))
        show("transforms", torch._C._are_functorch_transforms_active())
        show("within", torch.func.vmap(lambda y: y + torch._C._are_functorch_transforms_active())(x))
        inner = importlib.import_module(f"{torch.__name__}._C._functorch")
        asked = []
        torch.func.vmap(lambda y: asked.append([inner.is_batchedtensor(y), inner.get_unwrapped(y).shape]) or y)(x)
        asked += [inner.is_batchedtensor(x), inner.is_gradtrackingtensor(x), inner.is_functorch_wrapped_tensor(x)]
        show("asked", asked)
        worker = importlib.import_module(f"{torch.__name__}.utils.data._utils.worker")
        show("seeds", worker._generate_state(2**40 + 7, 3))
        show("classes", [isinstance(x, torch.ScriptObject), isinstance(x, torch.TensorType)])

    check(program)


@pytest.mark.parametrize("name", ["norm", "vector_norm", "matrix_norm"])
def test_norms_take_their_tensor_by_pytorchs_name(name):
    def program(torch, show):
        norm = getattr(torch.linalg, name)
        x = torch.arange(6.0).reshape(2, 3)
        show("by name", [norm(input=x), norm(x=x), norm(x, ord=1, dim=(0, 1))])
        try:
            show("by another", norm(A=x))
        except TypeError:
            show("by another", "refused")

    check(program)
