"""A program of its own: first uses disturbed at chosen lines; prints what did not survive, one line each.

    python -m tests.reliability.first_use families|lines|call|package interrupt|signal|fork ...

interrupt   Ctrl-C arrives; afterwards the same is asked for again, in the same process
signal      a signal's handler asks for the same, and is served at once
fork        another thread forks; the child asks for the same

families    every family of the catalogue, disturbed before it, in the midst of it or of what it imports, and at its end
            (between the lines of files; those of functions are counted below); each family in one of the ways in turn,
            with GLASSGRAD_EXAMPLES=1 in all of them
lines       one family and what it imports, disturbed at every few lines of the whole way from the name to the function
call        the first call of operations, forward and backward, disturbed at every few lines
package     ``import glassgrad`` itself, disturbed at every few lines (interrupt only)

Each case runs in a process of its own, forked from one in which nothing was looked up yet; the lines are those of the
package's own files, the machinery of loading included.
"""

import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from functools import partial
from itertools import starmap

SIGNAL = getattr(signal, "SIGUSR1", None)
CASES = 30  # lines of one way at which it is disturbed
ONLY_FILES = "families" in sys.argv  # whether the lines of functions do not count: all then goes faster
PATIENCE = 120  # seconds for a case that takes some hundredths of one
HOME = os.path.join("src", "glassgrad") + os.sep


def at_line(moment, function, *arguments):
    """From here on, in this thread: call a function of C at that line of the package's that is run; gives the count."""
    count = [0]

    def trace(frame, event, argument):
        if HOME not in frame.f_code.co_filename or (ONLY_FILES and frame.f_code.co_name != "<module>"):
            return None
        if event == "line":
            count[0] += 1
            if count[0] == moment:
                sys.settrace(None)
                [*starmap(function, [arguments])]  # not a call: a signal comes where it may come in the line itself
        return trace

    sys.settrace(trace)
    return count


def in_child(act):
    """Run ``act`` in a forked process: what it returns, by way of JSON, or its error's text."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            answer = {"answer": act()}
        except BaseException:  # noqa: BLE001
            answer = {"error": traceback.format_exc()}
        with open(writing, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(writing)
    started = time.monotonic()
    killer = threading.Timer(PATIENCE, os.kill, (child, signal.SIGKILL))
    killer.start()
    with open(reading) as pipe:
        text = pipe.read()
    killer.cancel()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"error": f"no answer after {time.monotonic() - started:.0f} seconds"}


# -- what is asked for ---------------------------------------------------------------------------------------------


def names_of(family):
    """The names that users know of a family's functions and methods."""
    from glassgrad.ops.catalogue import COMPOSED, ROWS

    both, functions, methods, properties, _ = map(str.split, (ROWS | COMPOSED).get(family, "||||").split("|"))
    return [*both, *functions], [*both, *methods, *properties]


def want(family):
    """Look up every name of a family."""
    import glassgrad
    from glassgrad.ops import catalogue

    functions, methods = names_of(family)
    for name in functions:
        if name not in ("bool", "int", "float"):
            getattr(glassgrad, name)
    for name in methods:
        getattr(glassgrad.Tensor, name)
    catalogue.load(family)  # some have no name


def call():
    """A value and a gradient, by operations that nobody has called yet; again, as the second call prints them."""
    import glassgrad as torch

    for _ in range(2):
        x = torch.tensor([1.0, 3.0], requires_grad=True)
        with torch.enable_grad():  # which a handler may find off: it may come within a rule
            (x * x.abs().digamma()).softmax(0)[0].backward()
        assert [round(value, 4) for value in x.grad.tolist()] == [0.0351, -0.0693], x.grad.tolist()


def import_package():
    """The package itself, and an operation."""
    import glassgrad

    assert (glassgrad.ones(2) + 1).tolist() == [2.0, 2.0]


def described():
    """What the rows and composites that are there are, in words: by family."""
    from glassgrad.core.row import TABLE
    from glassgrad.ops.declare import COMPOSITES

    found = {}
    for name, row in list(dict.items(TABLE)):
        module = importlib.import_module(row.plain.__module__)  # Ctrl-C at its very end has it looked up again
        assert row.plain.__globals__ is vars(module), f"row {name} is of a half run"
        columns = {
            key: value
            if type(value) in (str, bool, int)
            else len(value)
            if hasattr(value, "__len__")
            else value is None
            for key, value in vars(row).items()
            if key[0] != "_" and key != "plan"  # which the first call adds
        }
        found.setdefault(row.kernel.__module__, []).append([name, columns])
    for name, composite in dict.items(COMPOSITES):
        found.setdefault(composite.home, []).append([name, list(composite.names)])
    return {home: sorted(declared) for home, declared in found.items()}


