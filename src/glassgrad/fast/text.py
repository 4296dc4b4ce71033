"""The everyday call of a row as source text, printed from its Plan: its caller, and its record's ``run``.

The text says what ``core/call.py`` does for plain tensors of one everyday dtype, nobody watching, and goes there with
everything else.  It makes nothing; ``generate.py`` compiles it.
"""

from __future__ import annotations

from typing import Any

from ..core.plan import B1, F32, F64, I64
from ..core.row import Row
from . import NAMES

_DTYPES = {F32: "F32", F64: "F64", I64: "I64", B1: "B1"}


def text_of(row: Row) -> str:
    """The source text of a row's caller and of its record's ``run``."""
    if row.listed:
        lines = _listed_caller(row) if not row.plan.saved_inputs and not row.plan.saved_results else _general(row)
    elif row.view:
        lines = _views_caller(row) if row.plan.kind.outputs > 1 else _view_caller(row)
    else:
        lines = _caller(row)
        if row.ufunc is not None:
            lines += ["", "", *_large(row)]
    if has_run(row):
        lines += ["", "", *(_listed_run(row) if row.listed else _run(row))]
    return "\n".join(lines) + "\n"


def has_run(row: Row) -> bool:
    """Whether the way back of a row is printed too."""
    return bool(row.plan.ruled_inputs) and not (row.listed and (row.plan.saved_inputs or row.plan.saved_results))


# -- calling ----------------------------------------------------------------------------------------------------------


def _public(row: Row) -> list[str]:
    return ["input" if name == "self" else name for name in row.inputs]


def _signature(row: Row) -> str:
    parts = [
        f"{public}=None" if position in row.plan.optional else public for position, public in enumerate(_public(row))
    ]
    for name in row.settings:
        if name in row.defaults:
            NAMES[f"{row.name}_default_{name}"] = row.defaults[name]
            parts.append(f"{name}={row.name}_default_{name}")
        else:
            parts.append(f"{name}=REQUIRED" if row.plan.synonyms else name)
    parts += [] if row.out is None else ["*", "out=None"]
    return ", ".join([*parts, *(["**named"] if row.plan.synonyms else [])])


def _general_if(row: Row) -> str:
    """When a call is none for the everyday text: listeners, ``out=``, and of NumPy's names what they stand for."""
    conditions = ["modes.watch"] if row.out is None else ["modes.watch or out is not None"]
    if row.plan.synonyms:
        conditions += ["named", *(f"{name} is REQUIRED" for name in row.settings if name not in row.defaults)]
    return " or ".join(conditions)


def _general_call(row: Row) -> str:
    if not row.plan.synonyms:
        return _fallback(row, "watched")
    settings = f"{_tuple(_public(row))}, {_tuple(row.settings)}, {'None' if row.out is None else 'out'}, named"
    return f"return watched({row.name}_row, *arguments_by_name({row.name}_row, {settings}))"


def _fallback(row: Row, call: str = "call") -> str:
    """What is called instead where the everyday call does not serve; ``watched`` where somebody may be listening."""
    out = "None" if row.out is None else "out"
    return f"return {call}({row.name}_row, {_tuple(_public(row))}, {_tuple(row.settings)}, {out})"


def _tuple(pieces: Any) -> str:
    pieces = list(pieces)
    return f"({pieces[0]},)" if len(pieces) == 1 else f"({', '.join(pieces)})"


def _general(row: Row) -> list[str]:
    return [f"def {row.name}({_signature(row)}):", f"    {_general_call(row)}"]


def _arrays(row: Row) -> list[str]:
    return [f"a{position}" for position in range(len(row.inputs))]


