"""Every common operation once: its value, its gradients to second order, and apart from these its node."""


def _inputs(torch, dtype):
    """Two leaves: a between nought and one, b of both signs."""
    a = torch.tensor([[0.1, 0.5, 0.9], [0.7, 0.3, 0.2]], dtype=dtype, requires_grad=True)
    b = torch.tensor([[1.5, -0.5, 2.0], [0.25, -1.0, 3.0]], dtype=dtype, requires_grad=True)
    return a, b


def _tensors(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _total(torch, tensors):
    """The sum of all that can be differentiated, each element weighted otherwise."""
    total = None
    for tensor in tensors:
        if tensor.requires_grad:
            weight = torch.arange(1, tensor.numel() + 1).reshape(tensor.shape).to(tensor.dtype)
            part = (tensor * weight).sum()
            total = part if total is None else total + part
    return total


def values_program(operation):
    """The program of an operation's values and gradients."""

    def program(torch, show):
        a, b = _inputs(torch, torch.float32)
        result = _tensors(operation(torch, a, b))
        show("result", [tensor.detach() for tensor in result])
        total = _total(torch, result)
        if total is None:
            return
        total.backward()
        show("gradients", [a.grad, b.grad])
        a, b = _inputs(torch, torch.float64)
        total = _total(torch, _tensors(operation(torch, a, b)))
        first = torch.autograd.grad(total, [a, b], create_graph=True, allow_unused=True)
        squares = [(g * g).sum() for g in first if g is not None and g.requires_grad]
        if squares:
            second = torch.autograd.grad(sum(squares), [a, b], allow_unused=True, materialize_grads=True)
            show("second", second)

    return program


def node_program(operation):
    """The program of an operation's node: its name, its edges and the names of what it saved."""

    def program(torch, show):
        a, b = _inputs(torch, torch.float32)
        for place, tensor in enumerate(_tensors(operation(torch, a, b))):
            show(f"output {place}", [tensor.requires_grad, tensor.output_nr])
            show.graph(f"graph {place}", tensor)
            if tensor.grad_fn is not None:
                show(f"saved {place}", [name for name in dir(tensor.grad_fn) if name.startswith("_saved_")])

    return program


# Made of other operations in a way that is torch's own business: their nodes are not compared.
_COMPOSED = (
    "einsum_product einsum_trace einsum_outer einsum_sum einsum_implicit einsum_ellipsis tensordot inner kl_div "
    "cosine_similarity cross_entropy_smoothing cross_entropy_probabilities normalize prelu"
).split()


def family_programs(families):
    """Two programs for each operation of each family."""
    programs = {}
    for family, table in families.items():
        for name, operation in table.items():
            programs[f"{family}.{name}"] = values_program(operation)
            if name not in _COMPOSED:
                programs[f"{family}.{name}.node"] = node_program(operation)
    return programs


_ARITHMETIC = {
    "add": lambda torch, a, b: a + b,
    "add_number": lambda torch, a, b: a + 2,
    "add_to_number": lambda torch, a, b: 2 + a,
    "add_alpha": lambda torch, a, b: torch.add(a, b, alpha=3),
    "sub": lambda torch, a, b: a - b,
    "sub_number": lambda torch, a, b: a - 2,
    "sub_alpha": lambda torch, a, b: torch.sub(a, b, alpha=3),
    "number_minus": lambda torch, a, b: 2 - a,
    "rsub": lambda torch, a, b: torch.rsub(a, b),
    "mul": lambda torch, a, b: a * b,
    "mul_number": lambda torch, a, b: a * 2,
    "mul_itself": lambda torch, a, b: a * a,
    "div": lambda torch, a, b: a / b,
    "div_number": lambda torch, a, b: a / 2,
    "number_over": lambda torch, a, b: 2 / a,
    "div_floor": lambda torch, a, b: torch.div(b, a, rounding_mode="floor"),
    "div_trunc": lambda torch, a, b: torch.div(b, a, rounding_mode="trunc"),
    "floor_divide": lambda torch, a, b: b.detach() // a.detach(),
    "remainder": lambda torch, a, b: b % a,
    "fmod": lambda torch, a, b: torch.fmod(b, a),
    "pow_number": lambda torch, a, b: b**3,
    "pow_square": lambda torch, a, b: b**2,
    "pow_half": lambda torch, a, b: a**0.5,
    "pow_nought": lambda torch, a, b: a**0,
    "pow_minus_one": lambda torch, a, b: b**-1,
    "pow_tensor": lambda torch, a, b: a**b,
    "number_to_the_power": lambda torch, a, b: 2**b,
    "neg": lambda torch, a, b: -b,
    "pos": lambda torch, a, b: +b,
    "abs": lambda torch, a, b: b.abs(),
    "sign": lambda torch, a, b: b.sign(),
    "square": lambda torch, a, b: b.square(),
    "sqrt": lambda torch, a, b: a.sqrt(),
    "rsqrt": lambda torch, a, b: a.rsqrt(),
    "reciprocal": lambda torch, a, b: b.reciprocal(),
    "addcmul": lambda torch, a, b: torch.addcmul(a, b, b, value=2),
    "addcdiv": lambda torch, a, b: torch.addcdiv(a, a, b, value=2),
    "lerp_number": lambda torch, a, b: torch.lerp(a, b, 0.3),
    "lerp_tensor": lambda torch, a, b: torch.lerp(a, b, a),
    "maximum": lambda torch, a, b: torch.maximum(a, b),
    "minimum": lambda torch, a, b: torch.minimum(a, b),
    "maximum_of_equals": lambda torch, a, b: torch.maximum(a, a.detach()),
    "clamp": lambda torch, a, b: b.clamp(-0.6, 1.6),
    "clamp_low": lambda torch, a, b: b.clamp(min=0),
    "clamp_high": lambda torch, a, b: b.clamp(max=1),
    "clamp_at_the_bound": lambda torch, a, b: b.clamp(-0.5, 2.0),
    "clamp_tensors": lambda torch, a, b: b.clamp(min=a, max=a + 1),
    "clip": lambda torch, a, b: b.clip(0, 1),
    "clamp_min": lambda torch, a, b: b.clamp_min(0.5),
    "where": lambda torch, a, b: torch.where(b > 0, a, b),
    "where_number": lambda torch, a, b: torch.where(b > 0, a, 0.0),
    "where_method": lambda torch, a, b: a.where(b > 0, b),
    "atan2": lambda torch, a, b: torch.atan2(a, b),
    "broadcast_add": lambda torch, a, b: a[:, :1] + b[0],
    "broadcast_mul": lambda torch, a, b: a[0, 0] * b,
    "true_divide": lambda torch, a, b: a.true_divide(b),
    "multiply": lambda torch, a, b: a.multiply(b),
    "subtract": lambda torch, a, b: a.subtract(b),
    "nan_to_num": lambda torch, a, b: (b / (b + 0.5)).nan_to_num(nan=0.0, posinf=1.0, neginf=2.0),
}

_POINTWISE = {
    **{
        name: (lambda name: lambda torch, a, b: getattr(a, name)())(name)
        for name in (
            "exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh atanh sigmoid erf floor "
            "ceil round trunc frac relu positive arcsin absolute negative"
        ).split()
    },
    "acosh": lambda torch, a, b: (a + 1).acosh(),
    "round_decimals": lambda torch, a, b: (a * 12.3456).round(decimals=1),
    "isnan": lambda torch, a, b: a.isnan(),
    "isfinite": lambda torch, a, b: a.isfinite(),
    "greater": lambda torch, a, b: b > a,
    "equal": lambda torch, a, b: b == a,
    "logical_not": lambda torch, a, b: (b > 0).logical_not(),
    "logical_and": lambda torch, a, b: torch.logical_and(b > 0, a > 0.4),
    "cast": lambda torch, a, b: a.double(),
    "cast_to_half": lambda torch, a, b: a.half().float(),
    "cast_to_same": lambda torch, a, b: a.to(a.dtype),
    "type_as": lambda torch, a, b: a.type_as(torch.ones(1, dtype=torch.float64)),
    "clone": lambda torch, a, b: a.clone(),
    "detach": lambda torch, a, b: a.detach(),
}

_ACTIVATIONS = {
    **{
        name: (lambda name: lambda torch, a, b: getattr(torch.nn.functional, name)(b))(name)
        for name in (
            "leaky_relu gelu silu softplus elu relu6 hardtanh logsigmoid mish selu celu softsign tanhshrink hardswish "
            "softshrink hardshrink"
        ).split()
    },
    "leaky_relu_slope": lambda torch, a, b: torch.nn.functional.leaky_relu(b, 0.3),
    "gelu_tanh": lambda torch, a, b: torch.nn.functional.gelu(b, approximate="tanh"),
    "softplus_beta": lambda torch, a, b: torch.nn.functional.softplus(b, beta=2, threshold=3),
    "elu_alpha": lambda torch, a, b: torch.nn.functional.elu(b, alpha=0.5),
    "softmax": lambda torch, a, b: b.softmax(1),
    "softmax_first_dim": lambda torch, a, b: b.softmax(0),
    "softmax_dtype": lambda torch, a, b: b.softmax(-1, dtype=torch.float64),
    "log_softmax": lambda torch, a, b: b.log_softmax(-1),
    "glu": lambda torch, a, b: torch.nn.functional.glu(torch.cat([a, b], 1)),
    "prelu": lambda torch, a, b: torch.nn.functional.prelu(b, a[0, :1]),
    "threshold": lambda torch, a, b: torch.nn.functional.threshold(b, 0.3, 7.0),
    "layer_norm": lambda torch, a, b: torch.nn.functional.layer_norm(b, (3,), a[0], a[1]),
    "layer_norm_plain": lambda torch, a, b: torch.nn.functional.layer_norm(b, (3,)),
    "layer_norm_two_dims": lambda torch, a, b: torch.nn.functional.layer_norm(b, (2, 3), a, a),
    "normalize": lambda torch, a, b: torch.nn.functional.normalize(b),
    "embedding": lambda torch, a, b: torch.nn.functional.embedding(torch.tensor([[0, 1], [1, 1]]), a),
    "embedding_padding": lambda torch, a, b: torch.nn.functional.embedding(torch.tensor([0, 1, 1]), a, padding_idx=1),
    "one_hot": lambda torch, a, b: torch.nn.functional.one_hot(torch.tensor([0, 2]), 3),
    "dropout_off": lambda torch, a, b: torch.nn.functional.dropout(a, 0.5, training=False),
    "dropout_everything": lambda torch, a, b: torch.nn.functional.dropout(a, 1.0),
}

_LOSSES = {
    "mse_loss": lambda torch, a, b: torch.nn.functional.mse_loss(a, b),
    "mse_loss_sum": lambda torch, a, b: torch.nn.functional.mse_loss(a, b, reduction="sum"),
    "mse_loss_none": lambda torch, a, b: torch.nn.functional.mse_loss(a, b, reduction="none"),
    "l1_loss": lambda torch, a, b: torch.nn.functional.l1_loss(a, b),
    "smooth_l1_loss": lambda torch, a, b: torch.nn.functional.smooth_l1_loss(a, b),
    "huber_loss": lambda torch, a, b: torch.nn.functional.huber_loss(a, b, delta=0.5),
    "cross_entropy": lambda torch, a, b: torch.nn.functional.cross_entropy(b, torch.tensor([2, 0])),
    "cross_entropy_weight": lambda torch, a, b: torch.nn.functional.cross_entropy(
        b, torch.tensor([2, 0]), weight=torch.tensor([1.0, 2.0, 3.0], dtype=b.dtype)
    ),
    "cross_entropy_none": lambda torch, a, b: torch.nn.functional.cross_entropy(
        b, torch.tensor([2, 0]), reduction="none"
    ),
    "cross_entropy_ignore": lambda torch, a, b: torch.nn.functional.cross_entropy(b, torch.tensor([2, -100])),
    "cross_entropy_smoothing": lambda torch, a, b: torch.nn.functional.cross_entropy(
        b, torch.tensor([2, 0]), label_smoothing=0.1
    ),
    "cross_entropy_probabilities": lambda torch, a, b: torch.nn.functional.cross_entropy(b, a.softmax(1)),
    "nll_loss": lambda torch, a, b: torch.nn.functional.nll_loss(b.log_softmax(1), torch.tensor([2, 0])),
    "nll_loss_sum": lambda torch, a, b: torch.nn.functional.nll_loss(b, torch.tensor([2, 0]), reduction="sum"),
    "binary_cross_entropy": lambda torch, a, b: torch.nn.functional.binary_cross_entropy(a, b.detach().sigmoid()),
    "bce_with_logits": lambda torch, a, b: torch.nn.functional.binary_cross_entropy_with_logits(b, a),
    "bce_with_logits_weights": lambda torch, a, b: torch.nn.functional.binary_cross_entropy_with_logits(
        b, a.detach(), weight=a.detach(), pos_weight=torch.tensor([1.0, 2.0, 3.0], dtype=b.dtype)
    ),
    "kl_div": lambda torch, a, b: torch.nn.functional.kl_div(b.log_softmax(1), a, reduction="batchmean"),
    "cosine_similarity": lambda torch, a, b: torch.nn.functional.cosine_similarity(a, b),
}

_MATRICES = {
    "mm": lambda torch, a, b: a.mm(b.t()),
    "matmul_2_2": lambda torch, a, b: a @ b.t(),
    "matmul_1_1": lambda torch, a, b: a[0] @ b[0],
    "matmul_2_1": lambda torch, a, b: a @ b[0],
    "matmul_1_2": lambda torch, a, b: a[:, 0] @ b,
    "matmul_3_2": lambda torch, a, b: a.reshape(2, 1, 3) @ b.t(),
    "matmul_3_3": lambda torch, a, b: a.reshape(2, 1, 3) @ b.reshape(2, 3, 1),
    "matmul_3_1": lambda torch, a, b: a.reshape(1, 2, 3) @ b[0],
    "matmul_1_3": lambda torch, a, b: a[0] @ b.reshape(2, 3, 1),
    "matmul_broadcast": lambda torch, a, b: a.reshape(2, 1, 1, 3) @ b.reshape(1, 2, 3, 1),
    "mv": lambda torch, a, b: a.mv(b[1]),
    "dot": lambda torch, a, b: a[0].dot(b[1]),
    "bmm": lambda torch, a, b: a.reshape(2, 1, 3).bmm(b.reshape(2, 3, 1)),
    "outer": lambda torch, a, b: a[0].outer(b[1]),
    "addmm": lambda torch, a, b: torch.addmm(a[:, :2], a, b.t(), beta=2, alpha=3),
    "addmm_plain": lambda torch, a, b: torch.addmm(a[0, :2], a, b.t()),
    "baddbmm": lambda torch, a, b: torch.baddbmm(a[:, :1, None], a.reshape(2, 1, 3), b.reshape(2, 3, 1)),
    "linear": lambda torch, a, b: torch.nn.functional.linear(a, b, a[:, 0]),
    "linear_no_bias": lambda torch, a, b: torch.nn.functional.linear(a, b),
    "linear_of_a_vector": lambda torch, a, b: torch.nn.functional.linear(a[0], b, a[:, 0]),
    "linear_of_three_dims": lambda torch, a, b: torch.nn.functional.linear(a.reshape(1, 2, 3), b, a[:, 0]),
    "einsum_product": lambda torch, a, b: torch.einsum("ij,kj->ik", a, b),
    "einsum_trace": lambda torch, a, b: torch.einsum("ii->", a @ b.t()),
    "einsum_outer": lambda torch, a, b: torch.einsum("i,j->ij", a[0], b[0]),
    "einsum_sum": lambda torch, a, b: torch.einsum("ij->j", a),
    "einsum_implicit": lambda torch, a, b: torch.einsum("ij,jk", a, b.t()),
    "einsum_ellipsis": lambda torch, a, b: torch.einsum("...i,...i->...", a, b),
    "tensordot": lambda torch, a, b: torch.tensordot(a, b, dims=([1], [1])),
    "inner": lambda torch, a, b: torch.inner(a, b),
    "diag_of_a_matrix": lambda torch, a, b: a.diag(),
    "diag_of_a_vector": lambda torch, a, b: a[0].diag(),
    "diag_embed": lambda torch, a, b: a.diag_embed(),
    "tril": lambda torch, a, b: a.tril(),
    "triu": lambda torch, a, b: a.triu(1),
}

_FAMILIES = {
    "arithmetic": _ARITHMETIC,
    "pointwise": _POINTWISE,
    "activation": _ACTIVATIONS,
    "loss": _LOSSES,
    "matrix": _MATRICES,
}
PROGRAMS = family_programs(_FAMILIES)
