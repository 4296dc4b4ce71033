"""The source text of a row's short path: its caller, and its record's ``run``; knows rows, and makes nothing of it."""

from __future__ import annotations

from typing import Any

from ..core.row import Row

#: What the text may name, by name; defaults and fallbacks of rows come in as their text is written.
NAMES: dict[str, Any] = {"__name__": "glassgrad.ops.generated"}


def text_of(row: Row) -> str:
    """The source text of a row's caller and of its record's ``run``."""
    if row.listed:
        if any(how != "setting" for how, _ in row.saves.values()):
            return _general(row)
        return "\n".join([*_listed_caller(row), "", "", *_listed_run(row)]) + "\n"
    if row.view:
        lines = _views_caller(row) if _several_views(row) else _view_caller(row)
    else:
        lines = _caller(row)
        if row.ufunc is not None:
            lines += ["", "", *_large(row)]
    if _short_run(row):
        lines += ["", "", *_run(row)]
    return "\n".join(lines) + "\n"


def _several_views(row: Row) -> bool:
    return any("grads" in wanted for _, _, wanted in row.rules)


def _short_run(row: Row) -> bool:
    return bool(row.rules) and not row.constant


def _public(row: Row) -> list[str]:
    return ["input" if name == "self" else name for name in row.inputs]


def _signature(row: Row) -> str:
    parts = [
        f"{public}=None" if name in row.optional else public
        for name, public in zip(row.inputs, _public(row), strict=True)
    ]
    for name in row.settings:
        if name in row.defaults:
            NAMES[f"{row.name}_default_{name}"] = row.defaults[name]
            parts.append(f"{name}={row.name}_default_{name}")
        else:
            parts.append(name)
    return ", ".join([*parts, "*", "out=None"])


def _fallback(row: Row) -> str:
    if row.fallback is not None:
        NAMES[f"{row.name}_fallback"] = row.fallback
        return f"return {row.name}_fallback({', '.join([*_public(row), *row.settings])})"
    return f"return careful({row.name}_row, {_arguments(row)}, out)"


def _watched(row: Row) -> str:
    """What a call is handed to that somebody may listen to, or that ``out=`` or a mode makes unusual."""
    return f"return watched({row.name}_row, {_arguments(row)}, out)"


def _arguments(row: Row) -> str:
    tensors = ", ".join(_public(row)) + ("," if len(row.inputs) == 1 else "")
    settings = ", ".join(row.settings) + ("," if len(row.settings) == 1 else "")
    return f"({tensors}), ({settings})"


def _general(row: Row) -> str:
    return f"def {row.name}({_signature(row)}):\n    {_watched(row)}\n"


def _caller(row: Row) -> list[str]:
    """The short path: plain tensors of one everyday dtype, nobody watching."""
    name, fallback, public = row.name, _fallback(row), _public(row)
    lines = [f"def {name}({_signature(row)}):", "    if modes.watch or out is not None:", f"        {_watched(row)}"]
    checked: list[int] = []
    for i, (inp, arg) in enumerate(zip(row.inputs, public, strict=True)):
        pad = "    "
        if inp in row.optional:
            lines += [f"    if {arg} is None:", f"        a{i} = None", "    else:"]
            pad = "        "
        lines.append(f"{pad}t = type({arg})")
        if row.typed is not None and i > 0 and inp not in row.apart and inp not in row.optional and not row.strict:
            lines += [
                f"{pad}if t is not Tensor and t is not Parameter:",
                f"{pad}    if t is not float and t is not int:",
                f"{pad}        {fallback}",
                f"{pad}    t = number({arg}, a0)",
                f"{pad}    if t is None:",
                f"{pad}        {fallback}",
                f"{pad}    {arg} = t",
            ]
        else:
            lines += [f"{pad}if t is not Tensor and t is not Parameter:", f"{pad}    {fallback}"]
        lines.append(f"{pad}a{i} = {arg}._array")
        if inp not in row.apart and inp not in row.optional:
            checked.append(i)
        elif inp not in row.apart:
            lines += [f"{pad}if a{i}.dtype is not a0.dtype:", f"{pad}    {fallback}"]
    fast = ["F32", "F64"] if row.typed == "float" or row.outputs else ["F32", "F64", "I64"]
    if len(fast) == 3 and row.check is None:  # truth values, which have no history, need no other care
        fast.append("B1")
    if checked:
        first = checked[0]
        all_scalar = " or ".join(f"type(a{i}) is not float32" for i in checked)
        differs = "".join(f"a{i}.dtype is not d or " for i in checked[1:])
        known = " and ".join(f"d is not {d}" for d in fast)
        lines += [
            f"    if {all_scalar}:",
            f"        d = a{first}.dtype",
            f"        if {differs}({known}):",
            f"            {fallback}",
        ]
        if row.ufunc is not None:
            passed = ", ".join([*public, *row.settings])
            alone = "".join(f" if {arg}._edge is None else None" for arg in public[1:])  # else its rule reads the first
            held = f"({public[0]}.__weakref__, getrefcount({public[0]}), getrefcount(a0)){alone}"
            lines += [f"        if a0.size >= {row.large}:", f"            return {name}_large({held}, {passed})"]
    arguments = ", ".join([*(f"a{i}" for i in range(len(row.inputs))), *row.settings])
    given = ", ".join(f"a{i}" for i in range(len(row.inputs)))
    made = f"{name}_kernel({arguments})"
    if row.form:  # spares the call
        made = f"{row.form} if {_at_defaults(row)} else {made}" if row.settings else row.form
    lines += [
        "    try:",
        f"        r = {made}",
        "    except ValueError as error:",
        f"        shape_error({name}_row, ({given},), error)",
    ]
    if row.outputs:
        return lines + _several_outputs(row)
    lines += ["    o = new(Tensor)", "    o._array = r", "    o._counter = None"]
    attach = "o._edge = n"
    if "dtype" in row.settings:  # a result that became whole numbers carries no gradient
        attach = 'o._edge = n if r.dtype.kind in "fcV" else None'
    lines += _history(row, attach, "o._edge = None")
    lines.append("    return o")
    return lines


