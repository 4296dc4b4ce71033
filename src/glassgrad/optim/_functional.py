"""The steps of the optimizers as functions of lists, under one roof."""

from .adagrad import adadelta, adagrad, rmsprop
from .adam import adam, adamax, adamw, nadam, radam
from .sgd import asgd, rprop, sgd

__all__ = ["adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "nadam", "radam", "rmsprop", "rprop", "sgd"]
