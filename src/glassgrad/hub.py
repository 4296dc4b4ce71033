"""The ``torch.hub`` namespace: models out of a directory with a ``hubconf.py``; nothing is ever downloaded."""

from __future__ import annotations

import builtins
import hashlib
import os
import re
import sys
from importlib import util
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlparse

from .ground.names import OURS

_CONF = "hubconf.py"
_dir: str | None = None
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")


def get_dir() -> str:
    """The directory for models and weights: as set, or ``hub`` under ``$TORCH_HOME`` or the user's cache.

    Source: https://docs.pytorch.org/docs/stable/hub.html#torch.hub.get_dir
    """
    return os.path.join(_get_torch_home(), "hub") if _dir is None else _dir


def _get_torch_home() -> str:
    """The directory of all that PyTorch keeps: ``$TORCH_HOME``, or ``torch`` in the user's cache."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the directory for models and weights."""
    global _dir
    _dir = os.path.expanduser(d)


def _offline(what: str, path: str) -> NoReturn:
    raise RuntimeError(
        f"{what} would have to be downloaded, and nothing is downloaded here: fetch it by other means, then put it at "
        f"{path}, or load it from where it is with torch.load(path) or torch.hub.load(path, model, source='local')"
    )


def _repository(github: str) -> str:
    """The directory of a repository that was fetched before; RuntimeError where it is not there."""
    name, _, ref = github.partition(":")
    owner, slash, repo = name.partition("/")
    if not slash:
        raise ValueError(f"a repository is named by 'owner/name[:ref]', not {github!r}")
    wanted = [ref] if ref else ["main", "master"]
    paths = [os.path.join(get_dir(), "_".join([owner, repo, ref.replace("/", "_")])) for ref in wanted]
    for path in paths:
        if os.path.exists(path):
            return path
    _offline(f"The repository {github!r}", paths[0])


def _read(folder: str) -> Any:
    """The module that a directory's ``hubconf.py`` makes; in it ``import torch`` means this package."""
    from .torch_alias import alias

    path = os.path.join(folder, _CONF)
    sys.path.insert(0, folder)
    try:
        spec = util.spec_from_file_location(_CONF, path)
        if spec is None or spec.loader is None:
            raise AssertionError(f"failed to load spec from {path}")
        module = util.module_from_spec(spec)
        if sys.modules.get("torch") is sys.modules[OURS]:
            spec.loader.exec_module(module)
        else:
            with alias():
                spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module


def _entry(module: Any, model: Any) -> Any:
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    missing = [name for name in getattr(module, "dependencies", None) or () if not _is_there(name)]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    entry = getattr(module, model, None)
    if entry is None or not callable(entry):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return entry


def _is_there(name: str) -> bool:
    return name == "torch" or util.find_spec(name) is not None


def list(  # noqa: A001  PyTorch's name
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = "check",
    verbose: bool = True,
) -> builtins.list[str]:
    """The names of the models of a repository that lies in :func:`get_dir`."""
    module = _read(_repository(github))
    return [name for name in dir(module) if callable(getattr(module, name)) and not name.startswith("_")]


def help(  # noqa: A001  PyTorch's name
    github: str, model: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = "check"
) -> str | None:
    """What a model of a repository says of itself."""
    return _entry(_read(_repository(github)), model).__doc__  # type: ignore[no-any-return]


def load(
    repo_or_dir: Any, model: str, *args: Any, source: str = "github", trust_repo: Any = "check",
    force_reload: bool = False, verbose: bool = True, skip_validation: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """What ``model(*args, **kwargs)`` of a ``hubconf.py`` gives.

    With ``source="local"`` that file is in the directory ``repo_or_dir``; else this is the "owner/name" of a
    repository, which must lie in :func:`get_dir`.
    Source: https://docs.pytorch.org/docs/stable/hub.html#torch.hub.load
    """
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    folder = os.fspath(repo_or_dir) if source == "local" else _repository(repo_or_dir)
    return _entry(_read(folder), model)(*args, **kwargs)


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> NoReturn:
    """An error: nothing is downloaded."""
    _offline(url, dst)


def load_state_dict_from_url(
    url: str, model_dir: str | None = None, map_location: Any = None, progress: bool = True, check_hash: bool = False,
    file_name: str | None = None, weights_only: bool = False,
) -> Any:  # fmt: skip
    """What the file of this address holds, which must lie in ``model_dir`` (``checkpoints`` in :func:`get_dir`).

    With ``check_hash`` the file's SHA256 must begin as its name says.
    """
    from .serialization import load as read

    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        _offline(url, path)
    if check_hash:
        named = HASH_REGEX.search(name)
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        if named is not None and not digest.startswith(named[1]):
            raise RuntimeError(f'invalid hash value (expected "{named[1]}", got "{digest}")')
    return read(path, map_location=map_location, weights_only=weights_only)


class _Quiet:
    """Takes what packages tell a bar of tqdm, a library that they take from here, where it is not installed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def update(self, n: float = 1) -> None:
        """Nothing."""

    close = update

    def __enter__(self) -> _Quiet:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def __getattr__(name: str) -> Any:
    if name != "tqdm":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from tqdm import tqdm
    except ImportError:
        return _Quiet
    return tqdm
