"""Roof: the ``glassgrad`` command; knows arguments, scripts and exit codes, and leaves the work to other modules."""

from __future__ import annotations

import argparse
import builtins
import importlib
import importlib.util
import io
import os
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.machinery import BuiltinImporter, SourceFileLoader, SourcelessFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

from .torch_alias import install

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code of ``glassgrad`` called with ``argv``; wrong usage exits with 2, its message on stderr."""
    parser = _parser()
    words = sys.argv[1:] if argv is None else list(argv)
    if words[:1] == ["launch"]:  # its options are torchrun's, and read there
        importlib.import_module(f"{__package__}.multiprocessing.launcher").main(words[1:])
        return 0
    options = parser.parse_args(words)
    if options.command is None:
        parser.error("a command is missing: run, launch, why, check, view, warm, install-alias, demo or info")
    code: int = options.action(options)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="glassgrad",
        description="Autograd you can see through: PyTorch's tensors, graph and gradients in Python on NumPy.",
    )
    parser.add_argument("--version", action="version", version=f"glassgrad {_version('glassgrad')}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    endings = ".html, .svg, .png, .gif, .mp4, .tex, .mmd, .md, .dot or .json"
    run = commands.add_parser(
        "run",
        usage="glassgrad run [-h] [--explore FILE] [--torch] (SCRIPT | -m MODULE | -) [ARGUMENT ...]",
        help="run a PyTorch script unchanged, on glassgrad",
        description="Run a script in which `import torch` gives glassgrad, as `python SCRIPT` would run it.",
    )
    run.add_argument("--explore", metavar="FILE", help=f"write the last backward graph to FILE: {endings}")
    run.add_argument("--torch", action="store_true", help="run on the real PyTorch instead, to explore its graph")
    run.add_argument("-m", dest="module", metavar="MODULE", nargs=argparse.REMAINDER, help="run a module, not a file")
    run.add_argument(
        "script",
        metavar="SCRIPT",
        nargs="?",
        help="the file to run, or a folder or zip file with a __main__.py; - reads it from the standard input",
    )
    run.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="the script's own arguments")
    run.set_defaults(action=lambda options: _run(run, options))

    for name, purpose in (
        ("why", "run a script, and name the line by which it failed or learned nothing"),
        ("check", "the same for CI: exit code 1 where something was found"),
    ):
        why = commands.add_parser(
            name,
            usage=f"glassgrad {name} [-h] [--glassgrad] [--page FILE] [--json] (SCRIPT | -m MODULE) [ARGUMENT ...]",
            help=purpose,
            description="Run a script as `python SCRIPT` would, on the PyTorch that is installed, under a light watch.",
        )
        why.add_argument("--glassgrad", action="store_true", help="run on glassgrad, though PyTorch is installed")
        why.add_argument(
            "--page", metavar="FILE", default="why.html", help="where the graph is written; '' for nowhere (why.html)"
        )
        why.add_argument("--json", action="store_true", help="print what was found as JSON, on standard output")
        why.add_argument("-m", dest="module", metavar="MODULE", nargs=argparse.REMAINDER, help="run a module")
        why.add_argument("script", metavar="SCRIPT", nargs="?", help="the file to run")
        why.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="the script's own arguments")
        why.set_defaults(action=lambda options, parser=why: _why(parser, options))

    launch = commands.add_parser(
        "launch",
        usage="glassgrad launch [-n RANKS] [--hosts A,B] [torchrun's options] (SCRIPT | -m MODULE) [ARGUMENT ...]",
        help="run a script in several processes, which MPI connects",
        description="Have mpiexec start the ranks of a job, each as `glassgrad run SCRIPT` would.",
        add_help=False,
    )
    launch.add_argument("arguments", nargs=argparse.REMAINDER)

    view = commands.add_parser(
        "view",
        help="show a graph that was saved as JSON: a page, a picture, a film, formulas",
        description=f"A graph saved by glassgrad.explore.to_json as what FILE's ending asks for: {endings}.",
    )
    view.add_argument("graph", metavar="GRAPH", help="the JSON file")
    view.add_argument("-o", "--out", metavar="FILE", help="the file to write (default: beside the graph, as .html)")
    view.add_argument(
        "--step", type=_step, metavar="N", help="of a picture: the step of the timeline, 'each', or 'play' (.svg)"
    )
    view.add_argument("--direction", choices=("TB", "LR"), default="TB", help="of a picture (default: %(default)s)")
    view.add_argument("--theme", choices=("light", "dark"), default="light", help="of a picture (default: %(default)s)")
    view.set_defaults(action=_view)

    install_alias = commands.add_parser(
        "install-alias",
        help="put a package torch that is glassgrad into this environment",
        description="Let `import torch` give glassgrad in every program of this Python's environment: scripts, "
        "notebooks, debuggers. Refuses where PyTorch is installed.",
    )
    install_alias.add_argument("--remove", action="store_true", help="take it out again")
    install_alias.set_defaults(action=_install_alias)

    demo = commands.add_parser(
        "demo",
        help="read a graph aloud, sum its paths, train on real digit scans",
        description="Draw and explain a small graph, then train a network on 1,797 scans of handwritten digits.",
    )
    demo.add_argument("--out", metavar="DIR", default="glassgrad-demo", help="where files go (default: %(default)s)")
    demo.set_defaults(action=_demo)

    warm = commands.add_parser(
        "warm",
        usage="glassgrad warm [-h] [SCRIPT [ARGUMENT ...]]",
        help="compile kernels ahead, so that no later run waits for them",
        description="Compile what most programs want of Numba's kernels, or run SCRIPT and compile what it uses.",
    )
    warm.add_argument("--only", metavar="NAME", help="one file of kernels, such as softmax")
    warm.add_argument("script", metavar="SCRIPT", nargs="?", help="the file to run")
    warm.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="the script's own arguments")
    warm.set_defaults(action=lambda options: _warm(run, options))

    info = commands.add_parser("info", help="print versions, the linear algebra library and the number of cores")
    info.set_defaults(action=_info)
    return parser


def _step(text: str) -> int | str:
    """A step of the timeline as the command line has it."""
    return text if text in ("each", "play") else int(text)


def _version(distribution: str) -> str:
    """The version of an installed distribution, or ``not installed``."""
    package = sys.modules.get(distribution)
    version = getattr(package, "__version__", None)
    if isinstance(version, str):
        return version
    from importlib import metadata  # slow to import, and only `info` asks

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"


def _why(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Run a script under watch and say what went wrong."""
    from .watch.again import Script
    from .watch.command import why

    if not (options.module or options.script):
        parser.error("a SCRIPT or -m MODULE is missing")
    target, *arguments = options.module or [options.script, *options.arguments]
    script = Script(target, arguments, bool(options.module), options.glassgrad)
    return why(script, as_json=options.json, strict=options.command == "check", page=options.page)


