"""How tensors print: precision, scientific mode, widths, summaries, suffixes, formats."""

_TENSORS = {
    "scalar": lambda torch: torch.tensor(1.0),
    "scalar_fraction": lambda torch: torch.tensor(3.14159265),
    "scalar_int": lambda torch: torch.tensor(7),
    "scalar_bool": lambda torch: torch.tensor(True),
    "scalar_large": lambda torch: torch.tensor(123456789.0),
    "scalar_small": lambda torch: torch.tensor(0.000012345),
    "scalar_nan": lambda torch: torch.tensor(float("nan")),
    "scalar_infinite": lambda torch: torch.tensor(-float("inf")),
    "scalar_complex": lambda torch: torch.tensor(1.5 - 2.0j),
    "vector": lambda torch: torch.tensor([1.0, 2.5, -3.0]),
    "vector_of_whole_numbers": lambda torch: torch.tensor([1.0, 2.0, 300.0]),
    "vector_of_zeros": lambda torch: torch.zeros(3),
    "vector_of_ints": lambda torch: torch.tensor([1, -20, 300]),
    "vector_of_bools": lambda torch: torch.tensor([True, False]),
    "vector_mixed_sizes": lambda torch: torch.tensor([0.001, 1.0, 100.0]),
    "vector_scientific": lambda torch: torch.tensor([1e-5, 1.0, 1e5]),
    "vector_very_large": lambda torch: torch.tensor([1e10, 2.5e10]),
    "vector_very_small": lambda torch: torch.tensor([1e-10, 2.5e-10]),
    "vector_large_whole": lambda torch: torch.tensor([1e8, 1.0]),
    "vector_at_the_limit": lambda torch: torch.tensor([99999999.0, 1.0]),
    "vector_with_nan": lambda torch: torch.tensor([1.0, float("nan"), float("inf"), -float("inf")]),
    "vector_all_nan": lambda torch: torch.tensor([float("nan"), float("nan")]),
    "vector_fractions_with_nan": lambda torch: torch.tensor([1.25, float("nan"), -float("inf")]),
    "vector_negative_nought": lambda torch: torch.tensor([-0.0, 0.0]),
    "vector_long": lambda torch: torch.arange(30.0),
    "vector_long_ints": lambda torch: torch.arange(100),
    "vector_thirds": lambda torch: torch.arange(1, 6) / 3,
    "vector_complex": lambda torch: torch.tensor([1.0 + 2.0j, -0.5 - 3.25j]),
    "vector_complex_whole": lambda torch: torch.tensor([1.0 + 2.0j, -3.0j]),
    "vector_complex_mixed": lambda torch: torch.tensor([1e-5 + 2.0j, 1e5 + 0.0j]),
    "summary_vector": lambda torch: torch.arange(1001.0),
    "summary_matrix": lambda torch: torch.arange(2000).reshape(40, 50),
    "summary_tall": lambda torch: torch.zeros(2000, 2),
    "summary_wide": lambda torch: torch.zeros(2, 2000),
    "summary_small_dim_kept": lambda torch: torch.zeros(300, 2, 3),
    "thousand": lambda torch: torch.zeros(1000),
    "matrix": lambda torch: torch.tensor([[1.0, 2.5], [-3.25, 100.125]]),
    "matrix_of_ints": lambda torch: torch.arange(12).reshape(3, 4),
    "matrix_one_row": lambda torch: torch.ones(1, 4),
    "matrix_one_column": lambda torch: torch.ones(3, 1),
    "cube": lambda torch: torch.arange(12.0).reshape(2, 3, 2),
    "four_dims": lambda torch: torch.arange(16).reshape(2, 2, 2, 2),
    "empty_vector": lambda torch: torch.empty(0),
    "empty_matrix": lambda torch: torch.empty(0, 3),
    "empty_inner": lambda torch: torch.empty(2, 0),
    "empty_ints": lambda torch: torch.empty(0, dtype=torch.int64),
    "float64": lambda torch: torch.tensor([1.0, 2.5], dtype=torch.float64),
    "float16": lambda torch: torch.tensor([1.0, 2.5], dtype=torch.float16),
    "bfloat16": lambda torch: torch.tensor([1.0, 3.14159], dtype=torch.bfloat16),
    "int32": lambda torch: torch.tensor([1, 2], dtype=torch.int32),
    "uint8": lambda torch: torch.tensor([1, 255], dtype=torch.uint8),
    "int8": lambda torch: torch.tensor([-128, 5], dtype=torch.int8),
    "complex128": lambda torch: torch.tensor([1.0 + 1j], dtype=torch.complex128),
    "leaf": lambda torch: torch.ones(2, requires_grad=True),
    "leaf_float64": lambda torch: torch.ones(2, dtype=torch.float64, requires_grad=True),
    "computed": lambda torch: torch.ones(2, requires_grad=True) * 2,
    "computed_view": lambda torch: torch.ones(2, 2, requires_grad=True)[0],
    "computed_sum": lambda torch: torch.ones(2, requires_grad=True).sum(),
    "computed_copyslices": lambda torch: _written(torch),
    "computed_long_line": lambda torch: torch.ones(9, requires_grad=True) * 1.2345,
    "computed_float64": lambda torch: torch.ones(2, dtype=torch.float64, requires_grad=True).exp(),
    "computed_matrix": lambda torch: torch.ones(2, 2, requires_grad=True) @ torch.ones(2, 2),
    "computed_custom": lambda torch: _custom(torch),
    "detached": lambda torch: torch.ones(2, requires_grad=True).detach(),
    "transposed": lambda torch: torch.arange(6).reshape(2, 3).t(),
    "strided": lambda torch: torch.arange(10)[::3],
    "expanded": lambda torch: torch.ones(1, 1).expand(2, 3),
    "parameter": lambda torch: torch.nn.Parameter(torch.ones(2)),
    "parameter_matrix": lambda torch: torch.nn.Parameter(torch.ones(2, 2)),
    "parameter_frozen": lambda torch: torch.nn.Parameter(torch.ones(2), requires_grad=False),
    "meta": lambda torch: torch.empty(2, 3, device="meta"),
    "meta_int": lambda torch: torch.empty(2, dtype=torch.int64, device="meta"),
    "list_of_tensors": lambda torch: [torch.ones(1), torch.tensor(2)],
    "dictionary": lambda torch: {"a": torch.ones(1)},
    "random": lambda torch: torch.randn(3, 4),
    "random_large": lambda torch: torch.randn(2, 3) * 1000,
    "random_mixed": lambda torch: torch.randn(5) * torch.tensor([1e-3, 1.0, 1e3, 1e4, 1e-4]),
}