def _caller(row: Row) -> list[str]:
    """The caller of a row that gives memory of its own."""
    name, fallback, public, plan = row.name, _fallback(row), _public(row), row.plan
    lines = [
        f"def {name}({_signature(row)}):",
        f"    if {_general_if(row)}:",
        f"        {_general_call(row)}",
    ]
    alike: list[str] = []
    for position, arg in enumerate(public):
        pad = "    "
        if position in plan.optional:
            lines += [f"    if {arg} is None:", f"        a{position} = None", "    else:"]
            pad = "        "
        lines.append(f"{pad}t = type({arg})")
        lines.append(f"{pad}if t is not Tensor and t is not Parameter:")
        takes_numbers = row.typed is not None and position > 0 and not row.strict
        if takes_numbers and position not in plan.auxiliary and position not in plan.optional:
            strange = "t is not float and t is not int"
            if row.formerly:  # the number may be a setting, and the setting a tensor
                strange += f" or {row.settings[0]} is not {name}_default_{row.settings[0]}"
            lines += [
                f"{pad}    if {strange}:",
                f"{pad}        {fallback}",
                f"{pad}    t = number({arg}, a0)",
                f"{pad}    if t is None:",
                f"{pad}        {fallback}",
                f"{pad}    {arg} = t",
            ]
        else:
            lines.append(f"{pad}    {fallback}")
        lines.append(f"{pad}a{position} = {arg}._array")
        if position in plan.auxiliary:
            lines += [f"{pad}if a{position}.dtype.metadata is not None:", f"{pad}    {fallback}"]  # a meta tensor
            continue
        if position in plan.optional:
            lines += [f"{pad}if a{position}.dtype is not a0.dtype:", f"{pad}    {fallback}"]
        else:
            alike.append(f"a{position}")
    if alike:
        all_scalar = " or ".join(f"type({array}) is not float32" for array in alike)
        differs = "".join(f"{array}.dtype is not d or " for array in alike[1:])
        strange = " and ".join(f"d is not {_DTYPES[kind]}" for kind in plan.everyday_dtypes)
        lines += [
            f"    if {all_scalar}:",
            f"        d = {alike[0]}.dtype",
            f"        if {differs}({strange}):",
            f"            {fallback}",
        ]
        if row.ufunc is not None:
            lines += [
                f"        if a0.size >= {row.large}:",
                f"            return {name}_large({', '.join([*public, *row.settings])})",
            ]
    kernel = f"{name}_kernel({', '.join([*_arrays(row), *row.settings])})"
    if row.form:  # spares the call
        kernel = f"{row.form} if {_at_defaults(row)} else {kernel}" if row.settings else row.form
    attempt = [f"r = {kernel}"]
    if row.kernel is not row.plain:  # spares the call that looks at dtype and size
        attempt = [f"r = {kernel.replace('_kernel(', '_plain(')}"]
        if row.quick is not None:  # gives nothing that would have to be laid out
            otherwise = ["    " + line for line in (*attempt, *_laid_out(row))]
            attempt = [f"r = {kernel.replace('_kernel(', '_quick(')}", "if r is None:", *otherwise]
        if row.native is not None:
            least = "few" if row.few else "least"
            native = f"r = None if a0.size < compiled.{least} else {kernel.replace('_kernel(', '_native(')}"
            attempt = [native, "if r is None:", *("    " + line for line in attempt)]
    if row.quick is None:
        attempt += _laid_out(row)
    lines += [
        "    try:",
        *("        " + line for line in attempt),
        *_failing(row),
    ]
    return lines + (_several_outputs(row) if row.outputs else _one_output(row))


def _failing(row: Row) -> list[str]:
    """What becomes of a call whose kernel failed: shapes that do not fit are told so, tensors among settings read."""
    arrays = _tuple(_arrays(row))
    if not row.settings:
        return [
            "    except ValueError as error:",
            f"        doors.refusals.shape_error({row.name}_row, {arrays}, error)",
        ]
    return [
        "    except Exception as error:",
        f"        settings = doors.refusals.read_numbers({row.name}_row, {arrays}, {_tuple(row.settings)}, error)",
        "        if settings is None:",
        "            raise",
        f"        return call({row.name}_row, {_tuple(_public(row))}, settings, None)",
    ]


