"""The last backward pass of a script, floor 8: every step is recorded and watched, and the last one is kept."""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Any

from .model import Graph
from .record import Recording
from .survey import read

__all__ = ["LastBackward"]


class LastBackward:
    """A block in which ``loss.backward()`` is watched; ``graph`` is the last graph that was walked, or None.

    ``tensor`` is the class of tensors, of glassgrad or of torch. What lies between two backward passes is recorded,
    so the graph has lines, modules and cuts. A pass with ``create_graph`` or ``inputs`` is read, and not watched.
    """

    def __init__(self, tensor: type) -> None:
        self.tensor = tensor
        self.graph: Graph | None = None
        self.steps = 0
        self._recording: Recording | None = None
        self._original: Any = None
        self._inside = False

    def __enter__(self) -> LastBackward:
        self._original = self.tensor.backward  # type: ignore[attr-defined]

        def backward(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            return self._backward(tensor, args, kwargs)

        backward.__doc__ = self._original.__doc__
        self.tensor.backward = backward  # type: ignore[attr-defined]
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.tensor.backward = self._original  # type: ignore[attr-defined]
        self._stop()

    def _start(self) -> None:
        self._recording = Recording()
        self._recording.__enter__()

    def _stop(self) -> Recording | None:
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.__exit__(None, None, None)
        return recording

    def _backward(self, tensor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._inside:
            return self._original(tensor, *args, **kwargs)
        arguments = dict(zip(("gradient", "retain_graph", "create_graph", "inputs"), args, strict=False), **kwargs)
        recording = self._stop()
        self._inside = True
        try:
            model = _largest(recording)
            if recording is not None and model is not None:
                recording._model = weakref.ref(model)
            if tensor.grad_fn is None or arguments.get("create_graph") or arguments.get("inputs") is not None:
                if tensor.grad_fn is not None:
                    self.graph = read(tensor, model=model, record=recording)
                return self._original(tensor, *args, **kwargs)
            assert recording is not None
            keep = bool(arguments.get("retain_graph"))
            self.graph = recording.backward(tensor, arguments.get("gradient"), retain_graph=keep)
            return None
        finally:
            self.steps += 1
            self._inside = False
            self._start()


def _largest(recording: Recording | None) -> Any:
    """The module with the most parameters among those that the script itself called; None where it called none."""
    if recording is None:
        return None
    called = {id(e.module): e.module for e in recording.entered if e.parent is None and e.module is not None}
    return max(called.values(), key=lambda module: len(list(module.parameters())), default=None)