def _at_defaults(row: Row) -> str:
    return " and ".join(f"{setting} == {row.defaults[setting]!r}" for setting in row.settings)


def _large(row: Row) -> list[str]:
    """What the caller goes on with for large arrays: its ufunc over several threads, over memory that nobody needs."""
    name, public = row.name, _public(row)
    given = ", ".join(f"a{i}" for i in range(len(row.inputs)))
    otherwise = f" if {_at_defaults(row)} else None" if row.settings else ""
    return [
        f"def {name}_large(references, {', '.join([*public, *row.settings])}):",
        *(f"    a{i} = {arg}._array" for i, arg in enumerate(public)),
        f"    r = applied({name}_ufunc, references, {public[0]}, {given}){otherwise}",
        "    if r is None:",
        "        try:",
        f"            r = {name}_kernel({', '.join([given, *row.settings])})",
        "        except ValueError as error:",
        f"            shape_error({name}_row, ({given},), error)",
        "    o = new(Tensor)",
        "    o._array = r",
        "    o._counter = None",
        *_history(row, "o._edge = n", "o._edge = None", "run_large"),
        "    return o",
    ]


def _several_outputs(row: Row) -> list[str]:
    """Outputs of a row with several: those that carry gradients point at the record, or at one of its outputs."""
    lines = []
    for j in range(len(row.outputs)):
        lines += [f"    o{j} = new(Tensor)", f"    o{j}._array = r[{j}]", f"    o{j}._edge = o{j}._counter = None"]
    if len(row.differentiable) == 1:
        attach = f"o{row.differentiable[0]}._edge = n"
    else:
        attach = "; ".join(f"o{j}._edge = output_of(n, {j}, {len(row.outputs)})" for j in row.differentiable)
    lines += _history(row, attach, "")
    lines.append("    return " + ", ".join(f"o{j}" for j in range(len(row.outputs))))
    return lines


def _history(row: Row, attach: str, otherwise: str, run: str = "run") -> list[str]:
    """The part of a caller that makes the record, if any edge wants gradients; ``run`` names its way back."""
    if not _short_run(row):
        return [f"    {otherwise}"] if otherwise else []
    followed = row.followed
    lines = []
    for k, inp in enumerate(followed):
        arg = _public(row)[row.inputs.index(inp)]
        lines += (
            [f"    e{k} = None if {arg} is None else {arg}._edge"]
            if inp in row.optional
            else [f"    e{k} = {arg}._edge"]
        )
        lines += [
            f"    if e{k} is not None:",
            f"        if e{k} is LEAF:",
            f"            e{k} = {arg}",
            f"        elif type(e{k}) is View:",
            f"            e{k} = edge_of({arg})",
        ]
    wanted = " or ".join(f"e{k} is not None" for k in range(len(followed)))
    lines.append(f"    if ({wanted}) and not (modes.off and not grad_enabled()):")
    lines += ["        " + line for line in _record(row, run)]
    lines.append(f"        {attach}")
    if otherwise:
        lines += ["    else:", f"        {otherwise}"]
    return lines


