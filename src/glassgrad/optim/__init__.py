"""Optimizers: they change parameters by their gradients. Source: https://docs.pytorch.org/docs/stable/optim.html"""

from .adam import Adam, AdamW
from .optimizer import Optimizer, register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from .sgd import SGD

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "Optimizer",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
]
