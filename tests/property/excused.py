"""Differences from PyTorch that generators leave out, each with its reason; docs/limits.md tells of them.

A difference is judged by the shortest program that still makes it, so that nothing else hides behind a reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


def last(names: str, more: str = "") -> str:
    """A pattern of programs whose last line calls one of these, and goes on like that."""
    return rf"\b({names})\([^\n]*{more}[^\n]*\Z"


#: What a refusal is about.  Of a call with faults of two sorts, which is told is the order in which an operation looks.
FAULTS = {
    "history": "leaf Variable|requires? grad|is a view|in no_grad mode|differentia(tion|ble)|inplace operation|"
    "second time",
    "memory": "single memory location|storage",
    "dtype": "dtype|not (implemented|supported) for|scalar.?type|be cast|[Cc]omplex|without overflow|same types?\\b|"
    "[Bb]oolean|integral|floating|Long|ZeroDivision",
    "sizes": "[Ss]izes?\\b|shape|[Dd]imension|\\b[Dd]ims?\\b|broadcast|number of|numel|multiplied|\\d-?D|vector|"
    "square matri",
    "place": "out of (bounds|range)|out-of-bounds|[Ii]ndex(?! put)",
}


def faults(words: str) -> set[str]:
    """The sorts of fault that a refusal may be about."""
    return {sort for sort, pattern in FAULTS.items() if re.search(pattern, words)}


class Reason(NamedTuple):
    """What a difference is about; patterns of its sort, of what both engines say, and of the shortest program."""

    why: str
    sort: str
    said: str = ""
    program: str = ""


#: What rules of PyTorch's say that take dtypes, sizes or memory for others.
BROKEN = (
    "isFloatingType|doesn't match the broadcast shape|ZeroTensors|INTERNAL ASSERT|Negation, the|Subtraction, the|"
    "output type|element of the written-to tensor|grad_input must be contiguous"
)
#: What reads, in PyTorch, what it has overwritten where ``out=`` lies on what it is given.
READS = (
    r"(matmul|mm|bmm|mv|multi_dot|chain_matmul|histogram|addmm|addmv|addbmm|baddbmm|sum|nansum|mean|nanmean|prod|"
    r"amax|amin|max|min|var|std|"
    r"logsumexp|(frobenius_)?norm|matrix_power|solve_triangular|slice_scatter|\w*softmax|logsigmoid|avg_pool[23]d|histc|diff|tri[lu]|"
    r"normal|bernoulli|cum(max|min)|median|inv|inverse)"
)
#: What keeps only sizes, or nothing, of what PyTorch keeps whole.
LESS = r"take\(|gather|torch\.complex\(|index_(add|copy)|\bput_?\(|masked_select|fft|angle|cummax|cummin|nll_loss|" \
    "cross_entropy|conv|ldexp|cosine_similarity|copysign|vander"
#: What gives no gradient to one of its inputs.
NO_GRADIENT = r"None_\.apply|norm\(\w*(, )?0\b"
#: An error about what was written, twice, that names another node the second time, or none.
NAMED = (
    r"^['\"](one of the variables .*?\])(, which is output \d+ of [\w:]+,)?( is \d+ versions later.*)['\"] "
    r"['\"]\1(, which is output \d+ of [\w:]+,)?\3['\"]$"
)
#: One that names another tensor the second time, or counts other writes.
TWO = r"operation: \[([^\]]*\]).*? is (\d+) versions.* operation: \[(?!\1.* is \2 versions)"
#: What is composed of other operations, and puts its result into ``out=`` as ``copy_`` would.
COMPOSED = "ih?fft[2n]?|matrix_power|kron|tensordot"
REASONS = [
    Reason("there are no complex numbers of halves", "", "complex32|ComplexHalf"),
    Reason("conjugates are no views", "", "a conjugate is being written"),
    Reason("conjugates are no views", "taken", "view of a leaf", r"complex(.|\n)*(mH|adjoint\(\)|conj\(\))"),
    Reason("conjugates are no views", "taken", "unresolved conjugated tensors", r"(mH|adjoint\(\)|conj\(\))"),
    Reason("conjugates are no views", "numbers", "", r"complex(.|\n)*(mH|adjoint\(\)|conj\(\))(.|\n)*\.data ="),
    Reason("conjugates are no views", "numbers", "", r"from_numpy\(\w+\.det(.|\n)*(mH|adjoint\(\)|conj\(\))(.|\n)*_\("),
    Reason("a rule of PyTorch's refuses dtypes, or breaks", "taken|words|type", BROKEN, r"backward|autograd"),
    Reason("PyTorch's rule gives another shape", "taken|type|words", r"(Scatter|IndexAdd|IndexPut)\w* returned an inv"),
    Reason("a rule of PyTorch's gives another shape", "taken", "CopySlices returned an inv", r"scatter(_add)?_\("),
    Reason("the shape was changed without recording", "taken|type|words", "an invalid gradient at", r"\.data = "),
    Reason("the shape was changed without recording", "type", "^.'RuntimeError', 'The size of", r"\.data = "),
    Reason("the shape was changed without recording", "numbers.grad", "", r"index_add_?\((.|\n)*\.data = "),
    Reason("which of two rules fails", "words", "derivative for aten.*derivative for aten"),
    Reason("which of two rules fails", "words", "derivative for aten::.*modified by an inplace operation"),
    Reason("where results lie that are drawn upon", "numbers", "", r"func\.jac(.|\n)*(dropout|_like|bernoulli)\("),
    Reason("zeros that stay zeros", "numbers.grad", "nan", r"sgn|autograd\.grad"),
    Reason("PyTorch has no gradient of it", "taken", "automatic differentiation|Autograd not support|not implemented"),
    Reason("PyTorch needs a view", "taken", "view size is not|'source' needs to", last("isin|kron|take|conv_tbc")),
    Reason("PyTorch needs a view", "taken", "view size is not", "take_along_dim"),
    Reason("PyTorch's error tells of its source", "words", "unflatten got an unexpected error"),
    Reason("PyTorch's error tells of its memory", "words", "setStorage.*whose data was replaced since"),
    Reason("PyTorch's error tells of its memory", "type", "^.'RuntimeError', 'setStorage", last("index_(fill|copy)_?")),
    Reason("the node by which a written tensor is named", "words", NAMED),
    Reason("the node by which a written tensor is named", "words", r"Output 0 of \w+ is a view.* one of the var"),
    Reason("the node by which a written tensor is named", "words", "of View is a.*of ReshapeAlias is a", "vmap"),
    Reason("which of two faults a checkpoint tells", "type", "detached in-place.*CheckpointError"),
    Reason("the node by which a written tensor is named", "words", "of AsStrided is a.*of Diagonal is a", "fill_diag"),
    Reason("which of two written tensors is told", "words", TWO),
    Reason("memory shared unseen is not asked", "taken", "written-to tensor refer to", r"copy\.copy|\.data|set_\("),
    Reason("integers have no history", "taken", "created in no_grad mode", r"(bool|int\d+)(.|\n)*\] = \w+\Z"),
    Reason("integers have no history", "taken", "only Tensors of floating point and comp", r"copy\.copy\(\w\)\Z"),
    Reason("half of a refused write stays", "taken", "0 of Unbind is a view", r"Dirty\.apply"),
    Reason("gradients share no memory", "written", "", r"register_hook\(lambda g: g\.mul_(.|\n)*backward\(\w+\)"),
    Reason("gradients share no memory", "taken", "by an inplace", r"hook\(lambda g: g\.mul_(.|\n)*backward\(\w+\)"),
    Reason("who gets no gradient is not asked", "taken", "by an inplace", r"backward\(.*inputs=\[v\d+\]\)\Z"),
    Reason("which lane, or thread, is told", "words", "out of bounds for.*out of bounds for", last("gather")),
    Reason("a view that got another size is none", "words", "a view of a leaf.*'a leaf", "out="),
    Reason("constants ask for no history", "taken", "returns multiple views", last("isclose")),
    Reason("less is kept", "taken", "returns multiple views", LESS),
    Reason("what reads what it writes", "numbers", "", r"^m = (.|\n)*batch_norm\(.*training=True"),
    Reason("which of several faults", "words", "storage offset -.*to the slice of self", "as_strided_sc"),
    Reason("the shape was changed without recording", "taken", r"put_\(\): self and source", r"\.data = "),
    Reason("memory that is handed on is one memory", "taken", "storage that is not resizable", "from_dlpack"),
    Reason("differences of large numbers", "numbers", r"inf\b", r"nan_to_num(.|\n)*\.sum\("),
    Reason("what rules have cast is kept so", "taken", "modified by an inplace", r"(?s)(bool|int).*func\.vjp"),
    Reason("PyTorch pads with memory as it finds it", "refused", "leaves none to go around", "circular"),
    Reason("PyTorch asks nothing of zeros that it has not made", "refused", "Boolean alpha only", "grad"),
    Reason("PyTorch asks for a frame beyond its memory", "taken", "setStorage", r"stft\([^\n]*align_to_window=True"),
    Reason("PyTorch reads targets beyond their memory", "numbers", "", r"(\.expand\(|::2\])(.|\n)*ctc_loss"),
    Reason("which of several faults", "words", "numel: integer multiplication.*Storage size", last("as_strided")),
    Reason("which of several faults", "type", "have an identity.*Dimension out of range", "norm"),
    Reason("several dtypes that are faults", "words", "out tensor to have dtype.*(same dtype|implemented)", "out="),
    Reason("PyTorch has no gradient of it", "words", "aten::floor_divide_ is not", r"floordiv__|floor_divide_"),
    Reason("PyTorch has no gradient of it", "words|type", "Autograd not support dtype"),
    Reason("PyTorch has no gradient of it", "refused|words", "a second time", r"//|floor_div|remainder\(\d|heaviside"),
    Reason("PyTorch has no gradient of it", "type", "derivative for '_cdist_backward' is not implemented"),
    Reason("pow of truth values", "refused|type|words", '"pow" not'),
    Reason("expanded tensors are not written", "refused", "tensor refers", last("nan_to_num_|tri.?_|threshold_?|sum")),
    Reason("less is kept", "taken", "modified by an inplace|a second time", LESS),
    Reason("less is kept", "taken", "is a view and its base or another view", LESS),
    Reason("less is kept", "taken", "self.dtype to be equal to src.dtype", r"cum(max|min)(.|\n)*\.data = "),
    Reason("who gets no gradient is not asked", "taken", "modified by an inplace|a second time", NO_GRADIENT),
    Reason("memory that is handed on is one memory", "refused", "single memory location", r"from_dlpack"),
    Reason("advice about torch.compile", "words", "under torch.compile with automatic_dynamic_shapes"),
    Reason("complex numbers at infinity", "numbers", "nan|inf", r"complex\(.*inf(.|\n)*(_as|\.to\(|real|imag|where\()"),
    Reason("complex numbers at infinity", "numbers", "nan|inf", r"complex(.|\n)*( = 0 \*\* \w|l1_loss\()"),
    Reason("less is kept", "taken|words", r"detached in-place|output 0 of Pow\d?, is"),
    Reason("PyTorch's vjp keeps what it casts", "refused", "modified by an inplace", r"func\.vjp\("),
    Reason("less is kept", "taken|words", "by an inplace.*(a second time|'', '')", r"func\.vmap\(torch\.mul"),
    Reason("transforms within hooks of what is saved", "taken|words|type", "support saved tensor hooks", "saved_tens"),
    Reason("there is no bfloat16 of NumPy's to hand on", "refused", "unsupported ScalarType BFloat16", "dlpack"),
    Reason("PyTorch transforms what overlaps", "numbers", "", r"(unfold|as_strided)(.|\n)*func\.(jacfwd|hess|jvp)"),
    Reason("PyTorch writes over what it transforms", "taken", "single memory location", r"func\.(jacfwd|hessian|jvp)"),
    Reason("graphs are copied", "taken", r"deepcopy protocol|deepcopy__\(\) for non-wrapper", "deepcopy"),
    Reason("graphs are copied", "type", "deepcopy protocol.*checkpointed part", "deepcopy"),
    Reason("PyTorch's slopes of cdist in batches are others", "numbers", "", r"cdist(.|\n)*func\.(jac|hess|vmap)"),
    Reason("counts beyond 32 bits", "numbers", "", r"1099511627776(.|\n)*ldexp"),
    Reason("transforms keep subclasses", "node", "AliasBackward0", r"Subclass(.|\n)*func\."),
    Reason("copies of subclasses are leaves", "node", "AliasBackward0", r"Subclass(.|\n)*Parameter\("),
    Reason("results of subclasses are no views", "taken", "was created in no_grad mode", "Subclass"),
    Reason("copies of subclasses are leaves", "leaf|node", "", r"Subclass(.|\n)*copy\.copy"),
    Reason("hooks of several gradients that are leaves", "taken", "passed to _will_engine_execute_node"),
    Reason("factors of kron are watched", "refused", "modified by an inplace", "kron"),
    Reason("PyTorch's gradient is a view", "taken", "Can't detach views in-place", r"autograd\.grad|func"),
    Reason("PyTorch's gradient is a view", "taken|words", "in no_grad mode|multiple views", r"autograd\.grad|func"),
    Reason("truth values and bytes in PyTorch's rules", "numbers.grad", "", r"uint8(.|\n)*(addcmul|zeta)"),
    Reason("PyTorch has no zeta of what is huge", "numbers", "nan", r"e\+\d\d(.|\n)*zeta"),
    Reason("NaN that a rule of PyTorch's drops", "numbers.grad", "nan", "logcumsumexp"),
    Reason("values at infinity", "numbers", "inf", r"e\+30(.|\n)*soft_margin_loss"),
    Reason("values at infinity", "taken", "svd: .*failed to converge", r"inf(.|\n)*(cond|svd|norm)\("),
    Reason("values at infinity", "taken", "not have full rank", r"inf(.|\n)*lstsq\("),
    Reason("values at infinity", "taken", "not positive-definite", r"inf(.|\n)*cholesky\("),
    Reason("where results lie that are drawn upon", "numbers", "", r"\.mT(.|\n)*binomial"),
    Reason("a rule of PyTorch's gives another shape", "taken", "^.'RuntimeError', 'The size of", "scatter_reduce"),
    Reason("a rule of PyTorch's gives another shape", "taken", "'The size of tensor a .0.", r"narrow_copy\(.*, -"),
    Reason("PyTorch writes what lies otherwise", "numbers", "", r"avg_pool3d\(.*out=.*(mT|\.\.\., 1\])"),
    Reason("PyTorch writes what lies otherwise", "numbers", "", r"as_strided\((.|\n)*as_strided_scatter"),
    Reason("PyTorch adds millions one by one", "numbers", "", r"float32(.|\n)*conv_transpose3d\(.*stride=100"),
    Reason("places that are no classes", "refused", "target .* is out of bounds: there are", "ctc_loss"),
    Reason("values at infinity", "numbers", "nan|inf", r"(inf|nan|e\+30)(.|\n)*(inverse|bilinear)\("),
    Reason("values at infinity", "numbers.grad", "", r"(inf|nan)(.|\n)*multi(label)?_margin_loss\("),
    Reason("counts beyond 64 bits", "numbers", "", r"(inf|e\+30|e\+19)(.|\n)*(poisson|binomial)\("),
    Reason("bytes that wrap", "numbers", "", r"uint8(.|\n)*affine_grid_generator"),
    Reason("one tensor twice in a list that is written", "grad", "", r"_foreach_\w+_\(\[(\w), \1"),
    Reason("a rule of PyTorch's gives another shape", "taken", r"size mismatch .got input: .\d.,", "nll_loss|entropy"),
    Reason("householder_product of no reflections", "^grad", "", r"\((\d, )?0,?\)(.|\n)*(orgqr|householder_product)"),
    Reason("truth values and bytes in PyTorch's rules", "numbers.grad", "", r"(uint8|bool)(.|\n)*(atan2|lerp)"),
    Reason("targets that are the blank", "numbers.grad", "", "ctc_loss"),
    Reason("PyTorch's smallest norm is no half", "numbers", "", r"float16(.|\n)*cosine_similarity"),
    Reason("slopes of logit(eps) at NaN, twice", "numbers", "nan", r"logit\((\w+, )?(eps=)?0(.|\n)*(creat|func|jac)"),
    Reason("what is kept is written by .data", "numbers.grad", "", r"(?s)(cum|\(\(\)\)|max|min).*\.data|\.data.*cum"),
    Reason("what is kept of a result that is given other data", "numbers.grad", "", r"v\d+\.data = "),
    Reason("what is kept is written by other libraries", "numbers.grad", "", r"(from_dlpack|from_numpy)(.|\n)*_\("),
    Reason("results of PyTorch's that lie in more memory", "words", "setStorage.*setStorage", "as_strided"),
    Reason("memory of NumPy's is seen whole", "taken", "setStorage", "from_numpy"),
    Reason("results of PyTorch's that lie in more memory", "refused", "setStorage", r"_loss\((.|\n)*as_strided"),
    Reason("bytes that are no truth values", "numbers", "", r"view\((torch\.)?bool\)"),
    Reason("there are no complex numbers of halves", "numbers", "nan|inf", r"(?s)float16.*complex|complex.*float16"),
    Reason("a view that got another size is none", "taken", "Can't detach views", "out="),
    Reason("a view that got another size is none", "node", "AsStridedBackward0", r"\.reshape\((.|\n)*out=\w+\)\n"),
    Reason("the slope of acosh below minus one", "numbers.grad", "nan", r"a(rc)?cosh"),
    Reason("exponents of ldexp in halves", "node", "LdexpBackward0 MulBackward0", last("ldexp")),
    Reason("exponents of ldexp that are small integers", "numbers.grad", "", r"int(.|\n)*ldexp"),
    Reason("PyTorch loses its place at empty blocks", "numbers.grad", "", r"\(0,( \d)?\)\)(.|\n)*block_diag"),
    Reason("a view of other memory has no gradient", "refused", "set_ is not impl", r"set_\((.|\n)*inputs="),
    Reason("a view of other memory has no gradient", "words", "setStorage.*set_ is not implemented"),
    Reason("a view of other memory has no gradient", "words", "set_ is not implemented.*whose data was replaced"),
    Reason("places beyond, and values of other sizes", "type", "shape mismatch: value.*out of bounds", r"_put|\)\] = "),
    Reason("factors of matrices with infinities", "refused", "algorithm failed to converge", r"inf(.|\n)*eig"),
    Reason("a view of other memory has no gradient", "refused", "whose data was replaced", r"no_grad.*set_|data ="),
    Reason("no kernel is reached that would refuse", "type", "for outputs with complex", r"\[\], dtype(.|\n)*complex"),
    Reason("no kernel is reached that would refuse", "type", "not implemented for", r"\[\], dt(.|\n)*(entropy|out=)"),
    Reason("complex targets", "refused|type", "log_sigmoid_cpu", "with_logits"),
    Reason("halves within a block of another half", "taken", "autocast::prioritize", "autocast"),
    Reason("a subclass made a parameter is a view", "words", "a view of a leaf", r"Subclass(.|\n)*Parameter\("),
    Reason("whole numbers are kept converted", "taken", r"modified by an.*CPU(Bool|Int|Long)T", r"vjp|graph=T"),
    Reason("PyTorch's variances of all halves keep their dtype", "taken", "std_var_all: Unsupported dtype", "out="),
    Reason("a size that PyTorch reads where there is none", "type", "(slice|as 0|: 0).*target batch_size"),
    Reason("a size that PyTorch reads where there is none", "words", "ified as 0.*ified as 1", last("addbmm")),
    Reason("a size that PyTorch reads where there is none", "words", r"select\(\) cannot be applied", "batch_norm"),
    Reason("a size that PyTorch reads where there is none", "words", r"for dimension 0 with size 0|target batch_size"),
    Reason("edges that are out of order", "numbers", "", "^m = (.|\n)*" + last("bucketize|searchsorted")),
    Reason("abs(out=) of complex numbers", "refused", "Found dtype", r"complex(.|\n)*abs(olute)?\("),
    Reason("PyTorch takes a number for a device", "refused", "to\\(\\)", r"\.to\(-?(\d|False|True|inf|float)"),
    Reason("where results lie that are handed on", "stride", "", r"\.data = "),
    Reason("the sign of NaN", "numbers", "", "copysign"),
    Reason("which of equal elements", "numbers", "", "median|kthvalue|topk|sort|quantile"),
    Reason("values at infinity", "numbers", "nan|inf", r"norm\w*\(|gelu|(qr|svd|prod|dist|solve|inv)\("),
    Reason("values at infinity", "numbers", "nan|inf", r"atan2.*pow"),
    Reason("values at infinity", "numbers.grad", "", r"e\+30(.|\n)*logcumsumexp"),
    Reason("values at infinity", "numbers", "nan", r"nan_to_num(.|\n)*create_graph"),
    Reason("sums that overflow on their way", "numbers", r"inf.*e\+38|e\+38.*inf", r"nan_to_num(.|\n)*sum\("),
    Reason("values at infinity", "numbers.grad", "nan", r"nan_to_num|inf(.|\n)*soft_margin_loss"),
    Reason("places that no whole number holds", "numbers", "", r"(nan|inf|1e\+30)(.|\n)*grid_sample\("),
    Reason("values at infinity", "numbers", "nan|inf", r"(matrix_power|det|b?addb?mm|addmv|addr|cross)\(|multi_marg"),
    Reason(
        "a matrix that is nearly singular", "numbers|taken|refused", r"e-0[6-9]|e-1\d|e\+1\d|singular",
        r"qr|solve|inv|det|_power\(",
    ),
    Reason("out= of another size gets memory of its own", "refused", "setStorage", "out="),
    Reason(
        "out= takes no gradients", "refused", "don't support automatic differentiation",
        last(
            r"diag|conj_physical|(nuclear_|matrix_)?norm|ihfft\w*|\w*softmax|\w+_copy|slice_scatter|matrix_power|tensor(inv|solve)|"
            "ndtr|lerp|kron", "out=",
        ),
    ),  # fmt: skip
    Reason(
        "out= takes no gradients", "words", "(dtype|cast|than one element).*don't support automatic differentiation",
        last(r"slice_scatter|conj_physical|\w*softmax|bitwise_\w+", "out="),
    ),  # fmt: skip
    Reason("which kernel tells of two dtypes", "type", "not implemented for.*expected scalar type", last("baddbmm")),
    Reason("values at infinity", "numbers", "nan", r"(inf|nan|e\+30)(.|\n)*\bcov\("),
    Reason("out= takes no gradients", "type", "not implemented for.*don't support auto", last(r"bitwise_\w+", "out=")),
    Reason("out= takes no gradients", "words", "size of tensor a.*don't support auto", "out="),
    Reason("out= takes no gradients", "words", "(Expected out|safely castable).*don't support auto", "out="),
    Reason("complex numbers into a real out=", "refused", "can't be cast", last("mean|logsumexp", "out=")),
    Reason("biases of another dtype", "refused", "bias type", "conv"),
    Reason("truth values that are targets", "refused", "Subtraction, the", r"bool(.|\n)*smooth_l1(.|\n)*create_graph"),
    Reason("values at infinity", "numbers.grad", "nan|inf", r"solve_ex\("),
    Reason("values at infinity", "numbers", "nan", r"= torch\.range\(.*inf"),
    Reason("PyTorch reads weights in steps as rows", "numbers|numbers.grad", "", r"::\d\](.|\n)*batch_norm\("),
    Reason("several faults of out=", "words", "Expected out tensor.*expected scalar type", last("bmm", "out=")),
    Reason("views made without recording", "refused", "retain_grad on|hook on a", r"no_grad\(\): \w+( = |\.\w+_\()"),
    Reason("no kernel is reached that would refuse", "type", "type Long can't.*not implemented", last("addmm")),
    Reason("the sign of zero", "numbers", "3\\.14", r"(linear|matmul|mm|mv|dot|sum|mean|py)\((.|\n)*(atan2|angle)"),
    Reason("halves that are sampled", "numbers", "", r"(?s)(?=.*float16).*grid_sample"),
    Reason("matmul(out=) of a vector lies anew", "stride", "", last("matmul", "out=")),
    Reason("a size that PyTorch reads where there is none", "type", "should contain 0 elements not", "batch_norm"),
    Reason("several faults of out=", "words", "to the desired output type.*more than one element", "out="),
    Reason("several faults of out=", "type", "expected scalar_type Long.*out of range", last("cummax|cummin", "out=")),
    Reason("several faults of out=", "words", "leaf Variable.*automatic differentiation", last("pinv", "out=")),
    Reason("the size of a mask of one truth", "words", "cannot be broadcast to index", r"bool\)\.reshape\(\(\)"),
    Reason("sizes of functions in Python", "type", "(one element tensors|div_floor).*must be int, not", last("stft")),
    Reason("which of its steps refuses a dtype", "type", "index_func_.*out of range", "index_reduce"),
    Reason("numbers of scatter are spread", "words", "no larger than self .*size than src", last("scatter_?", "ce=")),
    Reason("results of PyTorch's that lie in more memory", "words", "setStorage.*equal to the slice", "as_strided_sc"),
    Reason("points of bytes that wrap", "numbers", "", r"uint8(.|\n)*gradient\("),
    Reason("PyTorch's kernels assert", "taken|type", "INTERNAL ASSERT", last("ldexp", "out=") + "|lstsq"),
    Reason("PyTorch's matmul folds what lies otherwise", "taken", "must match the size", last("matmul", "out=.*mT")),
    Reason("memory that there is not", "type", "can't allocate memory.*MemoryError|Maximum allowed dimension exc"),
    Reason("PyTorch's kernels assert", "words|type", "ArrayRef: attempted", "searchsorted|bucketize"),
    Reason("PyTorch rounds each step of halves", "numbers.grad", "nan", r"float16(.|\n)*(mvlgamma|multigammaln)"),
    Reason("PyTorch's addmv of no rows gives its addend back", "shape", r"r: \(1?,?\) \(0,\)", last("addmv")),
    Reason("where results lie", "node", "ViewBackward0 ReshapeAliasBackward0", last("bilinear")),
    Reason("PyTorch's kernels assert", "taken", "Only zero batch or zero channel inputs", "conv_transpose"),
    Reason("which of its kernels refuses", "words", "kernel size should be greater than zero", last(r"conv\dd")),
    Reason("NaN in lists", "numbers", "nan", r"nan(.|\n)*_foreach_(max|min|clamp)"),
    Reason("where results lie", "node", "ReshapeAliasBackward0 ViewBackward0", r"as_strided(.|\n)*tensor(inv|solve)"),
    Reason("settings that serve", "taken", "requires the return_complex", last("stft", "onesided='x'")),
    Reason("matrices that lack rank", "numbers.grad", "", r"(fill_|zero_|ones|expand|cat\()(.|\n)*linalg\.qr\("),
    Reason("linear has no out=", "refused|type", r"linear\(\) got an unexpected keyword argument 'out'"),
    Reason("out= of whatever the result can be cast to", "taken", "out tensor|Found dtype", last(COMPOSED, "out=")),
    Reason("out= of whatever the result can be cast to", "words", "Found dtype.*automatic", last(COMPOSED, "out=")),
    Reason("reductions of complex numbers", "taken", "(nansum|std)_cpu", last("nansum|nanmean|std|var", "out=")),
    Reason(
        "PyTorch reads what it has overwritten", "refused", "single memory location",
        "^m = (.|\n)*"
        + last(
            "diag|tri[lu]|addr|mvlgamma|multigammaln|ldexp|threshold|matrix_rank|solve|\\w+_power|narrow_copy", "out="
        ),
    ),  # fmt: skip
    Reason(
        "PyTorch reads what it has overwritten", "words", "p_in.*single memory location",
        "^m = (.|\n)*" + last("bernoulli_"),
    ),  # fmt: skip
    Reason("PyTorch reads no addend of beta=0", "refused", "single memory", "^m = (.|\n)*" + last("addmm", "beta=0,")),
    Reason("PyTorch reads what it has overwritten", "numbers", "", "^m = (.|\n)*" + last(READS, r"out=\(?m")),
    Reason(
        "PyTorch reads what it has overwritten", "numbers", "",
        "^m = (.|\n)*" + last("addm[mv]_|b?addbmm_|masked_scatter_"),
    ),  # fmt: skip
    Reason("PyTorch reads what it has overwritten", "numbers", "", last(READS, r"out=[a-j](\.detach\(\))?\)")),
    Reason("composed operations write what they make", "written", "", last("kron|matmul|multi_dot", "out=")),
    Reason("composed operations write what they make", "written", "", last("svd", "out=")),
    Reason("which of two results is written last", "numbers", "", last("aminmax", r"out=\(m")),
    Reason("real numbers to a complex power", "node", r"r: PowBackward[02] PowBackward1", r"pow\(.*j|j \*\*|\*\* .*j"),
    Reason("PyTorch's cond writes over an inverse", "taken", "output 0 of LinalgInvEx", last("cond") + r"|\bcond\("),
    Reason("PyTorch's cov writes over a view of its own", "taken", "view of a leaf", last("cov", "weights=")),
    Reason("PyTorch's ihfftn forgets its out=", "numbers", r"^r: [\[\], 0j]+ \[", last("ihfftn", "out=")),
    Reason("what reads what it writes", "numbers", "", r"(unfold|as_strided)(.|\n)*(_\(|out=|[-+*/]= |\] = |Dirty)"),
    Reason("bytes in PyTorch's rule of a loss", "numbers.grad", "", r"uint8(.|\n)*soft_margin_loss"),
    Reason(
        "which of its steps refuses a dtype", "words", r"not implemented for \\?'(\w+).* not implemented for \\?'\1",
        last("index_reduce|histc"),
    ),  # fmt: skip
    Reason(
        "nodes of what is written", "node", "((Asin|Acos|Atan)h|Polygamma)Backward1",
        r"a(rc)?(sin|cos|tan)h_|polygamma_",
    ),  # fmt: skip
    Reason("no kernel is reached that would refuse", "type", "outputs with", last("adaptive_avg_pool1d", ", 0")),
    Reason("PyTorch's kernels assert", "taken|words", "INTERNAL ASS|TensorAcc", "batch_norm|instance_norm"),
    Reason("PyTorch's library refuses what is empty", "taken", "MKL FFT error", last(r"fft\.\w+|stft")),
    Reason("orders that are no numbers", "numbers", "nan", last(r"\w+_polynomial_\w+", r"nan")),
    Reason("PyTorch breaks where no dimensions are named", "taken", "match the broadcast", last("logsumexp", r"\(\)")),
    Reason("PyTorch's addbmm_ gives what it writes other sizes", "refused", "match the broadcast", last("addbmm_")),
    Reason("what backends of PyTorch's say of a size", "words", "(memory descriptor|overflow).*too small"),
    Reason("what backends of PyTorch's say of a size", "words", "a primitive descriptor.*(kernel size|for weight)"),
    Reason(
        "NumPy hands no code of LAPACK's on", "words",
        r"repeated eigenvalues \(error code: \d+\)\..*repeated eigenvalues\.['\"]",
        "eig|norm|cond|matrix_rank|pinv",
    ),  # fmt: skip
    Reason("negatives of zero", "numbers", "j", r"complex(.|\n)*(= -|neg)(.|\n)*(sqrt|log|angle|\ba\w+\()"),
    Reason("the sign of NaN", "words", r"range of \[-nan", last("histc")),
    Reason("which thread tells first", "words", "invalid max index", last(r"max_unpool\dd")),
    Reason("PyTorch names another tensor's sizes", "words", "Expected bias to be a vector", last("group_norm")),
    Reason("classes print with our names", "words", r"class 'torch\.Tensor'.*class 'glassgrad", last("sym_(max|min)")),
    Reason("windows of nothing", "refused", "pool \\w+ must be positive", last(r"fractional_max_pool\dd")),
    Reason("PyTorch wraps a number", "numbers", "", last("bucketize", r"2 \*\* 63")),
    Reason("PyTorch's functions in Python assert", "taken", "Expected bool, got <class", last("broadcast_shapes")),
    Reason(
        "which of its steps refuses a dtype", "words", r"(ldexp|mvlgamma: result type \w+) can't be cast",
        last("ldexp_?|mvlgamma_?|multigammaln"),
    ),
    Reason("which of its steps refuses a dtype", "words", "Expected out.*addmv input", last("mv", "out=")),
    Reason("which of its steps refuses a dtype", "type", "ComplexFloat can't be cast.*for .'Comp", "binary_cross"),
    Reason("biases of another dtype", "words|type", "bias type|weight type", last(r"conv(olution|(_transpose)?\dd)")),
    Reason("PyTorch breaks where there are no indices", "taken", "an undefined Tensor", last("index_put", r"\(\)")),
    Reason("PyTorch breaks where there are no indices", "taken", "ntensor >= 3 INT", last("index_put", r"\(\)")),
    Reason("masks of bytes", "taken", "masked_fill_ only supports bool|ntensor >= 3", r"uint8(.|\n)*index_put|\] = "),
    Reason("which of its kernels refuses", "words|refused", "dilation", last(r"conv\w*", "0")),
    Reason("whole numbers computed in few digits", "numbers", "", r"(int|bool)(.|\n)*float64(.|\n)*poisson_nll_loss"),
    Reason("numbers that are not sorted", "numbers", "", "bucketize|searchsorted"),
    Reason("phases of nearly singular matrices", "refused", "up to multiplication by e", "svd"),
    Reason("which lane, or thread, is told", "numbers", r"inf\b", r"-0\.0(.|\n)*logit"),
    Reason("which lane, or thread, is told", "words", "is out of bounds.*is out of bounds", "cross_entropy|nll_loss"),
    Reason("which of several elements is written", "numbers", "", last(r"max_unpool\dd")),
    Reason("exponentials of large numbers", "numbers", r"inf\b", "soft_margin_loss"),
    Reason("exponentials of large numbers", "numbers.grad", "nan", r"(300\.5|e\+)(.|\n)*soft_margin_loss"),
    Reason("memory before dtypes", "words", "refer to a single(.|\n)*must be of scalar type Long", "out="),
    Reason("differences of large numbers", "numbers", "", r"e\+30(.|\n)*(householder|ormqr|orgqr)"),
    Reason("settings beyond a dtype's numbers", "taken|type|words", "without overflow|too big to convert"),
    Reason("what cancels in few digits", "numbers", "", r"(b?float)16(.|\n)*sinc"),
    Reason("where results lie", "node", "(Mul|Clone)Backward0.*(Mul|Clone)Backward0", "rms_norm"),
    Reason("which of its steps is told", "words", r"aten::(\w+)\(\): functions(.|\n)*\b\1\(\): functions"),
    Reason("which fault of histories", "words", "leaf Var(.|\n)*support auto|support auto(.|\n)*leaf Var", "out="),
    Reason("which fault of histories", "words", "flags of leaf(.|\n)*view and its|versions later(.|\n)*second time"),
    Reason("which fault of histories", "words", "no_grad mode(.|\n)*versions later|versions later(.|\n)*no_grad mode"),
    Reason("what is there already is written", "refused", "of the written-to", r"(broadcast_to|expand)(.|\n)*\] = "),
    Reason(
        "which of its steps is told", "words",
        r"(\w+)\(\): functions with out=(.|\n)*\b(?!\1\b)\w+\(\): functions with out=", "out=",
    ),  # fmt: skip
    Reason("sizes of complex numbers", "words|refused", "Found dtype", last("abs|absolute", "out=")),
    Reason("values at infinity", "numbers", r"inf\b", r"e\+30(.|\n)*vander"),
    Reason("a tensor twice in a list", "refused", "versions later", r"_foreach_\w+_\(\[(\w), \1\b"),
    Reason("gradients of other data", "numbers|results|words", "", r"\.data = "),
    Reason("what is never written", "shape", "", last("ihfftn", "out=")),
    Reason("compositions refuse at another step", "type", "mean..: could not infer", last("batch_norm|instance_norm")),
    Reason("what lies on itself is refused", "refused", "of the written-to", last(r"tri[lu]|cat|\w?stack", "out=")),
    Reason("what lies on itself is refused", "refused", "of the written-to", last("matrix_power|msort", "out=a")),
    Reason("which of several faults", "words|type", "is a view and its base|versions later|_log_softmax does"),
    Reason("places in what has none", "words|type", r"index \d out of (range|bounds)|setStorage", "index_reduce"),
    Reason("differences of large numbers", "numbers", "", r"e\+30(.|\n)*trap"),
    Reason("a mask of one truth value", "refused", "refer to a single memory", r"\[\(.*\)\] = v"),
    Reason("rules that square in small words", "numbers", "", r"int\d+(.|\n)*a(rc)?tan2"),
    Reason("sizes of nothing", "shape", "", r"\[\], dtype(.|\n)*out="),
    Reason("which of several faults", "words", "size of tensor(.|\n)*leaf Variable|leaf Var(.|\n)*size of tensor"),
    Reason("a rule of PyTorch's gives another shape", "taken", "NativeBatchNormBackward0 returned an invalid"),
    Reason("sizes of nothing", "stride", "", r"\[\], dtype(.|\n)*out="),
    Reason("which of several faults", "words", r"should have \d elements", last("histogramdd")),
    Reason("where gradients lie", "stride", "^g: "),
    Reason("differences of large numbers", "numbers", "", r"(300\.5|e\+)(.|\n)*polar"),
    Reason("memory before dtypes", "words", "can't be cast to.*refer to a single", last("pow", "j, out=m")),
    Reason("PyTorch records what is composed", "refused", "automatic diff", "out="),
    Reason("which of its steps is told", "words", "_fft_c2c.*_fft_r2c.*automatic", last("ihfft[2n]", "out=")),
    Reason("which of its steps is told", "words", r"aten::(\w+)_ is not implemented.* aten::\1 is not implemented"),
    Reason("which of several faults", "words", "repeat dims can not.*expected scalar type"),
    Reason("powers of halves", "numbers", "nan|inf", r"float16(.|\n)*ldexp"),
    Reason("which of several faults", "type", "can't be cast.*slow_conv_transpose", "conv_transpose"),
    Reason("views that must not be read", "refused", "a view and its base or", r"(requires_grad_\(\)|copy\(\w+\))\Z"),
    Reason("complex targets", "type", "can't be cast.*not implemented for .Complex", "binary_cross_entropy"),
    Reason("PyTorch resizes what it makes", "warning", "was resized since", "ldexp|binomial"),
    Reason("PyTorch's rules warn", "warning", r"^.\('UserWarning'.* set\(\)$", "triangular_solve|cholesky"),
    Reason("PyTorch's rules warn", "warning", r"^.\('UserWarning'.* set\(\)$", r"where\((.|\n)*backward"),
    Reason("what hooks give back lies otherwise", "numbers.grad", "", r"saved_tensors_hooks(.|\n)*det\("),
    Reason("a rule that subtracts from whole numbers without signs", "numbers.grad", "", r"uint8(.|\n)*a(rc)?tan2"),
    Reason("a rule of PyTorch's gives another shape", "words", "CopySlices returned an inv", r"scatter(_add)?_\("),
    Reason("the shape was changed without recording", "refused", "modified by an inplace", r"\.data = "),
    Reason("PyTorch's zeros are doubles", "taken", "changed the type of value", r"sgn\(\)(.|\n)*register_hook"),
    Reason("PyTorch's logcumsumexp loses digits", "numbers", "", r"e\+30(.|\n)*logcumsumexp"),
    Reason("several dtypes that are faults", "words", "div_floor_cpu.*lt_cpu", "group_norm"),
    Reason("several dtypes that are faults", "words", "Expected size for.*expected scalar type", "baddbmm"),
    Reason("which lanes take NaN", "numbers", "nan", r"nan(.|\n)*(hardtanh|relu6|shrink)"),
    Reason("which one is singular", "words", r"(Batch element \d+(.|\n)*){2}", r"n(an|orm)(.|\n)*inv"),
    Reason("truth values as exponents", "numbers", "", r"(__pow__|pow_?)\((False|True)\)|\*\* (False|True)\b"),
]

#: What PyTorch's parser refuses, and is taken here ("lenient") or refused otherwise ("parser").
TYPES = [
    Reason("settings that serve", "lenient", r"must be (bool|int|float|str|tuple of ints)\b.*, (not|but found)"),
    Reason("settings that serve", "lenient", r"invalid combination of arguments - got \([^)]*Tensor|periodic="),
    Reason("settings that serve", "parser", "'offset' must be int, not bool"),
    Reason("settings that serve", "parser", r"ctc_loss\(\) received an invalid combination"),
    Reason("settings that serve", "lenient", "as element 0 in argument 1", last("histogramdd", "(range|density)=")),
    Reason("settings that serve", "lenient", r"got \(\w+, int, (float|int|NoneType)\)", last("(nan)?quantile")),
    Reason("settings that serve", "lenient", "must be Number, not (Tensor|None)", last(r"b?add\w+|constant_pad_nd")),
    Reason("several numbers as one", "parser", "must be float, not Tensor.*Boolean value of Tensor"),
    Reason("gradients before types", "parser", "TypeError.*automatic diff", "out="),
    Reason("functions are methods", "lenient", r"got \(indices_or_sections=", last("tensor_split")),
    Reason("settings that serve", "lenient", r"got \(int, int, bool\)", last("narrow")),
    Reason("functions are methods", "lenient", "got an unexpected keyword.*split_size_or_sections", last("split")),
    Reason("settings that serve", "parser", "must be int, not Tensor", last("(log_)?softmax|softmin")),
    Reason("settings that serve", "parser", "'input' .position 1. must be Tensor, not bool", last("addm[mv]", "=")),
    Reason("settings that serve", "lenient", r"invalid combination of arguments - got \(stable="),
    Reason("settings that serve", "parser", r"src=(float|int|bool|complex)", last("scatter_?", "src=")),
    Reason("numbers by which nothing is counted", "lenient", "Overflow when unpacking"),
    Reason("numbers that no word holds", "parser|type", "Overflow when unpacking", r"2 \*\* 63|e\+30"),
    Reason("one of several numbers is too large", "parser|type", "Overflow when (.|\n)*Overflow when unpacking"),
    Reason("out= where PyTorch has none", "lenient|parser", "unbiased=bool", last("var|std", "out=")),
    Reason("methods have out=", "lenient|parser", r"argument 'out'|out=\w+", r"(?m)^r = [a-j]\.\w+\(.*out="),
    Reason("out=None is no out=", "lenient", r"out=NoneType|argument 'out'|positional arg", last(r"\w+", "out=None")),
    Reason("out=None is no out=", "lenient", "must be Tensor, not (float|int)", last("where", "out=None")),
    Reason("functions are methods", "lenient", r"indices_or_sections|got \(\)", last("[vhd]split|repeat_interleave")),
    Reason("out= where PyTorch has none", "lenient|parser", "argument 'out'", last(r"\.(log_)?softmax|diag_embed")),
    Reason("out= where PyTorch has none", "lenient|parser", "as element 0 in argument 1", last("histogramdd", "out=")),
    Reason(
        "one number is a tuple of one", "lenient|parser", r"tuple of ints, not int|\(Tensor, int\b|size=int|were given",
        last("tile|flip|permute(_copy)?|expand_copy|view_copy|broadcast_to|reshape|view"),
    ),
    Reason(
        "sizes of functions in Python", "lenient|parser", "0-d tensor|cond must be a bool|an invalid combination",
        last(r"(un)?fold|max_unpool\dd|lp_pool\dd|norm|upsample\w*|interpolate"),
    ),
    Reason("what is no tensor fails by its attributes", "parser", r"^\('AttributeError'.*\('TypeError'"),
    Reason("settings that serve", "parser", "got .Tensor, (out=Tensor, input=int|float, Tensor, Tensor)"),
    Reason("settings that serve", "parser", "must be tuple of ints, not Tensor", last("permute")),
    Reason("what is no tensor fails by its attributes", "parser", "'int' object is not callable", "binary_cross"),
    Reason("None for what was not given", "lenient", "NoneType", last("eye|frobenius_norm|logsumexp", "None")),
    Reason("None for what was not given", "lenient", "NoneType", last("contiguous", "None")),
    Reason("several faults of out=", "parser", r"cat\(\): input types.*single memory", last(r"cat\w*|\w*stack")),
    Reason("several faults of out=", "parser", "be tuple of Tensors.*Dimension out of range", last("cum(max|min)")),
    Reason("a number first, with out=", "lenient|parser", "Number self, Tensor other", last(r"bitwise_\w+", "out=")),
    Reason("None for what was not given", "parser", "NoneType", last("repeat_interleave|bernoulli", "None")),
    Reason("former overloads", "parser", "vec2' .* must be Tensor, not float.*but got 2-D", last("addr", "beta=")),
    Reason("PyTorch adds a loss to a reduction", "parser", r"\+: '\w+' and 'str'", last("multilabel_soft_margin_loss")),
]  # fmt: skip


#: What draws, or counts, at each call; layers with dropout where it is on.
DRAWS = r"(RReLU|Drop|Batch|Instance|(Atten|Transf|RNN|LSTM|GRU).*, 0\.[25])"
#: Of networks that are trained.
TRAINED = [
    Reason("halves within a block of another half", "taken", "autocast::prioritize", "autocast"),
    Reason("strides of results", "node", "'AddBackward0'.*'ViewBackward0'", r"[Ll]inear\("),
    Reason("what is written part by part, in one node", "node", "CopySlices.*Pad(By|PackedSequence)Backward0"),
    Reason("processors that have oneDNN's halves", "node", r"bfloat16.*MkldnnRnnLayer\S+ .*bfloat16.*StackBackward0"),
    Reason("processors that have oneDNN's halves", "taken", "could not create a primitive"),
    Reason("PyTorch's LBFGS views gradients", "taken", "view size is not compatible", r"channels_last(.|\n)*opt\.step"),
    Reason("PyTorch's fused SGD passes halves by", "numbers", "", r"(?s)(?=.*(t16|half)).*SGD\([^\n]*fused=True.*step"),
    Reason("PyTorch's fused steps go through memory", "numbers", r"^opt|^model", "fused=True(.|\n)*channels_last"),
    Reason("layers of halves that PyTorch lacks", "taken|words|type", r"not implemented for \\?'(Half|BFloat16)"),
    Reason("PyTorch's steps over lists write the gradients", "numbers.grad", "", "nesterov=True.*foreach=True"),
    Reason("jacobians of nothing are empty", "taken", "a non-empty TensorList", "jacobian"),
    Reason("which kernel tells of two dtypes", "words", "same d(ata)?type|(bias|weight) type|mixed dtype"),
    Reason(
        "which of its refusals vmap tells", "words|type",
        r"broadcast shape .* (captured|retain_grad)|called random|aten::rrelu|renorm_|setup_context|\.item\(\) on|"
        "dynamic shape",
        r"torch\.func",
    ),  # fmt: skip
    Reason("PyTorch's slopes of matrix_exp lose digits", "numbers", "", r"matrix_exp(.|\n)*(backward|grad|func|step)"),
    Reason("matrix_exp of halves", "^numbers", "", r"(?s)(?=.*(float16|autocast)).*matrix_exp"),
    Reason("there are no complex numbers of halves", "refused|type", "complex32", r"half\(\)"),
    Reason("PyTorch's trigamma has ten digits", "numbers.grad", "", r"D\.(Beta|Dirichlet|Gamma|StudentT|Chi2)\("),
    Reason("a step that ends at zero, rounded", "results", r"^\[('\w', )+'loss', 'model[\w.]+', 'opt", "LBFGS"),
    Reason("PyTorch's noise that is not drawn", "numbers", "", r"RReLU(.|\n)*allow_mutation"),
    Reason("hooks of modules on truth values", "taken", "was CPUBoolType", "full_backward_hook"),
    Reason("which of nearly equal numbers", "words", "to satisfy the constraint", r"D\.\w+"),
    Reason("PyTorch's vmap folds batches", "words", "expected input(.|\n)*expected input", r"func\.vmap"),
    Reason("PyTorch's vmap of PReLU", "taken|numbers", "", r"PReLU\(\d, (.|\n)*vmap\(torch\.func\.jacrev"),
    Reason("settings that serve", "taken|type", r"(lstm|gru|rnn\w*)\(\) received an invalid", r"\.bias = "),
    Reason("layers that are given pairs", "type", "'tuple' object has no attribute"),
    Reason("PyTorch's LBFGS has no copies", "taken|type", "no attribute '_params'", "deepcopy"),
    Reason("PyTorch's search fails at NaN", "taken", "list index out of range", "strong_wolfe"),
    Reason("the larger one beside NaN", "numbers", "max_exp_avg_sq.*nan", "fused=True, amsgrad"),
    Reason("what fails half-way", "numbers", r"^opt\.\d+\.(step|mu_product):", r"half\(|\.float\(\)|float16|float32\)"),
    Reason("what fails half-way", "numbers|results|words", "", r"lr_scheduler(.|\n)*add_param_group"),
    Reason("which of equal elements", "numbers", "_mask", r"(Norm|PReLU|constant_|half)(.|\n)*prune\.(l1|ln|global)_"),
    Reason("what should be zero, rounded", "taken", "between 0 and 1", r"GroupNorm\((.|\n)*BCELoss"),
    Reason("which of its refusals vmap tells", "words", "the broadcast shape.*got a batched tensor", "torch.func"),
    Reason("slopes that depend on no input", "about", r"e, '.*d\d'.* False, None", r"func\.(jac|hess|vjp|lin|.*grad)"),
    Reason("PyTorch's linearize is not its jvp", "numbers", "", r"[Cc]ircular(.|\n)*linearize"),
    Reason("PyTorch's recurrent layers are not linearized", "taken|words", "leaf Variable", "linearize"),
    Reason("hooks of modules have no vmap", "taken", "setup_context", r"backward_pre_hook(.|\n)*func\.grad"),
    Reason("hooks of modules have no vmap", "refused", "setup_context", r"backward.*hook(.|\n)*func\.[vjh]"),
    Reason("graphs are copied", "taken|type", "deepcopy protocol", "deepcopy|AveragedModel|fuse_conv"),
    Reason("slopes of layers that PyTorch lacks", "taken", "derivative for .?(aten::|_cdist)"),
    Reason("what transforms lack in PyTorch", "taken", "value out of a tracing tensor", "linearize"),
    Reason("what is traced keeps its numbers", "numbers", r"running_", r"Norm\w*\([^\n]*None(.|\n)*jit\.trace"),
    Reason("what transforms lack in PyTorch", "taken|words", "the broadc|Batching rule|have storage", r"torch\.func"),
    Reason("what transforms lack in PyTorch", "taken", "NYI", r"torch\.func"),
    Reason("what transforms lack in PyTorch", "words|type", "Batching rule not implemented", r"torch\.func"),
    Reason("what transforms lack in PyTorch", "taken|type|words", "forward (mode )?AD", r"torch\.func"),
    Reason("what backends of PyTorch's say of a size", "words", "(memory descriptor|overflow).*too small"),
    Reason("PyTorch's slope of huber_loss takes one dtype", "taken", "Found dtype", "Huber"),
    Reason("where results lie", "node", "(Add|UnsafeView)Back.*'ViewB", r"LocalR|AlphaD|Dropout\dd|GRU|LSTM|RNN|_Book"),
    Reason("where results lie", "node", "UnsafeViewBackward0.*'ViewB", r"channels_last(.|\n)*logsumexp"),
    Reason("tensors that are retained in transforms", "refused", r"retain_grad\(\) inside", r"torch\.func"),
    Reason("sparse gradients that reach rules", "refused", "'SparseCPU' backend", "create_graph=True"),
    Reason("which of equal elements", "numbers", "", r"_(Book|Rounded)\((.|\n)*MaxPool"),
    Reason("what should be zero, rounded", "numbers.grad", r"\[0\.0\]$", r"LayerNorm\(1,(.|\n)*BCELoss"),
    Reason("which of equal values", "numbers.grad", "", r"_Rounded\((.|\n)*svdvals"),
    Reason("what should be zero, rounded", "numbers.grad", "", r"Dropout(.|\n)*(Group|Instance|Batch)Norm(.|\n)*ReLU"),
    Reason("PyTorch's library refuses what is empty", "taken", "MKL FFT error"),
    Reason("PyTorch's slopes of cdist in batches are others", "numbers", "", r"cdist(.|\n)*func\.(jac|hess|vmap)"),
    Reason("where results lie", "node", "UnsafeView.*FlashAttention", "LocalResponseNorm|channels_last"),
    Reason("where results lie", "node", "UnsafeViewBackward0.*'ViewB", r"\.mT(.|\n)*\.roll\("),
    Reason("values at infinity", "numbers", r"inf\b", "SoftMarginLoss"),
    Reason("PyTorch's slope of a normed batch that lies otherwise", "numbers.grad", "", r"Norm3d(.|\n)*y\.mT\[None\]"),
    Reason("what should be zero, rounded", "numbers", "nan", r"LayerNorm\(2, (.|\n)*PoissonNLLLoss\(log_input=False"),
    Reason("which of its refusals vmap tells", "words", "data pointer of.*mutate a capt|mutate a capt.*data pointer"),
    Reason("which of its refusals vmap tells", "words", r"broadcast shape .*over `mask`", r"torch\.func"),
    Reason("where results lie", "node", "(Mul|Clone)Backward0.*(Mul|Clone)Backward0", "RMSNorm|rms_norm"),
    Reason("where results lie that are drawn upon", "numbers", "", r"channels_last(.|\n)*LocalResponse(.|\n)*Dropout"),
    Reason("plain numbers written into what is captured", "taken|words", "mutate a", "_Mean"),
    Reason("what is linearized is called once", "refused", "leaf Variable|modified by an in", "linearize"),
    Reason("what is linearized is called once", "refused|words|type", "mutate a", r"(BatchNorm|_Mean)(.|\n)*linearize"),
    Reason("what is linearized is called once", "refused", "setup_context", r"backward_hook(.|\n)*linearize"),
    Reason("what is linearized is called once", "numbers", "", r"max_norm(.|\n)*linearize"),
    Reason("what is linearized is called once", "numbers", "", DRAWS + r"(.|\n)*linearize"),
    Reason("sparse gradients that reach rules", "taken", "'SparseCPU' backend|converting to a different layout"),
    Reason("sparse gradients that reach rules", "words|type", "not defined for sparse tensors"),
    Reason("hooks of nodes get the results that are given", "taken", "incorrect number of values", "prehook"),
    Reason("PyTorch's jacfwd is not its hessian", "numbers", "", r"(det|solve|inv|[Nn]orm\w*)\((.|\n)*jacfwd"),
    Reason("what TorchScript fails at", "taken", "TorchScript|hooks assigned can't be compiled"),
    Reason("values at infinity", "numbers", "nan", "Dirichlet"),
    Reason("hooks of several gradients", "taken", "_will_engine_execute_node"),
    Reason("forward mode that PyTorch lacks", "taken|words|type", "use forward AD with"),
    Reason("which of equal lengths comes first", "numbers", "", r"lengths\((.|\n)*\.data"),
    Reason("other nodes", "said", "Backward0", r"(pad_packed|[Cc]ircular|pack_|LSTM|RMSNorm|rms_norm)(.|\n)*names\("),
]


def reason(sort: str, said: str, lines: list[str], reasons: Sequence[Reason] = REASONS) -> str:
    """Why a difference is left out; empty where nothing is known of it."""
    program = "\n".join(lines)
    for each in reasons:
        if re.search(each.sort, sort) and re.search(each.said, said) and re.search(each.program, program):
            return each.why
    return ""
