"""Every sample of every operation, compiled: alone, on what is pending, differentiated within and afterwards.

Each is run as it is written and compiled, deferred and with pure=True, with new values in each call, and all that can be
seen of what it gives and leaves behind is compared bit for bit.
"""

# ruff: noqa: E501  the table has a line for many things

import argparse
import functools
import sys
import warnings
from collections import Counter
from contextlib import contextmanager

import numpy as np

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad.compiler.deferral import Run
from glassgrad.compiler.pure import Pure
from glassgrad.kernels import compiled
from tests.laws import Call, flat
from tests.samples import all_samples, ints, t

from .both_ways import small_ones_too
from .programs import pieces

#: What samples do not call: ``x`` and ``y`` are of three by four, ``c`` is a copy of ``x`` to write to, ``n`` whole.
MORE = """
abs(x) | x & x | n & 3 | ~n | n ^ n | 7 ^ n | 6 & n | x + 1 | 1 + x | x - 1 | 1 - x | 2 * x | x / 2 | 2 / x | x ** 2 | 2 ** x | x @ y.t() | x // 1
x == y | x != y | x < 1 | x >= y | -x | +x | x[1] | x[:, 1:3] | x[..., None] | x[1:2, ::2] | x[:, -1] | x[n[0] % 3] | x[[0, 2]] | x[:, n[0] > 0]
c.add_(1) | c.add_(y) | c.mul_(y) | c.sub_(y, alpha=2) | c.div_(2) | c.neg_() | c.pow_(2) | c.square_() | c.addcdiv_(y, y * y + 1) | c.addcmul_(y, y) | c.lerp_(y, 0.3) | c.lerp_(y, y)
c.relu_() | c.sigmoid_() | c.tanh_() | c.exp_() | c.clamp_(-1, 1) | c.clamp_(min=0) | c.sqrt_() | c.zero_() | c.fill_(2) | c.fill_(y[0, 0]) | c.copy_(y) | c.copy_(y[0]) | c.copy_(n[0, 0]) | c.masked_fill_(y > 0, 3)
c.t_() | c.transpose_(0, 1) | c.unsqueeze_(0) | c.unsqueeze_(0).squeeze_() | c.unsqueeze_(1).squeeze_(1) | c.eq_(y) | c.ne_(y) | c.lt_(y) | c.le_(1) | c.gt_(0) | c.ge_(y)
c.__setitem__(0, 1) | c.__setitem__(slice(1, 2), y[0]) | c.__setitem__((0, 1), y[0, 0]) | c.__setitem__(y > 0, 2) | c.__setitem__((slice(None), 1), 0) | c.__setitem__([0, 1], y[:2]) | c[0].mul_(2) | c.view(-1)[1:].add_(1) | c.t().mul_(y.t()) | c.detach().add_(1)
torch.clamp(x, y, None) | torch.clamp(x, y, y + 1) | torch.clamp_min(x, y) | torch.clamp_max(x, y) | torch.clamp_min(x, 0) | torch.clamp_max(x, 1) | x.masked_fill(y > 0, y[0, 0]) | torch.cosine_similarity(x, y)
x.copysign(-1.0) | torch.dist(x, y) | torch.dist(x, y, 1) | x.norm(dim=1) | x.norm() | x.norm(1, 0) | torch.linalg.vector_norm(x, 3, 1) | x.trace() | x.std(1) | x.var(0) | x.mean(1) | x.sum((0, 1)) | x.sum(1, keepdim=True) | x.prod() | x.prod(1)
(x > 0).all(1) | (x > 0).any(1) | x.amax(1) | x.amin((0, 1)) | x.max() | x.min() | x.max(1) | x.min(0) | x.clone() | x.to(torch.float64) | x.to("cpu") | x.cpu() | x.swapdims(0, 1) | x.squeeze() | x[None].squeeze(0) | x[None].squeeze((0,))
torch.zeros(3) + x[:, 0] | torch.ones(3, 4) * x | torch.full((3, 4), 2.5) * x | torch.zeros_like(x) + y | torch.ones_like(x) * y | torch.full_like(x, 3) | x.new_zeros(4) | x.new_ones(2, dtype=torch.int32) | x.new_full((2,), 7) | x.new_tensor([1, 2]) | torch.eye(3) @ x | torch.linspace(0, 1, 4) * x
torch.arange(4) * x | torch.arange(0, 1, 0.25) + x | torch.tensor(2.0) * x | torch.tensor([1, 2, 3, 4]) * x | torch.scalar_tensor(3) * x | torch.tensor(True) & (x > 0) | x.size() | x.size(1) | x.dim() | x.numel() | x.nelement() | x.ndimension() | len(x) | x.stride() | x.element_size() | x.is_contiguous() | x.t().is_contiguous()
x.is_floating_point() | torch.is_complex(x) | torch.is_tensor(x) | x.is_same_size(y) | x.is_signed() | torch.result_type(x, y) | torch.result_type(n, 1.5) | torch.can_cast(x.dtype, n.dtype) | torch.promote_types(x.dtype, n.dtype) | torch.broadcast_shapes((3, 1), (4,)) | x.is_conj() | x.is_neg() | x.get_device()
F.margin_ranking_loss(x, y, (y > 0) * 2.0 - 1) | F.poisson_nll_loss(x, y.abs()) | F.pad(x[None], (1, 2), "reflect") | F.pad(x[None, None], (1, 2, 1, 1), "reflect") | F.pad(x[None], (1, 2), "replicate") | F.pad(x[None, None], (1, 1, 1, 1), "replicate") | F.max_pool2d(x[None], 2, return_indices=True) | F.avg_pool3d(x[None, None], 2, padding=1)
F.unfold(x[None, None], 2) | F.fold(F.unfold(x[None, None], 2), (3, 4), 2) | F.prelu(x, y[0, :1]) | F.prelu(x[None], y[0, :3]) | F.linear(x, y) | F.linear(x, y, y[:, 0]) | F.batch_norm(x, y[0] * 0, y[0].abs(), training=True) | F.rms_norm(x, (4,)) | F.scaled_dot_product_attention(x[None, None], y[None, None], y[None, None])
torch.nn.utils.get_total_norm([x, y]) | F.gelu(x, approximate="tanh") | F.elu(x, 0.5) | x.real | x.imag | x.T | x.mT | x.H | x.data | x.grad | x.where(x > 0, y) | torch.where(x > 0) | torch.where(x > 0, 1.0, 2.0) | x.expand(2, 3, 4).sum(0) | x.half() | x.bfloat16() | x.double() | x.int() | x.bool() | x.long() | x.short()
torch.add(x, y, out=c) | torch.stack([x, y], out=torch.empty(2, 3, 4)) | F.dropout(x, 0.5) | F.dropout(x, 0.5, training=False) | F.relu(c, inplace=True) | F.dropout(c, 0.5, inplace=True) | F.hardtanh(c, inplace=True) | F.leaky_relu(c, inplace=True) | F.silu(c, inplace=True) | x.add(y, alpha=y[0, 0]) | x.mul(n) | x.div(n + 1, rounding_mode="floor")
(c.add_(1), x * 2, c) | (c * 2, c.mul_(3)) | (x.view(-1), x.view(-1)[1:]) | [x, x] | {"a": x * 2, "b": [y]} | (x.detach(), x.requires_grad) | (c.requires_grad_(False) if c.is_leaf else c) | x.view(4, 3).t().reshape(-1) | x.t().contiguous() | x.t().clone() | torch.cat([x, y.double()]) | torch.cat([x, n]) | torch.stack([x, y]).unbind() | x.split(2, 1) | x.chunk(2) | x.tile(2) | x.roll(1, 0)
"""

DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64", "int64", "int32", "uint8", "bool")
CALLS = 6


class Turn(Call):
    """A sample made ready for one call: other values each time, in memory that NumPy does not see."""

    def __init__(self, sample, dtype, turn):
        self.turn = turn
        super().__init__(sample, torch, dtype)

    def function(self):
        return getattr(self.sample, "called", None) or super().function()

    def tensor(self, spec):
        if self.turn and spec.values is None:
            self.rng = np.random.default_rng([self.turn, len(self.leaves), *spec.shape])
        floats = self.dtype in ("float32", "float64")
        array = spec.array(self.rng, self.dtype if floats else "float32")
        made = torch.from_numpy(np.array(array)).clone()
        if spec.kind == "float" and not floats:
            made = made.to(getattr(torch, self.dtype))
        if spec.layout == "transposed":
            made = made.transpose(-1, -2).contiguous().transpose(-1, -2)
        elif spec.layout == "strided":
            made = torch.stack([made, made * 0], -1).flatten(-2)[..., ::2]
        elif spec.layout == "expanded":
            made = made[:1].expand(*array.shape)
        made = made.detach()
        if spec.grad and self.sample.gradient and (made.is_floating_point() or made.is_complex()):
            made.requires_grad_()
            self.leaves.append(made)
        return made


