"""The careful path of every operation: promotion, modes, mixed dtypes, ``out=``, in-place writes, lifted rules.

``generate.py`` writes each row's short path for the everyday call; whatever is unusual ends here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ..ground import dtypes, modes
from ..kernels.sparse import Carrier
from ..ops import override
from ..tensor.parameter import Parameter
from . import anomaly, saved, write
from .fit import fit, fit_dtype, fit_lifted
from .record import Bundle, Kind, Record, freed, output_of
from .row import Row
from .tensor import Tensor, View, edge_of, new, share, wrap

ndarray = np.ndarray
_PLAIN = (Tensor, Parameter)


class Fitting:
    """How the gradients of one record must be fitted to its inputs, and how its saved arrays are read."""

    __slots__ = ("sizes", "dtypes", "cast", "conjugate")

    def __init__(self, sizes: Any, kinds: Any, cast: Any, conjugate: bool) -> None:
        self.sizes, self.dtypes, self.cast, self.conjugate = sizes, kinds, cast, conjugate


def careful(row: Row, tensors: Sequence[Any], settings: Sequence[Any], out: Any = None) -> Any:
    """Call a row on whatever it was given."""
    flat = tensors[0] if row.listed else tensors
    if not any(isinstance(t, Tensor) for t in flat):
        if any(isinstance(t, (ndarray, np.generic)) for t in flat):
            return row.kernel(*tensors, *settings)  # a rule at work on arrays
        raise TypeError(override.wrong_type(row, flat))
    if (modes.watch and modes.local.function_modes) or any(
        type(t) not in _PLAIN and hasattr(type(t), "__torch_function__") for t in flat
    ):
        answer = override.dispatch(row, tensors, settings, out)
        if answer is not override.NOT_TAKEN:
            return answer
    if row.precision is not None and modes.watch and modes.local.autocast is not None:
        tensors = flat = modes.local.autocast.cast(row.precision, tensors)
    if not row.listed and any(isinstance(t, np.generic) for t in tensors):
        tensors = flat = tuple(t.item() if isinstance(t, np.generic) else t for t in tensors)
    if row.check is not None:
        row.check(*flat)
    arrays = _arrays(row, flat)
    meta = any(a is not None and a.dtype.metadata for a in arrays)
    cast = single = None
    if row.typed is not None:
        cast = common_dtype(row, flat)
        if row.single_numbers and cast.itemsize == 2 and not meta:
            single = beside_half(arrays, cast)
        if single is None:
            arrays = [
                a
                if a is None or a.dtype is cast or (not row.listed and row.inputs[i] in row.apart)
                else override.cast_to(a, cast)
                for i, a in enumerate(arrays)
            ]
        else:
            arrays = single
    given = [arrays] if row.listed else arrays
    if meta:
        result = override.shapes_only(row, given, settings)
    else:
        try:
            result = row.kernel(*given, *settings)
        except ValueError as error:
            override.shape_error(row, arrays, error)
        if single is not None:
            result = result.astype(cast)
    if row.view:
        return _view(row, flat[0], arrays, tensors, settings, result)
    record = _record(row, flat, arrays, tensors, settings, cast)
    outs = _wrap_all(row, record, result)
    if record is not None:
        note_results(row, record, outs)
        if modes.local.anomaly:
            anomaly.mark(record)
    if modes.local.inference:
        for piece in outs:
            piece._inference = True
    answer = outs[0] if not row.outputs else tuple(outs)
    return answer if out is None else write.into(row, flat, out, answer)


def _arrays(row: Row, flat: Sequence[Any], written: bool = False) -> list[Any]:
    arrays = []
    for index, t in enumerate(flat):
        if isinstance(t, Tensor):
            arrays.append(t._array)
        elif t is None and (row.listed or row.inputs[index] in row.optional):
            arrays.append(None)
        elif isinstance(t, (bool, int, float, complex)) and not row.listed and row.typed is not None and not row.strict:
            array = np.asarray(t)
            if array.dtype.hasobject:
                raise OverflowError("int too big to convert")
            arrays.append(array)
        else:
            raise TypeError(override.wrong_type(row, flat, index, written))
    return arrays


def beside_half(arrays: Sequence[Any], cast: np.dtype[Any]) -> list[Any] | None:
    """The inputs in float32 where a number or 0-d tensor meets half precision; None where none does."""
    if cast.kind not in "fV" or not any(a.ndim == 0 and a.dtype is not cast for a in arrays):
        return None
    return [np.asarray(a.astype(cast) if a.ndim else a).astype(_SINGLE)[()] for a in arrays]


_SINGLE = np.dtype("f4")


def common_dtype(row: Row, flat: Sequence[Any]) -> np.dtype[Any]:
    """The NumPy dtype that the inputs of a typed row agree on."""
    dims: list[Any] = []
    zeros: list[Any] = []
    numbers: list[type] = []
    for index, t in enumerate(flat):
        if t is None or (not row.listed and row.inputs[index] in row.apart):
            continue
        if isinstance(t, Tensor):
            (dims if t._array.ndim else zeros).append(dtypes.of(t._array.dtype))
        else:
            numbers.append(type(t))
    kind = dtypes.result_dtype(dims, zeros, numbers)
    if row.typed == "float" and not kind.is_floating_point and not kind.is_complex:
        kind = dtypes.get_default_dtype()
    return kind.numpy


def edges_of(row: Row, flat: Sequence[Any]) -> tuple[Any, ...]:
    """The edges of the inputs that have rules; all None where nothing is recorded."""
    if row.constant or not row.rules or not modes.grad_enabled():
        return ()
    if row.listed:
        edges = tuple(edge_of(t) for t in flat)
    else:
        chosen = row.followed
        edges = tuple(
            edge_of(t) if isinstance(t, Tensor) else None
            for name, t in zip(row.inputs, flat, strict=True)
            if name in chosen
        )
    return edges if any(e is not None for e in edges) else ()


def _record(
    row: Row, flat: Sequence[Any], arrays: Sequence[Any], tensors: Sequence[Any], settings: Sequence[Any], cast: Any
) -> Record | None:
    edges = edges_of(row, flat)
    if not edges:
        return None
    return make_record(row, edges, flat, arrays, settings, cast)


def make_record(
    row: Row, edges: tuple[Any, ...], flat: Sequence[Any], arrays: Sequence[Any], settings: Sequence[Any], cast: Any
) -> Record:
    """A record of one call, with its inputs, sizes and settings saved; results are noted when they exist."""
    record = Record(kind_of(row), edges)
    record.run = careful_run
    if row.listed:
        record.s = Fitting([a.shape for a in arrays], [_kind(t) for t in flat], cast, False)
    else:
        followed = row.followed
        places = [i for i, name in enumerate(row.inputs) if name in followed]
        sizes = [arrays[i].shape if arrays[i] is not None else None for i in places]
        kinds = [_kind(flat[i]) for i in places]
        record.s = Fitting(sizes, kinds, cast, False)
    if row.holomorphic and any(a is not None and a.dtype.kind == "c" for a in arrays):
        record.s.conjugate = True
    wanted = {
        name
        for names, _, wanted in row.rules
        if row.listed or any(edges[row.followed.index(n)] is not None for n in names)
        for name in wanted
    }
    places_of = {name: place for name, (how, place) in row.saves.items() if how == "setting"}
    extra: list[Any] = [None] * len(places_of)
    for name, place in places_of.items():
        if name.endswith("_sizes") and name[:-6] in row.inputs:
            if row.listed:
                extra[place] = [a.shape for a in arrays]
            else:
                array = arrays[row.inputs.index(name[:-6])]
                extra[place] = None if array is None else array.shape
        else:
            extra[place] = settings[row.settings.index(name)]
    record.k = tuple(extra)
    for name, (how, slot) in row.saves.items():
        if how == "tensor":
            tensor = flat if row.listed else flat[row.inputs.index(name)]
            if name not in wanted:
                tensor = None
            elif tensor is not None and not isinstance(tensor, Tensor) and not row.listed:
                kind = _SINGLE if row.single_numbers and cast.itemsize == 2 and cast.kind in "fV" else cast
                setattr(record, f"p{slot}", wrap(np.asarray(tensor).astype(kind)[()]))
                setattr(record, f"v{slot}", 0)  # a number: the hooks of saved tensors do not see it
                continue
            if row.listed:
                setattr(record, f"p{slot}", tuple(tensor))
                setattr(record, f"v{slot}", tuple(0 if t._counter is None else t._counter.version for t in tensor))
            else:
                saved.keep_tensor(record, slot, tensor)
        elif how == "result":
            setattr(record, f"p{slot}", None)
    return record


def _kind(t: Any) -> Any:
    return t._array.dtype if isinstance(t, Tensor) else None


def note_results(row: Row, record: Record, outs: Sequence[Tensor]) -> None:
    """Save the results that the rules read."""
    for name, (how, slot) in row.saves.items():
        if how == "result":
            index = 0 if name == "result" else row.outputs.index(name)
            saved.keep_result(record, slot, outs[index])


def _wrap_all(row: Row, record: Record | None, result: Any) -> list[Tensor]:
    if not row.outputs:
        out = wrap(result)
        if record is not None and _carries(result):
            out._edge = record
        return [out]
    outs = [wrap(piece) for piece in result]
    if record is not None:
        total = len(row.outputs)
        for index in row.differentiable:
            if _carries(outs[index]._array):
                single = len(row.differentiable) == 1
                outs[index]._edge = record if single else output_of(record, index, total)
    return outs


def _carries(array: Any) -> bool:
    return array.dtype.kind in "fcV"  # V: bfloat16


def _view(row: Row, source: Tensor, arrays: Any, tensors: Any, settings: Any, result: Any) -> Any:
    version = share(source)
    if type(result) is tuple and not row.outputs or isinstance(result, list):
        return _views(row, source, settings, result, version)
    if arrays[0] is not source._array:  # the data became an array just now: the view must look at that one
        result = row.kernel(source._array, *settings)
    out = new(Tensor)
    out._array, out._counter = result, version
    out._edge = place_view(source, None)
    if source._inference:
        out._inference = True
    edges = edges_of(row, (source,))
    if edges:
        out._edge.edge = record = make_record(row, edges, (source,), (source._array,), settings, None)
        if modes.local.anomaly:
            anomaly.mark(record)
    return out


def place_view(source: Tensor, made: str | None) -> View:
    """The place in the graph of a view of ``source``, still without history."""
    place = new(View)
    version = share(source)
    place.seen, place.edge = version.version, None
    if type(source._edge) is View:
        place.base, place.made = source._edge.base, source._edge.made
    else:
        place.base, place.made = source, None
    if place.made is None:
        if modes.local.inference:
            place.made = "inference"
        elif not modes.grad_enabled():
            place.made = "no_grad"
        else:
            place.made = made
    return place


def _views(row: Row, source: Tensor, settings: Any, result: Any, version: Any) -> tuple[Tensor, ...]:
    """The outputs of a row that gives several views (``unbind``, ``split``)."""
    edges = edges_of(row, (source,))
    record = make_record(row, edges, (source,), (source._array,), settings, None) if edges else None
    outs = []
    total = len(result)
    result = row.kernel(source._array, *settings)
    for index, piece in enumerate(result):
        out = new(Tensor)
        out._array, out._counter = piece, version
        out._edge = place_view(source, "multi")
        if record is not None:
            out._edge.edge = output_of(record, index, total)
        outs.append(out)
    return tuple(outs)


# -- rules ----------------------------------------------------------------------------------------------------------

_array_views: dict[int, dict[str, Any]] = {}


def on_arrays(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule bound to a namespace where every row is its kernel."""
    names = _array_views.get(id(rule.__globals__))
    if names is None:
        names = {
            name: value.row.kernel if isinstance(value, FunctionType) and hasattr(value, "row") else value
            for name, value in rule.__globals__.items()
        }
        _array_views[id(rule.__globals__)] = names
    bound = FunctionType(rule.__code__, names, rule.__name__, rule.__defaults__, rule.__closure__)
    return bound


