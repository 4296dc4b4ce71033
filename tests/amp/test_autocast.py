"""Autocast chooses the dtypes, nodes and numbers that torch's does on a CPU."""

import pytest

from tests.agreement import check

pytestmark = pytest.mark.torch


def _data(torch):
    torch.manual_seed(0)
    return torch.randn(4, 6), torch.randn(6, 3), torch.tensor([0, 2, 1, 2])


def test_dtypes_of_products():
    def program(torch, show):
        a, b, _ = _data(torch)
        with torch.autocast("cpu"):
            for dtype in (torch.float32, torch.bfloat16, torch.float64):
                x, w = a.to(dtype), b.to(dtype)
                show("mm", str((x @ w).dtype))
                show("addmm", str(torch.addmm(torch.zeros(3, dtype=dtype), x, w).dtype))
                show("linear", str(torch.nn.functional.linear(x, w.t()).dtype))
                show("bmm", str(torch.bmm(x[None], w[None]).dtype))
                show("matmul of vectors", str((x[0] @ x[0]).dtype))
                show("dot", str(torch.dot(x[0], x[0]).dtype))
                show("mv", str(torch.mv(x, x[0]).dtype))
                show("einsum", str(torch.einsum("ij,jk->ik", x, w).dtype))
                show("sum", str((x * 2).sum().dtype))
                show("softmax", str(x.softmax(1).dtype))
                show("prod", str(x.prod().dtype))
        show("after", str((a @ b).dtype))

    check(program)


WRITTEN = """
    torch.mm(a, a, out=a.clone()) | torch.mm(a, a, out=a.bfloat16()) | torch.matmul(a, a, out=a.clone())
    torch.bmm(a[None], a[None], out=a[None].clone()) | torch.addmm(a, a, a, out=a.clone())
    torch.mv(a, a[0], out=a[0] + 0)
    torch.cat([h, h], out=torch.zeros(6, 3).half()) | torch.cat([h, a], out=torch.zeros(6, 3)) | torch.cat([h, a])
    torch.prod(h, 0, out=h[0] + 0) | torch.linalg.inv(h, out=a.clone()) | torch.linalg.multi_dot([a, a], out=a.clone())
    torch.fft.fft(h[0], out=torch.zeros(3, dtype=torch.complex64)) | torch.tensordot(a, a, out=a.sum())
"""


def test_what_is_written_into_out_is_not_cast():
    def program(torch, show):
        a = torch.eye(3) + 1
        scope = {"torch": torch, "a": a, "h": a.half()}
        for call in [call.strip() for line in WRITTEN.strip().split("\n") for call in line.split("|")]:
            with torch.autocast("cpu", torch.bfloat16):
                try:
                    show(call, str(eval(call, scope).dtype))  # noqa: S307  this file's own
                except RuntimeError as error:
                    show(call, str(error).split("\n")[0])
        show("after", str((a @ a).dtype))

    check(program)


LOSSES = ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits", "soft_margin_loss"]


def test_losses_are_in_float32():
    def program(torch, show):
        a, _, classes = _data(torch)
        half = a.bfloat16()
        with torch.autocast("cpu"):
            for name in LOSSES:
                show(name, str(getattr(torch.nn.functional, name)(half, half.sigmoid()).dtype))
            show("cross_entropy", torch.nn.functional.cross_entropy(half, classes))
            show("nll_loss", torch.nn.functional.nll_loss(half, classes))
            show("kl_div", str(torch.nn.functional.kl_div(half, half, reduction="sum").dtype))

    check(program)


