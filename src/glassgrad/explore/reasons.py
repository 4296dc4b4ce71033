"""Causes and remedies, floor 8: what takes a value out of a graph, makes numbers infinite, or a gradient zero."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .model import Graph, Node, Stats
from .walk import SINK, family, snake

__all__ = ["Culprit", "backward_reason", "culprits", "flat_reason", "forward_reason"]


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


# -- what made numbers stop being finite -------------------------------------------------------------------------------
# What went into an operation tells.


Reason = tuple[str, str]  # what happened, and what to do
NONE: Reason = "", ""
CLAMP = "keep the input away from there: clamp(min=1e-6), or add a small number"


@lru_cache(4096)
def plain(op: str) -> str:
    """The operation as calls and nodes alike are looked up: ``pow`` of ``PowBackward0`` and of ``pow_``."""
    return snake(family(op)).rstrip("_").removeprefix("linalg_").partition("(")[0]


def forward_reason(op: str, inputs: Sequence[Stats], result: Stats | None) -> Reason:
    """Why ``op`` gave NaN or infinity from what went in; empty words where that cannot be told."""
    op = plain(op)
    if not inputs:
        return NONE
    first, last = inputs[0], inputs[-1]
    nan = result is None or bool(result.nan)
    if not all(stats.finite for stats in inputs):
        return _spread(op, inputs)
    low, high = (0.0 if first.low is None else first.low), (0.0 if first.high is None else first.high)
    if not first.count:
        return f"{op} of no numbers at all is not defined", "look at what selects the numbers: it selected none"
    if op in ("cross_entropy", "nll_loss", "nll_loss2d") and nan:
        return "no target counts (all of them are ignore_index), and the mean of none is NaN", "look at the targets"
    if op in ("pow", "float_power") and nan and low < 0:
        words = "a negative number to a power that is no whole number is NaN"
        return words, "keep the base from becoming negative: abs(), or clamp(min=0)"
    if op in ("pow", "float_power", "reciprocal", "rsqrt") and first.zero:
        return "0 to a negative power is infinite", CLAMP
    if op in ("sqrt", "rsqrt") and low < 0:
        return "the root of a negative number is NaN", "keep the input from becoming negative: clamp(min=0)"
    if op in ("log", "log2", "log10", "logit", "xlogy") and nan and low < 0:
        return "the logarithm of a negative number is NaN", CLAMP
    if op in ("log", "log2", "log10", "logit", "xlogy") and first.zero:
        return "the logarithm of 0 is -inf", f"{CLAMP}; or use log_softmax, logsigmoid or log1p"
    if op == "logit":
        return "logit is defined between 0 and 1 alone", "clamp the input, or give logit() an eps"
    if op == "log1p" and low <= -1:
        return "log1p is defined above -1 alone", CLAMP
    divisor = first if op in ("rdiv", "reciprocal") else last
    if op in ("div", "rdiv", "divide", "true_divide") and (divisor.zero or len(inputs) == 1):
        return ("0 / 0 is NaN" if nan else "a number divided by 0 is infinite"), "add a small number to the divisor"
    if op in ("std", "var", "std_mean", "var_mean") and (first.count == 1 or nan):
        words = f"{op} of one number divides by n - 1 = 0"
        return words, "give it more than one number along that dimension, or correction=0 (unbiased=False)"
    if op in ("acos", "asin", "arccos", "arcsin") and (low < -1 or high > 1):
        return f"{op} is defined between -1 and 1 alone", "clamp the input to that range"
    if op in ("acosh", "atanh", "arccosh", "arctanh", "lgamma", "digamma"):
        return f"the input left the range in which {op} is defined", CLAMP
    if op in ("mul", "add", "sub", "rsub", "div") and nan and len(inputs) == 1:
        return "a number among its arguments is NaN or infinite", "look at where that number comes from"
    if not nan:
        return f"the result is too large for its type (the input reaches {max(abs(low), abs(high)):.4g})", (
            "subtract the largest value before" if op in ("exp", "exp2", "expm1", "sinh", "cosh") else
            "scale the input down, or compute in a wider type"
        )  # fmt: skip
    return NONE


def _spread(op: str, inputs: Sequence[Stats]) -> Reason:
    """The reason where what went in is not finite already."""
    if any(stats.nan for stats in inputs):
        return NONE
    if op in ("softmax", "log_softmax", "scaled_dot_product_attention", "logsumexp", "multi_head_attention_forward"):
        words = "in some row every number is -inf: everything in it is masked out"
        return words, "leave at least one position of every row unmasked"
    if op in ("sub", "add", "rsub", "sum", "mean", "cumsum"):
        return "infinity minus infinity is NaN", "look at what became infinite before"
    if op in ("mul", "matmul", "mm", "bmm", "linear", "addmm"):
        return "0 times infinity is NaN", "look at what became infinite before"
    if op in ("div", "rdiv"):
        return "infinity divided by infinity is NaN", "look at what became infinite before"
    return NONE


SLOPES = {
    "sqrt": ("the slope of sqrt at 0 is infinite", "add a small number under the root"),
    "pow": ("a power with an exponent below 1 has an infinite slope at 0", CLAMP),
    "log": ("the slope of log at 0 is infinite", f"{CLAMP}; or use log_softmax"),
    "div": ("something was divided by 0", "add a small number to the divisor"),
    "acos": ("the slope of acos at 1 and -1 is infinite", "clamp the input to a little less"),
    "asin": ("the slope of asin at 1 and -1 is infinite", "clamp the input to a little less"),
}
ZERO_IN = {"sqrt": "result", "pow": "self", "log": "self", "div": "other"}  # where there is a 0, that is the reason


def backward_reason(op: str, saved: Mapping[str, Stats], came: Stats | None) -> Reason:
    """Why a node turned finite gradients into others, from the values it saved; empty words where it is not known."""
    op = plain(op)
    own, edge = saved.get("self"), saved.get(ZERO_IN.get(op, ""))
    if op in SLOPES and (op not in ZERO_IN or edge is not None and edge.zero):
        words, remedy = SLOPES[op]
        if came is not None and came.zero:
            words += "; where the gradient that came was 0, it became 0 times infinity, which is NaN: a where() or "
            words += "a factor 0 further on does not help, the input itself has to be kept away"
        return words, remedy
    if op == "pow" and own is not None and own.low is not None and own.low < 0:
        return "a negative number to a power that is no whole number is NaN", "abs(), or clamp(min=0)"
    if any(not stats.finite for stats in saved.values()):
        return "a value that it saved is not finite, and 0 times infinity is NaN", "look at what made that value"
    if came is not None and came.finite:
        return "the gradient grew too large for its type", "scale the loss down, or clip what grows"
    return NONE


def certain(op: str, saved: Mapping[str, Stats], exponent: Any = None) -> Reason:
    """The reason why a node's result cannot have been finite, from the finite values it saved."""
    op, own, other = plain(op), saved.get("self"), saved.get("other")
    if own is not None and own.finite and own.low is not None and own.high is not None:
        if op in ("log", "log2", "log10") and (own.zero or own.low < 0):
            return forward_reason(op, [own], None if own.low < 0 else Stats(1, inf=1))
        if op == "pow" and isinstance(exponent, (int, float)):
            if own.low < 0 and exponent != int(exponent):
                return forward_reason(op, [own], None)
            if own.zero and exponent < 0:
                return forward_reason(op, [own], Stats(1, inf=1))
        if op in ("acos", "asin") and (own.low < -1 or own.high > 1) or op == "log1p" and own.low <= -1:
            return forward_reason(op, [own], None)
    if op == "div" and own is not None and other is not None and other.finite and other.zero:
        return forward_reason(op, [own, other], None)
    return NONE