def _record(row: Row, run: str = "run") -> list[str]:
    """The statements that make the record ``n``."""
    name, followed = row.name, row.followed
    lines = [
        "n = new(Record)",
        "n.sequence = tick()",
        f"n.run = {name}_{run}",
        f"n.kind = {name}_kind",
        "n._gathered = n.counter = None",
    ]
    if len(followed) <= 2:
        lines.append("n.e0 = e0")
        lines.append("n.e1 = e1" if len(followed) == 2 else "n.e1 = None")
    else:
        lines += [f"n.e0 = ({', '.join(f'e{k}' for k in range(len(followed)))})", "n.e1 = None"]
    if row.typed is not None and len(row.inputs) > 1:
        arrays = [f"a{row.inputs.index(inp)}" for inp in followed]
        absent = {f"a{row.inputs.index(inp)}" for inp in row.optional}
        shapes = [f"(None if {a} is None else {a}.shape)" if a in absent else f"{a}.shape" for a in arrays]
        sizes = ", ".join(shapes) + ("," if len(arrays) == 1 else "")
        if len(row.inputs) == 2 and len(arrays) == 2 and not absent:  # sizes and dimensions are read in less time
            same = "r.size == a0.size == a1.size and a0.ndim == a1.ndim and a0.size"
            lines += ["if type(r) is ndarray:", f"    n.s = None if {same} else ({sizes})"]
        else:
            same = " and ".join(
                f"({a} is None or {a}.shape == s)" if a in absent else f"{a}.shape == s" for a in arrays
            )
            lines += ["if type(r) is ndarray:", "    s = r.shape", f"    n.s = None if {same} else ({sizes})"]
        lines += ["else:", "    n.s = None"]
    else:
        lines.append("n.s = None")
    users = {
        saved_name: [row.followed.index(n) for names, _, wanted in row.rules if saved_name in wanted for n in names]
        for saved_name in row.saves
    }
    settings = []
    for saved_name, (how, slot) in row.saves.items():
        if how == "tensor":
            arg = _public(row)[row.inputs.index(saved_name)]
            needed = " or ".join(f"e{k} is not None" for k in users[saved_name])
            always = len(users[saved_name]) == len(followed)
            pad = ""
            if not always:
                lines += [f"n.p{slot} = None", f"if {needed}:"]
                pad = "    "
            version = f"None if {arg} is None else {arg}._counter" if saved_name in row.optional else f"{arg}._counter"
            lines.append(f"{pad}v = {version}")
            if saved_name in followed:  # inside the graph the array will do: the tensor can be made again of it
                k, a = followed.index(saved_name), f"a{row.inputs.index(saved_name)}"
                lines += [
                    f"{pad}if v is None and type(e{k}) is Record:",
                    f"{pad}    n.p{slot} = {a}",
                    f"{pad}    n.v{slot} = -1",
                    f"{pad}else:",
                    f"{pad}    n.p{slot} = {arg}",
                    f"{pad}    n.v{slot} = 0 if v is None else v.version",
                ]
            else:
                lines += [f"{pad}n.p{slot} = {arg}", f"{pad}n.v{slot} = 0 if v is None else v.version"]
        elif how == "result":
            piece = "r" if saved_name == "result" else f"r[{row.outputs.index(saved_name)}]"
            lines.append(f"n.p{slot} = {piece}")
        elif saved_name.endswith("_sizes") and saved_name[:-6] in row.inputs:
            array = f"a{row.inputs.index(saved_name[:-6])}"
            optional = saved_name[:-6] in row.optional
            settings.append(f"None if {array} is None else {array}.shape" if optional else f"{array}.shape")
        else:
            settings.append(saved_name)
    if settings:
        lines.append(f"n.k = ({', '.join(settings)},)")
    return lines