#: What is computed in float32, of a matrix ``x`` of four rows that has an inverse; "-" stands before a method.
SINGLE = """
fft.fft fft.ifft fft.fft2 fft.ifft2 fft.fftn fft.ifftn fft.rfft fft.irfft fft.rfft2 fft.irfft2 fft.rfftn fft.irfftn
fft.hfft fft.ihfft linalg.inv linalg.inv_ex inverse pinverse linalg.cond linalg.matrix_rank linalg.cholesky
linalg.cholesky_ex cholesky cholesky_inverse linalg.svd svd linalg.svdvals linalg.eig linalg.eigvals linalg.eigh
linalg.eigvalsh linalg.qr qr geqrf -inverse -svd -qr -cholesky lu
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
def test_what_has_no_kernel_for_halves_is_in_float32(dtype):
    def program(torch, show):
        x = (torch.eye(4) * 2).to(getattr(torch, dtype)).requires_grad_()
        image, volume = torch.ones(1, 2, 4, 4).to(x.dtype), torch.ones(1, 2, 4, 4, 4).to(x.dtype)
        pad = torch.nn.functional.pad
        calls = {
            "solve": lambda: torch.linalg.solve(x, x), "lstsq": lambda: torch.linalg.lstsq(x, x).solution,
            "cholesky_solve": lambda: torch.cholesky_solve(x, x), "quantile": lambda: x.quantile(0.5),
            "nanquantile": lambda: torch.nanquantile(x, 0.5), "cdist": lambda: torch.cdist(x, x),
            "polar": lambda: torch.polar(x.detach(), x.detach()), "power": lambda: torch.matrix_power(x, -1),
            "stft": lambda: torch.stft(x.flatten(), 4, return_complex=True),
            "householder_product": lambda: torch.linalg.householder_product(x, x[0]),
            "triangular_solve": lambda: torch.triangular_solve(x, x).solution,
            "reflect": lambda: pad(image, (1, 1, 1, 1), "reflect"),
            "replicate a volume": lambda: pad(volume, (1,) * 6, "replicate"),
            "reflect a volume": lambda: pad(volume, (1,) * 6, "reflect"),
        }  # fmt: skip
        for name in SINGLE.split():
            holder, _, short = name.rpartition(".")
            source = torch.Tensor if name[0] == "-" else getattr(torch, holder) if holder else torch
            calls[name] = lambda call=getattr(source, short.lstrip("-")): call(x)
        for name, call in calls.items():
            with torch.autocast("cpu"):
                result = call()
            show(name, [str(part.dtype) for part in (result if isinstance(result, tuple) else [result])])
        with torch.autocast("cpu"):
            inverse = torch.linalg.inv(x)
        inverse.real.sum().backward()
        show("gradient", x.grad)

    check(program)


@pytest.mark.parametrize("dtype", [None, "bfloat16", "float16"])
def test_training_step(dtype):
    def program(torch, show):
        x, _, classes = _data(torch)
        model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
        with torch.autocast("cpu", dtype=None if dtype is None else getattr(torch, dtype)):
            show("enabled", torch.is_autocast_enabled("cpu"))
            show("dtype", str(torch.get_autocast_dtype("cpu")))
            out = model(x)
            show("out", out.dtype)
            loss = torch.nn.functional.cross_entropy(out, classes)
            show.graph("graph", loss)
            with torch.autocast("cpu", enabled=False):
                show("inner", model(x).dtype)
        loss.backward()
        show("kinds", [p.grad.dtype for p in model.parameters()])
        show("enabled", torch.is_autocast_enabled("cpu"))

    check(program)


def test_a_weight_is_cast_once():
    def program(torch, show):
        layer = torch.nn.Linear(6, 3)
        x, _, _ = _data(torch)
        for keeps in (True, False):
            with torch.autocast("cpu", cache_enabled=keeps):
                nodes = [layer(x).grad_fn.next_functions[2][0].next_functions[0][0] for _ in range(2)]
                show("one", nodes[0] is nodes[1])

    check(program)


def test_as_a_decorator_and_its_refusals():
    def program(torch, show):
        a, b, _ = _data(torch)

        @torch.autocast("cpu")
        def product(x, y):
            return x @ y

        show("dtype", product(a, b).dtype)
        show("after", (a @ b).dtype)
        show.error(lambda: torch.autocast(3), "number")
        show.error(lambda: torch.autocast("foo"), "unknown")
        show.warnings(lambda: torch.autocast("cpu", dtype=torch.float64), "float64")
        show.warnings(lambda: torch.autocast("cuda"), "cuda")

    check(program)


def test_custom_function():
    def program(torch, show):
        class Product(torch.autograd.Function):
            @staticmethod
            @torch.amp.custom_fwd(device_type="cpu")
            def forward(ctx, x, y):
                ctx.save_for_backward(x, y)
                return x @ y

            @staticmethod
            @torch.amp.custom_bwd(device_type="cpu")
            def backward(ctx, grad):
                x, y = ctx.saved_tensors
                return grad.to(y.dtype) @ y.t(), x.t() @ grad.to(x.dtype)

        a, b, _ = _data(torch)
        a.requires_grad_()
        b.requires_grad_()
        with torch.autocast("cpu"):
            out = Product.apply(a, b)
        show("out", out.dtype)
        out.float().sum().backward()
        show("kinds", [a.grad.dtype, b.grad.dtype])

    check(program)