def _laid_out(row: Row) -> list[str]:
    """What lays a result out as the row's column says, after a question of few steps whether that is worth a call."""
    if row.layout is None:
        return []
    first = "r[0]" if row.outputs else "r"
    images = [array for array, name in zip(_arrays(row), row.inputs, strict=True) if name not in row.optional]
    may_differ = {
        "plain": f"{first}.ndim > 1 and not a0.flags.c_contiguous",
        "elementwise": " or ".join(f"{a}.ndim > 1 and not {a}.flags.c_contiguous" for a in images),
        "channels": " or ".join(f"not (s := {a}.strides)[:1] >= s[1:2] >= s[2:3] >= s[3:4]" for a in images),
        "only channels": "not a0.flags.c_contiguous",
        "columns": "True",
    }
    return [f"if {may_differ[row.layout]}:", f"    r = {row.name}_laid(r, {', '.join(_arrays(row))})"]


def _at_defaults(row: Row) -> str:
    """Whether settings are at their defaults; True is no 1, which the kernel may have to refuse."""
    asks = {setting: "is" if type(row.defaults[setting]) is int else "==" for setting in row.settings}
    values = {setting: f"{row.name}_default_{setting}" for setting in row.settings}
    return " and ".join(f"{setting} {asks[setting]} {values[setting]}" for setting in row.settings)


def _large(row: Row) -> list[str]:
    """What the caller goes on with for large arrays: its ufunc, compiled where that gains."""
    name, public = row.name, _public(row)
    arrays = ", ".join(_arrays(row))
    otherwise = f" if {_at_defaults(row)} else None" if row.settings else ""
    return [
        f"def {name}_large({', '.join([*public, *row.settings])}):",
        *(f"    {array} = {arg}._array" for array, arg in zip(_arrays(row), public, strict=True)),
        f"    r = applied({name}_ufunc, {arrays}){otherwise}",
        "    if r is None:",
        "        try:",
        f"            r = {name}_kernel({', '.join([arrays, *row.settings])})",
        *("    " + line for line in _failing(row)),
        *_one_output(row, "run_large"),
    ]


def _one_output(row: Row, run: str = "run") -> list[str]:
    attach = "o._edge = n"
    if row.plan.retypes:  # a result that became whole numbers carries no gradient
        attach = 'o._edge = n if r.dtype.kind in "fcV" else None'
    return [
        "    o = new(Tensor)",
        "    o._array = r",
        "    o._counter = None",
        *_history(row, attach, "o._edge = None", run),
        "    return o",
    ]


def _several_outputs(row: Row) -> list[str]:
    """Outputs of a row with several: those that carry gradients point at the record, or at one of its outputs."""
    total, carry = len(row.outputs), row.plan.carry
    lines = []
    for j in range(total):
        lines += [f"    o{j} = new(Tensor)", f"    o{j}._array = r[{j}]", f"    o{j}._edge = o{j}._counter = None"]
    attach = f"o{carry[0]}._edge = n" if len(carry) == 1 else ""
    attach = attach or "; ".join(f"o{j}._edge = output_of(n, {j}, {total})" for j in carry)
    return [*lines, *_history(row, attach, ""), "    return " + ", ".join(f"o{j}" for j in range(total))]


# -- the record -------------------------------------------------------------------------------------------------------


def _history(row: Row, attach: str, otherwise: str, run: str = "run") -> list[str]:
    """The part of a caller that makes the record, if any edge wants gradients; ``run`` names its way back."""
    if not has_run(row):
        return [f"    {otherwise}"] if otherwise else []
    lines = []
    for k, position in enumerate(row.plan.ruled_inputs):
        arg = _public(row)[position]
        absent = f"None if {arg} is None else " if position in row.plan.optional else ""
        lines += [
            f"    e{k} = {absent}{arg}._edge",
            f"    if e{k} is not None:",
            f"        if e{k} is LEAF:",
            f"            e{k} = {arg}",
            f"        elif type(e{k}) is View:",  # whose history may have to be read anew: not where none is wanted
            f"            e{k} = None if modes.off and not grad_enabled() else edge_of({arg})",
        ]
    wanted = " or ".join(f"e{k} is not None" for k in range(len(row.plan.ruled_inputs)))
    lines.append(f"    if ({wanted}) and not (modes.off and not grad_enabled()):")
    lines += ["        " + line for line in _record(row, run)]
    lines.append(f"        {attach}")
    if otherwise:
        lines += ["    else:", f"        {otherwise}"]
    return lines


