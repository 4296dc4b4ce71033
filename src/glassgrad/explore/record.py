"""Recording a forward pass, floor 8: which line and module call did each operation, what was cut, what was overwritten.

It hears calls through a *listener* of each engine (``listen_glassgrad``, ``listen_torch``), which write into its
``notes``; what they mean is found out when somebody asks. A recording holds no tensor and no module alive.
"""

from __future__ import annotations

import sys
import weakref
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType, TracebackType
from typing import Any

from ..ground.arrival import is_here, when_here
from ..ground.names import home_of
from .lineage import Call, Entered, Lineage
from .notes import Notes
from .place import Place, arrange

__all__ = ["Call", "Recording", "record"]


class Recording:
    """What was heard in a block of :func:`record`: ``read(loss, record=...)`` and the questions look it up here."""

    living: weakref.WeakSet[Recording] = weakref.WeakSet()
    latest: Recording | None = None  # the last to end: questions find it though nobody gave it a name

    def __init__(self, model: Any = None, *, values: bool = False) -> None:
        self._model, self.values = None if model is None else weakref.ref(model), values
        self.notes = Notes(values)
        self.engines: tuple[str, ...] = ()
        self._lineage = Lineage(self.notes)
        self._listeners: list[Any] = []
        self._alone: Callable[[], None] = lambda: None  # ends waiting for glassgrad's engine
        self._order: list[Call] = []
        self._starts: list[int] = []
        self._sorted = -1
        Recording.living.add(self)

    @property
    def model(self) -> Any:
        """The model whose forward pass is recorded; None where none was given, or where it is gone."""
        return None if self._model is None else self._model()

    # -- the block ------------------------------------------------------------------------------------------------

    def __enter__(self) -> Recording:
        if self._listeners:
            raise RuntimeError("record(): this recording is already running")
        root = sys._getframe(1)
        try:
            for listener in listeners(self):
                listener.start()
                self._listeners.append(listener)
        except BaseException:
            self._leave()
            raise
        self.engines = tuple(listener.name for listener in self._listeners)
        self.notes.start(root)
        if not is_here():
            self._alone = when_here(self._join)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()
        Recording.latest = self

    def _join(self) -> None:
        """Hear glassgrad too, whose engine came while this was running."""
        for listener in listeners(self) if self._listeners else ():
            if listener.name not in self.engines:
                listener.start()
                self._listeners.append(listener)
                self.engines = (*self.engines, listener.name)

    def _leave(self) -> None:
        self._alone()
        self.notes.stop()
        while self._listeners:
            self._listeners.pop().stop()

    def backward(self, loss: Any, gradient: Any = None, *, retain_graph: bool = False) -> Any:
        """``loss.backward()``, observed: gives the graph with the order and the gradients of this backward pass."""
        from .observe import observe

        return observe(loss, gradient, model=self.model, record=self, retain_graph=retain_graph)

    def __repr__(self) -> str:
        heard = sum(bool(call.name) for call in self.calls)
        cuts = sum(call.how is not None for call in self.calls)
        return (
            f"<Recording: {heard:,} calls, {len(self.entered):,} module calls, {cuts:,} cuts, "
            f"{sum(call.writes for call in self.calls):,} writes in place>"
        )

    def quietly(self, run: Callable[[], Any]) -> Any:
        """Run something without hearing what it calls."""
        notes = self.notes
        before, notes.inside = notes.inside, True
        try:
            return run()
        finally:
            notes.inside = before

    # -- answers ----------------------------------------------------------------------------------------------------

    @property
    def calls(self) -> list[Call]:
        """Everything that was heard, in order, and the tensors from outside where they were met first."""
        self._lineage.read()
        return self._lineage.calls

    @property
    def entered(self) -> list[Entered]:
        """The calls of modules, in order."""
        self._lineage.read()
        return self._lineage.entered

    def producer(self, tensor: Any) -> Call | None:
        """The call that made ``tensor`` or changed it last; None where it was not heard."""
        self._lineage.read()
        return self._lineage.producer(tensor)

    def of_age(self, age: float | None, engine: str) -> Call | None:
        """The call during which the node of this age was made."""
        return self.of_ages([age], engine)[0]

    def of_ages(self, ages: Iterable[float | None], engine: str) -> list[Call | None]:
        """For each age of a node the call during which it was made."""
        calls = self.calls
        if self._sorted != len(calls):
            self._order = sorted((call for call in calls if call.start < call.stop), key=lambda call: call.start)
            self._starts = [call.start for call in self._order]
            self._sorted = len(calls)
        starts, order = self._starts, self._order
        matches: list[Call | None] = []
        for age in ages:
            at = -1 if age is None else bisect_right(starts, age) - 1
            matches.append(order[at] if at >= 0 and age < order[at].stop else None)  # type: ignore[operator]
        return matches

    def arrange(self) -> list[Place]:
        """The scopes of everything heard: module calls and turns of loops, outermost first."""
        return arrange(self)

    @property
    def cuts(self) -> list[Call]:
        """The calls at which values left the graph."""
        return [call for call in self.calls if call.how is not None]

    @property
    def inplace(self) -> list[Call]:
        """The calls that changed a tensor in place."""
        return [call for call in self.calls if call.writes]

    def before(self, call: Call) -> Iterator[Call]:
        """Everything a call's result was computed from, with or without gradients, nearest first."""
        seen, waiting = {call.index}, [call.index]
        for here in waiting:
            for at in self.calls[here].inputs:
                if at not in seen:
                    seen.add(at)
                    waiting.append(at)
                    yield self.calls[at]


def listeners(recording: Recording) -> list[Any]:
    """The listeners of the engines that may be heard: of the model's engine, else of all that are loaded."""
    torch = sys.modules.get("torch")
    real = isinstance(torch, ModuleType) and torch.__package__ == "torch" and hasattr(torch, "_C")
    model = recording.model
    home = ""
    if model is not None:
        kinds = [kind for kind in type(model).__mro__ if kind.__name__ == "Module"]
        home = home_of(kinds[-1]).partition(".")[0] if kinds else ""
    chosen: list[Any] = []
    if not real or home not in ("", "torch") or (not home and is_here()):
        from .listen_glassgrad import Listener as Glass

        chosen.append(Glass(recording))
    if real and home in ("", "torch"):
        from .listen_torch import Listener as Torch

        chosen.append(Torch(recording, torch))
    return chosen


def record(model: Any = None, *, values: bool = False) -> Recording:
    """A block in which the forward pass is recorded: ``with record(model) as r: loss = ...``.

    For every operation it keeps the file, line and exact expression, the module call and the turn of a loop it belongs
    to; it keeps what was cut out of the graph (``detach``, ``no_grad``, ``item`` ...), and writes in place. ``values``
    counts the numbers in every result too: NaN, infinity, range and norm. Nothing is slowed down outside the block.
    """
    return Recording(model, values=values)
