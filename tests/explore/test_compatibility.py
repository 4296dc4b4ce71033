"""The table of docs/explorer.md: what PyTorch offers besides plain eager code, and the answers there."""

import pytest

from glassgrad.explore import check, explore, observe, read, record, unused, why

pytestmark = pytest.mark.torch


@pytest.fixture
def torch():
    from tests.torch_reference import torch

    torch.manual_seed(0)
    return torch


def net(torch):
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


def autocast(torch):
    model, x = net(torch), torch.randn(5, 4)

    def forward():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return torch.nn.functional.mse_loss(model(x).float(), torch.zeros(5, 1))

    return model, forward


def checkpointed(torch):
    from torch.utils.checkpoint import checkpoint

    model, x = net(torch), torch.randn(5, 4)
    return model, lambda: checkpoint(model, x, use_reentrant=False).mean()


def reentrant(torch):
    from torch.utils.checkpoint import checkpoint

    model, x = net(torch), torch.randn(5, 4)
    return model, lambda: model[2](checkpoint(model[1], checkpoint(model[0], x.requires_grad_(), use_reentrant=True),
                                              use_reentrant=True)).mean()  # fmt: skip


def custom(torch):
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b, a + b

        @staticmethod
        def backward(ctx, g, h):
            a, b = ctx.saved_tensors
            return g * b + h, g * a + h

    model, x = net(torch), torch.randn(5, 4)
    return model, lambda: sum(Both.apply(model(x), model[0].bias[:5, None])).mean()


def with_context_apart(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(a):
            return a * a

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad * ctx.saved_tensors[0]

    model, x = net(torch), torch.randn(5, 4)
    return model, lambda: Square.apply(model(x)).mean()


def gradient_penalty(torch):
    model, x = net(torch), torch.randn(5, 4)
    parameters = dict(model.named_parameters())

    def forward():
        def inner(p):
            return torch.func.functional_call(model, p, (x,)).pow(2).mean()

        return sum(g.pow(2).sum() for g in torch.func.grad(inner)(parameters).values())

    return model, forward


def vmapped(torch):
    model, x = net(torch), torch.randn(5, 4)
    return model, lambda: torch.func.vmap(model)(x).pow(2).mean()


def complex_weights(torch):
    w = torch.nn.Parameter(torch.randn(4, 4, dtype=torch.cfloat))
    x = torch.randn(5, 4, dtype=torch.cfloat)
    return torch.nn.ParameterDict({"w": w}), lambda: (x @ w).abs().pow(2).mean() + (x @ w).real.mean()


def sparse_embedding(torch):
    model = torch.nn.Sequential(torch.nn.Embedding(10, 4, sparse=True), torch.nn.Linear(4, 1))
    return model, lambda: model(torch.tensor([1, 2, 2])).mean()


def sparse_product(torch):
    model, a = torch.nn.Linear(4, 2), torch.eye(4).to_sparse()
    return model, lambda: torch.sparse.mm(a * 2, model(torch.ones(4, 4))).mean()


def sparse_weights(torch):
    model = torch.nn.ParameterDict({"a": torch.nn.Parameter(torch.eye(4).to_sparse())})
    return model, lambda: torch.sparse.mm(model["a"], torch.ones(4, 2)).mean()


def nested(torch):
    model = torch.nn.Linear(4, 2)

    def forward():
        rows = torch.nested.nested_tensor([torch.ones(2, 4), torch.ones(3, 4)])
        return sum(piece.sum() for piece in model(rows).unbind())

    return model, forward


def saved_on_cpu(torch):
    model, x = net(torch), torch.randn(5, 4)

    def forward():
        with torch.autograd.graph.save_on_cpu():
            return model(x).mean()

    return model, forward


def of_a_subclass(torch):
    class Own(torch.Tensor):
        pass

    model, x = net(torch), torch.randn(5, 4).as_subclass(Own)
    return model, lambda: model(x).mean()


def traced(torch):
    x = torch.randn(5, 4)
    model = torch.jit.trace(net(torch), x)
    return model, lambda: model(x).mean()


def compiled(torch):
    model, x = torch.compile(net(torch), backend="aot_eager"), torch.randn(5, 4)
    return model, lambda: model(x).mean()


HEALTHY = [
    autocast, checkpointed, reentrant, custom, with_context_apart, gradient_penalty, vmapped, complex_weights,
    sparse_embedding, sparse_product, sparse_weights, nested, saved_on_cpu, of_a_subclass, traced, compiled,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "bare"])
@pytest.mark.parametrize("build", HEALTHY, ids=lambda build: build.__name__)
def test_nothing_is_found_where_nothing_is_wrong(torch, build, recorded, tmp_path):
    find_nothing(*build(torch), recorded, tmp_path, has_lines=build is not traced)