def _record(row: Row, run: str = "run") -> list[str]:
    """The statements that make the record ``n``."""
    name, plan = row.name, row.plan
    lines = [
        "n = Record()",
        "n.sequence = tick()",
        f"n.run = {name}_{run}",
        f"n.kind = {name}_kind",
        f"n.edges = {_tuple(f'e{k}' for k in range(len(plan.ruled_inputs)))}",
        "n._gathered = n.counter = None",
        *(_fit(row) if plan.broadcasts else ["n.fit = None"]),
    ]
    entries: dict[int, str] = {}
    for slot, position, readers in plan.saved_inputs:
        lines += _saved_input(row, slot, position, readers)
        entries[slot] = f"s{slot}, v{slot}"
    for slot, number in plan.saved_results:
        entries[slot] = f"o{number}._array, v{slot}" if row.outputs else "r, 0"
        if row.outputs:  # see history.py
            lines.append(f"v{slot} = {'0' if plan.carry == (number,) else f'share(o{number})'}")
    lines.append(f"n.saved = ({', '.join(entries[slot] for slot in sorted(entries))})")
    settings = []
    for fact, at in plan.constants:
        absent = f"None if a{at} is None else " if at in plan.optional else ""
        if fact:
            settings.append(f"{absent}a{at}.{fact}")
        else:
            settings.append(f"number_of({row.settings[at]})" if row.lenient else row.settings[at])
    lines.append(f"n.constants = {_tuple(settings) if settings else '()'}")
    return lines


def _fit(row: Row) -> list[str]:
    """The statements that note the inputs' sizes, where gradients will have others."""
    plan = row.plan
    arrays = [f"a{position}" for position in plan.ruled_inputs]
    absent = {f"a{position}" for position in plan.optional}
    sizes = _tuple(f"(None if {a} is None else {a}.shape)" if a in absent else f"{a}.shape" for a in arrays)
    if len(row.inputs) == len(arrays) == 2 and not absent:  # sizes and dimensions are read in less time
        same, first = "r.size == a0.size == a1.size and a0.ndim == a1.ndim and a0.size", []
    else:
        same = " and ".join(
            f"({a} is None or {a}.shape == shape)" if a in absent else f"{a}.shape == shape" for a in arrays
        )
        first = ["    shape = r.shape"]
    return ["n.fit = None", "if type(r) is ndarray:", *first, f"    if not ({same}):", f"        n.fit = {sizes}"]


def _saved_input(row: Row, slot: int, position: int, readers: tuple[int, ...]) -> list[str]:
    """The statements that find what is saved of an input: ``s<slot>``, of version ``v<slot>``."""
    arg, plan = _public(row)[position], row.plan
    lines, pad = [], ""
    if len(readers) != len(plan.ruled_inputs):
        wanted = " or ".join(f"e{reader} is not None" for reader in readers)
        lines += [f"s{slot} = None", f"v{slot} = 0", f"if {wanted}:"]
        pad = "    "
    absent = f"None if {arg} is None else " if position in plan.optional else ""
    lines.append(f"{pad}v = {absent}{arg}._counter")
    whole = [f"s{slot} = {arg}", f"v{slot} = 0 if v is None else v.version"]
    if position in plan.ruled_inputs:  # inside the graph the array will do: the tensor can be made again of it
        k = plan.ruled_inputs.index(position)
        lines += [
            f"{pad}if v is None and type(e{k}) is Record:",
            f"{pad}    s{slot} = a{position}",
            f"{pad}    v{slot} = -1",
            f"{pad}else:",
            *(f"{pad}    {line}" for line in whole),
        ]
    else:
        lines += [pad + line for line in whole]
    return lines


# -- views and lists --------------------------------------------------------------------------------------------------


def _viewed(row: Row) -> list[str]:
    """The first statements of a view's caller: its memory and version, its base, and the edge of its source."""
    arg = _public(row)[0]
    return [
        f"def {row.name}({_signature(row)}):",
        f"    t = type({arg})",
        f"    if (t is not Tensor and t is not Parameter) or {_general_if(row)}:",
        f"        {_general_call(row)}",
        f"    v = {arg}._counter",
        "    if v is None:",
        f"        v = share({arg})",
        f"    a0 = {arg}._array",
        *_tried(row),
        "    origin = None",
        f"    base = {arg}",
        f"    e0 = {arg}._edge",
        "    if type(e0) is View:",
        "        base, origin = e0.base, e0.origin",
        "    n = None",
        "    if modes.off and not grad_enabled():",
        '        if origin != "inference":',
        '            origin = "no_grad"',
        "    elif e0 is not None:",
        f"        e0 = {arg} if e0 is LEAF else edge_of({arg})",
        *(["        if e0 is not None:", *("            " + line for line in _record(row))] if has_run(row) else []),
    ]


