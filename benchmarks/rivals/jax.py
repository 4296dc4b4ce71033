"""The workloads in JAX; the same code runs eagerly and, wrapped by ``jit``, compiled."""

from __future__ import annotations

from typing import Any

import glassgrad

from ..engines import Absent, Engine, Step
from ..workloads import layers, training
from .numbers import array, named

__all__ = ["WORKLOADS"]

LONGEST = 10_000  # operations of a program that is unrolled while it is traced


def product(engine: Engine) -> Step:
    """A product that can be differentiated: recorded by ``vjp`` when eager."""
    jax = engine.module
    x, z = (jax.numpy.float32(v) for v in (3.0, 4.0))

    def multiply(x: Any, z: Any) -> Any:
        return x * z

    if engine.name == "jax":
        return lambda: jax.vjp(multiply, x, z)[0]
    compiled = engine.whole(multiply)
    return lambda: compiled(x, z).block_until_ready()


def _gradients(engine: Engine, function: Any, *inputs: Any, value: bool = False) -> Step:
    """The step that gives the gradients of a scalar function by all its inputs, and its value before them if wanted."""
    jax = engine.module
    argnums = tuple(range(len(inputs)))
    inputs = tuple(jax.numpy.asarray(one) for one in inputs)
    if value:
        run = engine.whole(jax.value_and_grad(function, argnums, has_aux=True))
    else:
        run = engine.whole(jax.grad(function, argnums))

    def step() -> Any:
        answer = jax.block_until_ready(run(*inputs))
        return [answer[0][1], *answer[1]] if value else list(answer)

    return step


def _weighted(engine: Engine, forward: Any, weight: Any, *inputs: Any) -> Step:
    """The step that gives a result and the gradients of the inputs, ``weight`` being the result's own gradient."""
    weight = engine.module.numpy.asarray(weight)

    def function(*inputs: Any) -> Any:
        y = forward(*inputs)
        return (y * weight).sum(), y

    return _gradients(engine, function, *inputs, value=True)


def expression(engine: Engine) -> Step:
    """The expression's gradients."""
    jnp = engine.module.numpy
    return _gradients(
        engine, lambda x, z: x * z + x + z + jnp.sin(x) + jnp.cos(z), jnp.float32(3.0), jnp.float32(4.0)
    )


def chain(engine: Engine, length: int, shape: tuple[int, ...], factor: float) -> Step:
    """The chain's gradients, the loop unrolled as the other engines run it."""
    if length > LONGEST:
        raise Absent("too long to trace")
    jnp = engine.module.numpy

    def function(x: Any, z: Any) -> Any:
        y = x
        for _ in range(length):
            y = y * z
        return y.sum()

    return _gradients(engine, function, *(jnp.full(shape, v, "float32") for v in (1.0, factor)))


# -- training steps ----------------------------------------------------------------------------------------------------


