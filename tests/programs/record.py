"""The recorder handed to a program as `show`, and the comparison of two recordings; knows neither engine."""

import cmath
import numbers
import re
import warnings

TOLERANCE = {  # (relative, absolute); dtypes not named here must be equal
    "torch.float16": (2e-3, 1e-4),
    "torch.bfloat16": (1e-2, 1e-3),
    "torch.float32": (1e-5, 1e-6),
    "torch.complex64": (1e-5, 1e-6),
    "torch.float64": (1e-12, 1e-12),
    "torch.complex128": (1e-12, 1e-12),
}
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
SOURCE_NOTE = re.compile(r" \((?:Triggered internally|function ).*\)\s*$", re.DOTALL)


def clean(text):
    """A text without object addresses and without the C++ line a warning came from."""
    return ADDRESS.sub("0x...", SOURCE_NOTE.sub("", str(text)))


class Show:
    """Collects what a program wants compared: values, errors, warnings, graphs."""

    def __init__(self, torch):
        self.torch = torch
        self.records = []

    def __call__(self, label, value):
        """Record a value: a tensor with all that can be seen of it, or plain Python data."""
        self.records.append((str(label), self.described(value)))

    def error(self, action, label=None, words=True):
        """Record the type and the words of what an action raises, or what it returns if it raises nothing.

        words=False keeps the type alone, words=str keeps the text up to and including that string.
        """
        label = f"error {len(self.records)}" if label is None else label
        try:
            value = action()
        except Exception as error:  # noqa: BLE001
            text = clean(error) if words else ""
            if isinstance(words, str):
                text = text[: text.index(words) + len(words)] if words in text else f"no {words!r} in: {text}"
            self.records.append((str(label), ["error", type(error).__name__, text]))
        else:
            self.records.append((str(label), ["no error", self.described(value)]))

    def warnings(self, action, label="warnings"):
        """Run an action, record the warnings it gives, and hand on its result."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value = action()
        self(label, [[w.category.__name__, clean(w.message)] for w in caught])
        return value

    def graph(self, label, root):
        """Record the nodes under a tensor or node, breadth first, and the edges between them."""
        root = root if hasattr(root, "next_functions") else root.grad_fn
        if root is None:
            return self(label, None)
        nodes, place, edges = [root], {root: 0}, []
        for node in nodes:  # grows while it is walked
            edges.append([])
            for source, slot in node.next_functions:
                if source is not None and source not in place:
                    place[source] = len(nodes)
                    nodes.append(source)
                edges[-1].append([None if source is None else place[source], slot])
        names = [node.name() for node in nodes]
        self.records.append((str(label), ["graph", names, edges]))

    def saved(self, label, tensor):
        """Record the names and values of what a tensor's node saved."""
        node = tensor.grad_fn
        names = sorted(name for name in dir(node) if name.startswith("_saved_"))
        self(label, {name: getattr(node, name) for name in names})

    def described(self, value):
        """A value as nested lists of numbers and strings."""
        if isinstance(value, self.torch.Tensor):
            return self._tensor(value)
        if value is None or isinstance(value, (bool, int, float, complex)):
            return value
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, (tuple, list, set, frozenset)):
            items = sorted(value) if isinstance(value, (set, frozenset)) else value
            return [type(value).__name__, [self.described(item) for item in items]]
        if isinstance(value, dict):
            return ["dict", [[str(key), self.described(item)] for key, item in value.items()]]
        if isinstance(value, BaseException):
            return ["exception", type(value).__name__, clean(value)]
        if hasattr(value, "next_functions"):
            return ["node", value.name()]
        if type(value).__module__ == "numpy":
            return ["numpy", str(value.dtype), list(value.shape), value.tolist()]
        return clean(repr(value))

    def _tensor(self, tensor):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shape = list(tensor.shape)
            about = {
                "class": type(tensor).__name__,
                "dtype": str(tensor.dtype),
                "shape": shape,
                # the stride of a dimension of one element is nobody's business
                "stride": [s if n > 1 else 0 for s, n in zip(tensor.stride(), shape, strict=True)],
                "view": tensor._is_view() or tensor.grad_fn is not None,
                "requires_grad": tensor.requires_grad,
                "grad_fn": None if tensor.grad_fn is None else tensor.grad_fn.name(),
            }
            if getattr(tensor, "_is_zerotensor", bool)():
                tensor = self.torch.zeros(shape, dtype=tensor.dtype)  # torch's zeros without memory cannot be read
            about["values"] = tensor.detach().tolist() if tensor.device.type == "cpu" else None
        return ["tensor", about]


def differences(expected, got):
    """What two recordings disagree on, one line each; nothing when they agree."""
    found = []
    for place, (want, have) in enumerate(zip(expected, got, strict=False)):
        if want[0] != have[0]:
            found.append(f"record {place} is {have[0]!r}, should be {want[0]!r}")
            break
        _compare(want[1], have[1], f"[{want[0]}]", found)
    if len(expected) != len(got):
        found.append(f"{len(got)} records, should be {len(expected)}")
    return found


def _compare(want, have, where, found):
    if is_tensor(want) and is_tensor(have):
        for key, value in want[1].items():
            if key == "view" or (key == "stride" and not (is_placed(want) and is_placed(have))):
                continue  # how a gradient or another result of its own lies in memory is each engine's affair
            if key != "values":
                _compare(value, have[1][key], f"{where}.{key}", found)
        tolerance = TOLERANCE.get(want[1]["dtype"], (0.0, 0.0))
        if want[1]["shape"] == have[1]["shape"] and not _near(want[1]["values"], have[1]["values"], tolerance):
            found.append(f"{where}.values: {have[1]['values']} should be {want[1]['values']}")
    elif isinstance(want, (list, tuple)) and isinstance(have, (list, tuple)) and len(want) == len(have):
        for place, (a, b) in enumerate(zip(want, have, strict=True)):
            _compare(a, b, f"{where}[{place}]", found)
    elif isinstance(want, (float, complex)) and type(want) is type(have):
        if not _near(want, have, (1e-6, 1e-12)):  # may be a float32 read as a Python number
            found.append(f"{where}: {have!r} should be {want!r}")
    elif want != have or type(want) is not type(have):
        found.append(f"{where}: {have!r} should be {want!r}")


def is_placed(description):
    """Whether the layout of this tensor is promised: that of views, and of what the graph recorded."""
    return description[1]["view"]


def is_tensor(description):
    """Whether a description is that of a tensor."""
    return isinstance(description, list) and len(description) == 2 and isinstance(description[1], dict)


def _near(want, have, tolerance):
    if isinstance(want, list) or isinstance(have, list):
        same_form = isinstance(want, list) and isinstance(have, list) and len(want) == len(have)
        return same_form and all(_near(a, b, tolerance) for a, b in zip(want, have, strict=True))
    if not isinstance(want, numbers.Number) or not isinstance(have, numbers.Number):
        return want == have
    if want == have or (want != want and have != have):  # noqa: PLR0124 - both are not a number
        return True
    if not (cmath.isfinite(want) and cmath.isfinite(have)):
        return repr(want) == repr(have)
    relative, absolute = tolerance
    return abs(want - have) <= absolute + relative * abs(want)


def record(program, torch):
    """The records of one run of a program, in the engine's initial state, which is put back afterwards."""
    if hasattr(torch, "set_warn_always"):
        torch.set_warn_always(True)  # or a warning would show in the first program alone
    show = Show(torch)
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings(), torch.enable_grad():
            warnings.simplefilter("ignore")
            program(torch, show)
    finally:
        torch.set_default_dtype(torch.float32)
    return show.records