def find_nothing(model, forward, recorded, folder, has_lines=True):
    """Ask every question of a healthy loss; no answer may find anything wrong."""
    known = {"model": model}
    if recorded:
        with record(model) as known["record"]:
            loss = forward()
        ops = [node for node in read(loss, **known).nodes if node.kind == "op" and node.op != "AccumulateGrad"]
        assert not has_lines or all(node.loc for node in ops)
    else:
        loss = forward()
    answer = check(loss, **known)
    assert answer and not answer.problems, answer
    assert unused(loss, model, record=known.get("record"))
    for name, parameter in model.named_parameters():
        answer = why(loss, parameter, **known)
        assert answer and "hook" not in str(answer) and "yours" not in str(answer), (name, answer)
    assert explore(loss, path=folder / "graph.html", **known)
    graph = observe(loss, **known)
    assert not graph.problems, graph.problems
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        assert why(loss, parameter, **known), name


# -- packages that models and loops come from: each tested where it is installed --------------------------------------

TINY = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 32}


def hugging_face_gpt2(transformers, torch):
    config = transformers.GPT2Config(vocab_size=50, n_embd=16, n_layer=2, n_head=2, n_positions=16)
    return transformers.GPT2LMHeadModel(config), {}


def hugging_face_bert(transformers, torch):
    config = transformers.BertConfig(vocab_size=50, max_position_embeddings=16, **TINY)
    return transformers.BertForSequenceClassification(config), {"labels": torch.tensor([0, 1])}


def hugging_face_t5(transformers, torch):
    config = transformers.T5Config(
        vocab_size=50, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0
    )  # fmt: skip
    return transformers.T5ForConditionalGeneration(config), {}


def hugging_face_vit(transformers, torch):
    config = transformers.ViTConfig(image_size=16, patch_size=4, num_labels=2, **TINY)
    batch = {"pixel_values": torch.randn(2, 3, 16, 16), "labels": torch.tensor([0, 1])}
    return transformers.ViTForImageClassification(config), batch


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "bare"])
@pytest.mark.parametrize("build", [hugging_face_gpt2, hugging_face_bert, hugging_face_t5, hugging_face_vit])
def test_nothing_is_found_in_models_of_hugging_face(torch, build, recorded, tmp_path):
    transformers = pytest.importorskip("transformers")
    model, batch = build(transformers, torch)
    if "pixel_values" not in batch:
        tokens = torch.randint(1, 50, (2, 8))
        batch = {"input_ids": tokens, "labels": tokens, **batch}
    find_nothing(model, lambda: model(**batch).loss, recorded, tmp_path)


def cut_in_the_middle(torch):
    """A model whose first layer gets no gradient."""

    class Cut(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)

        def forward(self, x):
            return self.last(self.first(x).detach())

    return Cut()


def names_the_cut(answer):
    return not answer and [cut.loc.expression for cut in answer.cuts] == ["self.first(x).detach()"]


@pytest.mark.filterwarnings("ignore")
def test_in_lightnings_loop(torch, tmp_path):
    lightning = pytest.importorskip("lightning.pytorch")
    said = []

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = cut_in_the_middle(torch)

        def training_step(self, batch, index):
            with record(self) as r:
                loss = self.model(batch[0]).pow(2).mean()
            said.append([check(loss, record=r), why(loss, self.model.last.weight), why(loss, self.model.first.weight)])
            said[-1].append(unused(loss, self).names)
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    batches = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(8, 4)), batch_size=4)
    lightning.Trainer(
        max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu",
        enable_model_summary=False, default_root_dir=tmp_path,
    ).fit(Module(), batches)  # fmt: skip
    assert len(said) == 2
    for works, reached, lost, names in said:
        assert works and reached and names_the_cut(lost), lost
        assert names == ("model.first.weight", "model.first.bias")


@pytest.mark.filterwarnings("ignore")
def test_in_skorchs_fit(torch):
    skorch = pytest.importorskip("skorch")
    losses = []

    class Net(skorch.NeuralNetRegressor):
        def get_loss(self, *args, **kwargs):
            losses.append(super().get_loss(*args, **kwargs))
            return losses[-1]

    net = Net(cut_in_the_middle(torch), max_epochs=1, batch_size=8, train_split=None, verbose=0)
    with record() as r:
        net.fit(torch.randn(8, 4).numpy(), torch.randn(8, 1).numpy())
    model = net.module_
    assert why(losses[0], model.last.weight, record=r)
    assert names_the_cut(why(losses[0], model.first.weight, model=model, record=r))


