"""Calls that the random changes start from beside the samples of operations: what those leave to laws of their own.

What makes tensors of numbers alone, tells of a tensor, writes in place, or takes lists of tensors.
"""

from tests.samples import given, positive, sample, t

PAIR = [positive(2, 3), positive(3)]
SAMPLES = [
    *(sample(name, 5) for name in "arange eye ones zeros range scalar_tensor tensor as_tensor".split()),
    *[sample("arange", 1, 4, 0.5, dtype="dtype:float32"), sample("range", 0, 3, 2), sample("eye", 2, 3)],
    *(sample(name, 0, 2, 5, dtype="dtype:float64") for name in ("linspace", "logspace")),
    *[sample("logspace", 0, 2, 3, 2), sample("full", (2, 3), 1.5), sample("full", (), True, dtype="dtype:int64")],
    *(sample(f"{kind}_like", t(2, 3), dtype="dtype:float16") for kind in ("ones", "zeros")),
    *[sample("full_like", t(2, 3), 2), sample("ones", (2, 3), dtype="dtype:bool"), sample("zeros", 2, 3)],
    *(sample(f"{name}_window", 5, periodic=False) for name in "bartlett blackman hamming hann kaiser".split()),
    *[sample("fft.fftfreq", 5, 0.5), sample("fft.rfftfreq", 5, d=2.0), sample("result_type", t(2, 3), 2)],
    *[sample("result_type", t(2), t()), sample("can_cast", "dtype:int8", "dtype:bool")],
    *[sample("promote_types", "dtype:int8", "dtype:uint8"), sample("broadcast_shapes", (2, 1), (3,), (1, 1))],
    *(sample(f"is_{name}", t(1)) for name in "nonzero conj neg inference floating_point complex signed".split()),
    *(sample(name, t(2, 3), t(2, 3)) for name in ("is_same_size", "Tensor.is_set_to", "Tensor.new_tensor")),
    *(sample(f"Tensor.new_{name}", t(2, 3), (2, 2)) for name in ("ones", "zeros")),
    *[sample("Tensor.new_full", t(2, 3), (2, 2), 1.5), sample("Tensor.resize_", t(2, 3, grad=False), 3, 2)],
    *[sample("Tensor.fill_diagonal_", t(3, 3, grad=False), 2, wrap=True), sample("Tensor.__len__", t(3))],
    *[sample("Tensor.resize_as_", t(4, grad=False), t(2, 2)), sample("Tensor.type", t(2), "dtype:int64")],
    *(sample(f"Tensor.{name}", t(2, 3)) for name in "dim element_size nelement stride storage_offset cpu".split()),
    *(sample(f"Tensor.{name}", t(2, 3)) for name in "tolist dim_order requires_grad_ retain_grad type".split()),
    *[sample("Tensor.size", t(2, 3), 1), sample("Tensor.__contains__", t(3), 1.0)],
    *(sample(f"Tensor.__i{name}__", t(2, 3), t(3)) for name in "add sub mul truediv floordiv pow mod".split()),
    *(sample(f"Tensor.__{name}__", t(2, 3), t(3)) for name in "eq ne lt le gt ge add sub mul truediv".split()),
    *[sample("Tensor.__setitem__", t(2, 3, grad=False), given([0, 1]), t(3))],
    *[sample("Tensor.__setitem__", t(2, 3, grad=False), (slice(None), 1), 2.0)],
    *[sample("unravel_index", given([3, 5]), (2, 3)), sample("lu_unpack", t(3, 3), given([1, 3, 3]))],
    *[sample("linalg.lu_solve", t(3, 3), given([1, 2, 3]), t(3, 2)), sample("chain_matmul", t(2, 3), t(3, 2), t(2, 2))],
    *[sample("nn.functional.gumbel_softmax", t(2, 3), hard=True)],
    *(sample(f"_foreach_{name}", PAIR) for name in "abs sqrt neg_ norm zero_ max".split()),
    *(
        sample(f"_foreach_{name}", PAIR, other)
        for name in "add mul_ sub div pow maximum clamp_min_".split()
        for other in (PAIR, 2, [0.5, 2])
    ),
    *(sample(f"_foreach_{name}", PAIR, PAIR, PAIR, 2) for name in ("addcmul", "addcdiv_")),
    *[sample("_foreach_addcmul_", PAIR, PAIR, PAIR, [0.5, 2]), sample("_foreach_lerp", PAIR, PAIR, 0.5)],
]  # fmt: skip