def _written(torch):
    y = torch.ones(2, requires_grad=True) * 2
    y[0] = 5
    return y


def _custom(torch):
    class MyFunction(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad

    return MyFunction.apply(torch.ones(2, requires_grad=True))


def _printing(make):
    def program(torch, show):
        value = make(torch)
        show("repr", repr(value))
        show("str", str(value))

    return program


PROGRAMS = {f"print.{name}": _printing(make) for name, make in _TENSORS.items()}


def print_options(torch, show):
    """precision, threshold, edgeitems, linewidth, profile, sci_mode."""
    x = torch.tensor([[1.23456789, 100.0], [0.001, -5.0]])
    long = torch.arange(50.0)
    settings = [
        {"precision": 2},
        {"precision": 8},
        {"sci_mode": True},
        {"sci_mode": False},
        {"threshold": 10, "edgeitems": 2},
        {"linewidth": 40},
        {"profile": "short"},
        {"profile": "full"},
    ]
    try:
        for setting in settings:
            torch.set_printoptions(profile="default")
            torch.set_printoptions(**setting)
            show(str(setting), [repr(x), repr(long)])
    finally:
        torch.set_printoptions(profile="default", sci_mode=None)


def formatting(torch, show):
    """f-strings: a 0-d tensor formats as its number."""
    x = torch.tensor(3.14159)
    show("spec", [f"{x:.2f}", f"{x:8.3f}", f"{x:e}", format(x, ".1f")])
    show("plain", f"{x}")
    show("int", [f"{torch.tensor(7):d}", f"{torch.tensor(7):03d}"])
    show("vector", f"{torch.ones(2)}")
    show("tracked", f"{torch.tensor(2.5, requires_grad=True):.1f}")
    show("tracked plain", f"{torch.tensor(2.5, requires_grad=True)}")
    show.error(lambda: f"{torch.ones(2):.2f}")
    show.error(lambda: f"{x:d}")
    show("method", f"{x:.2f} {torch.ones(1)}")


def small_objects(torch, show):
    """dtypes, devices, sizes, modules of constants."""
    show("dtype", [str(torch.float32), repr(torch.int64), str(torch.bool)])
    show("size", [str(torch.Size([1, 2])), repr(torch.Size([]))])
    show("strided", repr(torch.strided))
    show("formats", [repr(torch.contiguous_format), repr(torch.channels_last)])
    show("constants", [torch.pi, torch.e, torch.inf, str(torch.nan), torch.newaxis])


def return_types(torch, show):
    """Named results print with their fields."""
    x = torch.tensor([[3.0, 1.0], [2.0, 5.0]])
    show("max", repr(x.max(0)))
    show("sort", repr(x.sort(1)))
    show("topk", repr(x.topk(1)))