def _warm(run: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Compile kernels, with a bar that tells how far it is."""
    if options.script:
        os.environ["GLASSGRAD_NUMBA"] = "now"
        options.module = options.explore = options.torch = None
        return _run(run, options)
    from .warm import PROGRAMS, warm

    names = [options.only] if options.only else [*PROGRAMS]
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        print(f"glassgrad warm: no file of kernels is called {unknown[0]!r}: {', '.join(PROGRAMS)}", file=sys.stderr)
        return 2
    try:
        warm(_with_bar(names))
    except RuntimeError as problem:
        print(f"glassgrad warm: {problem}", file=sys.stderr)
        return 1
    return 0


def _with_bar(names: Sequence[str]) -> Iterable[str]:
    """The names, with tqdm's bar where it is installed and somebody looks on."""
    try:
        from tqdm import tqdm
    except ImportError:
        return names
    return tqdm(names, desc="compiling kernels", disable=None)  # type: ignore[no-any-return]


def _view(options: argparse.Namespace) -> int:
    """Write what was asked for and print where it is."""
    from .explore.page.forms import view
    from .explore.sheet import printable

    try:
        settings = {"step": options.step, "direction": options.direction, "theme": options.theme}
        paths = view(options.graph, options.out, **settings)
    except (OSError, ValueError, ImportError, MemoryError) as error:
        print(f"glassgrad view: {printable(str(error) or 'the graph is too large')}", file=sys.stderr)
        return 1
    for path in [paths] if isinstance(paths, str) else paths:
        try:
            print(path)
        except UnicodeEncodeError:  # a name that is not UTF-8
            sys.stdout.flush()
            sys.stdout.buffer.write(os.fsencode(path) + b"\n")
    return 0


def _install_alias(options: argparse.Namespace) -> int:
    """Put the alias into the environment, or take it out, and say where."""
    from .environment import Refused, put_alias, take_alias

    try:
        folder = take_alias() if options.remove else put_alias()
    except (Refused, OSError) as error:
        print(f"glassgrad install-alias: {error}", file=sys.stderr)
        return 1
    print(f"torch was removed from {folder}" if options.remove else f"torch is glassgrad now, by {folder}")
    return 0


def _demo(options: argparse.Namespace) -> int:
    from .demo import demo

    return demo(options.out)


def _info(options: argparse.Namespace) -> int:
    """Print what a bug report needs."""
    import numpy

    blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]  # type: ignore[call-overload,index]
    rows = {
        "glassgrad": _version("glassgrad"),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "cores": str(os.cpu_count()),
        **{name: _version(name) for name in ("numpy", "ml_dtypes", "numba", "scipy", "scikit-learn")},
        "BLAS": f"{blas.get('name', 'unknown')} {blas.get('version', '')}".rstrip(),
        "BLAS threads": _blas_threads(),
    }
    if missing := _missing():
        rows["Numba lacks"] = "; ".join(missing)
    for name, value in rows.items():
        print(f"{name:<13} {value}")
    return 0