@pytest.mark.filterwarnings("ignore")
def test_what_is_compiled_runs_as_it_is_written_while_it_is_recorded(torch):
    model = torch.compile(cut_in_the_middle(torch), backend="aot_eager")
    x = torch.randn(5, 4)
    model(x)
    with record(model) as r:
        loss = model(x).mean()
    answer = why(loss, model.first.weight, record=r)
    assert names_the_cut(answer)
    assert [node.op for node in read(model(x).mean()).nodes][1] == "CompiledFunctionBackward"


def test_a_complex_loss_needs_a_gradient(torch):
    w = torch.randn(3, dtype=torch.cfloat, requires_grad=True)
    answer = check((w * 2).sum())
    assert not answer and "complex" in str(answer) and answer.advice
    assert check((w * 2).sum().abs())


def test_inside_of_a_transform_no_gradient_is_said_to_be_missing(torch):
    model, said = net(torch), []

    def inner(row):
        result = model(row).sum()
        said.extend([check(result), why(result, model[0].weight), unused(result, model)])
        return result

    torch.func.vmap(inner)(torch.randn(5, 4))
    assert all(said) and all("transform" in str(answer) for answer in said)


def test_a_parameter_that_the_slope_does_not_need_is_told(torch):
    model = net(torch)
    x = torch.randn(5, 4)
    with record(model) as r:
        loss = torch.func.jvp(model, (x,), (torch.ones_like(x),))[1].pow(2).mean()
    assert unused(loss, model, record=r).names == ("2.bias",)


def test_properties_that_are_operations_have_their_lines(torch):
    w = torch.randn(3, 3, requires_grad=True)
    with record() as r:
        loss = (w.T @ w.mT).sum() + torch.fft.fft(w).real.sum() + torch.fft.fft(w).imag.sum() + w.H.sum()
    said = {node.op: node.loc.expression for node in read(loss, record=r).nodes if node.kind == "op" and node.loc}
    assert said["PermuteBackward0"] == "w.T" and said["ViewAsRealBackward0"].startswith("torch.fft.fft(w).")
    assert all(node.loc for node in read(loss, record=r).nodes if node.kind == "op" and node.op != "AccumulateGrad")


def test_equal_code_in_two_files_has_two_places(engine, tmp_path):
    programs = []
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text("def double(w):\n    return w * 2\n")
        scope = {}
        exec(compile((tmp_path / name).read_text(), str(tmp_path / name), "exec"), scope)
        programs.append(scope["double"])
    assert programs[0].__code__ == programs[1].__code__
    w = engine.ones(3, requires_grad=True)
    for program, name in zip(programs, ("one.py", "two.py"), strict=True):
        with record() as r:
            y = program(w)
        assert read(y, record=r).nodes[0].loc.file.endswith(name)


def _rank(rank, port, queue):
    import os

    import torch

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(0)
    inner = torch.nn.ModuleDict({"used": torch.nn.Linear(4, 1), "left": torch.nn.Linear(4, 1)})
    inner.forward = lambda x: inner["used"](x)
    model = torch.nn.parallel.DistributedDataParallel(inner, find_unused_parameters=True)
    with record(model) as r:
        loss = model(torch.ones(2, 4)).mean()
    said = [bool(check(loss, record=r, model=model)), unused(loss, model).names]
    if rank == 0:  # a question asked in one process must not wait for the others
        said.append([bool(why(loss, p, model=model)) for p in model.parameters()])
    loss.backward()
    said.append(bool(why(loss, inner["used"].weight)))
    if rank == 0:
        queue.put(said)
    torch.distributed.destroy_process_group()


def test_in_distributed_data_parallel(torch):
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    queue = torch.multiprocessing.get_context("spawn").SimpleQueue()
    try:
        torch.multiprocessing.spawn(_rank, (port, queue), nprocs=2)
    except torch.multiprocessing.ProcessExitedException as error:
        assert error.signal_name == "SIGABRT"  # as PyTorch's gloo does now and then when it ends: the answer is there
    assert not queue.empty()
    names = ("module.left.weight", "module.left.bias")
    assert queue.get() == [True, names, [True, True, False, False], True]


@pytest.mark.filterwarnings("ignore")
def test_reentrant_checkpoints_of_a_batch_hide_what_they_use(torch):
    from torch.utils.checkpoint import checkpoint

    model = net(torch)
    with record(model) as r:
        hidden = checkpoint(model[1], checkpoint(model[0], torch.randn(5, 4), use_reentrant=True), use_reentrant=True)
        loss = model[2](hidden).mean()
    answer = why(loss, model[0].weight, record=r)
    assert not answer and answer.kind == "cut" and "use_reentrant=False" in answer.advice
    assert {cut.how for cut in answer.cuts} == {"checkpoint"} and "checkpoint" in unused(loss, model).reasons["0.bias"]