def _view_caller(row: Row) -> list[str]:
    """The short path of a view: the same memory and version, a place in the graph that can be read again."""
    name, arg = row.name, _public(row)[0]
    arguments = ", ".join(["a0", *row.settings])
    lines = [
        f"def {name}({_signature(row)}):",
        f"    t = type({arg})",
        "    if (t is not Tensor and t is not Parameter) or modes.watch or out is not None:",
        f"        {_watched(row)}",
        f"    v = {arg}._counter",
        "    if v is None:",
        f"        v = share({arg})",
        f"    a0 = {arg}._array",
        f"    r = {name}_kernel({arguments})",
        "    o = new(Tensor)",
        "    o._array = r",
        "    o._counter = v",
        "    o._edge = w = new(View)",
        "    w.seen = v.version",
        "    w.edge = None",
        f"    e0 = {arg}._edge",
        "    if type(e0) is View:",
        "        w.base = e0.base",
        "        w.made = e0.made",
        f"        e0 = edge_of({arg})",
        "    else:",
        f"        w.base = {arg}",
        "        w.made = None",
        "        if e0 is LEAF:",
        f"            e0 = {arg}",
        "    if modes.off and not grad_enabled():",
        "        if w.made is None:",
        '            w.made = "no_grad"',
    ]
    if _short_run(row):
        lines.append("    elif e0 is not None:")
        lines += ["        " + line for line in _record(row)]
        lines.append("        w.edge = n")
    lines.append("    return o")
    return lines


def _views_caller(row: Row) -> list[str]:
    """The short path of a row that gives several views (``unbind``, ``split``): one record, an edge for each view."""
    name, arg = row.name, _public(row)[0]
    lines = [
        f"def {name}({_signature(row)}):",
        f"    t = type({arg})",
        "    if (t is not Tensor and t is not Parameter) or modes.watch or out is not None:",
        f"        {_watched(row)}",
        f"    v = {arg}._counter",
        "    if v is None:",
        f"        v = share({arg})",
        f"    a0 = {arg}._array",
        f"    r = {name}_kernel({', '.join(['a0', *row.settings])})",
        "    m = None",
        f"    b = {arg}",
        f"    e0 = {arg}._edge",
        "    if type(e0) is View:",
        "        b, m = e0.base, e0.made",
        f"        e0 = edge_of({arg})",
        "    elif e0 is LEAF:",
        f"        e0 = {arg}",
        "    n = None",
        "    if modes.off and not grad_enabled():",
        '        m = m or "no_grad"',
        "    elif e0 is not None:",
        *("        " + line for line in _record(row)),
        "    outs = []",
        "    for p in r:",
        "        o = new(Tensor)",
        "        o._array = p",
        "        o._counter = v",
        "        o._edge = w = new(View)",
        "        w.seen = v.version",
        '        w.made = m or "multi"',
        "        w.base = b",
        "        w.edge = None if n is None else output_of(n, len(outs), len(r))",
        "        outs.append(o)",
        "    return tuple(outs)",
    ]
    return lines


def _listed_caller(row: Row) -> list[str]:
    """The short path of a row over a list of tensors of one everyday dtype (``cat``, ``stack``)."""
    name, fallback = row.name, _fallback(row)
    settings = []
    for saved_name, (_, _) in row.saves.items():
        settings.append("[x.shape for x in a]" if saved_name == "tensors_sizes" else saved_name)
    return [
        f"def {name}({_signature(row)}):",
        "    if modes.watch or out is not None or not tensors:",
        f"        {_watched(row)}",
        "    a = []",
        "    for t in tensors:",
        "        if type(t) is not Tensor and type(t) is not Parameter:",
        f"            {fallback}",
        "        a.append(t._array)",
        "    d = a[0].dtype",
        "    if d is not F32 and d is not F64 and d is not I64:",
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
        "                e = edge_of(t)",
        "            wanted = wanted or e is not None",
        "        edges.append(e)",
        "    if wanted:",
        "        o._edge = n = new(Record)",
        "        n.sequence = tick()",
        f"        n.run = {name}_run",
        f"        n.kind = {name}_kind",
        "        n._gathered = n.e1 = n.s = n.counter = None",
        "        n.e0 = tuple(edges)",
        *([f"        n.k = ({', '.join(settings)},)"] if settings else []),
        "    return o",
    ]


def _listed_run(row: Row) -> list[str]:
    """The function that gives the gradients of a list of tensors as arrays."""
    name = row.name
    places = list(row.saves)
    lines = [f"def {name}_run(n, g, keep):"]
    if places:
        lines.append(f"    {', '.join('k_' + p for p in places)}, = n.k")
    _, _, wanted = row.rules[0]
    arguments = []
    for w in wanted:
        if w == "needs":
            arguments.append("tuple([e is not None for e in n.e0])")
        else:
            arguments.append("g" if w == "grad" else "k_" + w)
    lines.append(f"    return {name}_rule0({', '.join(arguments)}), None")
    return lines


