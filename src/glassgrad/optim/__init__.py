"""Optimizers: they change parameters by their gradients. Source: https://docs.pytorch.org/docs/stable/optim.html"""

from typing import TYPE_CHECKING

from ..ground.later import later

if TYPE_CHECKING:  # the same for type checkers, which read no strings
    from . import lr_scheduler, swa_utils
    from .adadelta import Adadelta
    from .adafactor import Adafactor
    from .adagrad import Adagrad
    from .adam import Adam
    from .adamax import Adamax
    from .adamw import AdamW
    from .asgd import ASGD
    from .lbfgs import LBFGS
    from .muon import Muon
    from .nadam import NAdam
    from .optimizer import Optimizer, register_optimizer_step_post_hook, register_optimizer_step_pre_hook
    from .radam import RAdam
    from .rmsprop import RMSprop
    from .rprop import Rprop
    from .sgd import SGD
    from .sparse_adam import SparseAdam
    from .swap import swap_in_optimizer_params_and_state

__getattr__, __dir__ = later(globals(), "torch.optim", {
    ".adadelta": "Adadelta",
    ".adafactor": "Adafactor",
    ".adagrad": "Adagrad",
    ".adam": "Adam",
    ".adamax": "Adamax",
    ".adamw": "AdamW",
    ".asgd": "ASGD",
    ".lbfgs": "LBFGS",
    ".muon": "Muon",
    ".nadam": "NAdam",
    ".optimizer": "Optimizer register_optimizer_step_post_hook register_optimizer_step_pre_hook",
    ".radam": "RAdam",
    ".rmsprop": "RMSprop",
    ".rprop": "Rprop",
    ".sgd": "SGD",
    ".sparse_adam": "SparseAdam",
    ".swap": "swap_in_optimizer_params_and_state",
}, modules="_functional adadelta adafactor adagrad adam adamax adamw asgd lbfgs lr_scheduler nadam optimizer radam "
           "rmsprop rprop sgd sparse_adam swa_utils",
)  # fmt: skip

__all__ = [
    "ASGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "SparseAdam",
    "lr_scheduler",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "swa_utils",
    "swap_in_optimizer_params_and_state",
]