def _missing() -> list[str]:
    """What compiled kernels look for in Numba in vain: then they are slower."""
    try:
        from .kernels.native import binding, kept, team  # noqa: F401  all of which look
    except ImportError:
        return []
    return binding.missing


def _blas_threads() -> str:
    """How many threads matrix products may use."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
        return (
            ", ".join(f"{name}={os.environ[name]}" for name in names if name in os.environ)
            or f"not limited ({os.cpu_count()} cores)"
        )
    return ", ".join(str(pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas") or "unknown"


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Run a script or module in the place of ``__main__``, ``torch`` being glassgrad."""
    find: Callable[[str, ModuleType], CodeType | int]
    if options.module is not None:
        if not options.module:
            parser.error("argument -m: a module's name is missing")
        find, (target, *arguments) = module_code, options.module
    elif options.script is not None:
        find, target, arguments = script_code, options.script, options.arguments
    else:
        parser.error("a SCRIPT or -m MODULE is missing")
    if not options.torch:
        install()
    rank = _rank()
    if rank is not None:
        arguments = rank.own(arguments)
    main_module = new_main(target, arguments)
    try:
        code = find(target, main_module)
        if isinstance(code, int):
            return code
        if options.explore is None:
            exec(code, main_module.__dict__)
        else:
            _explored(code, main_module, options)
    except BaseException as error:
        sys.excepthook = _without_runner(sys.excepthook)
        if rank is not None:
            rank.ended(error, _text_of(error))
        raise  # Python itself then prints, finalizes and exits as it does for a script
    return 0


def _rank() -> Any:
    """This process as a rank of the job that started it; None where it is none."""
    from .ground import launched

    if launched.place() is None:
        return None
    from .multiprocessing import rank

    return rank.current()


def new_main(target: str, arguments: Sequence[str]) -> ModuleType:
    """An empty module in the place of ``__main__``, and the arguments that its program will see."""
    main_module = ModuleType("__main__")
    main_module.__dict__.update(__builtins__=builtins, __annotations__={}, __cached__=None)
    sys.argv[:] = [target, *arguments]
    sys.modules["__main__"] = main_module
    return main_module


def _explored(code: CodeType, main_module: ModuleType, options: argparse.Namespace) -> None:
    """Run a script's code and write the graph of its last backward pass, also where the script ends with an error."""
    from .explore.observe import LastBackward
    from .explore.page.forms import ready, write_graph

    try:
        ready(options.explore)
    except (ValueError, ImportError) as error:
        sys.exit(f"glassgrad: --explore: {error}")
    try:
        tensor = importlib.import_module("torch").Tensor
    except ModuleNotFoundError:
        sys.exit("glassgrad: --torch needs PyTorch, which is not installed here")
    watched = LastBackward(tensor)
    try:
        with watched:
            exec(code, main_module.__dict__)
    finally:
        if watched.graph is None:
            print("glassgrad: the script ran no backward pass, so there is no graph to write", file=sys.stderr)
        else:
            path = write_graph(watched.graph, options.explore, title=os.path.basename(main_module.__file__ or ""))
            print(f"glassgrad: backward pass {watched.steps:,} is explored in {path}", file=sys.stderr)


