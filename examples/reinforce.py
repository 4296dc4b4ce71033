"""REINFORCE: an agent learns to keep a pole upright on a cart by making what paid off more likely."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from options import Losses, parse
from torch.distributions import Categorical


class CartPole:
    """A pole on a cart that is pushed left or right, fifty times a second; it falls beyond 12 degrees.

    The equations of motion are those of Barto, Sutton and Anderson (1983).
    """

    def reset(self):
        """The state at the start: place, speed, angle, turning speed, all small and drawn at random."""
        self.state = ((torch.rand(4, dtype=torch.float64) - 0.5) * 0.1).tolist()
        return self.state

    def step(self, action):
        """The state after a push, and whether the pole fell or the cart left its track."""
        x, speed, angle, turning = self.state
        push = 10.0 if action == 1 else -10.0
        sine, cosine = math.sin(angle), math.cos(angle)
        pulled = (push + 0.05 * turning**2 * sine) / 1.1
        turn = (9.8 * sine - cosine * pulled) / (0.5 * (4.0 / 3.0 - 0.1 * cosine**2 / 1.1))
        gain = pulled - 0.05 * turn * cosine / 1.1
        self.state = [x + 0.02 * speed, speed + 0.02 * gain, angle + 0.02 * turning, turning + 0.02 * turn]
        return self.state, abs(self.state[0]) > 2.4 or abs(self.state[2]) > 12 * math.pi / 180


class Policy(nn.Module):
    """Probabilities of the two pushes."""

    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 64)
        self.dropout = nn.Dropout(p=0.2)
        self.affine2 = nn.Linear(64, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        """(1, 4) to (1, 2)."""
        return F.softmax(self.affine2(F.relu(self.dropout(self.affine1(x)))), dim=1)


given = parse(__doc__, steps=150)
policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
world = CartPole()


def select_action(state):
    """A push, drawn from the policy, its log probability kept."""
    state = torch.tensor(state, dtype=torch.get_default_dtype()).unsqueeze(0)
    chances = Categorical(policy(state))
    action = chances.sample()
    policy.saved_log_probs.append(chances.log_prob(action))
    return action.item()


def finish_episode():
    """One step of the optimizer: log probabilities times the returns that followed."""
    total, returns = 0.0, []
    for reward in reversed(policy.rewards):
        total = reward + 0.99 * total
        returns.insert(0, total)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + torch.finfo(returns.dtype).eps)
    policy_loss = [-log_prob * value for log_prob, value in zip(policy.saved_log_probs, returns)]
    optimizer.zero_grad()
    loss = torch.cat(policy_loss).sum()
    loss.backward()
    optimizer.step()
    del policy.rewards[:], policy.saved_log_probs[:]
    return loss


losses = Losses(given)
running = 10.0
for episode in range(given.steps):
    state, length = world.reset(), 0
    for length in range(1, 501):
        state, fell = world.step(select_action(state))
        policy.rewards.append(1.0)
        if fell:
            break
    running = 0.05 * length + 0.95 * running
    losses.add(finish_episode())
print(f"the pole stays up for {running:.0f} pushes on average")
losses.write()