def check(expected):
    """Nothing is half there: rows have all columns, and every module has the rows of the table."""
    from glassgrad.core.row import TABLE, Row

    for home, declared in json.loads(json.dumps(described())).items():
        for one, other in zip(declared, expected[home], strict=True):
            if one != other:
                (name, one), (_, other) = one, other
                keys = [key for key in other if one[key] != other[key]] if isinstance(one, dict) else one
                raise AssertionError(f"{home}: {name} differs in {keys}")
    for name, module in list(sys.modules.items()):
        if name.startswith("glassgrad.ops.p") or name.startswith("glassgrad.ops.c"):
            for value in list(vars(module).values()):
                row = getattr(value, "row", None)
                there = dict.get(TABLE, row.name) if isinstance(row, Row) else None
                is_same = there is None or there is row or there.kernel.__module__ != row.kernel.__module__
                assert is_same, f"{name}: another {row}"


# -- how it is disturbed -------------------------------------------------------------------------------------------


def interrupt(moments, wish, afterwards):
    """Ctrl-C at each of the moments, one after the other; then nothing."""

    for moment in moments:
        try:
            at_line(moment, signal.raise_signal, signal.SIGINT)
            wish()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
    wish()
    afterwards()


def interrupted_by_signal(moments, wish, afterwards):
    """A handler that wishes the same in the midst of it."""
    served = []

    def handler(number, frame):
        wish()
        afterwards()
        served.append(number)

    signal.signal(SIGNAL, handler)
    at_line(moments[0], signal.raise_signal, SIGNAL)
    try:
        wish()
    finally:
        sys.settrace(None)
    assert served, "nobody was disturbed"
    wish()
    afterwards()


def forked(moments, wish, afterwards):
    """Another thread is in the midst of it while this one forks."""
    there = threading.Event()

    def pause():
        there.set()
        time.sleep(0.02)

    def first():
        at_line(moments[0], pause)
        wish()

    thread = threading.Thread(target=first, daemon=True)
    thread.start()
    there.wait()

    def child():
        wish()
        afterwards()

    answer = in_child(child)
    thread.join()
    assert "error" not in answer, answer["error"]
    wish()
    afterwards()


KINDS = {"interrupt": interrupt, "signal": interrupted_by_signal, "fork": forked}


def undisturbed(wish):
    """How many lines of the package are run for a wish, and what is there then."""

    def act():
        count = at_line(0, print)
        wish()
        sys.settrace(None)
        return count[0], described()

    return in_child(act)["answer"]


def cases_of(kinds, what):
    """The cases: kind, title, lines at which it is disturbed, wish, and what is there afterwards."""
    if what == "families":
        from glassgrad.ops import catalogue

        for place, family in enumerate((*catalogue.ROWS, *catalogue.COMPOSED)):
            wish = partial(want, family)
            total, expected = undisturbed(wish)
            every = [1, total // 3, total * 2 // 3, total]
            for kind in kinds if os.environ.get("GLASSGRAD_EXAMPLES") else [kinds[place % len(kinds)]]:
                moments = every if kind == "interrupt" else [every[place % 4]]  # after one of the others all is there
                yield kind, f"{family} at {moments}", moments, wish, expected
    else:
        wish = {"lines": partial(want, "pointwise.limit"), "call": call, "package": import_package}[what]
        total, expected = undisturbed(wish)
        for moment in range(1, total + 1, max(1, total // CASES) | 1):
            for kind in kinds:
                yield kind, f"{what} at {moment}", [moment], wish, expected


def main(what, *kinds):
    """Run all cases of these kinds; print those that failed, and how many there are of each kind."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if what != "package":
        import glassgrad  # noqa: F401
    if what == "call":
        for family in ("arithmetic.rows", "pointwise.limit", "special.rows", "softmax.rows", "create.functions",
                       "index.getitem"):  # fmt: skip
            want(family)
    count = dict.fromkeys(kinds, 0)
    for kind, title, moments, wish, expected in cases_of(kinds, what):
        count[kind] += 1
        answer = in_child(partial(KINDS[kind], moments, wish, partial(check, expected)))
        if "error" in answer:
            print(kind, title, answer["error"] if "-v" in sys.argv else answer["error"].strip().rpartition("\n")[2])
    print(*count.values())


if __name__ == "__main__":
    main(*[argument for argument in sys.argv[1:] if argument != "-v"])