def _pending(piece):
    """Arguments with each tensor that can be computed with made within the function."""
    if isinstance(piece, torch.Tensor):
        return piece * 1 if piece.is_floating_point() or piece.is_complex() else piece.clone()
    if isinstance(piece, dict):
        return {key: _pending(inner) for key, inner in piece.items()}
    return type(piece)(map(_pending, piece)) if type(piece) in (list, tuple) else piece


def _graded(made, outputs):
    return [out for out in outputs if isinstance(out, torch.Tensor) and out.requires_grad]


def _loss(made, outputs):
    loss = None
    for out in _graded(made, outputs):
        weights = torch.linspace(-1.0, 1.0, out.numel()).reshape(out.shape)
        part = (out.abs() if out.is_complex() else out).float() * weights
        loss = part.sum() if loss is None else loss + part.sum()
    return loss


class Expression:
    """A line of ``MORE``, as a sample."""

    gradient = True

    def __init__(self, text):
        self.id = self.name = text
        self.args, self.kwargs = (t(3, 4), t(3, 4, low=0.5), ints(3, 4, low=-4, high=5)), {}

    def called(self, x, y, n):
        names = {"x": x, "y": y, "n": n, "torch": torch, "F": F}
        if "c" in self.code.co_names:
            names["c"] = x.clone()
        result = eval(self.code, names)
        return (result, names["c"]) if "c" in names else result

    @functools.cached_property
    def code(self):
        return compile(self.id, "<more>", "eval")


def every():
    """All samples, and more."""
    return [*all_samples(), *map(Expression, pieces(MORE))]


def alone(made, call):
    return call(*made.args, **made.kwargs)


def pending(made, call):
    return call(*_pending(made.args), **_pending(made.kwargs))


def followed(made, call):
    outputs = flat(call(*made.args, **made.kwargs))
    return [out * 1 if isinstance(out, torch.Tensor) and out.is_floating_point() else out for out in outputs]


def backward(made, call):
    loss = _loss(made, flat(call(*_pending(made.args), **_pending(made.kwargs))))
    if loss is not None:
        loss.backward()
    return loss.detach() if loss is not None else None


def graded(made, call):
    loss = _loss(made, flat(call(*made.args, **made.kwargs)))
    if loss is None:
        return None
    grads = torch.autograd.grad(loss, made.leaves, allow_unused=True)
    return [grad if grad is None else (grad * 1, grad.contiguous()) for grad in grads]


def written(made, call):
    outputs = flat(call(*_pending(made.args), **_pending(made.kwargs)))
    for out in outputs:
        if isinstance(out, torch.Tensor) and out.is_floating_point():
            out.mul_(2)
    return outputs


def unrecorded(made, call):
    with torch.no_grad():
        return call(*_pending(made.args), **_pending(made.kwargs))


def lossy(made, call):
    return _loss(made, flat(call(*made.args, **made.kwargs)))


WAYS = (alone, pending, followed, backward, graded, written, unrecorded, lossy)