def script_code(path: str, main_module: ModuleType) -> CodeType | int:
    """The code of a file, of a folder or zip file, or of ``-``; after a message the exit code that Python has."""
    from pkgutil import get_importer, read_code

    if path == "-":
        return _input_code(main_module)
    full = os.path.join(os.getcwd(), path) if path not in ("", ".") else os.getcwd()
    if (importer := get_importer(full)) is not None:
        return _folder_code(full, importer, main_module)
    full = os.path.abspath(path)
    try:
        with io.open_code(full) as file:
            source = file.read()
    except OSError as error:
        print(f"glassgrad: can't open file {full!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        return 2
    _lead_path(os.path.dirname(os.path.realpath(path)))
    main_module.__file__ = full
    if path.endswith(".pyc"):
        main_module.__loader__ = SourcelessFileLoader("__main__", full)
        code: CodeType | None = read_code(io.BytesIO(source))
        if code is None:
            raise RuntimeError("Bad magic number in .pyc file")
        return code
    main_module.__loader__ = SourceFileLoader("__main__", full)
    return compile(source, full, "exec", dont_inherit=True)


def _input_code(main_module: ModuleType) -> CodeType:
    """The code that the standard input holds, to its end; what is typed there line by line is run at once."""
    _lead_path("")
    main_module.__file__, main_module.__loader__ = "<stdin>", BuiltinImporter
    if sys.stdin.isatty():
        from code import interact

        interact(local=main_module.__dict__)
        return compile("", "<stdin>", "exec")
    return compile(sys.stdin.buffer.read(), "<stdin>", "exec", dont_inherit=True)


def _folder_code(full: str, importer: Any, main_module: ModuleType) -> CodeType | int:
    """The code of ``__main__`` in a folder or zip file; 1, after a message, where there is none."""
    _lead_path(full, always=True)
    spec = importer.find_spec("__main__")
    code = _spec_code(spec, main_module) if spec else None
    if code is None:
        print(f"glassgrad: can't find '__main__' module in {full!r}", file=sys.stderr)
        return 1
    return code


def _spec_code(spec: Any, main_module: ModuleType) -> CodeType | None:
    """The code that an import would run; ``main_module`` is told where it is from."""
    main_module.__spec__, main_module.__loader__, main_module.__package__ = spec, spec.loader, spec.parent
    main_module.__file__, main_module.__dict__["__cached__"] = spec.origin, spec.cached
    code: CodeType | None = getattr(spec.loader, "get_code", lambda name: None)(spec.name)
    return code


def module_code(name: str, main_module: ModuleType) -> CodeType | int:
    """The code of the module (of a package: its ``__main__``); 1, after a message, where there is none."""
    _lead_path(os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name += ".__main__"
            spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if not error.name or not f"{name}.".startswith(f"{error.name}."):
            raise
        spec = None
    code = _spec_code(spec, main_module) if spec else None
    if spec is None or code is None:
        print(f"glassgrad: No module named {name}", file=sys.stderr)
        return 1
    sys.argv[0] = spec.origin or name
    return code


def _lead_path(folder: str, always: bool = False) -> None:
    """Put ``folder`` where Python puts the script's own: in front, instead of ours."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[:1] = [folder]
    elif always:  # what is asked for by name may be imported from, as Python has it
        sys.path.insert(0, folder)


def _without_runner(hook: Callable[..., Any]) -> Callable[..., Any]:
    """``hook``, shown the script's own frames only; Python's own hook leaves out an engine's too, and counts them."""

    def show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if hook is not sys.__excepthook__ or isinstance(error, KeyboardInterrupt):  # after which Python ends otherwise
            _keep_own_frames(error)
            hook(kind, error, error.__traceback__)
        else:
            print(_text_of(error), end="", file=sys.stderr)

    return show


def _text_of(error: BaseException) -> str:
    """The traceback of an error, as far as it is the script's."""
    from .watch.frames import folded

    _keep_own_frames(error)
    return folded(error, error.__traceback__)


def _keep_own_frames(error: BaseException) -> None:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        link.__traceback__ = _own_frames(link.__traceback__)
        link = link.__cause__ or link.__context__


def _own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """``traceback`` without what leads to the script, and without the frames of the alias."""
    ours = (__file__, install.__code__.co_filename)
    kept: list[TracebackType] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code is _run.__code__:
            kept.clear()  # what came before started the runner
        elif code.co_filename not in ours:
            kept.append(traceback)
        traceback = traceback.tb_next
    for following, frame in zip([None, *reversed(kept)], reversed(kept), strict=False):
        frame.tb_next = following
    return kept[0] if kept else None
