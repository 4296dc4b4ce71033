"""``torch._check`` and its family: which error says that a condition does not hold."""

import warnings

import pytest

from tests.agreement import check

pytestmark = [pytest.mark.torch, pytest.mark.once]

FUNCTIONS = "_check _check_index _check_value _check_type _check_not_implemented".split()
CONDITIONS = {
    "true": lambda torch: True,
    "false": lambda torch: False,
    "number": lambda torch: 1,
    "none": lambda torch: None,
    "tensor": lambda torch: torch.tensor(True),
}
MESSAGES = {"none": (), "said": (lambda: "sizes differ",), "number": (lambda: 3,), "text": ("no callable",)}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions(function, condition):
    def program(torch, show):
        for name, message in MESSAGES.items():
            show.error(lambda: getattr(torch, function)(CONDITIONS[condition](torch), *message), name)
        show.error(lambda: torch._check_with(KeyError, CONDITIONS[condition](torch), lambda: "m"), "with")

    check(program)


def test_sizes():
    def program(torch, show):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for case in [(3,), (-1,), (0,), (1.5,), ("a",), (torch.tensor(-2),), (-1, lambda: "hm")]:
                show.error(lambda case=case: torch._check_is_size(*case), repr(case[0]))
            show.error(lambda: torch._check_is_size(3, max=2), "too large")
            show.error(lambda: torch._check_is_size(3, max=3), "fits")
        show("warnings", [(str(w.message), w.category.__name__, w.filename == __file__) for w in caught])

    check(program)


def test_all_elements():
    def program(torch, show):
        for cond in (torch.tensor([True, False]), torch.ones(2, 0, dtype=torch.bool), torch.tensor([1, 2]), True):
            show.error(lambda: torch._check_tensor_all(cond), "plain")
            show.error(lambda: torch._check_tensor_all(cond, lambda: "m"), "message")
            show.error(lambda: torch._check_tensor_all_with(KeyError, cond), "with")
        for value in (torch.tensor(0), torch.tensor(2.0), torch.tensor([1, 1]), torch.tensor([])):
            show.error(lambda: torch._assert_async(value), "async")
            show.error(lambda: torch._assert_async(value, "words"), "async with words")

    check(program)


def test_errors_of_devices():
    def program(torch, show):
        for kind in (torch.OutOfMemoryError, torch.AcceleratorError):
            show(kind.__name__, [issubclass(kind, RuntimeError), getattr(torch.cuda, kind.__name__) is kind])

    check(program)