def kind_of(row: Row) -> Kind:
    """The kind that all records of ``row`` share, made on first use."""
    kind = row._kind
    if kind is None:
        shown = {}
        for name, place in row.saves.items():
            if name not in row.hidden:
                shown[name[:-6] + "_sym_sizes" if name.endswith("_sizes") else name] = place
        for name, (source, function) in row.derived.items():
            shown[name] = ("derived", (row.saves[source], function))  # type: ignore[assignment]
        followed = row.followed
        arity = 0 if row.listed or len(followed) > 2 else len(followed)
        frees = any(how != "setting" for how, _ in row.saves.values()) or "indices" in row.saves
        outputs = 1
        if len(row.differentiable) > 1 or (row.view and "grads" in {w for _, _, ws in row.rules for w in ws}):
            outputs = max(len(row.outputs), 2)
        kind = Kind(
            row.node_name, careful_run, lifted_run, saved=shown, arity=arity, outputs=outputs, frees=frees
        )
        kind.row, kind.unfold = row, row.unfold
        row.array_rules = [(names, on_arrays(rule), wanted) for names, rule, wanted in row.rules]  # type: ignore[attr-defined]
        row.result_slots = {  # type: ignore[attr-defined]
            place: (row.outputs.index(name), len(row.outputs))
            for name, (how, place) in row.saves.items()
            if how == "result" and name in row.outputs and row.outputs.index(name) in row.differentiable
        }
        row._kind = kind  # last: whoever is interrupted begins anew
    return kind


