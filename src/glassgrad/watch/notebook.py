"""The extension for IPython and Jupyter: a cell's error is followed by its cause, in lines of the cell."""

from __future__ import annotations

import contextlib
import io
import os
import re
from types import TracebackType
from typing import Any

from ..ground.arrival import when_here
from .armed import answer_to, watch_all
from .command import report
from .finding import Finding
from .watch import Watch

CELL = re.compile(r"ipykernel_\d+|<ipython-input-(\d+)")
PLACE = re.compile(r"(?:[^\s`(]*ipykernel_\d+[/\\]|<ipython-input-)([^\s`>]+?)(?:\.py|>):(\d+)")


class Notebook:
    """The watch over one shell."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.watches: list[Watch] = []
        watch_all(self.watches, record_from=None)
        self._alone = when_here(lambda: watch_all(self.watches, record_from=None))
        shell.set_custom_exc((Exception,), self.error)

    def stop(self) -> None:
        """Take all of it off."""
        self._alone()
        for watch in self.watches:
            watch.stop()
        self.shell.set_custom_exc((), None)

    def error(
        self, shell: Any, kind: type[BaseException], error: BaseException, traceback: TracebackType,
        tb_offset: Any = None,
    ) -> None:  # fmt: skip
        """Show a cell's error as ever, and the cause below it."""
        shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
        said = answer_to(error, traceback, self.watches)
        if said is None:
            return
        said = self._recorded(error) or said
        print(in_cells(report([said]), shell))

    def _recorded(self, error: BaseException) -> Finding | None:
        """The cause as a recorded replay of the cell gives it, in a copy of the notebook's names."""
        source = self.shell.user_ns.get("In", [""])[-1]
        names = dict(self.shell.user_ns)
        watches = [Watch(watch.torch, record_from=0, ask_at=None) for watch in self.watches]
        for watch in watches:
            watch.start()
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                exec(compile(self.shell.transform_cell(source), self._file(error), "exec"), names)
        except Exception as again:
            return answer_to(again, again.__traceback__, watches) if str(again) == str(error) else None
        finally:
            for watch in watches:
                watch.stop()
        return None

    def _file(self, error: BaseException) -> str:
        traceback, file = error.__traceback__, "<cell>"
        while traceback is not None:
            if CELL.search(traceback.tb_frame.f_code.co_filename):
                return traceback.tb_frame.f_code.co_filename
            traceback = traceback.tb_next
        return file


def in_cells(text: str, shell: Any) -> str:
    """A report whose places in cells are told as ``In[6] line 4``."""
    known = getattr(getattr(shell, "compile", None), "_filename_map", {})  # of Jupyter's files to the cells' numbers
    cells = {os.path.basename(file).removesuffix(".py"): number for file, number in known.items()}

    def in_cell(match: re.Match[str]) -> str:
        name, line = match.groups()
        cell = cells.get(name) or (name.partition("-")[0] if "-" in name else shell.execution_count)
        return f"In[{cell}] line {line}"

    return PLACE.sub(in_cell, text)


_shells: dict[int, Notebook] = {}


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext glassgrad`` calls."""
    _shells.setdefault(id(shell), Notebook(shell))


def unload_ipython_extension(shell: Any) -> None:
    """What ``%unload_ext glassgrad`` calls."""
    _shells.pop(id(shell)).stop()
