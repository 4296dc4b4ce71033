"""Updates of reinforcement learners, of the shapes that Stable-Baselines3 has, and a policy asked for one action."""

from __future__ import annotations

import math
from typing import Any

from ..engines import Engine, Step

__all__ = ["action", "dqn", "ppo", "sac"]

_GAMMA, _CLIP = 0.99, 0.2


def _perceptron(torch: Any, sizes: tuple[int, ...], activation: str) -> Any:
    """Layers of these sizes with an activation between."""
    nn = torch.nn
    layers: list[Any] = []
    for inputs, outputs in zip(sizes, sizes[1:], strict=False):
        layers += [nn.Linear(inputs, outputs), getattr(nn, activation)()]
    return nn.Sequential(*layers[:-1])


def dqn(engine: Engine, batch: int) -> Step:
    """Deep Q-learning on CartPole's shapes: Huber loss to the target network's best action, clipped, Adam."""
    torch = engine.module
    torch.manual_seed(0)
    q, target = (_perceptron(torch, (4, 64, 64, 2), "ReLU") for _ in range(2))
    optimizer = torch.optim.Adam(q.parameters(), lr=1e-4)
    now, later = torch.randn(batch, 4), torch.randn(batch, 4)
    actions, rewards, done = torch.randint(2, (batch, 1)), torch.randn(batch, 1), torch.zeros(batch, 1)

    def step() -> Any:
        with torch.no_grad():
            best = target(later).max(dim=1).values.reshape(-1, 1)
            wanted = rewards + (1 - done) * _GAMMA * best
        loss = torch.nn.functional.smooth_l1_loss(q(now).gather(1, actions), wanted)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(q.parameters(), 10.0)
        optimizer.step()
        return loss

    return engine.whole(step)


def ppo(engine: Engine, batch: int) -> Step:
    """Proximal policy optimisation on CartPole's shapes: policy and value networks, clipped ratio, entropy, Adam."""
    torch = engine.module
    functional = torch.nn.functional
    torch.manual_seed(0)
    policy, value = _perceptron(torch, (4, 64, 64, 2), "Tanh"), _perceptron(torch, (4, 64, 64, 1), "Tanh")
    parameters = [*policy.parameters(), *value.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=3e-4, eps=1e-5)
    states, actions = torch.randn(batch, 4), torch.randint(2, (batch,))
    before, advantages, returns = torch.full((batch,), -0.7), torch.randn(batch), torch.randn(batch)

    def step() -> Any:
        chances = functional.log_softmax(policy(states), dim=1)
        ratio = torch.exp(chances.gather(1, actions[:, None])[:, 0] - before)
        scaled = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        gain = torch.min(scaled * ratio, scaled * torch.clamp(ratio, 1 - _CLIP, 1 + _CLIP)).mean()
        entropy = -(chances.exp() * chances).sum(dim=1).mean()
        loss = -gain + 0.5 * functional.mse_loss(returns, value(states).flatten()) - 0.01 * entropy
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 0.5)
        optimizer.step()
        return loss

    return engine.whole(step)


def sac(engine: Engine, batch: int) -> Step:
    """Soft actor-critic on Pendulum's shapes: two critics, their targets, a squashed Gaussian actor, three Adams."""
    torch = engine.module
    functional = torch.nn.functional
    torch.manual_seed(0)
    width = 256
    actor = _perceptron(torch, (3, width, width, 2), "ReLU")
    critics, targets = ([_perceptron(torch, (4, width, width, 1), "ReLU") for _ in range(2)] for _ in range(2))
    of_critics = [parameter for critic in critics for parameter in critic.parameters()]
    of_targets = [parameter for critic in targets for parameter in critic.parameters()]
    temperature = torch.zeros(1, requires_grad=True)
    steps = [torch.optim.Adam(tensors, lr=3e-4) for tensors in ([*actor.parameters()], of_critics, [temperature])]
    now, later, done = torch.randn(batch, 3), torch.randn(batch, 3), torch.zeros(batch, 1)
    acted, rewards, noise = torch.randn(batch, 1).tanh(), torch.randn(batch, 1), torch.randn(2, batch, 1)

    def drawn(states: Any, noise: Any) -> Any:
        mean, log_std = actor(states).chunk(2, dim=1)
        log_std = log_std.clamp(-20, 2)
        raw = mean + log_std.exp() * noise
        chance = -0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi)
        chance = chance - 2 * (math.log(2) - raw - functional.softplus(-2 * raw))  # the slope of tanh
        return torch.tanh(raw), chance.sum(dim=1, keepdim=True)

    def least(networks: Any, states: Any, actions: Any) -> Any:
        pairs = torch.cat([states, actions], dim=1)
        return torch.min(networks[0](pairs), networks[1](pairs))

    def updated(optimizer: Any, loss: Any) -> None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def step() -> Any:
        actions, chance = drawn(now, noise[0])
        weight = temperature.exp().detach()
        updated(steps[2], -(temperature * (chance.detach() - 1.0)).mean())
        with torch.no_grad():
            following, following_chance = drawn(later, noise[1])
            worth = least(targets, later, following) - weight * following_chance
            wanted = rewards + (1 - done) * _GAMMA * worth
        pairs = torch.cat([now, acted], dim=1)
        loss = 0.5 * sum(functional.mse_loss(critic(pairs), wanted) for critic in critics)
        updated(steps[1], loss)
        updated(steps[0], (weight * chance - least(critics, now, actions)).mean())
        with torch.no_grad():
            for slow, fast in zip(of_targets, of_critics, strict=True):
                slow.mul_(0.995).add_(fast, alpha=0.005)
        return loss

    return engine.whole(step)


def action(engine: Engine) -> Step:
    """One action of PPO's policy for one state, as an environment's loop asks for it: logits, a softmax, the best."""
    torch = engine.module
    torch.manual_seed(0)
    policy, state = _perceptron(torch, (4, 64, 64, 2), "Tanh"), torch.randn(1, 4)

    def step() -> Any:
        with torch.no_grad():
            return torch.softmax(policy(state), dim=1)

    return engine.whole(step)
