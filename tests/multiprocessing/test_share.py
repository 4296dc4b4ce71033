"""Memory that processes share: which tensors follow, what is sent, training of one model by two processes."""

import copy
import os
import pickle

import pytest

import glassgrad
from tests.agreement import cases, check


def who_follows(torch, show):
    base = torch.arange(6.0)
    view, detached, data = base[1:].view(5, 1), base.detach(), base.data
    show("before", [t.is_shared() for t in (base, view, detached, data)])
    show("itself", view.share_memory_() is view)
    show("after", [t.is_shared() for t in (base, view, detached, data)])
    base[2] = 9
    view += 1
    data[0] = -1
    show("one memory", [base, view, detached, data])
    show("places", [view.storage_offset(), view.stride(), base.storage_offset()])
    other = torch.ones(2)
    show("others do not", other.is_shared())
    show("copies do not", [t.is_shared() for t in (base.clone(), copy.deepcopy(base), base + 1)])


def kinds(torch, show):
    for kind in (torch.float64, torch.bfloat16, torch.int8, torch.bool, torch.complex64):
        tensor = torch.ones(2, 3).to(kind)
        show(str(kind), [tensor.share_memory_(), tensor.is_shared()])
    show("number", [torch.tensor(2.0).share_memory_(), torch.tensor(2.0).share_memory_().is_shared()])
    number = torch.tensor(2.0)
    number.share_memory_()
    number += 1
    show("written", [number, number.is_shared()])
    show("transposed", torch.arange(6.0).view(2, 3).t().share_memory_())
    show("expanded", torch.ones(1, 2).expand(3, 2).share_memory_())
    show("dense", torch.arange(24.0).view(2, 3, 4).permute(2, 0, 1).clone().share_memory_())
    show("empty", torch.ones(0, 3).share_memory_())
    show.error(lambda: torch.ones(2, device="meta").share_memory_())
    show("meta", torch.ones(2, device="meta").is_shared())
    leaf = torch.ones(2, requires_grad=True)
    out = (leaf * 2).share_memory_()
    show("recorded", [out, out.is_shared()])
    out.sum().backward()
    leaf.share_memory_()
    show("gradient", [leaf.grad, leaf.is_shared(), leaf.grad.is_shared()])


def modules(torch, show):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.LayerNorm(3))
    net.register_buffer("count", torch.tensor(0))
    step = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    net(torch.ones(1, 2)).sum().backward()
    show("itself", net.share_memory() is net)
    show("shared", [t.is_shared() for t in [*net.parameters(), *net.buffers()]])
    step.step()
    net.count += 1
    show("after a step", [*net.parameters(), net.count])
    show("still", [t.is_shared() for t in [*net.parameters(), *net.buffers()]])
    net.load_state_dict({name: value + 1 for name, value in net.state_dict().items()})
    show("loaded", [net[0].weight, net[0].weight.is_shared()])


def saved(torch, show):
    import io

    whole = torch.arange(6.0).share_memory_()
    file = io.BytesIO()
    torch.save([whole, whole[2:4]], file)
    file.seek(0)
    whole, part = torch.load(file)
    part += 1
    show("loaded", [whole, part, whole.is_shared()])
    again, piece = copy.deepcopy([whole.share_memory_(), part])
    piece += 1
    show("copied", [again, piece, again.is_shared(), whole])


def strategies(torch, show):
    mp = torch.multiprocessing
    show("strategies", [mp.get_sharing_strategy(), mp.get_all_sharing_strategies()])
    mp.set_sharing_strategy("file_system")
    show("set", mp.get_sharing_strategy())
    mp.set_sharing_strategy("file_descriptor")
    show.error(lambda: mp.set_sharing_strategy("x"), words="invalid sharing strategy 'x', expected one of {")
    show("names", sorted(set(mp.__all__)))
    show("standard", [mp.Process.__name__, mp.get_context("spawn").get_start_method(), mp.cpu_count()])


@pytest.mark.torch
@pytest.mark.parametrize("program", cases(globals()).values(), ids=cases(globals()))
def test_agrees(program):
    check(program)


def test_plain_pickles_hold_the_content():
    tensor = glassgrad.arange(3.0).share_memory_()
    twin = pickle.loads(pickle.dumps(tensor))
    assert twin.tolist() == [0, 1, 2] and not twin.is_shared()
    twin += 1
    assert tensor.tolist() == [0, 1, 2]


def test_memory_and_descriptors_are_given_back():
    def held():
        return len(os.listdir("/proc/self/fd"))

    glassgrad.ones(3).share_memory_()
    before = held()
    many = [glassgrad.ones(3).share_memory_() for _ in range(5)]
    assert held() > before
    del many
    assert held() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is not everywhere")
def test_a_fork_sees_what_is_written():
    shared, own = glassgrad.zeros(2).share_memory_(), glassgrad.zeros(2)
    pid = os.fork()
    if not pid:
        shared += 1
        own += 1
        os._exit(0)
    os.waitpid(pid, 0)
    assert shared.tolist() == [1, 1] and own.tolist() == [0, 0]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_two_processes_train_one_model(method):
    with glassgrad.alias():
        from tests.multiprocessing.programs import train

        glassgrad.manual_seed(0)
        x = glassgrad.randn(64, 4)
        data = glassgrad.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
        model = glassgrad.nn.Linear(4, 1)
        model.register_buffer("seen", glassgrad.zeros(2))
        model.share_memory()
        before = glassgrad.nn.functional.mse_loss(model(x), data.tensors[1]).item()
        glassgrad.multiprocessing.start_processes(train, (model, data), nprocs=2, start_method=method)
        after = glassgrad.nn.functional.mse_loss(model(x), data.tensors[1]).item()
    assert model.seen.tolist() == [1, 1]
    assert after < before / 20
    assert model.weight.is_shared()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_queues_send_shared_memory_as_such_and_the_rest_as_copies(method):
    context = glassgrad.multiprocessing.get_context(method)
    inbox, outbox, event = context.Queue(), context.Queue(), context.Event()
    with glassgrad.alias():
        from tests.multiprocessing.programs import answer

        start = glassgrad.multiprocessing.start_processes
        together = start(answer, (inbox, outbox, event), join=False, start_method=method)
    shared, plain = glassgrad.zeros(3).share_memory_()[1:], glassgrad.zeros(4)[1:3]
    inbox.put((shared, plain))
    name, is_shared, changed, parameter, back = outbox.get(timeout=40)
    event.set()
    assert name == "torch" and is_shared
    assert shared.tolist() == [1, 1] == back.tolist() and plain.tolist() == [0, 0] and changed.tolist() == [1, 1]
    back += 1
    assert shared.tolist() == [2, 2]  # the same memory again, not another map of it
    assert type(parameter) is glassgrad.nn.Parameter and parameter.requires_grad
    assert together.join(20)


def test_history_is_not_sent():
    from multiprocessing.reduction import ForkingPickler

    import glassgrad.multiprocessing  # noqa: F401

    recorded = glassgrad.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="^Cowardly refusing to serialize non-leaf tensor which requires_grad"):
        ForkingPickler.dumps(recorded)
    assert pickle.loads(ForkingPickler.dumps(recorded.detach())).tolist() == [2, 2]
    view = glassgrad.zeros(10_000)[:2]
    assert len(ForkingPickler.dumps(view)) < 1000  # a view's neighbours stay
    meta = pickle.loads(ForkingPickler.dumps(glassgrad.ones(2, device="meta")))
    assert meta.device.type == "meta" and meta.shape == (2,)
