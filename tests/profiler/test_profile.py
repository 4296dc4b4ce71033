"""torch.profiler: which events there are, how they nest, and where they go."""

import gzip
import json
import threading

import pytest

import glassgrad
from glassgrad.ground import listening, modes
from glassgrad.ops.bind import table_functions
from tests.agreement import check
from tests.torch_reference import torch as reference

pytestmark = pytest.mark.torch


def both(program):
    """What a program gives under glassgrad and under torch."""
    return program(glassgrad), program(reference)


def trained(torch, **settings):
    """A step of training under a profiler."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    given = torch.randn(5, 4)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **settings) as profiler:
        with torch.profiler.record_function("forward"):
            loss = torch.nn.functional.cross_entropy(model(given), torch.tensor([0, 1, 1, 0, 1]))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return profiler


NAMES = """
aten::linear aten::t aten::addmm aten::relu aten::cross_entropy_loss aten::log_softmax forward AddmmBackward0
ReluBackward0 TBackward0 NllLossBackward0 LogSoftmaxBackward0 torch::autograd::AccumulateGrad
Optimizer.step#SGD.step Optimizer.zero_grad#SGD.zero_grad
""".split() + ["autograd::engine::evaluate_function: AddmmBackward0"]


@pytest.mark.parametrize("name", NAMES)
def test_counts(name, counted={}):  # noqa: B006  the two runs are made once
    if not counted:
        for torch in (glassgrad, reference):
            averages = trained(torch).key_averages()
            counted[torch.__name__] = {event.key: event.count for event in averages}
    wanted = counted["torch"][name]
    if name == "aten::t":
        wanted = 2  # PyTorch's backward passes call it too
    assert counted["glassgrad"].get(name) == wanted


def test_nesting():
    def parents(torch):
        found = {event.name: event for event in trained(torch).events() if event.scope == 0}
        return [
            (name, found[name].cpu_parent and found[name].cpu_parent.name)
            for name in ("aten::linear", "aten::addmm", "aten::relu", "aten::cross_entropy_loss", "aten::log_softmax")
        ]

    ours, theirs = both(parents)
    assert ours == theirs


def test_shapes_flops_and_memory():
    def program(torch):
        x, y, z = torch.ones(4, 6), torch.ones(6, 5), torch.ones(4, 5)
        with torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, with_flops=True, profile_memory=True
        ) as profiler:
            torch.add(torch.mm(x, y), z)
        events = {event.key: event for event in profiler.key_averages(group_by_input_shape=True)}
        mm, add = events["aten::mm"], events["aten::add"]
        return mm.input_shapes, mm.flops, add.flops, mm.cpu_memory_usage, add.self_cpu_memory_usage

    ours, theirs = both(program)
    assert ours == theirs


def test_times_add_up():
    events = trained(glassgrad).events()
    assert len(events) > 20
    for event in events:
        inside = sum(child.cpu_time_total for child in event.cpu_children)
        assert event.self_cpu_time_total == pytest.approx(event.cpu_time_total - inside)
        for child in event.cpu_children:
            assert event.time_range.start <= child.time_range.start <= child.time_range.end <= event.time_range.end
    outermost = sum(event.cpu_time_total for event in events if event.cpu_parent is None)
    assert events.self_cpu_time_total == pytest.approx(outermost)


def test_the_table_has_pytorch_s_layout():
    def layout(torch):
        profiler = trained(torch, record_shapes=True, profile_memory=True)
        lines = profiler.key_averages().table(sort_by="self_cpu_time_total", row_limit=3).splitlines()
        assert len(lines) == 3 + 3 + 2
        return lines[1].split("  "), lines[-1].partition(":")[0]

    (ours, last), (theirs, other) = both(layout)
    assert [word for word in ours if word] == [word for word in theirs if word] and last == other


def test_the_table_of_given_events_is_pytorch_s():
    """The same numbers, set by each engine's own code."""

    def table(module, device):
        class Event:
            use_device = None
            device_type = device
            is_async = is_legacy = is_remote = is_user_annotation = False
            node_id, overload_name, cpu_parent, flops, stack = -1, "", None, 0, []
            input_shapes = []  # noqa: RUF012

            def __init__(self, key, own, total, count, **more):
                self.key, self.self_cpu_time_total, self.cpu_time_total, self.count = key, own, total, count
                self.cpu_time = total / count
                self.cpu_memory_usage = self.self_cpu_memory_usage = 3000
                for unit in ("self_device_time_total", "device_time_total", "self_device_memory_usage"):
                    setattr(self, unit, 0)
                for unit in ("self_cpu_time_total", "cpu_time_total", "cpu_time"):
                    value = getattr(self, unit)
                    setattr(self, unit + "_str", f"{value / 1e3:.3f}ms" if value >= 1e3 else f"{value:.3f}us")
                self.__dict__.update(more)

        events = [
            Event("aten::mm", 10.0, 1234.5, 3, flops=5_000_000, input_shapes=[[1, 2], []]),
            Event("a name that is much too long for the column of names in this table", 7.25, 7.25, 1, flops=2000),
            Event("aten::add", 0.0, 0.5, 10, stack=["file.py(3): f", "x" * 90]),
        ]
        made = module.EventList(events, profile_memory=True, with_flops=True)
        return made.table(sort_by="count", header="title"), made.table(row_limit=2, time_unit="ms")

    import torch.autograd.profiler_util as theirs

    ours = table(glassgrad.profiler, None)
    wanted = table(theirs, reference.autograd.DeviceType.CPU)
    for got, expected in zip(ours, wanted, strict=True):
        assert got == expected