def _trained(engine: Engine, loss_of: Any, update: Any, parameters: Any, state: Any, *data: Any) -> Step:
    jax = engine.module
    data = tuple(jax.numpy.asarray(array(one)) for one in data)

    def train(parameters: Any, state: Any, *data: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(parameters, *data)
        return loss, *update(parameters, state, gradients)

    run = engine.whole(train, donate_argnums=(0, 1))
    parameters, state = jax.tree.map(jax.numpy.asarray, (parameters, state))

    def step() -> Any:
        nonlocal parameters, state
        loss, parameters, state = run(parameters, state, *data)
        jax.block_until_ready((parameters, state))
        return loss

    return step


def _zeros(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: 0 * value for name, value in parameters.items()}


def _sgd(rate: float, momentum: float = 0.0) -> Any:
    def update(parameters: Any, state: Any, gradients: Any) -> Any:
        if momentum:
            state = gradients = {name: momentum * state[name] + gradients[name] for name in parameters}
        return {name: value - rate * gradients[name] for name, value in parameters.items()}, state

    return update


def _adam(engine: Engine, lr: float, betas: tuple[float, float] = (0.9, 0.999), weight_decay: float = 0.0) -> Any:
    """Adam, its decay decoupled; the state is the number of steps and two averages."""
    jnp = engine.module.numpy
    first, second = betas

    def update(parameters: Any, state: Any, gradients: Any) -> Any:
        count, means, squares = state
        count = count + 1
        means = {n: first * m + (1 - first) * gradients[n] for n, m in means.items()}
        squares = {n: second * s + (1 - second) * gradients[n] ** 2 for n, s in squares.items()}
        size, scale = lr / (1 - first**count), jnp.sqrt(1 - second**count)
        moved = {
            n: p * (1 - lr * weight_decay) - size * means[n] / (jnp.sqrt(squares[n]) / scale + 1e-8)
            for n, p in parameters.items()
        }
        return moved, (count, means, squares)

    return update


def _adam_state(engine: Engine, parameters: Any) -> Any:
    return engine.module.numpy.float32(0), _zeros(parameters), _zeros(parameters)


def _linear(parameters: Any, name: str, x: Any) -> Any:
    return x @ parameters[f"{name}.weight"].T + parameters[f"{name}.bias"]


def _cross_entropy(jax: Any, scores: Any, classes: Any) -> Any:
    chosen = jax.numpy.take_along_axis(jax.nn.log_softmax(scores, axis=-1), classes[:, None], axis=1)
    return -chosen.mean()


def tinynet(engine: Engine) -> Step:
    """TinyNet's training step."""
    model, x, y = training.tinynet_parts(glassgrad)

    def loss_of(p: Any, x: Any, y: Any) -> Any:
        return ((_linear(p, "linear2", engine.module.nn.relu(_linear(p, "linear1", x))) - y) ** 2).mean()

    return _trained(engine, loss_of, _sgd(0.01), named(model), {}, x, y)


def mlp(engine: Engine, batch: int) -> Step:
    """The MLP's training step."""
    model, x, y = training.mlp_parts(glassgrad, batch)
    jax, start = engine.module, named(model)

    def loss_of(p: Any, x: Any, y: Any) -> Any:
        return _cross_entropy(jax, _linear(p, "2", jax.nn.relu(_linear(p, "0", x))), y)

    return _trained(engine, loss_of, _adam(engine, 1e-3), start, _adam_state(engine, start), x, y)


def lenet(engine: Engine, batch: int) -> Step:
    """LeNet's training step."""
    model, x, y = training.lenet_parts(glassgrad, batch)
    jax, lax, start = engine.module, engine.module.lax, named(model)

    def stage(p: Any, name: str, x: Any, padding: int) -> Any:
        x = _convolved(lax, x, p[f"{name}.weight"], p[f"{name}.bias"], padding)
        return lax.reduce_window(jax.nn.relu(x), -jax.numpy.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def loss_of(p: Any, x: Any, y: Any) -> Any:
        x = stage(p, "3", stage(p, "0", x, 2), 0).reshape(batch, -1)
        for name in ("7", "9"):
            x = jax.nn.relu(_linear(p, name, x))
        return _cross_entropy(jax, _linear(p, "11", x), y)

    return _trained(engine, loss_of, _sgd(0.01, 0.9), start, _zeros(start), x, y)


def gpt(engine: Engine, layers: int, heads: int, width: int, context: int, batch: int) -> Step:
    """The GPT's training step."""
    model, tokens, targets = training.gpt_parts(glassgrad, layers, heads, width, context, batch)
    jax, jnp, start = engine.module, engine.module.numpy, named(model)
    allowed = jnp.tril(jnp.ones((context, context), bool))

    def attention(p: Any, name: str, x: Any) -> Any:
        parts = jnp.split(x @ p[f"{name}.qkv.weight"].T, 3, axis=2)
        q, k, v = (part.reshape(batch, context, heads, width // heads).transpose(0, 2, 1, 3) for part in parts)
        scores = jnp.where(allowed, q @ k.swapaxes(2, 3) / (width // heads) ** 0.5, -jnp.inf)
        y = jax.nn.softmax(scores, axis=-1) @ v
        return y.transpose(0, 2, 1, 3).reshape(batch, context, width) @ p[f"{name}.out.weight"].T

    def loss_of(p: Any, tokens: Any, targets: Any) -> Any:
        tied = p["tokens.weight"]
        x = tied[tokens] + p["positions.weight"]
        for number in range(layers):
            name = f"blocks.{number}"
            x = x + attention(p, f"{name}.attention", _normed(jnp, p, f"{name}.norm1", x))
            up = jax.nn.gelu(_linear(p, f"{name}.up", _normed(jnp, p, f"{name}.norm2", x)), approximate=True)
            x = x + _linear(p, f"{name}.down", up)
        scores = _normed(jnp, p, "norm", x) @ tied.T
        return _cross_entropy(jax, scores.reshape(batch * context, -1), targets.reshape(-1))

    update = _adam(engine, **training.GPT)  # type: ignore[arg-type]
    return _trained(engine, loss_of, update, start, _adam_state(engine, start), tokens, targets)


# -- layers and kernels ------------------------------------------------------------------------------------------------


def _convolved(lax: Any, x: Any, weight: Any, bias: Any, padding: int) -> Any:
    return lax.conv_general_dilated(x, weight, (1, 1), [(padding, padding)] * 2) + bias[:, None, None]


def _normed(jnp: Any, p: Any, name: str, x: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * p[f"{name}.weight"] + p[f"{name}.bias"]


def lstm(engine: Engine, **sizes: int) -> Step:
    """The LSTM as a scan over time."""
    model, x, weight = layers.lstm_parts(glassgrad, **sizes)
    jax, start = engine.module, named(model)

    def forward(x: Any, *parameters: Any) -> Any:
        into, over, bias_into, bias_over = parameters
        fixed = x @ into.T + (bias_into + bias_over)

        def one(state: Any, row: Any) -> Any:
            hidden, cell = state
            i, f, g, o = jax.numpy.split(row + hidden @ over.T, 4, axis=1)
            cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jax.numpy.tanh(g)
            hidden = jax.nn.sigmoid(o) * jax.numpy.tanh(cell)
            return (hidden, cell), hidden

        zero = jax.numpy.zeros(x.shape[1:], x.dtype)
        return jax.lax.scan(one, (zero, zero), fixed)[1]

    return _weighted(engine, forward, array(weight), array(x), *start.values())


def conv(engine: Engine, batch: int) -> Step:
    """The convolution and its gradients."""
    model, x, weight = layers.conv_parts(glassgrad, batch)
    lax, start = engine.module.lax, named(model)
    return _weighted(
        engine, lambda x, w, b: _convolved(lax, x, w, b, 1), array(weight), array(x), start["weight"], start["bias"]
    )


def softmax(engine: Engine, count: int, length: int) -> Step:
    """Softmax of rows."""
    x, weight, _ = layers.rows(glassgrad, count, length)
    return _weighted(engine, lambda x: engine.module.nn.softmax(x, axis=1), array(weight), array(x))


def layer_norm(engine: Engine, count: int, length: int) -> Step:
    """Layer normalisation of rows."""
    x, weight, _ = layers.rows(glassgrad, count, length)
    jnp = engine.module.numpy

    def forward(x: Any, scale: Any, shift: Any) -> Any:
        return _normed(jnp, {"norm.weight": scale, "norm.bias": shift}, "norm", x)

    return _weighted(engine, forward, array(weight), array(x), jnp.ones(length), jnp.zeros(length))


def cross_entropy(engine: Engine, count: int, length: int) -> Step:
    """Cross-entropy of rows of scores."""
    x, _, classes = layers.rows(glassgrad, count, length)
    known = engine.module.numpy.asarray(array(classes))
    return _weighted(engine, lambda x: _cross_entropy(engine.module, x, known), 1.0, array(x))


def reduction(engine: Engine, side: int, dims: tuple[int, ...]) -> Step:
    """A sum."""
    glassgrad.manual_seed(0)
    x = engine.module.numpy.asarray(array(glassgrad.rand(side, side)))
    run = engine.whole(lambda x: x.sum(dims or None))
    return lambda: run(x).block_until_ready()


def elementwise(engine: Engine, size: int) -> Step:
    """Eight operations."""
    jnp = engine.module.numpy
    glassgrad.manual_seed(0)
    x = jnp.asarray(array(glassgrad.rand(size) + 0.5))
    run = engine.whole(lambda x: jnp.tanh(jnp.sqrt(jnp.log(jnp.exp(x * 2.0 + 1.0))) - 0.5) * x)
    return lambda: run(x).block_until_ready()


WORKLOADS = {
    "product": product, "expression": expression, "chain": chain, "tinynet": tinynet, "mlp": mlp, "gpt": gpt,
    "lenet": lenet, "lstm": lstm, "conv": conv, "softmax": softmax, "layer_norm": layer_norm,
    "cross_entropy": cross_entropy, "reduction": reduction, "elementwise": elementwise,
}  # fmt: skip