def shown(piece, named=False):
    """What can be seen of a thing, to compare; who looks at its node has fused records walked part by part."""
    if isinstance(piece, torch.Tensor):
        name = type(piece.grad_fn).__name__ if named and piece.grad_fn is not None else None
        if piece.layout is not torch.strided:
            return str(piece.layout), shown(piece.to_dense())
        plain = piece.detach().resolve_conj().resolve_neg()
        data = (plain.float() if plain.dtype is torch.bfloat16 else plain).numpy().tobytes()
        seen = data, str(piece.dtype), tuple(piece.shape), piece.stride(), piece.requires_grad, piece.is_leaf
        return *seen, piece._version, name, piece.is_conj(), piece.storage_offset()
    if isinstance(piece, (list, tuple)):
        return [shown(inner, named) for inner in piece]
    if isinstance(piece, dict):
        return {key: shown(inner, named) for key, inner in piece.items()}
    return repr(piece)


def outcome(sample, dtype, way, how):
    """Everything that can be seen of a sample's calls."""
    out = []
    box = []

    def function(made):
        return way(made, made.function())

    # the sample's tensors are what the compiled function is given
    def given(*tensors):
        return function(box[0])

    call = how(given)
    for turn in range(CALLS):
        try:
            made = Turn(sample, dtype, turn)
        except Exception as error:  # noqa: BLE001  it has no such tensor
            return [repr(error)]
        box[:] = [made]
        torch.manual_seed(turn)
        tensors = [t for t in flat([made.args, [*made.kwargs.values()]]) if isinstance(t, torch.Tensor)]
        try:
            result = call(*tensors)
            out.append(shown(result, turn % 2 == 0))
            loss = _loss(made, [piece for piece in flat(result) if isinstance(piece, torch.Tensor)])
            if loss is not None and turn % 2:
                loss.backward()
        except Exception as error:  # noqa: BLE001  it is compared too
            out.append((type(error).__name__, str(error)))
        try:
            out.append([(shown(t), shown(t.grad) if t.is_leaf else None) for t in tensors])
        except Exception as error:  # noqa: BLE001  it is compared too
            out.append((type(error).__name__, str(error)))
        out.append(torch.get_rng_state().tolist()[-700:])
    return out


@contextmanager
def counted():
    """Counts how often each row was deferred, by its name; and, as "programs", how many programs were made."""
    names = Counter()
    record, made = Run._record, Pure.made

    def recording(cell, *rest):
        names[cell.row.name] += 1
        record(cell, *rest)

    def making(self, program):
        names["programs"] += 1
        made(self, program)

    Run._record, Pure.made = staticmethod(recording), making
    try:
        yield names
    finally:
        Run._record, Pure.made = staticmethod(record), made


def difference(sample, dtype, way, pure):
    """Where a sample that is compiled differs from it as it is written; None where it does not."""
    one = outcome(sample, dtype, way, lambda f: f)
    other = outcome(sample, dtype, way, functools.partial(torch.compile, pure=pure))
    for place, (mine, theirs) in enumerate(zip(one, other)):
        if mine != theirs:
            return place, mine, theirs
    return None if len(one) == len(other) else (len(one), len(other))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", default="")
    parser.add_argument("--dtype", nargs="*", default=DTYPES)
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--expressions", action="store_true", help="those of MORE alone")
    parser.add_argument("--most", type=int, default=300, help="characters of a difference that are printed")
    parser.add_argument("--parts", type=int, default=1)
    told = parser.parse_args()
    warnings.simplefilter("ignore")
    small_ones_too()
    wrong = tried = 0
    with compiled.serving(compiled.NEVER), counted() as names:
        for sample in (every() if not told.expressions else [*map(Expression, pieces(MORE))])[told.part :: told.parts]:
            if told.k not in sample.id:
                continue
            for dtype in told.dtype:
                ways = {f"{way.__name__}, pure={pure}": difference(sample, dtype, way, pure) for way in WAYS for pure in (False, True)}
                tried += len(ways)
                ways = {name: found for name, found in ways.items() if found}
                wrong += len(ways)
                for name, found in list(ways.items())[:1]:
                    print(sample.id, dtype, *ways, *[str(piece)[: told.most] for piece in found], sep="\n  ", flush=True)
                torch.compiler.reset()
    print(f"{wrong} of {tried} differ; {names.pop('programs', 0)} programs were made")
    print("deferred:", *sorted(names))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
