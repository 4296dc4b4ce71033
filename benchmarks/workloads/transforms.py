"""Functions transformed: per-sample gradients, a Hessian, a Jacobian-vector product; ``torch.func`` in both engines."""

from __future__ import annotations

from typing import Any

from ..engines import Engine, Step

__all__ = ["hessian", "jvp", "per_sample", "per_sample_walk"]


def _functional(torch: Any, model: Any) -> tuple[Any, Any]:
    """A model as a function of its parameters and one batch, and the parameters."""
    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}
    return lambda p, x: torch.func.functional_call(model, p, (x,)), parameters


def _classifier(torch: Any, kind: str) -> tuple[Any, tuple[int, ...]]:
    """A network that tells ten classes apart, and the shape of what it looks at."""
    nn = torch.nn
    torch.manual_seed(0)
    if kind == "MLP":
        return nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)), (784,)
    layers = (nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.Flatten())
    return nn.Sequential(*layers, nn.Linear(16 * 11 * 11, 10)), (1, 28, 28)


def per_sample(engine: Engine, kind: str, batch: int) -> Step:
    """The gradient of each sample's loss, by ``vmap`` of ``grad``."""
    torch = engine.module
    model, shape = _classifier(torch, kind)
    call, parameters = _functional(torch, model)
    x, classes = torch.randn(batch, *shape), torch.randint(10, (batch,))

    def loss(p: Any, sample: Any, target: Any) -> Any:
        return torch.nn.functional.cross_entropy(call(p, sample[None]), target[None])

    gradients = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
    return engine.whole(lambda: [*gradients(parameters, x, classes).values()])


def per_sample_walk(engine: Engine, kind: str, batch: int) -> Step:
    """The same by one walk back from the mean of the losses, where the engine has that; else by ``vmap``."""
    torch = engine.module
    if not hasattr(torch.func, "per_sample_backward"):
        return per_sample(engine, kind, batch)
    model, shape = _classifier(torch, kind)
    x, classes = torch.randn(batch, *shape), torch.randint(10, (batch,))
    parameters = [*model.parameters()]

    def step() -> list[Any]:
        for parameter in parameters:
            parameter.grad_sample = None
        torch.func.per_sample_backward(torch.nn.functional.cross_entropy(model(x), classes), batch)
        return [parameter.grad_sample for parameter in parameters]

    return engine.whole(step)


def hessian(engine: Engine, size: int) -> Step:
    """The Hessian of a function of ``size`` inputs."""
    torch = engine.module
    torch.manual_seed(0)
    weight, x = torch.randn(size, size) / size**0.5, torch.randn(size)

    def function(x: Any) -> Any:
        return (x @ weight).tanh().pow(3).sum() + (x.sin() * x).sum()

    return engine.whole(lambda: torch.func.hessian(function)(x))


def jvp(engine: Engine, batch: int) -> Step:
    """The Jacobian-vector product of an MLP by its parameters."""
    torch = engine.module
    model, shape = _classifier(torch, "MLP")
    call, parameters = _functional(torch, model)
    directions = {name: torch.randn_like(parameter) for name, parameter in parameters.items()}
    x = torch.randn(batch, *shape)
    return engine.whole(lambda: [*torch.func.jvp(lambda p: call(p, x), (parameters,), (directions,))])