def _tried(row: Row) -> list[str]:
    kernel = f"r = {row.name}_kernel({', '.join(['a0', *row.settings])})"
    if not row.public:
        return ["    " + kernel]
    return [
        "    try:",
        f"        {kernel}",
        "    except Exception as error:",
        f"        doors.refusals.sooner({row.name}_row, {_tuple(['a0', *row.settings])}, error)",
        "        raise",
    ]


def _view_lines(tensor: str, memory: str, origin: str, edge: str) -> list[str]:
    return [
        f"{tensor} = new(Tensor)",
        f"{tensor}._array = {memory}",
        f"{tensor}._counter = v",
        f"{tensor}._edge = w = View()",
        "w.seen = v.version",
        "w.base = base",
        f"w.origin = {origin}",
        f"w.edge = {edge}",
    ]


def _view_caller(row: Row) -> list[str]:
    """The caller of a view: the same memory and version, a place in the graph that can be read again."""
    return [*_viewed(row), *("    " + line for line in _view_lines("o", "r", "origin", "n")), "    return o"]


def _views_caller(row: Row) -> list[str]:
    """The caller of a row that gives several views (``unbind``, ``split``): one record, an edge for each view."""
    edge = "None if n is None else output_of(n, len(outs), len(r))"
    return [
        *_viewed(row),
        '    if origin != "inference" and not (modes.off and not grad_enabled()):',
        '        origin = "multi"',
        "    outs = []",
        "    for piece in r:",
        *("        " + line for line in _view_lines("o", "piece", "origin", edge)),
        "        outs.append(o)",
        "    return tuple(outs)",
    ]


def _listed_caller(row: Row) -> list[str]:
    """The caller of a row over a list of tensors (``cat``, ``stack``) whose rule needs none of them."""
    name, fallback = row.name, _fallback(row)
    settings = [f"[x.{fact} for x in a]" if fact else row.settings[at] for fact, at in row.plan.constants]
    strange = " and ".join(f"d is not {_DTYPES[kind]}" for kind in row.plan.everyday_dtypes)
    return [
        f"def {name}({_signature(row)}):",
        f"    if {_general_if(row)} or not tensors:",
        f"        {_fallback(row, 'watched')}",
        "    a = []",
        "    for t in tensors:",
        "        if type(t) is not Tensor and type(t) is not Parameter:",
        f"            {fallback}",
        "        a.append(t._array)",
        "    d = a[0].dtype",
        f"    if {strange}:",
        f"        {fallback}",
        "    for x in a:",
        "        if x.dtype is not d:",
        f"            {fallback}",
        f"    r = {name}_kernel({', '.join(['a', *row.settings])})",
        "    o = new(Tensor)",
        "    o._array = r",
        "    o._edge = o._counter = None",
        "    if modes.off and not grad_enabled():",
        "        return o",
        "    edges = []",
        "    wanted = False",
        "    for t in tensors:",
        "        e = t._edge",
        "        if e is not None:",
        "            if e is LEAF:",
        "                e = t",
        "            elif type(e) is View:",
        "                e = None if modes.off and not grad_enabled() else edge_of(t)",
        "            wanted = wanted or e is not None",
        "        edges.append(e)",
        "    if wanted:",
        "        o._edge = n = Record()",
        "        n.sequence = tick()",
        f"        n.run = {name}_run",
        f"        n.kind = {name}_kind",
        "        n.edges = tuple(edges)",
        "        n._gathered = n.counter = n.fit = None",
        "        n.saved = ()",
        f"        n.constants = {_tuple(settings) if settings else '()'}",
        "    return o",
    ]


# -- the way back -----------------------------------------------------------------------------------------------------