def test_the_same_numbers_come_out():
    def step(torch, watched):
        torch.manual_seed(3)
        model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.GELU())
        with torch.profiler.profile() if watched else torch.no_grad():
            with torch.enable_grad():
                model(torch.randn(2, 1, 6, 6)).square().mean().backward()
        return [parameter.grad for parameter in model.parameters()]

    for watched, free in zip(step(glassgrad, True), step(glassgrad, False), strict=True):
        assert glassgrad.allclose(watched, free)


def test_nothing_is_left_behind():
    trained(glassgrad)  # after which the rows that it takes have their short paths
    functions = [*table_functions()]
    before = [function.__code__ for function in functions]
    watch, unusual = set(modes.watch), set(modes.unusual)
    trained(glassgrad)
    with pytest.raises(ZeroDivisionError), glassgrad.profiler.profile():
        1 / 0  # noqa: B018
    assert modes.watch == watch and modes.unusual == unusual and not listening.listeners
    assert table_functions() == functions and [function.__code__ for function in functions] == before


def test_schedule():
    def program(torch, show):
        made = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
        show("actions", [made(step).name for step in range(12)])
        made = torch.profiler.schedule(wait=2, warmup=0, active=1, skip_first_wait=1)
        show("more", [made(step).name for step in range(6)])
        show.error(lambda: torch.profiler.schedule(wait=-1, warmup=0, active=1), "negative")
        show.error(lambda: made(-1), "step")

    check(program)


def test_steps():
    def program(torch, show):
        seen = []

        def ready(profiler):
            names = [event.key for event in profiler.key_averages() if event.key.startswith("ProfilerStep")]
            counts = {event.key: event.count for event in profiler.key_averages()}
            seen.append((profiler.step_num, sorted(names), counts["aten::mul"]))

        with torch.profiler.profile(
            schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready
        ) as profiler:
            for _ in range(9):
                torch.ones(2) * torch.ones(2)
                profiler.step()
        show("seen", seen)

    check(program)


def test_a_trace_for_viewers(tmp_path):
    place = tmp_path / "trace.json"
    profiler = trained(glassgrad, record_shapes=True)
    profiler.add_metadata("who", "me")
    profiler.export_chrome_trace(str(place))
    trace = json.loads(place.read_text())
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert trace["who"] == "me" and len(events) == len(profiler.events())
    assert {"name", "ts", "dur", "pid", "tid", "cat", "args"} <= events[0].keys()
    assert {event["cat"] for event in events} == {"cpu_op", "user_annotation"}
    handler = glassgrad.profiler.tensorboard_trace_handler(str(tmp_path / "runs"), "worker", use_gzip=True)
    with glassgrad.profiler.profile(on_trace_ready=handler):
        glassgrad.ones(2).exp()
    (written,) = (tmp_path / "runs").iterdir()
    assert written.name.startswith("worker.") and written.name.endswith(".pt.trace.json.gz")
    assert any(event["name"] == "aten::exp" for event in json.loads(gzip.open(written).read())["traceEvents"])


def test_stacks(tmp_path):
    with glassgrad.profiler.profile(with_stack=True) as profiler:
        glassgrad.ones(300, 300) @ glassgrad.ones(300, 300)
    event = next(event for event in profiler.events() if event.name == "aten::mm")
    assert event.stack[0].endswith(": test_stacks") and __file__ in event.stack[0]
    averages = profiler.key_averages(group_by_stack_n=1)
    assert any("test_stacks" in "".join(average.stack) for average in averages)
    profiler.export_stacks(str(tmp_path / "stacks.txt"))
    assert "test_stacks" in (tmp_path / "stacks.txt").read_text()


def test_the_older_way():
    def program(torch, show):
        with torch.autograd.profiler.profile() as profiler:
            with torch.autograd.profiler.record_function("named"):
                torch.ones(2, 2).mm(torch.ones(2, 2)).exp()
        names = [event.name for event in profiler.function_events]
        show("names", [name for name in names if name in ("named", "aten::mm", "aten::exp")])
        show("total", profiler.total_average().key)
        show("off", torch.autograd.profiler.profile(enabled=False).__enter__())
        show("unfinished", str(torch.autograd.profiler.profile()))

    check(program)


def test_record_function_decorates():
    @glassgrad.profiler.record_function("whole")
    def work():
        return glassgrad.ones(2).exp()

    work()
    with glassgrad.profiler.profile() as profiler:
        work()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    events = [event for event in profiler.events() if event.name == "whole"]
    assert len(events) == 2 and len({event.thread for event in events}) == 2
    assert all("aten::exp" in [child.name for child in event.cpu_children] for event in events)
