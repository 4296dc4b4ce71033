"""Optimizers: they change parameters by their gradients. Source: https://docs.pytorch.org/docs/stable/optim.html"""

from typing import TYPE_CHECKING

from ..ground.later import later
from ..ground.paths import show_all

if TYPE_CHECKING:  # the same for type checkers, which read no strings
    from . import lr_scheduler, swa_utils
    from .adagrad import Adadelta, Adagrad, RMSprop
    from .adam import Adam, Adamax, AdamW, NAdam, RAdam, SparseAdam
    from .lbfgs import LBFGS
    from .matrices import Adafactor, Muon
    from .optimizer import Optimizer, register_optimizer_step_post_hook, register_optimizer_step_pre_hook
    from .sgd import ASGD, SGD, Rprop
    from .swap import swap_in_optimizer_params_and_state

_FILES = {
    ".adagrad": "Adadelta Adagrad RMSprop",
    ".adam": "Adam AdamW Adamax NAdam RAdam SparseAdam",
    ".lbfgs": "LBFGS",
    ".matrices": "Adafactor Muon",
    ".optimizer": "Optimizer register_optimizer_step_post_hook register_optimizer_step_pre_hook",
    ".sgd": "ASGD Rprop SGD",
    ".swap": "swap_in_optimizer_params_and_state",
}
_HOMES = {  # by file: PyTorch's other files, with what each of them has
    "adagrad": {"adadelta": "Adadelta adadelta", "rmsprop": "RMSprop rmsprop"},
    "adam": {
        "adamax": "Adamax adamax", "adamw": "AdamW adamw", "nadam": "NAdam nadam", "radam": "RAdam radam",
        "sparse_adam": "SparseAdam",
    },
    "sgd": {"asgd": "ASGD asgd", "rprop": "Rprop rprop"},
}  # fmt: skip
show_all(__name__, _HOMES)
__getattr__, __dir__ = later(
    globals(), "torch.optim", _FILES,
    " ".join(["_functional lbfgs lr_scheduler optimizer swa_utils", *_HOMES, *map(" ".join, _HOMES.values())]),
)  # fmt: skip

__all__ = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler", "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook", "swa_utils", "swap_in_optimizer_params_and_state",
]  # fmt: skip