def read_saved(self: Row, record: Record, how: str, slot: int) -> Any:
    """A saved tensor for the user: a Tensor with its history."""
    if self.listed and how == "tensor":
        return tuple(getattr(record, f"p{slot}"))
    return saved.read(record, how, slot)


def pack_saved(self: Row, record: Record, how: str, slot: int, pair: tuple[Any, Any]) -> None:
    """Pack a saved tensor with the user's hooks."""
    saved.pack(record, how, slot, pair)


Row.read_saved = read_saved  # type: ignore[attr-defined]
Row.pack_saved = pack_saved  # type: ignore[attr-defined]


def _values(record: Record, wanted: Sequence[str], lifted: bool) -> dict[str, Any]:
    """What a rule reads, besides the gradient."""
    row: Row = record.kind.row
    saves = row.saves
    cast = record.s.cast if isinstance(record.s, Fitting) else None
    values: dict[str, Any] = {}
    for name in wanted:
        if name in ("grad", "grads", "needs"):
            continue
        how, place = saves[name]
        if how == "setting":
            values[name] = record.k[place]
            continue
        if row.listed and how == "tensor":
            pieces = getattr(record, f"p{place}")
            versions = getattr(record, f"v{place}")
            for piece, version in zip(pieces, versions, strict=True):
                if piece._counter is not None and piece._counter.version != version:
                    saved.stale(record, place)
            values[name] = list(pieces) if lifted else [piece._array for piece in pieces]
            continue
        tensor = saved.read(record, how, place)
        if lifted or tensor is None:
            values[name] = tensor
        else:
            array = tensor._array
            if cast is not None and how == "tensor" and array.dtype is not cast and name not in row.apart:
                if array.ndim or not row.single_numbers or cast.itemsize > 2:
                    array = array.astype(cast)
            values[name] = array
    return values