# -- what made a gradient zero or kept it away -------------------------------------------------------------------------
# The operation, by what an observed backward pass handed on.

#: Operations that hand on zeros, by their names: why, and what to do. The first two do so whatever they are given.
ZEROS = (
    (r"(sign|round|floor|ceil|trunc|heaviside|floor_divide)$", "its slope is 0 everywhere",
     "use something smooth in its place (tanh for sign), or pass the gradient by: x + (x.round() - x).detach()"),
    (r"(normal|bernoulli|poisson|binomial|multinomial)$", "a random draw has the slope 0",
     "draw with rsample(), or use log_prob() of the sample in the loss"),
    (r"clamp|clip|hardtanh|relu6|hardsigmoid|hardswish", "every value that got a gradient lies outside of its range",
     "let the values stay inside, or use something without flat parts"),
    (r"native_dropout$", "everything was dropped", "lower p"),
    (r"relu|threshold|prelu|leaky_relu", "it is off wherever a gradient came",
     "a smaller learning rate, another initialization, or leaky_relu"),
    (r"mul|mm|bmm|mv|addmm|linear|convolution|dot|addmv|baddbmm|div", "it multiplies by zeros",
     "where a weight starts at zero this passes with the first step; else look at the factor that is zero"),
    (r"(sigmoid|tanh)$", "it is saturated", "scale the input down, or normalize it"),
    (r"(log_)?softmax$",
     "it is saturated, or the gradient that came is the same everywhere, which no shift of its input changes",
     "use the scores before it, or single entries of it, in the loss"),
    (r"(cat|stack)$|constant_pad", "what this input became is not used further on",
     "look at what is taken out of the result"),
    (r"index|slice|select|gather|where|masked|narrow|take|split|unbind|max|min", "nothing of this input was taken",
     "look at the index or the mask"),
)  # fmt: skip