def _run(row: Row) -> list[str]:
    """The function that gives the gradients of a record's inputs as arrays."""
    name, followed, saves = row.name, row.followed, row.saves
    lines = [f"def {name}_run(n, g, keep):"]
    wide = len(followed) > 2
    edges = [f"e{k}" for k in range(len(followed))]
    if wide:
        lines.append(f"    {', '.join(edges)} = n.e0")
    elif len(followed) == 2:
        lines += ["    e0 = n.e0", "    e1 = n.e1"]
    slots = [slot for how, slot in saves.values() if how != "setting"]
    for saved_name, (how, slot) in saves.items():
        if how == "setting":
            continue
        lines.append(f"    p{slot} = n.p{slot}")
        if how == "tensor":
            lines += _read_tensor(row, saved_name, slot, wide)
        elif saved_name == "result" or _is_own(row, saved_name):
            lines += ["    v = n.counter", "    if v is not None and v.version:", f"        stale(n, {slot})"]
    if slots:
        release = " = ".join(f"n.p{slot}" for slot in slots)
        lines += ["    if not keep:", f"        {release} = None", "        n.run = freed"]
    elif "indices" in saves:  # tensors, though settings of the row
        lines += ["    if not keep:", "        n.run = freed"]
    places = [saved_name for saved_name, (how, _) in saves.items() if how == "setting"]
    if places:
        lines.append(f"    {', '.join('k_' + p for p in places)}, = n.k")
    for index, (names, _, wanted) in enumerate(row.rules):
        targets = [followed.index(n) for n in names]
        arguments = []
        for w in wanted:
            if w == "grad":
                arguments.append("g" if len(row.differentiable) == 1 else f"g.grads[{row.differentiable[0]}]")
            elif w == "grads":
                arguments.append("g.grads")
            elif w == "needs":
                arguments.append("(" + "".join(f"{_wants(followed, t)}, " for t in targets) + ")")
            elif saves[w][0] == "setting":
                arguments.append("k_" + w)
            else:
                arguments.append(f"p{saves[w][1]}")
        rule = f"{name}_rule{index}({', '.join(arguments)})"
        if len(targets) > 1:
            lines.append(f"    {', '.join(f'g{t}' for t in targets)} = {rule}")
        elif len(followed) == 1:
            lines.append(f"    g0 = {rule}")
        else:
            t = targets[0]
            lines.append(f"    g{t} = None if e{t} is None else {rule}")
    if row.typed is not None and len(row.inputs) > 1:
        lines += ["    s = n.s", "    if s is not None:"]
        for k in range(len(followed)):
            lines += [f"        if g{k} is not None:", f"            g{k} = fit(g{k}, s[{k}])"]
    grads = [f"g{k}" for k in range(len(followed))]
    if wide:
        lines.append(f"    return ({', '.join(grads)}), None")
    else:
        lines.append("    return " + (", ".join(grads) if len(grads) == 2 else f"{grads[0]}, None"))
    return lines


def _is_own(row: Row, name: str) -> bool:
    """Whether ``name`` is the one of several outputs that carries gradients: the record's cell is its version."""
    return len(row.differentiable) == 1 and name in row.outputs and row.outputs.index(name) == row.differentiable[0]


def _read_tensor(row: Row, name: str, slot: int, wide: bool) -> list[str]:
    """Read a saved input as an array, and see that nobody wrote to it since."""
    check = [
        f"        v = p{slot}._counter",
        f"        if v is not None and v.version != n.v{slot}:",
        f"            stale(n, {slot})",
        f"        p{slot} = p{slot}._array",
    ]
    if name not in row.followed:
        return [f"    if p{slot} is not None:", *check]
    k = row.followed.index(name)
    edge = "n.e0" if len(row.followed) == 1 else f"e{k}"
    return [
        f"    if p{slot} is not None:",
        f"      if n.v{slot} < 0:",
        f"        v = {edge}.counter",
        "        if v is not None and v.version:",
        f"            stale(n, {slot})",
        "      else:",
        *check,
    ]


def _wants(followed: tuple[str, ...], place: int) -> str:
    return "True" if len(followed) == 1 else f"e{place} is not None"
