"""The reducer: gradients of one module, averaged over processes bucket by bucket while backward goes on."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...core.record import Record
from ...core.tensor import Tensor, edge_of, share, wrap

UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that "
    "your module has parameters that were not used in producing loss. "
)
DETECT = (
    "You can enable unused parameter detection by passing the keyword argument `find_unused_parameters=True` to "
    "`torch.nn.parallel.DistributedDataParallel`, and by \nmaking sure all `forward` function outputs participate in "
    "calculating loss. "
)
DETECTED = (
    "Since `find_unused_parameters=True` is enabled, this likely  means that not all `forward` outputs participate in "
    "computing loss. You can fix this by making sure all `forward` function outputs participate in calculating loss. "
)
LOCATE = (
    "\nIf you already have done the above, then the distributed data parallel module wasn't able to locate the output "
    "tensors in the return value of your module's `forward` function. Please include the loss function and the "
    "structure of the return value of `forward` of your module when reporting this issue (e.g. list, dict, iterable)."
)
INDICES = "\nParameter indices which did not receive grad for rank {rank}: {missing}"
NAMED = " ({names}); glassgrad.explore.unused(loss, model) tells why"
NAMES = (
    "\n In addition, you can set the environment variable TORCH_DISTRIBUTED_DEBUG to either INFO or DETAIL to print "
    "out information about which particular parameters did not receive gradient on this rank as part of this error"
)
TWICE = (
    "Expected to mark a variable ready only once. This error is caused by one of the following reasons: 1) Use of a "
    "module parameter outside the `forward` function. Please make sure model parameters are not shared across "
    "multiple concurrent forward-backward passes. or try to use _set_static_graph() as a workaround if this module "
    "graph does not change during training loop.2) Reused parameters in multiple reentrant backward passes. For "
    "example, if you use multiple `checkpoint` functions to wrap the same part of your model, it would result in the "
    "same set of parameters been used by different reentrant backward passes multiple times, and hence marking a "
    "variable ready multiple times. DDP does not support such use cases in default. You can try to use "
    "_set_static_graph() as a workaround if your module graph does not change over iterations.\nParameter at index "
    "{index} has been marked as ready twice. This means that multiple autograd engine  hooks have fired for this "
    "particular parameter during this iteration."
)


class GradBucket:
    """The gradients of several parameters behind each other, as a communication hook gets them."""

    def __init__(self, index: int, members: list[int], parameters: list[Any], last: bool, kind: Any) -> None:
        self._index, self.members, self._parameters, self._last = index, members, parameters, last
        ends = np.cumsum([parameter._array.size for parameter in parameters])
        self.array = np.zeros(int(ends[-1]), kind)
        self.slices = [
            self.array[end - each._array.size : end].reshape(each._array.shape)
            for end, each in zip(ends, parameters, strict=True)
        ]
        self.missing = len(members)
        self.work: Any = None

    def index(self) -> int:
        """Which of the buckets it is, in the order they are sent."""
        return self._index

    def is_last(self) -> bool:
        """Whether it is the last one of the iteration."""
        return self._last

    def buffer(self) -> Tensor:
        """All gradients as one flat tensor, on the bucket's memory."""
        return wrap(self.array)

    def set_buffer(self, tensor: Tensor) -> None:
        """Replace the flat tensor's values."""
        np.copyto(self.array, tensor._array)

    def gradients(self) -> list[Tensor]:
        """The gradient of each parameter."""
        return [wrap(piece) for piece in self.slices]

    def parameters(self) -> list[Any]:
        """The parameters."""
        return list(self._parameters)


GradBucket.__module__ = "torch.distributed"