@dataclass(frozen=True)
class Culprit:
    """The operation (by its node) after which a gradient was zero or missing: what is said of it, and what to do."""

    node: int
    text: str
    advice: str


def flat_reason(op: str) -> Reason:
    """Why an operation hands on zeros whatever it is given; empty words where it does not."""
    return _zero_reason(op, ZEROS[:2])


def _zero_reason(op: str, known: Sequence[tuple[str, str, str]] = ZEROS) -> Reason:
    name = plain(op)
    return next(((words, advice) for pattern, words, advice in known if re.match(pattern, name)), NONE)


def culprits(graph: Graph, leaf: int) -> list[Culprit]:
    """The operations that made the gradient of a leaf of an observed graph zero, or kept it away; empty if unseen."""
    users: dict[int, list[tuple[int, int]]] = defaultdict(list)
    sinks = []
    for edge in graph.edges:
        if edge.kind == "gradient":
            if edge.src == leaf:
                sinks.append(edge.dst)
            users[edge.src].append((edge.dst, edge.dst_input))
    arrived = [graph.nodes[sink].grad for sink in sinks]
    if any(grad is not None and grad.stats is not None and not grad.stats.all_zero for grad in arrived):
        return []
    answers: dict[int, Culprit] = {}
    seen, waiting = set(sinks), list(sinks)
    while waiting:
        i = waiting.pop()
        handed = []
        for user, slot in users[i]:
            node = graph.nodes[user]
            if node.kind != "op" or node.op == SINK:
                continue
            gave = node.grads_in[slot] if slot < len(node.grads_in) else None
            came = node.grad.stats if node.grad is not None else None
            stats = gave.stats if gave is not None else None
            if came is None or came.all_zero:  # nothing reached it: look further up
                if user not in seen:
                    seen.add(user)
                    waiting.append(user)
            elif gave is None or stats is not None and stats.all_zero:
                answers.setdefault(user, _culprit(node, gave is None))
            else:
                handed.append(node)
        if handed and i not in answers:
            words, advice = "the gradients that came from it cancel each other out", "look at the signs of the terms"
            if len(handed) == 1:
                words = "a hook after it replaced the gradient by zeros"
                advice = "look at what register_hook() was given there"
            answers[handed[0].index] = Culprit(handed[0].index, f"{handed[0].op} gave a gradient, but {words}", advice)
    return list(answers.values())


def _culprit(node: Node, missing: bool) -> Culprit:
    if missing:
        words = f"{node.op} was given a gradient and handed on none (its backward gave None)"
        return Culprit(node.index, words, "return a gradient from the backward of that Function")
    words, advice = _zero_reason(node.op)
    text = f"{node.op} was given a gradient and handed on nothing but zeros"
    return Culprit(node.index, f"{text}: {words}" if words else text, advice)
