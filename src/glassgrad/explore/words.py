"""What functions are to the explorer, floor 8: which write in place, which take values out of the graph, and how."""

from __future__ import annotations

IN_PLACE = {"setitem", "iadd", "isub", "imul", "itruediv", "ipow", "data=", "real=", "imag="}
#: Functions that take a value out of a tensor, whatever it is.
READS = {"item", "float", "int", "tolist", "numpy", "index", "complex"}
#: Functions that give new memory, and a gradient whenever they made a node.
FRESH = {
    "add", "sub", "rsub", "mul", "div", "neg", "pow", "exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid",
    "relu", "gelu", "silu", "softmax", "log_softmax", "softplus", "abs", "square", "reciprocal", "matmul", "mm", "bmm",
    "addmm", "linear", "conv1d", "conv2d", "layer_norm", "batch_norm", "embedding", "sum", "mean", "cat", "stack",
    "cross_entropy", "mse_loss", "scaled_dot_product_attention",
}  # fmt: skip
#: Functions that read no element of their tensors: what they give depends on nothing but shapes.
SHAPE_ONLY = {
    "zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like", "new_zeros",
    "new_ones", "new_empty", "new_full", "new_tensor", "empty_strided",
}  # fmt: skip
#: Functions that give no tensor and take no value out.
NO_TENSOR_READ = {
    "size", "dim", "numel", "nelement", "length", "len", "stride", "get", "shape", "data_ptr", "element_size", "bool",
    "truth", "equal", "allclose", "is_nonzero", "repr", "format", "str", "hash", "storage_offset", "unbind", "iter",
    "contains", "dir", "reduce_ex", "is_contiguous", "get_device", "register_hook", "retain_grad", "type", "type_of",
    "broadcast_shapes", "result_type", "dim_order",
}  # fmt: skip
COMPARISONS = {
    "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "isclose", "logical_and", "logical_or",
    "logical_not", "logical_xor", "signbit", "isneginf", "isposinf", "equal", "greater", "less", "greater_equal",
    "less_equal", "not_equal", "any", "all",
}  # fmt: skip
CHOICES = {"argmax", "argmin", "argsort", "argwhere", "nonzero", "bucketize", "searchsorted"}
DRAWS = {"multinomial", "bernoulli", "poisson", "normal", "binomial", "dirichlet", "gamma"}
COPIES = {"tensor", "as_tensor", "deepcopy", "Tensor", "construct", "asarray"}
#: Names that differ between the engines, or between an operator and its function.
_PLAIN = {
    "as_float": "float", "as_int": "int", "as_index": "index", "as_array": "array", "array": "numpy",
    "as_complex": "complex", "truth": "bool", "truediv": "div", "rtruediv": "div", "radd": "add", "rmul": "mul",
    "rsub": "rsub", "iadd": "add_", "isub": "sub_", "imul": "mul_", "itruediv": "div_", "ipow": "pow_",
    "length": "len", "iterate": "unbind", "linear_2d": "linear", "floordiv": "floor_divide", "rpow": "pow",
    "rmatmul": "matmul", "power_operator": "pow", "reflected_div": "rdiv",
}  # fmt: skip

#: What is said of a cut, by how it came about.
REASONS = {
    "detach": "detach() gives the same values without their history",
    "data": ".data gives the same values without their history",
    "no_grad": "it was computed under no_grad(), where nothing is recorded",
    "inference": "it was computed in inference mode, where nothing is recorded",
    "set_grad_enabled": "it was computed while recording was switched off, by set_grad_enabled(False) or by a "
    "no_grad() around what was recorded",
    "grad": "autograd.grad gives plain values unless it is told create_graph=True",
    "sample": "a random draw has no derivative: sample() draws where nothing is recorded",
    "item": "a Python number has no history",
    "numpy": "a NumPy array has no history",
    "integer": "whole numbers carry no gradient",
    "comparison": "a comparison gives true or false, which carry no gradient",
    "argmax": "an index is a whole number, which carries no gradient",
    "copy": "making a new tensor out of values copies them without their history",
    "constant": "the operation has no derivative",
    "checkpoint": "reentrant checkpointing gives a result without a graph where none of its inputs requires a "
    "gradient, whatever parameters are used inside",
}  # fmt: skip

#: What to do about it.
REMEDIES = {
    "detach": "leave the detach() out",
    "data": "use the tensor itself in place of .data",
    "no_grad": "compute it outside of the no_grad() block",
    "inference": "compute it outside of inference_mode()",
    "set_grad_enabled": "call set_grad_enabled(True) before, or use `with no_grad():`, which ends by itself",
    "grad": "autograd.grad(..., create_graph=True), to differentiate what is made of the gradient",
    "sample": "draw with rsample() where the distribution has it, or use log_prob() of the sample in the loss",
    "item": "keep the tensor, and take the number only for printing",
    "numpy": "compute with the tensor in place of the array",
    "integer": "keep floating point numbers up to the loss",
    "comparison": "use something smooth in its place, such as sigmoid or a weighted sum",
    "argmax": "use the values in place of the indices (the max itself, topk(...).values), or softmax",
    "copy": "use the tensor itself; of several that have a history make one with torch.stack or torch.cat",
    "constant": "use an operation that has a derivative",
    "checkpoint": "give checkpoint() use_reentrant=False, or an input that requires a gradient "
    "(enable_input_require_grads() in Hugging Face models)",
}


def plain_name(name: str) -> str:
    """A function's name as both engines are told to say it: without underscores around, ``mul`` for ``__rmul__``."""
    if name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    return _PLAIN.get(name, name)


def how_cut(name: str, dtype: str, recording: bool, inference: bool) -> str:
    """What kind of cut a call was whose arguments wanted gradients and whose result does not."""
    if name in ("detach", "data"):
        return name
    if name in COPIES:
        return "copy"
    if inference:
        return "inference"
    if not recording:
        return "no_grad"
    if name == "grad":
        return "grad"
    if name in DRAWS:
        return "sample"
    if name in COMPARISONS:
        return "comparison"
    if name in CHOICES:
        return "argmax"
    if is_whole(dtype):
        return "comparison" if dtype.endswith("bool") else "integer"
    return "constant"


def is_whole(dtype: str) -> bool:
    """Whether a dtype, by its name, is one of whole numbers or of true and false."""
    return dtype.rpartition(".")[2].startswith(("int", "uint", "bool", "long", "short"))
