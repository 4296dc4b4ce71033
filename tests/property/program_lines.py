"""What the lines of random programs may do, and the Functions of one's own that they call."""

#: What a line may do; {x}, {y}, {z} are tensors, {d}, {e} dimensions, {i}, {j} small whole numbers, {k} positive ones,
#: {n} a number, {s} a tensor or a number, {b} a truth, {t} a dtype, {v} sizes of as many elements, {m} a mask, {l}
#: indices.  Left out is what reads what it has just written: PyTorch gives what comes of it.
VIEWS = """
{x}.select({d}, {i})|{x}[{i}]|{x}[{i}:]|{x}[::{k}]|{x}[..., {i}]|{x}[None]|{x}[..., :{k}]|{x}.narrow({d}, 0, {k})
{x}.transpose({d}, {e})|{x}.t()|{x}.mT|{x}.permute({p})|{x}.movedim({d}, {e})|{x}.view({v})|{x}.view(-1)
{x}.reshape({v})|{x}.reshape(-1)|{x}.flatten()|{x}.unsqueeze({d})|{x}.squeeze()|{x}.squeeze({d})|{x}.expand(2, {w})
{x}.expand_as({y})|{x}.diagonal({i})|{x}.unbind({d})[0]|{x}.split({k}, {d})[-1]|{x}.chunk(2, {d})[0]|{x}.detach()
{x}.unfold({d}, {k}, 1)|{x}.real|{x}.imag|{x}.conj()|torch.view_as_real({x})|torch.view_as_complex({x})|{x}.view({t})
{x}.view_as({y})|{x}.as_strided(({k},), (1,), 0)|{x}.mH|{x}.swapaxes({d}, {e})|{x}.ravel()
{x}.unflatten({d}, (-1, {k}))
{x}.tensor_split(2, {d})[0]|{x}.positive()|{x}.alias|torch.atleast_2d({x})|{x}.resolve_conj()|{x}.data
{x}.hsplit(1)[0]|{x}.broadcast_to((2, {w}))|torch.broadcast_tensors({x}, {y})[0]|{x}.adjoint()|{x}.__getitem__(...)
"""
ONE = """
{x}.neg()|{x}.abs()|{x}.exp()|{x}.sin()|{x}.cos()|{x}.tanh()|{x}.sigmoid()|{x}.relu()|{x}.sqrt()|{x}.log()|{x}.log1p()
{x}.square()|{x}.reciprocal()|{x}.rsqrt()|{x}.sign()|{x}.sgn()|{x}.floor()|{x}.round()|{x}.trunc()|{x}.frac()
{x}.erf()
{x}.clone()|{x}.contiguous()|{x} * 1|{x}.to(torch.{t})|{x}.to(torch.{t}).to(torch.{t})|{x}.double()
{x}.long()|{x}.bool()
{x}.clamp({n}, {n})|{x}.clamp_min({n})|{x}.pow({n})|{x} ** {j}|{n} ** {x}|{x}.sum()|{x}.sum({d})|{x}.sum({d}, True)
{x}.mean()|{x}.mean({d})|{x}.prod()|{x}.prod({d})|{x}.var({d})|{x}.std()|{x}.norm()|{x}.norm({n}, {d})|{x}.amax({d})
{x}.amin()|{x}.max()|{x}.max({d})[0]|{x}.min({d})[1]|{x}.argmax({d})|{x}.median({d})[0]|{x}.cumsum({d})
{x}.cumprod({d})
{x}.cummax({d})[0]|{x}.logsumexp({d})|{x}.softmax({d})|{x}.log_softmax({d})|{x}.sort({d})[0]|{x}.topk({k}, {d})[0]
{x}.flip({d})|{x}.roll({i}, {d})|{x}.tril()|{x}.triu({i})|{x}.repeat(2, {ones})|{x}.repeat_interleave({k}, {d})
{x}.any()|{x}.all({d})|{x}.isnan()|{x}.logical_not()|{x}.nonzero()|{x}.count_nonzero()|{x}.bitwise_not()|~{x}
{x}.diff()|{x}.angle()|{x}.tile({k})|{x}.diag()|{x}.trace()|{x}.logcumsumexp({d})|{x}.nan_to_num()|{x}.nansum()|{x}.T
torch.zeros_like({x})|torch.full_like({x}, {n})|{x}.new_full((2,), {n})|torch.nn.functional.gelu({x})
{x}.cosh()|{x}.atan()
torch.nn.functional.silu({x})|torch.nn.functional.softplus({x})|torch.nn.functional.layer_norm({x}, {x}.shape[-1:])
torch.nn.functional.leaky_relu({x})|torch.nn.functional.normalize({x}, dim={d})|torch.nn.functional.pad({x}, (1, {k}))
torch.nn.functional.dropout({x}, 0.0)|torch.nn.functional.one_hot({x})|{x}.expm1()|{x}.lgamma()
{x}.kthvalue(1, {d})[0]
torch.stack([{x}, {x}])|torch.linalg.vector_norm({x}, {n})|{x}.renorm(2, {d}, 1.0)|{x}.unique()|{x}.argsort({d})
torch.linalg.matrix_norm({x})|{x}.cov()|{x}.quantile(0.5)|{x}.nanmean()|{x}.aminmax()[0]|{x}.logit(0.1)|{x}.exp2()
torch.linalg.inv({x})|torch.linalg.det({x})|torch.linalg.qr({x})[1].abs()|{x}.matrix_power({j})|torch.fft.fft({x})
{x}.masked_fill({m}, {n})|{x}.masked_select({m})|{x}[{m}]|{x}[{l}]|{x}.index_select({d}, {l})
{x}.gather({d}, {x}.long().abs())
{x}.index_fill({d}, {l}, {n})|{x}.index_add({d}, {l}, {x})|{x}.take({l})|{x}[..., {l}]|{x}[{l}, {l}]
{x}[{l}, None]|{x}[{b}]
"""
#: Functions of one's own: see OWN.
FUNCTIONS = """
Twice.apply({x})|Kept.apply({x}, {y})|Kept.apply({x}, {x})|Pair.apply({x})[0]|Pair.apply({x})[1]|Same.apply({x})
Dirty.apply({x})|Seen.apply({x})|Once.apply({x}, {n})|None_.apply({x}, {y})|Kept.apply({x} * 1, {y})|Late.apply({x})
copy.copy({x})|copy.deepcopy({x})|torch.nn.Parameter({x})|torch.nn.Parameter({x}, requires_grad={b})|Subclass({x}) * 1
pickle.loads(pickle.dumps({x}.detach()))|torch.utils.dlpack.from_dlpack({x}.detach().double())
torch.from_numpy({x}.detach().resolve_conj().numpy())|torch.as_tensor({x})|torch.tensor({x}.tolist())
torch.nn.functional.dropout({x}, 0.5)|torch.nn.functional.alpha_dropout({x}, 0.3, True)|torch.rand_like({x})
torch.bernoulli({x})|torch.randn_like({x}) * {x}|torch.empty_like({x}).copy_({y})
"""
TWO = """
{x} + {s}|{x} - {s}|{x} * {s}|{x} / {s}|{s} - {x}|{s} / {x}|{x} // {s}|{x} % {s}|{x} @ {y}|{x} == {s}
{x} < {s}|{x} >= {s}
torch.add({x}, {s}, alpha={n})|torch.sub({x}, {y}, alpha={j})|torch.maximum({x}, {y})|torch.minimum({x}, {y})
{x} & {s}|{x} | {y}
torch.where({m}, {x}, {s})|torch.where({x} > 0, {s}, {x})|torch.lerp({x}, {y}, {n})|torch.lerp({x}, {y}, {z})
{x} ^ {s}
torch.atan2({x}, {y})|torch.hypot({x}, {y})|torch.fmod({x}, {s})|torch.remainder({s}, {x})|torch.logaddexp({x}, {y})
torch.cat([{x}, {y}], {d})|torch.stack([{x}, {y}], {d})|torch.addcmul({x}, {y}, {z}, value={n})
torch.addcdiv({x}, {y}, {z})
torch.mm({x}, {y})|torch.mv({x}, {y})|torch.dot({x}, {y})|torch.outer({x}, {y})|torch.bmm({x}, {y})
torch.addmm({x}, {y}, {z})
torch.pow({x}, {y})|torch.xlogy({x}, {s})|torch.copysign({x}, {s})|torch.heaviside({x}, {y})
torch.fmax({x}, {y})|{x} << {j}
torch.nn.functional.mse_loss({x}, {y})|torch.nn.functional.l1_loss({x}, {y}, reduction="none")|torch.dist({x}, {y})
torch.nn.functional.smooth_l1_loss({x}, {y})|torch.nn.functional.linear({x}, {y})
torch.nn.functional.cosine_similarity({x}, {y})
torch.einsum("i,i->i", {x}, {y})|torch.tensordot({x}, {y}, 1)|torch.cross({x}, {y})|torch.kron({x}, {y})
torch.isin({x}, {y})
{x}.scatter({d}, {l}, {y})|{x}.scatter({d}, {l}, {n})|{x}.index_put(({l},), {y})|{x}.masked_scatter({m}, {y})
{x}.equal({y})
{x}.index_copy({d}, {l}, {y})|{x}.scatter_add({d}, {l}, {y})|{x}.clamp({y}, {z})|{x}.clamp(min={y})
torch.isclose({x}, {y})
torch.div({x}, {s}, rounding_mode="floor")|torch.div({x}, {s}, rounding_mode="trunc")|torch.cdist({x}, {y})
{x}.to({y})
torch.nn.functional.binary_cross_entropy_with_logits({x}, {y})|torch.logical_and({x}, {y})
torch.nn.functional.kl_div({x}, {y}, reduction="sum")|torch.float_power({x}, {s})|torch.complex({x}, {y})
torch.polar({x}, {y})
torch.nn.functional.cross_entropy({x}, {y})|torch.nn.functional.embedding({l}, {x})|torch.vdot({x}, {y})
{x}.type_as({y})
torch.linalg.solve({x}, {y})|torch.ldexp({x}, {l})|torch.gcd({x}, {y})|torch.logical_xor({x}, {y})
torch.inner({x}, {y})
torch.diagonal_scatter({x}, {y})|torch.select_scatter({x}, {y}, {d}, {i})|torch.slice_scatter({x}, {y}, {d})
torch.vstack([{x}, {y}])
"""
WRITES = """
{x}.add_({s})|{x}.sub_({s})|{x}.mul_({s})|{x}.div_({s})|{x} += {s}|{x} *= {s}|{x} -= {y}|{x}.copy_({y})|{x}.fill_({n})
{x}.fill_({y})|{x}.zero_()|{x}.neg_()|{x}.exp_()|{x}.sin_()|{x}.tanh_()|{x}.relu_()|{x}.sigmoid_()
{x}.clamp_({n}, {n})
{x}.sqrt_()|{x}.abs_()|{x}.square_()|{x}.reciprocal_()|{x}.pow_({n})|{x}.pow_({y})|{x}.round_()|{x}.floor_()
{x}.sign_()
{x}[{i}] = {n}|{x}[{i}] = {y}|{x}[{i}:] = {y}|{x}[...] = {s}|{x}[{m}] = {n}|{x}[{m}] = {y}|{x}[{l}] = {s}
{x}[..., 0] = {s}
{x}[{l}] += {s}|{x}[{i}:] *= {n}|{x}[..., ::{k}] = {s}|{x}.masked_fill_({m}, {n})|{x}.masked_fill_({m}, {y})
{x}[{b}] = {n}
{x}.index_fill_({d}, {l}, {n})|{x}.index_add_({d}, {l}, {y})|{x}.index_copy_({d}, {l}, {y})
{x}.scatter_({d}, {l}, {y})
{x}.scatter_add_({d}, {l}, {y})|{x}.index_put_(({l},), {y}, accumulate={b})|{x}.addcmul_({y}, {z})
{x}.addcdiv_({y}, {z})
{x}.lerp_({y}, {n})|{x}.cumsum_({d})|{x}.tril_()|{x}.fmod_({n})|{x}.remainder_({s})|{x}.eq_({s})|{x}.logical_not_()
{x}.transpose_({d}, {e})|{x}.t_()|{x}.unsqueeze_({d})|{x}.squeeze_()|{x}.detach_()|{x}.swapaxes_({d}, {e})
{x}.conj().mul_(2)
{x}.diagonal().add_({n})|{x}.view(-1).mul_({s})|{x}.real.add_(1)|{x}.T.add_({s})|{x}.expand(2, {w}).add_(1)
{x}.addmm_({y}, {z})
{x}.requires_grad_()|{x}.requires_grad_({b})|{x}.retain_grad()
{x}.fill_diagonal_({n})|{x}.set_({y})|{x}.data = {y}|{x}.data = {x} * 2|{x}.data = {y}.detach()
{x}.grad_fn.register_hook(lambda i, o: None)
{x}.grad_fn.register_prehook(lambda o: tuple(None if g is None else g * 2 for g in o))
{x}.grad_fn.register_hook(lambda i, o: tuple(None if g is None else g * 0.5 for g in i))
torch.swapaxes({x}, 0, {d}).add_(1)|{x}.uniform_()|{x}.normal_()|{x}.register_post_accumulate_grad_hook(lambda t: None)
torch.autograd.graph.register_multi_grad_hook(({x}, {y}), lambda g: None)|{x}.register_hook(lambda g: g.mul_(2))
{x}.register_hook(lambda g: g.sum())|Dirty.apply({x})
{x}.clamp_({y}, {z})|{x}.index_reduce_({d}, {l}, {y}, "mean")|{x}.exponential_()
{x}.register_hook(lambda g: g * 2)|{x}.register_hook(lambda g: None)|{x}.grad = None|{x}.grad = {y}
{x}.masked_scatter_({m}, {y} + 0)
{x}.clamp_min_({n})|{x}.clamp_(max={y})|{x}.bitwise_and_({s})|{x}.nan_to_num_()|{x}.erf_()|{x}.trunc_()
{x}.xlogy_({s})
{x}.maximum({y}).add_({x})|{x}.put_({l}, {y})|{x}.swapdims_({d}, {e})|{x}.atan2_({y})
torch.add({y}, {z}, out={x})|torch.mul({y}, {n}, out={x})|torch.exp({y}, out={x})|torch.mm({y} + 0, {z} + 0, out={x})
torch.sum({y} + 0, {d}, out={x})|torch.cat([{y}, {z}], out={x})|torch.maximum({y}, {z}, out={x})
torch.eq({y}, {z}, out={x})
torch.nn.init.constant_({x}, {n})|torch.nn.functional.relu({x}, inplace=True)
torch.nn.functional.threshold_({x}, 0, {n})
"""
BACKWARD = """
{x}.backward()|{x}.sum().backward()|{x}.sum().backward(retain_graph=True)|{x}.backward({y})
{x}.backward(torch.ones_like({x}))
torch.autograd.backward([{x}.sum(), {y}.sum()])|{x}.backward(torch.ones_like({x}), inputs=[{y}])
{x}.abs().sum().backward()
"""
SLOPES = """
torch.autograd.grad({x}.sum(), {y})[0]|torch.autograd.grad({x}, {y}, torch.ones_like({x}), create_graph=True)[0]
torch.autograd.grad({x}.abs().sum(), [{y}, {z}], allow_unused=True, create_graph=True)[1]
torch.autograd.grad({x}, {y}, {x}.detach() * 1, retain_graph=True)[0]
torch.autograd.grad(({x} * {x}).sum(), {y}, create_graph=True)[0]
{x}.grad
torch.func.grad(lambda t: (t * t.detach().abs()).sum())({x})|torch.func.vmap(lambda t: t.sin().cumsum(-1))({x})
torch.func.vjp(lambda t: t * {y}, {x})[1]({x})[0]|torch.func.jvp(lambda t: t * t.sum(), ({x},), ({x},))[1]
torch.func.jacrev(lambda t: t.cumsum(0) * 2)({x})|torch.func.jacfwd(lambda t: t.exp())({x})
torch.func.hessian(lambda t: t.sin().sum())({x})|torch.func.vmap(torch.mul, (None, 0))({x}, {y})
torch.autograd.functional.jacobian(lambda t: t.square(), {x})
torch.autograd.functional.hvp(lambda t: t.pow(3).sum(), {x}, {x})[1]
torch.autograd.functional.vjp(lambda t: t.tanh(), {x}, {x})[1]
torch.utils.checkpoint.checkpoint(lambda a, b: (a * b).sin(), {x}, {y}, use_reentrant={b})
"""
#: What every program begins with.
OWN = """
import copy, pickle
class Twice(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: x * 2)
    backward = staticmethod(lambda ctx, g: g * 2)
class Kept(torch.autograd.Function):
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x
class Pair(torch.autograd.Function):
    def forward(ctx, x):
        result = x.sin()
        ctx.save_for_backward(result)
        return result, x > 0
    def backward(ctx, g, _):
        return g * ctx.saved_tensors[0]
class Same(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: x)
    backward = staticmethod(lambda ctx, g: g * 3)
class Seen(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: x.view(-1))
    backward = staticmethod(lambda ctx, g: g.view(-1))
class Dirty(torch.autograd.Function):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)
    backward = staticmethod(lambda ctx, g: g * 2)
class Once(torch.autograd.Function):
    def forward(ctx, x, n):
        ctx.n = n
        ctx.set_materialize_grads(False)
        return x * n
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return None if g is None else g * ctx.n, None
class None_(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x, y: x + y)
    backward = staticmethod(lambda ctx, g: (None, g))
class Late(torch.autograd.Function):
    forward = staticmethod(lambda x: x.exp())
    setup_context = staticmethod(lambda ctx, inputs, output: ctx.save_for_backward(output))
    backward = staticmethod(lambda ctx, g: g * ctx.saved_tensors[0])
    jvp = staticmethod(lambda ctx, t: t)
    generate_vmap_rule = True
class Subclass(torch.Tensor): pass
packed = lambda t: t.detach().clone()
"""
