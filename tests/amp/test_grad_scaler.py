"""The gradient scaler scales, unscales, skips and adapts as torch's does on a CPU."""

import pytest

from tests.agreement import check

pytestmark = pytest.mark.torch


def _model(torch):
    torch.manual_seed(1)
    model = torch.nn.Linear(3, 2)
    return model, torch.optim.SGD(model.parameters(), lr=0.1), torch.randn(4, 3)


def test_steps_and_skips():
    def program(torch, show):
        model, optimizer, x = _model(torch)
        scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
        show("before", [scaler.get_scale(), scaler.is_enabled()])
        for step in range(7):
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            scaled = scaler.scale(loss)
            scaled.backward()
            if step == 3:
                model.weight.grad[0, 0] = float("inf")
            if step == 5:
                model.bias.grad[0] = float("nan")
            if step % 2:
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            show("stepped", scaler.step(optimizer))
            scaler.update()
            show("scale", scaler.get_scale())
            show("weight", model.weight)
        show("state", scaler.state_dict())
        other = torch.amp.GradScaler("cpu")
        other.load_state_dict(scaler.state_dict())
        show("loaded", other.state_dict())
        scaler.update(32.0)
        show("set", scaler.get_scale())
        show("several", scaler.scale([loss, loss.detach()]))

    check(program)


def test_refusals():
    def program(torch, show):
        model, optimizer, x = _model(torch)
        scaler = torch.amp.GradScaler("cpu")
        show.error(lambda: scaler.step(optimizer), "step")
        show.error(lambda: scaler.update(), "update")
        scaler.scale(model(x).sum()).backward()
        scaler.unscale_(optimizer)
        show.error(lambda: scaler.unscale_(optimizer), "twice")
        scaler.step(optimizer)
        show.error(lambda: scaler.step(optimizer), "again")
        show.error(lambda: scaler.unscale_(optimizer), "after")
        show.error(lambda: scaler.step(optimizer, closure=lambda: None), "closure")
        scaler.update()
        show.error(lambda: scaler.scale(3), "scale")
        optimizer.zero_grad()
        show.error(lambda: scaler.step(optimizer), "no gradients")
        show.error(lambda: torch.amp.GradScaler("cpu", growth_factor=1.0), "growth")
        show.error(lambda: torch.amp.GradScaler("cpu", backoff_factor=1.0), "backoff")
        show.error(lambda: torch.amp.GradScaler("cpu").load_state_dict({}), "empty")

    check(program)


def test_disabled():
    def program(torch, show):
        model, optimizer, x = _model(torch)
        show.warnings(lambda: torch.amp.GradScaler(), "cuda")
        show.warnings(lambda: torch.cuda.amp.GradScaler(), "older name")
        scaler = torch.amp.GradScaler("cpu", enabled=False)
        loss = model(x).sum()
        show("same", scaler.scale(loss) is loss)
        loss.backward()
        scaler.step(optimizer)
        scaler.update()
        show("state", [scaler.state_dict(), scaler.get_scale(), scaler.is_enabled()])
        show("weight", model.weight)

    check(program)
