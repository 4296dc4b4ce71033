"""Callbacks for Lightning and for Hugging Face's Trainer: each fit is watched, and answered where it fails or ends."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

from .armed import THIS


@functools.cache
def callback(name: str) -> type:
    """The class of a name in :data:`CALLBACKS`; its package is imported only now, ImportError where there is none."""
    return CALLBACKS[name]()  # type: ignore[no-any-return]


def _lightning() -> type:
    home = next((name for name in ("lightning.pytorch", "pytorch_lightning") if name in sys.modules), None)
    base: Any = importlib.import_module(home or "lightning.pytorch").Callback

    class LightningCallback(base):  # type: ignore[misc]
        """``Trainer(callbacks=[LightningCallback()])``: what is wrong with a fit, at its error or at its end."""

        def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
            """A fit begins: what came before is another program's."""
            THIS.renew()

        def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
            """A fit has ended well."""
            THIS.end()

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            """A fit has failed."""
            loop = frame_with(exception, "_step_fn")
            step = loop["self"]._step_fn if loop is not None else None
            THIS.answer(exception, step and (lambda: step().closure_loss))

    return LightningCallback


def _transformers() -> type:
    transformers: Any = importlib.import_module("transformers")

    class TrainerCallback(transformers.TrainerCallback):  # type: ignore[misc]
        """``Trainer(callbacks=[TrainerCallback()])``: what is wrong with a training, at its error or at its end."""

        def __init__(self) -> None:
            if not hasattr(transformers.Trainer.train, "answers"):
                transformers.Trainer.train = _answering(transformers.Trainer.train)

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """A training begins: what came before is another program's."""
            THIS.renew()

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """A training has ended well."""
            THIS.end()

    def _answering(train: Any) -> Any:
        @functools.wraps(train)
        def answered(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return train(trainer, *args, **kwargs)
            except Exception as error:
                if any(isinstance(one, TrainerCallback) for one in trainer.callback_handler.callbacks):
                    loop = frame_with(error, "compute_loss", "inputs", "model")
                    THIS.answer(error, None if loop is None else functools.partial(step_of, **loop))
                raise

        answered.answers = True  # type: ignore[attr-defined]
        return answered

    return TrainerCallback


def frame_with(error: BaseException, method: str, *names: str) -> dict[str, Any] | None:
    """The innermost frame of an error whose ``self`` has a method, as its ``self`` and some of its names; else None."""
    values, traceback = None, error.__traceback__
    while traceback is not None:
        known = traceback.tb_frame.f_locals
        if hasattr(known.get("self"), method) and all(name in known for name in names):
            values = {name: known[name] for name in ("self", *names)}
        traceback = traceback.tb_next
    return values


def step_of(self: Any, model: Any, inputs: Any) -> Any:
    """The loss of a step of Hugging Face's Trainer, computed anew."""
    return self.compute_loss(model, self._prepare_inputs(inputs))


CALLBACKS = {"LightningCallback": _lightning, "TrainerCallback": _transformers}