def careful_run(record: Record, grad: Any, keep: bool) -> Any:
    """Give the gradients of a record's inputs, as arrays."""
    return _run(record, grad, keep, False)


Row.careful_run = staticmethod(careful_run)  # type: ignore[attr-defined]


def lifted_run(record: Record, grad: Any, keep: bool) -> Any:
    """Give the gradients of a record's inputs, as Tensors computed by recorded operations."""
    return _run(record, grad, keep, True)


def _run(record: Record, grad: Any, keep: bool, lifted: bool) -> Any:
    if record.run is freed:
        freed(record, grad, keep)
    kind = record.kind
    row: Row = kind.row
    fitting = record.s
    exact = isinstance(fitting, Fitting)
    conjugate = exact and fitting.conjugate
    conj = _conj_lifted if lifted else np.conj
    edges = record.edges
    grads: Any = None
    if isinstance(grad, Bundle):
        grads = [conj(g) if conjugate and g is not None else g for g in grad.grads]
        grad = grads[row.differentiable[0]] if row.outputs else None
    elif conjugate:
        grad = conj(grad)
    followed = row.followed
    out: list[Any] = [None] * len(edges)
    for names, rule, wanted in row.rules if lifted else row.array_rules:  # type: ignore[attr-defined]
        places = range(len(edges)) if row.listed else [followed.index(name) for name in names]
        if all(edges[place] is None for place in places):
            continue
        values = _values(record, wanted, lifted)
        values["grad"], values["grads"] = grad, grads
        values["needs"] = tuple(edges[place] is not None for place in places)
        answer = rule(*[values[name] for name in wanted])
        pieces = answer if row.listed or len(names) > 1 else (answer,)
        for place, piece in zip(places, pieces, strict=True):
            if piece is not None and edges[place] is not None:
                if conjugate:
                    piece = conj(piece)
                if exact:
                    piece = _fitted(piece, fitting.sizes[place], fitting.dtypes[place], lifted)
                elif fitting is not None and lifted:
                    piece = fit_lifted(piece, fitting[place], None)
                elif fitting is not None:
                    piece = fit(piece, fitting[place])
                out[place] = piece
    if not keep:
        record.release()
    if kind.arity == 0:
        return out, None
    return (out[0], None) if kind.arity == 1 else (out[0], out[1])


def _fitted(piece: Any, sizes: Any, kind: Any, lifted: bool) -> Any:
    if lifted:
        return fit_lifted(piece, sizes, kind)
    if not isinstance(piece, (ndarray, np.generic, Carrier)):
        piece = np.asarray(piece)
    return fit_dtype(fit(piece, sizes), kind)


def _conj_lifted(tensor: Tensor) -> Tensor:
    from .row import TABLE

    return TABLE["conj_physical"].caller(tensor)
