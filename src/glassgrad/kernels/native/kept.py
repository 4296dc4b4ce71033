"""Functions that were written as text: compiled by Numba, and kept on disk under what their text says.

To compile a loop takes half a second and some megabytes for good, to load it takes neither. Numba keeps functions of
files alone: so each text is a file, beside what is kept of kernels.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .binding import kernel
from .interpreter import run


def defined(lines: Sequence[str], names: dict[str, Any], about: str) -> Any:
    """The function that some lines define, with what they name.

    Its own name ends in a digest of the lines and of ``about``, on which ``names`` must hang alone: code that was kept
    by one process and linked into another is told apart by names.
    """
    text = "\n".join(lines) + "\n"
    short = text.partition("(")[0].removeprefix("def ")
    name = f"{short}_{hashlib.sha256((about + text).encode()).hexdigest()[:16]}"
    text = text.replace(short, name, 1)
    names.setdefault("__name__", __name__)  # the module that code from disk is tied to
    exec(compile(text, file_of(name, text), "exec"), names)
    return names[name]


def file_of(name: str, text: str) -> str:
    """The file that a text is; a name in angle brackets where none can be written."""
    try:
        folder = Path(run._cache.cache_path)
        file = folder / f"{name}.txt"
        if not file.exists():
            folder.mkdir(parents=True, exist_ok=True)
            draft = file.with_suffix(f".{os.getpid()}")
            draft.write_text(text)
            draft.replace(file)  # in one step: another process may be reading it
        return str(file)
    except (OSError, AttributeError, TypeError):  # no such folder, or one that is not to be written to
        return "<glassgrad loop>"


def called_by_python(function: Any) -> Any:
    """A function of :func:`defined` that Python calls, compiled for each kind of arguments."""
    return kernel(function, strict=True)
