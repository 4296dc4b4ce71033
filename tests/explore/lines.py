"""Where texts stand in the files of tests, for answers that name lines."""

import inspect
import os


def line_of(function, text):
    """The line of its file at which ``text`` stands in ``function``."""
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def names_line(answer, function, text):
    """Whether an answer names the file of ``function`` and the line of ``text`` in it."""
    return f"{os.path.basename(inspect.getsourcefile(function))}:{line_of(function, text)}" in str(answer)


def names_case(answer, file, case):
    """Whether an answer names the line of ``file`` at which a case of a table stands."""
    number = next(i for i, text in enumerate(open(file), 1) if text.strip().startswith(f'"{case}":'))
    return f"{os.path.basename(file)}:{number}" in str(answer)


def mlp(engine):
    """A small network of two layers."""
    nn = engine.nn
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