class Reducer:
    """Hooks on parameters that fill buckets, and send each as soon as it and all before it are full.

    names    of the parameters
    group    the process group
    caps     how many bytes a bucket holds: the first, and the others
    unused   whether parameters outside the graph are looked for
    kind     the dtype in which real gradients are summed, where it is not their own
    """

    def __init__(
        self, parameters: list[Any], names: list[str], group: Any, caps: tuple[int, int], unused: bool, kind: Any = None
    ) -> None:
        self.parameters, self.names, self.group, self.unused, self.kind = parameters, names, group, unused, kind
        self.buckets: list[GradBucket] = []
        self.slot: list[tuple[GradBucket, int]] = [None] * len(parameters)  # type: ignore[list-item]
        self._fill_buckets(caps)
        self.armed = self.begun = False
        self.ready: set[int] = set()
        self.unreached: set[int] = set()  # those of which None may come yet
        self.used: np.ndarray = np.zeros(len(parameters), np.int32)
        self.launched = 0
        self.divisor = group.size()
        self.hook: tuple[Any, Callable[..., Any]] | None = None
        self.handles = [self._listen(index) for index in range(len(parameters))]

    def _fill_buckets(self, caps: tuple[int, int]) -> None:
        """The last parameters first, since their gradients come first; one dtype in a bucket."""
        waiting: dict[Any, list[int]] = {}
        done: list[list[int]] = []
        for index in reversed(range(len(self.parameters))):
            data = self.parameters[index]._array
            members = waiting.setdefault(data.dtype, [])
            members.append(index)
            size = sum(self.parameters[each]._array.nbytes for each in members)
            if size >= caps[bool(done)]:
                done.append(waiting.pop(data.dtype))
        done += waiting.values()
        for number, members in enumerate(done):
            parameters = [self.parameters[each] for each in members]
            kind = self.kind.numpy if self.kind and parameters[0].is_floating_point() else parameters[0]._array.dtype
            bucket = GradBucket(number, members, parameters, number == len(done) - 1, kind)
            self.buckets.append(bucket)
            for position, index in enumerate(members):
                self.slot[index] = bucket, position

    def _listen(self, index: int) -> Any:
        me = weakref.ref(self)

        def accumulated(parameter: Any) -> None:
            reducer = me()
            if reducer is not None and reducer.armed and index not in reducer.unreached:
                reducer.used[index] = 1
                reducer.mark(index, parameter._grad)

        return self.parameters[index].register_post_accumulate_grad_hook(accumulated)

    def prepare(self) -> None:
        """Expect a backward pass."""
        if self.begun:
            missing = [index for index in range(len(self.parameters)) if index not in self.ready]
            indices = INDICES.format(rank=self.group.rank(), missing=" ".join(map(str, missing)))
            indices += NAMED.format(names=", ".join(self.names[index] for index in missing))
            raise RuntimeError(UNFINISHED + (DETECTED if self.unused else DETECT) + LOCATE + indices + NAMES)
        self.armed = True
        self.ready.clear()
        self.unreached.clear()
        self.used[:] = 0
        self.launched = 0
        for bucket in self.buckets:
            bucket.missing, bucket.work = len(bucket.members), None

    def mark(self, index: int, grad: Any) -> None:
        """The gradient of a parameter is there; None: there will be none."""
        if index in self.ready:
            raise RuntimeError(TWICE.format(index=index))
        self.begun = True
        self.ready.add(index)
        bucket, position = self.slot[index]
        if grad is None:
            bucket.slices[position][...] = 0
        else:
            scale = 1 if self.hook is not None else 1 / self.divisor
            np.multiply(grad._array, bucket.array.dtype.type(scale), out=bucket.slices[position])
        bucket.missing -= 1
        while self.launched < len(self.buckets) and not self.buckets[self.launched].missing:
            self._launch(self.buckets[self.launched])
            self.launched += 1
        if self.launched == len(self.buckets):
            self._finish()

    def mark_unused(self, outputs: Iterable[Any]) -> None:
        """Do not wait for the parameters from which none of ``outputs`` was computed."""
        reached = leaves(outputs)
        for index, parameter in enumerate(self.parameters):
            if id(parameter) not in reached and index not in self.ready and self.armed:
                self.unreached.add(index)
                self.mark(index, parameter._grad)

    def _launch(self, bucket: GradBucket) -> None:
        if self.hook is not None:
            bucket.work = self.hook[1](self.hook[0], bucket)
        else:
            what = f"DistributedDataParallel's sum of gradients ({bucket.index() + 1} of {len(self.buckets)})"
            bucket.work = self.group.all_reduce(bucket.array, "SUM", False, what)

    def _finish(self) -> None:
        """Wait for the buckets, and put what came back into ``.grad``."""
        self.armed = self.begun = False
        seen = None
        if self.unused:  # what no process used keeps the gradient it has
            seen = self.used.copy()
            what = "DistributedDataParallel's search for unused parameters"
            self.group.all_reduce(seen, "MAX", what=what)
        for bucket in self.buckets:
            result = bucket.work.wait()
            if self.hook is not None:
                bucket.set_buffer(result[0] if isinstance(result, (list, tuple)) else result)
            for index, piece in zip(bucket.members, bucket.slices, strict=True):
                parameter = self.parameters[index]
                if seen is not None and not seen[index]:
                    continue
                if parameter._grad is None:
                    parameter._grad = wrap(piece.astype(parameter._array.dtype))
                else:
                    share(parameter._grad)
                    np.copyto(parameter._grad._array, piece)
            bucket.work = None

    def shadow(self) -> None:
        """Take part in other ranks' backward pass with gradients of nought; the averages come here too."""
        self.prepare()
        for bucket in self.buckets:
            bucket.array[:] = 0
            self._launch(bucket)
        self._finish()

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self.handles:
            handle.remove()


def leaves(outputs: Iterable[Any]) -> set[int]:
    """The identities of all leaves from which tensors were computed."""
    reached: set[int] = set()
    seen: set[int] = set()
    waiting = [edge_of(output) for output in outputs]
    while waiting:
        edge = waiting.pop()
        if edge is None or id(edge) in seen:
            continue
        seen.add(id(edge))
        if isinstance(edge, Record):
            waiting.extend(edge.edges)
        else:
            reached.add(id(edge))
    return reached