def _listed_run(row: Row) -> list[str]:
    """The function that gives the gradients of a list of tensors as arrays."""
    arguments = []
    for source, slot, _ in row.plan.rules[0].reads:
        if source == "needs":
            arguments.append("tuple([e is not None for e in n.edges])")
        else:
            arguments.append("g" if source == "grad" else f"n.constants[{slot}]")
    return [f"def {row.name}_run(n, g, retain_graph):", f"    return {row.name}_rule0({', '.join(arguments)})"]


def _run(row: Row) -> list[str]:
    """The function that gives the gradients of a record's inputs as arrays."""
    name, plan = row.name, row.plan
    total = len(plan.ruled_inputs)
    lines = [f"def {name}_run(n, g, retain_graph):"]
    if total > 1:
        lines.append(f"    {', '.join(f'e{k}' for k in range(total))} = n.edges")
    slots = sorted([slot for slot, _, _ in plan.saved_inputs] + [slot for slot, _ in plan.saved_results])
    if slots:
        lines.append(f"    {', '.join(f's{slot}, v{slot}' for slot in slots)} = n.saved")
    for slot, position, _ in plan.saved_inputs:
        lines += _read_input(row, slot, position)
    for slot, number in plan.saved_results:
        if plan.carry == (number,):  # the record's counter is its version
            lines += [
                "    v = n.counter",
                f"    if v is not None and v.version != v{slot}:",
                f"        saved.stale(n, {slot})",
            ]
        else:
            lines += [f"    if v{slot}.version:", f"        saved.stale(n, {slot})"]
    if plan.kind.frees:
        condition = "not retain_graph"
        if plan.kind.spares:
            condition += f" and ({' or '.join(f's{slot} is not None' for slot in slots)})"
        lines += [f"    if {condition}:", "        n.saved = None", "        n.run = freed"]
    if plan.constants:
        lines.append(f"    {', '.join(f'k{slot}' for slot in range(len(plan.constants)))}, = n.constants")
    for index, rule in enumerate(plan.rules):
        arguments = [_argument(row, rule.edges, source, slot) for source, slot, _ in rule.reads]
        answer = f"{name}_rule{index}({', '.join(arguments)})"
        if len(rule.edges) > 1:
            lines.append(f"    {', '.join(f'g{k}' for k in rule.edges)} = {answer}")
        elif total == 1:
            lines.append(f"    g0 = {answer}")
        else:
            lines.append(f"    g{rule.edges[0]} = None if e{rule.edges[0]} is None else {answer}")
    if plan.broadcasts:
        lines += ["    fit = n.fit", "    if fit is not None:"]
        for k in range(total):
            lines += [f"        if g{k} is not None:", f"            g{k} = fitted(g{k}, fit[{k}])"]
    return [*lines, f"    return {_tuple(f'g{k}' for k in range(total))}"]


def _argument(row: Row, edges: tuple[int, ...], source: str, slot: int) -> str:
    if source == "grad":
        carry = row.plan.carry
        return "g" if len(carry) == 1 else f"g.grads[{carry[0]}]"
    if source == "grads":
        return "g.grads"
    if source == "needs":
        wants = "True" if len(row.plan.ruled_inputs) == 1 else "e{} is not None"
        return _tuple(wants.format(k) for k in edges)
    return f"k{slot}" if source == "constant" else f"s{slot}"


def _read_input(row: Row, slot: int, position: int) -> list[str]:
    """Read a saved input as an array, and see that nobody wrote to it since."""
    check = [
        f"        v = s{slot}._counter",
        f"        if v is not None and v.version != v{slot}:",
        f"            saved.stale(n, {slot})",
        f"        s{slot} = s{slot}._array",
    ]
    if position not in row.plan.ruled_inputs:
        return [f"    if s{slot} is not None:", *check]
    k = row.plan.ruled_inputs.index(position)
    edge = "n.edges[0]" if len(row.plan.ruled_inputs) == 1 else f"e{k}"
    return [
        f"    if v{slot} < 0:",
        f"        v = {edge}.counter",
        "        if v is not None and v.version:",
        f"            saved.stale(n, {slot})",
        f"    elif s{slot} is not None:",
        *check,
    ]
